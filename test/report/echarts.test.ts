// Charts as drawn: neighbouring bars of a colour are one path, and a broken line says no coordinate twice.
import { expect, test } from "vitest";
import { type ChartOption, drawChart, drawLayers } from "../../src/report/echarts.ts";

const size = { width: 100, height: 60 };
const bars = (data: readonly number[], color: string) => ({
  type: "bar" as const,
  data: [...data],
  itemStyle: { color },
  barWidth: 10,
});
const option: ChartOption = {
  grid: { left: 0, right: 0, top: 0, bottom: 0 },
  xAxis: { show: false, type: "category", data: ["a", "b", "c"] },
  yAxis: { show: false, max: 10 },
  series: [
    bars([1, 2, 3], "#f00"),
    bars([4, 5, 6], "#00f"),
    { type: "line", data: [1, 1, 3], symbol: "none", lineStyle: { color: "#0f0", width: 1 } },
  ],
};

test("bars of each colour are one path, and a level line needs its last point alone", () => {
  expect(drawChart("c", option, size).split("\n").slice(0, 4)).toEqual([
    '<path d="M6.2 60l10 0l0 -6l-10 0ZM39.5 60l10 0l0 -12l-10 0ZM72.8 60l10 0l0 -18l-10 0Z" fill="#f00"/>',
    '<path d="M17.2 60l10 0l0 -24l-10 0ZM50.5 60l10 0l0 -30l-10 0ZM83.8 60l10 0l0 -36l-10 0Z" fill="#00f"/>',
    '<g clip-path="url(#c-c0)">',
    '<path d="M16.7 54H50L83.3 42" fill="none" stroke="#0f0" stroke-linejoin="bevel"/>',
  ]);
});

test("one bar alone stays as it is", () => {
  const alone = { ...option, series: [bars([1], "#f00")] };
  expect(drawChart("c", alone, size)).toContain('<path d="M11.7 60l10 0l0 -6l-10 0Z" fill="#f00"/>');
});

test("layers part axes and data; only the axes have labels, and only the data have bars", () => {
  const shown = { ...option, xAxis: { type: "category" as const, data: ["a", "b", "c"] } };
  const { axes, series } = drawLayers("c", shown, size);
  expect([axes.includes(">a</text>"), axes.includes('fill="#f00"')]).toEqual([true, false]);
  expect([series.includes("</text>"), series.includes('fill="#f00"')]).toEqual([false, true]);
});
