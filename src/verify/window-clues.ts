// Clues from a window whose counts are off: they tell which faults it may have.
import type { Owner } from "../rules/rules.ts";
import type { Hypothesis } from "./hypotheses.ts";
import type { Mark } from "./mark.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import { restartsOf } from "./suspects.ts";
import type { Window } from "./window.ts";
import { windowOf } from "./window-accusations.ts";
import type { CountsResult } from "./window-counts.ts";

/**
 * Notes which faults a window's breaches and refusals speak for and against.
 * @param lengthMs length of the window, or the longest reset that was shown
 */
export function noteClues(
  { name, time, docket }: QuotaSetting,
  window: Window,
  lengthMs: number,
  found: ReadonlyMap<Hypothesis, CountsResult>,
): void {
  const [result] = found.values();
  const breaches = new Set(result?.enforced.map(({ breach }) => breach));
  docket.clues.counts(name);
  if (breaches.size === 0) return;
  const { views: marks, end } = window;
  if (marks.some(isUnderCharged)) docket.clues.underCharged(name.scope);
  const moving = movesWithRefusals(marks, name.owner);
  if (moving === false) docket.clues.ruledOut.add("refused-counted");
  else if (moving) docket.clues.ruledIn.add("refused-counted");
  if (["overlap", "fall", "short"].some((breach) => breaches.has(breach)))
    docket.clues.restarts(name, windowOf(lengthMs, end).opensAt, restartsOf(marks, time));
}

/** Tells whether a call shows a count below its own charge. */
const isUnderCharged = ({ role, least, count, clamped }: Mark): boolean =>
  role === "admitted" && least > 1 && count < least && !clamped;

/**
 * Tells whether a window's own refusals all show different counts, as if each were charged, or mostly the same.
 * @returns `null` if neither
 */
function movesWithRefusals(marks: readonly Mark[], owner: Owner): boolean | null {
  const shown = marks.filter(({ refusedBy, clamped }) => refusedBy === owner && !clamped);
  const counts = new Set(shown.map(({ count }) => count)).size;
  if (shown.length >= 3 && counts === shown.length) return true;
  return shown.length >= 4 && counts <= shown.length / 2 ? false : null;
}
