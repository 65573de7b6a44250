// Answers of plans, word for word: which value, how sure, what was measured there, and what would tell more.
import { describe, expect, test } from "vitest";
import { answerSentences } from "../../src/plan/answer-sentences.ts";
import type { FitError } from "../../src/scenario/scenario.ts";
import type {
  PlanAnswer,
  PlanAxis,
  PlanEvidence,
  PlanFigure,
  PlanFrontierPoint,
  PlanPoint,
  PlanQuestion,
  PlanResult,
  PlanState,
  PlanValue,
} from "../../src/summary/plan-result.ts";

const clients: PlanAxis = { path: "a.clients", unit: "count", range: "1..9", from: 1, to: 9, values: 9 };
const limits: PlanAxis = { path: "limit", unit: "count", range: "50..60", from: 50, to: 60, values: 2 };
const refused = { figure: "refused", bound: "<10", value: 10 };
const waits = { figure: "waitP95Ms", bound: "<2s", value: 2000 };

const figure = (name: string, mean: number, half: number): PlanFigure => ({
  figure: name,
  measured: 4,
  mean,
  interval: { low: mean - half, high: mean + half },
  least: mean - half,
  most: mean + half,
});

/** A point at which 2 of 4 runs hold, with 5 refused calls. */
const point = (value: PlanValue, state: PlanState = "holds", more: Partial<PlanPoint> = {}): PlanPoint => ({
  values: [value],
  replications: 4,
  held: 2,
  heldShare: null,
  state,
  figures: [figure("refused", 5, 2), figure("waitP95Ms", 1500, 0), figure("admitted", 1, 0)],
  ...more,
});

interface Told extends Partial<PlanQuestion> {
  readonly points?: readonly PlanPoint[];
  readonly frontier?: readonly PlanFrontierPoint[];
  readonly fitError?: FitError;
  /** Numbers of values of the map along both axes. Default: all. */
  readonly tried?: readonly [x: number, y: number];
}

function told(
  answer: PlanAnswer | null,
  { points = [], frontier, tried, fitError, ...question }: Told = {},
): string[] {
  const [xs, ys] = (tried ?? [9, 2]).map((length) => Array.from({ length }, (_, place) => place));
  return answerSentences(
    {
      question: {
        scenario: "s",
        description: null,
        seed: 1,
        durationMs: 1000,
        vary: [clients],
        goals: [refused],
        find: "largest",
        share: 0.9,
        confidence: 0.95,
        replicationsMost: 40,
        command: null,
        ...question,
      },
      points,
      answer,
      heatMap: frontier === undefined ? null : { xs, ys, cells: [], figures: [], frontier },
    } as unknown as PlanResult,
    fitError ?? null,
  );
}

test("figures are told as goals are held to them, too, where a fit was too favourable", () => {
  const shares = { figure: "refusedShare", bound: "<=40%", value: 0.4 };
  const points = [point(3, "holds", { figures: [figure("refusedShare", 0.3, 0.1)] })];
  const tell = (fitError: FitError) =>
    told({ kind: "none" }, { points, goals: [shares], vary: [{ ...clients, from: 3 }], fitError })[1];
  expect(tell({ calls: 0, refused: 0.5, waitP95Ms: null })).toBe(
    "At 3: refusedShare 30% on average, 20% to 40% by run (40% to 80% with the fit's error); 2 of 4 runs hold.",
  );
  // No share is above all.
  expect(tell({ calls: 0, refused: 0.9, waitP95Ms: null })).toContain("(100% with the fit's error)");
  // A fit that was too severe changes nothing.
  expect(tell({ calls: 0.5, refused: -0.5, waitP95Ms: 0.5 })).toBe(
    "At 3: refusedShare 30% on average, 20% to 40% by run; 2 of 4 runs hold.",
  );
});

const both = { goals: [refused, waits] };
const at = (value: number): string => `At ${value}: refused 5 on average, 3 to 7 by run; 2 of 4 runs hold.`;

test("no answer and no axis say nothing", () => {
  expect(told(null)).toEqual([]);
  expect(told({ kind: "all" }, { vary: [] })).toEqual([]);
});

