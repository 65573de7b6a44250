// Two varied values and a figure as a heat map, with the frontier between holding and failing values. A darker cell has
// a higher figure. Lightness alone tells it, so that nobody needs to tell colours apart.

import type { PlanAxis, PlanHeatMap, PlanResult, PlanState } from "../summary/plan-result.ts";
import { figureUnit, goalsText, valueText } from "../summary/plan-values.ts";
import { amountText, width } from "./axes.ts";
import { shortened } from "./call-bars.ts";
import type { Cell } from "./csv.ts";
import { html } from "./html.ts";
import type { Drawing, Layout, LegendEntry, Margins, Picture } from "./picture.ts";
import { figureNamed, heldWords, intervalText, meanText } from "./plan-words.ts";

export interface HeatCell {
  /** Places along `xs` and `ys`. */
  readonly x: number;
  readonly y: number;
  readonly mean: number | null;
  readonly text: string;
  readonly state: PlanState | null;
  readonly interval: string;
  readonly held: string | null;
}

/** Axes of a map: along x, and along y. */
export type MapAxes = readonly [PlanAxis, PlanAxis];

/** Returns the cells of one figure's map with their texts, row by row from the first y. */
export function heatCells({ points }: PlanResult, { cells }: PlanHeatMap, figure: string): HeatCell[] {
  return cells.flatMap((row, y) =>
    row.flatMap((place, x) => {
      const point = points[place];
      if (point === undefined) return [];
      const found = figureNamed(point, figure);
      return [
        {
          x,
          y,
          mean: found?.mean ?? null,
          text: meanText(found),
          state: point.state,
          interval: intervalText(figureUnit(figure), found?.interval ?? null),
          held: heldWords(point),
        },
      ];
    }),
  );
}

export function heatMapPicture(
  result: PlanResult,
  map: PlanHeatMap,
  [xAxis, yAxis]: MapAxes,
  figure: string,
  index: number,
): Picture {
  const cells = heatCells(result, map, figure);
  const xNames = map.xs.map((value) => valueText(xAxis, value));
  const yNames = map.ys.map((value) => valueText(yAxis, value));
  const means = cells.flatMap(({ mean }) => (mean === null ? [] : [mean]));
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const paths = frontierPaths(map, result.question.find);
  const words = (value: number): string => amountText(figureUnit(figure), value);
  return {
    id: `map-${index + 1}`,
    title: `${figure} over ${xAxis.path} and ${yAxis.path}`,
    label: `${figure} over ${xAxis.path} from ${xNames[0] ?? ""} to ${xNames.at(-1) ?? ""} and ${yAxis.path} from ${yNames[0] ?? ""} to ${yNames.at(-1) ?? ""}${means.length === 0 ? "" : `: from ${words(least)} to ${words(most)}`}.`,
    legend: legendOf(result, means.length === 0 ? null : [words(least), words(most)], paths.length > 0),
    data: {
      columns: [xAxis.path, yAxis.path, figure, "state"],
      rows: cells.map(({ x, y, mean, state }): Cell[] => [map.xs[x] ?? null, map.ys[y] ?? null, mean, state]),
    },
    readings: {
      across: map.xs.length,
      time: false,
      snap: "nearest",
      names: [xAxis.path, yAxis.path, figure, "interval", "the goals", "hold in"],
      points: cells.map(({ x, y, text, state, interval, held }) => ({
        x: x + 0.5,
        y: (map.ys.length - y - 0.5) / map.ys.length,
        cells: [xNames[x] ?? "", yNames[y] ?? "", text, interval, state, held],
      })),
    },
    draw: (_, layout) =>
      draw(layout, {
        cells,
        xNames,
        yNames,
        xPath: xAxis.path,
        yPath: yAxis.path,
        span: [least, most],
        paths,
      }),
  };
}

function legendOf(
  result: PlanResult,
  span: readonly [least: string, most: string] | null,
  frontier: boolean,
): LegendEntry[] {
  const side = result.question.find === "smallest" ? "above" : "below";
  return [
    ...(span === null
      ? []
      : ([
          { name: `least: ${span[0]}`, swatch: "area", color: ramp[0] ?? "" },
          { name: `most: ${span[1]}`, swatch: "area", color: ramp.at(-1) ?? "" },
        ] as const)),
    ...(frontier
      ? ([
          {
            name: `the frontier: ${side} it ${goalsText(result.question.goals)} holds`,
            swatch: "line",
            color: "var(--ink)",
          },
        ] as const)
      : []),
  ];
}

type Corner = readonly [column: number, height: number];

/**
 * Returns the frontier as lines along the cells' edges: corners in columns from the left and rows from the bottom. If
 * values between one that holds and one that fails are unclear, the line goes through their middle. A column whose
 * values alternate has no frontier, and breaks the line.
 */
export function frontierPaths(
  { xs, ys, frontier }: PlanHeatMap,
  find: "largest" | "smallest" | null,
): Corner[][] {
  const paths: Corner[][] = [];
  let open: Corner[] | null = null;
  const place = (value: number | string | null): number | null => (value === null ? null : ys.indexOf(value));
  for (const [column, x] of xs.entries()) {
    const edge = frontier.find((one) => one.x === x);
    if (edge === undefined || !edge.monotone) {
      open = null;
      continue;
    }
    const [holds, fails] = [place(edge.holds), place(edge.fails)];
    const [below, above] = find === "smallest" ? [fails, holds] : [holds, fails];
    const height = below === null ? 0 : above === null ? ys.length : (below + above + 1) / 2;
    if (open === null) {
      open = [];
      paths.push(open);
    }
    open.push([column, height], [column + 1, height]);
  }
  return paths;
}

