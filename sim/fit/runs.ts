// Jobs → runs of jobs that belong together, and their shape: a call, a volley, a list page by page, a queue.
import type { RecordedJob } from "./jobs.ts";
import { mode, SortedSample } from "./statistics.ts";

export type RunForm =
  | { readonly kind: "call" }
  | { readonly kind: "burst"; readonly size: number }
  /** All jobs are wanted at once; `workers` take them one by one. */
  | { readonly kind: "queue"; readonly jobs: number; readonly workers: number }
  /** Number of pages at most. `last`: page without a next one, if calls sometimes ask for pages beyond it. */
  | {
      readonly kind: "pager";
      readonly pages: number;
      readonly last: number | null;
      readonly parallel: number;
    };

/** Time in which a caller had jobs open, ms since the epoch, and the number of these jobs. */
export interface Spell {
  readonly startMs: number;
  readonly endMs: number;
  readonly jobs: number;
}

/** Jobs that belong together: each begins before earlier ones end, or as soon as they end. */
export interface JobRun extends Spell {
  /** True if the last job was refused. */
  readonly refused: boolean;
  /** Instant of the first answer to any job, ms since the epoch. */
  readonly firstEndMs: number;
  /** Number of jobs that began at the run's start. */
  readonly together: number;
  /** Most jobs open at once. */
  readonly open: number;
}

/** Tells whether most long runs end with a refusal: then the limit sets their length, not the caller. */
export function endedByRefusals(runs: readonly JobRun[]): boolean {
  const long = runs.filter(({ jobs }) => jobs > 1);
  return long.length > 0 && 2 * long.filter(({ refused }) => refused).length >= long.length;
}

export function runsOf(jobs: readonly RecordedJob[], slackMs: number): JobRun[] {
  const runs: JobRun[] = [];
  for (let from = 0; from < jobs.length; ) {
    let { endMs } = jobs[from] as RecordedJob;
    let to = from + 1;
    for (; to < jobs.length; to++) {
      const job = jobs[to] as RecordedJob;
      if (job.startMs > endMs + slackMs) break;
      endMs = Math.max(endMs, job.endMs);
    }
    runs.push(runOf(jobs, from, to, slackMs));
    from = to;
  }
  return runs;
}

/** Makes a run of the jobs of some places. A job alone is a run by itself. */
function runOf(jobs: readonly RecordedJob[], from: number, to: number, slackMs: number): JobRun {
  const first = jobs[from] as RecordedJob;
  if (to === from + 1) return first;
  const { startMs } = first;
  let { endMs, firstEndMs } = first;
  let together = 1;
  for (let place = from + 1; place < to; place++) {
    const job = jobs[place] as RecordedJob;
    if (beganWith({ startMs, firstEndMs }, job, slackMs)) together += 1;
    firstEndMs = Math.min(firstEndMs, job.firstEndMs);
    endMs = Math.max(endMs, job.endMs);
  }
  const { refused } = jobs[to - 1] as RecordedJob;
  const open = mostOpen(jobs.slice(from, to));
  return { startMs, endMs, jobs: to - from, refused, firstEndMs, together, open };
}

/**
 * Error of a time in a log, ms: starts are whole, ends are a start and a duration. A call that was sent as soon as another
 * was answered may seem to begin so much before that.
 */
const wholeMs = 1;

/** Returns the most jobs open at once, of jobs in the order of starts. A job that ends as another begins is over. */
export function mostOpen(jobs: readonly RecordedJob[]): number {
  if (jobs.length === 1) return 1;
  const { sorted } = new SortedSample(jobs.map(({ endMs }) => endMs));
  let most = 0;
  let over = 0;
  for (const [index, { startMs }] of jobs.entries()) {
    // A job that takes no time is open at its start.
    while (over < index && (sorted[over] as number) < startMs + wholeMs) over += 1;
    most = Math.max(most, index + 1 - over);
  }
  return most;
}

/** Most calls that `burst`, `queue` and `pager` have open at once (src/scenario/behaviours). */
const burstMost = 10_000;
const workersMost = 1_000;
const parallelMost = 100;

/** Returns the spells in which some of the jobs are open. */
export function spellsOf(jobs: readonly RecordedJob[]): readonly Spell[] {
  const spells: { startMs: number; endMs: number; jobs: number }[] = [];
  for (const { startMs, endMs } of jobs) {
    const spell = spells.at(-1);
    if (spell === undefined || startMs + wholeMs > spell.endMs) spells.push({ startMs, endMs, jobs: 1 });
    else {
      spell.jobs += 1;
      spell.endMs = Math.max(spell.endMs, endMs);
    }
  }
  return spells;
}

/** Least share of a caller's calls in spells of several calls, for volleys. */
const volleysShare = 0.2;
/** Least share of these calls that are open together, for volleys. */
const togetherLeast = 0.5;
/** Least number of spells that can show volleys. */
const volleysLeast = 20;
/** Ratio of the median pause to the median length of spells above which calls are volleys. */
const muchLonger = 4;

/**
 * Returns a caller's volleys: spells of several calls at once, with much longer pauses between them. `null` if its calls
 * overlap otherwise, or its clock is too coarse.
 */
