// Jobs → runs: those that belong together, and the shape that they have: a call, a volley, a list page by page, a queue.
import { isRefused, type RecordedJob } from "./jobs.ts";
import { mode, SortedSample } from "./statistics.ts";

export type RunForm =
  | { readonly kind: "call" }
  | { readonly kind: "burst"; readonly size: number }
  /** All there at once, so many on the way at a time. */
  | { readonly kind: "queue"; readonly jobs: number; readonly workers: number }
  /** `pages` at most; `last`: the one that has no next page, where pages asked for beyond it come now and then. */
  | {
      readonly kind: "pager";
      readonly pages: number;
      readonly last: number | null;
      readonly parallel: number;
    };

/** A time at which a caller had something under way, ms since the epoch, and the number of jobs that this was. */
export interface Spell {
  readonly startMs: number;
  readonly endMs: number;
  readonly jobs: number;
}

/** Jobs that belong together: each begins before those before it are over, or at once when they are. */
export interface JobRun extends Spell {
  endMs: number;
  jobs: number;
  /** The last of them was refused. */
  refused: boolean;
  /** When there was an answer to any of them. */
  firstEndMs: number;
  /** Number of them that began at the start. */
  together: number;
  /** The most that were open at once. */
  open: number;
}

const alone = ({ startMs, endMs, first, last }: RecordedJob): JobRun => ({
  startMs,
  endMs,
  jobs: 1,
  refused: isRefused(last),
  firstEndMs: first.endMs,
  together: 1,
  open: 1,
});

/** Runs that end where a call is refused are as long as the limit has it, not as the caller would. */
export function endedByRefusals(runs: readonly JobRun[]): boolean {
  const long = runs.filter(({ jobs }) => jobs > 1);
  return long.length > 0 && 2 * long.filter(({ refused }) => refused).length >= long.length;
}

export function runsOf(jobs: readonly RecordedJob[], slackMs: number): JobRun[] {
  const runs: JobRun[] = [];
  let members: RecordedJob[] = [];
  for (const job of jobs) {
    const run = runs.at(-1);
    if (run === undefined || job.startMs > run.endMs + slackMs) {
      if (run !== undefined) run.open = mostOpen(members);
      runs.push(alone(job));
      members = [job];
      continue;
    }
    members.push(job);
    run.jobs += 1;
    run.refused = isRefused(job.last);
    if (beganWith(run, job, slackMs)) run.together += 1;
    run.firstEndMs = Math.min(run.firstEndMs, job.first.endMs);
    run.endMs = Math.max(run.endMs, job.endMs);
  }
  const last = runs.at(-1);
  if (last !== undefined) last.open = mostOpen(members);
  return runs;
}

/** The most that are open at once, of jobs in the order of their starts: one that ends as another begins is over. */
function mostOpen(jobs: readonly RecordedJob[]): number {
  if (jobs.length === 1) return 1;
  const { sorted } = new SortedSample(jobs.map(({ endMs }) => endMs));
  let most = 0;
  let over = 0;
  for (const [index, { startMs }] of jobs.entries()) {
    // A job that takes no time is open when it begins.
    while (over < index && (sorted[over] as number) <= startMs) over += 1;
    most = Math.max(most, index + 1 - over);
  }
  return most;
}

/** The most that `burst`, `queue` and `pager` have on the way at once (src/scenario/behaviours). */
const burstMost = 10_000;
const workersMost = 1_000;
const parallelMost = 100;

/** The spells in which some of the jobs are open. */
export function spellsOf(jobs: readonly RecordedJob[]): readonly Spell[] {
  const spells: { startMs: number; endMs: number; jobs: number }[] = [];
  for (const { startMs, endMs } of jobs) {
    const spell = spells.at(-1);
    if (spell === undefined || startMs >= spell.endMs) spells.push({ startMs, endMs, jobs: 1 });
    else {
      spell.jobs += 1;
      spell.endMs = Math.max(spell.endMs, endMs);
    }
  }
  return spells;
}

/** Calls are volleys where this share of them come with others, ... */
const volleysShare = 0.2;
/** ... of which this share are open together, ... */
const togetherLeast = 0.5;
/** ... and so many spells show it. */
const volleysLeast = 20;
/** Between volleys none is open for so many times as long. */
const muchLonger = 4;

/**
 * Jobs by the spells in which some of them are open, where a caller makes now some calls at once and now none for much
 * longer; `null` where its calls overlap otherwise, or its clock is too coarse to tell.
 */
export function volleysOf(jobs: readonly RecordedJob[], slackMs: number): readonly Spell[] | null {
  const volleys = spellsOf(jobs);
  if (slackMs >= coarseMs || volleys.length < volleysLeast) return null;
  let [from, open, several] = [0, 0, 0];
  for (const volley of volleys) {
    if (volley.jobs > 1) {
      open += mostOpen(jobs.slice(from, from + volley.jobs));
      several += volley.jobs;
    }
    from += volley.jobs;
  }
  const lengths = new SortedSample(volleys.map(({ startMs, endMs }) => endMs - startMs));
  const pauses = new SortedSample(
    volleys.slice(1).map(({ startMs }, index) => startMs - (volleys[index] as Spell).endMs),
  );
  // Loops that know nothing of each other overlap now and then.
  const areMany = several >= volleysShare * jobs.length && open >= togetherLeast * several;
  return areMany && pauses.median > muchLonger * lengths.median ? volleys : null;
}

/** A clock of whole seconds tells no calls apart that begin within one. */
export const coarseMs = 1000;

/** Tells whether a job began with its run, not upon an answer. */
function beganWith({ startMs, firstEndMs }: JobRun, job: RecordedJob, slackMs: number): boolean {
  const atMs = Math.max(job.startMs, job.first.atMs);
  return atMs - startMs <= slackMs && (atMs < firstEndMs || slackMs >= coarseMs);
}

/** `null` where runs are of no one length: they are no unit then. */
export function shapeOf(runs: readonly JobRun[]): RunForm | null {
  // The last one may have been cut off.
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
  // One endless run is a worker without pauses, unless several calls are on the way at once.
  if (runs.length === 1 && (parallel === 1 || together >= parallel)) return null;
  if (lengths.quantile(0.05) === length.value && length.share >= 0.95)
    return { kind: "pager", pages: length.value, last: null, parallel };
  // Pages on the way when the last one comes are asked for in vain, `parallel - 1` of them at most.
  const [last, pages] = [lengths.quantile(0.05), lengths.quantile(0.95)];
  if (last > 1 && pages - last < parallel) return { kind: "pager", pages, last, parallel };
  return length.share >= 0.6 ? { kind: "pager", pages: length.value, last: null, parallel } : null;
}

/** Jobs that were all wanted at one instant, and could not all begin then: so many workers took them one by one. */
export function queueOf(
  jobs: readonly RecordedJob[],
  slackMs: number,
): (RunForm & { readonly kind: "queue" }) | null {
  const [first] = jobs;
  if (first === undefined || jobs.length < 5) return null;
  const waited = jobs.filter(({ first: { atMs }, startMs }) => atMs > startMs + slackMs);
  if (waited.length < 0.3 * jobs.length || jobs.some(({ startMs }) => startMs - first.startMs > slackMs))
    return null;
  // Those that began before there was any answer were each taken by a worker of its own.
  const firstAnswerMs = new SortedSample(jobs.map((job) => job.first.endMs)).least;
  const workers = jobs.filter((job) => job.first.atMs < firstAnswerMs).length;
  return workers > workersMost ? null : { kind: "queue", jobs: jobs.length, workers: Math.max(1, workers) };
}
