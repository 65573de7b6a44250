// Sweeps without runs: each outcome is set by the values of its point.
import { describe, expect, test } from "vitest";
import { parseGoal } from "../../src/plan/goals.ts";
import type { PlanJob } from "../../src/plan/job.ts";
import type { Workshop } from "../../src/plan/points.ts";
import { Outcomes, samplingOf } from "../../src/plan/sampling.ts";
import { type Find, sweepOne, sweepTwo } from "../../src/plan/sweep.ts";
import type { Vary } from "../../src/plan/vary.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { driven } from "./driven.ts";

const goal = parseGoal("refusedShare<=5%", { populations: [] } as unknown as Scenario);
const screen = samplingOf(32, 0.95);
const shop = (change: Partial<Workshop> = {}): Workshop => ({
  ...{ outcomes: new Outcomes(), sampling: screen, screen, goals: [goal], fitError: null },
  figures: [["refusedShare", { population: null, name: "refusedShare" }]],
  ...change,
});
const upTo = (most: number): number[] => Array.from({ length: most }, (_, index) => index + 1);
const vary = (candidates: Vary["candidates"], unit: Vary["axis"]["unit"] = "count", path = "x"): Vary => ({
  axis: { path, unit, range: "", from: "", to: "", values: candidates.length },
  candidates,
});
type Value = string | number;
/** @param refused share of refused calls of a point, in a replication */
const played =
  (refused: (values: readonly Value[], replication: number) => number) =>
  ({ variant, replication }: PlanJob) => ({
    figures: [
      refused(
        variant.changes.map(({ value }) => value),
        replication,
      ),
    ],
    windows: null,
  });

/** A sweep along one axis, and of each point its value, replications, how many held, and its state. */
function along(
  axis: Vary,
  refused: (value: number, replication: number) => number,
  {
    find = "largest" as Find,
    guessed = false,
    ...change
  }: Partial<Workshop> & { find?: Find; guessed?: boolean } = {},
) {
  const steps = sweepOne(shop(change), axis, find, guessed);
  const { result } = driven(
    steps,
    played(([value], replication) => refused(Number(value), replication)),
  );
  const { points, ...rest } = result;
  return {
    ...rest,
    points: points.map(({ values, replications, held, state }) => [values[0], replications, held, state]),
  };
}
const hundred = vary(upTo(100));
/** The nine values that are tried first, and more of them, in their order. */
const grid = [1, 13, 26, 38, 51, 63, 75, 88, 100];
const and = (...more: readonly number[]): number[] => [...grid, ...more].sort((a, b) => a - b);
const most = 0.05;
const tooMuch = 0.06;
const judged = (values: readonly number[], holds: (value: number) => boolean) =>
  values.map((value) => (holds(value) ? [value, 8, 8, "holds"] : [value, 8, 0, "fails"]));
const evidence = (points: ReturnType<typeof judged>) =>
  points.map(([value, replications, held, state]) => ({ value, held, replications, state }));

describe("a sweep without a goal", () => {
  test("measures nine values of the axis, evenly, or every choice", () => {
    expect(along(hundred, () => 0, { goals: [] })).toEqual({
      ...{ points: grid.map((value) => [value, 8, null, null]), answer: null, heatMap: null, find: null },
    });
    expect(along(vary(["a", "b"], "choice"), () => 0, { goals: [] })).toEqual({
      ...{
        points: ["a", "b"].map((value) => [value, 8, null, null]),
        answer: null,
        heatMap: null,
        find: null,
      },
    });
  });
});

test("a sweep of choices tells which hold, which fail, and which are unclear", () => {
  const refused = (value: number, replication: number) => [1, 0, replication % 2][value - 1] ?? 0;
  expect(along(vary([1, 2, 3], "choice"), refused)).toEqual({
    points: [
      [1, 8, 0, "fails"],
      [2, 8, 8, "holds"],
      [3, 32, 16, "unclear"],
    ],
    answer: { kind: "choices", holding: ["2"], failing: ["1"], unclear: ["3"] },
    ...{ heatMap: null, find: null },
  });
});

