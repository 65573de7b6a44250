// The few statistics that `fit` needs, on plain arrays of numbers.

import { rankOf } from "../../src/summary/waits.ts";

/** Number of quantiles that are selected one by one; the next one sorts all values. */
const lookedForMost = 4;

/** Values in rising order, with their statistics. They are sorted only once somebody needs them all in order. */
export class SortedSample {
  readonly #values: Float64Array;
  #lookedFor = 0;
  #isSorted = false;
  #mean: number | null = null;
  #deviation: number | null = null;

  constructor(values: ArrayLike<number>) {
    this.#values = new Float64Array(values);
  }

  get sorted(): Float64Array {
    if (!this.#isSorted) this.#values.sort();
    this.#isSorted = true;
    return this.#values;
  }

  get count(): number {
    return this.#values.length;
  }

  /** Returns a quantile by nearest rank; 0 if there are no values. */
  quantile(share: number): number {
    return this.#at(rankOf(share, this.count) - 1);
  }

  /** Returns the value at a place in rising order; 0 if there is none. */
  #at(place: number): number {
    if (this.count === 0) return 0;
    if (this.#isSorted || this.#lookedFor >= lookedForMost) return this.sorted[place] as number;
    this.#lookedFor += 1;
    return placed(this.#values, place) ?? (this.sorted[place] as number);
  }

  get median(): number {
    return this.quantile(0.5);
  }

  get least(): number {
    return this.#at(0);
  }

  get most(): number {
    return this.#at(this.count - 1);
  }

  get mean(): number {
    this.#mean ??= this.count === 0 ? 0 : sumOf(this.sorted) / this.count;
    return this.#mean;
  }

  /** Standard deviation; 0 for fewer than two values. */
  get deviation(): number {
    const { mean, count } = this;
    if (count < 2) return 0;
    this.#deviation ??= Math.sqrt(
      sumOf(this.sorted.map((value) => (value - mean) * (value - mean))) / (count - 1),
    );
    return this.#deviation;
  }

  /** Distance from the 10th to the 90th percentile. */
  get breadth(): number {
    return this.quantile(0.9) - this.quantile(0.1);
  }
}

/**
 * Reorders values until the one at `place` is the one of their rising order, and returns it (C. A. R. Hoare, 1961).
 * Returns `null` if sorting would be quicker.
 */
export function placed(values: Float64Array, place: number): number | null {
  let [low, high] = [0, values.length - 1];
  for (let steps = values.length * 8; low < high; steps -= high - low) {
    if (steps < 0) return null;
    const pivot = values[(low + high) >> 1] as number;
    let [from, to] = [low, high];
    while (from <= to) {
      while ((values[from] as number) < pivot) from += 1;
      while ((values[to] as number) > pivot) to -= 1;
      if (from > to) break;
      const value = values[from] as number;
      values[from++] = values[to] as number;
      values[to--] = value;
    }
    if (place <= to) high = to;
    else if (place >= from) low = from;
    else break;
  }
  return values[place] ?? null;
}

/** Adds up values; 0 if there are none. */
export function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Returns the values of some lists, one list after the other. `flatMap` takes far longer where numbers are many. */
export function flatOf<Value>(lists: readonly (readonly Value[])[]): Value[] {
  const all: Value[] = [];
  for (const list of lists) for (const value of list) all.push(value);
  return all;
}

/** Adds one to a count. */
export function addAt(counts: number[], place: number): void {
  counts[place] = (counts[place] as number) + 1;
}

/** Adds to the count of a key. */
export function addTo<Key>(counts: Map<Key, number>, key: Key, count = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Returns the most frequent value, the smallest of equally frequent ones, and its share of all values. */
export function mode(values: readonly number[]): { readonly value: number; readonly share: number } {
  const counts = new Map<number, number>();
  for (const value of values) addTo(counts, value);
  let best: [number, number] = [0, 0];
  for (const [value, count] of counts)
    if (count > best[1] || (count === best[1] && value < best[0])) best = [value, count];
  return { value: best[0], share: values.length === 0 ? 0 : best[1] / values.length };
}

const roundSteps = [
  3_600_000, 1_800_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100, 50, 10, 5, 1,
];

/** Returns the roundest whole number of ms in `[least, most]`; their middle, rounded, if there is none. */
export function roundestWithin(least: number, most: number): number {
  for (const step of roundSteps) {
    const candidate = Math.ceil(least / step) * step;
    if (candidate <= most) return candidate;
  }
  return Math.round((least + most) / 2);
}

/** Tells whether sizes are geometric, as if a coin decided the end after each step; true for fewer than ten sizes. */
export function isMemoryless(sizes: SortedSample): boolean {
  const spread = sizes.deviation / Math.sqrt(Math.max(0.25, sizes.mean * (sizes.mean - 1)));
  return sizes.count < 10 || (spread > 0.75 && spread < 1.33);
}

/** Pearson's sum of how far counts are from what is expected of them. */
export class PearsonSum {
  #squares = 0;
  #degrees = -1;

  add(seen: number, mean: number, variance = mean): void {
    const off = seen - mean;
    this.#squares += (off * off) / variance;
    this.#degrees += 1;
  }

  /** Part of the sum above its mean, its degrees; 0 if that is within four deviations, which chance explains. */
  get excess(): number {
    const excess = this.#squares - this.#degrees;
    return this.#degrees > 0 && excess > 4 * Math.sqrt(2 * this.#degrees) ? excess : 0;
  }
}
