// Words of a replay on the terminal: who would have been refused, when and how often; how much room there was; which
// limits would have refused nothing; what waiting would have changed.

import { policyMeaning } from "../plan/policies.ts";
import { figureText, instant, share } from "../report/format.ts";
import { leftOutWords, reactionWords, retriesWords } from "../report/replay-reaction-section.ts";
import { refusedIn } from "../report/replay-slots.ts";
import { type AnyReplay, type ReplayView, replayView, type SlotView } from "../report/replay-view.ts";
import {
  demandWords,
  filteredWords,
  hitWords,
  lookedAtWords,
  recordedWords,
  replayAnswer,
  replayName,
  smallestWords,
} from "../report/replay-words.ts";
import { figureOf } from "../report/source.ts";
import { sparkline } from "../report/sparkline.ts";
import { columns, displayWidth, padAfter } from "../rules/columns.ts";
import { duration } from "../rules/duration.ts";
import { count, counted } from "../rules/words.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

const sparkWidth = 60;
const usersShown = 10;

export function sayReplay(terminal: Terminal, replay: AnyReplay): void {
  const result = replayView(replay);
  const { totals } = result;
  const filtered = filteredWords(result);
  const color = totals.refused > 0 ? pc.red : pc.green;
  terminal.say(`${pc.bold(replayName(result))}: ${color(replayAnswer(result))}`);
  const lines = [
    filtered === "" ? "" : pc.yellow(filtered),
    lookedAtWords(result),
    rowsWords(result),
    ...result.log.notes.map((note) => pc.yellow(note)),
    hitWords(result),
    whenWords(result),
    ...sparkLines(result.slots, result.slotMs),
    ...headroomLines(result),
    smallestWords(result),
    demandWords(result),
    recordedWords(result),
    ...userLines(result),
    ...reactionLines(result),
    ...unreadLines(result),
    ...expectationLines(result),
    interruptedWords(result),
  ];
  for (const line of lines) if (line !== "") terminal.say(`  ${line}`);
}

/** Says how many rows there were of each kind, those of none included. */
function rowsWords({ log, rows }: ReplayView): string {
  const kinds = rows.map(([kind, amount]) => `${kind}: ${amount}`);
  return `Rows read: ${count(log.rows)} (${kinds.join("; ")}); not read: ${count(log.unread)}.`;
}

/** Returns the period of refusals, and its worst time. */
function whenWords({ slots, slotMs }: ReplayView): string {
  const refusing = slots.filter((slot) => refusedIn(slot) > 0);
  const [first] = refusing;
  if (first === undefined) return "";
  const last = refusing.at(-1) ?? first;
  const worst = refusing.reduce((most, slot) => (refusedIn(slot) > refusedIn(most) ? slot : most), first);
  const within = `within ${duration(slotMs)} from ${instant(worst.atMs)} on`;
  const span = `Between ${instant(first.atMs)} and ${instant(last.atMs + slotMs)}`;
  return `${span}; ${count(refusedIn(worst))} ${within}.`;
}

function sparkLines(slots: readonly SlotView[], slotMs: number): string[] {
  const [first] = slots;
  const most = Math.max(0, ...slots.map(refusedIn));
  if (first === undefined || most === 0) return [];
  const points = slots.map((slot) => [slot.atMs - first.atMs, refusedIn(slot)] as const);
  const spark = sparkline(points, slots.length * slotMs, most, sparkWidth);
  return [`${pc.cyan(spark)} refusals, at most ${count(most)} in ${duration(slotMs)}`];
}

function headroomLines({ headroom }: ReplayView): string[] {
  const names = headroom.map((one) => `${one.name}:`);
  const widest = Math.max(...names.map(displayWidth));
  return headroom.map(({ windows, windowsOver, useMax, useP99, useP50 }, place) => {
    const over = windowsOver === 0 ? "none too full" : pc.red(`${count(windowsOver)} too full`);
    const uses = `half use ${share(useP50)} of the limit, 99% ${share(useP99)}, the fullest ${share(useMax)}`;
    return `${padAfter(names[place] ?? "", widest)} ${counted(windows, "window")}; ${uses}, ${over}`;
  });
}

/** Returns the most refused users as a table; no lines if nobody was refused. */
function userLines({ users, totals, under }: ReplayView): string[] {
  const shown = users.filter(({ refused }) => refused > 0).slice(0, usersShown);
  if (shown.length === 0) return [];
  const who = under === "rules" ? "user" : "caller";
  const rows = [
    [who, "calls", "refused", "share", "first refused"],
    ...shown.map(({ short, calls, refused, firstRefusedAt }) => [
      short,
      count(calls),
      count(refused),
      share(refused / calls),
      firstRefusedAt === null ? "" : instant(firstRefusedAt),
    ]),
  ];
  const [head = "", ...body] = columns(rows, { right: [1, 2, 3] });
  const lines = [pc.dim(head), ...body];
  const more = totals.usersRefused - shown.length;
  return more > 0 ? [...lines, pc.dim(`and ${counted(more, `more ${who}`)}`)] : lines;
}

function reactionLines({ reaction, totals }: ReplayView): string[] {
  if (reaction === null) return [];
  const { onRefused, waitsOfRefused, retries, leftOut } = reaction;
  const { p50, p95, max } = waitsOfRefused;
  const waits =
    p50 === null || p95 === null || max === null
      ? ""
      : ` Those that were refused first waited: half ${duration(p50)}, 95% ${duration(p95)}, the longest ${duration(max)}.`;
  // If calls were merged or left out, the two numbers do not count the same calls.
  const before = retries + leftOut > 0 ? "" : ` (without, ${count(totals.refused)} would have been lost)`;
  return [
    `${pc.bold(`If callers react by ${policyMeaning(onRefused)}`)}${before}:`,
    `  ${reactionWords(reaction)}${waits}`,
    ...(retries === 0 ? [] : [`  ${retriesWords(reaction)}`]),
    ...(leftOut === 0 ? [] : [`  ${pc.yellow(leftOutWords(reaction))}`]),
    ...sparkLines(reaction.slots, reaction.slotMs).map((line) => `  ${line}`),
  ];
}

function unreadLines({ log }: ReplayView): string[] {
  const [first] = log.examples;
  if (log.unread === 0) return [];
  const example = first === undefined ? "" : `, the first ${first.file}:${first.line}: ${first.why}`;
  return [pc.yellow(`${counted(log.unread, "row")} could not be read${example}`)];
}

function expectationLines({ expectations }: ReplayView): string[] {
  return expectations.map(({ figure, bound, actual, held }) => {
    const was = figureText(figureOf(figure), actual);
    return held
      ? `${pc.green("held")} ${figure} ${bound}: ${was}`
      : `${pc.red("missed")} ${figure} ${bound}: ${was}`;
  });
}

function interruptedWords({ interrupted, log }: ReplayView): string {
  if (!interrupted) return "";
  const until = log.lastAt === null ? "" : ` All of this is about the rows until ${instant(log.lastAt)}.`;
  return `${pc.yellow("Interrupted")}: what was read is kept.${until}`;
}