describe("a sweep for a goal", () => {
  const upTo40 = (value: number): number => (value <= 40 ? most : tooMuch);
  const from40 = (value: number): number => (value >= 40 ? most : tooMuch);

  test("finds the largest value that holds, or the smallest", () => {
    expect(along(hundred, upTo40)).toEqual({
      points: judged(and(39, 40, 41, 44), (value) => value <= 40),
      answer: { kind: "value", value: 40, holds: 40, fails: 41 },
      ...{ heatMap: null, find: "largest" },
    });
    // From the other end the middle of the nine is 50.
    expect(along(hundred, from40, { find: "smallest" })).toEqual({
      points: judged(
        and(39, 40, 41, 44, 50).filter((value) => value !== 51),
        (value) => value >= 40,
      ),
      answer: { kind: "value", value: 40, holds: 40, fails: 39 },
      ...{ heatMap: null, find: "smallest" },
    });
  });

  test("turns round where the end was guessed, and what is tried holds first and fails then", () => {
    const points = judged(and(39, 40, 41, 44, 50), (value) => value >= 40);
    expect(along(hundred, from40, { guessed: true })).toEqual({
      ...{
        points,
        answer: { kind: "value", value: 40, holds: 40, fails: 39 },
        heatMap: null,
        find: "smallest",
      },
    });
    expect(along(hundred, upTo40, { guessed: true, find: "smallest" })).toMatchObject({
      ...{ answer: { kind: "value", value: 40, holds: 40, fails: 41 }, find: "largest" },
    });
    const asked = judged(grid, (value) => value >= 40);
    expect(along(hundred, from40)).toEqual({
      ...{ points: asked, answer: { kind: "not-monotone", evidence: evidence(asked) } },
      ...{ heatMap: null, find: "largest" },
    });
  });

  test("looks between the nine where none of them holds, near the one that comes nearest", () => {
    const points = judged(and(44, 57), (value) => value === 57);
    const near57 = (value: number): number =>
      Math.abs(value - 57) <= 1 ? most : tooMuch + Math.abs(value - 57) / 100;
    expect(along(hundred, near57)).toEqual({
      ...{ points, answer: { kind: "not-monotone", evidence: evidence(points) } },
      ...{ heatMap: null, find: "largest" },
    });
    expect(along(hundred, () => tooMuch)).toEqual({
      ...{ points: judged(grid, () => false), answer: { kind: "none" }, heatMap: null, find: "largest" },
    });
  });
});

describe("a sweep for a goal that is to hold in nine of ten runs", () => {
  const sampling = samplingOf(64, 0.95, 0.9);

  test("screens by most runs, then proves the edge", () => {
    const refused = (value: number, replication: number): number =>
      value <= 40 || (value <= 60 && replication % 4 !== 0) ? 0 : 1;
    expect(along(hundred, refused, { sampling })).toEqual({
      points: [
        ...[1, 13, 26].map((value) => [value, 8, 8, "unclear"]),
        ...[28, 36].map((value) => [value, 40, 40, "holds"]),
        ...[
          [38, 8, 8, "unclear"],
          [40, 40, 40, "holds"],
        ],
        ...[41, 42, 44, 51, 52, 56, 57, 58, 59, 60].map((value) => [value, 32, 24, "fails"]),
        ...[61, 63, 75, 88, 100].map((value) => [value, 3, 0, "fails"]),
      ],
      answer: { kind: "value", value: 40, holds: 40, fails: 41 },
      ...{ heatMap: null, find: "largest" },
    });
  });

  test("proves each value that holds where holding and failing take turns", () => {
    const holds = (value: number): boolean => value <= 20 || (value > 50 && value <= 70);
    const points = grid.map((value) => (holds(value) ? [value, 40, 40, "holds"] : [value, 3, 0, "fails"]));
    expect(along(hundred, (value) => (holds(value) ? 0 : 1), { sampling })).toEqual({
      ...{
        points,
        answer: { kind: "not-monotone", evidence: evidence(points as ReturnType<typeof judged>) },
      },
      ...{ heatMap: null, find: "largest" },
    });
  });
});

