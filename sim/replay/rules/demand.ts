// The use of windows if nothing had been refused, and so the limits that would have been needed.
//
// A limit L refuses nobody exactly if, of every window, no call finds less room than it needs: `count + cost <= L` at
// each decision, or `count < L` under `postpaid` (SPEC.md §7 `refusal-justified`). Let counts be those of a world
// without limits. Until the first refusal both worlds are the same, windows that open with their first call included.
// So the smallest L is the highest of `count + cost` (of `count + 1`), and one less refuses somebody.
import { NOT_OPEN } from "../../../src/engine/core.ts";

/** Doubles an owner, a line of the processor's cache, and where each is. */
const DOUBLES = 8;
/** End of the open window, ms since the epoch, or `NOT_OPEN`. */
const END = 0;
const COUNT = 1;
/** The highest count of this window, and the limit that it needed. */
const PEAK = 2;
const NEEDED = 3;
/** Length of the owner's windows, ms, and their limit. */
const LENGTH = 4;
const LIMIT = 5;
/** The highest count of any window that is over; below 0 where there was none. */
const PEAK_MOST = 6;

/** The way in which this scope charges (SPEC.md §8). */
export interface Charging {
  readonly epoch: boolean;
  readonly reserved: boolean;
  readonly postpaid: boolean;
}

/** The shape of an owner's windows. */
export interface WindowShape {
  readonly lengthMs: number;
  readonly limit: number;
}

/** A window that is over. */
export type OnWindow = (owner: number, endsAtMs: number, peak: number, needed: number, limit: number) => void;

/** The windows of one scope and one kind of owner. */
export class DemandWindows {
  #doubles = new Float64Array(64 * DOUBLES);
  #owners = 0;
  readonly #charging: Charging;
  /** Counts only grow, and by what a call asked for: the last is the highest, and what was needed. */
  readonly #isPlain: boolean;
  readonly #shapeOf: (owner: number) => WindowShape;
  readonly #onWindow: OnWindow;

  /** @param shapeOf of owners by handle, from 0: asked once of each */
  constructor(charging: Charging, shapeOf: (owner: number) => WindowShape, onWindow: OnWindow) {
    this.#charging = charging;
    this.#isPlain = !charging.reserved && !charging.postpaid;
    this.#shapeOf = shapeOf;
    this.#onWindow = onWindow;
  }

  /** A call is decided, and let through. */
  decide(owner: number, cost: number, nowMs: number): void {
    if (owner >= this.#owners) this.#grow(owner);
    const at = owner * DOUBLES;
    const doubles = this.#doubles;
    if (this.#isPlain && nowMs < (doubles[at + END] as number)) {
      doubles[at + COUNT] = (doubles[at + COUNT] as number) + cost;
      return;
    }
    this.#advance(owner, nowMs);
    const { postpaid } = this.#charging;
    const needed = (doubles[at + COUNT] as number) + (postpaid ? 1 : cost);
    if (needed > (doubles[at + NEEDED] as number)) doubles[at + NEEDED] = needed;
    if (!postpaid) this.#charge(at, cost, nowMs);
  }

  /** The end of the window that a call which was just decided belongs to, or `NOT_OPEN`. */
  windowOf(owner: number): number {
    return this.#doubles[owner * DOUBLES + END] as number;
  }

  /**
   * A query is over (SPEC.md §8 `graphqlCharge`).
   * @param window `windowOf` at its decision
   */
  settle(owner: number, requested: number, actual: number, window: number, nowMs: number): void {
    const at = owner * DOUBLES;
    this.#advance(owner, nowMs);
    const same = this.#doubles[at + END] === window && nowMs < window;
    if (this.#charging.reserved && same)
      this.#doubles[at + COUNT] = (this.#doubles[at + COUNT] as number) - (requested - actual);
    if (this.#charging.postpaid && (same || window === NOT_OPEN)) this.#charge(at, actual, nowMs);
  }

  /** The fullest of an owner's windows that are over, as a share of the limit; `null` where there is none. */
  useMax(owner: number): number | null {
    if (owner >= this.#owners) return null;
    const at = owner * DOUBLES;
    const most = this.#doubles[at + PEAK_MOST] as number;
    return most < 0 ? null : most / (this.#doubles[at + LIMIT] as number);
  }

  /** Every window that was asked and is not told yet is over. */
  finish(): void {
    for (let owner = 0; owner < this.#owners; owner++) this.#close(owner);
  }

  #advance(owner: number, nowMs: number): void {
    const doubles = this.#doubles;
    const at = owner * DOUBLES;
    const end = doubles[at + END] as number;
    if (nowMs < end) return;
    if (end !== NOT_OPEN) this.#close(owner);
    const length = doubles[at + LENGTH] as number;
    doubles[at + COUNT] = 0;
    doubles[at + END] = this.#charging.epoch ? nowMs - (nowMs % length) + length : NOT_OPEN;
  }

  #charge(at: number, amount: number, nowMs: number): void {
    const doubles = this.#doubles;
    if (doubles[at + END] === NOT_OPEN)
      doubles[at + END] = nowMs - (nowMs % 1000) + (doubles[at + LENGTH] as number);
    const count = (doubles[at + COUNT] as number) + amount;
    doubles[at + COUNT] = count;
    if (count > (doubles[at + PEAK] as number)) doubles[at + PEAK] = count;
  }

  /**
   * Tells a window. One is open by then: what was asked while none was (`postpaid` alone) belongs to the window that
   * its completion opened.
   */
  #close(owner: number): void {
    const doubles = this.#doubles;
    const at = owner * DOUBLES;
    const needed = doubles[at + (this.#isPlain ? COUNT : NEEDED)] as number;
    if (needed === 0) return;
    const peak = doubles[at + (this.#isPlain ? COUNT : PEAK)] as number;
    if (peak > (doubles[at + PEAK_MOST] as number)) doubles[at + PEAK_MOST] = peak;
    doubles[at + PEAK] = 0;
    doubles[at + NEEDED] = 0;
    this.#onWindow(owner, doubles[at + END] as number, peak, needed, doubles[at + LIMIT] as number);
  }

  #grow(owner: number): void {
    if ((owner + 1) * DOUBLES > this.#doubles.length) {
      const larger = new Float64Array(2 * (owner + 1) * DOUBLES);
      larger.set(this.#doubles);
      this.#doubles = larger;
    }
    for (; this.#owners <= owner; this.#owners++) {
      const at = this.#owners * DOUBLES;
      const { lengthMs, limit } = this.#shapeOf(this.#owners);
      this.#doubles[at + LENGTH] = lengthMs;
      this.#doubles[at + LIMIT] = limit;
      this.#doubles[at + PEAK_MOST] = -1;
    }
  }
}