interface Drawable {
  readonly cells: readonly HeatCell[];
  readonly xNames: readonly string[];
  readonly yNames: readonly string[];
  readonly xPath: string;
  readonly yPath: string;
  readonly span: readonly [least: number, most: number];
  readonly paths: readonly (readonly Corner[])[];
}

/** Colours from light to dark in even steps, which lightness alone tells apart. */
const ramp = ["#f4f1dc", "#cfe3cb", "#97cabd", "#5aa9b5", "#3580a5", "#2b5489", "#20265a"];

/** Returns the colour of a mean, between two colours of the ramp. */
function colorOf(
  mean: number | null,
  [least, most]: Drawable["span"],
): readonly [number, number, number] | null {
  if (mean === null) return null;
  const at = most === least ? 0 : ((mean - least) / (most - least)) * (ramp.length - 1);
  const below = Math.min(Math.floor(at), ramp.length - 2);
  const mix = (offset: number): number => {
    const [from, to] = [below, below + 1].map((place) =>
      Number.parseInt((ramp[place] as string).slice(offset, offset + 2), 16),
    ) as [number, number];
    return Math.round(from + (to - from) * (at - below));
  };
  return [mix(1), mix(3), mix(5)];
}

const cellHeight = 32;
const edges: Readonly<Record<Layout, Margins>> = {
  wide: { left: 92, right: 18, top: 26, bottom: 46 },
  narrow: { left: 62, right: 8, top: 26, bottom: 46 },
};
/** Width of a digit of a picture's text. */
const digitWidth = 6.6;

function draw(layout: Layout, map: Drawable): Drawing {
  const margins = edges[layout];
  const { left, right, top, bottom } = margins;
  const rows = map.yNames.length;
  const cellWidth = (width[layout] - left - right) / map.xNames.length;
  const size = { width: width[layout], height: top + rows * cellHeight + bottom };
  const x = (column: number): number => Math.round((left + column * cellWidth) * 10) / 10;
  const y = (row: number): number => top + (rows - row) * cellHeight;
  const longest = Math.max(...map.cells.map(({ text }) => text.length)) + 2;
  const written = longest * digitWidth < cellWidth;
  const cells = map.cells.map((cell) => {
    const color = colorOf(cell.mean, map.span);
    const rect = html`<rect x="${x(cell.x)}" y="${y(cell.y + 1)}" width="${Math.round(cellWidth * 10) / 10}" height="${cellHeight}" fill="${color === null ? "var(--raised)" : `rgb(${color.join(" ")})`}" stroke="var(--paper)"/>`;
    if (!written) return rect;
    const mark = cell.state === "unclear" ? " ?" : "";
    return html`${rect}<text x="${x(cell.x + 0.5)}" y="${y(cell.y + 0.5) + 4}" text-anchor="middle" font-size="12" fill="${inkOn(color)}">${cell.text}${mark}</text>\n`;
  });
  const lines = map.paths.map((corners) => {
    const path = corners.map(([column, row], at) => `${at === 0 ? "M" : "L"}${x(column)} ${y(row)}`).join("");
    return html`<path d="${path}" fill="none" stroke="var(--paper)" stroke-width="6"/><path d="${path}" fill="none" stroke="var(--ink)" stroke-width="3"/>\n`;
  });
  const frame = html`${cells}${lines}${axisTexts(layout, map, { x, y, size })}`;
  return { size, margins, frame: frame.text, plot: "", times: "" };
}

/** Returns the colour of text on a cell: black or white, by the cell's lightness. */
function inkOn(color: readonly [number, number, number] | null): string {
  if (color === null) return "var(--muted)";
  const [red, green, blue] = color;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 125 ? "#14171a" : "#ffffff";
}

interface Scale {
  readonly x: (column: number) => number;
  readonly y: (row: number) => number;
  readonly size: { readonly width: number; readonly height: number };
}

/** Returns the names of the axes, and as many names of columns and rows as have room. */
function axisTexts(layout: Layout, { xNames, yNames, xPath, yPath }: Drawable, { x, y, size }: Scale) {
  const { left, right } = edges[layout];
  const longest = Math.max(...xNames.map((name) => name.length)) + 2;
  const room = (size.width - left - right) / xNames.length;
  // Some numbers suffice, but no name may be missing.
  const numbers = xNames.every((name) => /^[\d,.]/.test(name));
  const every = numbers ? Math.max(1, Math.ceil((longest * digitWidth) / room)) : 1;
  const named = xNames.map((name, column) =>
    column % every === 0
      ? html`<text x="${x(column + 0.5)}" y="${y(0) + 17}" text-anchor="middle" font-size="12" fill="var(--muted)">${numbers ? name : shortened(name, room + 8)}</text>`
      : null,
  );
  const rows = yNames.map(
    (name, row) =>
      html`<text x="${left - 8}" y="${y(row + 0.5) + 4}" text-anchor="end" font-size="12" fill="var(--muted)">${shortened(name, left + 6)}</text>`,
  );
  return html`${named}${rows}<text x="${size.width - right}" y="${size.height - 8}" text-anchor="end" font-size="12" fill="var(--ink)">${xPath} →</text><text x="${0}" y="${14}" font-size="12" fill="var(--ink)">↑ ${yPath}</text>\n`;
}
