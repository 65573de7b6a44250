// Where first-request windows open (SPEC.md §3): at the whole second of their first counted call, and not before. Judged
// of REST: each of its calls counts 1, so that a count of its own charge alone is that of the first. A query of no points
// opens a window, too, and shows nothing of it.
import type { Span, TraceTime } from "./clock.ts";
import type { Mark } from "./mark.ts";
import type { Suspect } from "./suspects.ts";
import { longest, shortest } from "./window.ts";

/** Both clocks count whole milliseconds. */
const grainMs = 2;
const second = 1000;

/** When a window opened, by its end. */
export const openingOf = ({ from, to }: Span, lengthMs: number): Span => ({
  from: from - longest(lengthMs),
  to: to - shortest(lengthMs),
});

/** Returns how long before its first call was sent a window surely opened, in ms; 0 where it need not have. */
export function openedBefore(first: Mark, end: Span, lengthMs: number, time: TraceTime): number {
  const earliest = first.sent - time.slackMs - grainMs - second;
  const opened = openingOf(end, lengthMs).to;
  return opened < earliest ? first.sent - opened : 0;
}

/**
 * Names what may have opened a window before its first call: a status call within its first second, or the end of the
 * window before it, as if there were a grid.
 * @param idle answers that showed the window idle before
 */
export function openingSuspects(
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

/** Whether an opening lies whole windows after an end. */
function followsOn(opening: Span, lengthMs: number, end: Span): boolean {
  const turns = Math.max(0, Math.round((opening.from - end.from) / lengthMs));
  return (
    opening.to >= end.from + shortest(turns * lengthMs) && opening.from <= end.to + longest(turns * lengthMs)
  );
}
