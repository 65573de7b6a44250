// The time between wanting and getting an answer, by population.
import type { PopulationSummary, Summary } from "../summary/summary.ts";
import { chartSize, seriesColor, waitChart } from "./charts.ts";
import { count, duration, figureText } from "./format.ts";
import { type Html, html } from "./html.ts";
import { drawPicture, type Picture } from "./picture.ts";
import type { ReportSource } from "./source.ts";
import { type Column, table } from "./table.ts";

export function waitsSection({ run }: ReportSource): Html {
  const picture = waitPicture(run.summary);
  return html`<section id="waits">
<h2>From wanting to getting</h2>
<p>The time from when a call was meant to be sent, through refusals and retries, to the answer that was no refusal. A client that waits its turn does not make the wait look shorter. Jobs that never had such an answer keep a curve below 100%.</p>
${
  picture === null
    ? html`<p>No job was answered.</p>\n`
    : html`<figure>
${drawPicture(picture)}</figure>
`
}${waitTable(run.summary)}</section>
`;
}

const waiting = ({ populations }: Summary): PopulationSummary[] =>
  populations.filter(({ waitsMs }) => waitsMs.length > 0);

export function waitPicture(summary: Summary): Picture | null {
  const populations = waiting(summary);
  if (populations.length === 0) return null;
  return {
    id: "waits",
    title: "Waits by population",
    label: `The share of jobs answered within a time, of all jobs. ${populations.map(waitWords).join(" ")}`,
    legend: populations.map(({ name }, index) => ({ name, swatch: "line", color: seriesColor(index) })),
    option: () =>
      waitChart(
        populations.map((population, index) => ({ population, color: seriesColor(index), dashed: false })),
      ),
    size: (layout) => chartSize(layout, 260),
  };
}

export function waitWords({ name, figures }: PopulationSummary): string {
  const { waitP50Ms, waitP95Ms, waitMaxMs } = figures;
  return `${name}: half within ${duration(waitP50Ms ?? 0)}, 95% within ${duration(waitP95Ms ?? 0)}, all within ${duration(waitMaxMs ?? 0)}.`;
}

const waitColumns = {
  waitP50Ms: "Half",
  waitP95Ms: "95%",
  waitP99Ms: "99%",
  waitMaxMs: "All",
} as const;

function waitTable({ populations }: Summary): Html {
  const columns: Column<PopulationSummary>[] = [
    { title: "Population", name: true, cell: ({ name }) => name },
    { title: "Jobs", number: true, cell: ({ figures }) => count(figures.jobs ?? 0) },
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
      cell: ({ figures }) => count(Math.max(0, (figures.jobs ?? 0) - (figures.admitted ?? 0))),
    },
  ];
  const called = populations.filter(({ figures }) => (figures.calls ?? 0) > 0);
  return table(columns, called, {
    caption: "Within what time the answered jobs had their answer, and how many never had one",
  });
}
