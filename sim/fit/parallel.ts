// Loops that run side by side under one name, as workers of one job do: each waits as long, but other calls come between.
import type { RecordedJob } from "./jobs.ts";
import { coarseMs } from "./runs.ts";

/** Number of jobs before a job among which the one that it follows is looked for. */
const lookedBack = 24;
/** Longest wait that is looked for, ms. */
const waitMost = 120_000;
/** Least share of the jobs that come after one wait while others came between, and least ratio to chance. */
const shareLeast = 0.3;
const manyMore = 5;
/** Least number of jobs that tell. */
const jobsLeast = 100;

/** Tells whether jobs come at one wait after answers to jobs that were not the last ones. */
export function areParallel(jobs: readonly RecordedJob[], slackMs: number): boolean {
  if (jobs.length < jobsLeast || slackMs >= coarseMs) return false;
  const last = new Waits(slackMs);
  const earlier = new Waits(slackMs);
  for (const [place, { startMs }] of jobs.entries())
    for (let before = place - 1; before >= Math.max(0, place - lookedBack); before--) {
      const { endMs, refused } = jobs[before] as RecordedJob;
      // A call after a refusal may be its retry.
      if (!refused) (before === place - 1 ? last : earlier).add(startMs - endMs);
    }
  // One loop of even pauses comes at even waits after all of its calls.
  return last.most < shareLeast * jobs.length && earlier.most >= shareLeast * jobs.length && earlier.isMany;
}

/** Counts of waits by length. */
class Waits {
  readonly #widthMs: number;
  readonly #counts: Uint32Array;
  #all = 0;

  constructor(slackMs: number) {
    this.#widthMs = 2 * slackMs;
    this.#counts = new Uint32Array(Math.ceil(waitMost / this.#widthMs));
  }

  add(waitMs: number): void {
    const wait = Math.floor(waitMs / this.#widthMs);
    // Calls right after answers are of one job.
    if (wait < 1 || wait >= this.#counts.length) return;
    this.#counts[wait] = (this.#counts[wait] as number) + 1;
    this.#all += 1;
  }

  /** Number of waits of the most frequent length: it may lie across two of the counts. */
  get most(): number {
    return this.#counts.reduce(
      (most, count, wait) => Math.max(most, count + (this.#counts[wait + 1] ?? 0)),
      0,
    );
  }

  /** True if that length is far more frequent than others. */
  get isMany(): boolean {
    return this.most * this.#counts.length >= manyMore * 2 * this.#all;
  }
}
