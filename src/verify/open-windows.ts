// The windows of all quotas while they are open, as lines of numbers in a few arrays. An object for each window would
// cost more than all the judging of most of them. A line has the length of a processor's cache line. Lines of windows
// that are over are used again. A `Window` object is made only to explain something.
import type { Span } from "./clock.ts";
import { HeldRows, type Holding, holdsAll } from "./held-rows.ts";
import type { Mark } from "./mark.ts";
import {
  COUNT,
  END_FROM,
  END_TO,
  LIMIT as MARK_LIMIT,
  MarkRows,
  NONE,
  PIECE,
  RECEIVED,
  ROW,
  rowsPerPiece,
  SENT,
} from "./mark-rows.ts";
import type { Screened } from "./screened.ts";
import type { MarkColumns } from "./window-sums.ts";

/** Places of a quota's numbers: the end of its last judged window; the width of intervals that tell windows apart. */
const CLOSED_UNTIL = 0;
const NARROW = 1;
/** Places of its limit and the seconds of a window; `NaN` if unknown. */
const QUOTA_LIMIT = 2;
const SECONDS = 3;
/** Places of its whole numbers, behind the numbers: its last and first window by end; the marks that `take` takes. */
const LAST_WINDOW = 8;
const FIRST_WINDOW = 9;
const TAKES = 10;
const QUOTA_NUMBERS = 8;

/** Places of a window's numbers. */
const FROM = 0;
const TO = 1;
const FIRST_SENT = 2;
const LIMIT = 3;
/** Places of its whole numbers, behind the numbers. */
const SIZE = 8;
const FIRST_PIECE = 9;
const LAST_PIECE = 10;
/** Places of rows: the marks that bound its end from below and from above, and the first mark with `reset_at`. */
const FROM_ROW = 11;
const TO_ROW = 12;
const DATED_ROW = 13;
/** Places of the windows of its quota that end before it and after it. */
const EARLIER = 14;
const LATER = 15;
const WINDOW_NUMBERS = 8;

/** Marks that `take` takes of a quota: none; those with a count above 0, since others may show no window; all. */
export const takes = { none: 0, counting: 1, all: 2 } as const;

/** Lines of numbers, and the same bytes as whole numbers, two in the place of one number. */
class Lines {
  readonly length: number;
  numbers: Float64Array<ArrayBuffer>;
  wholes: Int32Array<ArrayBuffer>;
  size = 0;

  constructor(length: number) {
    this.length = length;
    this.numbers = new Float64Array(256 * length);
    this.wholes = new Int32Array(this.numbers.buffer);
  }

  add(): number {
    if ((this.size + 1) * this.length > this.numbers.length) {
      const numbers = new Float64Array(2 * this.numbers.length);
      numbers.set(this.numbers);
      this.numbers = numbers;
      this.wholes = new Int32Array(numbers.buffer);
    }
    this.size += 1;
    return this.size - 1;
  }
}

export class OpenWindows {
  readonly rows = new MarkRows();
  readonly held: HeldRows;
  readonly #quotas = new Lines(QUOTA_NUMBERS);
  readonly #windows = new Lines(WINDOW_NUMBERS);
  readonly #free: number[] = [];
  /** Windows whose marks show more than one limit. */
  readonly #mixed = new Set<number>();

  constructor(holding: Holding = holdsAll) {
    this.held = new HeldRows(holding);
  }

  /** Adds a quota. @returns its number */
  addQuota(): number {
    const quota = this.#quotas.add();
    const { numbers, wholes } = this.#quotas;
    numbers[quota * QUOTA_NUMBERS + CLOSED_UNTIL] = Number.NEGATIVE_INFINITY;
    wholes[2 * quota * QUOTA_NUMBERS + LAST_WINDOW] = NONE;
    wholes[2 * quota * QUOTA_NUMBERS + FIRST_WINDOW] = NONE;
    return quota;
  }

  /** @param narrow least width, ms, of intervals that tell no windows apart */
  allow(quota: number, which: number, narrow: number): void {
    this.#quotas.wholes[2 * quota * QUOTA_NUMBERS + TAKES] = which;
    this.#quotas.numbers[quota * QUOTA_NUMBERS + NARROW] = narrow;
  }

