// Several pollers under one name, such as the screens of a shop: each begins when it is switched on, and then keeps to a
// clock of its own. All clocks have one period.
import { minuteMs } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { firstFreeOf } from "./runs.ts";
import { addAt, flatOf, SortedSample } from "./statistics.ts";

/** Shortest and longest period that is looked for, ms, and least width of a class of gaps. */
const periodLeastMs = 2_000;
const periodMostMs = 600_000;
const classMs = 100;
/** Distance from a clock's ticks, as a share of the period. */
const offShare = 0.002;
/** Most jobs whose period is looked for, as more would hardly show another one; and those of a row that is read. */
const jobsMost = 4_000;
const rowJobs = 100;
/** Least share of the jobs that one follows after a period, and least ratio to chance. */
const followedLeast = 0.5;
const timesChance = 4;
/** Most ticks from one poll to the next: a call that waits for its retry misses some. */
const ticksMost = 3;
/** Least polls of a clock, and least time that it goes, ms: a job that is waited for ends sooner. */
const pollsLeast = 50;
const lastsLeastMs = 30 * minuteMs;
/** Least share of the jobs that each poller makes, and most pollers of one name. */
const pollerLeast = 0.02;
const pollersMost = 12;

/** Jobs of each poller, and all others. */
export interface Pollers {
  readonly everyMs: number;
  readonly pollers: readonly (readonly RecordedJob[])[];
  readonly rest: readonly RecordedJob[];
}

/** Finds several pollers of one period under one name; `null` if there are none. */
export function pollersOf(jobs: readonly RecordedJob[], slackMs: number): Pollers | null {
  const everyMs = periodOf(jobs, slackMs);
  if (everyMs === null) return null;
  const offMs = slackMs + offShare * everyMs;
  const polls = flatOf(strandsOf(jobs, everyMs, offMs).filter(isLasting)).sort(
    (a, b) => a.startMs - b.startMs,
  );
  // A poller is not due again until a period is over.
  const due = polls.map((job) => ({
    startMs: job.startMs,
    endMs: job.startMs + everyMs - 2 * offMs,
    jobs: 1,
    job,
  }));
  const pollers = firstFreeOf(due)
    .map((loop) => loop.map(({ job }) => job))
    .filter(({ length }) => length >= pollerLeast * jobs.length);
  if (pollers.length < 2 || pollers.length > pollersMost) return null;
  const taken = new Set(flatOf(pollers));
  return taken.size < followedLeast * jobs.length
    ? null
    : { everyMs, pollers, rest: jobs.filter((job) => !taken.has(job)) };
}

/** Tells whether jobs kept to a clock for long enough to be those of a poller. */
const isLasting = (strand: readonly RecordedJob[]): boolean =>
  strand.length >= pollsLeast &&
  (strand.at(-1) as RecordedJob).startMs - (strand[0] as RecordedJob).startMs >= lastsLeastMs;

/** Returns the period after which most jobs are followed by another one, ms; `null` if there is none. */
function periodOf(jobs: readonly RecordedJob[], slackMs: number): number | null {
  const step = Math.ceil(jobs.length / jobsMost);
  const widthMs = 2 * slackMs + classMs;
  const counts = new Array<number>(Math.ceil(periodMostMs / widthMs)).fill(0);
  const eachGap = (of: (gapMs: number) => void): void => {
    // Every third call may be one poller's: calls are read in rows.
    for (let place = 0; place < jobs.length; place++) {
      if (Math.floor(place / rowJobs) % step > 0) continue;
      for (let next = place + 1; next < jobs.length; next++) {
        const gapMs = (jobs[next] as RecordedJob).startMs - (jobs[place] as RecordedJob).startMs;
        if (gapMs >= periodMostMs) break;
        of(gapMs);
      }
    }
  };
  eachGap((gapMs) => addAt(counts, Math.floor(gapMs / widthMs)));
  // A period's gaps may lie across two classes.
  const inTwo = counts.map((count, place) => count + (counts[place + 1] ?? 0));
  const least = Math.max((followedLeast * jobs.length) / step, timesChance * new SortedSample(inTwo).median);
  const first = inTwo.findIndex((count, place) => place * widthMs >= periodLeastMs && count >= least);
  if (first < 0) return null;
  const from = (inTwo[first + 1] ?? 0) > (inTwo[first] as number) ? first + 1 : first;
  const gapsMs: number[] = [];
  eachGap((gapMs) => {
    if (gapMs >= from * widthMs && gapMs < (from + 2) * widthMs) gapsMs.push(gapMs);
  });
  return new SortedSample(gapsMs).median;
}

/** Joins jobs that are whole periods apart; each goes on with the clock that is nearest. */
function strandsOf(jobs: readonly RecordedJob[], everyMs: number, offMs: number): RecordedJob[][] {
  const strands: RecordedJob[][] = [];
  let open: RecordedJob[][] = [];
  for (const job of jobs) {
    open = open.filter(
      (strand) => job.startMs - (strand.at(-1) as RecordedJob).startMs <= ticksMost * everyMs + offMs,
    );
    let [nearest, leastMs]: [RecordedJob[] | null, number] = [null, offMs];
    for (const strand of open) {
      const gapMs = job.startMs - (strand.at(-1) as RecordedJob).startMs;
      const ticks = Math.round(gapMs / everyMs);
      const off = Math.abs(gapMs - ticks * everyMs);
      if (ticks >= 1 && off <= leastMs) [nearest, leastMs] = [strand, off];
    }
    if (nearest === null) {
      const strand = [job];
      strands.push(strand);
      open.push(strand);
    } else nearest.push(job);
  }
  return strands;
}
