// The lateness of the generator: the time from when a call could leave first to when it left.
import { createHistogram } from "node:perf_hooks";

/** Lateness over all calls that left, ms of the run's clock. */
export interface Lateness {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * Least p99 in ms at which a run's first line says that its generator was too slow. It is a tenth of a second, the unit
 * in which targets tell when to come back.
 */
const latenessMostMs = 100;

export const isTooSlow = ({ p99Ms }: Lateness): boolean => p99Ms >= latenessMostMs;

export class LatenessMeter {
  /** Counts ms plus 1, since a histogram takes nothing below 1. */
  readonly #histogram = createHistogram();

  left(dueMs: number, leftMs: number): void {
    this.#histogram.record(Math.max(0, leftMs - dueMs) + 1);
  }

  read(): Lateness {
    const histogram = this.#histogram;
    if (histogram.count === 0) return { calls: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 };
    return {
      calls: histogram.count,
      p50Ms: histogram.percentile(50) - 1,
      p99Ms: histogram.percentile(99) - 1,
      maxMs: histogram.max - 1,
    };
  }
}
