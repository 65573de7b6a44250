// What the screen keeps of a window's first marks once it has passed them: sums. So a window of a day needs the memory of
// its last minutes. Where the screen stops such a window later, its marks are read again.
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
  /** Readings that could have had one value alone. */
  pinned = 0;
  /** The last receipt of those that were screened, and how many of the first marks that are held were here already. */
  answered = Number.NEGATIVE_INFINITY;
  held = 0;

  /** The earliest sending of a call that may hold something. */
  #certain = Number.POSITIVE_INFINITY;
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

  /** Notes by which facts marks were screened. */
  note(marks: MarkColumns, fromZero: boolean): void {
    this.#fromZero = fromZero;
    this.#certain = Math.min(this.#certain, firstHolding(marks));
  }

  /** Tells whether those facts still hold, and all calls are certain to be this window's. */
  fits(certainFrom: number, fromZero: boolean): boolean {
    return fromZero === this.#fromZero && certainFrom <= this.#certain;
  }
}

/** Returns the earliest sending of a call that may hold something. */
export function firstHolding({ size, sent, held }: MarkColumns): number {
  let first = Number.POSITIVE_INFINITY;
  for (let mark = 0; mark < size; mark++) if (held[mark] !== 0) first = Math.min(first, sent[mark] ?? 0);
  return first;
}