  /** Stores a quota's limit and the seconds of its windows, for `shows`. */
  know(quota: number, limit: number, seconds: number): void {
    this.#quotas.numbers[quota * QUOTA_NUMBERS + QUOTA_LIMIT] = limit;
    this.#quotas.numbers[quota * QUOTA_NUMBERS + SECONDS] = seconds;
  }

  /** Tells whether a limit and a `reset` fit a quota by the rules. */
  shows(quota: number, limit: number, reset: number): boolean {
    const { numbers } = this.#quotas;
    const at = quota * QUOTA_NUMBERS;
    return numbers[at + QUOTA_LIMIT] === limit && reset <= (numbers[at + SECONDS] as number);
  }

  /** Tells whether a `reset` is the length of a whole window. */
  isWhole(quota: number, reset: number): boolean {
    return this.#quotas.numbers[quota * QUOTA_NUMBERS + SECONDS] === reset;
  }

  /** Notes that windows which end by an instant are over. */
  closeUntil(quota: number, end: number): void {
    this.#quotas.numbers[quota * QUOTA_NUMBERS + CLOSED_UNTIL] = end;
  }

  /**
   * Adds the mark that `rows` was given to the window that it shows, if nothing about it is unusual.
   * @param slackMs largest distance of two clocks
   * @returns `false` if the quota has to look at the mark
   */
  take(quota: number, slackMs: number): boolean {
    const at = quota * QUOTA_NUMBERS;
    const { numbers, wholes } = this.#quotas;
    const { given, givenWholes } = this.rows;
    const which = wholes[2 * at + TAKES] as number;
    if (which === takes.none || (which === takes.counting && givenWholes[COUNT] === 0)) return false;
    const from = given[END_FROM] as number;
    const to = given[END_TO] as number;
    const over = numbers[at + CLOSED_UNTIL] as number;
    if (
      from <= over ||
      (given[SENT] as number) - slackMs < over ||
      to - from >= (numbers[at + NARROW] as number)
    )
      return false;
    const limit = givenWholes[MARK_LIMIT] as number;
    const known = this.meeting(quota, from, to);
    if (known !== NONE && this.limit(known) !== limit) return false;
    this.#append(known === NONE ? this.#opened(quota, limit, from) : known);
    return true;
  }

  /**
   * Returns the window that an end belongs to, mostly the last one. Ends of windows do not overlap and lie in order,
   * unless an answer shows an end from before it was sent.
   */
  meeting(quota: number, from: number, to: number): number {
    const { numbers, wholes } = this.#windows;
    for (let window = this.last(quota); window !== NONE; ) {
      const at = window * WINDOW_NUMBERS;
      const ownFrom = numbers[at + FROM] as number;
      const ownTo = numbers[at + TO] as number;
      if (from <= ownTo && to >= ownFrom) return window;
      if (ownFrom <= ownTo && ownTo < from) return NONE;
      window = wholes[2 * at + EARLIER] as number;
    }
    return NONE;
  }

  /** Opens a window by the first mark that shows it. */
  open(quota: number, mark: Mark): void {
    this.add(this.#opened(quota, mark.limit, mark.end.from), mark);
  }

  #opened(quota: number, limit: number, from: number): number {
    const window = this.#free.pop() ?? this.#windows.add();
    const { numbers, wholes } = this.#windows;
    const at = window * WINDOW_NUMBERS;
    numbers[at + FROM] = Number.NEGATIVE_INFINITY;
    numbers[at + TO] = Number.POSITIVE_INFINITY;
    numbers[at + FIRST_SENT] = Number.POSITIVE_INFINITY;
    numbers[at + LIMIT] = limit;
    for (let place = SIZE + 1; place <= LATER; place++) wholes[2 * at + place] = NONE;
    wholes[2 * at + SIZE] = 0;
    this.#link(quota, window, from);
    return window;
  }

