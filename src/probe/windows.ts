// The shape of the windows: the rounding of `reset`, their anchor, their lengths. All functions of the calls are pure.

import type { Scope, Semantics } from "../rules/rules.ts";
import { switchValues } from "../rules/switches.ts";
import { counted } from "../rules/words.ts";
import { callAt, timeOf } from "./finding.ts";
import { edges, span, type WindowClock } from "./offsets.ts";
import { type SeenCall, whole } from "./seen.ts";
import { type FullSight, headerSights, statusSights, type WindowReadingSight } from "./sight.ts";

type Rounding = Semantics["reset"];
type Anchor = Semantics["anchor"];

/** A conclusion and the calls that led to it. */
export interface Conclusion<T> {
  readonly value: T;
  readonly isSure: boolean;
  readonly why: string;
  readonly calls: readonly SeenCall[];
}

/**
 * Finds the one rounding that explains every reading of the scope: `reset = f((reset_at - now)/1 s)` for some instant of
 * the call. `null` if several do, or none, since the clock is not the windows' own.
 */
export function roundingOf(
  calls: readonly SeenCall[],
  scope: Scope,
  clock: WindowClock | null,
): Conclusion<Rounding> | null {
  if (clock === null) return null;
  const fitting = (sights: readonly FullSight[]): Rounding[] =>
    switchValues.reset.filter((rounding) =>
      sights.every((sight) => fits(sight, sight.resetAtMs, rounding, clock)),
    );
  const sights = statusSights(calls, scope);
  const [value, ...others] = fitting(sights);
  if (value === undefined || others.length > 0) return null;
  const choices = (sight: FullSight): number => fitting([sight]).length;
  const [telling] = sights.toSorted((one, other) => choices(one) - choices(other)) as [FullSight];
  const { call, reset, resetAtMs } = telling;
  return {
    value,
    isSure: clock.basis === "edge",
    why: `${callAt(call)} showed reset ${reset} of a window until ${timeOf(resetAtMs)} by the target's clock, known by ${clock.basis} within ${Math.ceil(clock.hiMs - clock.loMs)} ms`,
    calls: [call, ...clock.calls],
  };
}

/** Tells whether a reading's `reset` is the rounded time to an end, at some instant of its call. */
function fits(
  { call, reset }: Pick<FullSight, "call" | "reset">,
  endMs: number,
  rounding: Rounding,
  clock: WindowClock,
): boolean {
  const [fromMs, toMs] = span(call, clock);
  const [least, most] = [Math[rounding]((endMs - toMs) / 1000), Math[rounding]((endMs - fromMs) / 1000)];
  return least <= reset && reset <= most;
}

/**
 * Finds the windows' anchor by idle windows. `first-request` shows a window that would open now, which moves with the
 * clock; `epoch` shows one that stands still.
 * @param windowSeconds length of the organization's window, if known
 * @param untouched calls before the first that might have been charged to this scope
 */
export function anchorOf(
  calls: readonly SeenCall[],
  untouched: readonly SeenCall[],
  scope: Scope,
  windowSeconds: number | null,
): Conclusion<Anchor> | null {
  const byUser = anchorByUser(headerSights(untouched, scope, "user"));
  // Windows of one second are the same under both anchors.
  if (windowSeconds === 1) return byUser;
  const sights = statusSights(calls, scope);
  const moves = movesOf(sights);
  const [move] = moves;
  if (move !== undefined) {
    const [before, after] = move;
    const why = `with nothing counted reset_at moved by ${(after.resetAtMs - before.resetAtMs) / 1000} s while reset showed ${before.reset}, ${counted(moves.length, "time")} in all: an idle window moves with the clock`;
    return { value: "first-request", isSure: moves.length > 1, why, calls: [before.call, after.call] };
  }
  const still = stillIdle(statusSights(untouched, scope));
  if (still !== null && isAligned(sights, windowSeconds)) {
    const [from, to] = still;
    const seconds = (to.call.sentMs - from.call.receivedMs) / 1000;
    const why = `with nothing counted reset_at stood still for ${seconds.toFixed(1)} s`;
    return { value: "epoch", isSure: true, why, calls: [from.call, to.call] };
  }
  return byUser ?? anchorByAlignment(sights, windowSeconds);
}