describe("a value", () => {
  const answer: PlanAnswer = { kind: "value", value: 3, holds: 3, fails: 5 };

  test("comes with what was measured on both sides of it", () => {
    expect(told(answer, { points: [point(1, "holds", { held: 1 }), point(3), point(5)] })).toEqual([
      "a.clients = 3 is the largest for which refused <10 surely holds in 90% of runs; at 5 it fails (95% confidence).",
      at(3),
      at(5),
    ]);
  });

  test("of two goals, of which the runs leave values between unclear", () => {
    const states = {
      2: "unclear",
      3: "unclear",
      4: "unclear",
      5: "holds",
      6: "unclear",
      7: "unclear",
    } as const;
    const points = Object.entries(states).map(([value, state]) => point(Number(value), state));
    expect(
      told({ kind: "value", value: 7, holds: 7, fails: 3 }, { ...both, points, find: "smallest" }),
    ).toEqual([
      "a.clients = 7 is the smallest for which refused <10 and waitP95Ms <2s surely hold in 90% of runs; " +
        "at 4 and 6 the runs do not tell, and at 3 they fail (95% confidence).",
      "At 7: refused 5 on average, 3 to 7 by run and waitP95Ms 1.5 s; 2 of 4 runs hold.",
      "At 3: refused 5 on average, 3 to 7 by run and waitP95Ms 1.5 s; 2 of 4 runs hold.",
    ]);
  });

  test("of one run, of which nothing was told to hold", () => {
    const one = point(3, "holds", { replications: 1, held: null });
    expect(told(answer, { points: [one] })[1]).toMatch(/; 0 of 1 run holds\.$/);
  });
});

test.each([
  ["largest", 9],
  ["smallest", 1],
] as const)("all that was tried, where the %s is looked for", (find, end) => {
  const points = [point(1), point(9)];
  expect(told({ kind: "all" }, { find, points })).toEqual([
    `refused <10 holds in 90% of runs all over a.clients = 1..9, as far as it was tried: the ${find} value is ${end}, or lies beyond that range.`,
    at(end),
  ]);
  const single = { ...clients, values: 1 };
  expect(told({ kind: "all" }, { find, points, vary: [single], ...both })[0]).toBe(
    "refused <10 and waitP95Ms <2s hold in 90% of runs all over a.clients = 1..9.",
  );
});

test.each([
  ["largest", 1],
  ["smallest", 9],
] as const)("none, where the %s is looked for", (find, end) => {
  expect(told({ kind: "none" }, { find, points: [point(1), point(9)] })).toEqual([
    "refused <10 holds in 90% of runs at none of 2 points tried in a.clients = 1..9.",
    at(end),
  ]);
});

describe("values that alternate", () => {
  const letters = { h: "holds", f: "fails", u: "unclear" } as const;
  /** `hfu`: holds at 1, fails at 2, is unclear at 3. */
  const turns = (states: string, more: Told = {}): string[] => {
    const evidence = [...states].map((letter, index): PlanEvidence => {
      return { value: index + 1, state: letters[letter as "h" | "f" | "u"], held: 0, replications: 4 };
    });
    return told({ kind: "not-monotone", evidence }, more);
  };

  test("twice: there is no one answer", () => {
    expect(turns("hhfuh")).toEqual([
      "There is no one answer: refused <10 holds from 1, fails from 3, is unclear from 4 and holds from 5 on, " +
        "so that neither end of 1..9 says anything about what lies between.",
    ]);
    expect(turns("fhufu", both)).toEqual([
      "There is no one answer: refused <10 and waitP95Ms <2s fail from 1, hold from 2, are unclear from 3, fail from 4 " +
        "and are unclear from 5 on, so that neither end of 1..9 says anything about what lies between.",
    ]);
  });

  test("once: the other end has an answer, and what is unclear is no turn", () => {
    expect(turns("ffuh")).toEqual([
      "There is no largest value with others that holds on its one side alone: refused <10 fails from 1, is unclear from 3 " +
        "and holds from 4 on; ask for the other end (--find smallest).",
    ]);
    expect(turns("uhuf", { find: "smallest" })).toEqual([
      "There is no smallest value with others that holds on its one side alone: refused <10 is unclear from 1, holds from 2, " +
        "is unclear from 3 and fails from 4 on; ask for the other end (--find largest).",
    ]);
  });
});

