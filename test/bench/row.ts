// One line of a benchmark's result, the median that every figure is, and whether the line reaches its bar.

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** `value` in units of the named peer's, measured in the same run. */
  readonly ratio?: number;
  readonly against?: string;
  /** The figure to reach: a bound on `ratio`, one on `value` with its unit, or both: `>= 0.5, and >= 5,000,000 events/s`. */
  readonly bar?: string;
}

/** True for `--quick`: everything runs, too little of it to measure anything. */
export const isQuick = process.env["SPILLWAY_BENCH_QUICK"] === "1";

/** Returns an amount of work, or the little that is enough for `--quick`. */
export const sized = (full: number, quick: number): number => (isQuick ? quick : full);

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/**
 * Tells whether a row reaches its bar; `null` where it has none.
 * @throws RangeError where the bar cannot be read
 */
export function isMet({ bar, value, ratio = Number.NaN }: BenchRow): boolean | null {
  if (bar === undefined) return null;
  return bar.split(", and ").every((part) => {
    const [, sign, number = "", unit] = /^(<=|>=) ([\d.,]+)( \S.*)?$/.exec(part) ?? [];
    if (sign === undefined) throw new RangeError(`a bar that nobody can read: ${bar}`);
    const bound = Number(number.replaceAll(",", ""));
    const found = unit === undefined ? ratio : value;
    return sign === "<=" ? found <= bound : found >= bound;
  });
}

/** A row's figure with its unit, and its ratio to the peer; empty where there is none. */
export function told({ value, unit, ratio, against }: BenchRow): { figure: string; compared: string } {
  const figure = `${value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1)} ${unit}`;
  return { figure, compared: ratio === undefined ? "" : `${ratio.toFixed(2)} x ${against ?? ""}` };
}
