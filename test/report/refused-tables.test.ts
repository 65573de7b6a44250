// Where a page counts refusals, no refusal is left out, whichever window refused; and what it says of windows holds.
import { expect, test } from "vitest";
import { outcomeKeys, refusalColumns } from "../../src/report/outcomes.ts";
import { Gallery } from "../../src/report/picture.ts";
import { refusalsSection } from "../../src/report/refusals-section.ts";
import type { ReportSource } from "../../src/report/source.ts";
import { timelineSection } from "../../src/report/timeline-section.ts";
import { windowRows } from "../../src/report/window-rows.ts";
import { windowsSection } from "../../src/report/windows-section.ts";
import type { WindowSeries } from "../../src/summary/series.ts";
import { noOutcomes } from "../../src/summary/timeline.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { fixture, quotasFixture } from "./fixtures.ts";

/** Returns the table of a caption: its titles, and its rows. */
function tableOf(html: string, caption: string): { titles: string[]; rows: string[][] } {
  const table = html.split("<table>").find((each) => each.startsWith(`<caption>${caption}`)) ?? "";
  const cells = (row: string): string[] =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, text = ""]) => text.replace(/<[^>]*>/g, ""));
  const [head = [], ...rows] = table.split("<tr>").slice(1).map(cells);
  return { titles: head, rows };
}

const clients = (source: ReportSource) =>
  tableOf(
    timelineSection(source, new Gallery(null))?.text ?? "",
    "Calls of each of these clients in the whole run",
  );
const answers = (source: ReportSource) =>
  tableOf(refusalsSection(source, new Gallery(null)).text, "Answers in each");
const sumOf = (numbers: readonly string[]): number => numbers.reduce((sum, one) => sum + Number(one), 0);

/** Takes from a refusal all that names the window. */
function hide(call: TraceCall): void {
  if (call.status !== 429) return;
  call.refusal = {};
  Object.assign(call, { remaining: null, userRemaining: null });
}
const byOwners = ["Refused by user&#39;s", "by organization&#39;s"];

test.each<[string, ReportSource, string[]]>([
  ["by rules", fixture(), byOwners],
  ["by rules, where refusals name no window", fixture({ change: hide }), [...byOwners, "not said by which"]],
  ["by a policy", quotasFixture(), ["Refused"]],
])("every call of a client, and every answer of a time, is in its table: %s", (_name, source, titles) => {
  const { titles: columns, rows } = clients(source);
  expect(columns).toEqual(["Client", "Calls", "Admitted", ...titles, "Unanswered"]);
  expect(rows.some(([, calls, admitted]) => Number(admitted) < Number(calls))).toBe(true);
  for (const [, calls, ...parts] of rows) expect(sumOf(parts)).toBe(Number(calls));
  const slots = answers(source);
  expect(slots.titles).toEqual(["From", "Admitted", ...titles, "Unanswered"]);
  const all = slots.rows.flatMap(([, ...parts]) => parts);
  expect(sumOf(all)).toBe(source.run.summary.figures.calls);
});

test("a policy that refused nothing has no organization's windows, either", () => {
  const titles = (isByQuota: boolean) =>
    refusalColumns([noOutcomes()], (one) => one, isByQuota).map(({ title }) => title);
  expect(titles(true)).toEqual(["Refused"]);
  expect(titles(false)).toEqual(["Refused by user's", "by organization's"]);
  expect(Object.keys(noOutcomes()).toSorted()).toEqual(Object.keys(outcomeKeys).toSorted());
});

test("where no answer shows when a window ends, levels are drawn, and no window is counted", () => {
  const { run, series } = quotasFixture();
  const said = (windowsSeen: number, windows: readonly WindowSeries[]): string => {
    const source = {
      run: { ...run, summary: { ...run.summary, windowsSeen } },
      series: { ...series, windows },
    };
    return /<p>(.*?)<\/p>/.exec(windowsSection(source, new Gallery(null)).text)?.[1] ?? "";
  };
  const drawn = (what: string): string =>
    `Here are ${what} of each quota that refused most. A count is what an answer showed, at the time of the answer.`;
  expect(said(3, series.windows)).toBe(`The answers showed 3 windows. ${drawn("those")}`);
  expect(said(0, series.windows)).toBe(`No answer showed when a window ends. ${drawn("the levels")}`);
  expect(said(0, [])).toBe("No answer showed when a window ends.");
  expect(said(3, [])).toBe("The answers showed 3 windows.");
});

test("a run that is shorter than the other one of a comparison keeps all its refusals", () => {
  const refusals = Array.from({ length: 100 }, (_, span) => [300 * span + 150, 1] as const);
  const series = { counts: [], limits: [], refusals } as unknown as WindowSeries;
  const refused = (lengthMs: number): number =>
    windowRows(series, lengthMs).reduce((sum, row) => sum + row.refused, 0);
  expect([30_000, 60_000, 75_000, 300_000].map(refused)).toEqual([100, 100, 100, 100]);
});
