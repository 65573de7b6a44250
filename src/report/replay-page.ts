// A replay in a page: who would have been refused and when, how much room there was, which limits would have sufficed.

import { duration } from "../rules/duration.ts";
import { count, counted } from "../rules/words.ts";
import { callsOverTime } from "./call-bars.ts";
import { instant, share } from "./format.ts";
import { type Page, page } from "./frame.ts";
import { type Html, html } from "./html.ts";
import { intervalPicture } from "./interval-rows.ts";
import { factList, head, type KeyFigure } from "./parts.ts";
import { Gallery } from "./picture.ts";
import { reactionSection } from "./replay-reaction-section.ts";
import { callSlots, refusedIn } from "./replay-slots.ts";
import { usersSection } from "./replay-users-section.ts";
import {
  type AnyReplay,
  type ReplayView,
  replayView,
  type SlotView,
  type SmallestView,
  type UseView,
} from "./replay-view.ts";
import {
  demandWords,
  expectedWords,
  filteredWords,
  hitWords,
  lookedAtWords,
  recordedWords,
  replayAnswer,
  replayName,
  replayOutcome,
  smallestWords,
} from "./replay-words.ts";
import { limitsBlock } from "./run-section.ts";
import { type Column, foldedTable, table } from "./table.ts";

/**
 * Returns a replay as one HTML text. The same result gives the same bytes.
 * @param version version of spillway
 * @param folder the pictures' folder, relative to the page; `null` if the page names no files
 */
export function renderReplay(replay: AnyReplay, version: string, folder: string | null = null): Page {
  const result = replayView(replay);
  const gallery = new Gallery(folder);
  const name = replayName(result);
  return page({
    title: `${name}: spillway replay`,
    description: replayAnswer(result),
    version,
    madeFrom: "a replay's folder: replay.json",
    gallery,
    body: html`${head({
      kicker: `spillway replay${spanWords(result)}`,
      title: name,
      lead: lookedAtWords(result),
      outcome: replayOutcome(result),
      answer: replayAnswer(result),
      details: [expectedWords(result), hitWords(result), smallestWords(result), demandWords(result)].filter(
        (words) => words !== "",
      ),
      notes: [
        filteredWords(result),
        result.interrupted ? "Interrupted: all of this is about the rows until then." : "",
      ].filter((words) => words !== ""),
      key: keyFigures(result),
    })}<main>
${whenSection(result, gallery)}${headroomSection(result, gallery)}${usersSection(result, gallery)}${
  result.reaction === null ? null : reactionSection(result, result.reaction, gallery)
}${logSection(result)}${rulesSection(result)}</main>
`,
  });
}

function spanWords({ log: { firstAt, lastAt } }: ReplayView): string {
  if (firstAt === null || lastAt === null) return "";
  const second = (ms: number): string => instant(ms - (ms % 1000));
  return ` · ${second(firstAt)} to ${second(lastAt)}`;
}

function keyFigures({ totals, headroom, log, under }: ReplayView): KeyFigure[] {
  const answered = Math.max(1, totals.calls);
  const fullest = headroom.toSorted((a, b) => b.useMax - a.useMax)[0];
  return [
    ["Calls", count(totals.calls), `of ${counted(log.rows, "row")} read`],
    ["Refused", share(totals.refused / answered), counted(totals.refused, "call")],
    [
      under === "rules" ? "Users refused" : "Callers refused",
      count(totals.usersRefused),
      `of ${count(totals.users)}`,
    ],
    ...(fullest === undefined
      ? []
      : [["Fullest window", share(fullest.useMax), `of its limit: ${fullest.name}`] as const]),
  ];
}

const slotsListed = 100;

const byOwners: readonly Column<SlotView>[] = [
  { title: "Refused by user's", number: true, cell: ({ refusedByUser }) => count(refusedByUser) },
  { title: "by organization's", number: true, cell: (slot) => count(slot.refusedByOrganization) },
];

function whenSection(result: ReplayView, gallery: Gallery): Html | null {
  const { slots, slotMs } = result;
  const [first] = slots;
  if (first === undefined) return null;
  const refusing = slots.filter((slot) => refusedIn(slot) > 0);
  const picture = callsOverTime({
    id: "refusals",
    title: "Calls over time",
    label: `Calls over ${duration(slots.length * slotMs)} by what would have become of them. ${replayAnswer(result)}`,
    slots: callSlots(slots),
    slotMs,
    lengthMs: slots.length * slotMs,
  });
  const columns: Column<SlotView>[] = [
    { title: "From", name: true, cell: ({ atMs }) => instant(atMs) },
    { title: "Calls", number: true, cell: ({ calls }) => count(calls) },
    ...(result.under === "policy"
      ? [{ title: "Refused", number: true as const, cell: (slot: SlotView) => count(refusedIn(slot)) }]
      : byOwners),
  ];
  const listed = refusing.slice(0, slotsListed);
  return html`<section id="when">
<h2>When</h2>
<figure><figcaption>Calls in each ${duration(slotMs)} from ${instant(first.atMs)} on, by what would have become of them.</figcaption>
${gallery.draw(picture)}${foldedTable(columns, listed, {
  caption: `The spans of ${duration(slotMs)} in which calls would have been refused`,
  opener: "When calls would have been refused",
  more:
    listed.length < refusing.length
      ? `The first ${count(listed.length)} of ${count(refusing.length)}; pictures/refusals.csv has all.`
      : null,
})}</figure>
${windowsTable(result)}</section>
`;
}

