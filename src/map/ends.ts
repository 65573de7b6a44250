// Ends of windows, as answers show them in time → the lengths that windows may have, and how resets are rounded.
import type { AnswerReading } from "../wire/read-answer.ts";
import type { SeenAnswers } from "./seen.ts";

type Reset = NonNullable<AnswerReading["reset"]>;

/** A reset, and when and whom it was shown. */
export interface ShownEnd {
  readonly atMs: number;
  readonly caller: string;
  readonly reset: Reset;
}

/** Lengths in seconds that are likelier than their neighbours. */
const plainLengths = new Set([5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600]);
/** Of more lengths that are possible, none is settled. */
const possibleMost = 8;
/** Ends that lie further apart are those of two windows. */
const endsApartMs = 2_000;
/** So many ends of windows that open with their first call lie on one grid by chance alone. */
const gridLeast = 3;
/** Longest way of an answer, ms. */
export const wayMs = 200;
const clockMs = 1_000;

export const shownEnd = (seen: SeenAnswers | undefined, reset: Reset | null): ShownEnd[] =>
  seen?.atMs == null || reset === null || reset.means === "full"
    ? []
    : [{ atMs: seen.atMs, caller: seen.caller, reset }];

/** Lengths in whole seconds that spans to resets, and ends of windows, allow; none where nobody saw two windows. */
function possible(shown: readonly ShownEnd[]): number[] {
  const [first] = shown;
  if (first === undefined) return [];
  const { gridMs, afterMs } = first.reset;
  // An end lies within a step of the form that each of its answers leaves room for.
  const gaps = [...endsByCaller(shown).values()].flatMap((ends) =>
    ends.slice(1).map(({ least }, at) => {
      const before = ends[at] ?? { least: 0, most: 0 };
      return least - before.least + gridMs - (before.most - before.least);
    }),
  );
  if (gaps.length === 0) return [];
  const doubtMs = clockDoubt(shown);
  const longestMs = Math.max(...shown.map((each) => endOf(each) - each.atMs));
  // No wait is longer than its window by a step of its form, and no two windows of one caller overlap.
  const least = Math.floor((longestMs - doubtMs - gridMs) / 1000) + 1;
  const most = Math.floor((Math.min(...gaps) + doubtMs + wayMs + (afterMs === null ? gridMs : 0)) / 1000);
  return Array.from({ length: Math.max(0, Math.min(possibleMost, most - least + 1)) }, (_, at) => least + at);
}

/** Returns the length of windows in seconds that their ends settle; `null` where they leave several, or resets may not be rounded up. */
export function settledSeconds(shown: readonly ShownEnd[]): number | null {
  const [windowSeconds, ...others] = possible(shown);
  return windowSeconds === undefined || others.length > 0 || !isRoundedUp(shown) ? null : windowSeconds;
}

/** Tells whether spans are surely rounded up: half a second before a window's end, one was still above 0. */
export function isRoundedUp(shown: readonly ShownEnd[]): boolean {
  if (shown.some(({ reset }) => reset.afterMs === null || reset.gridMs < clockMs)) return true;
  if (shown.some(({ reset }) => reset.afterMs === 0)) return false;
  const sorted = shown.toSorted((one, other) => one.atMs - other.atMs);
  return sorted.some((last, at) => {
    const next = sorted.slice(at + 1).find(({ caller }) => caller === last.caller);
    if (next === undefined || endOf(next) - endOf(last) <= endsApartMs) return false;
    return next.atMs - last.atMs + wayMs <= clockMs / 2;
  });
}

/** Returns the likeliest length in seconds; `null` where several are as likely. */
export function likelySeconds(shown: readonly ShownEnd[]): number | null {
  const all = possible(shown);
  const plain = all.length === 1 ? all : all.filter((seconds) => plainLengths.has(seconds));
  return plain.length === 1 && all.length < possibleMost ? (plain[0] ?? null) : null;
}

/** `Date` tells whole seconds; where nothing else tells the time, it adds its own doubt. */
const clockDoubt = (shown: readonly ShownEnd[]): number =>
  shown.some(({ atMs }) => atMs % 1000 === 0) ? clockMs : 0;

const endOf = ({ atMs, reset }: ShownEnd): number => reset.atMs ?? atMs + (reset.afterMs ?? 0);

/** The anchor of windows by their ends; `null` where none is known, or several lie on a grid that is not Unix time's. */
export function anchorOf(endsMs: readonly number[], windowSeconds: number): "epoch" | "first-request" | null {
  const [first] = endsMs;
  if (first === undefined) return null;
  const lengthMs = windowSeconds * 1000;
  // A second beside the grid is rounding.
  const isOn = (fromMs: number): boolean =>
    endsMs.every((ms) => {
      const beyond = (((ms - fromMs) % lengthMs) + lengthMs) % lengthMs;
      return Math.min(beyond, lengthMs - beyond) <= 1_000;
    });
  if (isOn(0)) return "epoch";
  return endsMs.length >= gridLeast && isOn(first) ? null : "first-request";
}

interface ShownSpan {
  readonly least: number;
  readonly most: number;
}

/** Ends of windows that each caller was shown, in turn: the earliest and the latest that answers tell of each. */
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

/** Ends of windows, as the earliest answers tell them: resets are rounded, most of them up. */
export const windowEnds = (shown: readonly ShownEnd[]): number[] =>
  [...endsByCaller(shown).values()].flat().map(({ least }) => least);
