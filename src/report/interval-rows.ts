// Amounts with their error bars, one in each row: a dot for the mean, a line for the interval. Unlike bars from zero,
// long and similar amounts can still be told apart, and each shows its uncertainty.
import type { FigureUnit } from "../rules/figures.ts";
import { amountAxis, amountText, chartDrawing, gridOf } from "./axes.ts";
import { nameAxis, nameAxisMargins } from "./call-bars.ts";
import { type ChartOption, type DrawItem, pointOf } from "./echarts.ts";
import type { Layout, Picture } from "./picture.ts";

export interface IntervalRow {
  readonly name: string;
  /** `null` if there was nothing to measure. */
  readonly mean: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly color: string;
}

export interface IntervalRows extends Pick<Picture, "id" | "title" | "label" | "legend"> {
  /** Names of a row, and of its measured figure. */
  readonly what: string;
  readonly figure: string;
  /** Meaning of the ends of a row's line. */
  readonly ends: readonly [low: string, high: string];
  readonly unit: FigureUnit;
  readonly rows: readonly IntervalRow[];
  /** Line through all rows: a goal, a limit. */
  readonly line: { readonly at: number; readonly name: string } | null;
}

const rowHeight = 24;

export function intervalPicture(shown: IntervalRows): Picture {
  const { id, title, label, what, figure, ends, unit, rows, line, legend } = shown;
  return {
    id,
    title,
    label,
    legend:
      line === null ? legend : [...legend, { name: line.name, swatch: "dashed", color: "var(--limit)" }],
    data: {
      columns: [what, figure, ...ends],
      rows: rows.map(({ name, mean, low, high }) => [name, mean, low, high]),
    },
    readings: {
      across: 1,
      time: false,
      snap: "nearest",
      names: [what, figure, `${ends[0]} to ${ends[1]}`],
      points: rows.map(({ name, mean, low, high }, index) => ({
        x: null,
        y: (index + 0.5) / rows.length,
        cells: [
          name,
          mean === null ? "nothing to measure" : amountText(unit, mean),
          low === null || high === null
            ? null
            : `${amountText(unit, Math.max(0, low))} to ${amountText(unit, high)}`,
        ],
      })),
    },
    draw: (drawingId, layout) =>
      chartDrawing(drawingId, chart(shown, layout), layout, 36 + rows.length * rowHeight, edgesOf(layout)),
  };
}

/** Returns margins with room for names that are longer than those of users. */
const edgesOf = (layout: Layout) => ({ ...nameAxisMargins(layout), left: layout === "wide" ? 290 : 180 });

function chart({ rows, unit, line }: IntervalRows, layout: Layout): ChartOption {
  const edges = edgesOf(layout);
  const amounts = rows.flatMap(({ mean, high }) => [mean ?? 0, high ?? 0]);
  const most = Math.max(line?.at ?? 0, ...amounts) * 1.06;
  return {
    grid: gridOf(edges),
    xAxis: amountAxis(unit, most === 0 ? 1 : most),
    yAxis: nameAxis(
      rows.map(({ name }) => name),
      edges,
    ),
    series: [
      {
        type: "custom",
        renderItem: drawRow(rows),
        data: rows.map(({ mean, low, high }, index) => [
          low ?? mean ?? 0,
          index,
          high ?? mean ?? 0,
          mean ?? 0,
        ]),
      },
      ...(line === null ? [] : [lineAt(line.at, rows.length)]),
    ],
  };
}

const lineAt = (at: number, rows: number) => ({
  type: "custom" as const,
  data: [[at, 0]],
  renderItem: ((_, api) => {
    const [x, middle] = pointOf(api, at, 0);
    const top = middle - rowHeight / 2;
    return {
      type: "line" as const,
      shape: { x1: x, y1: top, x2: x, y2: top + rows * rowHeight },
      style: { stroke: "var(--limit)", lineWidth: 1.5, lineDash: [5, 4] },
    };
  }) satisfies DrawItem,
});

function drawRow(rows: readonly IntervalRow[]): DrawItem {
  return ({ dataIndex }, api) => {
    const row = rows[dataIndex];
    if (row === undefined || row.mean === null) return null;
    const [low, y] = pointOf(api, api.value(0), api.value(1));
    const [high] = pointOf(api, api.value(2), api.value(1));
    const [mean] = pointOf(api, api.value(3), api.value(1));
    const [zero] = pointOf(api, 0, api.value(1));
    const stroke = { stroke: row.color, lineWidth: 2 };
    const upright = (x: number) => ({
      type: "line" as const,
      shape: { x1: x, y1: y - 5, x2: x, y2: y + 5 },
      style: stroke,
    });
    return {
      type: "group",
      children: [
        {
          type: "line",
          shape: { x1: zero, y1: y, x2: mean, y2: y },
          style: { stroke: row.color, lineWidth: 10, opacity: 0.18 },
        },
        { type: "line", shape: { x1: low, y1: y, x2: high, y2: y }, style: stroke },
        ...(high - low > 3 ? [upright(low), upright(high)] : []),
        { type: "circle", shape: { cx: mean, cy: y, r: 4 }, style: { fill: row.color } },
      ],
    };
  };
}
