// A figure over the varied value: the mean with its confidence band, the goal, and the value that was found. Shapes
// tell states apart without colours: a filled point surely holds, an open one surely fails, a ring around a dot is
// unclear.
import type { FigureUnit } from "../rules/figures.ts";
import type { PlanAxis, PlanState } from "../summary/plan-result.ts";
import { valueText } from "../summary/plan-values.ts";
import { amountAxis, amountText, chartDrawing, gridOf, margins } from "./axes.ts";
import type { Cell } from "./csv.ts";
import { type ChartOption, type DrawApi, type DrawItem, pointOf } from "./echarts.ts";
import type { LegendEntry, Picture } from "./picture.ts";
import { intervalText } from "./plan-words.ts";

export interface CurvePoint {
  readonly value: number;
  readonly mean: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly state: PlanState | null;
  readonly replications: number;
  /** Further facts on the point. */
  readonly note: string | null;
}

export interface Curve {
  readonly id: string;
  readonly title: string;
  readonly label: string;
  readonly axis: Pick<PlanAxis, "path" | "unit"> & { readonly from: number; readonly to: number };
  /** Name of the measured figure. */
  readonly figure: string;
  readonly unit: FigureUnit;
  readonly states: Readonly<Record<PlanState, string>>;
  readonly points: readonly CurvePoint[];
  readonly goal: { readonly at: number; readonly name: string } | null;
  /** Value that was found, with its error bar. */
  readonly found: { readonly at: number; readonly from: number; readonly to: number } | null;
}

const height = 280;
const edges = { ...margins, left: 64, bottom: 34 };

export function curvePicture(curve: Curve): Picture {
  const { id, title, label, axis, figure, unit, points, states } = curve;
  return {
    id,
    title,
    label,
    legend: legendOf(curve),
    data: {
      columns: [axis.path, figure, "low", "high", "replications", "state"],
      rows: points.map(({ value, mean, low, high, replications, state }): Cell[] => [
        value,
        mean,
        low,
        high,
        replications,
        state,
      ]),
    },
    readings: {
      across: Math.max(axis.to - axis.from, Number.MIN_VALUE),
      time: false,
      snap: "nearest",
      names: [axis.path, figure, "interval", "state", "runs"],
      points: points.map(({ value, mean, low, high, state, note }) => ({
        x: value - axis.from,
        y: null,
        cells: [
          valueText(axis, value),
          mean === null ? "nothing to measure" : amountText(unit, mean),
          low === null || high === null ? null : intervalText(unit, { low, high }),
          state === null ? null : states[state],
          note,
        ],
      })),
    },
    draw: (drawingId, layout) => chartDrawing(drawingId, chart(curve), layout, height, edges),
  };
}

function legendOf({ figure, points, goal, found, axis, states: words }: Curve): LegendEntry[] {
  const states = new Set(points.map(({ state }) => state));
  const entries: [boolean, LegendEntry][] = [
    [true, { name: `${figure}, mean and confidence interval`, swatch: "line", color: "var(--admitted)" }],
    [states.has("holds"), { name: `● ${words.holds}`, swatch: "area", color: "var(--good)" }],
    [states.has("fails"), { name: `○ ${words.fails}`, swatch: "area", color: "var(--bad)" }],
    [states.has("unclear"), { name: `◎ ${words.unclear}`, swatch: "area", color: "var(--muted)" }],
    [goal !== null, { name: goal?.name ?? "", swatch: "dashed", color: "var(--limit)" }],
    [
      found !== null,
      {
        name: `found: ${found === null ? "" : valueText(axis, found.at)}`,
        swatch: "line",
        color: "var(--ink)",
      },
    ],
  ];
  return entries.filter(([shown]) => shown).map(([, entry]) => entry);
}

