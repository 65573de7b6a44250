// An accused window as the oracle sees it: the part of the window's count that each answer says its call took, and
// when. A right limiter's charges lie one on top of the other and rise with time. The accusation is two charges at the
// same height, or a space between them.

import type { Policy } from "../policy/policy.ts";
import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import type { CountPlace, Violation } from "../verify/verdict.ts";
import { countAxis, gridOf, margins, text, timeAxis, timeDrawing } from "./axes.ts";
import type { DataTable } from "./csv.ts";
import { type ChartOption, type DrawItem, pointOf } from "./echarts.ts";
import { instant } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery, LegendEntry, Picture } from "./picture.ts";
import type { PictureReadings } from "./readings.ts";
import { ownerWords, unitsOf } from "./source.ts";
import { type Column, foldedTable } from "./table.ts";

interface Accused {
  readonly violation: Violation;
  readonly limit: number;
  readonly answers: readonly CountPlace[];
  readonly lines: ReadonlySet<number>;
  /** Time at which the first of the answers was asked for, ms since the epoch. */
  readonly fromMs: number;
  readonly lengthMs: number;
}

/** Returns the picture of a violation's window with its numbers; `null` if the law is not about counts. */
export function placesFigure(
  violation: Violation,
  index: number,
  gallery: Gallery,
  policy?: Policy,
): Html | null {
  const accused = accusedOf(violation);
  if (accused === null) return null;
  return html`<figure><figcaption>${words(accused, unitsOf(violation, policy))}</figcaption>
${gallery.draw(picture(accused, index))}${placesTable(accused)}</figure>
`;
}

function accusedOf(violation: Violation): Accused | null {
  const { places, lines } = violation;
  if (places === undefined || places.answers.length === 0) return null;
  const { limit } = places;
  const answers = nearest(places.answers, new Set(lines));
  const fromMs = Math.min(...answers.map(({ sent }) => sent));
  const lengthMs = Math.max(1, Math.max(...answers.map(({ received }) => received)) - fromMs);
  return { violation, limit, answers, lines: new Set(lines), fromMs, lengthMs };
}

/** Greatest number of bars that can be told apart. */
const barsMost = 24;

/** Returns the answers whose places are nearest to an accused one's, in their order. */
function nearest(answers: readonly CountPlace[], lines: ReadonlySet<number>): readonly CountPlace[] {
  const accused = answers.flatMap(({ line }, index) => (lines.has(line) ? [index] : []));
  const distance = (index: number): number => Math.min(...accused.map((other) => Math.abs(other - index)));
  return answers
    .map((place, index) => ({ place, index, away: accused.length === 0 ? index : distance(index) }))
    .sort((a, b) => a.away - b.away)
    .slice(0, barsMost)
    .sort((a, b) => a.index - b.index)
    .map(({ place }) => place);
}

/** Explanation of the pictures, which the page has once. */
export const placesKey =
  "Each bar is what one answer says that its call took of the window's count, over the time that it was on its way; a flat one only reads. Calls of a right limiter lie one on top of the other, and rise.";

function words({ answers, lines, limit, fromMs }: Accused, units: string): string {
  const shown = answers.filter(({ line }) => lines.has(line)).length;
  return `${counted(answers.length, "answer")} around the breach, ${count(shown)} of them accused; the count in ${units} of ${count(limit)}, from ${instant(fromMs)} on.`;
}

function picture(accused: Accused, index: number): Picture {
  const { violation } = accused;
  const { law, explanation } = violation;
  return {
    id: `places-${index + 1}`,
    title: `${shortName(law)}: ${ownerWords(violation)}`,
    label: `The places that answers took in the window. ${explanation}`,
    legend: legend(accused),
    data: placesData(accused),
    readings: placesReadings(accused),
    // A zoom would stretch the names of lines.
    draw: (id, layout) =>
      timeDrawing(id, chart(accused), { layout, height: 260, lengthMs: accused.lengthMs, zoom: false }),
  };
}

function placesData({ answers, lines, fromMs }: Accused): DataTable {
  return {
    columns: ["trace_line", "accused", "answer", "sent_ms", "received_ms", "count_before", "count_after"],
    rows: answers.map(({ line, role, sent, received, from, to }) => [
      line,
      lines.has(line) ? "yes" : "no",
      roleWords[role],
      sent - fromMs,
      received - fromMs,
      from,
      to,
    ]),
  };
}

function placesReadings({ answers, lines, fromMs, lengthMs }: Accused): PictureReadings {
  const { bottom, top } = spanOf(answers);
  return {
    across: lengthMs,
    time: false,
    snap: "nearest",
    names: ["trace line", "answer", "on its way", "count before", "count after"],
    points: answers.map(({ line, role, sent, received, from, to }) => ({
      x: (sent + received) / 2 - fromMs,
      y: (top - (from + to) / 2) / (top - bottom),
      cells: [
        lines.has(line) ? `${line}, accused` : String(line),
        roleWords[role],
        `${duration(sent - fromMs)} to ${duration(received - fromMs)}`,
        count(from),
        count(to),
      ],
    })),
  };
}

const colorOf = ({ role, line }: CountPlace, lines: ReadonlySet<number>): string =>
  lines.has(line) ? "var(--bad)" : role === "admitted" ? "var(--admitted)" : "var(--unanswered)";