/** Returns pairs of readings between which `reset_at` moved by less than the time left: no window ended. */
function movesOf(sights: readonly FullSight[]): (readonly [FullSight, FullSight])[] {
  return sights.flatMap((after, index) => {
    const before = sights[index - 1];
    if (before === undefined || before.current > 0) return [];
    const movedMs = after.resetAtMs - before.resetAtMs;
    return movedMs > 0 && movedMs < before.reset * 1000 ? [[before, after] as const] : [];
  });
}

/** Returns idle readings over a second apart with one `reset_at`, which `first-request` would move each second. */
function stillIdle(sights: readonly FullSight[]): readonly [FullSight, FullSight] | null {
  for (const from of sights) {
    if (from.current > 0) continue;
    const to = sights.findLast(
      ({ call, current, resetAtMs }) =>
        current === 0 && resetAtMs === from.resetAtMs && call.sentMs - from.call.receivedMs > 1010,
    );
    if (to !== undefined) return [from, to];
  }
  return null;
}

const isAligned = (sights: readonly FullSight[], windowSeconds: number | null): boolean =>
  windowSeconds === null || sights.every(({ resetAtMs }) => resetAtMs % (windowSeconds * 1000) === 0);

/** Finds the anchor by the user's window, which may be idle even if others keep the organization's open. */
function anchorByUser(sights: readonly WindowReadingSight[]): Conclusion<Anchor> | null {
  const idle = sights.filter(({ limit, remaining }) => limit !== null && remaining === limit);
  const [first] = idle;
  const last = idle.at(-1);
  if (first?.reset == null || last?.reset == null) return null;
  const elapsedMs = last.call.sentMs - first.call.receivedMs;
  if (idle.length < sights.length || elapsedMs < 2200 || first.reset < 8) return null;
  const fell = first.reset - last.reset;
  const calls = [first.call, last.call];
  const shown = `with nothing of the user's counted its reset went from ${first.reset} to ${last.reset} in ${(elapsedMs / 1000).toFixed(1)} s`;
  if (fell >= 2) return { value: "epoch", isSure: false, why: shown, calls };
  return Math.abs(fell) <= 1 ? { value: "first-request", isSure: false, why: shown, calls } : null;
}

/** Least window length, seconds, that alignment can judge: shorter windows lie on the grid by chance too often. */
const alignmentLeastSeconds = 20;

function anchorByAlignment(
  sights: readonly FullSight[],
  windowSeconds: number | null,
): Conclusion<Anchor> | null {
  const last = sights.at(-1);
  if (last === undefined || windowSeconds === null) return null;
  const off = sights.find(({ resetAtMs }) => resetAtMs % (windowSeconds * 1000) !== 0);
  if (off !== undefined)
    return {
      value: "first-request",
      isSure: true,
      why: `a window ends at ${new Date(off.resetAtMs).toISOString().slice(11, 19)}, off the grid of ${windowSeconds} s`,
      calls: [off.call],
    };
  if (windowSeconds < alignmentLeastSeconds) return null;
  return {
    value: "epoch",
    isSure: false,
    why: `every end lies on the grid of ${windowSeconds} s; nothing was ever idle`,
    calls: [last.call],
  };
}

/** Returns the length of the organization's window, in seconds. */
export function organizationWindow(
  calls: readonly SeenCall[],
  scope: Scope,
  anchor: Anchor | null,
  clock: WindowClock | null,
): Conclusion<number> | null {
  const lengths = edges(calls, scope).flatMap(({ before, after }) => {
    const lengthMs = after.resetAtMs - before.resetAtMs;
    // The window after next could look the same only if half of its length had passed.
    const isNext = after.call.receivedMs - before.call.sentMs < lengthMs / 2 || lengthMs === 1000;
    return isNext ? [{ seconds: lengthMs / 1000, before, after }] : [];
  });
  const [edge] = lengths;
  if (edge !== undefined) {
    if (lengths.some(({ seconds }) => seconds !== edge.seconds)) return null;
    const shown = ({ call, current, reset, resetAtMs }: FullSight): string =>
      `${callAt(call)} showed current ${current}, reset ${reset}, reset_at ${isoTime(resetAtMs)}`;
    const why = `${shown(edge.before)}; ${shown(edge.after)}`;
    return { value: edge.seconds, isSure: true, why, calls: [edge.before.call, edge.after.call] };
  }
  if (anchor !== "first-request" || clock === null) return null;
  const idle = movesOf(statusSights(calls, scope)).map(([sight]) => sight);
  return agreed(
    idle.flatMap((sight) => {
      const opened = wholeSecond(span(sight.call, clock));
      return opened === null ? [] : [{ value: sight.resetAtMs / 1000 - opened, call: sight.call }];
    }),
    (call, value) =>
      `${callAt(call)} showed an idle window's reset_at ${value} s after the second it was read, by ${clock.basis}`,
  );
}

