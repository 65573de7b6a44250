// Waits of jobs and their exact percentiles. Waits of any trace can be kept one by one; waits of a simulation are whole
// milliseconds, so that they can be counted.

/** Waits of a tally, ms, at least 0. */
export interface Waits<Same> {
  add(waitMs: number): void;
  /** Adds another collection's waits. */
  merge(other: Same): void;
  /**
   * Returns the waits at these shares, nearest rank; an empty list if there are no waits.
   * @param shares in rising order
   */
  quantiles(shares: readonly number[]): number[];
}

/** Returns the rank, from 1, of the value at a share of `count` sorted values: `ceil(share x count)`. */
export function rankOf(share: number, count: number): number {
  // 0.07 x 100 is 7.000000000000001 in floating point, and its rank is 7.
  return Math.max(1, Math.ceil(share * count - 1e-9));
}

/** Returns the value at a share of sorted values, nearest rank; `null` if there are none. */
export function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[rankOf(share, sorted.length) - 1] ?? null;
}

/** Waits kept one by one, 8 bytes each. */
export class KeptWaits implements Waits<KeptWaits> {
  readonly #waitsMs: number[] = [];
  #sorted: Float64Array | null = null;

  add(waitMs: number): void {
    this.#waitsMs.push(waitMs);
    this.#sorted = null;
  }

  merge(other: KeptWaits): void {
    for (const waitMs of other.#waitsMs) this.add(waitMs);
  }

  quantiles(shares: readonly number[]): number[] {
    this.#sorted ??= Float64Array.from(this.#waitsMs).sort();
    const sorted = this.#sorted;
    return shares.flatMap((share) => quantile(sorted, share) ?? []);
  }
}

const BLOCK = 128;
/** Place of the sum of a block's counts, behind the counts. */
const SUM = BLOCK;

/**
 * Counts of whole waits: two additions a wait. Counts lie in blocks, since waits cluster: wide gaps part the waits of
 * refused jobs from the others. `quantiles` skips a block without a quantile in one step.
 */
export class CountedWaits implements Waits<CountedWaits> {
  readonly #blocks = new Map<number, Uint32Array<ArrayBuffer>>();
  #count = 0;
  // Block of the last wait.
  #number = -1;
  #block = new Uint32Array(0);

  add(waitMs: number): void {
    const number = Math.floor(waitMs / BLOCK);
    if (number !== this.#number) this.#enter(number);
    const at = waitMs - number * BLOCK;
    this.#block[at] = (this.#block[at] as number) + 1;
    this.#block[SUM] = (this.#block[SUM] as number) + 1;
    this.#count += 1;
  }

  merge(other: CountedWaits): void {
    for (const [number, counts] of other.#blocks) {
      this.#enter(number);
      for (let at = 0; at <= SUM; at++)
        this.#block[at] = (this.#block[at] as number) + (counts[at] as number);
    }
    this.#count += other.#count;
  }

  quantiles(shares: readonly number[]): number[] {
    const ranks = shares.map((share) => rankOf(share, this.#count));
    const values: number[] = [];
    let passed = 0;
    for (const [number, counts] of [...this.#blocks].sort(([a], [b]) => a - b)) {
      const sum = counts[SUM] as number;
      if (passed + sum < (ranks[values.length] ?? Infinity)) {
        passed += sum;
        continue;
      }
      for (let at = 0; at < BLOCK; at++) {
        passed += counts[at] as number;
        while (passed >= (ranks[values.length] ?? Infinity)) values.push(number * BLOCK + at);
      }
    }
    return values;
  }

  #enter(number: number): void {
    this.#number = number;
    this.#block = this.#blocks.get(number) ?? new Uint32Array(SUM + 1);
    this.#blocks.set(number, this.#block);
  }
}
