// A caller's calls → its sessions, with absences in between. A pause within a session belongs to its pace; an absence
// ends the session. Pauses and absences differ in length, as few lengths lie between both kinds.

import { exp } from "../../src/scenario/elementary.ts";
import { dayMs, isWeekend, weekdayOf } from "./days.ts";
import { classOf } from "./pace-classes.ts";
import type { Recording } from "./recording.ts";
import type { Spell } from "./runs.ts";
import { flatOf, SortedSample, sumOf } from "./statistics.ts";

/** One spell of work. */
export interface WorkSession {
  /** Instant at which the first job was wanted, ms since the epoch. */
  readonly startMs: number;
  /** Instant of the last answer, ms since the epoch. */
  endMs: number;
  /** Instant at which the last job, or volley, was wanted, ms since the epoch. */
  lastMs: number;
  jobs: number;
  /** Number of jobs, with jobs at once counted as one. */
  spells: number;
}

export interface Sessions {
  readonly sessions: readonly WorkSession[];
  /** Pauses from an answer to the next job, ms, within sessions, one session after the other. */
  readonly pausesMs: readonly number[];
  /** Number of jobs of each spell. */
  readonly sizes: readonly number[];
  /** Times from start to start, within sessions, ms. */
  readonly gapsMs: readonly number[];
}

/**
 * Cuts jobs, or volleys of jobs, into sessions.
 * @param awayMs length above which a pause is an absence, ms
 * @param lengthOf returns the length that a pause counts for, ms. Default: its own length
 */
export function sessionsOf(
  spells: readonly Spell[],
  awayMs: number,
  lengthOf: (fromMs: number, untilMs: number) => number = (fromMs, untilMs) => untilMs - fromMs,
): Sessions {
  const sessions: WorkSession[] = [];
  const pausesMs: number[] = [];
  const sizes: number[] = [];
  const gapsMs: number[] = [];
  let session: WorkSession | undefined;
  for (const { startMs, endMs, jobs } of spells) {
    sizes.push(jobs);
    if (session === undefined || lengthOf(session.endMs, startMs) > awayMs) {
      session = { startMs, endMs, lastMs: startMs, jobs, spells: 1 };
      sessions.push(session);
      continue;
    }
    pausesMs.push(Math.max(0, startMs - session.endMs));
    gapsMs.push(startMs - session.lastMs);
    session.jobs += jobs;
    session.spells += 1;
    session.lastMs = startMs;
    session.endMs = Math.max(session.endMs, endMs);
  }
  return { sessions, pausesMs, sizes, gapsMs };
}

/** Joins the sessions of several callers. */
export function joined(all: readonly Sessions[]): Sessions {
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  return {
    sessions: flatOf(all.map(({ sessions }) => sessions)),
    pausesMs: flatOf(all.map(({ pausesMs }) => pausesMs)),
    sizes: flatOf(all.map(({ sizes }) => sizes)),
    gapsMs: flatOf(all.map(({ gapsMs }) => gapsMs)),
  };
}

/** Time in which callers were watched, ms since the epoch. */
type Watched = Pick<Recording, "startedAtMs" | "endedAtMs">;

/** Least number of calls that can show when a caller joined. */
const fewCalls = 20;
/** Ratio of the first silence to the longest later one above which the caller had not joined yet. */
const muchQuieter = 3;

/**
 * Returns when a caller joined: its first call, if its silence before was a day or more, far longer than any later one,
 * and had a day like that of its first call, weekday or weekend; and if it went on for longer than it has been silent
 * since. Else: the recording's start.
 */
export function joinedMs(jobs: readonly Spell[], { startedAtMs, endedAtMs }: Watched): number {
  const firstMs = jobs[0]?.startMs ?? startedAtMs;
  const lastMs = jobs.at(-1)?.endMs ?? startedAtMs;
  const silentMs = firstMs - startedAtMs;
  if (silentMs < dayMs || jobs.length < fewCalls || endedAtMs - lastMs > lastMs - firstMs) return startedAtMs;
  const longestMs = jobs.reduce(
    (most, { startMs }, index) => Math.max(most, startMs - (jobs[index - 1]?.endMs ?? startMs)),
    0,
  );
  const days = Array.from({ length: Math.floor(silentMs / dayMs) }, (_, day) => startedAtMs + day * dayMs);
  const known = days.some((ms) => isWeekend(weekdayOf(ms)) === isWeekend(weekdayOf(firstMs)));
  return known && silentMs > muchQuieter * longestMs ? firstMs : startedAtMs;
}

/** Ratio of a session's jobs to the usual number above which the session is of another kind. */
const muchLonger = 2;

/** Tells whether a number of jobs is far above the usual one. */
export const isMuchLonger = (jobs: number, usual: number): boolean => jobs > muchLonger * usual + 2;

/** Returns the sessions that are much longer than the usual one. */
export function longAmong(sessions: readonly WorkSession[]): readonly WorkSession[] {
  const usual = new SortedSample(sessions.map(({ jobs }) => jobs)).median;
  return sessions.filter(({ jobs }) => isMuchLonger(jobs, usual));
}

