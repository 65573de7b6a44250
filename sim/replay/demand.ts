// The use of a quota's windows if nothing had been refused, and the limits that this would have needed.
//
// A limit L refuses nobody exactly if no call of a window finds less room than it needs: `count + cost <= L` at each
// decision, or `count < L` if any room at all is enough (POLICY.md §2). Let counts be those of a world without limits.
// Until the first refusal both worlds are the same, windows that open with their first call included. The smallest L is
// therefore the highest `count + cost` (or `count + 1`), and one less refuses somebody.
import type { Grid } from "../../src/engine/algorithms/fixed-window.ts";
import type { CompiledQuota } from "../../src/engine/compiled-policy.ts";
import { NOT_OPEN } from "../../src/engine/count-table.ts";

/** Number of doubles for each count, a line of the processor's cache; their places follow. */
const DOUBLES = 8;
/** End of the open window, ms since the epoch, or `NOT_OPEN`. */
const END = 0;
const COUNT = 1;
/** Highest count of this window, and the limit that it needed. */
const PEAK = 2;
const NEEDED = 3;
/** Length of the count's windows, ms, and their limit. */
const LENGTH = 4;
const LIMIT = 5;
/** Highest count of any window that is over; below 0 if there is none. */
const PEAK_MOST = 6;

export interface WindowShape {
  readonly lengthMs: number;
  readonly limit: number;
}

/** Takes a window that is over. */
export type OnWindow = (row: number, endsAtMs: number, peak: number, needed: number, limit: number) => void;

/** Counts of one quota in a world that refuses nobody, by their rows. */
export interface Demand {
  /** Decides a call, which is admitted. */
  decide(row: number, cost: number, nowMs: number): void;
  /** Returns the end of the window that a call decided just now belongs to, or `NOT_OPEN`. */
  windowOf(row: number): number;
  /**
   * Completes a call (POLICY.md §4).
   * @param window `windowOf` at its decision
   */
  settle(row: number, requested: number, actual: number, window: number, nowMs: number): void;
  /** Returns the fullest of a count's windows that are over, as a share of the limit; `null` if there is none. */
  useMax(row: number): number | null;
  /** Closes every window that was asked for and is not told yet. */
  finish(): void;
}

/** Windows of one quota. */
export class DemandWindows implements Demand {
  #doubles = new Float64Array(64 * DOUBLES);
  #rows = 0;
  readonly #grid: Grid;
  readonly #isHeld: boolean;
  readonly #isLate: boolean;
  readonly #isWhole: boolean;
  /** True if counts only grow, by the asked amounts. The last count is then the highest, and what was needed. */
  readonly #isPlain: boolean;
  readonly #shapeOf: (row: number) => WindowShape;
  readonly #onWindow: OnWindow;

  /** @param shapeOf returns the shape of a count's windows by row; called once for each */
  constructor(
    { isHeld, isLate, isWhole }: CompiledQuota,
    grid: Grid,
    shapeOf: (row: number) => WindowShape,
    onWindow: OnWindow,
  ) {
    this.#grid = grid;
    this.#isHeld = isHeld;
    this.#isLate = isLate;
    this.#isWhole = isWhole;
    this.#isPlain = !isHeld && !isLate && isWhole;
    this.#shapeOf = shapeOf;
    this.#onWindow = onWindow;
  }

  decide(row: number, cost: number, nowMs: number): void {
    if (row >= this.#rows) this.#grow(row);
    const at = row * DOUBLES;
    const doubles = this.#doubles;
    if (this.#isPlain && nowMs < (doubles[at + END] as number)) {
      doubles[at + COUNT] = (doubles[at + COUNT] as number) + cost;
      return;
    }
    if (doubles[at + LIMIT] === 0) this.#begin(row);
    this.#advance(row, nowMs);
    const needed = (doubles[at + COUNT] as number) + (this.#isWhole ? cost : 1);
    if (needed > (doubles[at + NEEDED] as number)) doubles[at + NEEDED] = needed;
    if (!this.#isLate) this.#charge(at, cost, nowMs);
  }

  windowOf(row: number): number {
    return this.#doubles[row * DOUBLES + END] as number;
  }

  settle(row: number, requested: number, actual: number, window: number, nowMs: number): void {
    const at = row * DOUBLES;
    this.#advance(row, nowMs);
    const same = this.#doubles[at + END] === window && nowMs < window;
    if (this.#isHeld && same)
      this.#doubles[at + COUNT] = (this.#doubles[at + COUNT] as number) - (requested - actual);
    if (this.#isLate && (same || window === NOT_OPEN)) this.#charge(at, actual, nowMs);
  }

  useMax(row: number): number | null {
    if (row >= this.#rows) return null;
    const at = row * DOUBLES;
    const most = this.#doubles[at + PEAK_MOST] as number;
    return most < 0 ? null : most / (this.#doubles[at + LIMIT] as number);
  }

  finish(): void {
    for (let row = 0; row < this.#rows; row++) this.#close(row);
  }

  #advance(row: number, nowMs: number): void {
    const doubles = this.#doubles;
    const at = row * DOUBLES;
    const end = doubles[at + END] as number;
    if (nowMs < end) return;
    if (end !== NOT_OPEN) this.#close(row);
    const { isFirst } = this.#grid;
    doubles[at + COUNT] = 0;
    doubles[at + END] = isFirst ? NOT_OPEN : this.#grid.endsAt(nowMs, doubles[at + LENGTH] as number);
  }

  #charge(at: number, amount: number, nowMs: number): void {
    const doubles = this.#doubles;
    if (doubles[at + END] === NOT_OPEN)
      doubles[at + END] = this.#grid.endsAt(nowMs, doubles[at + LENGTH] as number);
    const count = (doubles[at + COUNT] as number) + amount;
    doubles[at + COUNT] = count;
    if (count > (doubles[at + PEAK] as number)) doubles[at + PEAK] = count;
  }

  /**
   * Tells a window, which is open by then. Amounts asked for while none was open belong to the window that their
   * completion opened.
   */
  #close(row: number): void {
    const doubles = this.#doubles;
    const at = row * DOUBLES;
    const needed = doubles[at + (this.#isPlain ? COUNT : NEEDED)] as number;
    if (needed === 0) return;
    const peak = doubles[at + (this.#isPlain ? COUNT : PEAK)] as number;
    if (peak > (doubles[at + PEAK_MOST] as number)) doubles[at + PEAK_MOST] = peak;
    doubles[at + PEAK] = 0;
    doubles[at + NEEDED] = 0;
    this.#onWindow(row, doubles[at + END] as number, peak, needed, doubles[at + LIMIT] as number);
  }

  #begin(row: number): void {
    const { lengthMs, limit } = this.#shapeOf(row);
    this.#doubles[row * DOUBLES + LENGTH] = lengthMs;
    this.#doubles[row * DOUBLES + LIMIT] = limit;
  }

  #grow(row: number): void {
    if ((row + 1) * DOUBLES > this.#doubles.length) {
      const larger = new Float64Array(2 * (row + 1) * DOUBLES);
      larger.set(this.#doubles);
      this.#doubles = larger;
    }
    for (; this.#rows <= row; this.#rows++) {
      const at = this.#rows * DOUBLES;
      this.#doubles[at + PEAK_MOST] = -1;
    }
  }
}
