// The target's clocks against the prober's. A window's end is the one instant that both sides can
// name: the target says `reset_at`, the prober sees between which two calls the window changed.
import { type Scope, scopes } from "../rules/rules.ts";
import type { SeenCall } from "./seen.ts";
import { type FullSight, statusSights } from "./sight.ts";

/** The target's clock minus the prober's is in `[loMs, hiMs]`. */
export interface Offset {
  readonly loMs: number;
  readonly hiMs: number;
  /** By which it is known. */
  readonly calls: readonly SeenCall[];
}

/** One window's end, seen between two calls. */
export interface WindowEdge {
  readonly before: FullSight;
  readonly after: FullSight;
}

/** A window is watched closely enough where its end lies within this. */
const bracketMostMs = 1000;

/**
 * Ends of the organization's windows of a scope that two status calls stand closely around. An idle window under
 * `first-request` moves its `reset_at` too, by less than its length: that is no end.
 */
export function edges(calls: readonly SeenCall[], scope: Scope): WindowEdge[] {
  const sights = statusSights(calls, scope);
  const found: WindowEdge[] = [];
  let firstShownMs = 0;
  for (const [index, after] of sights.entries()) {
    const before = sights[index - 1];
    if (before === undefined || before.resetAtMs !== after.resetAtMs) {
      const isClose = before !== undefined && after.call.receivedMs - before.call.sentMs < bracketMostMs;
      // Shown for more than a second, or with something counted, it stood still.
      const stoodStill =
        before !== undefined && (before.current > 0 || before.call.sentMs - firstShownMs >= 1100);
      const movedMs = before === undefined ? 0 : after.resetAtMs - before.resetAtMs;
      if (before !== undefined && isClose && stoodStill && movedMs >= Math.max(1, before.reset) * 1000)
        found.push({ before, after });
      firstShownMs = after.call.receivedMs;
    }
  }
  return found;
}

/** Returns the offset by the ends of a scope's windows; `null` where none was seen, or they contradict each other. */
export function edgeOffset(calls: readonly SeenCall[], scope: Scope): Offset | null {
  // At `before` the window was not over, at `after` it was. The prober's readings are whole ms, rounded down.
  return intersection(
    edges(calls, scope).map(({ before, after }) => ({
      loMs: before.resetAtMs - after.call.receivedMs - 1,
      hiMs: before.resetAtMs - before.call.sentMs,
      calls: [before.call, after.call],
    })),
  );
}

/** Servers refresh their `Date` by a timer that may be late. */
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

/** All of them hold at once; `calls` are those that bound it most closely. */
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
  /** `edge` was seen on this scope's own windows; the other two are taken on trust. */
  readonly basis: "edge" | "other scope's edge" | "Date";
}

/** The best clock for a scope. */
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

/** Between which instants of the target's clock a call was decided. */
export function span(call: SeenCall, { loMs, hiMs }: Offset): readonly [fromMs: number, toMs: number] {
  return [call.sentMs + loMs, call.receivedMs + 1 + hiMs];
}
