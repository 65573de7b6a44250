// The probe's words: one finding for each thing it looked for, with what it saw, or what it would have needed.
import type { Scope } from "../rules/rules.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import type { SeenCall } from "./seen.ts";

/**
 * `certain`: nothing that the rules allow looks like it but this. `likely`: something else would have to have
 * happened by chance, or a clock is taken on trust. `not seen`: no value is given.
 */
export type Confidence = "certain" | "likely" | "not seen";

/** Everything that is looked for, in the order of the report, with what it is in words. */
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

/** One thing that a probe looked for, as it saw it. */
export interface Sighting<V> {
  /** `null` where it was not seen. */
  readonly value: V | null;
  readonly confidence: Confidence;
  /** Sights, calls by their numbers and times; the reason where nothing was seen. */
  readonly evidence: string;
  /** Numbers of the calls, from 1, that the evidence speaks of. */
  readonly calls: readonly number[];
  /** Calls or time that would show it; `null` where it was seen. */
  readonly needs: string | null;
}

export interface Finding extends Sighting<FindingValue> {
  readonly name: FindingName;
  /** `null` where it is one for the whole deployment. */
  readonly scope: Scope | null;
}

type Call = Pick<SeenCall, "number"> | Pick<QuotaCall, "call">;

const numberOf = (call: Call): number => ("number" in call ? call.number : call.call + 1);

/** Says what was seen of one thing. */
export const found = <const F, V>(
  of: F,
  value: V,
  confidence: "certain" | "likely",
  evidence: string,
  calls: readonly Call[] = [],
): F & Sighting<V> => {
  const numbers = [...new Set(calls.map(numberOf))];
  return { ...of, value, confidence, evidence, calls: numbers, needs: null };
};

/** Says that one thing was not seen, and what would show it. */
export const notSeen = <const F>(of: F, evidence: string, needs: string): F & Sighting<never> => ({
  ...of,
  ...{ value: null, confidence: "not seen", evidence, calls: [], needs },
});

/** `10:00:59.981` of the prober's clock, UTC. */
export const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 23);

/** `call 12 at 10:00:59.981`. */
export const callAt = ({ number, sentMs }: SeenCall): string => `call ${number} at ${timeOf(sentMs)}`;
