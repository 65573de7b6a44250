// The one file that imports ECharts. The build bundles it, so that the package carries the parts in use, and ECharts
// itself stays a development dependency.
/*! As built, this file contains Apache ECharts (https://echarts.apache.org), Copyright 2017-2026 The Apache
 * Software Foundation, under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0), and
 * ZRender (https://github.com/ecomfe/zrender), Copyright (c) 2013-2017, Baidu Inc., under the BSD 3-Clause License. */
import {
  BarChart,
  type BarSeriesOption,
  CustomChart,
  type CustomSeriesOption,
  LineChart,
  type LineSeriesOption,
} from "echarts/charts";
import { GridComponent, type GridComponentOption } from "echarts/components";
import { type ComposeOption, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { printableLines } from "../rules/printable.ts";

use([BarChart, CustomChart, LineChart, GridComponent, SVGRenderer]);

/** Definition of a chart. */
export type ChartOption = ComposeOption<
  BarSeriesOption | CustomSeriesOption | LineSeriesOption | GridComponentOption
>;
export type DrawItem = NonNullable<CustomSeriesOption["renderItem"]>;
export type DrawApi = Parameters<DrawItem>[1];

/** Returns the place of a value of both axes in the drawing. */
export const pointOf = (api: DrawApi, x: number | string, y: number | string) =>
  api.coord([x, y]) as [left: number, top: number];

/** Size in the drawing's own coordinates, which a page scales. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Draws a chart without a browser. The same input gives the same bytes.
 * @param id unique in its page
 * @returns the content of an `<svg>` of this size
 */
export function drawChart(id: string, option: ChartOption, size: Size): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, ...size });
  chart.setOption({ animation: false, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return printableLines(plain(svg)).replaceAll(/\bzr\d+-/g, `${id}-`);
}

/** Draws a chart's axes and its data as two drawings. The page can then stretch one and leave the other. */
export function drawLayers(id: string, option: ChartOption, size: Size): { axes: string; series: string } {
  const hidden = <Axis extends object>(axes: Axis | Axis[] | undefined): Axis[] =>
    [axes ?? []].flat().map((axis) => ({ ...(axis as Axis), show: false }));
  return {
    axes: drawChart(`${id}-axes`, { ...option, series: [] }, size),
    series: drawChart(
      id,
      { ...option, xAxis: hidden(option.xAxis), yAxis: hidden(option.yAxis) } as ChartOption,
      size,
    ),
  };
}

/**
 * Returns the drawing without ECharts' ids and classes. These count instances of the process, so that no two drawings
 * had the same bytes. Classes, styles and data attributes serve scripts that the page does not have.
 */
function plain(svg: string): string {
  return svg
    .replace(/^<svg[^>]*>\s*/, "")
    .replace(/<\/svg>\s*$/, "")
    .replaceAll(/<style[^>]*>[\s\S]*?<\/style>\s*/g, "")
    .replaceAll(/<rect[^>]* fill="none"><\/rect>\s*/g, "")
    .replaceAll(/ (?:ecmeta_\w+|class|pointer-events)="[^"]*"/g, "")
    .replaceAll(/<defs ?>\s*<\/defs>\s*/g, "")
    .replaceAll(/font-family:inherit;|dominant-baseline="auto" /g, "")
    .replaceAll(/<(rect|path|circle)([^>]*)><\/\1>/g, "<$1$2/>")
    .replaceAll(
      / d="(M[-\d. ]+(?:L[-\d. ]+)+)(Z?)"/g,
      (_, path: string, end: string) => ` d="${shorter(path)}${end}"`,
    )
    .replaceAll(/\n+/g, "\n")
    .replaceAll(/(?:<path d="[^"]*Z" fill="[^"]*"\/>\n){2,}/g, joined);
}

/** Joins neighbouring paths of one colour, such as the bars of a series, into one path each. */
function joined(paths: string): string {
  let text = "";
  let [last, color] = ["", ""];
  for (const [, path = "", fill = ""] of paths.matchAll(/d="([^"]*)" fill="([^"]*)"/g)) {
    if (fill === color) last += path;
    else {
      if (color !== "") text += `<path d="${last}" fill="${color}"/>\n`;
      [last, color] = [path, fill];
    }
  }
  return `${text}<path d="${last}" fill="${color}"/>\n`;
}

/**
 * Returns the same broken line in fewer bytes. A level or upright part needs one coordinate, and a level row of points
 * needs only its last. `M1 5L2 5L3 5L3 9` is `M1 5H3V9`.
 */
function shorter(path: string): string {
  const points = path.split(/[ML]/).slice(1);
  let text = "";
  let level = "";
  let [x, y] = ["", ""];
  for (const [index, point] of points.entries()) {
    const [nextX = "", nextY = ""] = point.split(" ");
    if (index === 0) text = `M${point}`;
    else if (nextY === y) level = `H${nextX}`;
    else {
      text += level + (nextX === x ? `V${nextY}` : `L${point}`);
      level = "";
    }
    [x, y] = [nextX, nextY];
  }
  return text + level;
}
