// A retry storm in a page: what is refused or lost, window by window, with a trigger and without. It also shows from
// which trigger on the load does not recover.

import { duration } from "../rules/duration.ts";
import { mostOf } from "../rules/extremes.ts";
import { count, counted } from "../rules/words.ts";
import type { PlanResult, PlanStorm, PlanStormSeries, PlanTrigger } from "../summary/plan-result.ts";
import { amountText, gridOf, margins, shareAxis, timeAxis, timeDrawing } from "./axes.ts";
import type { Cell } from "./csv.ts";
import { curvePicture } from "./curve-picture.ts";
import { type ChartOption, type DrawItem, pointOf } from "./echarts.ts";
import { share } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery, Picture } from "./picture.ts";
import { stateCell } from "./plan-cells.ts";
import { intervalText } from "./plan-words.ts";
import { type Column, foldedTable, table } from "./table.ts";

export function stormSection(result: PlanResult, storm: PlanStorm, gallery: Gallery): Html {
  const { trigger, atMs, windowMs, withinWindows } = storm;
  const what = trigger === "outage" ? "an outage" : "a burst of calls";
  const back =
    withinWindows === null
      ? "by the end of the run"
      : `within ${counted(withinWindows, "window")} of its end`;
  return html`<section id="storm">
<h2>Does the load recover?</h2>
<p>The trigger is ${what} that begins ${duration(atMs)} after the start. It is over when, ${back}, the share of calls that are refused or not answered is again, in each window of ${duration(windowMs)}, no more than one percentage point above the highest that the same run has without it.</p>
<figure><h3>What goes wrong, window by window</h3>
${gallery.draw(stormPicture(storm))}${seriesTable(storm)}</figure>
${
  storm.triggers.length < 2
    ? null
    : html`<figure><h3>In how many runs it recovers</h3>
${gallery.draw(recoveryPicture(result, storm))}</figure>
`
}${triggerTable(storm)}</section>
`;
}

const sizeText = ({ unit, trigger }: PlanStorm, size: number): string =>
  trigger === "outage" ? `an outage of ${amountText(unit, size)}` : `a burst of ${counted(size, "call")}`;

function seriesName(storm: PlanStorm, { size }: PlanStormSeries): string {
  if (size === 0) return "without a trigger";
  const state = storm.triggers.find((one) => one.size === size)?.state;
  const words = { holds: ": it recovers", fails: ": it does not recover", unclear: ": unclear" } as const;
  return `${sizeText(storm, size)}${state === undefined ? "" : words[state]}`;
}

/** Colours of series. Without a trigger a line is dashed; the largest trigger's line is the strongest. */
const colors = ["var(--admitted)", "var(--series-2)", "var(--refused)"] as const;
const styleOf = (index: number, { size }: PlanStormSeries) => ({
  color: size === 0 ? "var(--admitted)" : (colors[Math.min(Math.max(1, index), 2)] ?? colors[2]),
  dashed: size === 0,
});

const mostShare = ({ shares }: PlanStormSeries): string =>
  share(
    mostOf(
      shares.map((value) => value ?? 0),
      0,
    ),
  );

function stormPicture(storm: PlanStorm): Picture {
  const { series, windowMs, atMs } = storm;
  const windows = Math.max(0, ...series.map(({ shares }) => shares.length));
  const lengthMs = Math.max(1, windows * windowMs);
  const names = series.map((one) => seriesName(storm, one));
  return {
    id: "storm",
    title: "What goes wrong, window by window",
    label: `The mean share of calls refused or not answered in each window of ${duration(windowMs)}, over ${duration(lengthMs)}: ${series.map((one, index) => `${names[index]} at most ${mostShare(one)}`).join("; ")}.`,
    legend: [
      ...series.map((one, index) => {
        const { color, dashed } = styleOf(index, one);
        return { name: names[index] ?? "", swatch: dashed ? "dashed" : "line", color } as const;
      }),
      { name: `the trigger begins: ${duration(atMs)}`, swatch: "line", color: "var(--axis)" },
    ],
    data: {
      columns: ["from_ms", ...names],
      rows: Array.from({ length: windows }, (_, index): Cell[] => [
        index * windowMs,
        ...series.map(({ shares }) => shares[index] ?? null),
      ]),
    },
    readings: {
      across: lengthMs,
      time: true,
      snap: "before",
      names,
      points: Array.from({ length: windows }, (_, index) => ({
        x: index * windowMs,
        y: null,
        cells: series.map(({ shares }) => {
          const value = shares[index] ?? null;
          return value === null ? null : share(value);
        }),
      })),
    },
    draw: (id, layout) => timeDrawing(id, stormChart(storm, lengthMs), { layout, height: 250, lengthMs }),
  };
}

