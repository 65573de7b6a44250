// Sessions that begin by the clock, at the same minute of each period, as cron starts them.

import { exp, ln } from "../../src/scenario/elementary.ts";
import { type Timetable, timetableOf } from "./arrivals.ts";
import { placeOf } from "./crowds.ts";
import { dayMs, isWeekend, minuteMs, weekdayOf } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import type { ClockedSessions, Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { absenceOf, isMuchLonger, joinedMs, longAmong, sessionsOf, type WorkSession } from "./sessions.ts";
import { flatOf, SortedSample } from "./statistics.ts";

const periodsMs = [5, 10, 15, 20, 30, 60, 24 * 60].map((minutes) => minutes * minuteMs);
/** Least period, ms, whose jobs may keep to any second of the minute, as if their own clock was late. */
const anySecondMs = 60 * minuteMs;
/** Span in which jobs of one timetable begin, ms. */
const punctualMs = 15_000;
/** Span in which a job begins that is late for once, ms. */
const lateMs = minuteMs;
const periodsLeast = 4;
/** Most timetables of one period. A caller may begin several jobs a day: those after the first must be long ones. */
const ofOnePeriodMost = 6;

/** Separates the jobs that keep to timetables from a caller's other jobs. */
export function timetablesOf(
  { jobs, pausesMs }: Profile,
  recording: Watched,
): { readonly timetables: readonly ClockedSessions[]; readonly rest: readonly RecordedJob[] } {
  // A caller that joined late kept to no timetable before.
  const watched = { startedAtMs: joinedMs(jobs, recording), endedAtMs: recording.endedAtMs };
  const awayMs = absenceOf(pausesMs) || usuallyApartMs;
  // Sessions after shorter pauses go on with a run that began by a clock.
  const apartMs = Math.max(awayMs, minuteMs);
  // A caller that calls every few seconds has sessions in any minute; only its volleys can show a timetable.
  const volleyMs = Math.min(
    awayMs,
    Math.max(volleyLeast, absenceOf(pausesMs.filter((ms) => ms <= awayMs)) || awayMs),
  );
  const cut = (some: readonly RecordedJob[]): readonly Cut[] => {
    const { sessions } = sessionsOf(some, awayMs);
    const volleys = volleyMs === awayMs ? sessions : sessionsOf(some, volleyMs).sessions;
    return [cutOf(sessions), cutOf(longAmong(volleys))];
  };
  let [rest, cuts] = [jobs, cut(jobs)];
  const timetables: ClockedSessions[] = [];
  for (const periodMs of periodsMs) {
    let among = cuts;
    for (let tables = 0; tables < ofOnePeriodMost; tables++) {
      let punctual: Punctual | null = null;
      for (const anySecond of periodMs < anySecondMs ? [false] : [false, true])
        for (const one of among) punctual ??= punctualIn(one, periodMs, watched, anySecond);
      if (punctual === null) break;
      const { weekdays } = punctual;
      const found = firstRunsOf(punctual.found, rest);
      const startsMs = found.map(({ startMs }) => startMs);
      const timetable = timetableOf([startsMs], periodMs, periodMs >= anySecondMs);
      if (timetable === null) break;
      const [own, others] = parted(rest, found);
      rest = others;
      among = [cutOf(longAmong(sessionsOf(rest, apartMs).sessions))];
      const schedule = weekdays ? timetable.schedule.replace(/\*$/, "1-5") : timetable.schedule;
      timetables.push(...bySize(own, { ...timetable, schedule }, periodMs, awayMs));
    }
    if (among !== cuts) cuts = cut(rest);
  }
  return { timetables, rest };
}

/** Pause between two runs if pauses are of one kind, ms; longest usual session that is a run, and no day at work. */
const usuallyApartMs = 30_000;
const runMost = dayMs / 4;
/** Least pause between two volleys, ms: calls in a row follow each other faster. */
const volleyLeast = 1_000;

/** Least jobs of the usual run that is told apart from the day that it begins. */
const runTells = 5;

/**
 * Returns the runs that begin days at work, as nobody begins these within seconds. Other sessions are runs as they are; so
 * are the days of a program that calls evenly.
 */
function firstRunsOf(days: readonly WorkSession[], jobs: readonly RecordedJob[]): readonly WorkSession[] {
  if (new SortedSample(days.map(({ startMs, endMs }) => endMs - startMs)).median <= runMost) return days;
  const starts = new Set(days.map(({ startMs }) => startMs));
  const runs = sessionsOf(jobs, usuallyApartMs).sessions.filter(({ startMs }) => starts.has(startMs));
  return new SortedSample(runs.map((run) => run.jobs)).median < runTells ? days : runs;
}

/** Sessions in the order of time, and the number that begin in each span of the day. */
interface Cut {
  readonly sessions: readonly WorkSession[];
  readonly spans: Uint32Array;
}

function cutOf(sessions: readonly WorkSession[]): Cut {
  const spans = new Uint32Array(dayMs / punctualMs);
  for (const { startMs } of sessions) {
    const span = Math.floor((startMs % dayMs) / punctualMs);
    spans[span] = (spans[span] as number) + 1;
  }
  return { sessions, spans };
}

/** Returns the number of sessions that begin in each span of a period, which divides the day. */
function countsIn({ spans }: Cut, periodMs: number): Uint32Array {
  const counts = new Uint32Array(periodMs / punctualMs);
  for (let span = 0; span < spans.length; span++) {
    const place = span % counts.length;
    counts[place] = (counts[place] as number) + (spans[span] as number);
  }
  return counts;
}

/** Time in which a caller was there, ms since the epoch. */
type Watched = Pick<Recording, "startedAtMs" | "endedAtMs">;

interface Punctual {
  readonly found: readonly WorkSession[];
  /** True if the sessions are on weekdays only. */
  readonly weekdays: boolean;
}

/** Counts a recording's periods: the rows of a week span some minutes less than seven days. */
const periodsIn = ({ startedAtMs, endedAtMs }: Watched, periodMs: number): number =>
  Math.floor((endedAtMs - startedAtMs) / periodMs + 0.02);

/** Counts those of so many periods that begin at weekends. */
function weekendsIn({ startedAtMs }: Watched, periodMs: number, periods: number): number {
  let count = 0;
  for (let period = 0; period < periods; period++)
    if (isWeekend(weekdayOf(startedAtMs + period * periodMs))) count += 1;
  return count;
}

/** Returns the sessions that begin close together at the same time of most periods; `null` if there are none. */
function punctualIn(cut: Cut, periodMs: number, watched: Watched, anySecond: boolean): Punctual | null {
  const periods = periodsIn(watched, periodMs);
  const { sessions } = cut;
  if (periods < periodsLeast || sessions.length < 0.5 * periods) return null;
  const atWeekends = weekendsIn(watched, periodMs, periods);
  const onWeekdays = periods - atWeekends;
  const counts = countsIn(cut, periodMs);
  // Any span of this length lies within two next to each other.
  const isEnough = (count: number, span: number): boolean =>
    count + (counts[span + 1] ?? 0) >= periodsShare * onWeekdays;
  if (!counts.some(isEnough)) return null;
  const phases = new Float64Array(anySecond ? sessions.length : 0);
  for (let place = 0; place < phases.length; place++)
    phases[place] = (sessions[place] as WorkSession).startMs % periodMs;
  phases.sort();
  const from = (phaseMs: number): readonly WorkSession[] =>
    sessions.filter(({ startMs }) => {
      const behindMs = (startMs % periodMs) - phaseMs;
      return behindMs >= 0 && behindMs < punctualMs;
    });
  // Minutes are whole spans.
  const countFrom = (phaseMs: number): number =>
    anySecond
      ? placeOf(phases, phaseMs + punctualMs) - placeOf(phases, phaseMs)
      : (counts[phaseMs / punctualMs] as number);
  const minutes = periodMs / minuteMs;
  /** Returns the share of periods with a session at this time by chance, from the minutes around, as hours differ. */
  const usualAt = (phaseMs: number): number => {
    const width = Math.min(60, Math.floor((minutes - 1) / 2));
    let near = 0.5;
    for (let apart = -width; apart <= width; apart++)
      if (apart !== 0) near += countFrom((phaseMs + apart * minuteMs + periodMs) % periodMs);
    return near / (2 * width * periods);
  };
  const punctualAt = (phaseMs: number, places: number): Punctual | null => {
    if (countFrom(phaseMs) < periodsShare * onWeekdays) return null;
    const usual = usualAt(phaseMs);
    if (usual >= oftenEnough) return null;
    const keeps = (found: readonly WorkSession[], all: number): boolean => {
      const covered = new Set(found.map(({ startMs }) => Math.floor(startMs / periodMs))).size;
      return covered >= periodsShare * all && places * binomialTail(all, covered, usual) < byChance;
    };
    const found = from(phaseMs);
    const isRare = usual < seldom && periodMs >= anySecondMs;
    const all = (weekdays: boolean, punctual: readonly WorkSession[]): Punctual => ({
      found: isRare ? withLate(sessions, punctual, { periodMs, phaseMs, weekdays }) : punctual,
      weekdays,
    });
    if (keeps(found, periods)) return all(false, found);
    const working = found.filter(({ startMs }) => !isWeekend(weekdayOf(startMs)));
    const rests = atWeekends >= periodsLeast || (periodMs === dayMs && atWeekends >= 2);
    const isWorking =
      rests &&
      onWeekdays >= periodsLeast &&
      keeps(working, onWeekdays) &&
      // The caller's other sessions fall into the same minute now and then.
      found.length - working.length < 0.5 * atWeekends * Math.min(1, 0.2 + 2 * usual);
    return isWorking ? all(true, working) : null;
  };
  if (anySecond) return punctualAt(crowdedPhase(phases), periodMs / 1_000);
  for (let phaseMs = 0; phaseMs < periodMs; phaseMs += minuteMs) {
    const punctual = punctualAt(phaseMs, minutes);
    if (punctual !== null) return punctual;
  }
  return null;
}

/** Returns the phase from which most others follow within the span of a timetable, the first of several. */
function crowdedPhase(phases: Float64Array): number {
  let [most, best, to] = [0, 0, 0];
  for (let from = 0; from < phases.length; from++) {
    const phaseMs = phases[from] as number;
    while (to < phases.length && (phases[to] as number) < phaseMs + punctualMs) to += 1;
    if (to - from > most) [most, best] = [to - from, phaseMs];
  }
  return best;
}

/** Adds the first session within a minute after the clock in periods without a punctual one. */
function withLate(
  sessions: readonly WorkSession[],
  punctual: readonly WorkSession[],
  { periodMs, phaseMs, weekdays }: { periodMs: number; phaseMs: number; weekdays: boolean },
): readonly WorkSession[] {
  const own = new Set(punctual);
  const kept = new Set(punctual.map(({ startMs }) => Math.floor(startMs / periodMs)));
  return sessions.filter((session) => {
    const { startMs } = session;
    if (own.has(session)) return true;
    const period = Math.floor(startMs / periodMs);
    const behindMs = (startMs % periodMs) - phaseMs;
    if (behindMs < 0 || behindMs >= lateMs || kept.has(period)) return false;
    if (weekdays && isWeekend(weekdayOf(startMs))) return false;
    kept.add(period);
    return true;
  });
}

/** Least share of its periods in which a timetable is kept. */
const periodsShare = 0.8;
/** Share of periods with a session by chance from which a timetable cannot be told. */
const oftenEnough = 0.3;
/** Share of periods with a session by chance up to which one in the same minute is a late job. */
const seldom = 0.05;
/** Probability that a caller seems to keep to a timetable by chance. */
const byChance = 0.001;

/** Returns the probability that `hit` or more of `all` are hit, each with probability `each`. */
function binomialTail(all: number, hit: number, each: number): number {
  let term = exp(all * ln(1 - each));
  let tail = hit === 0 ? term : 0;
  for (let count = 1; count <= all; count++) {
    term *= (((all - count + 1) / count) * each) / (1 - each);
    if (count >= hit) tail += term;
  }
  return Math.min(1, tail);
}

function parted(
  jobs: readonly RecordedJob[],
  sessions: readonly WorkSession[],
): [RecordedJob[][], RecordedJob[]] {
  const own: RecordedJob[][] = sessions.map(() => []);
  const others: RecordedJob[] = [];
  let index = 0;
  for (const job of jobs) {
    while (index < sessions.length && job.startMs > (sessions[index] as WorkSession).endMs) index += 1;
    const session = sessions[index];
    if (session !== undefined && job.startMs >= session.startMs) own[index]?.push(job);
    else others.push(job);
  }
  return [own, others];
}

/** Most minutes of the day with much longer sessions, each a timetable of its own; more are no exceptions. */
const longMinutesMost = 4;
const daysLeast = 3;

/** Separates hourly and nightly jobs of one minute: jobs of long sessions beyond the usual number are nightly. */
function bySize(
  sessions: readonly (readonly RecordedJob[])[],
  timetable: Timetable,
  periodMs: number,
  awayMs: number,
): ClockedSessions[] {
  const own = ofMinutes(sessions);
  const usual = new SortedSample(own.map(({ length }) => length)).median;
  const byMinute = new Map<number, (readonly RecordedJob[])[]>();
  for (const jobs of own) {
    const minute = Math.floor(((jobs[0] as RecordedJob).startMs % dayMs) / minuteMs);
    byMinute.set(minute, [...(byMinute.get(minute) ?? []), jobs]);
  }
  const long = [...byMinute].filter(
    ([, sessions]) =>
      sessions.length >= daysLeast &&
      isMuchLonger(new SortedSample(sessions.map(({ length }) => length)).quantile(0.2), usual),
  );
  if (periodMs >= dayMs || long.length === 0 || long.length > longMinutesMost)
    return [clocked(own, timetable, periodMs, awayMs)];
  const extra = new Set(long.flatMap(([, sessions]) => sessions));
  const base = own.map((jobs) => (extra.has(jobs) ? jobs.slice(0, usual) : jobs));
  return [
    clocked(base, timetable, periodMs, awayMs),
    ...long.map(([minute, sessions]) => {
      const schedule = `${minute % 60} ${Math.floor(minute / 60)} * * ${timetable.schedule.endsWith("1-5") ? "1-5" : "*"}`;
      const longer = sessions.filter(({ length }) => length > usual);
      const beyond = longer.map((jobs) => jobs.slice(usual));
      const startsMs = longer.map((jobs) => (jobs[0] as RecordedJob).startMs);
      return { ...clocked(beyond, { ...timetable, schedule }, dayMs, awayMs), startsMs };
    }),
  ];
}

/** Joins sessions that begin in the same minute, since the nightly job may wait for the hourly one. */
function ofMinutes(sessions: readonly (readonly RecordedJob[])[]): (readonly RecordedJob[])[] {
  const minutes = new Map<number, readonly RecordedJob[]>();
  for (const jobs of sessions) {
    const minute = Math.floor((jobs[0] as RecordedJob).startMs / minuteMs);
    minutes.set(minute, [...(minutes.get(minute) ?? []), ...jobs]);
  }
  return [...minutes.values()];
}

function clocked(
  own: readonly (readonly RecordedJob[])[],
  timetable: Timetable,
  periodMs: number,
  awayMs: number,
): ClockedSessions {
  const jobs = flatOf(own);
  return {
    timetable,
    periodMs,
    startsMs: own.flatMap(([first]) => (first === undefined ? [] : [first.startMs])),
    jobs,
    sizes: own.map(({ length }) => length).filter((size) => size > 0),
    pausesMs: flatOf(own.map((each) => sessionsOf(each, awayMs).pausesMs)),
  };
}