/** Largest share of the time at work of callers who come so rarely that their absences show no hill. */
const rarelyShare = 0.1;
/** Ratio of the shortest of few absences to the longest pause. */
const farLonger = 20;

/**
 * Returns the length above which a pause is an absence, ms, of callers who come too rarely to show a hill of absences:
 * once or a few times, far apart, and only for a small share of the time. Returns 0 if they do not.
 */
export function rareAbsence(
  lives: readonly (readonly Spell[])[],
  { startedAtMs, endedAtMs }: Watched,
): number {
  const wholeMs = lives.length * (endedAtMs - startedAtMs);
  const pausesMs = flatOf(lives.map((spells) => sessionsOf(spells, Number.POSITIVE_INFINITY).pausesMs));
  const longest = [...pausesMs].sort((a, b) => b - a).slice(0, fewAbsences);
  let workMs = sumOf(lives.map((spells) => (spells.at(-1)?.endMs ?? 0) - (spells[0]?.startMs ?? 0)));
  let shortestMs = (wholeMs - workMs) / lives.length;
  for (const pauseMs of longest) {
    if (workMs <= rarelyShare * wholeMs && farLonger * pauseMs < shortestMs) return farLonger * pauseMs;
    workMs -= pauseMs;
    shortestMs = pauseMs;
  }
  return 0;
}

/** Number of classes of pauses, two to an octave, as lengths of pauses differ by ratio. */
const classes = 60;
const endOf = (index: number): number => Math.round(exp(((index + 1) * Math.LN2) / 2));
/** Least ratio of the lower hill to the valley between two kinds of lengths. */
const deepEnough = 2;
/** Ratio above which a valley shows by itself that there are two kinds. */
const clear = 3;
/** Least number of absences that can show a second hill. */
const fewAbsences = 4;

/** A length between two kinds of pauses, ms, and the ratio of the lower hill beside it to its own weight. */
interface Valley {
  readonly ms: number;
  readonly depth: number;
}
const noValley: Valley = { ms: 0, depth: 0 };

/**
 * Returns the length above which a pause is an absence, ms; 0 if lengths do not show two kinds.
 *
 * Short pauses have the numbers, and absences have the time. So each class weighs the root of its number times its sum,
 * and the cut is the deepest valley between two hills.
 */
export const absenceOf = (pausesMs: readonly number[]): number => absencesIn(pausesMs).awayMs;

/**
 * Returns the same, and the outermost clear valley, `outerMs`, ms, if shorter pauses are of several kinds: 0 if it is the
 * deepest, or if none is clear.
 */
export function absencesIn(pausesMs: readonly number[]): {
  readonly awayMs: number;
  readonly outerMs: number;
} {
  const valleys = valleysOf(pausesMs);
  const deepest = valleys.reduce((best, valley) => (valley.depth > best.depth ? valley : best), noValley);
  const outer = valleys.findLast(({ depth }) => depth >= clear) ?? deepest;
  return { awayMs: deepest.ms, outerMs: outer === deepest ? 0 : outer.ms };
}

/** Returns the valleys between hills that are deep enough, by length. */
function valleysOf(pausesMs: readonly number[]): readonly Valley[] {
  const counts = new Array<number>(classes).fill(0);
  const times = new Array<number>(classes).fill(0);
  for (const ms of pausesMs) {
    const index = Math.min(classes - 1, classOf(ms));
    (counts[index] as number) += 1;
    (times[index] as number) += Math.max(1, ms);
  }
  const weights = counts.map((count, index) => Math.sqrt(count * (times[index] as number)));
  const smooth = weights.map((_, index) => {
    const at = (place: number): number => weights[Math.min(classes - 1, Math.max(0, place))] as number;
    return at(index - 1) + 2 * at(index) + at(index + 1);
  });
  const highest = Math.max(...smooth);
  const depths = smooth.map((own, cut) => {
    if (sumOf(counts.slice(cut + 1)) < fewAbsences) return 0;
    const lower = Math.min(Math.max(...smooth.slice(0, cut)), Math.max(...smooth.slice(cut + 1)));
    return lower / (own + highest / 1000);
  });
  const valleys: Valley[] = [];
  for (let from = 1; from < classes; ) {
    const depth = depths[from] as number;
    let to = from;
    while (depths[to + 1] === depth) to += 1;
    // The cut is in the middle of a wide valley floor.
    if (depth >= deepEnough && depth > (depths[from - 1] as number) && depth > (depths[to + 1] as number))
      valleys.push({ ms: endOf(Math.floor((from + to) / 2)), depth });
    from = to + 1;
  }
  return valleys;
}

/** Returns the period of calls within sessions, ms; `null` if they keep to no clock. */
export function tickOf({ gapsMs }: Sessions, slackMs: number): number | null {
  if (gapsMs.length < 20) return null;
  const rough = new SortedSample(gapsMs).median;
  if (rough <= 4 * slackMs || rough < 500) return null;
  const near = gapsMs.filter((gap) => {
    const periods = Math.max(1, Math.round(gap / rough));
    return Math.abs(gap - periods * rough) <= 2 * slackMs + 0.01 * rough;
  });
  return near.length >= 0.9 * gapsMs.length ? rough : null;
}
