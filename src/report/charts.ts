// The pictures, as ECharts options. Each is drawn twice, for a wide and for a narrow screen, since scaled text
// cannot be read. Colours are CSS variables: one drawing serves light and dark.

import {
  type Point,
  refusalSlots,
  type Series,
  type WindowKey,
  type WindowSeries,
} from "../summary/series.ts";
import type { PopulationSummary } from "../summary/summary.ts";
import { waitShares } from "../summary/summary.ts";
import type { ChartOption, Size } from "./echarts.ts";
import { count, duration } from "./format.ts";

export type Layout = "wide" | "narrow";
export const layouts: readonly Layout[] = ["wide", "narrow"];

/** How many population colours there are (`--series-1` ...). */
const seriesColors = 6;
export const seriesColor = (index: number): string => `var(--series-${(index % seriesColors) + 1})`;

const width: Readonly<Record<Layout, number>> = { wide: 920, narrow: 440 };
export const chartSize = (layout: Layout, height: number): Size => ({ width: width[layout], height });

/** How the pictures write. */
export const text = { color: "var(--muted)", fontSize: 12, fontFamily: "inherit" } as const;
// The axes end a little above their highest value; a line there would mean nothing.
const gridLine = { show: true, showMaxLine: false, lineStyle: { color: "var(--line)", width: 1 } } as const;
export const grid = { left: 52, right: 18, top: 14, bottom: 30 } as const;

