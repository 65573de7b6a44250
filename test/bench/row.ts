// One line of a benchmark's result, and the median that every figure is.

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** `value` in units of the named peer's, measured in the same run. */
  readonly ratio?: number;
  readonly against?: string;
  /** The figure to reach, as a bound on `ratio`. */
  readonly bar?: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
