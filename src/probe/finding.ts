// The probe's words: a finding for each thing it looked for, with the evidence, or with what it would have needed.
import type { Scope } from "../rules/rules.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import type { SeenCall } from "./seen.ts";

/**
 * `certain`: the rules allow no other explanation. `likely`: any other explanation needs chance, or a clock was
 * trusted. `not seen`: there is no value.
 */
export type Confidence = "certain" | "likely" | "not seen";

/** Everything that the probe looks for, in the report's order, with its name in words. */
export const findingNames = {
  organizationLimit: "organization's limit",
  userLimit: "user's limit",
  organizationWindow: "organization's window, seconds",
  userWindow: "user's window, seconds",
  enforced: "enforced",
  anchor: "windows are anchored at",
  reset: "reset is rounded by",
  remaining: "remaining below zero is",
  refused: "refused calls are",
  refusedByUser: "a refusal by the user's window",
  userEnforced: "the user's window refuses",
  retryAfter: "refusals carry Retry-After",
  firstRefuser: "where both windows lack room, names",
  graphqlCharge: "GraphQL is charged",
  graphqlCost: "points of a query",
  statusCounted: "status calls count",
  getCounted: "GET counts",
  headCounted: "HEAD counts",
  headStatusCounted: "HEAD of the status counts",
  notFoundCounted: "404 counts",
  wrongMethodCounted: "405 counts",
  badBodyCounted: "GraphQL 400 counts",
  badQueryCounted: "GraphQL that is not executed (200 with errors) counts",
  agreement: "status and headers agree",
  dateClock: "Date against this machine's clock, ms",
  windowClock: "the windows' clock against this machine's, ms",
} as const;

export type FindingName = keyof typeof findingNames;
export type FindingValue = string | number | boolean | Readonly<Record<string, number | null>>;

/** A thing that a probe looked for, as it saw it. */
export interface Sighting<V> {
  /** Value; `null` if it was not seen. */
  readonly value: V | null;
  readonly confidence: Confidence;
  /** Evidence: readings, with their calls' numbers and times; the reason if nothing was seen. */
  readonly evidence: string;
  /** Numbers, from 1, of the calls in the evidence. */
  readonly calls: readonly number[];
  /** Calls or time that would show the value; `null` if it was seen. */
  readonly needs: string | null;
}

export interface Finding extends Sighting<FindingValue> {
  readonly name: FindingName;
  /** Scope; `null` if the finding is about the whole deployment. */
  readonly scope: Scope | null;
}

type Call = Pick<SeenCall, "number"> | Pick<QuotaCall, "call">;

const numberOf = (call: Call): number => ("number" in call ? call.number : call.call + 1);

/** Returns the makers of findings about one thing. `unseen` tells what would show the thing. */
export function about<const F>(of: F) {
  const found = <V>(
    value: V,
    confidence: "certain" | "likely",
    evidence: string,
    calls: readonly Call[] = [],
  ): F & Sighting<V> => {
    const numbers = [...new Set(calls.map(numberOf))];
    return { ...of, value, confidence, evidence, calls: numbers, needs: null };
  };
  return {
    found,
    certain: <V>(value: V, evidence: string, calls?: readonly Call[]) =>
      found(value, "certain", evidence, calls),
    likely: <V>(value: V, evidence: string, calls?: readonly Call[]) =>
      found(value, "likely", evidence, calls),
    unseen: (evidence: string, needs: string): F & Sighting<never> => ({
      ...of,
      ...{ value: null, confidence: "not seen", evidence, calls: [], needs },
    }),
  };
}

/** Returns a time as `10:00:59.981`, UTC, by the prober's clock. */
export const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 23);

/** Returns `call 12 at 10:00:59.981`. */
export const callAt = ({ number, sentMs }: SeenCall): string => `call ${number} at ${timeOf(sentMs)}`;
