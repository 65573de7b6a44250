// The outcome of each call of the first few clients: who was refused when, and who came back at the same moment.

import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import { type CallOutcome, populationOf, type Timeline, type TimelineRow } from "../summary/timeline.ts";
import { isNarrow } from "../summary/told.ts";
import { plotWidth, timeLabels, width } from "./axes.ts";
import { nameAxisMargins, shortened } from "./call-bars.ts";
import type { Cell } from "./csv.ts";
import { type Html, html } from "./html.ts";
import {
  callsOf,
  outcomeColors,
  outcomeKeys,
  outcomeLegend,
  outcomesOf,
  outcomeWords,
  refusalColumns,
  refusedOf,
} from "./outcomes.ts";
import type { Drawing, Gallery, Layout, Picture } from "./picture.ts";
import type { ReportSource } from "./source.ts";
import { type Column, foldedTable } from "./table.ts";

/** Greatest number of lines that do not hide the marks. */
const resetsMost = 60;
const rowHeight = 24;

export function timelineSection(source: ReportSource, gallery: Gallery): Html | null {
  const { run, series } = source;
  const timeline = named(series.timeline);
  if (timeline.rows.length === 0) return null;
  const lengthMs = timeline.untilMs ?? series.lengthMs;
  const resets = resetsOf(source, lengthMs);
  const isByQuota = run.summary.refusedBy !== undefined;
  const clients = run.summary.populations.reduce((sum, population) => sum + population.clients, 0);
  const picture = timelinePicture(
    timeline,
    resets,
    lengthMs,
    isByQuota ? "reset of a window" : "reset of the organization's window",
  );
  return html`<section id="timeline">
<h2>Call by call</h2>
<p>${whichWords(timeline, clients)} An admitted call is a mark below its client's line, a refused one a mark above it.${
    resets.length === 0
      ? ""
      : ` The upright lines are the resets of ${isByQuota ? "the windows drawn above" : "the organization's windows"}.`
  }${timeline.untilMs === null ? "" : ` Only the first ${duration(lengthMs)}: all calls would be too many.`}${
    timeline.slotMs === 1
      ? ""
      : ` Calls of one client that ended alike within ${duration(timeline.slotMs)} are one mark.`
  }</p>
<figure>${gallery.draw(picture)}${clientTable(timeline, isByQuota)}</figure></section>
`;
}

const named = (timeline: Timeline): Timeline => ({
  ...timeline,
  rows: timeline.rows.map((row) => ({ ...row, client: shortName(row.client) })),
});

function whichWords({ rows }: Timeline, clients: number): string {
  if (rows.length >= clients)
    return `${counted(clients, "client")}, each with its calls at the time of the answer.`;
  const populations = new Set(rows.map(({ client }) => populationOf(client)));
  const of = populations.size > 1 ? " of each population" : "";
  return `The first clients${of} to be answered, ${count(rows.length)} of ${count(clients)}, each with its calls at the time of the answer.`;
}

/** Returns when the organization's drawn windows ended, ms since the run's start; none if they are too many to draw. */
function resetsOf({ run, series }: ReportSource, lengthMs: number): number[] {
  const ends = series.windows
    .filter((one) => !isNarrow(one))
    .flatMap(({ windows }) => windows.map(({ endsAt }) => endsAt - run.summary.startedAt));
  const within = [...new Set(ends)].filter((atMs) => atMs > 0 && atMs < lengthMs);
  return within.length > resetsMost ? [] : within.sort((a, b) => a - b);
}

