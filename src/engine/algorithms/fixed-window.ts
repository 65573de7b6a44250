// A fixed window over a record of the table (POLICY.md §3): at most `limit` from its opening to its end. `at` is the
// record's place in the table's doubles, `lengthMs` the first number of its profile.
import { calendarWindow } from "../../policy/calendar.ts";
import type { FixedWindow } from "../../policy/policy.ts";
import { COUNT, type CountProfile, ENDS_AT, NOT_OPEN, SEEN } from "../count-table.ts";

/** Ends of windows, for decisions. */
export interface Grid {
  /** True if a window opens with its first charge. */
  readonly isFirst: boolean;
  /** Returns the end of the window that is open at an instant, or would open then. */
  endsAt(now: number, lengthMs: number): number;
}

export function gridOf({ anchor, opens }: FixedWindow): Grid {
  if (anchor === "first-request") {
    const grain = opens === "exact" ? 1 : 1000;
    return { isFirst: true, endsAt: (now, lengthMs) => now - (now % grain) + lengthMs };
  }
  if (typeof anchor === "object" && "calendar" in anchor)
    return { isFirst: false, endsAt: (now) => calendarWindow(anchor.calendar, anchor.zone, now).endsAt };
  if (anchor === "epoch")
    return { isFirst: false, endsAt: (now, lengthMs) => now - (now % lengthMs) + lengthMs };
  const { offsetMs } = anchor;
  return {
    isFirst: false,
    endsAt: (now, lengthMs) => now - ((now - offsetMs + lengthMs) % lengthMs) + lengthMs,
  };
}

export const windowProfile = ({ limit, windowSeconds }: FixedWindow): CountProfile => ({
  limit,
  first: windowSeconds * 1000,
  second: 0,
});

/** Moves the clock to `nowMs`, never back. @returns true if the window is over, so that it has to roll */
export function advanceWindow(doubles: Float64Array, at: number, nowMs: number): boolean {
  const now = Math.max(nowMs, doubles[at + SEEN] as number);
  doubles[at + SEEN] = now;
  return now >= (doubles[at + ENDS_AT] as number);
}

export function rollWindow(doubles: Float64Array, at: number, grid: Grid, lengthMs: number): void {
  doubles[at + COUNT] = 0;
  if (grid.isFirst) doubles[at + ENDS_AT] = NOT_OPEN;
  else openWindow(doubles, at, grid, lengthMs);
}

export function openWindow(doubles: Float64Array, at: number, grid: Grid, lengthMs: number): void {
  doubles[at + ENDS_AT] = grid.endsAt(doubles[at + SEEN] as number, lengthMs);
}

/** Adds a cost to an open window. Counts stop at 2^53 - 1. */
export function chargeWindow(doubles: Float64Array, at: number, cost: number): void {
  doubles[at + COUNT] = Math.min((doubles[at + COUNT] as number) + cost, Number.MAX_SAFE_INTEGER);
}

/** Gives points back to the window that was charged, if it is still open. */
export function giveBackWindow(doubles: Float64Array, at: number, cost: number, window: number): void {
  if (window === NOT_OPEN || doubles[at + ENDS_AT] !== window) return;
  doubles[at + COUNT] = (doubles[at + COUNT] as number) - cost;
}

/** Reads a window. An idle window reads as one that would open now. */
export function readWindow(
  doubles: Float64Array,
  at: number,
  grid: Grid,
  lengthMs: number,
  now: number,
  out: { used: number; resetAtMs: number },
): void {
  const endsAt = doubles[at + ENDS_AT] as number;
  const isOver = now >= endsAt;
  out.used = isOver ? 0 : (doubles[at + COUNT] as number);
  out.resetAtMs = isOver ? grid.endsAt(now, lengthMs) : endsAt;
}
