// Sums over a window's first marks, which the screen keeps in place of marks that it passed. So a window of a day needs
// the memory of its last minutes. If the screen stops such a window later, its marks are read again.
import type { TraceTime } from "./clock.ts";
import type { Mark } from "./mark.ts";
import { CLAMPED } from "./mark-rows.ts";
import { isFirstCharge, type MarkColumns, WindowSums } from "./window-sums.ts";

/** Sums over the marks of a window that were found clean, and are held no more. */
export class Screened extends WindowSums {
  /** Earliest receipt of an answer. */
  firstReceived = Number.POSITIVE_INFINITY;
  /** Marks that bound the window's end from below and from above; first mark with `reset_at`; first charge. */
  fromMark: Mark | null = null;
  toMark: Mark | null = null;
  dated: Mark | null = null;
  opener: Mark | null = null;

  /** State by places: the last place, the count there, and the latest sending of a call up to there. */
  place = Number.NEGATIVE_INFINITY;
  top = -1;
  latest = Number.NEGATIVE_INFINITY;

  /** Sums by bounds: the points surely charged, given back and held. */
  leasts = 0;
  givenBack = 0;
  helds = 0;
  /** Least and most that the window can have held beside all marks, by its readings (`judgeBounds`). */
  apartLeast = Number.NEGATIVE_INFINITY;
  apartMost = Number.POSITIVE_INFINITY;
  /** Latest receipt of the screened answers, and number of the first held marks that were here at that time. */
  answered = Number.NEGATIVE_INFINITY;
  held = 0;
  /** First calls of the window; `null` if all calls surely belong to it. */
  opening: Opening | null = null;
  /** Sending from which on calls were taken to be certain. Other calls of `opening` that prove so raise all bounds. */
  certainFrom = Number.NEGATIVE_INFINITY;
  /** Least distance of a reading to its bounds; number of readings by the distance between their two bounds. */
  slack = Number.POSITIVE_INFINITY;
  readonly spreads = new Map<number, number>();

  /** Latest sending from which on calls may be certain. */
  #certainMost = Number.POSITIVE_INFINITY;
  #fromZero: boolean | null = null;

  /** Adds a mark that is let go. @returns `true` if it may be the window's first charge */
  take(columns: MarkColumns, mark: number): boolean {
    const bits = columns.bits[mark] as number;
    const sent = columns.sent[mark] as number;
    const count = columns.count[mark] as number;
    const least = columns.least[mark] as number;
    this.add(bits, sent, count, least);
    this.firstReceived = Math.min(this.firstReceived, columns.received[mark] as number);
    if (count !== least || least === 0) return false;
    if (isFirstCharge(columns, mark)) this.firstCharge = Math.max(this.firstCharge, sent);
    const isExact = least === columns.most[mark] && (bits & CLAMPED) === 0;
    return isExact && (this.opener === null || sent < this.opener.sent);
  }

  /** Notes the facts that marks were screened by. @param certainMost latest sending from which on calls may be certain */
  note(certainMost: number, fromZero: boolean): void {
    this.#fromZero = fromZero;
    this.#certainMost = Math.min(this.#certainMost, certainMost);
  }

  /** Tells whether those facts still hold. */
  fits(certainFrom: number, fromZero: boolean): boolean {
    return fromZero === this.#fromZero && certainFrom <= this.#certainMost;
  }
}

/** The first calls of a window: until its end is known, it is unknown which of them belong to it. */
export interface Opening {
  /** Marks of these calls, and of all calls that may have been under way with them. */
  readonly marks: MarkColumns;
  /** Latest receipt of the uncertain calls, and of all that may have been under way with them. */
  readonly until: number;
  readonly last: number;
}

/** Returns a window's opening; `null` if all calls belong to it. @param certainFrom sending of the first certain call */
export function openingOf(marks: MarkColumns, certainFrom: number, time: TraceTime): Opening | null {
  const { size, sent, received } = marks;
  let until = Number.NEGATIVE_INFINITY;
  for (let mark = 0; mark < size; mark++)
    if ((sent[mark] as number) < certainFrom) until = Math.max(until, received[mark] as number);
  if (until === Number.NEGATIVE_INFINITY) return null;
  let last = until;
  for (let mark = 0; mark < size; mark++)
    if (!time.before(until, sent[mark] as number)) last = Math.max(last, received[mark] as number);
  const places: number[] = [];
  for (let mark = 0; mark < size; mark++) if (!time.before(last, sent[mark] as number)) places.push(mark);
  return { marks: pick(marks, places), until, last };
}

function pick(marks: MarkColumns, places: readonly number[]): MarkColumns {
  const of = (column: Float64Array): Float64Array =>
    Float64Array.from(places, (place) => column[place] as number);
  return {
    size: places.length,
    all: places.length,
    sent: of(marks.sent),
    received: of(marks.received),
    count: of(marks.count),
    least: of(marks.least),
    most: of(marks.most),
    held: of(marks.held),
    bits: Int32Array.from(places, (place) => marks.bits[place] as number),
  };
}

/** Returns the points that calls sent within a span surely left charged. */
export function leastWithin({ size, sent, least }: MarkColumns, from: number, to: number): number {
  let sum = 0;
  for (let mark = 0; mark < size; mark++) {
    const at = sent[mark] as number;
    if (at >= from && at < to) sum += least[mark] as number;
  }
  return sum;
}

/** Returns the earliest sending of a call that may hold points. */
export function firstHolding({ size, sent, held }: MarkColumns): number {
  let first = Number.POSITIVE_INFINITY;
  for (let mark = 0; mark < size; mark++) if (held[mark] !== 0) first = Math.min(first, sent[mark] as number);
  return first;
}
