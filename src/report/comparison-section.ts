// The simulator's prediction beside the measurement of the same scenario.

import { type FigureName, figureKinds, figureNames } from "../rules/figures.ts";
import { shortName } from "../rules/printable.ts";
import { count } from "../rules/words.ts";
import type { WindowSeries } from "../summary/series.ts";
import type { Figures, Summary } from "../summary/summary.ts";
import { whoseName } from "../summary/told.ts";
import type { Whose } from "../trace/whose.ts";
import { chartDrawing, seriesColor, timeDrawing } from "./axes.ts";
import { refusalColor, waitChart, windowChart, windowChartHeight, windowColor } from "./charts.ts";
import { duration, figureText } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery, LegendEntry, Picture } from "./picture.ts";
import { ownerWords, type ReportSource, unitsOf } from "./source.ts";
import { type Column, foldedTable, table } from "./table.ts";
import { waitData, waiting, waitReadings, waitWords } from "./waits-section.ts";
import { windowData, windowReadings, windowRows } from "./window-rows.ts";
import { limitWords, windowTitle, windowWords } from "./windows-section.ts";

/** Two runs of one scenario: the measurement is drawn solid, the prediction dashed. */
export interface Comparison {
  readonly measured: ReportSource;
  readonly predicted: ReportSource;
  readonly measuredName: string;
  readonly predictedName: string;
}

/** Tells which run is the measurement: the one that was not simulated, or the first if both or neither were. */
export function compare(run: ReportSource, other: ReportSource): Comparison {
  const isMeasured = ({ run: { record } }: ReportSource): boolean => record.driver !== "simulator";
  if (isMeasured(run) === isMeasured(other))
    return { measured: run, predicted: other, measuredName: "this run", predictedName: "the other run" };
  const names = { measuredName: "measured", predictedName: "simulated" };
  return isMeasured(run)
    ? { measured: run, predicted: other, ...names }
    : { measured: other, predicted: run, ...names };
}

export function comparisonSection(comparison: Comparison, gallery: Gallery): Html {
  const { measured, predicted } = comparison;
  const pictures = comparisonPictures(comparison);
  return html`<section id="comparison">
<h2>Prediction and measurement</h2>
<p>${introduction(comparison)}</p>
${figureTable("Figures of the whole run", measured.run.summary.figures, predicted.run.summary.figures, comparison, false)}${pictures.map(
  (picture) => html`<figure><h3><bdi>${picture.title}</bdi></h3>
${gallery.draw(picture)}</figure>
`,
)}<h3>By population</h3>
${pairs(measured.run.summary, predicted.run.summary).map(([name, ours, theirs]) =>
  figureTable(name, ours, theirs, comparison, true),
)}</section>
`;
}

function introduction({ measured, predicted, measuredName, predictedName }: Comparison): string {
  const [ours, theirs] = [measured.run.record, predicted.run.record];
  const sameScenario = ours.scenario.name === theirs.scenario.name && ours.seed === theirs.seed;
  const what = sameScenario
    ? `The same scenario with the same seed, ${measuredName} and ${predictedName}.`
    : `${shortName(ours.scenario.name)} (seed ${ours.seed}), ${measuredName}, and ${shortName(theirs.scenario.name)} (seed ${theirs.seed}), ${predictedName}.`;
  return `${what} Times of single calls differ with the network and the machine; what the rules decide should not differ by much.`;
}

function pairs(ours: Summary, theirs: Summary): [name: string, ours: Figures, theirs: Figures][] {
  return ours.populations.flatMap(({ name, figures }) => {
    const other = theirs.populations.find((population) => population.name === name);
    return other === undefined || figures.calls === 0
      ? []
      : [[shortName(name), figures, other.figures] as [string, Figures, Figures]];
  });
}

function figureTable(
  caption: string,
  ours: Figures,
  theirs: Figures,
  { measuredName, predictedName }: Comparison,
  folded: boolean,
): Html {
  const columns: Column<FigureName>[] = [
    { title: "Figure", name: true, cell: (name) => html`<code>${name}</code>` },
    { title: measuredName, number: true, cell: (name) => figureText(name, ours[name]) },
    { title: predictedName, number: true, cell: (name) => figureText(name, theirs[name]) },
    { title: "difference", number: true, cell: (name) => difference(name, ours[name], theirs[name]) },
  ];
  const rows = figureNames.filter((name) => (ours[name] ?? 0) !== 0 || (theirs[name] ?? 0) !== 0);
  return (folded ? foldedTable : table)(columns, rows, { caption, titled: folded, opener: caption });
}

