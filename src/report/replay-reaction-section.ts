// The same log with callers that react to a refusal: their waits, and the callers that never got through.

import { duration } from "../rules/duration.ts";
import { count, counted } from "../rules/words.ts";
import type { AddedWaits } from "../summary/replay-result.ts";
import { callsOverTime } from "./call-bars.ts";
import { share } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery } from "./picture.ts";
import { callSlots } from "./replay-slots.ts";
import type { ReactionView, ReplayView } from "./replay-view.ts";
import { type Column, foldedTable, table } from "./table.ts";

const usersListed = 50;

export function reactionSection(
  { totals, under }: ReplayView,
  reaction: ReactionView,
  gallery: Gallery,
): Html {
  const { slots, slotMs, onRefused, retries, leftOut, independent } = reaction;
  const picture = callsOverTime({
    id: "reaction",
    title: `Calls over time, with ${onRefused}`,
    label: `Attempts over time when callers react by ${onRefused}. ${reactionWords(reaction)}`,
    slots: callSlots(slots),
    slotMs,
    lengthMs: Math.max(1, slots.length * slotMs),
  });
  const order = independent ? " Each call is sent when the log has it, whatever became of those before." : "";
  const put = retries === 0 ? "" : ` ${retriesWords(reaction)}`;
  const out = leftOut === 0 ? "" : ` ${leftOutWords(reaction)}`;
  return html`<section id="reaction">
<h2>With callers that react: <code>${onRefused}</code></h2>
<p>${reactionWords(reaction)} Without reacting, ${count(totals.refused)} would have been refused.${order}${put}${out}</p>
${
  slots.length === 0
    ? null
    : html`<figure><figcaption>Attempts in each ${duration(slotMs)}, first ones and repeated ones.</figcaption>
${gallery.draw(picture)}</figure>
`
}${table(waitColumns, waitRows(reaction), { caption: "From when a call was first due to when it was let through" })}${usersTable(reaction, under === "rules" ? "user" : "caller")}</section>
`;
}

/** Says that refused rows and their retries are one call each. */
export const retriesWords = ({ retries }: ReactionView): string =>
  `${counted(retries, "refusal")} of the log and what was tried again are one call each, wanted when it was first sent.`;

/** Says which refusals are left out, as they may be calls of their own. Other figures are then too low. */
export function leftOutWords({ leftOut, refusals }: ReactionView): string {
  const so = refusals === 0 ? "so that none is refused here says nothing" : "so refusals here are too few";
  return `${counted(leftOut, "refusal")} of the log cannot be told from calls that come anyway and are left out, ${so}; --keep-refused takes each for a call.`;
}

export function reactionWords(reaction: ReactionView): string {
  const { calls, admittedAtOnce, admittedLater, gaveUp, unfinished, attempts, endsLaterMs, independent } =
    reaction;
  const parts = [
    `${count(admittedAtOnce)} get through at the first try`,
    `${count(admittedLater)} after a refusal`,
    `${count(gaveUp)} are given up`,
    `${count(unfinished)} still wait at the end`,
  ];
  const why = independent ? "" : ": a call waits for its caller's earlier ones";
  const later =
    endsLaterMs > 0 ? ` The last one is answered ${duration(endsLaterMs)} later than in the log${why}.` : "";
  return `Of ${counted(calls, "call")}, sent ${counted(attempts, "time")} in all (${share(attempts === 0 ? 0 : reaction.refusals / attempts)} refused), ${parts.join(", ")}.${later}${delayWords(reaction)}${clockWords(reaction)}`;
}

/** Says how much later than in the log calls are let through; nothing if no call had to wait behind others. */
function delayWords({ delays, waits }: ReactionView): string {
  if (delays === null || delays.p95 === null || delays.max === null) return "";
  const isSame = delays.p95 === waits.p95 && delays.max === waits.max;
  return isSame
    ? ""
    : ` With waits behind the caller's earlier calls, 95% get through at most ${duration(delays.p95)} later than in the log, all at most ${duration(delays.max)}.`;
}

const clockWords = ({ byClock, refusals }: ReactionView): string =>
  byClock === 0 || refusals === 0
    ? ""
    : ` ${counted(byClock, "call begins", "calls begin")} by a clock, as cron's do, and ${byClock === 1 ? "waits" : "wait"} for no earlier one.`;

interface WaitRow {
  readonly name: string;
  readonly waits: AddedWaits;
}

const waitRows = ({ waits, waitsOfRefused, delays }: ReactionView): WaitRow[] => [
  { name: "all that were let through", waits },
  { name: "those refused first", waits: waitsOfRefused },
  ...(delays === null ? [] : [{ name: "all, from their time in the log", waits: delays }]),
];

/** Returns a wait; `–` if there was none. */
export const waitText = (ms: number | null): string => (ms === null ? "–" : duration(ms));

const waitColumns: readonly Column<WaitRow>[] = [
  { title: "Calls", name: true, cell: ({ name }) => name },
  { title: "Half within", number: true, cell: ({ waits }) => waitText(waits.p50) },
  { title: "95%", number: true, cell: ({ waits }) => waitText(waits.p95) },
  { title: "99%", number: true, cell: ({ waits }) => waitText(waits.p99) },
  { title: "All", number: true, cell: ({ waits }) => waitText(waits.max) },
];

function usersTable({ users }: ReactionView, who: string): Html | null {
  if (users.length === 0) return null;
  const columns: Column<ReactionView["users"][number]>[] = [
    { title: who === "user" ? "User" : "Caller", name: true, cell: ({ name }) => name },
    { title: "Calls", number: true, cell: ({ calls }) => count(calls) },
    { title: "Refusals", number: true, cell: ({ refusals }) => count(refusals) },
    { title: "Longest wait", number: true, cell: ({ waitMaxMs }) => duration(waitMaxMs) },
    { title: "Ends later by", number: true, cell: ({ endsLaterMs }) => duration(endsLaterMs) },
    { title: "Given up", number: true, cell: ({ gaveUp }) => count(gaveUp) },
  ];
  const listed = users.slice(0, usersListed);
  const more =
    listed.length < users.length ? `The first ${count(listed.length)}; replay.json has more.` : null;
  return foldedTable(columns, listed, {
    caption: `The ${who}s who would have waited longest`,
    opener: `The ${who}s who would have waited longest`,
    more,
  });
}