const timeSteps = [
  100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Time from 0 to so many ms. */
export function timeAxis(lengthMs: number, layout: Layout) {
  const ticksMost = layout === "wide" ? 10 : 5;
  // A label of minutes and seconds is long: few of them.
  const steps = lengthMs > 180_000 ? timeSteps.filter((step) => step >= 60_000) : timeSteps;
  const interval = steps.find((step) => lengthMs / step <= ticksMost) ?? Math.ceil(lengthMs / ticksMost);
  return {
    type: "value" as const,
    min: 0,
    max: lengthMs,
    interval,
    axisLabel: {
      ...text,
      formatter: (ms: number) => (ms % interval === 0 ? duration(ms).replace(/^0 ms$/, "0") : ""),
      hideOverlap: true,
    },
    axisLine: { lineStyle: { color: "var(--axis)" } },
    axisTick: { show: false },
    splitLine: { show: false },
  };
}

/** A round step that cuts `most` into at most five. */
function roundStep(most: number): number {
  let magnitude = 1;
  while (magnitude * 50 < most) magnitude *= 10;
  return [1, 2, 5, 10].map((digit) => digit * magnitude).find((step) => most / step <= 5) ?? magnitude * 50;
}

/** Counts, from 0 where nothing else is said. */
export function countAxis(most: number, least = 0) {
  const interval = roundStep(Math.max(1, most - least));
  return {
    type: "value" as const,
    min: least,
    max: most,
    interval,
    axisLabel: {
      ...text,
      formatter: (value: number) => (value % interval === 0 ? count(value) : ""),
    },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: gridLine,
  };
}

const mutable = (points: readonly Point[]): number[][] => points.map(([x, y]) => [x, y]);

function stepLine(points: readonly Point[], color: string, dashed: boolean) {
  return {
    type: "line" as const,
    step: "end" as const,
    data: mutable(points),
    showSymbol: false,
    silent: true,
    lineStyle: {
      color,
      width: dashed ? 1.5 : 1.75,
      type: dashed ? ([5, 4] as number[]) : ("solid" as const),
    },
  };
}

const highestOf = (points: readonly Point[]): number => Math.max(0, ...points.map(([, value]) => value));

/** An organization's windows look different from a user's. */
export const windowColor = ({ user }: WindowKey): string =>
  user === null ? "var(--admitted)" : "var(--user)";

/** Above the windows, if they refused anything: a strip of bars. */
const strip = { top: 8, height: 26, gap: 8 } as const;
export const windowChartHeight = ({ refusals }: WindowSeries): number =>
  refusals.length === 0 ? 210 : 210 + strip.height + strip.gap;

/**
 * One owner's windows: the count as a step line under the dashed limit, refused calls as bars above it.
 * @param predicted the same windows in the run it is compared with
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
  const { left, right } = grid;
  const gridTop = refusing ? strip.top + strip.height + strip.gap : grid.top;
  const above = { left, right, top: strip.top, height: strip.height };
  return {
    grid: [{ ...grid, top: gridTop }, ...(refusing ? [above] : [])],
    xAxis: [timeAxis(lengthMs, layout), ...(refusing ? [hiddenAxis(lengthMs)] : [])],
    yAxis: [countAxis(top * 1.06), ...(refusing ? [hiddenAxis(highestOf(series.refusals))] : [])],
    series: [
      { ...stepLine(series.counts, color, false), areaStyle: { color, opacity: 0.13 } },
      ...(predicted === null ? [] : [stepLine(predicted.counts, "var(--predicted)", true)]),
      stepLine(series.limits, "var(--limit)", true),
      ...(refusing ? [refusalBars(layout, series.refusals)] : []),
    ],
  };
}

const hiddenAxis = (max: number) => ({ type: "value" as const, gridIndex: 1, min: 0, max, show: false });

function refusalBars(layout: Layout, refusals: readonly Point[]) {
  return {
    type: "bar" as const,
    xAxisIndex: 1,
    yAxisIndex: 1,
    silent: true,
    barWidth: (width[layout] - grid.left - grid.right) / refusalSlots,
    barMinHeight: 4,
    itemStyle: { color: "var(--refused)" },
    data: mutable(refusals),
  };
}

/** What the answers were, span by span. */
export function trafficChart(layout: Layout, { traffic, lengthMs, slotMs }: Series): ChartOption {
  const parts = [
    ["admitted", "var(--admitted)"],
    ["refusedByUser", "var(--refused-user)"],
    ["refusedByOrganization", "var(--refused)"],
    ["refusedByUnknown", "var(--refused-unknown)"],
    ["unanswered", "var(--unanswered)"],
  ] as const;
  const heights = traffic.map((slot) => parts.reduce((sum, [part]) => sum + slot[part], 0));
  const slotWidth = ((width[layout] - grid.left - grid.right) * slotMs) / lengthMs;
  const drawn = parts.filter(([part]) => traffic.some((slot) => slot[part] > 0));
  return {
    grid,
    xAxis: timeAxis(lengthMs, layout),
    yAxis: countAxis(Math.max(1, ...heights) * 1.06),
    series: drawn.map(([part, color]) => ({
      type: "bar",
      stack: "calls",
      silent: true,
      barWidth: Math.max(1, slotWidth - (slotWidth > 8 ? 2 : 1)),
      itemStyle: { color },
      // Every slot has its value in every part: bars are stacked by their index.
      data: traffic.map((slot) => [Math.min(slot.atMs + slotMs / 2, lengthMs), slot[part]]),
    })),
  };
}

/** A bar for each user, the first one on top. */
export interface UserBar {
  readonly name: string;
  readonly admitted: number;
  readonly refusedByUser: number;
  readonly refusedByOrganization: number;
  readonly refusedByUnknown: number;
}

export function usersChart(layout: Layout, bars: readonly UserBar[]): ChartOption {
  const parts = [
    ["admitted", "var(--admitted)"],
    ["refusedByUser", "var(--refused-user)"],
    ["refusedByOrganization", "var(--refused)"],
    ["refusedByUnknown", "var(--refused-unknown)"],
  ] as const;
  const drawn = parts.filter(([part]) => bars.some((bar) => bar[part] > 0));
  const most = Math.max(1, ...bars.map((bar) => parts.reduce((sum, [part]) => sum + bar[part], 0)));
  const labelWidth = layout === "wide" ? 150 : 110;
  return {
    grid: { left: labelWidth + 12, right: 18, top: 6, bottom: 30 },
    xAxis: countAxis(most * 1.04),
    yAxis: {
      type: "category",
      inverse: true,
      data: bars.map(({ name }) => name),
      axisLabel: { ...text, color: "var(--ink)", width: labelWidth, overflow: "truncate", interval: 0 },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: drawn.map(([part, color]) => ({
      type: "bar",
      stack: "calls",
      silent: true,
      barWidth: 14,
      itemStyle: { color },
      data: bars.map((bar) => bar[part]),
    })),
  };
}

/** One curve of waits; a dashed one is the prediction. */
export interface WaitCurve {
  readonly population: PopulationSummary;
  readonly color: string;
  readonly dashed: boolean;
}

/**
 * The share of all jobs that had their answer within a time; the time on a logarithmic axis, from 1 ms. Jobs
 * that never had one keep a curve below 100%.
 */
export function waitChart(curves: readonly WaitCurve[]): ChartOption {
  const longest = Math.max(10, ...curves.map(({ population }) => population.waitsMs.at(-1) ?? 0));
  let end = 10;
  while (end < longest) end *= 10;
  return {
    grid,
    xAxis: {
      type: "log",
      min: 1,
      max: end,
      axisLabel: { ...text, formatter: (ms: number) => decade(ms) },
      axisLine: { lineStyle: { color: "var(--axis)" } },
      axisTick: { show: false },
      splitLine: { ...gridLine, showMaxLine: true },
    },
    yAxis: {
      type: "value",
      min: 0,
      max: 1,
      interval: 0.25,
      axisLabel: { ...text, formatter: (part: number) => `${Math.round(part * 100)}%` },
      axisLine: { show: false },
      axisTick: { show: false },
      splitLine: { ...gridLine, showMaxLine: true },
    },
    series: curves.map(({ population, color, dashed }) => ({
      type: "line",
      step: "end",
      showSymbol: false,
      silent: true,
      lineStyle: { color, width: dashed ? 1.5 : 2, type: dashed ? [5, 4] : "solid" },
      data: waitPoints(population),
    })),
  };
}

function waitPoints({ waitsMs, figures }: PopulationSummary): number[][] {
  const answered = Math.min(1, (figures.admitted ?? 0) / Math.max(1, figures.jobs ?? 0));
  const points = waitsMs.map((waitMs, index) => [Math.max(1, waitMs), (waitShares[index] ?? 1) * answered]);
  return [[points[0]?.[0] ?? 1, 0], ...points];
}

const decade = (ms: number): string =>
  ms < 1000 ? `${count(ms)} ms` : ms < 1_000_000 ? `${count(ms / 1000)} s` : duration(ms);
