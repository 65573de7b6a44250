// The openings of first-request windows (SPEC.md §3): a window opens at the whole second of its first counted call, not
// before. Only REST is judged: each call counts 1, so that a count of 1 is that of the first. A GraphQL query of no
// points opens a window and shows no count.
import { grainMs, type Span, type TraceTime } from "./clock.ts";
import type { Mark } from "./mark.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { Suspect } from "./suspects.ts";
import { longest, shortest, type Window } from "./window.ts";

const second = 1000;

/**
 * Accuses a first-request window that opened before its first counted call was sent.
 * @param before end of the window before it; `null` if there was none
 * @param idle answers that showed the window idle before
 */
export function accuseEarlyOpening(
  { name, terms, time, windowMs, startedBy, docket }: QuotaSetting,
  window: Window,
  before: Span | null,
  idle: readonly Mark[],
): void {
  if (windowMs === null || terms.anchor !== "first-request" || name.scope !== "rest") return;
  const first = window.opener;
  const opening = openingOf(window.end, windowMs);
  if (first === null || opening.from < startedBy) return;
  const early = openedBefore(first, window.end, windowMs, time);
  const isBefore = (mark: Mark): boolean => mark.least > 0 && time.before(mark.received, first.sent);
  if (early === 0 || window.views.some(isBefore)) return;
  const { suspects, status } = openingSuspects(opening, windowMs, before, idle, time);
  if (status === null) docket.clues.ruledOut.add("status-opens-window");
  if (!suspects.includes("windows-back-to-back")) docket.clues.ruledOut.add("windows-back-to-back");
  docket.accuse({
    law: "reset-agrees",
    breach: "opened early",
    suspects: suspects.length === 0 ? ["windows-back-to-back", "status-opens-window"] : suspects,
    ...name.told,
    window: null,
    lines: [...new Set([...(status === null ? [] : [status.line]), first.line, window.toMark.line])].sort(
      (a, b) => a - b,
    ),
    explanation:
      `line ${first.line} was the first call of its window, count ${first.count}, and was told reset ${first.reset}: by line ` +
      `${window.toMark.line} a window of ${windowMs / 1000} s opened at least ${Math.floor(early)} ms before that call was sent`,
  });
}

/** Returns the span of a window's opening, by its end. */
const openingOf = ({ from, to }: Span, lengthMs: number): Span => ({
  from: from - longest(lengthMs),
  to: to - shortest(lengthMs),
});

/** Returns the time, ms, by which a window surely opened before its first call was sent; 0 if it need not have. */
function openedBefore(first: Mark, end: Span, lengthMs: number, time: TraceTime): number {
  const earliest = first.sent - time.slackMs - grainMs - second;
  const opened = openingOf(end, lengthMs).to;
  return opened < earliest ? first.sent - opened : 0;
}

/**
 * Names what may have opened a window before its first call: a status call within its first second, or the end of the
 * previous window, as on a grid.
 * @param idle answers that showed the window idle before
 */
function openingSuspects(
  opening: Span,
  lengthMs: number,
  before: Span | null,
  idle: readonly Mark[],
  time: TraceTime,
): { readonly suspects: readonly Suspect[]; readonly status: Mark | null } {
  const status = idle.find((mark) => {
    const read = time.within(mark.sent, mark.received);
    return mark.role === "status" && read.from <= opening.to + second && read.to >= opening.from;
  });
  const isNext = before !== null && followsOn(opening, lengthMs, before);
  return {
    suspects: [
      ...(status === undefined ? [] : (["status-opens-window"] as const)),
      ...(isNext ? (["windows-back-to-back"] as const) : []),
    ],
    status: status ?? null,
  };
}

/** Tells whether an opening lies a whole number of windows after an end. */
function followsOn(opening: Span, lengthMs: number, end: Span): boolean {
  const turns = Math.max(0, Math.round((opening.from - end.from) / lengthMs));
  return (
    opening.to >= end.from + shortest(turns * lengthMs) && opening.from <= end.to + longest(turns * lengthMs)
  );
}