const windowsListed = 40;

function windowsTable({ windows, windowsSeen }: ReplayView): Html | null {
  if (windows.length === 0) return null;
  const listed = windows.slice(0, windowsListed);
  return foldedTable(
    [
      { title: "Whose", name: true, cell: ({ name }) => name },
      { title: "Opened", number: true, cell: ({ opensAt }) => instant(opensAt) },
      {
        title: "First refusal after",
        number: true,
        cell: (one) => duration(one.firstRefusedAt - one.opensAt),
      },
      { title: "Limit", number: true, cell: ({ limit }) => count(limit) },
      { title: "Refused", number: true, cell: ({ refused }) => count(refused) },
    ],
    listed,
    {
      caption: "The windows that would have refused most",
      opener: "The windows that would have refused most",
      more:
        listed.length < windowsSeen ? `${count(listed.length)} of ${counted(windowsSeen, "window")}.` : null,
    },
  );
}

function headroomSection(result: ReplayView, gallery: Gallery): Html | null {
  const { headroom, counts, smallest, under, hasSeveralCounts } = result;
  if (headroom.length === 0) return null;
  const [caption, opener] =
    under === "rules"
      ? ["Each organization's windows, the fullest first", "Each organization's windows"]
      : ["Each count that callers may share, the fullest first", "Each count by itself"];
  return html`<section id="headroom">
<h2>How much room there was</h2>
<p>What each window would have counted if nothing had been refused, as a share of its limit: above 100% it would have refused. Of the windows in which there was a call.</p>
<figure>${gallery.draw(headroomPicture(headroom))}${table(headroomColumns, headroom, { caption: "Use of the windows, as a share of their limit" })}</figure>
${hasSeveralCounts ? foldedTable(headroomColumns, counts.slice(0, 40), { caption, opener }) : null}<h3>Limits that would have refused no row as it came</h3>
${table(smallestColumns, smallest, { caption: "The smallest limit under which no window of a kind would have refused a call", titled: true })}</section>
`;
}

const headroomColumns: readonly Column<UseView>[] = [
  { title: "Windows", name: true, cell: ({ name }) => name },
  { title: "With a call", number: true, cell: ({ windows }) => count(windows) },
  { title: "Too full", number: true, cell: ({ windowsOver }) => count(windowsOver) },
  { title: "Half of them, use", number: true, cell: ({ useP50 }) => share(useP50) },
  { title: "99%", number: true, cell: ({ useP99 }) => share(useP99) },
  { title: "Fullest", number: true, cell: ({ useMax }) => share(useMax) },
];

const smallestColumns: readonly Column<SmallestView>[] = [
  { title: "Windows", name: true, cell: ({ name }) => name },
  { title: "Limit now", number: true, cell: ({ limit, unit }) => `${count(limit)} ${unit}` },
  {
    title: "Would have done",
    number: true,
    cell: ({ limit, smallest }) =>
      html`<span class="state ${smallest > limit ? "bad" : "good"}">${count(smallest)}</span>`,
  },
  { title: "Needed by", cell: ({ neededBy }) => neededBy },
  { title: "In the window until", number: true, cell: ({ windowEndsAt }) => instant(windowEndsAt) },
];

const headroomPicture = (headroom: readonly UseView[]) =>
  intervalPicture({
    id: "headroom",
    title: "Use of the windows",
    label: `Use of the windows as a share of their limit. ${headroom
      .map((one) => `${one.name}: half up to ${share(one.useP50)}, the fullest ${share(one.useMax)}`)
      .join("; ")}.`,
    what: "windows",
    figure: "99th percentile",
    ends: ["median", "fullest"],
    unit: "share",
    rows: headroom.map((one) => ({
      name: one.name,
      mean: one.useP99,
      low: one.useP50,
      high: one.useMax,
      color: one.windowsOver > 0 ? "var(--refused)" : "var(--admitted)",
    })),
    line: { at: 1, name: "the limit" },
    legend: [
      {
        name: "from the middle window to the fullest; the dot is the 99th percentile",
        swatch: "line",
        color: "var(--muted)",
      },
      { name: "some would have refused", swatch: "area", color: "var(--refused)" },
    ],
  });

function logSection(result: ReplayView): Html {
  const { log } = result;
  const facts: [string, string][] = [
    ["Files", log.files.join(", ")],
    ["Rows read", count(log.rows)],
    ["Rows that could not be read", count(log.unread)],
    ...result.rows,
  ];
  return html`<section id="log">
<h2>The log</h2>
${factList(facts)}${log.notes.map((note) => html`<p>${note}</p>\n`)}${recordedWords(result) === "" ? null : html`<p>${recordedWords(result)}</p>\n`}${
  log.unread === 0
    ? null
    : html`<h3>Rows that could not be read</h3>
${table(
  [
    { title: "Line", name: true, cell: ({ file, line }) => `${file}:${line}` },
    { title: "Why", cell: ({ why }) => why },
    { title: "Text", cell: ({ text }) => html`<code>${text}</code>` },
  ],
  log.examples,
  {
    caption: "Rows that could not be read",
    titled: true,
    more: log.examples.length < log.unread ? `${count(log.examples.length)} of ${count(log.unread)}.` : null,
  },
)}`
}</section>
`;
}

const rulesSection = ({ limits, under }: ReplayView): Html => html`<section id="rules">
<h2>Under which ${under}</h2>
${limitsBlock("policy" in limits ? { rules: null, policy: limits.policy } : limits)}</section>
`;
