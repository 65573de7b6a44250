// Callers that adapt their pace: after a refusal they leave longer pauses, call after call, and shorten them again with
// time. A fitted scenario keeps one pace, so that it refuses such callers too often.
import { isRefused, type RecordedJob } from "./jobs.ts";
import type { Profile } from "./profile.ts";
import { absenceOf } from "./sessions.ts";
import { SortedSample } from "./statistics.ts";

/** Number of pauses before and after a refused job that are compared. */
const pausesBeside = 5;
/** Least number of refused jobs that tell. */
const refusedLeast = 30;
/** Least ratio of the pauses after refusals to those before. */
const muchSlower = 1.5;

/** A caller whose pauses grow by refusals. */
export interface Adapting {
  readonly user: string;
  /** Middle ratio of the pauses after a refused job to those before. */
  readonly ratio: number;
}

/**
 * Returns the callers that are much slower after refusals than before, the slowest first; none if most refusals are of
 * others. Of some callers, calls are slower after refusals because a burst that was refused ends.
 */
export function adaptingCallers(profiles: readonly Profile[]): readonly Adapting[] {
  const refusedOf = (some: readonly { readonly refused: number }[]): number =>
    some.reduce((sum, { refused }) => sum + refused, 0);
  const adapting = profiles
    .filter(({ refused }) => refused >= refusedLeast)
    .map(({ caller: { user }, jobs, pausesMs, refused }) => ({
      ...{ user, refused },
      ratio: slowdown(jobs, absenceOf(pausesMs)),
    }))
    .filter(({ ratio }) => ratio >= muchSlower)
    .toSorted((a, b) => b.ratio - a.ratio);
  return refusedOf(adapting) > refusedOf(profiles) / 2 ? adapting : [];
}

/**
 * Returns the middle ratio of pauses after refused jobs to pauses before; 1 if too few were refused.
 * @param awayMs length above which a pause is an absence, ms; 0 if there are none
 */
function slowdown(jobs: readonly RecordedJob[], awayMs: number): number {
  const pauseBefore = (place: number): number => {
    const [job, before] = [jobs[place], jobs[place - 1]];
    return job === undefined || before === undefined ? Number.NaN : job.startMs - before.endMs;
  };
  const beside = (place: number): number | null => {
    const pauses = Array.from({ length: pausesBeside }, (_, index) => pauseBefore(place + index));
    return pauses.every((ms) => ms > 0 && (awayMs === 0 || ms <= awayMs))
      ? new SortedSample(pauses).median
      : null;
  };
  const ratios = jobs.flatMap(({ first }, place) => {
    if (!isRefused(first)) return [];
    const [before, after] = [beside(place - pausesBeside), beside(place + 1)];
    return before === null || after === null ? [] : [after / before];
  });
  return ratios.length < refusedLeast ? 1 : new SortedSample(ratios).median;
}
