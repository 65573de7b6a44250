// The windows of all quotas while they are open, as lines of numbers in a few arrays: an object a window would cost more to
// make, to find and to keep than all the judging of most of them. A line is as long as one of a processor's cache. Lines
// of windows that are over are used again. Whoever has something to explain asks for an object (`Window`).
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

/** Places of a quota's numbers: where its last judged window ended, and the width of an interval that tells windows apart. */
const CLOSED_UNTIL = 0;
const NARROW = 1;
/** Its limit and the seconds of a window, where they are known; `NaN` where not. */
const QUOTA_LIMIT = 2;
const SECONDS = 3;
/** Places of its whole numbers, behind them: its last window and its first, by where they end; which marks `take` takes. */
const LAST_WINDOW = 8;
const FIRST_WINDOW = 9;
const TAKES = 10;
const QUOTA_NUMBERS = 8;

/** Places of a window's numbers. */
const FROM = 0;
const TO = 1;
const FIRST_SENT = 2;
const LIMIT = 3;
/** Places of its whole numbers, behind them. */
const SIZE = 8;
const FIRST_PIECE = 9;
const LAST_PIECE = 10;
/** Rows of the marks that say that it ends so late, and so early, and of the first with `reset_at`. */
const FROM_ROW = 11;
const TO_ROW = 12;
const DATED_ROW = 13;
/** The windows of its quota that end before it and after it. */
const EARLIER = 14;
const LATER = 15;
const WINDOW_NUMBERS = 8;

/** Marks that `take` takes of a quota: none; those that count something, since others may show no window; all. */
export const takes = { none: 0, counting: 1, all: 2 } as const;

