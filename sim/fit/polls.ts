// Jobs under one name that each poll until they end, such as those of a CI: several run at a time, so calls overlap as
// those of many people do. But most calls are followed by another one after the same pause. Which job a call is of is
// not certain; how many run at a time, and for how long, is.
import { exp, ln } from "../../src/scenario/elementary.ts";
import { isRefused, type Jobs, jobsAtResets, jobsWithin, type RecordedJob } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { RecordedCaller } from "./recording.ts";
import { joined, type Sessions, sessionsOf } from "./sessions.ts";
import type { FittedSpan } from "./spread.ts";
import { addAt, sumOf } from "./statistics.ts";

/** Jobs of a caller, and the sessions in which they poll. */
export interface Polls {
  readonly jobs: Jobs;
  readonly sessions: Sessions;
}

/** Shortest and longest pause that is looked for, ms; shorter ones lie within bursts. */
const pauseLeastMs = 1_000;
const pauseMostMs = 60_000;
/** Ratio of the ends of a class of pauses, and most classes of a poll's pauses: half as long again. */
const classRatio = 1.05;
const classesMost = 8;
/** Least calls that show what follows them, and most that are read. */
const callsLeast = 100;
const callsMost = 4_000;
/** Least share of the calls that another one follows after the pause, beyond those that do by chance. */
const followedLeast = 0.6;
/** Least share of the calls with which a session goes on. In bursts many calls follow after a pause, but few go on. */
const goesOnLeast = 0.75;
/** Greatest share of refused calls of which nothing is known, for a caller few of whose calls are refused. */
const refusedFew = 0.02;

/**
 * Returns a caller's polls; `null` unless most of its calls are followed after one pause. Most of its refused ones are
 * followed after one, too, or at the reset.
 */
export function pollsOf(caller: RecordedCaller, limits: Limits, slackMs: number): Polls | null {
  const { calls } = caller;
  const refused = calls.filter(isRefused);
  const pause = followedAfter(
    calls.filter((call) => !isRefused(call)),
    calls,
  );
  if (pause === null) return null;
  const again = followedAfter(refused, calls);
  const atResets = again === null ? jobsAtResets(caller, limits) : null;
  if (again === null && atResets === null && refused.length > refusedFew * calls.length) return null;
  const jobs = atResets ?? jobsWithin(caller, limits, () => again);
  const lanes = lanesOf(jobs.jobs, pause, slackMs);
  if (lanes.length > (1 - goesOnLeast) * jobs.jobs.length) return null;
  return { jobs, sessions: joined(lanes.map((lane) => sessionsOf(lane, Number.POSITIVE_INFINITY))) };
}

const ends: readonly number[] = Array.from(
  { length: Math.ceil(ln(pauseMostMs / pauseLeastMs) / ln(classRatio)) + 1 },
  (_, place) => pauseLeastMs * exp(place * ln(classRatio)),
);

/** Returns the span of pauses after which most of these calls are followed by one of all; `null` if there is none. */
function followedAfter(from: readonly RecordedCall[], all: readonly RecordedCall[]): FittedSpan | null {
  if (from.length < callsLeast) return null;
  const step = Math.ceil(from.length / callsMost);
  const read = from.filter((_, place) => place % step === 0);
  const counts = new Array<number>(ends.length).fill(0);
  let first = 0;
  for (const { endMs, atMs } of read) {
    while ((all[first] as RecordedCall).atMs < atMs) first += 1;
    for (let place = first; place < all.length; place++) {
      const pauseMs = (all[place] as RecordedCall).atMs - endMs;
      if (pauseMs >= pauseMostMs) break;
      if (pauseMs >= pauseLeastMs) addAt(counts, Math.floor(ln(pauseMs / pauseLeastMs) / ln(classRatio)));
    }
  }
  const best = bestSpan(counts);
  return best.excess < followedLeast * read.length ? null : best.span;
}

/** Returns the span of classes that stands out most above the classes beside it. */
function bestSpan(counts: readonly number[]): { readonly span: FittedSpan; readonly excess: number } {
  let best = { span: { least: 0, most: 0 }, excess: 0, clear: 0 };
  for (let from = classesMost; from < counts.length; from++)
    for (let to = from + 1; to <= from + classesMost && to + classesMost < counts.length; to++) {
      const count = sumOf(counts.slice(from, to));
      const beside =
        sumOf(counts.slice(from - classesMost, from)) + sumOf(counts.slice(to, to + classesMost));
      const [least, most] = [ends[from] as number, ends[to] as number];
      const besideMs =
        least - (ends[from - classesMost] as number) + (ends[to + classesMost] as number) - most;
      const excess = count - (beside * (most - least)) / besideMs;
      const clear = excess / Math.sqrt(count + 1);
      if (clear > best.clear) best = { span: { least, most }, excess, clear };
    }
  return best;
}

/** Deals jobs out to lanes: each goes on with the lane that is due first. */
function lanesOf(
  jobs: readonly RecordedJob[],
  { least, most }: FittedSpan,
  slackMs: number,
): readonly (readonly RecordedJob[])[] {
  const lanes: RecordedJob[][] = [];
  let open: { readonly lane: RecordedJob[]; readonly fromMs: number; readonly untilMs: number }[] = [];
  for (const job of jobs) {
    open = open.filter(({ untilMs }) => job.startMs <= untilMs);
    const due = open
      .filter(({ fromMs }) => fromMs <= job.startMs)
      .reduce<(typeof open)[number] | null>(
        (first, other) => (first === null || other.untilMs < first.untilMs ? other : first),
        null,
      );
    if (due !== null) open = open.filter((other) => other !== due);
    const lane = due?.lane ?? [];
    if (due === null) lanes.push(lane);
    lane.push(job);
    open.push({ lane, fromMs: job.endMs + least - slackMs, untilMs: job.endMs + most + slackMs });
  }
  return lanes;
}
