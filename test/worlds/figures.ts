// Figures of a played or simulated day, computed alike for both: the worlds' answers, and a model's.
import { minuteMs, type Played } from "./world.ts";

export interface DayFigures {
  readonly calls: number;
  /** Share of refused calls in all calls, 0 to 1. */
  readonly refusedShare: number;
  /** Number of admitted calls in each minute of the day. */
  readonly admitted: readonly number[];
  readonly waitP95Ms: number;
}

export function dayFigures({ rows, waitsMs }: Played, fromMs: number): DayFigures {
  const admitted = new Array<number>(24 * 60).fill(0);
  let refused = 0;
  for (const { atMs, status } of rows) {
    const minute = Math.floor((atMs - fromMs) / minuteMs);
    if (status === 429) refused += 1;
    else admitted[minute] = (admitted[minute] ?? 0) + 1;
  }
  return {
    calls: rows.length,
    refusedShare: rows.length === 0 ? 0 : refused / rows.length,
    admitted,
    waitP95Ms: quantile(waitsMs, 0.95),
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