export function volleysOf(jobs: readonly RecordedJob[], slackMs: number): readonly Spell[] | null {
  const volleys = spellsOf(jobs);
  if (slackMs >= coarseMs || volleys.length < volleysLeast) return null;
  let [from, open, several] = [0, 0, 0];
  for (const volley of volleys) {
    if (volley.jobs > 1) {
      const own = jobs.slice(from, from + volley.jobs);
      const most = mostOpen(own);
      // A few workers that share a volley all begin with it: each takes its next call as soon as one was answered.
      open += begunTogether(own) >= most ? volley.jobs : most;
      several += volley.jobs;
    }
    from += volley.jobs;
  }
  const lengths = new SortedSample(volleys.map(({ startMs, endMs }) => endMs - startMs));
  const pauses = new SortedSample(
    volleys.slice(1).map(({ startMs }, index) => startMs - (volleys[index] as Spell).endMs),
  );
  // Independent loops overlap now and then, so a few spells of several calls show no volleys.
  const areMany = several >= volleysShare * jobs.length && open >= togetherLeast * several;
  return areMany && pauses.median > muchLonger * lengths.median ? volleys : null;
}

/** Counts the jobs that began together: early before any of them was answered. */
export function begunTogether(jobs: readonly RecordedJob[]): number {
  const [{ startMs: fromMs }] = jobs as [RecordedJob];
  const answerMs = new SortedSample(jobs.map(({ first }) => first.endMs)).least;
  return jobs.filter(({ startMs }) => startMs - fromMs < (answerMs - fromMs) / 2).length;
}

/** Resolution, ms, from which a clock is too coarse to order calls: those of one second look simultaneous. */
export const coarseMs = 1000;

/** Tells whether a job began with its run, not after an answer. */
function beganWith(
  { startMs, firstEndMs }: Pick<JobRun, "startMs" | "firstEndMs">,
  job: RecordedJob,
  slackMs: number,
): boolean {
  const atMs = Math.max(job.startMs, job.first.atMs);
  return atMs - startMs <= slackMs && (atMs < firstEndMs || slackMs >= coarseMs);
}

/** Returns the shape that runs share; `null` if their lengths differ, so that they are no unit. */
export function shapeOf(runs: readonly JobRun[]): RunForm | null {
  // The recording's end may have cut the last run off.
  const whole = runs.length > 2 ? runs.slice(0, -1) : runs;
  const lengths = new SortedSample(whole.map(({ jobs }) => jobs));
  const length = mode(whole.map(({ jobs }) => jobs));
  if (length.value === 1 && length.share >= 0.9) return { kind: "call" };
  if (length.value <= 1) return null;
  const usual = whole.filter(({ jobs }) => jobs === length.value);
  const together = new SortedSample(usual.map((run) => run.together)).median;
  const parallel = new SortedSample(usual.map(({ open }) => open)).median;
  if (length.share >= 0.6 && together >= 0.8 * length.value)
    return length.value > burstMost ? null : { kind: "burst", size: length.value };
  if (parallel > parallelMost) return null;
  // One endless run is a worker without pauses, unless several calls are open at once.
  if (runs.length === 1 && (parallel === 1 || together >= parallel)) return null;
  if (lengths.quantile(0.05) === length.value && length.share >= 0.95)
    return { kind: "pager", pages: length.value, last: null, parallel };
  // When the last page comes, up to `parallel - 1` calls for pages beyond it are open.
  const [last, pages] = [lengths.quantile(0.05), lengths.quantile(0.95)];
  if (last > 1 && pages - last < parallel) return { kind: "pager", pages, last, parallel };
  return length.share >= 0.6 ? { kind: "pager", pages: length.value, last: null, parallel } : null;
}

/** Returns a queue if all jobs were wanted at one instant, but many had to wait for a worker; else `null`. */
export function queueOf(
  jobs: readonly RecordedJob[],
  slackMs: number,
): (RunForm & { readonly kind: "queue" }) | null {
  const [first] = jobs;
  if (first === undefined || jobs.length < 5) return null;
  const waited = jobs.filter(({ first: { atMs }, startMs }) => atMs > startMs + slackMs);
  if (waited.length < 0.3 * jobs.length || jobs.some(({ startMs }) => startMs - first.startMs > slackMs))
    return null;
  // Each job that began before the first answer had a worker of its own.
  const firstAnswerMs = new SortedSample(jobs.map((job) => job.first.endMs)).least;
  const workers = jobs.filter((job) => job.first.atMs < firstAnswerMs).length;
  return workers > workersMost ? null : { kind: "queue", jobs: jobs.length, workers: Math.max(1, workers) };
}

/** Splits spells into loops that each have one at a time: a spell goes to the loop whose last one ended last before it. */
export function loopsIn<Each extends Spell>(spells: readonly Each[]): readonly (readonly Each[])[] {
  const loops: { endMs: number; readonly own: Each[] }[] = [];
  for (const spell of spells) {
    let free: (typeof loops)[number] | null = null;
    for (const loop of loops)
      if (loop.endMs <= spell.startMs && (free === null || loop.endMs > free.endMs)) free = loop;
    if (free === null) loops.push({ endMs: spell.endMs, own: [spell] });
    else {
      free.endMs = spell.endMs;
      free.own.push(spell);
    }
  }
  return loops.map(({ own }) => own);
}

/** Gives each spell to the first loop that is free. */
export function firstFreeOf<Each extends Spell>(spells: readonly Each[]): Each[][] {
  const loops: Each[][] = [];
  for (const spell of spells) {
    const free = loops.find((loop) => (loop.at(-1) as Each).endMs <= spell.startMs);
    if (free === undefined) loops.push([spell]);
    else free.push(spell);
  }
  return loops;
}
