// Small traces by hand: calls at seconds after a round minute, with the headers that a right deployment would show
// for the counts that are given.
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import type { RulesVerdict } from "../../src/verify/verdict.ts";

/** A multiple of 300 s: REST's and GraphQL's windows of the epoch open here. */
export const start = Date.UTC(2026, 0, 2, 3, 0, 0);

/** Headers of an answer without any. */
export const bare = {
  scopeName: null,
  limit: null,
  remaining: null,
  reset: null,
  userScopeName: null,
  userLimit: null,
  userRemaining: null,
  userReset: null,
} as const;

export interface Shown {
  /** Ms after `start`. */
  readonly at: number;
  /** From sending to receipt. */
  readonly took?: number;
  /** The organization's count and the user's, as the headers show them after this call. */
  readonly count: number;
  readonly userCount?: number;
  /** Ms after `start` at which the windows that are shown end. */
  readonly ends?: number;
}

let calls = 0;

/** An admitted REST call of limits 200 and 50. */
export function rest(
  { at, took = 10, count, userCount = count, ends = 60_000 }: Shown,
  changes: Partial<TraceCall> = {},
): TraceCall {
  const reset = Math.ceil((ends - (at + took / 2)) / 1000);
  calls += 1;
  return {
    sent: start + at,
    received: start + at + took,
    client: "clients/0",
    call: calls,
    org: "acme",
    user: "u1",
    scope: "rest",
    kind: "call",
    cost: 1,
    status: 200,
    scopeName: "rest",
    limit: 200,
    remaining: Math.max(0, 200 - count),
    reset,
    userScopeName: "rest_user",
    userLimit: 50,
    userRemaining: Math.max(0, 50 - userCount),
    userReset: reset,
    ...changes,
  };
}

/** An admitted GraphQL call of limits 20,000 and 5,000. */
export function graphql(
  shown: Shown,
  cost: number,
  actual: number,
  changes: Partial<TraceCall> = {},
): TraceCall {
  const { count, userCount = count } = shown;
  return rest(
    { ends: 300_000, ...shown },
    {
      scope: "graphql",
      cost,
      actual,
      scopeName: "graphql",
      limit: 20_000,
      remaining: Math.max(0, 20_000 - count),
      userScopeName: "graphql_user",
      userLimit: 5000,
      userRemaining: Math.max(0, 5000 - userCount),
      ...changes,
    },
  );
}

/** A status call: its headers, and a body whose REST part shows the same count, or `current`. */
export function status(shown: Shown, current = shown.count, changes: Partial<TraceCall> = {}): TraceCall {
  const { ends = 60_000, at, took = 10 } = shown;
  const call = rest(shown, { kind: "status", cost: null });
  const body = (limit: number, count: number, end: number) => ({
    limit,
    current: count,
    reset: Math.ceil((end - (at + took / 2)) / 1000),
    reset_at: `${new Date(start + end).toISOString().slice(0, -5)}Z`,
    enforced: true,
  });
  return {
    ...call,
    body: { rest: body(200, current, ends), graphql: body(20_000, 0, Math.max(ends, 300_000)) },
    ...changes,
  };
}

/** A refused REST call, named by its body. */
export function refused(
  shown: Shown,
  scope: "rest" | "rest_user",
  changes: Partial<TraceCall> = {},
): TraceCall {
  const call = rest(shown, { status: 429 });
  const user = scope === "rest_user";
  const refusal = {
    message: "no",
    scope,
    limit: user ? 50 : 200,
    current: user ? (shown.userCount ?? shown.count) : shown.count,
    reset: call.reset,
  };
  return { ...call, refusal, ...changes };
}

/** A call that was given up; its headers never came. */
export function unanswered(at: number, changes: Partial<TraceCall> = {}): TraceCall {
  return rest({ at, took: 5000, count: 0 }, { status: 0, ...bare, error: "timeout", ...changes });
}

export interface TraceOptions extends Partial<Omit<TraceHeader, "rules">> {
  /** `null` for a trace without rules. */
  readonly rules?: RulesInput | null;
}

/** The header of a trace by hand. */
export function headerOf({ rules = {}, ...header }: TraceOptions = {}): TraceHeader {
  return {
    format: "spillway-trace",
    version: 1,
    source: "other",
    scenario: null,
    seed: null,
    target: null,
    // Well before the first window, so that all windows are seen from their start.
    startedAt: start - 600_000,
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    rules: rules === null ? null : parseRules(rules),
    complete: true,
    lost: 0,
    ...header,
  };
}

/** Calls as lines, in the order of their receipt. */
export function linesOf(given: readonly TraceCall[]): readonly TraceLine[] {
  const sorted = given.toSorted((a, b) => a.received - b.received);
  return sorted.map((call, index) => ({ line: index + 2, call }));
}

/** Judges calls, in the order of their receipt. */
export function judged(given: readonly TraceCall[], options: TraceOptions = {}): Promise<RulesVerdict> {
  return judge(headerOf(options), linesOf(given));
}

/** The laws that are broken, each with its lines. */
export async function broken(
  given: readonly TraceCall[],
  options: TraceOptions = {},
): Promise<readonly string[]> {
  const { violations } = await judged(given, options);
  const laws = violations.map(
    ({ law, user, lines }) => `${law} ${user ?? "organization"} ${lines.join(",")}`,
  );
  return laws.toSorted();
}
