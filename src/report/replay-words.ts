// A replay's results, in sentences.

import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { capitalized, count, counted } from "../rules/words.ts";
import { share } from "./format.ts";
import type { ResultTone } from "./parts.ts";
import type { ReplayView } from "./replay-view.ts";
import { missedWords } from "./source.ts";

/** Returns the log's name: its first file, and the number of others. */
export function replayName({ log: { files } }: ReplayView): string {
  const [first = "a log"] = files.map(shortName);
  return files.length < 2 ? first : `${first} and ${count(files.length - 1)} more`;
}

/** Returns the outcome. Refusals alone are no failure: an expectation must have been missed. */
export function replayOutcome({ totals, recorded, expectations }: ReplayView): ResultTone {
  if (expectations.length > 0) return expectations.every(({ held }) => held) ? "good" : "bad";
  return totals.calls > 0 && totals.refused === 0 && recorded?.seemsFiltered !== true ? "good" : "none";
}

/** Says which expectations did not hold, or that all did; nothing if there were none. */
export function expectedWords({ expectations }: ReplayView): string {
  const missed = expectations.filter(({ held }) => !held);
  if (expectations.length === 0) return "";
  if (missed.length === 0)
    return `As expected: ${expectations.map(({ figure, bound }) => `${figure} ${bound}`).join(", ")}.`;
  return `Missed: ${missed.map(missedWords).join("; ")}.`;
}

/** Returns the answer in a sentence. */
export function replayAnswer({ totals }: ReplayView): string {
  const { calls, refused } = totals;
  if (calls === 0) return "The log has no call that a quota counts";
  if (refused === 0) return `None of ${counted(calls, "call")} would have been refused`;
  return `${count(refused)} of ${counted(calls, "call")} (${share(refused / calls)}) would have been refused`;
}

/** Says that the log seems to lack refused rows, so that nobody takes its refusals for all of them. */
export function filteredWords({ recorded, headroom }: ReplayView): string {
  if (recorded?.seemsFiltered !== true) return "";
  const [fullest] = headroom.toSorted((a, b) => b.windowsFull - a.windowsFull);
  if (fullest === undefined) return "";
  const full = `${counted(fullest.windowsFull, "window is", "windows are")} filled to the limit (${fullest.name})`;
  return `Refused rows seem to be left out of this log: ${full}, and no row is a refusal. What follows is a lower bound, unless callers stop at the limit by themselves.`;
}

/** Says which windows would have refused, and whom. */
export function hitWords({ totals, hits, under }: ReplayView): string {
  const { refused, users, usersRefused, hopeless } = totals;
  if (refused === 0) return "";
  const words = hits
    .filter(([amount]) => amount > 0)
    .map(([amount, reason]) => `${amount === refused ? "all" : count(amount)} ${reason}`);
  const lost =
    hopeless === 0
      ? ""
      : ` ${counted(hopeless, "call")} cost more than a limit: waiting would have helped none of them.`;
  return `${capitalized(words.join(", "))}; ${count(usersRefused)} of ${counted(users, under === "rules" ? "user" : "caller")} would have been hit.${lost}`;
}

const limitsListed = 8;

/** Returns limits in words; owners may have very many of their own. */
function listed(words: readonly string[]): string {
  const more = words.length - limitsListed;
  const last = more > 0 ? [`${counted(more, "more limit")} of single owners`] : [];
  return [...words.slice(0, limitsListed), ...last].join(", ");
}

/**
 * Says which limits would have sufficed for the rows as they came: larger ones, or smaller ones if nobody was refused.
 * If the log's own refusals delayed some demand, it also says that these limits may not suffice for the demand.
 */
export function smallestWords({ totals, smallest, recorded, demand }: ReplayView): string {
  const lacking = smallest.filter((one) => one.smallest > one.limit);
  const room = totals.refused > 0 ? [] : smallest.filter((one) => one.smallest < one.limit);
  const told = lacking.length > 0 ? lacking : room;
  if (told.length === 0) return "";
  const words = listed(
    told.map((one) => `${count(one.smallest)} instead of ${count(one.limit)} ${one.words}`),
  );
  const putOff =
    recorded === null || recorded.refused === 0 || demand !== null
      ? ""
      : ` The demand may need more: the log has ${counted(recorded.refused, "refusal")}, and any call that was tried again came later than it was wanted.`;
  return `No row of this log, as it came, would have been refused with ${words}${lacking.length > 0 ? "" : ", either"}.${putOff}`;
}

/**
 * Says which limits the demand would have needed if each call had come when first wanted. They are intervals, since
 * nobody knows how soon callers would have gone on.
 */
export function demandWords({ demand, under }: ReplayView): string {
  if (demand === null) return "";
  const { wishes, retries, untold, untoldUsers, limits } = demand;
  if (retries + untold === 0)
    return "No refused call of the log seems to have come again: its rows are taken for the demand.";
  const words = limits
    .filter(({ limit, high }) => high > limit)
    .map(({ words, limit, low, high }) => {
      const needed = low === high ? count(low) : `${count(low)} to ${count(high)}`;
      return `${needed} instead of ${count(limit)} ${words}`;
    });
  const needs = words.length === 0 ? "fit into these limits" : `need ${listed(words)}`;
  const atLeast = untold === 0 ? "" : `${count(wishes)} to `;
  const put = `The log's own refusals ${retries === 0 ? "may have put" : "put"} calls off. Had each come when it was first wanted, the ${atLeast}${counted(wishes + untold, "call")} would ${needs}.`;
  const again =
    retries === 0
      ? ""
      : ` ${counted(retries, "refusal")} ${retries === 1 ? "counts as a try" : "count as tries"} of a call that came again.`;
  return `${put}${again}${untoldWords(untold, counted(untoldUsers, under === "rules" ? "user" : "caller"))}`;
}

const untoldWords = (untold: number, whose: string): string =>
  untold === 0
    ? ""
    : ` Nobody can tell whether ${counted(untold, "refusal")} of ${whose} came again: numbered attempts would tell it, times in milliseconds with durations may.`;

export function lookedAtWords({ log, totals, callers, under, apart }: ReplayView): string {
  const length =
    log.firstAt === null || log.lastAt === null ? "" : ` over ${duration(log.lastAt - log.firstAt)}`;
  const unread = log.unread === 0 ? "" : ` ${counted(log.unread, "row")} could not be read.`;
  const limits = under === "rules" ? "these rules" : "this policy";
  return `${counted(totals.calls, "call")} of ${callers}${length}, replayed under ${limits} as they came.${unread}${apart === "" ? "" : ` ${apart}`}`;
}

/** Compares the refusals of the log itself with the replay's. */
export function recordedWords({ recorded }: ReplayView): string {
  if (recorded === null) return "";
  const { refused, both, onlyInReplay, calls } = recorded;
  const known = `among the ${counted(calls, "call")} whose answer it knows`;
  const here =
    onlyInReplay === 0
      ? "No call that it admitted would have been refused."
      : `${counted(onlyInReplay, "call")} that it admitted would have been refused.`;
  if (refused === 0) return `The log itself has no refusal ${known}. ${here}`;
  return `The log itself has ${counted(refused, "refusal")} ${known}: ${alikeWords(refused, both)}. ${here}`;
}

function alikeWords(refused: number, both: number): string {
  if (both === refused)
    return refused === 1 ? "here, too, it would have been refused" : "all would have been refused here, too";
  if (both === 0) return "none would have been refused here";
  return `${count(both)} would have been refused here, too, ${count(refused - both)} would not`;
}
