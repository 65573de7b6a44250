// Each interesting state, by the fewest calls that show it, and by calls that nearly do.
import { describe, expect, test } from "vitest";
import { type StateName, StateWatch, stateNames } from "../../sim/swarm/states.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { refusalBody } from "../../src/wire/bodies.ts";

const startMs = Date.UTC(2026, 0, 1);
const limits: RulesInput = {
  organization: { rest: { limit: 20, windowSeconds: 10 }, graphql: { limit: 100, windowSeconds: 10 } },
  user: { rest: { limit: 5, windowSeconds: 10 }, graphql: { limit: 50, windowSeconds: 10 } },
};

let number = 0;
const call = (change: Partial<TraceCall> & { atMs?: number; tookMs?: number } = {}): TraceCall => {
  const { atMs = 0, tookMs = 10, ...members } = change;
  number += 1;
  return {
    sent: startMs + atMs,
    received: startMs + atMs + tookMs,
    client: "one/0",
    call: number,
    org: "acme",
    user: "ann",
    scope: "rest",
    kind: "call",
    cost: 1,
    status: 200,
    scopeName: "rest",
    limit: 20,
    remaining: 10,
    reset: 10,
    userScopeName: "rest_user",
    userLimit: 5,
    userRemaining: 3,
    userReset: 10,
    wanted: startMs + atMs,
    attempt: 0,
    ...members,
  };
};
const refused = (change: Parameters<typeof call>[0] = {}): TraceCall => call({ status: 429, ...change });
const query = (change: Parameters<typeof call>[0] = {}): TraceCall =>
  call({ scope: "graphql", cost: 10, actual: 10, remaining: 60, userRemaining: 20, ...change });
const reading = (current: number) => ({
  limit: 20,
  current,
  remaining: 0,
  reset: 5,
  resetAtMs: 0,
  enforced: true,
});
const countedRefusal = (current: number): TraceCall =>
  refused({
    remaining: 0,
    refusal: refusalBody("rest", "organization", { organization: reading(current), user: reading(0) }),
  });
const body = (scope: "rest" | "graphql", current: number, limit: number) => ({ [scope]: { current, limit } });

function reached(calls: readonly TraceCall[], rules: RulesInput = limits): StateName[] {
  const counts = new Map<StateName, number>();
  const watch = new StateWatch(parseRules(rules), counts);
  for (const each of calls) watch.add(each);
  return stateNames.filter((name) => counts.has(name));
}

test("an ordinary call reaches nothing", () => {
  expect(reached([call(), query(), call({ atMs: 500 })])).toEqual([]);
});

const semantics = (values: NonNullable<RulesInput["semantics"]>): RulesInput => ({
  ...limits,
  semantics: values,
});

const shown: readonly (readonly [StateName, readonly TraceCall[], RulesInput?])[] = [
  ["refused-by-user-alone", [refused({ userRemaining: 0 })]],
  ["refused-by-organization-alone", [refused({ remaining: 0 })]],
  ["refused-by-both", [refused({ remaining: 0, userRemaining: 0 })]],
  ["refused-by-both", [query({ status: 429, remaining: 5, userRemaining: 9 })]],
  [
    "refused-by-user-alone",
    [query({ status: 429, remaining: 5, userRemaining: 0 })],
    semantics({ graphqlCharge: "postpaid" }),
  ],
  ["filled-exactly", [call({ userRemaining: 0 })]],
  ["cost-above-limit", [query({ status: 429, cost: 51 })]],
  ["oversized-query", [query({ kind: "other", cost: null, actual: 0 })]],
  ["reset-in-flight", [call({ atMs: 9_995 })]],
  ["give-back-after-edge", [query({ atMs: 9_000, tookMs: 2_000, actual: 4 })]],
  ["retry-in-next-window", [refused({ userRemaining: 0, userReset: 4 }), call({ atMs: 4_010, attempt: 1 })]],
  ["admitted-after-refusal", [call({ attempt: 2 })]],
  ["status-of-full-window", [call({ kind: "status", body: body("graphql", 100, 100) })]],
  [
    "unenforced-past-limit",
    [call({ kind: "status", body: body("rest", 21, 20) })],
    { ...limits, organization: { rest: { limit: 20, enforced: false } } },
  ],
  ["refusals-counted-past-limit", [countedRefusal(21)], semantics({ refused: "counted" })],
  [
    "overshoot-on-completion",
    [call({ kind: "status", body: body("graphql", 104, 100) })],
    semantics({ graphqlCharge: "postpaid" }),
  ],
  [
    "overshoot-on-completion",
    [query({ remaining: -4 })],
    semantics({ graphqlCharge: "postpaid", remaining: "signed" }),
  ],
  [
    "user-refusal-charged-to-organization",
    [refused({ userRemaining: 0 })],
    semantics({ refusedByUser: "charges-organization" }),
  ],
  ["windows-out-of-step", [call({ userReset: 3 })]],
  ["no-answer", [call({ status: 0 })]],
  ["unanswered-but-charged", [call(), call({ atMs: 20, status: 0 }), call({ atMs: 60, userRemaining: 1 })]],
  ["overloaded", [call({ status: 503 })]],
];

describe("the fewest calls that show it", () => {
  test.each(shown.map(([name, calls, rules = limits]) => [name, calls, rules] as const))(
    "%s",
    (name, calls, rules) => {
      expect(reached(calls, rules)).toContain(name);
    },
  );

  test("there is one for every state", () => {
    expect([...new Set(shown.map(([name]) => name))]).toEqual(stateNames);
  });
});

const { actual: _, ...untold } = query({ atMs: 9_000, tookMs: 2_000 });
const nearly: readonly (readonly [string, StateName, readonly TraceCall[], RulesInput?])[] = [
  ["a query that gives nothing back", "give-back-after-edge", [query({ atMs: 9_000, tookMs: 2_000 })]],
  ["a query that tells no points", "give-back-after-edge", [untold]],
  [
    "one that is charged at once",
    "give-back-after-edge",
    [query({ atMs: 9_000, tookMs: 2_000, actual: 4 })],
    semantics({ graphqlCharge: "prepaid" }),
  ],
  [
    "a window that ends by its first call",
    "reset-in-flight",
    [call({ atMs: 9_995 })],
    semantics({ anchor: "first-request" }),
  ],
  [
    "a retry within the window",
    "retry-in-next-window",
    [refused({ userRemaining: 0, userReset: 4 }), call({ atMs: 3_000, attempt: 1 })],
  ],
  [
    "a query that is charged on completion, and finds one point left,",
    "refused-by-both",
    [query({ status: 429, remaining: 1, userRemaining: 0 })],
    semantics({ graphqlCharge: "postpaid" }),
  ],
  [
    "a window that refusals are counted in, full to its limit,",
    "refusals-counted-past-limit",
    [countedRefusal(20)],
    semantics({ refused: "counted" }),
  ],
  ["a window that refusals are not counted in", "refusals-counted-past-limit", [countedRefusal(21)]],
  [
    "a call without an answer that left no gap",
    "unanswered-but-charged",
    [call(), call({ atMs: 20, status: 0 }), call({ atMs: 60, userRemaining: 2 })],
  ],
  [
    "a gap that may be another window's",
    "unanswered-but-charged",
    [call(), call({ atMs: 20, status: 0 }), call({ atMs: 11_000, userRemaining: 1 })],
  ],
];

test.each(nearly.map(([what, name, calls, rules = limits]) => [what, name, calls, rules] as const))(
  "%s is not %s",
  (_, name, calls, rules) => {
    expect(reached(calls, rules)).not.toContain(name);
  },
);
