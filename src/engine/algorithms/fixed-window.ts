// A fixed window over a record of the table (POLICY.md §3): at most `limit` from its opening to its end.
import { calendarWindow } from "../../policy/calendar.ts";
import type { FixedWindow } from "../../policy/policy.ts";
import { COUNT, type CountTable, DOUBLES, ENDS_AT, NOT_OPEN, type Profile, SEEN } from "../count-table.ts";

/** The ends of windows, as a decision asks for them. */
export interface Grid {
  /** True if a window opens with its first charge. */
  readonly isFirst: boolean;
  /** The end of the window that is open at an instant, or would open then. */
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

export const windowProfile = ({ limit, windowSeconds }: FixedWindow): Profile => ({
  limit,
  first: windowSeconds * 1000,
  second: 0,
});

/** Moves the clock to `nowMs`, never back, and rolls a window that is over. */
export function advanceWindow(table: CountTable, row: number, grid: Grid, nowMs: number): void {
  const { doubles } = table;
  const at = row * DOUBLES;
  const seen = doubles[at + SEEN] as number;
  const now = nowMs > seen ? nowMs : seen;
  doubles[at + SEEN] = now;
  if (now >= (doubles[at + ENDS_AT] as number)) roll(table, row, grid, now);
}

function roll(table: CountTable, row: number, grid: Grid, now: number): void {
  const at = row * DOUBLES;
  table.doubles[at + COUNT] = 0;
  table.doubles[at + ENDS_AT] = grid.isFirst ? NOT_OPEN : grid.endsAt(now, table.profile(row).first);
}

/** Written as a difference: the sum could pass what a double counts exactly. */
export const windowRoom = (table: CountTable, row: number): number =>
  table.profile(row).limit - (table.doubles[row * DOUBLES + COUNT] as number);

/** Adds to a window, and opens one where none is open. Counts end at 2^53 - 1. */
export function chargeWindow(table: CountTable, row: number, grid: Grid, cost: number): void {
  const { doubles } = table;
  const at = row * DOUBLES;
  if (doubles[at + ENDS_AT] === NOT_OPEN)
    doubles[at + ENDS_AT] = grid.endsAt(doubles[at + SEEN] as number, table.profile(row).first);
  doubles[at + COUNT] = Math.min((doubles[at + COUNT] as number) + cost, Number.MAX_SAFE_INTEGER);
}

/** An idle window reads as one that would open now. */
export function readWindow(
  table: CountTable,
  row: number,
  grid: Grid,
  now: number,
  out: { used: number; resetAtMs: number },
): void {
  const at = row * DOUBLES;
  const endsAt = table.doubles[at + ENDS_AT] as number;
  const isOver = now >= endsAt;
  out.used = isOver ? 0 : (table.doubles[at + COUNT] as number);
  out.resetAtMs = isOver ? grid.endsAt(now, table.profile(row).first) : endsAt;
}
