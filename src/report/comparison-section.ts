// Two runs side by side: most often the simulator's prediction and the measurement of the same scenario.

import { duration } from "../rules/duration.ts";
import { type FigureName, figureKinds } from "../rules/figures.ts";
import { shortName } from "../rules/printable.ts";
import { count } from "../rules/words.ts";
import type { WindowSeries } from "../summary/series.ts";
import type { Figures, Summary } from "../summary/summary.ts";
import { whoseName } from "../summary/told.ts";
import type { Whose } from "../trace/whose.ts";
import { chartDrawing, seriesColor, timeDrawing } from "./axes.ts";
import { refusalColor, waitChart, windowChart, windowChartHeight, windowColor } from "./charts.ts";
import { figuresTold, figureText } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery, LegendEntry, Picture } from "./picture.ts";
import type { RunRecord } from "./run.ts";
import { ownerWords, type ReportSource, unitsOf } from "./source.ts";
import { type Column, foldedTable, table } from "./table.ts";
import { waitData, waiting, waitReadings, waitWords } from "./waits-section.ts";
import { windowData, windowReadings, windowRows } from "./window-rows.ts";
import { limitWords, windowTitle, windowWords } from "./windows-section.ts";

/** Two runs: the measurement, or the first, is drawn solid, the other dashed. */
export interface Comparison {
  readonly measured: ReportSource;
  readonly predicted: ReportSource;
  readonly measuredName: string;
  readonly predictedName: string;
  /** True if one was measured and the other simulated. */
  readonly isPrediction: boolean;
}

/** Tells which run is the measurement: the one that was not simulated, or the first if both or neither were. */
export function compare(run: ReportSource, other: ReportSource): Comparison {
  const isMeasured = ({ run: { record } }: ReportSource): boolean => record.driver !== "simulator";
  if (isMeasured(run) === isMeasured(other))
    return {
      ...{ measured: run, predicted: other, measuredName: "this run", predictedName: "the other run" },
      isPrediction: false,
    };
  const names = { measuredName: "measured", predictedName: "simulated", isPrediction: true };
  return isMeasured(run)
    ? { measured: run, predicted: other, ...names }
    : { measured: other, predicted: run, ...names };
}

export function comparisonSection(comparison: Comparison, gallery: Gallery): Html {
  const { measured, predicted } = comparison;
  const pictures = comparisonPictures(comparison);
  return html`<section id="comparison">
<h2>${comparison.isPrediction ? "Prediction and measurement" : "Two runs side by side"}</h2>
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

function introduction(comparison: Comparison): string {
  const { measured, predicted, measuredName, predictedName, isPrediction } = comparison;
  const [ours, theirs] = [measured.run.record, predicted.run.record];
  const apart = differencesOf(ours, theirs);
  const what = `${shortName(ours.scenario.name)}, ${measuredName}, and ${shortName(theirs.scenario.name)}, ${predictedName}`;
  const others = notInBoth(comparison);
  if (apart.length > 0)
    return `${what}. Their ${apart.join("; their ")}: figures may differ by that alone.${others}`;
  const alike = `${what}: the same name, seed, planned length and limits.`;
  if (isPrediction)
    return `${alike} Times of single calls differ with the network and the machine; what the limits decide should not differ by much.${others}`;
  return ours.driver === "simulator"
    ? `${alike} Two simulations of one scenario are equal: whatever differs comes from another text of the scenario, another option or another version of spillway.${others}`
    : `${alike} Times of single calls differ from run to run; what the limits decide should not differ by much.${others}`;
}

/** Says in what the records of two runs differ. */
function differencesOf(ours: RunRecord, theirs: RunRecord): string[] {
  const limits = ({ rules, policy }: RunRecord): string => JSON.stringify(rules ?? policy ?? null);
  const pairs: readonly (readonly [name: string, ours: string, theirs: string])[] = [
    ["scenarios", shortName(ours.scenario.name), shortName(theirs.scenario.name)],
    ["seeds", String(ours.seed), String(theirs.seed)],
    ["planned lengths", duration(ours.durationMs), duration(theirs.durationMs)],
    ["ends", endWords(ours), endWords(theirs)],
  ];
  return [
    ...pairs.flatMap(([name, one, other]) => (one === other ? [] : [`${name} are ${one} and ${other}`])),
    ...(limits(ours) === limits(theirs) ? [] : ["limits differ"]),
  ];
}

const endWords = ({ interrupted }: RunRecord): string => (interrupted ? "early (interrupted)" : "as planned");

/** Says which populations only one of the runs has; nothing if there are none. */
function notInBoth({ measured, predicted, measuredName, predictedName }: Comparison): string {
  const called = ({ run: { summary } }: ReportSource): string[] =>
    summary.populations.filter(({ figures }) => figures.calls > 0).map(({ name }) => name);
  const [ours, theirs] = [called(measured), called(predicted)];
  const only = (some: readonly string[], others: readonly string[], where: string): string => {
    const names = some.filter((name) => !others.includes(name)).map(shortName);
    return names.length === 0 ? "" : ` Calls of ${names.join(", ")} are in one run alone: ${where}.`;
  };
  return only(ours, theirs, measuredName) + only(theirs, ours, predictedName);
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
  const rows = figuresTold(ours, theirs);
  return (folded ? foldedTable : table)(columns, rows, { caption, titled: folded, opener: caption });
}

/** Returns the measured figure less the predicted one, with its sign. */
function difference(name: FigureName, ours: number | null, theirs: number | null): string {
  if (ours === null || theirs === null) return "–";
  const by = ours - theirs;
  if (by === 0) return "0";
  const sign = by < 0 ? "−" : "+";
  const { unit } = figureKinds[name];
  const isShare = unit === "share" && name !== "fairness";
  const rounded = Math.round(Math.abs(by) * 1000);
  if (unit === "share" && rounded === 0) return isShare ? "<0.1 pp" : "<0.001";
  if (unit === "share") return isShare ? `${sign}${rounded / 10} pp` : `${sign}${rounded / 1000}`;
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
