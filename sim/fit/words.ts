// Numbers of a fit, written for people.
import type { FittedSpan } from "./spread.ts";
import { SortedSample } from "./statistics.ts";

/** Writes a length of time as scenarios do: `5s`, `250ms`, `2m`, `1h`. */
export function timeText(ms: number): string {
  if (ms % 1000 !== 0 || ms === 0) return `${ms}ms`;
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}

export function spanText({ least, most }: FittedSpan): string {
  if (most === 0) return "at once";
  return least === most ? timeText(least) : `${timeText(least)} to ${timeText(most)}`;
}

/** Writes a measured length of time, coarsely rounded: `412ms`, `5.4s`, `62s`, `48 min`, `31 h`. */
export function roughText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10}s`;
  if (ms < 600_000) return `${Math.round(ms / 1000)}s`;
  return ms < 36_000_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

/** Writes the median of values, ms, and the span of nine in ten. */
export function spreadText(values: readonly number[]): string {
  const sample = new SortedSample(values);
  return `median ${roughText(sample.median)}, nine in ten from ${roughText(sample.quantile(0.05))} to ${roughText(sample.quantile(0.95))}`;
}
