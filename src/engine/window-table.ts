// The windows of one scope and one kind of owner, in one buffer seen as doubles and as 32-bit integers.
//
//   record (32 bytes)   | resetAtMs | current | seenMs | link, profile |
//   as doubles          |     0     |    1    |    2   |               |
//   as integers         |           |         |        |    6  |   7   |
//
// Limits and lengths stand apart, in profiles: most owners share one, and it stays in the cache.
import type { WindowLimit } from "../rules/rules.ts";

/** Doubles a record. */
export const DOUBLES = 4;
/** Integers a record. */
export const INTS = 8;
/** End of the open window, ms since the epoch; 0 where none is open. */
export const RESET_AT = 0;
export const CURRENT = 1;
/** The latest time that a call of this window was decided at (SPEC.md §2.8). */
export const SEEN = 2;
/** Value of the owner's kind: an organization's `enforced`, a user's organization. */
export const LINK = 6;
const PROFILE = 7;

/** Memory of a window, for snapshots. */
export interface WindowState {
  readonly resetAtMs: number;
  readonly current: number;
  readonly seenMs: number;
}

export class WindowTable {
  doubles = new Float64Array(0);
  ints = new Int32Array(0);
  #used = 0;
  readonly #free: number[] = [];
  readonly #limits: number[] = [];
  readonly #lengthsMs: number[] = [];

  /** A fresh record; the handle is the lowest never used, or one that was given back. */
  take({ limit, windowSeconds }: WindowLimit, link: number): number {
    const handle = this.#free.pop() ?? this.#used++;
    if (handle * DOUBLES >= this.doubles.length) this.#grow();
    this.write(handle, { resetAtMs: 0, current: 0, seenMs: 0 });
    this.ints[handle * INTS + LINK] = link;
    this.ints[handle * INTS + PROFILE] = this.#profile(limit, windowSeconds * 1000);
    return handle;
  }

  give(handle: number): void {
    this.#free.push(handle);
  }

  limit(handle: number): number {
    return this.#limits[this.ints[handle * INTS + PROFILE] as number] as number;
  }

  lengthMs(handle: number): number {
    return this.#lengthsMs[this.ints[handle * INTS + PROFILE] as number] as number;
  }

  read(handle: number): WindowState {
    const at = handle * DOUBLES;
    const { doubles } = this;
    return {
      resetAtMs: doubles[at + RESET_AT] as number,
      current: doubles[at + CURRENT] as number,
      seenMs: doubles[at + SEEN] as number,
    };
  }

  write(handle: number, { resetAtMs, current, seenMs }: WindowState): void {
    const at = handle * DOUBLES;
    this.doubles[at + RESET_AT] = resetAtMs;
    this.doubles[at + CURRENT] = current;
    this.doubles[at + SEEN] = seenMs;
  }

  #profile(limit: number, lengthMs: number): number {
    const known = this.#limits.findIndex(
      (other, index) => other === limit && this.#lengthsMs[index] === lengthMs,
    );
    if (known >= 0) return known;
    this.#lengthsMs.push(lengthMs);
    return this.#limits.push(limit) - 1;
  }

  #grow(): void {
    const larger = new Float64Array(Math.max(64 * DOUBLES, this.doubles.length * 2));
    larger.set(this.doubles);
    this.doubles = larger;
    this.ints = new Int32Array(larger.buffer);
  }
}