function timelinePicture(
  timeline: Timeline,
  resets: readonly number[],
  lengthMs: number,
  resetWords: string,
): Picture {
  const { rows } = timeline;
  const outcomes = outcomesOf(rows.map(({ counts }) => counts));
  const marks = rows.flatMap(({ client, marks }, row) => marks.map((mark) => ({ client, row, ...mark })));
  return {
    id: "timeline",
    title: "Calls of the first clients",
    label: `Each client's calls over ${duration(lengthMs)}. ${rows.map(rowWords).join("; ")}.`,
    legend: [
      ...outcomeLegend(outcomes),
      ...(resets.length === 0 ? [] : [{ name: resetWords, swatch: "line", color: "var(--axis)" } as const]),
    ],
    data: {
      columns: ["at_ms", "client", "outcome", "calls"],
      rows: marks.map(({ atMs, client, outcome, count: calls }): Cell[] => [
        atMs,
        client,
        outcomeKeys[outcome],
        calls,
      ]),
    },
    readings: {
      across: lengthMs,
      time: true,
      snap: "nearest",
      names: ["client", "answer", "calls"],
      points: marks.map(({ atMs, row, client, outcome, count: calls }) => ({
        x: atMs,
        y: (row + 0.5 + (above(outcome) ? -0.15 : 0.15)) / rows.length,
        cells: [client, outcomeWords[outcome], calls === 1 ? null : count(calls)],
      })),
    },
    draw: (_, layout) => drawTimeline(timeline, outcomes, resets, lengthMs, layout),
  };
}

const rowWords = ({ client, counts }: TimelineRow): string =>
  `${client} ${count(counts.admitted)} admitted, ${count(refusedOf(counts))} refused`;

const above = (outcome: CallOutcome): boolean => outcome !== "admitted";

/** Draws one path for each outcome. ECharts would write a path for each mark, ten times the bytes. */
function drawTimeline(
  { rows }: Timeline,
  outcomes: readonly CallOutcome[],
  resets: readonly number[],
  lengthMs: number,
  layout: Layout,
): Drawing {
  const margins = { ...nameAxisMargins(layout), top: 4 };
  const { left, right, top, bottom } = margins;
  const height = top + rows.length * rowHeight + bottom;
  const size = { width: width[layout], height };
  const xOf = (atMs: number): number =>
    Math.round((left + (atMs / lengthMs) * plotWidth(layout, margins)) * 10) / 10;
  const middle = (row: number): number => top + (row + 0.5) * rowHeight;
  const frame = rows.map(
    ({ client }, row) =>
      html`<text x="${left - 8}" y="${middle(row) + 4}" text-anchor="end" font-size="12" fill="var(--ink)">${shortened(client, left)}</text><path d="M${left} ${middle(row)}H${size.width - right}" stroke="var(--line)"/>\n`,
  );
  const lines = resets.map((atMs) => `M${xOf(atMs)} ${top}v${rows.length * rowHeight}`).join("");
  const plot = [
    html`<path d="${lines}" stroke="var(--axis)" stroke-width="1" fill="none"/>\n`,
    ...outcomes.map((outcome) => {
      const path = rows.flatMap(({ marks }, row) =>
        marks
          .filter((mark) => mark.outcome === outcome)
          .map(({ atMs }) => `M${xOf(atMs)} ${middle(row)}v${above(outcome) ? -8 : 7}`),
      );
      return html`<path d="${path.join("")}" stroke="${outcomeColors[outcome]}" stroke-width="1.75" fill="none"/>\n`;
    }),
  ];
  return {
    size,
    margins,
    frame: html`${frame}`.text,
    plot: html`${plot}`.text,
    times: timeLabels(layout, height, lengthMs, margins),
  };
}

function clientTable({ rows }: Timeline, isByQuota: boolean): Html {
  const columns: Column<TimelineRow>[] = [
    { title: "Client", name: true, cell: ({ client }) => client },
    { title: "Calls", number: true, cell: ({ counts }) => count(callsOf(counts)) },
    { title: "Admitted", number: true, cell: ({ counts }) => count(counts.admitted) },
    ...refusalColumns(rows, ({ counts }) => counts, isByQuota),
    { title: "Unanswered", number: true, cell: ({ counts }) => count(counts.unanswered) },
  ];
  return foldedTable(columns, rows, { caption: "Calls of each of these clients in the whole run" });
}