/** Returns the length of the user's window, in seconds. Its headers show no `reset_at`, so `reset` must tell it. */
export function userWindow(
  calls: readonly SeenCall[],
  scope: Scope,
  anchor: Anchor | null,
  rounding: Rounding | null,
  clock: WindowClock | null,
): Conclusion<number> | null {
  if (anchor === null || rounding === null || clock === null) return null;
  const ends = headerSights(calls, scope, "user").flatMap((sight) => {
    const end = endOf(sight, rounding, clock);
    return end === null ? [] : [{ sight, end, when: span(sight.call, clock) }];
  });
  if (anchor === "first-request")
    return agreed(
      ends.flatMap(({ sight, end, when }) => {
        const isIdle = sight.remaining !== null && sight.remaining === sight.limit;
        const opened = isIdle && !mayBeOpen(calls, sight) ? wholeSecond(when) : null;
        return opened === null ? [] : [{ value: end - opened, call: sight.call }];
      }),
      (call, value) =>
        `${userShown(call)}, with nothing counted: a window that would open then is ${value} s long`,
    );
  return agreed(
    ends.flatMap(({ sight, end, when: [, toMs] }, index) => {
      const before = ends[index - 1];
      if (before === undefined || before.end >= end) return [];
      const length = end - before.end;
      // A window seen before half of it was over is the next one, and not the one after.
      return toMs / 1000 < before.end + length / 2 || length === 1
        ? [{ value: length, call: sight.call }]
        : [];
    }),
    (call, value) => `at call ${call.number} the user's window had ended and the next was ${value} s long`,
  );
}

/**
 * Tells whether an own query may have opened the window of a reading, although the window counts nothing: held points
 * are given back, and a query of nobody's data costs none.
 */
function mayBeOpen(calls: readonly SeenCall[], { call, reset }: WindowReadingSight): boolean {
  if (call.scope === "rest") return false;
  const queries = calls.filter(({ points, number }) => (points ?? 0) > 0 && number <= call.number);
  const last = queries.at(-1);
  const longest = Math.max(
    reset ?? 0,
    ...queries.map(({ headers }) => whole(headers.userReset) ?? Number.POSITIVE_INFINITY),
  );
  return last !== undefined && call.sentMs < last.receivedMs + (longest + 1) * 1000;
}

/** Returns the whole second of the target's clock at which a window ends; `null` if several fit. */
function endOf({ call, reset }: WindowReadingSight, rounding: Rounding, clock: WindowClock): number | null {
  if (reset === null) return null;
  const [fromMs, toMs] = span(call, clock);
  let found: number | null = null;
  for (let end = Math.floor(fromMs / 1000) + reset - 1; end <= toMs / 1000 + reset + 2; end++) {
    if (!fits({ call, reset }, end * 1000, rounding, clock)) continue;
    if (found !== null) return null;
    found = end;
  }
  return found;
}

function wholeSecond([fromMs, toMs]: readonly [number, number]): number | null {
  const second = Math.floor(fromMs / 1000);
  return second === Math.floor(toMs / 1000) ? second : null;
}

function agreed(
  readings: readonly { readonly value: number; readonly call: SeenCall }[],
  why: (call: SeenCall, value: number) => string,
): Conclusion<number> | null {
  const [first] = readings;
  if (first === undefined || first.value < 1 || readings.some(({ value }) => value !== first.value))
    return null;
  const { value, call } = first;
  return { value, isSure: false, why: why(call, value), calls: [call] };
}

const userShown = (call: SeenCall): string =>
  `${callAt(call)} showed the user's remaining ${call.headers.userRemaining}, reset ${call.headers.userReset}`;
const isoTime = (ms: number): string => new Date(ms).toISOString().slice(11, 19);