/** Returns the measured figure less the predicted one, with its sign. */
function difference(name: FigureName, ours: number | null, theirs: number | null): string {
  if (ours === null || theirs === null) return "–";
  const by = ours - theirs;
  if (Math.abs(by) < 0.0005) return "0";
  const sign = by < 0 ? "−" : "+";
  if (name === "fairness") return `${sign}${Math.round(Math.abs(by) * 1000) / 1000}`;
  const { unit } = figureKinds[name];
  if (unit === "share") return `${sign}${Math.round(Math.abs(by) * 1000) / 10} pp`;
  return sign + (unit === "ms" ? duration(Math.abs(by)) : count(Math.abs(by)));
}

const sameKey = (a: Whose, b: Whose): boolean => whoseName(a) === whoseName(b);

function comparisonPictures(comparison: Comparison): Picture[] {
  const { measured, predicted } = comparison;
  const windows = measured.series.windows.flatMap((ours, index) => {
    const theirs = predicted.series.windows.find((one) => sameKey(one, ours));
    return theirs === undefined ? [] : [windowComparison(ours, theirs, index, comparison)];
  });
  return [...windows, ...waitComparison(comparison)];
}

function windowComparison(
  ours: WindowSeries,
  theirs: WindowSeries,
  index: number,
  { measured, predicted, measuredName, predictedName }: Comparison,
): Picture {
  const lengthMs = Math.max(measured.series.lengthMs, predicted.series.lengthMs);
  const units = unitsOf(ours, measured.run.record.policy);
  const legend: LegendEntry[] = [
    { name: `${units}, ${measuredName}`, swatch: "line", color: windowColor(ours) },
    { name: predictedName, swatch: "dashed", color: "var(--predicted)" },
    { name: limitWords(ours), swatch: "dashed", color: "var(--limit)" },
  ];
  if (ours.refusals.length > 0)
    legend.push({ name: `refused, ${measuredName}`, swatch: "area", color: refusalColor(ours) });
  const names = [measuredName, predictedName] as const;
  const rows = windowRows(ours, lengthMs, theirs);
  const height = windowChartHeight(ours);
  return {
    id: `compared-window-${index + 1}`,
    title: windowTitle(ours),
    label: `${ownerWords(ours)}, ${measuredName}: ${windowWords(ours, units)} ${predictedName}: ${windowWords(theirs, unitsOf(theirs, predicted.run.record.policy))}`,
    legend,
    data: windowData(rows, names),
    readings: windowReadings(rows, lengthMs, names),
    draw: (id, layout) =>
      timeDrawing(id, windowChart(layout, ours, lengthMs, theirs), { layout, height, lengthMs }),
  };
}

function waitComparison({ measured, predicted, measuredName, predictedName }: Comparison): Picture[] {
  const ours = waiting(measured.run.summary);
  const theirs = waiting(predicted.run.summary);
  if (ours.length === 0 || theirs.length === 0) return [];
  const names = [...new Set([...ours, ...theirs].map(({ name }) => name))];
  const curve = (dashed: boolean) => (population: (typeof ours)[number]) => ({
    population,
    color: seriesColor(names.indexOf(population.name)),
    dashed,
  });
  const curves = [...ours.map(curve(false)), ...theirs.map(curve(true))];
  const nameOf = ({ name }: (typeof ours)[number], dashed: boolean): string =>
    `${name}, ${dashed ? predictedName : measuredName}`;
  return [
    {
      id: "compared-waits",
      title: "Waits by population",
      label: `The share of jobs answered within a time. ${measuredName}: ${ours.map(waitWords).join(" ")} ${predictedName}: ${theirs.map(waitWords).join(" ")}`,
      legend: [
        ...names.map((name, index) => ({ name, swatch: "area", color: seriesColor(index) }) as const),
        { name: measuredName, swatch: "line", color: "var(--muted)" },
        { name: predictedName, swatch: "dashed", color: "var(--muted)" },
      ],
      data: waitData(curves, nameOf),
      readings: waitReadings(curves, nameOf),
      draw: (id, layout) => chartDrawing(id, waitChart(curves), layout, 260),
    },
  ];
}
