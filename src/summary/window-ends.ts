// Which window an answer tells of. A reset of R seconds, seen in an answer to a call sent at s and received at
// e, puts the window's end in (s + R - 1 s, e + R] of the client's clock; readings whose spans overlap are of
// one window, and their intersection narrows its end. This is for figures and pictures; the judge has its own.
import { type Rules, type Scope, semanticsOf } from "../rules/rules.ts";

/** One window, by what is known of its end: it lies in `[earliestEnd, latestEnd]`, ms since the epoch. */
export interface WindowEnd {
  /** Its length; `null` where the rules are not known. */
  readonly windowMs: number | null;
  earliestEnd: number;
  latestEnd: number;
}

/** Lines of a trace may come this much out of order (FORMAT.md). */
export const disorderMs = 120_000;
/** Rounding that the rules do not tell of, and clocks that drift, part readings of one window by less. */
export const slackMs = 500;

/** Returns the ms from a reading's span's begin to `sent + reset`; it ends a second less this behind `received + reset`. */
export function spanBeforeMs(rules: Rules | null, scope: Scope): number {
  const rounding = rules === null ? "ceil" : semanticsOf(rules, scope).reset;
  return { ceil: 1000, floor: 0, round: 500 }[rounding];
}

/**
 * The window of one owner that a reading's span is of, narrowed by it; `undefined` where it is a new one.
 * @param windows of this owner and scope
 */
export function narrowed<W extends WindowEnd>(
  windows: readonly W[],
  earliest: number,
  latest: number,
): W | undefined {
  let best: W | undefined;
  let mostOverlap = -slackMs;
  for (let index = 0; index < windows.length; index++) {
    const window = windows[index] as W;
    const overlap = Math.min(latest, window.latestEnd) - Math.max(earliest, window.earliestEnd);
    if (overlap < mostOverlap) continue;
    mostOverlap = overlap;
    best = window;
  }
  if (best !== undefined && mostOverlap >= 0) {
    best.earliestEnd = Math.max(best.earliestEnd, earliest);
    best.latestEnd = Math.min(best.latestEnd, latest);
  }
  return best;
}

/** Takes out the first window, where no later line can tell of it. */
export function takeOver<W extends WindowEnd>(windows: W[], receivedMs: number): W | undefined {
  const first = windows[0];
  return first !== undefined && first.latestEnd < receivedMs - disorderMs ? windows.shift() : undefined;
}

/**
 * A window ends on a whole second under either anchor (SPEC.md §3), and under `epoch` on a multiple of its
 * length: where one of these lies in the span, it is taken; else the span's middle.
 */
export function endOf({ windowMs, earliestEnd, latestEnd }: WindowEnd): number {
  const multiple = (step: number): number => Math.floor(latestEnd / step) * step;
  if (windowMs !== null && multiple(windowMs) >= earliestEnd) return multiple(windowMs);
  const middle = Math.round((earliestEnd + latestEnd) / 2);
  const second = Math.round(middle / 1000) * 1000;
  return second >= earliestEnd && second <= latestEnd ? second : middle;
}

/** Tells whether an instant is that of a window's end, or less than a second later. */
export const isJustAfter = (endsAt: number, atMs: number): boolean => endsAt <= atMs && atMs < endsAt + 1000;

/** Tells whether one of an owner's windows ended at this instant, or less than a second before. */
export const endedJustBefore = (windows: readonly WindowEnd[], atMs: number): boolean =>
  windows.some((window) => isJustAfter(endOf(window), atMs));
