// The rules that a recording's headers show: the most frequent limits, and the least usual length that covers the longest
// reset.
import { expect, test } from "vitest";
import { LimitsShown } from "../../sim/fit/rules.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { TraceCall } from "../../src/trace/record.ts";

type Shown = Partial<Pick<TraceCall, "scope" | "limit" | "reset" | "userLimit" | "userReset">>;

function shown(...answers: readonly Shown[]): LimitsShown {
  const limits = new LimitsShown();
  for (const answer of answers) limits.add({ scope: "rest", ...answer } as TraceCall);
  return limits;
}
const lengthOf = (...resets: readonly number[]): number =>
  shown(...resets.map((reset) => ({ limit: 7, reset }))).rules().organization.rest.windowSeconds;

const lengths = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 21_600, 43_200, 86_400];

test.each(lengths.map((seconds, at) => [seconds, (lengths[at - 1] ?? 0) + 1] as const))(
  "windows of %d s are told by their own reset, and by one of %d s",
  (seconds, least) => {
    expect([lengthOf(seconds), lengthOf(least), lengthOf(least, seconds, least)]).toEqual([
      seconds,
      seconds,
      seconds,
    ]);
  },
);

test("a longer reset than any usual length is the length", () => {
  expect(lengthOf(86_401)).toBe(86_401);
});

test("the most frequent limit counts, the first one where two are as frequent, and none below 1", () => {
  const limitOf = (...limits: readonly number[]): number =>
    shown(...limits.map((limit) => ({ limit, reset: 60 }))).rules().organization.rest.limit;
  expect([limitOf(5, 9, 9), limitOf(9, 5), limitOf(5, 9), limitOf(0, 0, 3), limitOf(1)]).toEqual([
    9, 9, 5, 3, 1,
  ]);
});

test("each scope and owner has its own; what no header shows is as usual", () => {
  const defaults = parseRules({});
  const { organization, user } = shown(
    { limit: 70, reset: 9, userLimit: 30, userReset: 4 },
    { scope: "graphql", limit: 900, reset: 61 },
    { scope: "graphql", userLimit: 80, userReset: 0 },
  ).rules();
  expect(organization.rest).toMatchObject({ limit: 70, windowSeconds: 10 });
  expect(user.rest).toMatchObject({ limit: 30, windowSeconds: 5 });
  expect(organization.graphql).toMatchObject({ limit: 900, windowSeconds: 120 });
  expect(user.graphql).toEqual({ limit: 80, windowSeconds: defaults.user.graphql.windowSeconds });
  expect(shown({ reset: 9 }).rules()).toEqual(defaults);
});

test("tells whether any limit was shown", () => {
  expect(shown({ userLimit: 3 }, {}).any).toBe(true);
  expect(shown({ scope: "graphql", limit: 3 }).any).toBe(true);
  for (const none of [{}, { limit: null, reset: 9 }, { limit: 0 }, { limit: "a lot" }])
    expect(shown(none as Shown).any).toBe(false);
});
