// The ways in which counts may be kept: those that are left, and the least contradicted one where none is.
import { expect, test } from "vitest";
import { Hypotheses, type Hypothesis } from "../../src/verify/hypotheses.ts";
import { termsOf } from "../../src/verify/terms.ts";

const against = (name: string, weight: number) => ({ exhibit: { lines: [1], explanation: name }, weight });

test("rules give the only hypothesis", () => {
  const terms = termsOf(null, "rest");
  const given = new Hypotheses("rest", terms);
  expect([given.isGiven, given.left.map((each) => each.terms), given.isExhausted]).toEqual([
    true,
    [terms],
    false,
  ]);
  expect(new Hypotheses("rest", null).isGiven).toBe(false);
});

test("what is ruled out is left no more, for the first reason", () => {
  const hypotheses = new Hypotheses("rest", null);
  const [first, ...others] = hypotheses.all as [Hypothesis, ...Hypothesis[]];
  hypotheses.ruleOut(new Map([[first, against("first", 1)]]));
  expect([hypotheses.left, hypotheses.isExhausted]).toEqual([others, false]);
  hypotheses.ruleOut(new Map([[first, against("second", 1)]]));
  expect(first.against?.explanation).toBe("first");
  const [last, ...rest] = others.toReversed() as [Hypothesis, ...Hypothesis[]];
  hypotheses.ruleOut(new Map(rest.map((each) => [each, against("rest", 1)] as const)));
  expect([hypotheses.left, hypotheses.isExhausted]).toEqual([[last], false]);
  hypotheses.ruleOut(new Map([[last, against("last", 5)]]));
  expect([hypotheses.left, hypotheses.isExhausted, last.against?.explanation]).toEqual([
    [last],
    true,
    "last",
  ]);
});

test("where all are ruled out at once, the least contradicted one is left, the likeliest first", () => {
  const hypotheses = new Hypotheses("rest", null);
  const weights = hypotheses.all.map((_, place) => (place === 0 ? 9 : place < 3 ? 2 : 5));
  hypotheses.ruleOut(
    new Map(hypotheses.all.map((each, place) => [each, against("all", weights[place] as number)] as const)),
  );
  expect([hypotheses.left, hypotheses.isExhausted]).toEqual([[hypotheses.all[1]], true]);
});
