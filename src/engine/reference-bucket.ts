// The readable count of a bucket; `algorithms/token-bucket.ts` is its fast twin.
import { lowestTerms } from "../policy/checks.ts";
import type { TokenBucket } from "../policy/policy.ts";

/** Count of a bucket (POLICY.md §3): charges that have not come back, in parts of `1 / everyMs`, without rounding. */
export class BucketCount {
  seenMs = 0;
  readonly #capacity: number;
  readonly #amount: number;
  readonly #everyMs: number;
  #parts = 0;

  constructor({ capacity, refill }: TokenBucket) {
    this.#capacity = capacity;
    const { amount, everyMs } = lowestTerms(refill);
    this.#amount = amount;
    this.#everyMs = everyMs;
  }

  /** Moves the clock, and applies the passed time to the count. */
  advance(nowMs: number): void {
    this.#parts = this.#partsAt(nowMs);
    this.seenMs = Math.max(nowMs, this.seenMs);
  }

  /** Returns the parts that have not come back. A product too large to be exact is greater than any count. */
  #partsAt(now: number): number {
    return Math.max(0, this.#parts - Math.max(0, now - this.seenMs) * this.#amount);
  }

  /** Returns the used units, rounded up, at an instant that the clock has not passed. */
  usedAt(now: number): number {
    return Math.ceil(this.#partsAt(now) / this.#everyMs);
  }

  resetAt(now: number): number {
    return Math.max(now, this.seenMs) + Math.ceil(this.#partsAt(now) / this.#amount);
  }

  charge(cost: number): void {
    this.#parts = Math.min(this.#parts + cost * this.#everyMs, Number.MAX_SAFE_INTEGER);
  }

  giveBack(cost: number): void {
    this.#parts = Math.max(0, this.#parts - cost * this.#everyMs);
  }

  /** Returns the instant at which the count has this much room. */
  roomAt(room: number): number {
    const tooMany = this.#parts - (this.#capacity - room) * this.#everyMs;
    return this.seenMs + Math.max(0, Math.ceil(tooMany / this.#amount));
  }

  /** Tells whether a fresh count would give the same answers from then on. */
  isIdle(floorMs: number): boolean {
    return this.seenMs <= floorMs && this.#partsAt(floorMs) === 0;
  }
}
