// Servers behind the limiter, with one queue in front of them, first in, first out. When a call will be served follows
// from those before it, so its whole stay is known when it comes: nothing has to happen in between.
import type { Service } from "../src/scenario/network.ts";

/** Result of `take` where the queue is full. */
export const FULL = -1;

export class Servers {
  /** When each server is free, a binary heap: the earliest first. */
  readonly #freeAt: Float64Array;
  readonly #queueMost: number;
  /** When those that were made to wait begin, in a ring; never falling, since nobody overtakes. */
  #begins = new Float64Array(64);
  #first = 0;
  #waiting = 0;

  constructor({ servers, queue }: Service) {
    this.#freeAt = new Float64Array(servers);
    this.#queueMost = queue ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Takes a call in.
   * @param nowMs never falls from call to call
   * @param busyMs how long it holds its server
   * @returns when it has been served; `FULL` where it cannot wait
   */
  take(nowMs: number, busyMs: number): number {
    const beginMs = Math.max(nowMs, this.#freeAt[0] as number);
    if (beginMs > nowMs) {
      this.#forget(nowMs);
      if (this.#waiting >= this.#queueMost) return FULL;
      this.#await(beginMs);
    }
    const doneMs = beginMs + busyMs;
    this.#occupy(doneMs);
    return doneMs;
  }

  /** Those that have begun by now wait no longer. */
  #forget(nowMs: number): void {
    while (this.#waiting > 0 && (this.#begins[this.#first] as number) <= nowMs) {
      this.#first = (this.#first + 1) % this.#begins.length;
      this.#waiting -= 1;
    }
  }

  #await(beginMs: number): void {
    if (this.#waiting === this.#begins.length) this.#grow();
    this.#begins[(this.#first + this.#waiting) % this.#begins.length] = beginMs;
    this.#waiting += 1;
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#begins.length);
    larger.set(this.#begins.subarray(this.#first));
    larger.set(this.#begins.subarray(0, this.#first), this.#begins.length - this.#first);
    this.#begins = larger;
    this.#first = 0;
  }

  /** The server that is free first is busy until then. */
  #occupy(doneMs: number): void {
    const heap = this.#freeAt;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      if ((heap[child] as number) >= doneMs) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = doneMs;
  }
}