function chart({ axis, unit, points, goal, found }: Curve): ChartOption {
  const known = points.filter(({ mean }) => mean !== null);
  const amounts = known.flatMap(({ mean, high }) => [mean ?? 0, high ?? 0]);
  const most = Math.max(goal?.at ?? 0, ...amounts) * 1.08;
  const top = most === 0 ? 1 : unit === "share" ? Math.min(most, 1) : most;
  const xUnit = axis.unit === "choice" ? "count" : axis.unit;
  const span = axis.to === axis.from ? 1 : axis.to - axis.from;
  return {
    grid: gridOf(edges),
    xAxis: { ...amountAxis(xUnit, axis.from + span, axis.from, true), splitLine: { show: false } },
    yAxis: amountAxis(unit, top),
    series: [
      whole((api) => bandOf(known, api)),
      {
        type: "line",
        showSymbol: false,
        lineStyle: { color: "var(--admitted)", width: 2 },
        data: known.map(({ value, mean }) => [value, mean ?? 0]),
      },
      ...(found === null ? [] : [whole((api) => foundLine(found, top, api))]),
      ...(goal === null ? [] : [whole((api) => goalLine(goal.at, axis, api))]),
      {
        type: "custom",
        data: known.map(({ value, mean }) => [value, mean ?? 0]),
        renderItem: drawPoint(known),
      },
    ],
  };
}

type Drawn = ReturnType<DrawItem>;

/** Returns a series that draws once, over the whole plot. */
const whole = (draw: (api: DrawApi) => Drawn) => ({
  type: "custom" as const,
  data: [[0, 0]],
  renderItem: ((_, api) => draw(api)) satisfies DrawItem,
});

function bandOf(points: readonly CurvePoint[], api: DrawApi): Drawn {
  const upper = points.map(({ value, mean, high }) => pointOf(api, value, high ?? mean ?? 0));
  const lower = points.map(({ value, mean, low }) => pointOf(api, value, Math.max(0, low ?? mean ?? 0)));
  return {
    type: "polygon",
    shape: { points: [...upper, ...lower.reverse()] },
    style: { fill: "var(--admitted)", opacity: 0.2 },
  };
}

function goalLine(at: number, { from, to }: Curve["axis"], api: DrawApi): Drawn {
  const [x1, y1] = pointOf(api, from, at);
  const [x2] = pointOf(api, to === from ? from + 1 : to, at);
  return {
    type: "line",
    shape: { x1, y1, x2, y2: y1 },
    style: { stroke: "var(--limit)", lineWidth: 1.5, lineDash: [5, 4] },
  };
}

/** Draws the value that was found, and the span in which it lies. */
function foundLine({ at, from, to }: NonNullable<Curve["found"]>, top: number, api: DrawApi): Drawn {
  const [x, bottomY] = pointOf(api, at, 0);
  const [left, topY] = pointOf(api, Math.min(from, to), top);
  const [right] = pointOf(api, Math.max(from, to), top);
  return {
    type: "group",
    children: [
      {
        type: "rect",
        shape: { x: left, y: topY, width: right - left, height: bottomY - topY },
        style: { fill: "var(--ink)", opacity: 0.08 },
      },
      {
        type: "line",
        shape: { x1: x, y1: topY, x2: x, y2: bottomY },
        style: { stroke: "var(--ink)", lineWidth: 1.5 },
      },
    ],
  };
}

const stateColors: Readonly<Record<PlanState, string>> = {
  holds: "var(--good)",
  fails: "var(--bad)",
  unclear: "var(--muted)",
};

function drawPoint(points: readonly CurvePoint[]): DrawItem {
  return ({ dataIndex }, api) => {
    const state = points[dataIndex]?.state ?? null;
    const [cx, cy] = pointOf(api, Number(api.value(0)), Number(api.value(1)));
    const color = state === null ? "var(--admitted)" : stateColors[state];
    const filled = state === null || state === "holds";
    const ring = {
      type: "circle" as const,
      shape: { cx, cy, r: 4.5 },
      style: { fill: filled ? color : "var(--paper)", stroke: color, lineWidth: 2 },
    };
    if (state !== "unclear") return ring;
    const dot = { type: "circle" as const, shape: { cx, cy, r: 1.5 }, style: { fill: color } };
    return { type: "group", children: [ring, dot] };
  };
}