describe("a sweep of two axes", () => {
  const over = (
    x: Vary,
    y: Vary,
    refused: (x: number, y: number) => number,
    { find = "largest" as Find, ...change }: Partial<Workshop> & { find?: Find } = {},
  ) => {
    const { result } = driven(
      sweepTwo(shop(change), x, y, find),
      played(([atX, atY]) => refused(Number(atX), Number(atY))),
    );
    return { ...result, points: result.points.map(({ values, state }) => [...values, state].join(" ")) };
  };
  const three = vary([1, 2, 3]);
  const other = vary([1, 2, 3], "count", "y");
  const cells = [
    [0, 3, 6],
    [1, 4, 7],
    [2, 5, 8],
  ];
  const map = { xs: [1, 2, 3], ys: [1, 2, 3], cells, figures: ["refusedShare"] };

  test("finds in each column where holding ends", () => {
    expect(over(three, other, (x, y) => (x + y <= 4 ? 0 : 1))).toEqual({
      points: [
        "1 1 holds",
        "1 2 holds",
        "1 3 holds",
        "2 1 holds",
        "2 2 holds",
        "2 3 fails",
        "3 1 holds",
        "3 2 fails",
        "3 3 fails",
      ],
      answer: { kind: "frontier", holding: 6, failing: 3, unclear: 0 },
      heatMap: {
        ...map,
        frontier: [
          { x: 1, holds: 3, fails: null, monotone: true },
          { x: 2, holds: 2, fails: 3, monotone: true },
          { x: 3, holds: 1, fails: 2, monotone: true },
        ],
      },
      find: "largest",
    });
    expect(over(three, other, (x, y) => (x + y >= 4 ? 0 : 1), { find: "smallest" })).toMatchObject({
      heatMap: {
        frontier: [
          { x: 1, holds: 3, fails: 2, monotone: true },
          { x: 2, holds: 2, fails: 1, monotone: true },
          { x: 3, holds: 1, fails: null, monotone: true },
        ],
      },
      find: "smallest",
    });
  });

  test("says in which columns failing comes before holding", () => {
    expect(over(three, other, (x, y) => (x === y ? 1 : 0)).heatMap?.frontier).toEqual([
      { x: 1, holds: 3, fails: null, monotone: false },
      { x: 2, holds: 3, fails: null, monotone: false },
      { x: 3, holds: 2, fails: 3, monotone: true },
    ]);
    expect(over(three, other, () => 1).heatMap?.frontier[0]).toEqual({
      x: 1,
      holds: null,
      fails: 1,
      monotone: true,
    });
  });

  test("has no frontier along choices, and nothing to judge without a goal", () => {
    const choices = vary(["1", "2"], "choice", "y");
    expect(over(three, choices, () => 0)).toMatchObject({
      ...{ answer: { kind: "frontier", holding: 6, failing: 0, unclear: 0 }, heatMap: { frontier: [] } },
    });
    expect(over(three, other, () => 0, { goals: [] })).toMatchObject({
      ...{ answer: null, find: null, heatMap: { ...map, frontier: [] } },
    });
  });

  const one = vary([1], "count", "y");
  test.each<[string, Vary, readonly Value[]]>([
    ["ten as they are", vary(upTo(10)), upTo(10)],
    ["ten of more", vary(upTo(11)), [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]],
    ["round ones, but for the ends", vary(upTo(1_000)), [1, 110, 220, 330, 450, 560, 670, 780, 890, 1_000]],
    [
      "no round ones that were not asked for",
      vary(upTo(30).map((value) => 3 * value + 100)),
      [103, 112, 121, 130, 142, 151, 160, 172, 181, 190],
    ],
    ["all choices", vary(upTo(11).map(String), "choice"), upTo(11).map(String)],
  ])("takes of each axis %s", (_, axis, side) => {
    expect(over(axis, one, () => 0).heatMap?.xs).toEqual(side);
  });
});
