// monotone, by rules: a count falls within a window by what completed calls give back, and by nothing else.
import { expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { judged, limiter, type Said } from "./scripted.ts";

/** The right limiter, whose status shows a count. */
const showing =
  (current: number): Said =>
  (one, before) =>
    one.do === "status" ? { status: { rest: { current } } } : limiter()(one, before);

test.each([
  [3, null],
  [2, null],
  [1, "2: current >= 2; current 1; 2 was shown before in this window, 0 given back since"],
  [0, "2: current >= 2; current 0; 2 was shown before in this window, 0 given back since"],
])("a status that shows %d after a count of 2", async (current, broken) => {
  expect((await judged("monotone", "a1 a2 ?", { said: showing(current) })).broken).toBe(broken);
});

test.each([
  [5, null],
  [4, "1: current >= 5; current 4; 9 was shown before in this window, 4 given back since"],
])("a query of 9 that used 5 leaves %d", async (current, broken) => {
  const rules = parseRules({
    organization: { graphql: { limit: 90, windowSeconds: 10 } },
    user: { graphql: { limit: 90, windowSeconds: 10 } },
    semantics: { graphqlCharge: "reserved" },
  });
  const said: Said = (one, before) =>
    one.do === "settle"
      ? { call: before[0], readings: { organization: { current }, user: { current: 5 } } }
      : { decision: { admitted: true, organization: { current: 9 }, user: { current: 9 } } };
  expect((await judged("monotone", "a1gx9 =1x5", { rules, said })).broken).toBe(broken);
});
