// The little statistics that `fit` needs, on plain arrays of numbers.

/** Values in rising order, with what is asked of them. */
export class SortedSample {
  readonly sorted: Float64Array;
  #mean: number | null = null;

  constructor(values: ArrayLike<number>) {
    this.sorted = new Float64Array(values).sort();
  }

  get count(): number {
    return this.sorted.length;
  }

  /** Nearest rank; 0 of none. */
  quantile(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.count - 1e-9));
    return this.sorted[rank - 1] ?? 0;
  }

  get median(): number {
    return this.quantile(0.5);
  }

  get least(): number {
    return this.sorted[0] ?? 0;
  }

  get most(): number {
    return this.sorted.at(-1) ?? 0;
  }

  get mean(): number {
    this.#mean ??= this.count === 0 ? 0 : this.sorted.reduce((sum, value) => sum + value, 0) / this.count;
    return this.#mean;
  }

  /** The standard deviation; 0 of fewer than two. */
  get deviation(): number {
    const { mean, count } = this;
    if (count < 2) return 0;
    return Math.sqrt(
      this.sorted.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (count - 1),
    );
  }

  /** Distance between the values, without the most extreme tenth at either end. */
  get breadth(): number {
    return this.quantile(0.9) - this.quantile(0.1);
  }
}

/** The value that comes up most often, the smaller one of two; and the share of values that it is. */
export function mode(values: readonly number[]): { readonly value: number; readonly share: number } {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best: [number, number] = [0, 0];
  for (const [value, count] of counts)
    if (count > best[1] || (count === best[1] && value < best[0])) best = [value, count];
  return { value: best[0], share: values.length === 0 ? 0 : best[1] / values.length };
}

const roundSteps = [
  3_600_000, 1_800_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100, 50, 10, 5, 1,
];

/** The roundest number of ms within `[least, most]`, whole; the middle where none is. */
export function roundestWithin(least: number, most: number): number {
  for (const step of roundSteps) {
    const candidate = Math.ceil(least / step) * step;
    if (candidate <= most) return candidate;
  }
  return Math.round((least + most) / 2);
}
