// The ways in which counts may be kept: those that are left, and the least contradicted one where none is; and what is
// said of the switches by those that are left.
import { describe, expect, test } from "vitest";
import { switches } from "../../src/rules/switches.ts";
import { Hypotheses, type Hypothesis } from "../../src/verify/hypotheses.ts";
import { inferCounts, inferOption, questionsOf } from "../../src/verify/inference.ts";
import { Options } from "../../src/verify/options.ts";
import { OtherQuotas } from "../../src/verify/other-quotas.ts";
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

describe("a switch that windows or answers tell alone", () => {
  type Out = readonly (readonly [string, readonly number[]])[];
  const options = (...out: Out): Options<string> => {
    const all = new Options(["ceil", "floor", "round"]);
    for (const [value, lines] of out) all.against.set(value, { lines, explanation: `${value} is out` });
    return all;
  };
  const infer = (...out: Out) => inferOption("reset", "rest", options(...out));
  const of = { switch: "reset", scope: "rest" };

  test("is open while two values are left, and known by the last", () => {
    const states = [[], ["ceil"], ["ceil", "round"], ["ceil", "floor", "round"]].map((out) => {
      const { isOpen, known, left } = options(...out.map((value) => [value, [1]] as const));
      return [isOpen, known, left];
    });
    expect(states).toEqual([
      [true, null, ["ceil", "floor", "round"]],
      [true, null, ["floor", "round"]],
      [false, "floor", ["floor"]],
      [false, null, []],
    ]);
    expect(new Options([false, true]).known).toBeNull();
  });

  test("is told by what rules out the others, with the lines of all", () => {
    expect(infer(["round", [7, 3]], ["ceil", [3, 5]])).toEqual({
      ...{ ...of, value: "floor", words: switches.reset.words[1], lines: [3, 5, 7] },
      explanation: "not round: round is out; not ceil: ceil is out",
    });
  });

  test("is narrowed while several are left, or not told at all", () => {
    expect(infer(["ceil", [4]])).toEqual({
      ...{ ...of, value: null, candidates: ["floor", "round"], lines: [4] },
      explanation: `not ceil: ceil is out; otherwise ${switches.reset.untold}`,
    });
    expect(infer()).toEqual({
      ...{ ...of, value: null, candidates: ["ceil", "floor", "round"], lines: [] },
      explanation: switches.reset.untold,
    });
  });

  test("has no value that fits where all are out", () => {
    expect(infer(["ceil", [9]], ["floor", [4]], ["round", [4]])).toEqual({
      ...{ ...of, value: null, candidates: ["ceil", "floor", "round"], lines: [4, 9] },
      explanation: "no value fits: ceil is out; but floor is out; but round is out",
    });
  });
});