function stormChart({ series, windowMs, atMs }: PlanStorm, lengthMs: number): ChartOption {
  return {
    grid: gridOf(margins),
    xAxis: timeAxis(lengthMs),
    yAxis: shareAxis,
    series: [
      { type: "custom", data: [[atMs, 0]], renderItem: upright },
      ...series.map((one, index) => {
        const { color, dashed } = styleOf(index, one);
        const last = one.shares.at(-1) ?? null;
        return {
          type: "line" as const,
          step: "end" as const,
          showSymbol: false,
          lineStyle: {
            color,
            width: dashed ? 1.75 : 2.25,
            type: dashed ? ([5, 4] as number[]) : ("solid" as const),
          },
          // The line has a gap if nothing was sent.
          data: [
            ...one.shares.map((value, place): [number, number | string] => [place * windowMs, value ?? "-"]),
            [lengthMs, last ?? "-"] as [number, number | string],
          ],
        };
      }),
    ],
  };
}

const upright: DrawItem = (_, api) => {
  const [x, bottom] = pointOf(api, api.value(0), 0);
  const [, top] = pointOf(api, api.value(0), 1);
  return {
    type: "line",
    shape: { x1: x, y1: top, x2: x, y2: bottom },
    style: { stroke: "var(--axis)", lineWidth: 2 },
  };
};

function recoveryPicture({ question }: PlanResult, storm: PlanStorm): Picture {
  const { triggers, answer, unit, from, to, trigger, share: least = question.share } = storm;
  return curvePicture({
    id: "recovery",
    title: "In how many runs it recovers",
    label: `The share of runs in which the load recovers, over the size of the ${trigger}.`,
    axis: { path: trigger, unit, from: Math.min(from, to), to: Math.max(from, to) },
    figure: "share of runs that recover",
    unit: "share",
    states: { holds: "recovers", fails: "does not recover", unclear: "unclear" },
    points: triggers.map(({ size, recovered, replications, recoveredShare, state }) => ({
      value: size,
      mean: recovered / Math.max(1, replications),
      low: recoveredShare.low,
      high: recoveredShare.high,
      state,
      replications,
      note: `${count(recovered)} of ${counted(replications, "run")}`,
    })),
    goal: { at: least, name: `it recovers above ${share(least)}` },
    found: answer.kind === "value" ? { at: answer.value, from: answer.holds, to: answer.fails } : null,
  });
}

function seriesTable(storm: PlanStorm): Html {
  const { series, windowMs } = storm;
  const windows = Math.max(0, ...series.map(({ shares }) => shares.length));
  const columns: Column<number>[] = [
    { title: "From", name: true, cell: (index) => duration(index * windowMs) },
    ...series.map(
      (one): Column<number> => ({
        title: seriesName(storm, one),
        number: true,
        cell: (index) => {
          const value = one.shares[index] ?? null;
          return value === null ? "–" : share(value);
        },
      }),
    ),
  ];
  const rows = Array.from({ length: Math.min(windows, 120) }, (_, index) => index);
  return foldedTable(columns, rows, {
    caption: "The mean share of calls that were refused or not answered, by window",
    more: windows > 120 ? `The first 120 of ${count(windows)} windows; pictures/storm.csv has all.` : null,
  });
}

function triggerTable(storm: PlanStorm): Html {
  const columns: Column<PlanTrigger>[] = [
    { title: "Trigger", name: true, cell: ({ size }) => sizeText(storm, size) },
    { title: "Recovers", cell: ({ state }) => recovers(state) },
    {
      title: "In",
      cell: ({ recovered, replications, recoveredShare }) =>
        `${count(recovered)} of ${counted(replications, "run")} (${intervalText("share", recoveredShare)} of all)`,
    },
    {
      title: "After, windows",
      number: true,
      cell: ({ windowsToRecover }) =>
        windowsToRecover === null ? "–" : count(Math.round(windowsToRecover * 10) / 10),
    },
  ];
  return table(columns, storm.triggers, {
    caption: "Each trigger that was tried, and how many windows after its end the load was back",
  });
}

const recovers = (state: PlanTrigger["state"]): Html | string =>
  state === "unclear"
    ? stateCell(state)
    : state === "holds"
      ? html`<span class="state good">✓ yes</span>`
      : html`<span class="state bad">✗ no</span>`;
