// Finds beginnings of callers, and tells whether more of them come together than chance explains.
import { exp } from "../../src/scenario/elementary.ts";
import type { Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { longAmong, sessionsOf } from "./sessions.ts";

/** Least silence of a caller before a beginning, ms. */
export const quietMs = 10_000;
/** Time before and after an event whose beginnings show how many are usual, ms, ... */
const aroundMs = 1_800_000;
/** ... except this time next to the event, ms. */
const nextToMs = 60_000;
/** Time after a refusal within which the next window explains a beginning, ms. */
const refusedMs = 300_000;
/** Least number of calls of a burst, within `quietMs`. */
const burstLeast = 3;
/** Number of recordings among which chance makes one show a false event. */
export const rareCrowd = 1_000;

export interface Beginning {
  readonly atMs: number;
  readonly isLong: boolean;
  /** True if the caller was refused shortly before: no sign of an event, but counted among the usual beginnings. */
  readonly isAfterRefusal: boolean;
}

/**
 * Returns the instants at which a caller begins after a silence.
 * @param absenceMs length above which its pause is an absence, ms; 0 if it has none
 */
export function beginningsOf({ jobs }: Profile, absenceMs: number): Beginning[] {
  const awayMs = absenceMs || quietMs;
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

/** An instant after which many callers begin within a span, with their number and the usual one. */
export interface Gathering {
  readonly atMs: number;
  readonly count: number;
  readonly usual: number;
}

/** Counts beginnings between two instants. */
type Counter = (fromMs: number, toMs: number) => number;

/** Least number of beginnings of a gathering. */
const gatheringLeast = 3;

/** Beginnings of all callers, and the number that is usual at an instant. */
export class Crowd {
  /** Beginnings that no refusal explains, ms since the epoch, rising. */
  readonly starts: readonly number[];
  readonly #all: readonly number[];
  readonly #recording: Recording;

  /** @param beginnings in the order of time */
  constructor(beginnings: readonly Beginning[], recording: Recording) {
    this.#all = beginnings.map(({ atMs }) => atMs);
    this.starts = beginnings.filter(({ isAfterRefusal }) => !isAfterRefusal).map(({ atMs }) => atMs);
    this.#recording = recording;
  }

  /** Returns the beginnings after which more than twice as many as usual come within a span. */
  gatherings(spanMs: number): readonly Gathering[] {
    const { starts } = this;
    const countIn = counterAlong(starts);
    const [before, after] = [counterAlong(this.#all), counterAlong(this.#all)];
    const found: Gathering[] = [];
    for (let place = 0; place < starts.length; place++) {
      const atMs = starts[place] as number;
      const count = countIn(atMs, atMs + spanMs);
      if (count < gatheringLeast || atMs === starts[place - 1]) continue;
      const usual = this.#usual(atMs, spanMs, before, after);
      if (usual !== null && isMany(usual, count)) found.push({ atMs, count, usual });
    }
    return found;
  }

  /** Returns the number of beginnings within a span that no refusal explains. */
  countIn(fromMs: number, spanMs: number): number {
    return countBetween(this.starts, fromMs, fromMs + spanMs);
  }

  /** Returns the usual number of beginnings within a span, by the time around it; `null` if that was not recorded. */
  usualIn(atMs: number, spanMs: number): number | null {
    const between: Counter = (fromMs, toMs) => countBetween(this.#all, fromMs, toMs);
    return this.#usual(atMs, spanMs, between, between);
  }

  #usual(atMs: number, spanMs: number, before: Counter, after: Counter): number | null {
    const { startedAtMs, endedAtMs } = this.#recording;
    const [fromMs, toMs] = [Math.max(startedAtMs, atMs - aroundMs), Math.min(endedAtMs, atMs + aroundMs)];
    const [beforeMs, afterMs] = [atMs - nextToMs, atMs + spanMs + nextToMs];
    const seen = before(fromMs, beforeMs) + after(afterMs, toMs);
    const watchedMs = Math.max(0, beforeMs - fromMs) + Math.max(0, toMs - afterMs);
    // Half a beginning is added: what was never seen may still come.
    return watchedMs <= 0 ? null : ((seen + 0.5) * spanMs) / watchedMs;
  }
}

const countBetween = (all: readonly number[], fromMs: number, toMs: number): number =>
  Math.max(0, placeOf(all, toMs) - placeOf(all, fromMs));

/** Returns a counter that goes along instants in rising order, and takes only rising ones: no search for each. */
function counterAlong(all: readonly number[]): Counter {
  let [from, to] = [0, 0];
  return (fromMs, toMs) => {
    while (from < all.length && (all[from] as number) < fromMs) from += 1;
    while (to < all.length && (all[to] as number) < toMs) to += 1;
    return Math.max(0, to - from);
  };
}

const isMany = (usual: number, count: number): boolean => count > 2 * usual;

/**
 * Tells whether `count` beginnings are too many to be chance.
 * @param usual usual number of beginnings
 * @param places number of places at which they could have been found
 */
export const isCrowd = (usual: number, count: number, places: number): boolean =>
  isMany(usual, count) && poissonTail(usual, count) * places * rareCrowd < 1;

/** Returns the first place that is not before an instant. */
export function placeOf(starts: ArrayLike<number>, ms: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the probability of `count` or more if `mean` are usual. */
export function poissonTail(mean: number, count: number): number {
  let term = exp(-mean);
  for (let number = 1; number <= count; number++) term *= mean / number;
  let tail = 0;
  for (let number = count; term > tail * 1e-12 && number < count + 1000; number++) {
    tail += term;
    term *= mean / (number + 1);
  }
  return tail;
}
