// The share of predictions that held, and its meaning in words.

import { count, counted } from "../../src/rules/words.ts";
import { exp, ln } from "../../src/scenario/elementary.ts";
import {
  type BacktestResult,
  type Coverage,
  type PredictedFigure,
  type PredictedWindow,
  type Prediction,
  predictedFigures,
  type WindowClass,
} from "./backtest-result.ts";
import type { WindowGrid } from "./backtest-windows.ts";

/** Number of windows below which their share inside says little. */
const fewWindows = 10;

export function judgeCoverage(
  windows: readonly PredictedWindow[],
  totals: BacktestResult["totals"],
  levels: BacktestResult["levels"],
  grid: WindowGrid,
): Pick<BacktestResult, "coverage" | "findings"> {
  const classes = ["all", "saturated", "near", "far"] as const;
  const coverage = predictedFigures.flatMap((figure) =>
    classes.flatMap((name) => {
      const row = coverageOf(windows, figure, name);
      return row.windows === 0 ? [] : [row];
    }),
  );
  const misses = coverage
    .filter((row) => row.class !== "all" && fails(row, levels))
    .map((row) => missText(row, levels));
  const off = Object.entries(totals).flatMap(([name, total]) => totalText(name as PredictedFigure, total));
  return { coverage, findings: [...misses, ...off, ...scarcity(windows, grid)] };
}

const isInside = (value: number, span: readonly [number, number] | null): boolean =>
  span !== null && value >= span[0] && value <= span[1];

function coverageOf(
  windows: readonly PredictedWindow[],
  figure: PredictedFigure,
  name: WindowClass | "all",
): Coverage {
  let [seen, insideNarrow, insideWide] = [0, 0, 0];
  for (const { class: own, figures } of windows) {
    const { measured, narrow, wide } = figures[figure];
    if (measured === null || narrow === null || (name !== "all" && own !== name)) continue;
    seen += 1;
    if (isInside(measured, narrow)) insideNarrow += 1;
    if (isInside(measured, wide)) insideWide += 1;
  }
  return { figure, class: name, windows: seen, insideNarrow, insideWide };
}

/** Chance of a coverage below which the model is blamed. It is low, as windows are many and depend on each other. */
const blameBelow = 0.01;

/** Tells whether fewer windows lie inside a span than chance explains. */
function fails(
  { windows, insideNarrow, insideWide }: Coverage,
  { narrow, wide }: BacktestResult["levels"],
): boolean {
  return (
    chanceOfAtMost(insideNarrow, windows, narrow) < blameBelow ||
    chanceOfAtMost(insideWide, windows, wide) < blameBelow
  );
}

/** Returns the chance of at most `most` hits in `tries` tries. Logarithms keep the first terms from underflow. */
function chanceOfAtMost(most: number, tries: number, share: number): number {
  let logarithm = tries * ln(1 - share);
  let sum = 0;
  for (let hits = 0; hits <= most; hits++) {
    sum += exp(logarithm);
    logarithm += ln(((tries - hits) * share) / ((hits + 1) * (1 - share)));
  }
  return sum;
}

const figureText: Readonly<Record<PredictedFigure, string>> = {
  offered: "calls per window",
  admitted: "admitted per window",
  refused: "refused per window",
  waitP95Ms: "p95 wait per window",
};

/** Names of the classes. */
export const classText: Readonly<Record<WindowClass | "all", string>> = {
  all: "all windows",
  saturated: "windows expected to refuse",
  near: "windows expected to be nearly full",
  far: "windows expected to be far from full",
};

/** The days that were predicted, in words. */
export const predictedText: Readonly<Record<BacktestResult["predicted"], string>> = {
  all: "the rest",
  weekdays: "the rest but its weekend, which the first part lacks",
  weekend: "the rest but its weekdays, which the first part lacks",
};

export const percent = (share: number): string => `${Math.round(100 * share)}%`;

function missText(row: Coverage, { narrow, wide }: BacktestResult["levels"]): string {
  const { figure, class: name, windows, insideNarrow, insideWide } = row;
  return `${figureText[figure]}, ${classText[name]}: ${percent(insideNarrow / windows)} of ${count(windows)} inside the ${percent(narrow)} interval, ${percent(insideWide / windows)} inside the ${percent(wide)} one: the model does not explain these`;
}

function totalText(figure: PredictedFigure, { measured, wide }: Prediction): string[] {
  if (measured === null || wide === null || isInside(measured, wide)) return [];
  const span = wide[0] === wide[1] ? String(wide[0]) : `${wide[0]} to ${wide[1]}`;
  return [`${figureText[figure].replace(" per window", "")} in all: ${measured} measured, ${span} predicted`];
}

/** Returns a finding if the second part is too short to judge by. */
function scarcity(windows: readonly PredictedWindow[], { rows }: WindowGrid): string[] {
  if (windows.length === 0)
    return [
      `the second part holds no whole window (${[...new Set(rows.map(({ windowMs }) => `${windowMs / 1000} s`))].join(", ")}) with calls: nothing could be compared; record for longer, or choose a smaller share`,
    ];
  return windows.length < fewWindows
    ? [`only ${counted(windows.length, "window")} could be compared: the shares below say little`]
    : [];
}
