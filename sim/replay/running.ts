// The calls that run, in the order of their ends.
import { DueHeap } from "./due.ts";

/** Completes a call. `windows` holds those of its decision, from `at` on. */
export type Settle = (
  handle: number,
  operation: number,
  cost: number,
  actual: number,
  windows: Float64Array,
  at: number,
  nowMs: number,
) => void;

/** Number of integers for each call; their places follow. */
const INTS = 3;
const HANDLE = 0;
const OPERATION = 1;
const COST = 2;

export class RunningCalls {
  /** Windows of each call's decision, to be filled in when it starts. */
  windows = new Float64Array(0);
  readonly #width: number;
  readonly #settle: Settle;
  readonly #due = new DueHeap();
  readonly #free: number[] = [];
  #ints = new Int32Array(0);
  #actual = new Float64Array(0);
  #used = 0;

  /** @param width greatest number of quotas of a call */
  constructor(width: number, settle: Settle) {
    this.#width = width;
    this.#settle = settle;
  }

  /** Time of the first end, ms; infinity if no call runs. */
  get firstMs(): number {
    return this.#due.firstMs;
  }

  /** Starts a call. @returns its place in `windows` */
  start(handle: number, operation: number, cost: number, actual: number, endMs: number): number {
    const item = this.#free.pop() ?? this.#used++;
    const at = item * INTS;
    if (at >= this.#ints.length) this.#grow();
    this.#ints[at + HANDLE] = handle;
    this.#ints[at + OPERATION] = operation;
    this.#ints[at + COST] = cost;
    this.#actual[item] = actual;
    this.#due.push(endMs, item);
    return item * this.#width;
  }

  /** Completes the calls that are over at `nowMs`, before another one begins. */
  settleUntil(nowMs: number): void {
    while (this.#due.firstMs <= nowMs) {
      const atMs = this.#due.firstMs;
      const item = this.#due.pop();
      const at = item * INTS;
      this.#settle(
        this.#ints[at + HANDLE] as number,
        this.#ints[at + OPERATION] as number,
        this.#ints[at + COST] as number,
        this.#actual[item] as number,
        this.windows,
        item * this.#width,
        atMs,
      );
      this.#free.push(item);
    }
  }

  #grow(): void {
    const ints = new Int32Array(Math.max(64 * INTS, 2 * this.#ints.length));
    ints.set(this.#ints);
    this.#ints = ints;
    const actual = new Float64Array(ints.length / INTS);
    actual.set(this.#actual);
    this.#actual = actual;
    const windows = new Float64Array(actual.length * this.#width);
    windows.set(this.windows);
    this.windows = windows;
  }
}
