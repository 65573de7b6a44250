// The use of a quota's windows if nothing had been refused, and so the limits that would have been needed.
//
// A limit L refuses nobody exactly if, of every window, no call finds less room than it needs: `count + cost <= L` at
// each decision, or `count < L` where any room at all is enough (POLICY.md §2). Let counts be those of a world
// without limits. Until the first refusal both worlds are the same, windows that open with their first call included.
// So the smallest L is the highest of `count + cost` (of `count + 1`), and one less refuses somebody.
import type { Grid } from "../../src/engine/algorithms/fixed-window.ts";
import type { CompiledQuota } from "../../src/engine/compiled-policy.ts";
import { NOT_OPEN } from "../../src/engine/count-table.ts";

/** Doubles a count, a line of the processor's cache, and where each is. */
const DOUBLES = 8;
/** End of the open window, ms since the epoch, or `NOT_OPEN`. */
const END = 0;
const COUNT = 1;
/** The highest count of this window, and the limit that it needed. */
const PEAK = 2;
const NEEDED = 3;
/** Length of the count's windows, ms, and their limit. */
const LENGTH = 4;
const LIMIT = 5;
/** The highest count of any window that is over; below 0 where there was none. */
const PEAK_MOST = 6;

/** The shape of a count's windows. */
export interface WindowShape {
  readonly lengthMs: number;
  readonly limit: number;
}

/** A window that is over. */
export type OnWindow = (row: number, endsAtMs: number, peak: number, needed: number, limit: number) => void;

/** The counts of one quota in a world that refuses nobody, by their rows. */
export interface Demand {
  /** A call is decided, and let through. */
  decide(row: number, cost: number, nowMs: number): void;
  /** The end of the window that a call which was just decided belongs to, or `NOT_OPEN`. */
  windowOf(row: number): number;
  /**
   * A call is over (POLICY.md §4).
   * @param window `windowOf` at its decision
   */
  settle(row: number, requested: number, actual: number, window: number, nowMs: number): void;
  /** The fullest of a count's windows that are over, as a share of the limit; `null` where there is none. */
  useMax(row: number): number | null;
  /** Every window that was asked and is not told yet is over. */
  finish(): void;
}

/** The windows of one quota. */
export class DemandWindows implements Demand {
  #doubles = new Float64Array(64 * DOUBLES);
  #rows = 0;
  readonly #grid: Grid;
  readonly #isHeld: boolean;
  readonly #isLate: boolean;
  readonly #isWhole: boolean;
  /** Counts only grow, and by what a call asked for: the last is the highest, and what was needed. */
  readonly #isPlain: boolean;
  readonly #shapeOf: (row: number) => WindowShape;
  readonly #onWindow: OnWindow;

  /** @param shapeOf of counts by row: asked once of each */
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
   * Tells a window. One is open by then: what was asked while none was belongs to the window that
   * its completion opened.
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
