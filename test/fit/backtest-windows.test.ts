// The windows of a backtest: where each lies, what it counts, and what the share of predictions that held says.
import { describe, expect, test } from "vitest";
import { judgeCoverage } from "../../sim/fit/backtest-coverage.ts";
import type { BacktestResult, PredictedWindow } from "../../sim/fit/backtest-result.ts";
import { placeIn, WindowCounts, WindowGrid } from "../../sim/fit/backtest-windows.ts";
import type { Limits } from "../../sim/fit/limits.ts";

const limits = {
  operations: ["rest", "graphql"],
  windowOf: (organization: string, scope: string) => ({
    limit: organization === "acme" ? 10 : 20,
    windowSeconds: scope === "rest" ? 60 : 300,
  }),
} as unknown as Limits;
const minuteMs = 60_000;

test("a grid has each whole window of a span", () => {
  const grid = new WindowGrid(["acme", "other"], limits, 1, 10 * minuteMs);
  const row = (
    organization: string,
    scope: string,
    limit: number,
    minutes: number,
    count: number,
    first: number,
  ) => ({
    ...{ organization, scope, windowMs: minutes * minuteMs, limit, fromMs: minutes * minuteMs, count, first },
  });
  expect([grid.rows, grid.count]).toEqual([
    [
      row("acme", "rest", 10, 1, 9, 0),
      row("acme", "graphql", 10, 5, 1, 9),
      row("other", "rest", 20, 1, 9, 10),
      row("other", "graphql", 20, 5, 1, 19),
    ],
    20,
  ]);
  expect(grid.rowOf("other", "rest")).toBe(grid.rows[2]);
  expect([grid.rowOf("none", "rest"), grid.rowOf("acme", "none")]).toEqual([undefined, undefined]);
  const rest = grid.rows[2] as (typeof grid.rows)[number];
  const at = [minuteMs - 1, minuteMs, 2 * minuteMs - 1, 2 * minuteMs, 10 * minuteMs - 1, 10 * minuteMs];
  expect(at.map((ms) => placeIn(rest, ms))).toEqual([-1, 10, 10, 11, 18, -1]);
  expect(new WindowGrid(["acme"], limits, minuteMs, 2 * minuteMs - 1).count).toBe(0);
  expect(new WindowGrid(["acme"], limits, minuteMs, 2 * minuteMs).count).toBe(1);
  expect(new WindowGrid(["acme"], limits, 9 * minuteMs, 9 * minuteMs).count).toBe(0);
});

test("a window counts its calls", () => {
  const counts = new WindowCounts({ count: 2 } as WindowGrid);
  counts.add(1, 200, 4, 100);
  counts.add(1, 200, 3, 300);
  counts.add(1, 500, 2, null);
  counts.add(1, 429, 9, 50);
  counts.add(-1, 200, 9, 50);
  const told = (place: number) =>
    (["offered", "refused", "admitted", "waitP95Ms"] as const).map((name) => counts.figure(name, place));
  expect([told(0), told(1), [...counts.used]]).toEqual([
    [0, 0, 0, null],
    [4, 1, 3, 300],
    [0, 9],
  ]);
  counts.add(0, 200, 2, 7);
  expect([told(0), [...counts.used]]).toEqual([
    [1, 0, 1, 7],
    [2, 9],
  ]);
});

describe("the share of predictions that held", () => {
  type Kind = PredictedWindow["class"];
  const nothing = { measured: null, narrow: null, wide: null };
  const levels = { narrow: 0.5, wide: 0.9 } as BacktestResult["levels"];
  const grid = {
    rows: [{ windowMs: 60_000 }, { windowMs: 60_000 }, { windowMs: 300_000 }],
  } as unknown as WindowGrid;
  const windows = (count: number, measured: number, kind: Kind = "far"): PredictedWindow[] =>
    Array.from({ length: count }, () => ({
      class: kind,
      figures: {
        offered: { measured, narrow: [4, 6], wide: [2, 8] },
        refused: nothing,
        admitted: { measured: 5, narrow: null, wide: null },
        waitP95Ms: { measured: null, narrow: [4, 6], wide: [2, 8] },
      },
    })) as unknown as PredictedWindow[];
  const judged = (all: readonly PredictedWindow[], totals: object = {}) =>
    judgeCoverage(all, totals as BacktestResult["totals"], levels, grid);

  test("is counted by class, inside both spans, their ends included", () => {
    const all = [2, 3, 4, 6, 7, 8, 1, 9].flatMap((measured) => windows(2, measured));
    const row = { figure: "offered", windows: 16, insideNarrow: 4, insideWide: 12 };
    expect(judged(all).coverage).toEqual([
      { ...row, class: "all" },
      { ...row, class: "far" },
    ]);
    expect(judged([...all, ...windows(1, 5, "near")]).coverage).toEqual([
      { figure: "offered", class: "all", windows: 17, insideNarrow: 5, insideWide: 12 + 1 },
      { figure: "offered", class: "near", windows: 1, insideNarrow: 1, insideWide: 1 },
      { ...row, class: "far" },
    ]);
  });

  test("is blamed on the model where chance does not explain it", () => {
    // Of 20 windows, half are inside by the levels: 5 or fewer by chance in 2 of 100 cases, 4 or fewer in 0.6.
    const inside = (count: number, kind: Kind): PredictedWindow[] => [
      ...windows(count, 5, kind),
      ...windows(20 - count, 3, kind),
    ];
    expect(judged(inside(5, "near")).findings).toEqual([]);
    expect(judged(inside(4, "near")).findings).toEqual([
      "calls per window, windows expected to be nearly full: 20% of 20 inside the 50% interval, 100% inside the 90% one: the model does not explain these",
    ]);
    // 14 or fewer of 20 are inside the wide one in 1.1 of 100 cases, 13 or fewer in 0.2.
    const wide = (count: number): PredictedWindow[] => [...windows(count, 5), ...windows(20 - count, 9)];
    expect(judged(wide(14)).findings).toEqual([]);
    expect(judged(wide(13)).findings).toEqual([
      "calls per window, windows expected to be far from full: 65% of 20 inside the 50% interval, 65% inside the 90% one: the model does not explain these",
    ]);
    expect(judged([...inside(10, "saturated"), ...windows(10, 1, "saturated")]).findings.length).toBe(1);
  });

  test("says little of few windows, and nothing of none", () => {
    expect(judged(windows(10, 5)).findings).toEqual([]);
    expect(judged(windows(9, 5)).findings).toEqual([
      "only 9 windows could be compared: the shares below say little",
    ]);
    expect(judged([]).findings).toEqual([
      "the second part holds no whole window (60 s, 300 s) with calls: nothing could be compared; record for longer, or choose a smaller share",
    ]);
  });

  test("comes with totals that are off", () => {
    const of = (measured: number | null, wide: readonly [number, number] | null) =>
      judged(windows(10, 5), { refused: { measured, wide } }).findings;
    expect([of(null, [1, 2]), of(5, null), of(5, [5, 7]), of(7, [5, 7])]).toEqual([[], [], [], []]);
    expect(of(8, [5, 7])).toEqual(["refused in all: 8 measured, 5 to 7 predicted"]);
    expect(of(4, [5, 5])).toEqual(["refused in all: 4 measured, 5 predicted"]);
  });
});
