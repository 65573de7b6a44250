// The target's clocks compared with the prober's. A window's end is the one instant that both sides can name: the
// target says `reset_at`, and the prober sees between which two calls the window changed.
import { type Scope, scopes } from "../rules/rules.ts";
import type { SeenCall } from "./seen.ts";
import { type FullSight, statusSights } from "./sight.ts";

/** Bounds of the target's clock minus the prober's: it is in `[loMs, hiMs]`. */
export interface Offset {
  readonly loMs: number;
  readonly hiMs: number;
  /** Calls that bound it. */
  readonly calls: readonly SeenCall[];
}

/** A window's end, seen between two calls. */
export interface WindowEdge {
  readonly before: FullSight;
  readonly after: FullSight;
}

/** Longest time between the calls around a window's end that still bounds it closely enough. */
const bracketMostMs = 1000;

/**
 * Returns the ends of the organization's windows that two status calls closely surround. Under `first-request` an idle
 * window also moves its `reset_at`, but by less than its length: this is no end.
 */
export function edges(calls: readonly SeenCall[], scope: Scope): WindowEdge[] {
  const sights = statusSights(calls, scope);
  const found: WindowEdge[] = [];
  let firstShownMs = 0;
  for (const [index, after] of sights.entries()) {
    const before = sights[index - 1];
    if (before?.resetAtMs === after.resetAtMs) continue;
    if (before !== undefined) {
      const isClose = after.call.receivedMs - before.call.sentMs < bracketMostMs;
      // The window stood still if it was shown for over a second, or counted something.
      const stoodStill = before.current > 0 || before.call.sentMs - firstShownMs >= 1100;
      const movedMs = after.resetAtMs - before.resetAtMs;
      if (isClose && stoodStill && movedMs >= Math.max(1, before.reset) * 1000) found.push({ before, after });
    }
    firstShownMs = after.call.receivedMs;
  }
  return found;
}

/** Returns the offset by the ends of a scope's windows; `null` if none was seen, or they contradict each other. */
export function edgeOffset(calls: readonly SeenCall[], scope: Scope): Offset | null {
  // The window had not ended at `before`, but at `after`. The prober's readings are whole ms, rounded down.
  return intersection(
    edges(calls, scope).map(({ before, after }) => ({
      loMs: before.resetAtMs - after.call.receivedMs - 1,
      hiMs: before.resetAtMs - before.call.sentMs,
      calls: [before.call, after.call],
    })),
  );
}

/** Most by which a server's timer refreshes its `Date` late, ms. */
const dateLateMs = 100;

/** Returns the offset by the `Date` headers: whole seconds, rounded down. */
export function dateOffset(calls: readonly SeenCall[]): Offset | null {
  return intersection(
    calls.flatMap((call) =>
      call.dateMs === null
        ? []
        : [
            {
              loMs: call.dateMs - call.receivedMs - 1,
              hiMs: call.dateMs + 1000 + dateLateMs - call.sentMs,
              calls: [call],
            },
          ],
    ),
  );
}

/** Returns the intersection of all offsets; `calls` are those that bound it most closely. */
function intersection(offsets: readonly Offset[]): Offset | null {
  const [first, ...rest] = offsets;
  if (first === undefined) return null;
  let lowest = first;
  let highest = first;
  for (const offset of rest) {
    if (offset.loMs > lowest.loMs) lowest = offset;
    if (offset.hiMs < highest.hiMs) highest = offset;
  }
  if (lowest.loMs > highest.hiMs) return null;
  return { loMs: lowest.loMs, hiMs: highest.hiMs, calls: [...new Set([...lowest.calls, ...highest.calls])] };
}

/** The clock by which a scope's windows are read. */
export interface WindowClock extends Offset {
  /** Basis of the clock. `edge` was seen on this scope's own windows; the other two are trusted. */
  readonly basis: "edge" | "other scope's edge" | "Date";
}

/** Returns the best clock for a scope. */
export function windowClock(calls: readonly SeenCall[], scope: Scope): WindowClock | null {
  const own = edgeOffset(calls, scope);
  if (own !== null) return { ...own, basis: "edge" };
  for (const other of scopes) {
    const theirs = other === scope ? null : edgeOffset(calls, other);
    if (theirs !== null) return { ...theirs, basis: "other scope's edge" };
  }
  const date = dateOffset(calls);
  return date === null ? null : { ...date, basis: "Date" };
}

/** Returns the instants of the target's clock between which a call was decided. */
export function span(call: SeenCall, { loMs, hiMs }: Offset): readonly [fromMs: number, toMs: number] {
  return [call.sentMs + loMs, call.receivedMs + 1 + hiMs];
}
