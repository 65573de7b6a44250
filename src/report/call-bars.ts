// Calls by their outcome, as bars: over time, by user, by population.

import { count } from "../rules/words.ts";
import type { CallOutcome } from "../summary/timeline.ts";
import { chartDrawing, countAxis, gridOf, margins, plotWidth, text, timeAxis, timeDrawing } from "./axes.ts";
import type { ChartOption } from "./echarts.ts";
import {
  callsOf,
  type OutcomeCounts,
  outcomeColors,
  outcomeKeys,
  outcomeLegend,
  outcomesOf,
  outcomeWords,
  refusedOf,
} from "./outcomes.ts";
import type { Layout, Margins, Picture } from "./picture.ts";

/** Calls of one span of time. */
export interface CallSlot extends OutcomeCounts {
  /** Start, ms since the start of the picture. */
  readonly atMs: number;
}

export interface CallsOverTime {
  readonly id: string;
  readonly title: string;
  readonly label: string;
  readonly slots: readonly CallSlot[];
  readonly slotMs: number;
  readonly lengthMs: number;
}

const trafficHeight = 240;

export function callsOverTime({ id, title, label, slots, slotMs, lengthMs }: CallsOverTime): Picture {
  const outcomes = outcomesOf(slots);
  const middle = ({ atMs }: CallSlot): number => Math.min(atMs + slotMs / 2, lengthMs);
  return {
    id,
    title,
    label,
    legend: outcomeLegend(outcomes),
    data: {
      columns: ["from_ms", ...outcomes.map((outcome) => outcomeKeys[outcome])],
      rows: slots.map((slot) => [slot.atMs, ...outcomes.map((outcome) => slot[outcome])]),
    },
    readings: {
      across: lengthMs,
      time: true,
      snap: "before",
      names: outcomes.map((outcome) => outcomeWords[outcome]),
      points: slots.map((slot) => ({ x: slot.atMs, y: null, cells: cellsOf(slot, outcomes) })),
    },
    draw: (drawingId, layout) =>
      timeDrawing(
        drawingId,
        {
          grid: gridOf(margins),
          xAxis: timeAxis(lengthMs),
          yAxis: countAxis(Math.max(1, ...slots.map(callsOf)) * 1.06),
          series: stackedBars(outcomes, barWidth(layout, slotMs, lengthMs), (outcome) =>
            // Each part has a value for every slot: bars are stacked by their index.
            slots.map((slot) => [middle(slot), slot[outcome]]),
          ),
        },
        { layout, height: trafficHeight, lengthMs },
      ),
  };
}

const cellsOf = (counts: OutcomeCounts, outcomes: readonly CallOutcome[]): (string | null)[] =>
  outcomes.map((outcome) => (counts[outcome] === 0 ? null : count(counts[outcome])));

function barWidth(layout: Layout, slotMs: number, lengthMs: number): number {
  const slotWidth = (plotWidth(layout) * slotMs) / lengthMs;
  return Math.max(1, slotWidth - (slotWidth > 8 ? 2 : slotWidth > 3 ? 1 : 0));
}

function stackedBars(
  outcomes: readonly CallOutcome[],
  width: number,
  dataOf: (outcome: CallOutcome) => (number | number[])[],
): NonNullable<ChartOption["series"]> {
  return outcomes.map((outcome) => ({
    type: "bar" as const,
    stack: "calls",
    barWidth: width,
    itemStyle: { color: outcomeColors[outcome] },
    data: dataOf(outcome),
  }));
}

/** One bar, for a user or a population. */
export interface CallBar extends OutcomeCounts {
  readonly name: string;
}

export interface CallBars {
  readonly id: string;
  readonly title: string;
  /** Kind of thing that a bar stands for: `user`. */
  readonly what: string;
  readonly bars: readonly CallBar[];
}

/** Returns a picture of one bar for each thing, the first on top. */
export function callBars({ id, title, what, bars }: CallBars): Picture {
  const outcomes = outcomesOf(bars);
  return {
    id,
    title,
    label: `Bars by ${what}: ${bars.map(barWords).join("; ")}.`,
    legend: outcomeLegend(outcomes),
    data: {
      columns: [what, ...outcomes.map((outcome) => outcomeKeys[outcome])],
      rows: bars.map((bar) => [bar.name, ...outcomes.map((outcome) => bar[outcome])]),
    },
    readings: {
      across: 1,
      time: false,
      snap: "nearest",
      names: [what, ...outcomes.map((outcome) => outcomeWords[outcome])],
      points: bars.map((bar, index) => ({
        x: null,
        y: (index + 0.5) / bars.length,
        cells: [bar.name, ...cellsOf(bar, outcomes)],
      })),
    },
    draw: (drawingId, layout) =>
      chartDrawing(
        drawingId,
        barsChart(bars, outcomes, nameAxisMargins(layout)),
        layout,
        36 + bars.length * 26,
        nameAxisMargins(layout),
      ),
  };
}

const barWords = (bar: CallBar): string =>
  `${bar.name} ${count(bar.admitted)} admitted, ${count(refusedOf(bar))} refused`;

/** Returns margins with room for names to the left of their bars. */
export const nameAxisMargins = (layout: Layout): Margins => ({
  left: layout === "wide" ? 162 : 122,
  right: 18,
  top: 6,
  bottom: 30,
});

/** Width of a letter of a picture's text, about, in the widest of usual fonts. */
const letterWidth = 7.3;

/** Returns a name that fits. A longer one loses its middle: related names often differ at their ends. */
export function shortened(name: string, left: number): string {
  const most = Math.floor((left - 14) / letterWidth);
  if (name.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  return `${name.slice(0, most - 1 - end)}…${name.slice(name.length - end)}`;
}

/** Returns a name that ZRender can draw. Its plain objects of widths by text would be damaged by `__proto__`. */
const drawable = (name: string): string => (name in {} ? `${name} ` : name);

/** Returns an axis of such names, the first on top. */
export const nameAxis = (names: readonly string[], { left }: Margins) => ({
  type: "category" as const,
  inverse: true,
  data: names.map((_, index) => index),
  axisLabel: {
    ...text,
    color: "var(--ink)",
    formatter: (index: string) => drawable(shortened(names[Number(index)] ?? "", left)),
    interval: 0,
  },
  axisLine: { show: false },
  axisTick: { show: false },
});

function barsChart(bars: readonly CallBar[], outcomes: readonly CallOutcome[], edges: Margins): ChartOption {
  return {
    grid: gridOf(edges),
    xAxis: countAxis(Math.max(1, ...bars.map(callsOf)) * 1.04),
    yAxis: nameAxis(
      bars.map(({ name }) => name),
      edges,
    ),
    series: stackedBars(outcomes, 14, (outcome) => bars.map((bar) => bar[outcome])),
  };
}
