// Each window's count against its limit, over time.

import { duration } from "../rules/duration.ts";
import { count, counted } from "../rules/words.ts";
import type { WindowSeries } from "../summary/series.ts";
import type { WindowSummary } from "../summary/summary.ts";
import { isNarrow } from "../summary/told.ts";
import { timeDrawing } from "./axes.ts";
import { refusalColor, windowChart, windowChartHeight, windowColor } from "./charts.ts";
import { share } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery, LegendEntry, Picture } from "./picture.ts";
import { ownerWords, type ReportSource, unitsOf } from "./source.ts";
import { type Column, foldedTable } from "./table.ts";
import { windowData, windowReadings, windowRows } from "./window-rows.ts";

const windowsListed = 60;

export function windowsSection({ run, series }: ReportSource, gallery: Gallery): Html {
  const { windowsSeen, refusedBy } = run.summary;
  const isByQuota = refusedBy !== undefined;
  const drawn = isByQuota
    ? `${windowsSeen === 0 ? "the levels" : "those"} of each quota that refused most`
    : series.windows.some(isNarrow)
      ? "the organization's, and the users' windows that refused most"
      : "the organization's; no user's own window refused anything";
  const seen =
    windowsSeen > 0
      ? `The answers showed ${counted(windowsSeen, "window")}.`
      : isByQuota
        ? "No answer showed when a window ends."
        : "No answer showed a window: the eight headers did not come.";
  return html`<section id="windows">
<h2>Each window's count against its limit</h2>
<p>${seen}${
    series.windows.length === 0
      ? ""
      : ` Here are ${drawn}. A count is what an answer showed, at the time of the answer.`
  }</p>
${series.windows.map((one, index) => windowFigure(one, index, { run, series }, gallery))}</section>
`;
}

function windowFigure(one: WindowSeries, index: number, source: ReportSource, gallery: Gallery): Html {
  const { policy, startedAt } = source.run.record;
  return html`<figure><h3><bdi>${windowTitle(one)}</bdi></h3>
<figcaption>${windowWords(one, unitsOf(one, policy))}</figcaption>
${gallery.draw(windowPicture(one, index, source))}${windowTable(one, startedAt)}</figure>
`;
}

function windowPicture(
  one: WindowSeries,
  index: number,
  { run, series: { lengthMs } }: ReportSource,
): Picture {
  const units = unitsOf(one, run.record.policy);
  const rows = windowRows(one, lengthMs);
  const height = windowChartHeight(one);
  return {
    id: `window-${index + 1}`,
    title: windowTitle(one),
    label: `${windowTitle(one)}: ${windowWords(one, units)}`,
    legend: windowLegend(one, units),
    data: windowData(rows),
    readings: windowReadings(rows, lengthMs, [`${units} counted`]),
    draw: (id, layout) => timeDrawing(id, windowChart(layout, one, lengthMs), { layout, height, lengthMs }),
  };
}

export function windowTitle(one: WindowSeries): string {
  if ("quota" in one) return `${ownerWords(one)}${one.windows.length === 0 ? ": the level" : ""}`;
  return `${ownerWords(one)}: ${one.user === null ? "the organization's windows" : "this user's windows"}`;
}

function windowLegend(one: WindowSeries, units: string): LegendEntry[] {
  const entries: LegendEntry[] = [
    {
      name: one.perWindow ? "highest count of each window" : `${units} counted`,
      swatch: "line",
      color: windowColor(one),
    },
    { name: limitWords(one), swatch: "dashed", color: "var(--limit)" },
  ];
  if (one.refusals.length > 0)
    entries.push({ name: "calls it refused (bars above)", swatch: "area", color: refusalColor(one) });
  return entries;
}

/** Returns `limit 200`, `limit 100 to 200`. */
export function limitWords({ limits }: WindowSeries): string {
  const values = limits.map(([, limit]) => limit);
  if (values.length === 0) return "limit";
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `limit ${count(most)}` : `limit ${count(least)} to ${count(most)}`;
}

/** Says in a sentence or two how full the windows were. @param units units of their counts */
export function windowWords(one: WindowSeries, units: string): string {
  const { windows } = one;
  if (windows.length === 0) return levelWords(one);
  const filled = windows.flatMap(({ highest, limit }) =>
    highest === null || limit === null ? [] : [{ highest, limit, fill: highest / limit }],
  );
  const [first] = filled;
  if (first === undefined) return `${counted(windows.length, "window")}; no count was shown.`;
  const refused = windows.reduce((sum, one) => sum + one.refused, 0);
  const { highest, limit, fill } = filled.reduce(
    (most, each) => (each.fill > most.fill ? each : most),
    first,
  );
  const full = filled.filter((each) => each.fill >= 1).length;
  const [which, they] = windows.length === 1 ? ["it", "It"] : ["the fullest", "They"];
  const peak = `${which} held ${count(highest)} of ${count(limit)} ${units} (${share(fill)})`;
  const spent = windows.length === 1 ? "" : full === 0 ? ", none was used up" : `, ${count(full)} used up`;
  const refusals =
    refused === 0 ? `${they} refused nothing.` : `${they} refused ${counted(refused, "call")}.`;
  return `${counted(windows.length, "window")}: ${peak}${spent}. ${refusals}`;
}

/** Says how full a quota without windows was. */
function levelWords({ counts, limits, refusals }: WindowSeries): string {
  const highest = Math.max(0, ...counts.map(([, level]) => level));
  const limit = Math.max(0, ...limits.map(([, value]) => value));
  const refused = refusals.reduce((sum, [, calls]) => sum + calls, 0);
  const said = refused === 0 ? "It refused nothing." : `It refused ${counted(refused, "call")}.`;
  return `At most ${count(highest)} of ${count(limit)} were in use, as far as answers showed. ${said}`;
}

function windowTable({ windows }: WindowSeries, startedAt: number): Html {
  const columns: Column<WindowSummary>[] = [
    { title: "Opened", name: true, cell: ({ opensAt }) => offset(opensAt - startedAt) },
    { title: "Ended", number: true, cell: ({ endsAt }) => offset(endsAt - startedAt) },
    { title: "Limit", number: true, cell: ({ limit }) => (limit === null ? "–" : count(limit)) },
    { title: "Highest", number: true, cell: ({ highest }) => (highest === null ? "–" : count(highest)) },
    { title: "Admitted", number: true, cell: ({ admitted }) => count(admitted) },
    { title: "Refused", number: true, cell: ({ refused }) => count(refused) },
  ];
  const listed = windows.slice(0, windowsListed);
  const more =
    listed.length < windows.length
      ? `The first ${count(listed.length)} of ${counted(windows.length, "window")}.`
      : null;
  return foldedTable(columns, listed, { caption: "The windows, from the start of the run", more });
}

/** Returns a time since the start. A window may have opened before the run began. */
const offset = (ms: number): string => (ms < 0 ? `−${duration(-ms)}` : duration(ms));
