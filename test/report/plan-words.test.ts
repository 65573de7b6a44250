// A plan's question, its values and whether its answer is a good one, in words.
import { describe, expect, test } from "vitest";
import {
  figureNamed,
  heldWords,
  intervalText,
  meanText,
  planAnswer,
  planOutcome,
  questionFacts,
  questionWords,
  stateText,
} from "../../src/report/plan-words.ts";
import type { PlanFigure, PlanPoint, PlanResult } from "../../src/summary/plan-result.ts";

const plan = ({ question, ...members }: { readonly question?: object; readonly [member: string]: unknown }) =>
  ({
    question: { vary: [], goals: [], find: null, ...question },
    answer: null,
    storm: null,
    comparison: null,
    sentences: [],
    ...members,
  }) as unknown as PlanResult;
const axis = (path: string, unit = "count") => ({ path, range: "1..9", unit, values: 9 });
const goals = [
  { figure: "refusedShare", bound: "<1%" },
  { figure: "waitP95Ms", bound: "<2s" },
];

describe("the question", () => {
  test.each([
    [{ vary: [axis("a"), axis("b")] }, "What is measured over a = 1..9 and b = 1..9"],
    [
      { vary: [axis("a"), axis("b")], goals },
      "Where refusedShare <1% and waitP95Ms <2s holds over a = 1..9 and b = 1..9",
    ],
    [{ vary: [axis("a")] }, "What is measured over a = 1..9"],
    [
      { vary: [axis("a")], goals, find: "largest" },
      "The largest a in 1..9 for which refusedShare <1% and waitP95Ms <2s holds",
    ],
    [
      { vary: [axis("a", "choice")], goals, find: "largest" },
      "With which a of 1..9 refusedShare <1% and waitP95Ms <2s holds",
    ],
    [
      { vary: [axis("a")], goals, find: null },
      "With which a of 1..9 refusedShare <1% and waitP95Ms <2s holds",
    ],
    [{}, ""],
  ])("%j: %s", (question, words) => {
    expect(questionWords(plan({ question }))).toBe(words);
  });

  test("of a storm and of other policies begins as a sentence does", () => {
    const storm = { trigger: "outage", unit: "ms", from: 1_000, to: 60_000 };
    const burst = { trigger: "burst", unit: "count", from: 10, to: 90 };
    expect(questionWords(plan({ storm }))).toBe("Whether the load recovers from an outage of 1 s to 1 min");
    expect(questionWords(plan({ storm: burst, comparison: {} }))).toBe(
      "Whether the load recovers from a burst of 10 to 90 calls; what other policies and limits would change",
    );
  });

  test("ends the page with its facts", () => {
    const question = {
      scenario: "herd",
      durationMs: 60_000,
      vary: [axis("a")],
      goals: goals.slice(0, 1),
      share: 0.9,
      confidence: 0.95,
      replicationsMost: 1_000,
      seed: 7,
    };
    const points = [1, 5, 9, 9].map((value) => ({ values: [value] }));
    expect(questionFacts(plan({ question, points, simulations: 1_234 }))).toEqual([
      ["Scenario", "herd"],
      ["Each run lasts", "1 min"],
      ["Varied: a", "1..9 (9 values, 3 of them tried)"],
      ["Must hold", "refusedShare <1%"],
      ["A value holds", "where all of it holds in more than 90% of runs"],
      ["Confidence", "95%"],
      ["Runs of a value", "up to 1,000, with seeds made from 7"],
      ["Runs in all", "1,234"],
    ]);
    const all = Array.from({ length: 9 }, (_, place) => ({ values: [place + 1] }));
    expect(questionFacts(plan({ question, points: all, simulations: 1 }))[2]).toEqual([
      ...["Varied: a", "1..9 (9 values)"],
    ]);
  });
});

describe("the answer", () => {
  test("is the first sentence, without its end", () => {
    expect(planAnswer(plan({ sentences: ["It holds up to 5.", "More."] }))).toBe("It holds up to 5");
    expect(planAnswer(plan({}))).toBe("Nothing was asked");
  });

  const frontier = (holding: number, unclear: number) => ({ kind: "frontier", holding, unclear });
  const choices = (holding: string[], unclear: string[]) => ({ kind: "choices", holding, unclear });
  test.each([
    [{}, "none"],
    [{ answer: { kind: "none" } }, "bad"],
    [{ answer: { kind: "value" } }, "good"],
    [{ answer: { kind: "all" } }, "good"],
    [{ answer: { kind: "too-noisy" } }, "none"],
    [{ answer: { kind: "not-monotone" } }, "none"],
    [{ answer: choices(["a"], ["b"]) }, "good"],
    [{ answer: choices([], ["b"]) }, "none"],
    [{ answer: choices([], []) }, "bad"],
    [{ answer: frontier(1, 2) }, "good"],
    [{ answer: frontier(0, 2) }, "none"],
    [{ answer: frontier(0, 0) }, "bad"],
    // A load that recovers from all of a storm is well; one that fails from some size on is not.
    [{ storm: { answer: { kind: "all" } } }, "good"],
    [{ storm: { answer: { kind: "value" } } }, "bad"],
    [{ storm: { answer: { kind: "none" } } }, "bad"],
    [{ storm: { answer: { kind: "too-noisy" } } }, "none"],
    [{ answer: { kind: "value" }, storm: { answer: { kind: "value" } } }, "good"],
  ])("%j is %s", (members, outcome) => {
    expect(planOutcome(plan(members))).toBe(outcome);
  });
});

describe("figures and points", () => {
  const figure = (name: string, mean: number | null): PlanFigure => ({ figure: name, mean }) as PlanFigure;

  test("have their means, and are found by their names", () => {
    expect([
      meanText(figure("refusedShare", 0.099)),
      meanText(figure("refusedShare", null)),
      meanText(null),
    ]).toEqual(["9.9%", "–", "–"]);
    const figures = [figure("a", 1), figure("b", 2)];
    expect([figureNamed({ figures }, "b"), figureNamed({ figures }, "c")]).toEqual([figures[1], null]);
  });

  test("have intervals that end at nothing", () => {
    expect(intervalText("ms", { low: -500, high: 1_500 })).toBe("0 ms to 1.5 s");
    expect(intervalText("share", { low: 0.5, high: 0.5 })).toBe("50%");
    expect(intervalText("share", null)).toBe("–");
  });

  test("held so far is a point that held in every run, too few to be sure", () => {
    const point = (state: string | null, held: number | null): PlanPoint =>
      ({ state, held, replications: 8, heldShare: { low: 0.63, high: 1 } }) as PlanPoint;
    expect([
      stateText(point("unclear", 8)),
      stateText(point("unclear", 7)),
      stateText(point("holds", 8)),
      stateText(point(null, 8)),
    ]).toEqual(["held so far", "unclear", "holds", null]);
    expect(heldWords(point("holds", 8))).toBe("8 of 8 runs (63% to 100% of all)");
    expect(heldWords({ ...point("holds", 8), heldShare: null })).toBe("8 of 8 runs");
    expect(heldWords(point("holds", null))).toBeNull();
  });
});