  /** Links a window into its quota's chain, by its end. */
  #link(quota: number, window: number, from: number): void {
    const { numbers, wholes } = this.#windows;
    let earlier = this.last(quota);
    let later: number = NONE;
    while (earlier !== NONE && (numbers[earlier * WINDOW_NUMBERS + FROM] as number) > from) {
      later = earlier;
      earlier = wholes[2 * earlier * WINDOW_NUMBERS + EARLIER] as number;
    }
    wholes[2 * window * WINDOW_NUMBERS + EARLIER] = earlier;
    wholes[2 * window * WINDOW_NUMBERS + LATER] = later;
    const ends = 2 * quota * QUOTA_NUMBERS;
    if (later === NONE) this.#quotas.wholes[ends + LAST_WINDOW] = window;
    else wholes[2 * later * WINDOW_NUMBERS + EARLIER] = window;
    if (earlier === NONE) this.#quotas.wholes[ends + FIRST_WINDOW] = window;
    else wholes[2 * earlier * WINDOW_NUMBERS + LATER] = window;
  }

  add(window: number, mark: Mark): void {
    this.rows.give(mark);
    const row = this.#append(window);
    const at = window * WINDOW_NUMBERS;
    const { numbers, wholes } = this.#windows;
    if (mark.limit !== numbers[at + LIMIT]) this.#mixed.add(window);
    if (mark.resetAt !== null && wholes[2 * at + DATED_ROW] === NONE) wholes[2 * at + DATED_ROW] = row;
  }

  /** Adds the mark that `rows` was given. @returns its row */
  #append(window: number): number {
    const at = window * WINDOW_NUMBERS;
    const { numbers, wholes } = this.#windows;
    const { given } = this.rows;
    const row = this.#row(2 * at);
    this.rows.write(row);
    const sent = given[SENT] as number;
    const from = given[END_FROM] as number;
    const to = given[END_TO] as number;
    if (sent < (numbers[at + FIRST_SENT] as number)) numbers[at + FIRST_SENT] = sent;
    if (from > (numbers[at + FROM] as number)) {
      numbers[at + FROM] = from;
      wholes[2 * at + FROM_ROW] = row;
    }
    if (to < (numbers[at + TO] as number)) {
      numbers[at + TO] = to;
      wholes[2 * at + TO_ROW] = row;
    }
    return row;
  }

  /** Returns a window's next row. @param at place of the window's whole numbers */
  #row(at: number): number {
    const { wholes } = this.#windows;
    const size = wholes[at + SIZE] as number;
    const inPiece = size % rowsPerPiece;
    if (inPiece === 0) {
      const piece = this.rows.take();
      if (size === 0) wholes[at + FIRST_PIECE] = piece;
      else this.rows.next[wholes[at + LAST_PIECE] as number] = piece;
      wholes[at + LAST_PIECE] = piece;
    }
    wholes[at + SIZE] = size + 1;
    return (wholes[at + LAST_PIECE] as number) * PIECE + inPiece * ROW;
  }

  /** Takes the first window out of its quota's chain. Its marks can be read until it is released. */
  shift(quota: number): number {
    const window = this.first(quota);
    const { wholes } = this.#windows;
    const later = this.later(window);
    const ends = 2 * quota * QUOTA_NUMBERS;
    this.#quotas.wholes[ends + FIRST_WINDOW] = later;
    if (later === NONE) this.#quotas.wholes[ends + LAST_WINDOW] = NONE;
    else wholes[2 * later * WINDOW_NUMBERS + EARLIER] = NONE;
    return window;
  }

  /** Releases a window, of which nothing may be read any more. */
  release(window: number): void {
    const { wholes } = this.#windows;
    const at = 2 * window * WINDOW_NUMBERS;
    this.rows.release(wholes[at + FIRST_PIECE] as number, wholes[at + LAST_PIECE] as number);
    this.#mixed.delete(window);
    this.held.forget(window);
    this.#free.push(window);
  }

  last(quota: number): number {
    return this.#quotas.wholes[2 * quota * QUOTA_NUMBERS + LAST_WINDOW] as number;
  }

  first(quota: number): number {
    return this.#quotas.wholes[2 * quota * QUOTA_NUMBERS + FIRST_WINDOW] as number;
  }

  later(window: number): number {
    return this.#whole(window, LATER);
  }

  size(window: number): number {
    return this.#whole(window, SIZE);
  }

  fromRow(window: number): number {
    return this.#whole(window, FROM_ROW);
  }

  toRow(window: number): number {
    return this.#whole(window, TO_ROW);
  }

  /** Returns the row of the first mark with `reset_at`; `NONE` if there is none. */
  datedRow(window: number): number {
    return this.#whole(window, DATED_ROW);
  }

  firstPiece(window: number): number {
    return this.#whole(window, FIRST_PIECE);
  }

  firstSent(window: number): number {
    return this.#number(window, FIRST_SENT);
  }

  limit(window: number): number {
    return this.#number(window, LIMIT);
  }

  endFrom(window: number): number {
    return this.#number(window, FROM);
  }

  endTo(window: number): number {
    return this.#number(window, TO);
  }

  #whole(window: number, place: number): number {
    return this.#windows.wholes[2 * window * WINDOW_NUMBERS + place] as number;
  }

  #number(window: number, place: number): number {
    return this.#windows.numbers[window * WINDOW_NUMBERS + place] as number;
  }

  firstReceived(window: number): number {
    const { numbers } = this.rows;
    let first = this.held.of(window)?.firstReceived ?? Number.POSITIVE_INFINITY;
    this.eachHeld(window, (row) => {
      first = Math.min(first, numbers[row + RECEIVED] as number);
    });
    return first;
  }

  /** Lets marks go. @param gone 1 for each of them @param sums receives their sums */
  letGo(quota: number, window: number, columns: MarkColumns, gone: Uint8Array, sums: Screened): void {
    const { rows } = this;
    const { wholes } = this.#windows;
    const at = 2 * window * WINDOW_NUMBERS;
    const [fromRow, toRow, datedRow] = [this.fromRow(window), this.toRow(window), this.datedRow(window)];
    if (fromRow !== NONE) sums.fromMark = rows.at(fromRow);
    if (toRow !== NONE) sums.toMark = rows.at(toRow);
    if (datedRow !== NONE) sums.dated ??= rows.at(datedRow);
    for (const place of [FROM_ROW, TO_ROW, DATED_ROW]) wholes[at + place] = NONE;
    const all = new Int32Array(this.size(window));
    let size = 0;
    this.eachHeld(window, (row) => {
      all[size] = row;
      size += 1;
    });
    size = 0;
    for (let mark = 0; mark < all.length; mark++) {
      const row = all[mark] as number;
      if (gone[mark] === 1) {
        if (sums.take(columns, mark)) sums.opener = rows.at(row);
        rows.forget(row);
        continue;
      }
      const to = all[size] as number;
      if (to !== row) rows.move(row, to);
      size += 1;
    }
    const last = Math.floor((all[size - 1] as number) / PIECE);
    const rest = rows.next[last] as number;
    rows.next[last] = NONE;
    if (rest !== NONE) rows.release(rest, wholes[at + LAST_PIECE] as number);
    wholes[at + LAST_PIECE] = last;
    wholes[at + SIZE] = size;
    this.held.keep(quota, window, sums);
  }

  /** Calls `use` with the row of each mark that a window holds, in the order in which they came. */
  eachHeld(window: number, use: (row: number) => void): void {
    const size = this.size(window);
    for (
      let piece = this.firstPiece(window), index = 0;
      index < size;
      piece = this.rows.next[piece] as number
    )
      for (let inPiece = 0; inPiece < rowsPerPiece && index < size; inPiece++, index++)
        use(piece * PIECE + inPiece * ROW);
  }

  /** Tells whether a window's marks show more than one limit. */
  isMixed(window: number): boolean {
    return this.#mixed.has(window);
  }

  /** Returns the end that all marks of a window agree on. */
  end(window: number): Span {
    return { from: this.endFrom(window), to: this.endTo(window) };
  }
}
