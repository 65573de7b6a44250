// The share of predictions that held, of windows that are set, and the sentences on it.
import { describe, expect, test } from "vitest";
import { judgeCoverage, percent } from "../../sim/fit/backtest-coverage.ts";
import type {
  BacktestResult,
  PredictedFigure,
  PredictedWindow,
  Prediction,
  WindowClass,
} from "../../sim/fit/backtest-result.ts";
import type { WindowGrid } from "../../sim/fit/backtest-windows.ts";

const levels = { narrow: 0.8, wide: 0.95 };
const grid = {
  rows: [{ windowMs: 60_000 }, { windowMs: 300_000 }, { windowMs: 60_000 }],
} as unknown as WindowGrid;
const unknown: Prediction = { measured: null, middle: null, narrow: null, wide: null };
const held = { offered: unknown, admitted: unknown, refused: unknown };
/** A value, predicted from 10 to 20 in most cases, and from 5 to 25 in nearly all. */
const value = (measured: number): Prediction => ({ measured, middle: 15, narrow: [10, 20], wide: [5, 25] });
const windowOf = (
  offered: Prediction,
  own: WindowClass = "far",
  others: Partial<Record<PredictedFigure, Prediction>> = {},
): PredictedWindow =>
  ({
    class: own,
    figures: { ...held, waitP95Ms: unknown, offered, ...others },
  }) as unknown as PredictedWindow;
const times = (count: number, window: PredictedWindow): PredictedWindow[] => new Array(count).fill(window);
const judged = (windows: readonly PredictedWindow[], totals: Partial<BacktestResult["totals"]> = {}) =>
  judgeCoverage(windows, { ...held, ...totals }, levels, grid);

test("each value is inside a span or not, ends included, for its class and for all", () => {
  const windows = [5, 4, 10, 9, 20, 21, 25, 26].map((measured, at) =>
    windowOf(value(measured), at < 4 ? "near" : "saturated", { waitP95Ms: at === 0 ? value(15) : unknown }),
  );
  expect(judged(windows).coverage).toEqual([
    { figure: "offered", class: "all", windows: 8, insideNarrow: 2, insideWide: 6 },
    { figure: "offered", class: "saturated", windows: 4, insideNarrow: 1, insideWide: 3 },
    { figure: "offered", class: "near", windows: 4, insideNarrow: 1, insideWide: 3 },
    { figure: "waitP95Ms", class: "all", windows: 1, insideNarrow: 1, insideWide: 1 },
    { figure: "waitP95Ms", class: "near", windows: 1, insideNarrow: 1, insideWide: 1 },
  ]);
});

test.each(["measured", "narrow"] as const)("a window without %s counts for nothing", (name) => {
  expect(judged([windowOf({ ...value(15), [name]: null })]).coverage).toEqual([]);
});

describe("the model is blamed", () => {
  const blamed = (inside: number, between: number, outside: number, own: WindowClass = "far") =>
    judged([
      ...times(inside, windowOf(value(15), own)),
      ...times(between, windowOf(value(22), own)),
      ...times(outside, windowOf(value(99), own)),
    ]).findings;
  const text = (own: string, narrow: number, wide: number): string =>
    `calls per window, windows expected to be ${own}: ${narrow}% of 20 inside the 80% interval, ${wide}% inside the 95% one: the model does not explain these`;

  // Of twenty windows, eleven or fewer inside with a chance of 0.8 each come once in 100.3 times; sixteen or fewer
  // inside with a chance of 0.95 come once in 63, fifteen or fewer once in 389 times.
  test("where fewer are inside than happens once in a hundred times", () => {
    expect(blamed(20, 0, 0)).toEqual([]);
    expect(blamed(12, 8, 0)).toEqual([]);
    expect(blamed(11, 9, 0)).toEqual([text("far from full", 55, 100)]);
    expect(blamed(16, 0, 4)).toEqual([]);
    expect(blamed(15, 0, 5)).toEqual([text("far from full", 75, 75)]);
    expect(blamed(0, 0, 20, "near")).toEqual([text("nearly full", 0, 0)]);
  });

  test("for a class, not for all windows together", () => {
    const near = times(10, windowOf(value(15), "near"));
    const far = times(10, windowOf(value(99)));
    expect(judged([...near, ...far]).findings).toEqual([
      "calls per window, windows expected to be far from full: 0% of 10 inside the 80% interval, 0% inside the 95% one: the model does not explain these",
    ]);
  });
});

test("a total outside its wide span is told", () => {
  const windows = times(10, windowOf(value(15)));
  const single: Prediction = { measured: 3, middle: 4, narrow: [4, 4], wide: [4, 4] };
  expect(judged(windows, { offered: value(4), admitted: value(25), refused: single }).findings).toEqual([
    "calls in all: 4 measured, 5 to 25 predicted",
    "refused in all: 3 measured, 4 predicted",
  ]);
  expect(
    judged(windows, { offered: { ...value(4), wide: null }, admitted: { ...value(4), measured: null } })
      .findings,
  ).toEqual([]);
});

test("few windows say little, and none nothing", () => {
  const found = (count: number) => judged(times(count, windowOf(value(15)))).findings;
  expect(found(10)).toEqual([]);
  expect(found(9)).toEqual(["only 9 windows could be compared: the shares below say little"]);
  expect(found(1)).toEqual(["only 1 window could be compared: the shares below say little"]);
  expect(found(0)).toEqual([
    "the second part holds no whole window (60 s, 300 s) with calls: nothing could be compared; record for longer, or choose a smaller share",
  ]);
});

test("shares are whole percents", () => {
  expect([0, 0.004, 0.005, 0.5, 1].map(percent)).toEqual(["0%", "0%", "1%", "50%", "100%"]);
});
