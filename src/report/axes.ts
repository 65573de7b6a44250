// Axes, margins and sizes that the pictures share. Each picture is drawn twice, for a wide and for a narrow screen,
// since scaled text cannot be read. Colours are CSS variables, so one drawing serves light and dark.

import { dayMs, duration } from "../rules/duration.ts";
import type { FigureUnit } from "../rules/figures.ts";
import { count } from "../rules/words.ts";
import { type ChartOption, drawChart, drawLayers, type Size } from "./echarts.ts";
import { share } from "./format.ts";
import { html } from "./html.ts";
import type { Drawing, Layout, Margins } from "./picture.ts";

/** Number of colours for series that have no colour of their own (`--series-1` ...). */
const seriesColors = 6;
export const seriesColor = (index: number): string => `var(--series-${(index % seriesColors) + 1})`;

export const width: Readonly<Record<Layout, number>> = { wide: 920, narrow: 440 };

export const text = { color: "var(--muted)", fontSize: 12, fontFamily: "inherit" } as const;
// The axes end a little above their highest value, where a line would mean nothing.
export const gridLine = {
  show: true,
  showMaxLine: false,
  lineStyle: { color: "var(--line)", width: 1 },
} as const;
/** Place of the plot in its drawing. */
export const margins: Margins = { left: 52, right: 18, top: 14, bottom: 30 };

/** Returns a grid that keeps its margins, whatever its axes would write. */
export const gridOf = (edges: Margins) => ({ ...edges, outerBoundsMode: "none" as const });

export const plotWidth = (layout: Layout, { left, right }: Margins = margins): number =>
  width[layout] - left - right;

