// Retries of a caller whose calls overlap, as those of several workers do. Nobody sees which call retries which; but
// refused calls come back after their wait, when otherwise fewer calls would come.
import { isRefused, type Jobs, jobsWithin } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import type { RecordedCaller } from "./recording.ts";
import { guessRetry, type RetryGuess } from "./retries.ts";

/** Waits of workers that are tried, ms, and factors by which they grow from attempt to attempt. */
export const workersWaitsMs = [1_000, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000, 60_000];
const factors = [1, 2];
/** Lateness of a retry that waits for a free worker, as a share of its wait. */
export const lateShare = 0.1;
/** Ratio of another time, at which as many calls come by chance, to the wait. */
const otherTime = 1.5;
/** Least refusals, and least share of them with a call more than usual after the wait, that show retries. */
const refusalsLeast = 10;
const againLeast = 0.5;

/** Jobs with retries, and the policy that these show. */
export interface Returns {
  readonly jobs: Jobs;
  readonly guess: RetryGuess;
}

/** Finds retries some time after refusals; `null` if hardly more calls come then than at other times. */
export function returnsOf(caller: RecordedCaller, limits: Limits, slackMs: number): Returns | null {
  const refusals = caller.calls.filter(isRefused).length;
  if (refusals < refusalsLeast) return null;
  let best: { readonly jobs: Jobs; readonly more: number } | null = null;
  for (const factor of factors)
    for (const waitMs of workersWaitsMs) {
      const jobs = triedAfter(caller, limits, waitMs, factor);
      const usual = triedAfter(caller, limits, otherTime * waitMs, factor).retries.length;
      const more = (jobs.retries.length - usual) / (refusals - usual);
      if (more > (best?.more ?? againLeast)) best = { jobs, more };
    }
  const guess = best === null ? null : guessRetry(best.jobs.retries, slackMs, null);
  return best === null || guess === null ? null : { jobs: best.jobs, guess };
}

const triedAfter = (caller: RecordedCaller, limits: Limits, waitMs: number, factor: number): Jobs =>
  jobsWithin(caller, limits, ({ attempt }) => {
    const least = waitMs * factor ** attempt;
    return { least, most: least * (1 + lateShare) };
  });