describe("the switches that counts depend on", () => {
  const told = (hypotheses: Hypotheses, name: string, scope: "rest" | "graphql" = "rest") =>
    inferCounts(scope, hypotheses).find((each) => each.switch === name);
  const without = (hypotheses: Hypotheses, isOut: (each: Hypothesis) => boolean): Hypotheses => {
    const out = hypotheses.all.filter(isOut);
    hypotheses.ruleOut(new Map(out.map((each) => [each, against(`${each.terms.remaining}`, 1)] as const)));
    return hypotheses;
  };

  test("are open at first: GraphQL has one more", () => {
    const names = (scope: "rest" | "graphql") =>
      inferCounts(scope, new Hypotheses(scope, null)).map((each) => [each.switch, each.value]);
    const rest = ["refused", "refusedByUser", "remaining", "userEnforced"].map((name) => [name, null]);
    expect(names("rest")).toEqual(expect.arrayContaining(rest));
    expect([names("rest").length, names("graphql").length]).toEqual([4, 5]);
    expect(names("graphql")).toContainEqual(["graphqlCharge", null]);
  });

  test("are known by what is common to all that are left", () => {
    const hypotheses = without(new Hypotheses("rest", null), ({ terms }) => terms.remaining === "signed");
    expect(told(hypotheses, "remaining")).toEqual({
      ...{
        switch: "remaining",
        scope: "rest",
        value: "clamped",
        words: switches.remaining.words[0],
        lines: [1],
      },
      explanation: "not signed: signed",
    });
    expect(told(hypotheses, "refused")).toMatchObject({
      ...{ value: null, candidates: ["uncounted", "counted"], explanation: switches.refused.untold },
    });
    const graphql = without(new Hypotheses("graphql", null), ({ terms }) => terms.charging !== "at-decision");
    expect(told(graphql, "graphqlCharge", "graphql")).toMatchObject({ value: "prepaid" });
    const two = without(new Hypotheses("graphql", null), ({ terms }) => terms.charging === "postpaid");
    expect(told(two, "graphqlCharge", "graphql")).toMatchObject({
      ...{ value: null, candidates: ["reserved", "prepaid"], lines: [1] },
      explanation: expect.stringMatching(/^not postpaid: .*; otherwise /),
    });
  });

  test("are told by the contradiction under the terms most like those that are left", () => {
    const hypotheses = new Hypotheses("rest", null);
    const [left] = hypotheses.all as readonly [Hypothesis, ...Hypothesis[]];
    const likeness = (each: Hypothesis): number =>
      (["refused", "refusedByUser", "remaining", "userEnforced"] as const).filter(
        (name) => each.terms[name] === left.terms[name],
      ).length;
    const others = hypotheses.all.filter((each) => each !== left);
    hypotheses.ruleOut(
      new Map(others.map((each) => [each, against(`alike in ${likeness(each)}`, 1)] as const)),
    );
    for (const name of ["refused", "refusedByUser", "remaining", "userEnforced"])
      expect(told(hypotheses, name)?.explanation).toMatch(/^not [a-z-]+: alike in 3$/);
  });

  test("fit nothing where all are out", () => {
    const hypotheses = without(new Hypotheses("rest", null), () => true);
    expect(told(hypotheses, "remaining")).toEqual({
      ...{ switch: "remaining", scope: "rest", value: null, candidates: ["clamped", "signed"], lines: [] },
      explanation:
        "no values of the switches fit this trace; counts were judged as under clamped, among others",
    });
  });

  test("are asked about where they are not the default", () => {
    const inferred = (value: string | null, more: object = {}) => ({
      ...{ switch: "refused", scope: "rest", value, words: "Refused calls are counted.", lines: [3] },
      ...{ explanation: "", ...more },
    });
    const asked = (...all: readonly object[]) => questionsOf(all as Parameters<typeof questionsOf>[0]);
    expect(asked(inferred("counted"))).toEqual([
      {
        ...{ scope: "rest", suspects: ["refused-counted"], lines: [3] },
        question: "Refused calls are counted. Is that meant? `--rules` settles it.",
      },
    ]);
    expect(asked(inferred("uncounted"), inferred(null), inferred("counted", { words: undefined }))).toEqual(
      [],
    );
    expect(asked(inferred("signed", { switch: "remaining" }))[0]?.suspects).toEqual([]);
  });
});

test("quotas of other names are counted by name, twenty at most, and then together", () => {
  const others = new OtherQuotas();
  expect([others.isEmpty, others.all()]).toEqual([true, []]);
  for (let name = 0; name < 22; name++) others.add("rest", "user", `name ${name}`, 10 + name);
  others.add("rest", "user", "name 3", 90);
  others.add("rest", "organization", "name 3", 91);
  const all = others.all();
  expect([others.isEmpty, all.length, all[3], all[19]]).toEqual([
    ...[false, 22],
    { scope: "rest", owner: "user", name: "name 3", answers: 2, line: 13 },
    { scope: "rest", owner: "user", name: "name 19", answers: 1, line: 29 },
  ]);
  expect(all.slice(20)).toEqual([
    { scope: "rest", owner: "user", name: null, answers: 2, line: 30 },
    { scope: "rest", owner: "organization", name: null, answers: 1, line: 91 },
  ]);
});