function legend({ answers, lines, limit }: Accused): LegendEntry[] {
  const others = answers.filter(({ line }) => !lines.has(line));
  const has = (charges: boolean): boolean => others.some(({ role }) => (role === "admitted") === charges);
  return [
    { name: "accused", swatch: "area", color: "var(--bad)" },
    ...(has(true) ? [{ name: "admitted", swatch: "area", color: "var(--admitted)" } as const] : []),
    ...(has(false)
      ? [{ name: "reads: refusals, status", swatch: "line", color: "var(--unanswered)" } as const]
      : []),
    ...(isWithin(limit, answers)
      ? [{ name: `limit ${count(limit)}`, swatch: "dashed", color: "var(--limit)" } as const]
      : []),
  ];
}

const narrowest = 4;
const thinnest = 2;
const lineHeight = 13;

/** Puts answers with one place at one time side by side: returns each one's lane, and the number of lanes. */
function lanesOf(answers: readonly CountPlace[]): readonly { readonly lane: number; readonly of: number }[] {
  const groups = new Map<string, number[]>();
  const lanes = answers.map(({ from, to, sent, received }) => {
    const key = `${from} ${to}`;
    const free = groups.get(key) ?? [];
    groups.set(key, free);
    const found = free.findIndex((until) => until < sent);
    const lane = found < 0 ? free.length : found;
    free[lane] = received;
    return { key, lane };
  });
  return lanes.map(({ key, lane }) => ({ lane, of: (groups.get(key) as number[]).length }));
}
/** Greatest number of names that do not overlap. */
const namesMost = 6;

function chart({ answers, lines, limit, fromMs, lengthMs }: Accused): ChartOption {
  const { bottom, top } = spanOf(answers);
  const named = answers.filter(({ line }) => lines.has(line)).length <= namesMost;
  const limitLine = isWithin(limit, answers) ? [limitSeries(limit, lengthMs)] : [];
  return {
    grid: gridOf(margins),
    xAxis: timeAxis(lengthMs),
    yAxis: countAxis(top, bottom),
    series: [
      ...limitLine,
      {
        type: "custom",
        clip: true,
        renderItem: drawPlace(answers, lines, named),
        data: answers.map(({ sent, received, from, to }) => [sent - fromMs, from, received - fromMs, to]),
      },
    ],
  };
}

/** Returns the counts that are drawn: a little more than the answers show. */
function spanOf(answers: readonly CountPlace[]): { readonly bottom: number; readonly top: number } {
  const least = Math.min(...answers.map(({ from }) => from));
  const most = Math.max(...answers.map(({ to }) => to));
  const margin = Math.max(1, Math.ceil((most - least) * 0.08));
  return { bottom: Math.max(0, least - margin), top: most + margin };
}

function isWithin(limit: number, answers: readonly CountPlace[]): boolean {
  const { bottom, top } = spanOf(answers);
  return limit >= bottom && limit <= top;
}

const limitSeries = (limit: number, lengthMs: number) => ({
  type: "line" as const,
  data: [
    [0, limit],
    [lengthMs, limit],
  ],
  showSymbol: false,
  lineStyle: { color: "var(--limit)", width: 1.5, type: [5, 4] as number[] },
});

/** Draws a bar of the place's height and the call's time. A charge of nothing is a line. */
function drawPlace(answers: readonly CountPlace[], lines: ReadonlySet<number>, named: boolean): DrawItem {
  const lanes = lanesOf(answers);
  return ({ dataIndex }, api) => {
    const { lane, of } = lanes[dataIndex] ?? { lane: 0, of: 1 };
    const place = answers[dataIndex];
    if (place === undefined) return null;
    const [left, low] = pointOf(api, api.value(0), api.value(1));
    const [right, high] = pointOf(api, api.value(2), api.value(3));
    const each = (low - high) / of;
    const height = Math.max(thinnest, each - 1);
    const top = high + lane * each;
    const shape = { x: left, y: top, width: Math.max(narrowest, right - left), height };
    const accused = lines.has(place.line);
    const style = { fill: colorOf(place, lines), opacity: accused ? 0.9 : 0.55 };
    const bar = { type: "rect" as const, shape, style, z2: accused ? 1 : 0 };
    if (!accused || !named) return bar;
    // Lanes may be thinner than the height of their names.
    const y = (low + high) / 2 + (lane - (of - 1) / 2) * Math.max(each, lineHeight);
    const beside = { x: left + shape.width + 4, y, verticalAlign: "middle" as const };
    const label = { ...text, ...beside, text: `line ${place.line}`, fill: "var(--bad)" };
    return { type: "group", children: [bar, { type: "text", style: label }] };
  };
}

const roleWords: Readonly<Record<CountPlace["role"], string>> = {
  admitted: "admitted",
  refused: "refused",
  status: "status",
  other: "not counted",
};

function placesTable({ answers, lines, fromMs, violation }: Accused): Html {
  const columns: Column<CountPlace>[] = [
    {
      title: "Trace line",
      name: true,
      cell: ({ line }) => (lines.has(line) ? `${line}, accused` : String(line)),
    },
    { title: "Answer", cell: ({ role }) => roleWords[role] },
    { title: "Sent", number: true, cell: ({ sent }) => duration(sent - fromMs) },
    { title: "Received", number: true, cell: ({ received }) => duration(received - fromMs) },
    { title: "Count before", number: true, cell: ({ from }) => count(from) },
    { title: "Count after", number: true, cell: ({ to }) => count(to) },
  ];
  const caption = `The places of ${ownerWords(violation)}, from ${instant(fromMs)}`;
  return foldedTable(columns, answers, { caption });
}
