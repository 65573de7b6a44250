// Waits of jobs, and their percentiles, exact either way: kept one by one, which any trace's can be, or counted, as
// those of a simulation can, which are whole milliseconds.

/** The waits of a tally, ms from 0 on. */
export interface Waits<Same> {
  add(waitMs: number): void;
  /** Adds another's. */
  merge(other: Same): void;
  /**
   * The values at these shares, nearest rank; none where there are no waits.
   * @param shares rising
   */
  quantiles(shares: readonly number[]): number[];
}

/** The place, from 1, of the value at a share of `count` sorted ones: `ceil(share x count)`. */
function rankOf(share: number, count: number): number {
  // 0.07 x 100 is 7.000000000000001 in floating point, and its rank is 7.
  return Math.max(1, Math.ceil(share * count - 1e-9));
}

/** The value at a share of sorted ones, nearest rank; `null` of none. */
export function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[rankOf(share, sorted.length) - 1] ?? null;
}

/** Any waits: 8 bytes each. */
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
/** The place of the sum of a block's counts: behind them. */
const SUM = BLOCK;

/**
 * Whole waits: two additions each. Counts come in blocks, since waits lie close together, with wide gaps between
 * those of jobs that were refused and those that were not; a block in which no quantile lies is passed over as one.
 */
export class CountedWaits implements Waits<CountedWaits> {
  readonly #blocks = new Map<number, Uint32Array<ArrayBuffer>>();
  #count = 0;
  // The block that was counted in last.
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