/** Numbers in lines; the same bytes as whole ones, two in the place of one number. */
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

  /** The number of a new quota. */
  addQuota(): number {
    const quota = this.#quotas.add();
    const { numbers, wholes } = this.#quotas;
    numbers[quota * QUOTA_NUMBERS + CLOSED_UNTIL] = Number.NEGATIVE_INFINITY;
    wholes[2 * quota * QUOTA_NUMBERS + LAST_WINDOW] = NONE;
    wholes[2 * quota * QUOTA_NUMBERS + FIRST_WINDOW] = NONE;
    return quota;
  }

  /** @param narrow intervals of this width or more tell no windows apart */
  allow(quota: number, which: number, narrow: number): void {
    this.#quotas.wholes[2 * quota * QUOTA_NUMBERS + TAKES] = which;
    this.#quotas.numbers[quota * QUOTA_NUMBERS + NARROW] = narrow;
  }

  /** Says what the rules say of a quota, for `shows`. */
  know(quota: number, limit: number, seconds: number): void {
    this.#quotas.numbers[quota * QUOTA_NUMBERS + QUOTA_LIMIT] = limit;
    this.#quotas.numbers[quota * QUOTA_NUMBERS + SECONDS] = seconds;
  }

  /** Tells whether a limit and a `reset` are a quota's by the rules. */
  shows(quota: number, limit: number, reset: number): boolean {
    const { numbers } = this.#quotas;
    const at = quota * QUOTA_NUMBERS;
    return numbers[at + QUOTA_LIMIT] === limit && reset <= (numbers[at + SECONDS] ?? 0);
  }

  /** Tells whether a `reset` is all of a window. */
  isWhole(quota: number, reset: number): boolean {
    return this.#quotas.numbers[quota * QUOTA_NUMBERS + SECONDS] === reset;
  }

  /** Windows that end by then are over. */
  closeUntil(quota: number, end: number): void {
    this.#quotas.numbers[quota * QUOTA_NUMBERS + CLOSED_UNTIL] = end;
  }

  /**
   * Adds the mark that `rows` was given to the window that it shows, if there is nothing unusual about it.
   * @param slackMs distance that two clocks may have
   * @returns `false` where its quota has to look at it
   */
  take(quota: number, slackMs: number): boolean {
    const at = quota * QUOTA_NUMBERS;
    const { numbers, wholes } = this.#quotas;
    const { given, givenWholes } = this.rows;
    const which = wholes[2 * at + TAKES] ?? 0;
    if (which === takes.none || (which === takes.counting && givenWholes[COUNT] === 0)) return false;
    const from = given[END_FROM] ?? 0;
    const to = given[END_TO] ?? 0;
    const over = numbers[at + CLOSED_UNTIL] ?? 0;
    if (from <= over || (given[SENT] ?? 0) - slackMs < over || to - from >= (numbers[at + NARROW] ?? 0))
      return false;
    const limit = givenWholes[MARK_LIMIT] ?? 0;
    const known = this.meeting(quota, from, to);
    if (known !== NONE && this.limit(known) !== limit) return false;
    this.#append(known === NONE ? this.#opened(quota, limit, from) : known);
    return true;
  }

  /**
   * The window that an end belongs to: mostly the last one. Ends of windows that are no answer's from before it was sent
   * are apart, and lie in their order.
   */
  meeting(quota: number, from: number, to: number): number {
    const { numbers, wholes } = this.#windows;
    for (let window = this.last(quota); window !== NONE; ) {
      const at = window * WINDOW_NUMBERS;
      const ownFrom = numbers[at + FROM] ?? 0;
      const ownTo = numbers[at + TO] ?? 0;
      if (from <= ownTo && to >= ownFrom) return window;
      if (ownFrom <= ownTo && ownTo < from) return NONE;
      window = wholes[2 * at + EARLIER] ?? NONE;
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

  /** Puts a window where its end belongs. */
  #link(quota: number, window: number, from: number): void {
    const { numbers, wholes } = this.#windows;
    let earlier = this.last(quota);
    let later: number = NONE;
    while (earlier !== NONE && (numbers[earlier * WINDOW_NUMBERS + FROM] ?? 0) > from) {
      later = earlier;
      earlier = wholes[2 * earlier * WINDOW_NUMBERS + EARLIER] ?? NONE;
    }
    wholes[2 * window * WINDOW_NUMBERS + EARLIER] = earlier;
    wholes[2 * window * WINDOW_NUMBERS + LATER] = later;
    const ends = 2 * quota * QUOTA_NUMBERS;
    if (later === NONE) this.#quotas.wholes[ends + LAST_WINDOW] = window;
    else wholes[2 * later * WINDOW_NUMBERS + EARLIER] = window;
    if (earlier === NONE) this.#quotas.wholes[ends + FIRST_WINDOW] = window;
    else wholes[2 * earlier * WINDOW_NUMBERS + LATER] = window;
  }

  /** Adds a mark to a window. */
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
    const sent = given[SENT] ?? 0;
    const from = given[END_FROM] ?? 0;
    const to = given[END_TO] ?? 0;
    if (sent < (numbers[at + FIRST_SENT] ?? 0)) numbers[at + FIRST_SENT] = sent;
    if (from > (numbers[at + FROM] ?? 0)) {
      numbers[at + FROM] = from;
      wholes[2 * at + FROM_ROW] = row;
    }
    if (to < (numbers[at + TO] ?? 0)) {
      numbers[at + TO] = to;
      wholes[2 * at + TO_ROW] = row;
    }
    return row;
  }

  /** A window's next row. @param at the window's whole numbers */
  #row(at: number): number {
    const { wholes } = this.#windows;
    const size = wholes[at + SIZE] ?? 0;
    const inPiece = size % rowsPerPiece;
    if (inPiece === 0) {
      const piece = this.rows.take();
      if (size === 0) wholes[at + FIRST_PIECE] = piece;
      else this.rows.next[wholes[at + LAST_PIECE] ?? 0] = piece;
      wholes[at + LAST_PIECE] = piece;
    }
    wholes[at + SIZE] = size + 1;
    return (wholes[at + LAST_PIECE] ?? 0) * PIECE + inPiece * ROW;
  }

  /** Takes the first window out of its quota's; its marks can be read until it is released. */
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

  /** Gives up a window: nothing may be asked of it any more. */
  release(window: number): void {
    const { wholes } = this.#windows;
    const at = 2 * window * WINDOW_NUMBERS;
    this.rows.release(wholes[at + FIRST_PIECE] ?? 0, wholes[at + LAST_PIECE] ?? 0);
    this.#mixed.delete(window);
    this.held.forget(window);
    this.#free.push(window);
  }

  last(quota: number): number {
    return this.#quotas.wholes[2 * quota * QUOTA_NUMBERS + LAST_WINDOW] ?? NONE;
  }

  first(quota: number): number {
    return this.#quotas.wholes[2 * quota * QUOTA_NUMBERS + FIRST_WINDOW] ?? NONE;
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

  /** `NONE` where no mark shows `reset_at`. */
  datedRow(window: number): number {
    return this.#whole(window, DATED_ROW);
  }

  firstPiece(window: number): number {
    return this.#whole(window, FIRST_PIECE);
  }

  /** The earliest sending. */
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
    return this.#windows.wholes[2 * window * WINDOW_NUMBERS + place] ?? NONE;
  }

  #number(window: number, place: number): number {
    return this.#windows.numbers[window * WINDOW_NUMBERS + place] ?? 0;
  }

  /** The earliest receipt of a window's answers. */
  firstReceived(window: number): number {
    const { numbers } = this.rows;
    let first = this.held.of(window)?.firstReceived ?? Number.POSITIVE_INFINITY;
    this.eachHeld(window, (row) => {
      first = Math.min(first, numbers[row + RECEIVED] ?? 0);
    });
    return first;
  }

  /** Lets marks go. @param gone 1 for each of them @param sums to which they are added */
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
      const row = all[mark] ?? 0;
      if (gone[mark] === 1) {
        if (sums.take(columns, mark)) sums.opener = rows.at(row);
        rows.forget(row);
        continue;
      }
      const to = all[size] ?? 0;
      if (to !== row) rows.move(row, to);
      size += 1;
    }
    const last = Math.floor((all[size - 1] ?? 0) / PIECE);
    const rest = rows.next[last] ?? NONE;
    rows.next[last] = NONE;
    if (rest !== NONE) rows.release(rest, wholes[at + LAST_PIECE] ?? 0);
    wholes[at + LAST_PIECE] = last;
    wholes[at + SIZE] = size;
    this.held.keep(quota, window, sums);
  }

  /** The rows of a window's marks that it holds, in the order they came. */
  eachHeld(window: number, use: (row: number) => void): void {
    const size = this.size(window);
    for (let piece = this.firstPiece(window), index = 0; index < size; piece = this.rows.next[piece] ?? NONE)
      for (let inPiece = 0; inPiece < rowsPerPiece && index < size; inPiece++, index++)
        use(piece * PIECE + inPiece * ROW);
  }

  /** Tells whether its marks show more than one limit. */
  isMixed(window: number): boolean {
    return this.#mixed.has(window);
  }

  /** The end that all marks of a window agree on. */
  end(window: number): Span {
    return { from: this.endFrom(window), to: this.endTo(window) };
  }
}
