// The pictures of a run, as ECharts options.

import { count } from "../rules/words.ts";
import { type Point, refusalSlots, type WindowSeries } from "../summary/series.ts";
import type { Figures, PopulationSummary } from "../summary/summary.ts";
import { waitShares } from "../summary/summary.ts";
import { isNarrow } from "../summary/told.ts";
import type { Whose } from "../trace/whose.ts";
import { countAxis, gridLine, gridOf, margins, plotWidth, shareAxis, text, timeAxis } from "./axes.ts";
import type { ChartOption } from "./echarts.ts";
import type { Layout } from "./picture.ts";

const mutable = (points: readonly Point[]): number[][] => points.map(([x, y]) => [x, y]);

function stepLine(points: readonly Point[], color: string, dashed: boolean) {
  return {
    type: "line" as const,
    step: "end" as const,
    data: mutable(points),
    showSymbol: false,
    lineStyle: {
      color,
      width: dashed ? 1.5 : 1.75,
      type: dashed ? ([5, 4] as number[]) : ("solid" as const),
    },
  };
}

const highestOf = (points: readonly Point[]): number => Math.max(0, ...points.map(([, value]) => value));

/** Returns the colour of a window. An organization's windows look different from a user's. */
export const windowColor = (whose: Whose): string => (isNarrow(whose) ? "var(--user)" : "var(--admitted)");

export const refusalColor = (whose: Whose): string =>
  isNarrow(whose) ? "var(--refused-user)" : "var(--refused)";

/** Strip of bars above the windows, for their refusals. */
const strip = { top: 8, height: 26, gap: 8 } as const;
export const windowChartHeight = ({ refusals }: WindowSeries): number =>
  refusals.length === 0 ? 210 : 210 + strip.height + strip.gap;

/**
 * Returns one owner's windows: the count as a step line under the dashed limit, refused calls as bars above it.
 * @param predicted the same windows in the other run of a comparison
 */
export function windowChart(
  layout: Layout,
  series: WindowSeries,
  lengthMs: number,
  predicted: WindowSeries | null = null,
): ChartOption {
  const lines = [series.limits, series.counts, predicted?.counts ?? []];
  const top = Math.max(1, ...lines.map(highestOf));
  const color = windowColor(series);
  const refusing = series.refusals.length > 0;
  const { left, right } = margins;
  const gridTop = refusing ? strip.top + strip.height + strip.gap : margins.top;
  const above = { left, right, top: strip.top, height: strip.height, outerBoundsMode: "none" as const };
  return {
    grid: [gridOf({ ...margins, top: gridTop }), ...(refusing ? [above] : [])],
    xAxis: [timeAxis(lengthMs), ...(refusing ? [hiddenAxis(lengthMs)] : [])],
    yAxis: [countAxis(top * 1.06), ...(refusing ? [hiddenAxis(highestOf(series.refusals))] : [])],
    series: [
      { ...stepLine(series.counts, color, false), areaStyle: { color, opacity: 0.13 } },
      ...(predicted === null ? [] : [stepLine(predicted.counts, "var(--predicted)", true)]),
      stepLine(series.limits, "var(--limit)", true),
      ...(refusing ? [refusalBars(layout, series)] : []),
    ],
  };
}

const hiddenAxis = (max: number) => ({
  type: "value" as const,
  gridIndex: 1,
  min: 0,
  max,
  show: false,
  containShape: false,
});

function refusalBars(layout: Layout, series: WindowSeries) {
  return {
    type: "bar" as const,
    xAxisIndex: 1,
    yAxisIndex: 1,
    barWidth: plotWidth(layout) / refusalSlots,
    barMinHeight: 4,
    itemStyle: { color: refusalColor(series) },
    data: mutable(series.refusals),
  };
}

/** One curve of waits; a prediction is dashed. */
export interface WaitCurve {
  readonly population: PopulationSummary;
  readonly color: string;
  readonly dashed: boolean;
}

/**
 * Returns the chart of waits: the share of all jobs that had their answer within a time. The time is logarithmic, from
 * 1 ms. Jobs without an answer keep a curve below 100%.
 */
export function waitChart(curves: readonly WaitCurve[]): ChartOption {
  let end = 1;
  for (let decades = waitDecades(curves); decades > 0; decades--) end *= 10;
  return {
    grid: gridOf(margins),
    xAxis: {
      type: "log",
      min: 1,
      max: end,
      axisLabel: { ...text, formatter: (ms: number) => decade(ms) },
      axisLine: { lineStyle: { color: "var(--axis)" } },
      axisTick: { show: false },
      splitLine: { ...gridLine, showMaxLine: true },
    },
    yAxis: shareAxis,
    series: curves.map(({ population, color, dashed }) => ({
      type: "line",
      step: "end",
      showSymbol: false,
      lineStyle: { color, width: dashed ? 1.5 : 2, type: dashed ? [5, 4] : "solid" },
      data: waitPoints(population, end),
    })),
  };
}

/** Counts the powers of ten that the longest wait spans, from 1 ms. */
export function waitDecades(curves: readonly WaitCurve[]): number {
  const longest = Math.max(10, ...curves.map(({ population }) => population.waitsMs.at(-1) ?? 0));
  let decades = 1;
  for (let end = 10; end < longest; end *= 10) decades += 1;
  return decades;
}

/** Returns the share of jobs that had an answer which was no refusal. */
export const answeredShare = ({ admitted, jobs }: Figures): number =>
  Math.min(1, admitted / Math.max(1, jobs));

/** @param end end of the axis, up to which the share after the last answer stays the same */
function waitPoints({ waitsMs, figures }: PopulationSummary, end: number): number[][] {
  const answered = answeredShare(figures);
  const points = waitsMs.map((waitMs, index) => [
    Math.max(1, waitMs),
    (waitShares[index] as number) * answered,
  ]);
  return [[points[0]?.[0] ?? 1, 0], ...points, [end, answered]];
}

const decade = (ms: number): string => (ms < 1000 ? `${count(ms)} ms` : `${count(ms / 1000)} s`);
