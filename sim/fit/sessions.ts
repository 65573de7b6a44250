// A caller's calls → its sessions: spells of work with absences in between. A pause inside a session is one of its pace;
// an absence ends it. What tells them apart is a gap among the lengths of pauses: few are of the lengths between.

import { exp, ln } from "../../src/scenario/elementary.ts";
import { dayMs, isWeekend, weekdayOf } from "./days.ts";
import type { Spell } from "./runs.ts";
import { SortedSample } from "./statistics.ts";

/** One spell of work. */
export interface WorkSession {
  /** When its first job was wanted, ms since the epoch. */
  readonly startMs: number;
  /** When its last answer was there. */
  endMs: number;
  /** When its last job was wanted. */
  lastMs: number;
  jobs: number;
  /** Number of jobs, where those at once are one. */
  spells: number;
}

export interface Sessions {
  readonly sessions: readonly WorkSession[];
  /** From an answer to the next job, within sessions, ms: of one session after the other. */
  readonly pausesMs: readonly number[];
  /** Number of jobs at once, of each spell. */
  readonly sizes: readonly number[];
  /** From start to start, within sessions, ms. */
  readonly gapsMs: readonly number[];
}

/**
 * Cuts jobs into sessions, or volleys of them.
 * @param awayMs a longer pause is an absence
 * @param lengthOf gives the length that a pause counts for, ms. Default: its own length
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
  for (const { startMs, endMs, jobs } of spells) {
    const session = sessions.at(-1);
    sizes.push(jobs);
    if (session === undefined || lengthOf(session.endMs, startMs) > awayMs) {
      sessions.push({ startMs, endMs, lastMs: startMs, jobs, spells: 1 });
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

/** Sessions of several callers. */
export const joined = (all: readonly Sessions[]): Sessions => ({
  sessions: all.flatMap(({ sessions }) => sessions),
  pausesMs: all.flatMap(({ pausesMs }) => pausesMs),
  sizes: all.flatMap(({ sizes }) => sizes),
  gapsMs: all.flatMap(({ gapsMs }) => gapsMs),
});

/** Fewer calls tell no first one from a late one. */
const fewCalls = 20;
/** Who was silent so many times as long as ever after was not there. */
const muchQuieter = 3;

/**
 * Returns when a caller joined: the recording's start, or its first call where it was silent before for a day or more,
 * far longer than ever after, though such days came before.
 */
export function joinedMs(jobs: readonly Spell[], { startedAtMs }: { readonly startedAtMs: number }): number {
  const firstMs = jobs[0]?.startMs ?? startedAtMs;
  const silentMs = firstMs - startedAtMs;
  if (silentMs < dayMs || jobs.length < fewCalls) return startedAtMs;
  const longestMs = jobs.reduce(
    (most, { startMs }, index) => Math.max(most, startMs - (jobs[index - 1]?.endMs ?? startMs)),
    0,
  );
  const days = Array.from({ length: Math.floor(silentMs / dayMs) }, (_, day) => startedAtMs + day * dayMs);
  const known = days.some((ms) => isWeekend(weekdayOf(ms)) === isWeekend(weekdayOf(firstMs)));
  return known && silentMs > muchQuieter * longestMs ? firstMs : startedAtMs;
}

/** A session that is so many times as long as the usual one is of another kind. */
const muchLonger = 2;

/** Tells whether so many jobs are many more than usual. */
export const isMuchLonger = (jobs: number, usual: number): boolean => jobs > muchLonger * usual + 2;

/** Those much longer than the usual one. */
export function longAmong(sessions: readonly WorkSession[]): readonly WorkSession[] {
  const usual = new SortedSample(sessions.map(({ jobs }) => jobs)).median;
  return sessions.filter(({ jobs }) => isMuchLonger(jobs, usual));
}

/** Two classes to an octave: lengths of pauses are told apart by their ratio. */
const classes = 60;
const classOf = (ms: number): number =>
  Math.min(classes - 1, Math.floor((2 * ln(Math.max(1, ms))) / Math.LN2));
const endOf = (index: number): number => Math.round(exp(((index + 1) * Math.LN2) / 2));
/** A valley between two kinds of lengths is this much lower than the lower hill beside it. */
const deepEnough = 2;
/** Fewer absences than these show no second hill. */
const fewAbsences = 4;

/**
 * Returns the length in ms above which a pause is an absence; 0 where lengths show no two kinds of them.
 *
 * Short pauses are many, and absences take the time. So lengths are weighed by the root of their number times their
 * sum, and the cut is the deepest valley between two hills.
 */
export function absenceOf(pausesMs: readonly number[]): number {
  const counts = new Array<number>(classes).fill(0);
  const times = new Array<number>(classes).fill(0);
  for (const ms of pausesMs) {
    const index = classOf(ms);
    (counts[index] as number) += 1;
    (times[index] as number) += Math.max(1, ms);
  }
  const weights = counts.map((count, index) => Math.sqrt(count * (times[index] as number)));
  const smooth = weights.map((_, index) => {
    const at = (place: number): number => weights[Math.min(classes - 1, Math.max(0, place))] as number;
    return at(index - 1) + 2 * at(index) + at(index + 1);
  });
  const highest = Math.max(...smooth);
  let [best, from, to] = [0, 0, 0];
  for (let cut = 1; cut < classes - 1; cut++) {
    const right = counts.slice(cut + 1).reduce((sum, count) => sum + count, 0);
    if (right < fewAbsences) break;
    const hills = Math.min(Math.max(...smooth.slice(0, cut)), Math.max(...smooth.slice(cut + 1)));
    const depth = hills / ((smooth[cut] as number) + highest / 1000);
    if (depth > best) [best, from, to] = [depth, cut, cut];
    // A valley floor may be wide: the cut is in its middle.
    else if (depth === best && to === cut - 1) to = cut;
  }
  return best < deepEnough ? 0 : endOf(Math.floor((from + to) / 2));
}

/** The period of calls within sessions that keep to a clock of the session's own; `null` where they keep to none. */
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
