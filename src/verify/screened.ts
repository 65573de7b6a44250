// Sums over a window's first marks, which the screen keeps in their place once it has passed them. So a window of a day needs
// the memory of its last minutes. If the screen stops such a window later, its marks are read again.
import type { TraceTime } from "./clock.ts";
import type { Mark } from "./mark.ts";
import { CLAMPED } from "./mark-rows.ts";
import { isFirstCharge, type MarkColumns, WindowSums } from "./window-sums.ts";

/** Sums over the marks of a window that were found clean, and are held no more. */
export class Screened extends WindowSums {
  /** The earliest receipt. */
  firstReceived = Number.POSITIVE_INFINITY;
  /** The marks that say that the window ends so late, and so early; the first with `reset_at`; the first charge. */
  fromMark: Mark | null = null;
  toMark: Mark | null = null;
  dated: Mark | null = null;
  opener: Mark | null = null;

  /** By places: the last one, the count there, and when the last call up to there was sent. */
  place = Number.NEGATIVE_INFINITY;
  top = -1;
  latest = Number.NEGATIVE_INFINITY;

  /** By bounds: sums of what was surely charged, given back and held. */
  leasts = 0;
  givenBack = 0;
  helds = 0;
  /** The least and the most that the window can have held beside all marks, as its readings show it (`judgeBounds`). */
  apartLeast = Number.NEGATIVE_INFINITY;
  apartMost = Number.POSITIVE_INFINITY;
  /** The last receipt of those that were screened, and how many of the first marks that are held were here already. */
  answered = Number.NEGATIVE_INFINITY;
  held = 0;
  /** The window's first calls; `null` where all are certain to be its own. */
  opening: Opening | null = null;
  /** From when on calls were taken to be certain. Those of `opening` that turn out to be so raise the least of all others. */
  certainFrom = Number.NEGATIVE_INFINITY;
  /** The least room that a reading has to what it is held to; and the number of readings, by how far least and most lie apart. */
  slack = Number.POSITIVE_INFINITY;
  readonly spreads = new Map<number, number>();

  /** From when on calls may be certain at the latest. */
  #certainMost = Number.POSITIVE_INFINITY;
  #fromZero: boolean | null = null;

  /** Takes a mark that is let go. @returns `true` where it may be the window's first charge */
  take(columns: MarkColumns, mark: number): boolean {
    const bits = columns.bits[mark] ?? 0;
    const sent = columns.sent[mark] ?? 0;
    const count = columns.count[mark] ?? 0;
    const least = columns.least[mark] ?? 0;
    this.add(bits, sent, count, least);
    this.firstReceived = Math.min(this.firstReceived, columns.received[mark] ?? 0);
    if (count !== least || least === 0) return false;
    if (isFirstCharge(columns, mark)) this.firstCharge = Math.max(this.firstCharge, sent);
    const isExact = least === columns.most[mark] && (bits & CLAMPED) === 0;
    return isExact && (this.opener === null || sent < this.opener.sent);
  }

  /** Notes by which facts marks were screened. @param certainMost from when on calls may be certain at the latest */
  note(certainMost: number, fromZero: boolean): void {
    this.#fromZero = fromZero;
    this.#certainMost = Math.min(this.#certainMost, certainMost);
  }

  /** Tells whether those facts still hold. */
  fits(certainFrom: number, fromZero: boolean): boolean {
    return fromZero === this.#fromZero && certainFrom <= this.#certainMost;
  }
}

/** The first calls of a window: nobody knows which of them are its own until its end is known. */
export interface Opening {
  /** They, and all calls that may have been under way with them. */
  readonly marks: MarkColumns;
  /** The last receipt of those that are not certain, and of all that may have been under way with them. */
  readonly until: number;
  readonly last: number;
}

/** Returns the opening of a window; `null` where all calls are certain to be its own. @param certainFrom they are from then on */
export function openingOf(marks: MarkColumns, certainFrom: number, time: TraceTime): Opening | null {
  const { size, sent, received } = marks;
  let until = Number.NEGATIVE_INFINITY;
  for (let mark = 0; mark < size; mark++)
    if ((sent[mark] ?? 0) < certainFrom) until = Math.max(until, received[mark] ?? 0);
  if (until === Number.NEGATIVE_INFINITY) return null;
  let last = until;
  for (let mark = 0; mark < size; mark++)
    if (!time.before(until, sent[mark] ?? 0)) last = Math.max(last, received[mark] ?? 0);
  const places: number[] = [];
  for (let mark = 0; mark < size; mark++) if (!time.before(last, sent[mark] ?? 0)) places.push(mark);
  return { marks: pick(marks, places), until, last };
}

function pick(marks: MarkColumns, places: readonly number[]): MarkColumns {
  const of = (column: Float64Array): Float64Array => Float64Array.from(places, (place) => column[place] ?? 0);
  return {
    size: places.length,
    all: places.length,
    sent: of(marks.sent),
    received: of(marks.received),
    count: of(marks.count),
    least: of(marks.least),
    most: of(marks.most),
    held: of(marks.held),
    bits: Int32Array.from(places, (place) => marks.bits[place] ?? 0),
  };
}

/** Returns the points that calls sent within a span surely left charged. */
export function leastWithin({ size, sent, least }: MarkColumns, from: number, to: number): number {
  let sum = 0;
  for (let mark = 0; mark < size; mark++) {
    const at = sent[mark] ?? 0;
    if (at >= from && at < to) sum += least[mark] ?? 0;
  }
  return sum;
}

/** Returns the earliest sending of a call that may hold something. */
export function firstHolding({ size, sent, held }: MarkColumns): number {
  let first = Number.POSITIVE_INFINITY;
  for (let mark = 0; mark < size; mark++) if (held[mark] !== 0) first = Math.min(first, sent[mark] ?? 0);
  return first;
}
