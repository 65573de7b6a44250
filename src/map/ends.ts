// Ends of windows, as answers show them over time → the possible lengths of windows, and the rounding of resets.

import { leastOf, mostOf } from "../rules/extremes.ts";
import type { AnswerReading } from "../wire/read-answer.ts";
import type { SeenAnswers } from "./seen.ts";

type Reset = NonNullable<AnswerReading["reset"]>;

/** A reset, with the time and the caller that it was shown to. */
export interface ShownEnd {
  readonly atMs: number;
  readonly caller: string;
  readonly reset: Reset;
}

/** Lengths in seconds that are likelier than their neighbours. */
const plainLengths = new Set([5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600]);
/** Number of possible lengths at which none is settled. */
const possibleMost = 8;
/** Least distance between the ends of two windows, ms. */
const endsApartMs = 2_000;
/** Number of ends on one grid that is not mere chance, for windows that open with their first call. */
const gridLeast = 3;
/** Longest time that an answer is on its way, ms. */
export const wayMs = 200;
const clockMs = 1_000;

export const shownEnd = (seen: SeenAnswers | undefined, reset: Reset | null): ShownEnd[] =>
  seen?.atMs == null || reset === null || reset.means === "full"
    ? []
    : [{ atMs: seen.atMs, caller: seen.caller, reset }];

/** Returns the longest wait for a reset, ms; 0 if none was shown. */
export const longestWaitMs = (shown: readonly ShownEnd[]): number =>
  mostOf(
    shown.map((each) => endOf(each) - each.atMs),
    0,
  );

/** Returns the greatest length in whole seconds that ends of windows allow; infinite if no caller saw two windows. */
export function mostSeconds(shown: readonly ShownEnd[]): number {
  const [first] = shown;
  if (first === undefined) return Number.POSITIVE_INFINITY;
  const { gridMs, afterMs } = first.reset;
  // An end lies within a step of its form, in the part that all of its answers allow.
  const gaps = [...endsByCaller(shown).values()].flatMap((ends) =>
    ends.slice(1).map(({ least }, at) => {
      const before = ends[at] ?? { least: 0, most: 0 };
      return least - before.least + gridMs - (before.most - before.least);
    }),
  );
  // A caller's windows do not overlap.
  return Math.floor((leastOf(gaps) + clockDoubt(shown) + wayMs + (afterMs === null ? gridMs : 0)) / 1000);
}

/** Returns the lengths in whole seconds that resets and ends allow; none if no caller saw two windows. */
function possible(shown: readonly ShownEnd[]): number[] {
  const most = mostSeconds(shown);
  if (most === Number.POSITIVE_INFINITY) return [];
  const gridMs = shown[0]?.reset.gridMs ?? 0;
  // No wait exceeds its window by more than a step of its form.
  const least = Math.floor((longestWaitMs(shown) - clockDoubt(shown) - gridMs) / 1000) + 1;
  return Array.from({ length: Math.min(possibleMost, most - least + 1) }, (_, at) => least + at);
}

/** Returns the length that windows' ends settle, seconds; `null` for several, or if resets may not be rounded up. */
export function settledSeconds(shown: readonly ShownEnd[]): number | null {
  const [windowSeconds, ...others] = possible(shown);
  return windowSeconds === undefined || others.length > 0 || !isRoundedUp(shown) ? null : windowSeconds;
}

/** Tells whether spans are surely rounded up: half a second before a window's end, one was still above 0. */
export function isRoundedUp(shown: readonly ShownEnd[]): boolean {
  if (shown.some(({ reset }) => reset.afterMs === null || reset.gridMs < clockMs)) return true;
  if (shown.some(({ reset }) => reset.afterMs === 0)) return false;
  const latest = new Map<string, ShownEnd>();
  return shown
    .toSorted((one, other) => one.atMs - other.atMs)
    .some((next) => {
      const last = latest.get(next.caller);
      latest.set(next.caller, next);
      if (last === undefined || endOf(next) - endOf(last) <= endsApartMs) return false;
      return next.atMs - last.atMs + wayMs <= clockMs / 2;
    });
}

/** Returns the likeliest length, seconds; `null` if several are equally likely. */
export function likelySeconds(shown: readonly ShownEnd[]): number | null {
  const all = possible(shown);
  const plain = all.length === 1 ? all : all.filter((seconds) => plainLengths.has(seconds));
  return plain.length === 1 && all.length < possibleMost ? (plain[0] ?? null) : null;
}

/** Returns the doubt of the answers' times, ms. `Date` alone tells whole seconds, and so adds its own doubt. */
const clockDoubt = (shown: readonly ShownEnd[]): number =>
  shown.some(({ atMs }) => atMs % 1000 === 0) ? clockMs : 0;

const endOf = ({ atMs, reset }: ShownEnd): number => reset.atMs ?? atMs + (reset.afterMs as number);

/** Returns how far an instant lies from the nearest one that is a number of windows from another, ms. */
function besideMs(ms: number, fromMs: number, windowSeconds: number): number {
  const lengthMs = windowSeconds * 1000;
  const beyond = (((ms - fromMs) % lengthMs) + lengthMs) % lengthMs;
  return Math.min(beyond, lengthMs - beyond);
}

/** Tells whether ends of windows lie exactly on the grid of Unix time. */
export const areOnGrid = (endsMs: readonly number[], windowSeconds: number): boolean =>
  endsMs.every((ms) => besideMs(ms, 0, windowSeconds) === 0);

/**
 * Returns the anchor of windows by their ends. `null` if unknown: a single end that lies a second or less beside the
 * grid of Unix time may do so by chance, and several ends may lie on another grid.
 */
export function anchorOf(endsMs: readonly number[], windowSeconds: number): "epoch" | "first-request" | null {
  const [first] = endsMs;
  if (first === undefined) return null;
  // A second beside the grid is rounding.
  const isOn = (fromMs: number): boolean =>
    endsMs.every((ms) => besideMs(ms, fromMs, windowSeconds) <= clockMs);
  if (isOn(0)) return endsMs.length > 1 || areOnGrid(endsMs, windowSeconds) ? "epoch" : null;
  return endsMs.length >= gridLeast && isOn(first) ? null : "first-request";
}

interface ShownSpan {
  readonly least: number;
  readonly most: number;
}

/** Returns the ends of windows that each caller was shown, in turn: the earliest and the latest that answers tell. */
function endsByCaller(shown: readonly ShownEnd[]): Map<string, ShownSpan[]> {
  const all = new Map<string, ShownSpan[]>();
  for (const each of shown.toSorted((one, other) => one.atMs - other.atMs)) {
    const end = endOf(each);
    const ends = all.get(each.caller) ?? [];
    const last = ends.at(-1);
    if (last !== undefined && end - last.least <= endsApartMs)
      ends[ends.length - 1] = { least: Math.min(end, last.least), most: Math.max(end, last.most) };
    else ends.push({ least: end, most: end });
    all.set(each.caller, ends);
  }
  return all;
}

/** Returns the ends of windows by the earliest answers: resets are rounded, most of them up. */
export const windowEnds = (shown: readonly ShownEnd[]): number[] =>
  [...endsByCaller(shown).values()].flat().map(({ least }) => least);
