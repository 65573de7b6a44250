// Beginnings of callers, and whether more of them come together than chance explains.
import { exp } from "../../src/scenario/elementary.ts";
import type { Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { absenceOf, longAmong, sessionsOf } from "./sessions.ts";

/** A caller begins where it was silent for so long before. */
export const quietMs = 10_000;
/** Beginnings of this time around an event say how many there usually are, ... */
const aroundMs = 1_800_000;
/** ... but for those of this time next to it. */
const nextToMs = 60_000;
/** A caller who was refused this long ago begins when the window does. */
const refusedMs = 300_000;
/** A burst has so many calls within `quietMs`. */
const burstLeast = 3;
/** By chance one recording in so many shows an event that is none. */
export const rareCrowd = 1_000;

export interface Beginning {
  readonly atMs: number;
  readonly isLong: boolean;
  /** The caller was refused a little before: it is no sign of an event, and as usual as others. */
  readonly isAfterRefusal: boolean;
}

export function beginningsOf({ jobs, pausesMs }: Profile): Beginning[] {
  const awayMs = absenceOf(pausesMs) || quietMs;
  const long = new Set(longAmong(sessionsOf(jobs, awayMs).sessions).map(({ startMs }) => startMs));
  const found: Beginning[] = [];
  let refusedAtMs = Number.NEGATIVE_INFINITY;
  for (const [index, { startMs, endMs, attempts }] of jobs.entries()) {
    const before = jobs[index - 1];
    if (before !== undefined && startMs - before.endMs > Math.max(quietMs, awayMs)) {
      const third = jobs[index + burstLeast - 1];
      const isBurst = third !== undefined && third.startMs - startMs <= quietMs;
      const isAfterRefusal = startMs - refusedAtMs <= refusedMs;
      found.push({ atMs: startMs, isLong: isBurst || long.has(startMs), isAfterRefusal });
    }
    if (attempts > 1) refusedAtMs = endMs;
  }
  return found;
}

/** Beginnings of all callers, and how many are usual at an instant. */
export class Crowd {
  /** Rising, ms since the epoch: those that no refusal explains. */
  readonly starts: readonly number[];
  readonly #all: readonly number[];
  readonly #recording: Recording;

  /** @param beginnings in the order of time */
  constructor(beginnings: readonly Beginning[], recording: Recording) {
    this.#all = beginnings.map(({ atMs }) => atMs);
    this.starts = beginnings.flatMap(({ atMs, isAfterRefusal }) => (isAfterRefusal ? [] : [atMs]));
    this.#recording = recording;
  }

  /** Beginnings within a span that no refusal explains. */
  countIn(fromMs: number, spanMs: number): number {
    return between(this.starts, fromMs, fromMs + spanMs);
  }

  /** Beginnings that are usual within a span, by the time around it; `null` where none was watched. */
  usualIn(atMs: number, spanMs: number): number | null {
    const { startedAtMs, endedAtMs } = this.#recording;
    const [fromMs, toMs] = [Math.max(startedAtMs, atMs - aroundMs), Math.min(endedAtMs, atMs + aroundMs)];
    const [beforeMs, afterMs] = [atMs - nextToMs, atMs + spanMs + nextToMs];
    const seen = between(this.#all, fromMs, beforeMs) + between(this.#all, afterMs, toMs);
    const watchedMs = Math.max(0, beforeMs - fromMs) + Math.max(0, toMs - afterMs);
    // Half a beginning is added: what was not seen yet may come.
    return watchedMs <= 0 ? null : ((seen + 0.5) * spanMs) / watchedMs;
  }
}

const between = (all: readonly number[], fromMs: number, toMs: number): number =>
  Math.max(0, placeOf(all, toMs) - placeOf(all, fromMs));

/**
 * Tells whether so many beginnings are too many to be chance.
 * @param usual number of them
 * @param places at which they could have been found
 */
export const isCrowd = (usual: number, count: number, places: number): boolean =>
  count > 2 * usual && poissonTail(usual, count) * places * rareCrowd < 1;

/** The first place that is not before an instant. */
export function placeOf(starts: ArrayLike<number>, ms: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The probability of so many or more where `mean` are usual. */
function poissonTail(mean: number, count: number): number {
  let term = exp(-mean);
  for (let number = 1; number <= count; number++) term *= mean / number;
  let tail = 0;
  for (let number = count; term > tail * 1e-12 && number < count + 1000; number++) {
    tail += term;
    term *= mean / (number + 1);
  }
  return tail;
}