test.each([
  [
    { holds: 3, fails: 6, replicationsMore: 12 },
    {},
    "a.clients = 3 is the largest tried for which refused <10 surely holds in 90% of runs; it surely fails at 6, and up to " +
      "there the runs differ too much to say: about 12 more runs of each value would tell (--replications 52).",
  ],
  [
    { holds: null, fails: 6, replicationsMore: 1 },
    both,
    "refused <10 and waitP95Ms <2s surely hold in 90% of runs at no value tried; they surely fail at 6, and up to there the " +
      "runs differ too much to say: about 1 more runs of each value would tell (--replications 41).",
  ],
  [
    { holds: 3, fails: null, replicationsMore: null },
    {},
    "a.clients = 3 is the largest tried for which refused <10 surely holds in 90% of runs; beyond it the runs differ too much " +
      "to say: no number of replications that can be run would tell.",
  ],
])("noise: %j", (found, more, sentence) => {
  expect(told({ kind: "too-noisy", ...found }, more)).toEqual([sentence]);
});

test("choices are named by what they do, and groups without any are left out", () => {
  const choices = { kind: "choices", holding: ["a", "b", "c"], failing: ["d"], unclear: [] } as const;
  expect(told(choices)).toEqual(["refused <10 holds with a, b and c and fails with d."]);
  expect(told({ ...choices, holding: [], unclear: ["e"] }, both)).toEqual([
    "refused <10 and waitP95Ms <2s fail with d and are unclear with e.",
  ]);
  expect(told({ ...choices, failing: [], unclear: ["e"] })).toEqual([
    "refused <10 holds with a, b and c and is unclear with e.",
  ]);
});

describe("two axes", () => {
  const edge = (x: number, holds: number | null, monotone = true): PlanFrontierPoint => ({
    x,
    holds,
    fails: null,
    monotone,
  });
  const answer = { kind: "frontier", holding: 3, failing: 2, unclear: 0 } as const;
  const vary = [clients, limits];
  const points = [point(1), point(2), point(3), point(4), point(5)];

  test("say what will do at both ends of the first", () => {
    const frontier = [edge(1, 50), edge(2, 55), edge(9, null)];
    expect(told(answer, { vary, points, frontier })).toEqual([
      "refused <10 holds at 3 of 5 points and fails at 2.",
      "With a.clients = 1 the largest limit that will do is 50.",
      "With a.clients = 9 no limit that was tried will do.",
    ]);
    expect(
      told({ ...answer, unclear: 1 }, { vary, points, frontier: [edge(1, 50, false)], ...both }),
    ).toEqual([
      "refused <10 and waitP95Ms <2s hold at 3 of 5 points and fail at 2, 1 is unclear.",
      "With a.clients = 1 the largest limit that will do is 50.",
      "At a.clients = 1 holding and failing alternate along limit.",
    ]);
  });

  test("say how many values the map has where it has not all, and the smallest of those tried", () => {
    const frontier = [edge(1, 50)];
    const wide = { ...limits, values: 20 };
    const most = "it tries all where there are at most 10, as in a narrower range.";
    expect(
      told(answer, { vary: [clients, wide], points, frontier, tried: [9, 10], find: "smallest" }),
    ).toEqual([
      "refused <10 holds at 3 of 5 points and fails at 2.",
      "With a.clients = 1 the smallest limit tried that will do is 50.",
      `The map tried 10 of the 20 values of limit; ${most}`,
    ]);
    expect(told(answer, { vary, points, frontier, tried: [8, 2] }).slice(1)).toEqual([
      "With a.clients = 1 the largest limit that will do is 50.",
      `The map tried 8 of the 9 values of a.clients; ${most}`,
    ]);
    expect(told(answer, { vary: [clients, wide], points, frontier, tried: [8, 10] }).at(-1)).toBe(
      `The map tried 8 of the 9 values of a.clients and 10 of the 20 values of limit; ${most}`,
    );
  });

  test("say no more where there is no frontier, and nothing without a map", () => {
    expect(told({ ...answer, unclear: 2 }, { vary, points, frontier: [] })).toEqual([
      "refused <10 holds at 3 of 5 points and fails at 2, 2 are unclear.",
    ]);
    expect(told(answer, { vary, points })).toEqual([]);
    expect(told(answer, { points, frontier: [] })).toEqual([]);
  });
});
