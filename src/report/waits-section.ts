// The time between wanting and getting an answer, by population.

import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { count } from "../rules/words.ts";
import { type PopulationSummary, type Summary, waitShares } from "../summary/summary.ts";
import { chartDrawing, seriesColor } from "./axes.ts";
import { answeredShare, type WaitCurve, waitChart, waitDecades } from "./charts.ts";
import type { DataTable } from "./csv.ts";
import { figureText, share } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery, Picture } from "./picture.ts";
import type { PictureReadings } from "./readings.ts";
import type { ReportSource } from "./source.ts";
import { type Column, table } from "./table.ts";

export function waitsSection({ run }: ReportSource, gallery: Gallery): Html {
  const picture = waitPicture(run.summary);
  return html`<section id="waits">
<h2>From wanting to getting</h2>
<p>The time from when a call was meant to be sent, through refusals and retries, to the answer that was no refusal. A client that waits its turn does not make the wait look shorter. Jobs that never had such an answer keep a curve below 100%.</p>
${
  picture === null
    ? html`<p>No job was answered.</p>\n`
    : html`<figure>
${gallery.draw(picture)}</figure>
`
}${waitTable(run.summary)}</section>
`;
}

/** Returns the populations that had an answer, under readable names. */
export const waiting = ({ populations }: Summary): PopulationSummary[] =>
  populations
    .filter(({ waitsMs }) => waitsMs.length > 0)
    .map((population) => ({ ...population, name: shortName(population.name) }));

function waitPicture(summary: Summary): Picture | null {
  const populations = waiting(summary);
  if (populations.length === 0) return null;
  const curves = populations.map((population, index) => ({
    population,
    color: seriesColor(index),
    dashed: false,
  }));
  return {
    id: "waits",
    title: "Waits by population",
    label: `The share of jobs answered within a time, of all jobs. ${populations.map(waitWords).join(" ")}`,
    legend: populations.map(({ name }, index) => ({ name, swatch: "line", color: seriesColor(index) })),
    data: waitData(curves, ({ name }) => name),
    readings: waitReadings(curves, ({ name }) => name),
    draw: (id, layout) => chartDrawing(id, waitChart(curves), layout, 260),
  };
}

type CurveName = (population: PopulationSummary, dashed: boolean) => string;

/** Returns each population's waits at each share of its jobs. Jobs without an answer have no wait. */
export function waitData(curves: readonly WaitCurve[], nameOf: CurveName): DataTable {
  return {
    columns: ["population", "share_of_answered", "within_ms"],
    rows: curves.flatMap(({ population, dashed }) =>
      population.waitsMs.map((waitMs, index) => [
        nameOf(population, dashed),
        waitShares[index] as number,
        waitMs,
      ]),
    ),
  };
}

/** Number of points in a decade of the logarithmic axis, and the factor between two points: 10 ^ (1 / 24). */
const stepsOfDecade = 24;
const stepFactor = 1.1006941712522096;

export function waitReadings(curves: readonly WaitCurve[], nameOf: CurveName): PictureReadings {
  const across = waitDecades(curves) * stepsOfDecade;
  let withinMs = 1;
  const points = Array.from({ length: across + 1 }, (_, x) => {
    if (x > 0) withinMs *= stepFactor;
    const rounded = Math.round(withinMs);
    const shares = curves.map(({ population }) => share(answeredWithin(population, rounded)));
    return { x, y: null, cells: [duration(rounded), ...shares] };
  });
  const names = ["within", ...curves.map(({ population, dashed }) => nameOf(population, dashed))];
  return { across, time: false, snap: "nearest", names, points };
}

/** Returns the share of all jobs answered within a time, as far as the kept quantiles tell. */
function answeredWithin({ waitsMs, figures }: PopulationSummary, ms: number): number {
  const index = waitsMs.findLastIndex((waitMs) => waitMs <= ms);
  return (waitShares[index] ?? 0) * answeredShare(figures);
}

export function waitWords({ name, figures }: PopulationSummary): string {
  const [half, most, all] = (["waitP50Ms", "waitP95Ms", "waitMaxMs"] as const).map((wait) =>
    figureText(wait, figures[wait]),
  );
  return `${name}: half within ${half}, 95% within ${most}, all within ${all}.`;
}

const waitColumns = {
  waitP50Ms: "Half",
  waitP95Ms: "95%",
  waitP99Ms: "99%",
  waitMaxMs: "All",
} as const;

function waitTable({ populations }: Summary): Html {
  const columns: Column<PopulationSummary>[] = [
    { title: "Population", name: true, cell: ({ name }) => shortName(name) },
    { title: "Jobs", number: true, cell: ({ figures }) => count(figures.jobs) },
    ...(Object.keys(waitColumns) as (keyof typeof waitColumns)[]).map(
      (name): Column<PopulationSummary> => ({
        title: waitColumns[name],
        number: true,
        cell: ({ figures }) => figureText(name, figures[name]),
      }),
    ),
    {
      title: "Never",
      number: true,
      cell: ({ figures }) => count(Math.max(0, figures.jobs - figures.admitted)),
    },
  ];
  const called = populations.filter(({ figures }) => figures.calls > 0);
  return table(columns, called, {
    caption: "Within what time the answered jobs had their answer, and how many never had one",
  });
}
