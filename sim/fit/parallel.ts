// Workers that run side by side under one name, as those of an evening's settlement: each waits as long after its calls,
// but calls of others come between. While one waits for a reset, the others go on: each is a timetable of its own.
import { timetableOf } from "./arrivals.ts";
import { dayMs, isWeekend, weekdayOf } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { type ClockedSessions, rareOverlaps } from "./profile.ts";
import { coarseMs, firstFreeOf, spellsOf } from "./runs.ts";
import { sessionsOf } from "./sessions.ts";
import type { FittedSpan } from "./spread.ts";
import { flatOf, sumOf } from "./statistics.ts";

/** Number of jobs before a job among which the one that it follows is looked for. */
const lookedBack = 24;
/** Longest wait that is looked for, ms. */
const waitMost = 120_000;
/** Least share of the jobs that come after one wait while others came between, and least ratio to chance. */
const shareLeast = 0.3;
const manyMore = 5;
/** Least number of jobs that tell. */
const jobsLeast = 100;

/** Splits sessions by the clock among the workers that make their calls; those of one worker stay as they are. */
export function workersOf(whole: ClockedSessions, slackMs: number): readonly ClockedSessions[] {
  const wait = parallelWait(whole.jobs, slackMs);
  if (wait === null) return [whole];
  let from = 0;
  const sessions = whole.sizes.map((size) => {
    from += size;
    return lanesOf(strandsOf(whole.jobs.slice(from - size, from), wait, slackMs));
  });
  const most = Math.max(...sessions.map(({ length }) => length));
  const lanes = Array.from({ length: most }, (_, lane) => sessions.map((session) => session[lane] ?? []));
  const jobsOf = (lane: readonly (readonly RecordedJob[])[]): number =>
    sumOf(lane.map(({ length }) => length));
  return lanes
    .filter((lane) => jobsOf(lane) > rareOverlaps * whole.jobs.length)
    .map((lane) => clockedLike(whole, lane));
}

/**
 * Returns the wait at which jobs come after answers to jobs that were not the last ones; `null` if there is none. Jobs at
 * once, or in a row, count as one.
 */
export function parallelWait(jobs: readonly RecordedJob[], slackMs: number): FittedSpan | null {
  if (jobs.length < jobsLeast || slackMs >= coarseMs) return null;
  let next = 0;
  const spells = spellsOf(jobs).map(({ startMs, endMs, jobs: size }) => {
    next += size;
    return { startMs, endMs, refused: (jobs[next - 1] as RecordedJob).refused };
  });
  const last = new Waits(slackMs);
  const earlier = new Waits(slackMs);
  for (const [place, { startMs }] of spells.entries())
    for (let before = place - 1; before >= Math.max(0, place - lookedBack); before--) {
      const { endMs, refused } = spells[before] as (typeof spells)[number];
      // A call after a refusal may be its retry.
      if (!refused) (before === place - 1 ? last : earlier).add(startMs - endMs);
    }
  // One loop of even pauses comes at even waits after all of its calls.
  const isParallel =
    last.most < shareLeast * spells.length && earlier.most >= shareLeast * spells.length && earlier.isMany;
  return isParallel ? earlier.usual : null;
}

/** Joins jobs that come at once or after the wait; each goes on with the strand that is due first. */
function strandsOf(
  jobs: readonly RecordedJob[],
  { least, most }: FittedSpan,
  slackMs: number,
): readonly (readonly RecordedJob[])[] {
  const strands: RecordedJob[][] = [];
  for (const job of jobs) {
    let [due, untilMs]: [RecordedJob[] | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const strand of strands) {
      const { endMs } = strand.at(-1) as RecordedJob;
      const pauseMs = job.startMs - endMs;
      const isNext = Math.abs(pauseMs) <= slackMs;
      const dueMs = isNext ? endMs : endMs + most;
      if ((isNext || (pauseMs >= least && pauseMs <= most)) && dueMs < untilMs)
        [due, untilMs] = [strand, dueMs];
    }
    if (due === null) strands.push([job]);
    else due.push(job);
  }
  return strands;
}

/** Gives each strand to the first worker that is free. */
const lanesOf = (strands: readonly (readonly RecordedJob[])[]): RecordedJob[][] =>
  firstFreeOf(
    strands.map((own) => {
      const [first, last] = [own[0], own.at(-1)] as [RecordedJob, RecordedJob];
      return { startMs: first.startMs, endMs: last.endMs, jobs: own.length, own };
    }),
  ).map((lane) => lane.flatMap(({ own }) => own));

/** Describes one worker's sessions: it may begin later than the others, or on weekdays alone. */
function clockedLike(
  { timetable, periodMs, startsMs: allMs }: ClockedSessions,
  lane: readonly (readonly RecordedJob[])[],
): ClockedSessions {
  const sessions = lane.filter(({ length }) => length > 0);
  const startsMs = sessions.map((jobs) => (jobs[0] as RecordedJob).startMs);
  const own = timetableOf([startsMs], periodMs, true) ?? timetable;
  const atWeekends = (some: readonly number[]): boolean => some.some((ms) => isWeekend(weekdayOf(ms)));
  const isWorking = periodMs === dayMs && atWeekends(allMs) && !atWeekends(startsMs);
  const days = isWorking ? "1-5" : (timetable.schedule.split(" ").at(-1) as string);
  return {
    timetable: { ...own, schedule: own.schedule.replace(/\S+$/, days) },
    periodMs,
    startsMs,
    jobs: flatOf(sessions),
    sizes: sessions.map(({ length }) => length),
    pausesMs: flatOf(sessions.map((jobs) => sessionsOf(jobs, Number.POSITIVE_INFINITY).pausesMs)),
  };
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
    return Math.max(...this.#inTwo());
  }

  /** The most frequent length, with a count's width on either side. */
  get usual(): FittedSpan {
    const place = this.#inTwo().indexOf(this.most);
    return { least: (place - 1) * this.#widthMs, most: (place + 3) * this.#widthMs };
  }

  /** True if that length is far more frequent than others. */
  get isMany(): boolean {
    return this.most * this.#counts.length >= manyMore * 2 * this.#all;
  }

  #inTwo(): Uint32Array {
    return this.#counts.map((count, wait) => count + (this.#counts[wait + 1] ?? 0));
  }
}