const timeSteps = [
  100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Width of a character of a label, px, and of the gap between two labels. */
const characterPx = 6.6;
const gapPx = 6;

/** A time below a plot. `at`: its middle, or its end. */
interface TimeLabel {
  readonly words: string;
  readonly at: number;
  readonly anchor: "middle" | "end";
}

/** Returns the labels of the shortest round step at which they do not overlap. */
function timesAt(lengthMs: number, layout: Layout, edges: Margins): readonly TimeLabel[] {
  const ticksMost = layout === "wide" ? 10 : 5;
  // A label of minutes and seconds is long, so only few fit.
  const steps = lengthMs > 180_000 ? timeSteps.filter((step) => step >= 60_000) : timeSteps;
  for (let at = 0; ; at++) {
    const step = steps[at] ?? dayMs * 2 ** (at - steps.length + 1);
    if (lengthMs / step > ticksMost) continue;
    const labels = labelsOf(step, lengthMs, layout, edges);
    if (areApart(labels)) return labels;
  }
}

function labelsOf(step: number, lengthMs: number, layout: Layout, edges: Margins): TimeLabel[] {
  const across = plotWidth(layout, edges);
  const labels: TimeLabel[] = [];
  for (let ms = 0; ms <= lengthMs; ms += step) {
    const x = Math.round((edges.left + (ms / lengthMs) * across) * 10) / 10;
    const words = ms === 0 ? "0" : duration(ms);
    // The plot's end would cut off a text that is centred there.
    const isLast = x > width[layout] - 34;
    labels.push(
      isLast ? { words, at: width[layout] - 4, anchor: "end" } : { words, at: x, anchor: "middle" },
    );
  }
  return labels;
}

function areApart(labels: readonly TimeLabel[]): boolean {
  const startOf = ({ words, at, anchor }: TimeLabel): number =>
    at - words.length * characterPx * (anchor === "end" ? 1 : 0.5);
  return labels.slice(1).every((label, place) => {
    const before = labels[place] as TimeLabel;
    return startOf(label) >= before.at + before.words.length * characterPx * 0.5 + gapPx;
  });
}

const axisLine = { lineStyle: { color: "var(--axis)" } } as const;

/** Returns an axis of time, from 0 to `lengthMs`. `timeDrawing` writes its labels. */
export const timeAxis = (lengthMs: number) => ({
  type: "value" as const,
  min: 0,
  max: lengthMs,
  interval: lengthMs,
  containShape: false,
  axisLabel: { show: false },
  axisLine,
  axisTick: { show: false },
  splitLine: { show: false },
});

/** Draws a picture over time, from 0 to `lengthMs`. It can be zoomed unless it has texts that a zoom would stretch. */
export function timeDrawing(
  id: string,
  option: ChartOption,
  { layout, height, lengthMs, zoom = true }: TimePlace,
): Drawing {
  const size = chartSize(layout, height);
  const layers = zoom ? drawLayers(id, option, size) : { axes: drawChart(id, option, size), series: "" };
  const times = timeLabels(layout, height, lengthMs);
  return { size, margins, frame: layers.axes, plot: layers.series, times };
}

export interface TimePlace {
  readonly layout: Layout;
  readonly height: number;
  readonly lengthMs: number;
  readonly zoom?: boolean;
}

/** Returns the times below a plot. */
export function timeLabels(
  layout: Layout,
  height: number,
  lengthMs: number,
  edges: Margins = margins,
): string {
  const y = height - edges.bottom + 19;
  return timesAt(lengthMs, layout, edges)
    .map(
      ({ words, at, anchor }) =>
        html`<text x="${at}" y="${y}" text-anchor="${anchor}" font-size="12" fill="var(--muted)">${words}</text>`
          .text,
    )
    .join("");
}

/** Draws a picture whose axis is not time. */
export function chartDrawing(
  id: string,
  option: ChartOption,
  layout: Layout,
  height: number,
  edges: Margins = margins,
): Drawing {
  const size = chartSize(layout, height);
  return { size, margins: edges, frame: drawChart(id, option, size), plot: "", times: "" };
}

const chartSize = (layout: Layout, height: number): Size => ({ width: width[layout], height });

/** Returns a round step that cuts `most` into at most five. Its least is `magnitude`, a power of ten. */
function roundStep(most: number, magnitude: number): number {
  while (magnitude * 50 < most) magnitude *= 10;
  return [1, 2, 5].map((digit) => digit * magnitude).find((step) => most / step <= 5) ?? 10 * magnitude;
}

/** Returns an axis of counts, by default from 0. */
export function countAxis(most: number, least = 0) {
  const interval = roundStep(Math.max(1, most - least), 1);
  return valueAxis(least, most, interval, (value) => (value % interval === 0 ? count(value) : ""), {});
}

/** @param marks values at which the axis has its labels, in place of the interval's multiples */
const valueAxis = <Marks extends object>(
  min: number,
  max: number,
  interval: number,
  formatter: (value: number) => string,
  marks: Marks,
) => ({
  type: "value" as const,
  min,
  max,
  interval,
  containShape: false,
  axisLabel: { ...text, ...marks, formatter },
  axisLine: { show: false },
  axisTick: { show: false, ...marks },
  splitLine: gridLine,
});

/** Axis of shares, from 0 to 1. */
export const shareAxis = {
  type: "value" as const,
  min: 0,
  max: 1,
  interval: 0.25,
  axisLabel: { ...text, formatter: (part: number) => `${Math.round(part * 100)}%` },
  axisLine: { show: false },
  axisTick: { show: false },
  splitLine: { ...gridLine, showMaxLine: true },
};

/** Returns an amount in its unit. A mean of large counts has no decimals. */
export function amountText(unit: FigureUnit, amount: number): string {
  if (unit === "share") return share(amount);
  return unit === "ms" ? duration(amount) : count(Math.abs(amount) < 100 ? amount : Math.round(amount));
}

/** Returns a round step that cuts `most` into three to six. */
function amountStep(unit: FigureUnit, most: number): number {
  if (unit === "ms" && most > 1000) return timeSteps.find((step) => most / step <= 5) ?? most / 5;
  return roundStep(most, unit === "share" ? 0.0001 : unit === "ms" ? 1 : 0.001);
}

/** Adds the ends to the ticks, and removes the ticks that are too near to them. */
function addEnds(ticks: number[], least: number, most: number, interval: number): void {
  const inner = ticks.filter((tick) => tick - least > 0.5 * interval && most - tick > 0.5 * interval);
  ticks.splice(0, ticks.length, least, ...inner, most);
}

/**
 * Returns an axis of amounts of any unit, by default from 0.
 * @param ends true if the first and the last amount are named, round or not
 */
export function amountAxis(unit: FigureUnit, most: number, least = 0, ends = false) {
  const interval = amountStep(unit, Math.max(most - least, Number.MIN_VALUE));
  const first = Math.ceil(least / interval - 1e-9) * interval;
  const ticks: number[] = [];
  for (let tick = first; tick <= most + interval * 1e-9; tick += interval) ticks.push(tick);
  if (ends) addEnds(ticks, least, most, interval);
  const formatter = (value: number) => (unit === "ms" && value === 0 ? "0" : amountText(unit, value));
  return valueAxis(least, most, interval, formatter, { customValues: ticks });
}
