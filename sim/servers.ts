// Servers behind the limiter, with one queue in front, first in, first out. The calls before a call decide when it is
// served. So its whole stay is known when it comes, and needs no further events.
import type { Service } from "../src/scenario/network.ts";

/** Result of `take` if the queue is full. */
export const FULL = -1;

export class Servers {
  /** Times at which servers become free, in a binary heap, the earliest first. */
  readonly #freeAt: Float64Array;
  readonly #queueMost: number;
  /** Times at which waiting calls begin, in a ring; they never fall, since no call overtakes another. */
  #begins = new Float64Array(64);
  #first = 0;
  #waiting = 0;

  constructor({ servers, queue }: Service) {
    this.#freeAt = new Float64Array(servers);
    this.#queueMost = queue ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Adds a call.
   * @param nowMs time of the call, never below that of the call before
   * @param busyMs time for which the call holds its server, ms
   * @returns time at which the call has been served; `FULL` if it cannot wait
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

  /** Removes the calls that have begun by now from the waiting ones. */
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

  /** Makes the server that is free first busy until `doneMs`. */
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
