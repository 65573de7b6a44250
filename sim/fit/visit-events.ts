// Events that wake many people behind the tokens of back ends: for some minutes, far more people call than usual. The
// recording does not tell who woke and who would have come anyway, but the numbers of both are known.

import { ln } from "../../src/scenario/elementary.ts";
import { Crowd, placeOf } from "./crowds.ts";
import { minuteMs } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import type { OwnWakes, Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { isMuchLonger, type Sessions } from "./sessions.ts";
import { addAt, SortedSample, sumOf } from "./statistics.ts";
import { callsOf, everyNth, visitsIn } from "./visits.ts";
import { eventsAmong, foundIn, merged } from "./wakes.ts";

/** Length of a second, ms. The search counts seconds with calls, as one person who reads a long list is no crowd. */
const secondMs = 1_000;
/** Least number of events. `firstMs`: time after an event that shows it, ms. */
const eventsLeast = 2;
const firstMs = 3 * minuteMs;
/** Time before an event that shows the usual rate, ms, without the last `nextToMs` of it. */
const beforeMs = 30 * minuteMs;
const nextToMs = 2 * minuteMs;
/** Share of the first minute's excess below which two minutes on average end an event. */
const overShare = 0.1;
/** Longest event, minutes. */
const lastingMost = 30;
/** Least share of the usual event's jobs that an event brings. */
const minorShare = 0.5;
/** Least number of visits that events bring a caller. */
const wokenLeast = 5;

/** Most kinds of events that wake the same callers; and most numbers of groups that visitors' events take. */
const kindsMost = 2;
export const groupsMost = 2 * kindsMost;

interface Found {
  readonly wakes: readonly OwnWakes[];
  readonly rest: readonly RecordedJob[];
}
type Woken = ReadonlyMap<Profile, Found>;

/** Jobs that an event brought beyond the usual number. */
interface Brought {
  readonly eventMs: number;
  readonly jobs: readonly RecordedJob[];
}

/**
 * Finds the jobs that events woke, for each of these callers; the rest is as many as usual. Events that bring jobs of all
 * come first; then each caller's own.
 */
export function visitsWoken(callers: readonly Profile[], recording: Recording, group: number): Woken {
  const shared = wokenOf(callers, recording, group, false);
  if (callers.length === 1) return shared;
  const found = new Map(shared);
  for (const caller of callers) {
    const { wakes, rest }: Found = shared.get(caller) ?? { wakes: [], rest: caller.jobs };
    const own = wokenOf([{ ...caller, jobs: rest }], recording, group + kindsMost, true)
      .values()
      .next().value;
    if (own !== undefined) found.set(caller, { wakes: [...wakes, ...own.wakes], rest: own.rest });
  }
  return found;
}

/** @param byUser whether the events wake one caller alone */
function wokenOf(callers: readonly Profile[], recording: Recording, group: number, byUser: boolean): Woken {
  const models = callers.map(({ jobs }) => ({ jobs, visits: visitsIn(jobs) }));
  const all = callers.flatMap(({ jobs }) => jobs).sort((a, b) => a.startMs - b.startMs);
  const seconds = callers
    .flatMap(({ jobs }) => [...new Set(jobs.map(({ startMs }) => Math.floor(startMs / secondMs)))])
    .sort((a, b) => a - b);
  const beginnings = everyNth(seconds, scatterOf(models.flatMap(({ visits }) => secondsOf(visits))));
  const gatherings = new Crowd(
    beginnings.map((second) => ({ atMs: second * secondMs, isLong: false, isAfterRefusal: false })),
    recording,
  ).gatherings(firstMs);
  const places = (recording.endedAtMs - recording.startedAtMs) / firstMs;
  const found = foundIn(places, (among) => merged(eventsAmong(gatherings, among))).map(onsetAmong(all));
  const lastingMs = lastingOf(found, all);
  const [each] = partedBy(found, all, lastingMs);
  const brought = byUser ? each : ofAllAmong(each, callers);
  const usual = new SortedSample(brought.map(({ jobs }) => jobs.length)).median;
  const events = brought.filter(({ jobs }) => jobs.length >= minorShare * usual);
  if (events.length < eventsLeast) return new Map();
  const eventsMs = events.map(({ eventMs }) => eventMs);
  const great = new Set(
    events.flatMap(({ eventMs, jobs }) => (isMuchLonger(jobs.length, usual) ? [eventMs] : [])),
  );
  // A few very large events act more strongly than a mean event, so they are a kind of their own.
  const kinds =
    great.size < eventsLeast
      ? [eventsMs]
      : [eventsMs.filter((ms) => !great.has(ms)), eventsMs.filter((ms) => great.has(ms))];
  return new Map(
    models.flatMap(({ jobs, visits }, index) => {
      const [sessions, rest] = partedBy(eventsMs, jobs, lastingMs);
      const woken = sumOf(sessions.map((session) => session.jobs.length)) / callsOf(visits);
      const wakes = kinds.map((own, kind) => ({
        ...{ group: group + kind, byUser, clock: null, eventsMs: own, lastsMs: null },
        sessions: sessions.filter(({ eventMs }) => own.includes(eventMs)),
      }));
      return woken < wokenLeast ? [] : [[callers[index] as Profile, { wakes, rest }] as const];
    }),
  );
}

/** Spans after its instant in one of which an event brings most, ms. */
const onsetSpansMs = [15_000, 30_000, 60_000, 120_000, firstMs];

/** Returns a function that moves an event to the instant after which calls are likeliest to be more than usual. */
function onsetAmong(jobs: readonly RecordedJob[]): (eventMs: number) => number {
  const starts = jobs.map(({ startMs }) => startMs);
  const countIn = (fromMs: number, toMs: number): number => placeOf(starts, toMs) - placeOf(starts, fromMs);
  return (eventMs) => {
    const perMs = (countIn(eventMs - beforeMs, eventMs - nextToMs) + 0.5) / (beforeMs - nextToMs);
    let best = { atMs: eventMs, gain: 0 };
    for (const atMs of starts.slice(placeOf(starts, eventMs), placeOf(starts, eventMs + firstMs)))
      for (const spanMs of onsetSpansMs) {
        const [count, usual] = [countIn(atMs, atMs + spanMs), perMs * spanMs];
        const gain = count > usual ? count * ln(count / usual) - (count - usual) : 0;
        if (gain > best.gain) best = { atMs, gain };
      }
    return best.atMs;
  };
}

/**
 * Returns the events that bring jobs of all callers, in about their usual proportions, rather than of one; none if most
 * events bring jobs of one.
 */
function ofAllAmong(events: readonly Brought[], callers: readonly Profile[]): readonly Brought[] {
  const callerOf = new Map(callers.flatMap(({ jobs }, caller) => jobs.map((job) => [job, caller] as const)));
  const greatestShare = (jobs: readonly RecordedJob[]): number => {
    const counts = callers.map(() => 0);
    for (const job of jobs) addAt(counts, callerOf.get(job) as number);
    return Math.max(...counts) / Math.max(1, jobs.length);
  };
  const alone = (1 + greatestShare(callers.flatMap(({ jobs }) => jobs))) / 2;
  const shares = events.map(({ jobs }) => greatestShare(jobs));
  return new SortedSample(shares).mean > alone
    ? []
    : events.filter((_, at) => (shares[at] as number) <= alone);
}

/** Returns the approximate number of seconds in which each visit calls. */
function secondsOf({ sessions, pausesMs }: Sessions): number[] {
  let place = 0;
  return sessions.map(({ jobs }) => {
    const own = pausesMs.slice(place, place + jobs - 1);
    place += jobs - 1;
    return own.reduce((sum, ms) => sum + Math.min(1, ms / secondMs), 1);
  });
}

/** Returns the factor by which groups of these sizes scatter more than independent arrivals of the same number. */
const scatterOf = (sizes: readonly number[]): number =>
  sumOf(sizes.map((size) => size * size)) / Math.max(1, sumOf(sizes));

/** Returns the time after an event in which more jobs come than usual, ms. */
function lastingOf(eventsMs: readonly number[], jobs: readonly RecordedJob[]): number {
  const minutes = new Array<number>(lastingMost + 1).fill(0);
  let before = 0;
  for (const { startMs: ms } of jobs)
    for (const eventMs of eventsMs) {
      if (ms >= eventMs - beforeMs && ms < eventMs - nextToMs) before += 1;
      const minute = Math.floor((ms - eventMs) / minuteMs);
      if (minute >= 0 && minute < minutes.length) addAt(minutes, minute);
    }
  const usual = (before * minuteMs) / (beforeMs - nextToMs);
  const excess = minutes.map((count) => count - usual);
  const least = overShare * (excess[0] as number);
  const over = excess.slice(1).findIndex((next, minute) => ((excess[minute] as number) + next) / 2 < least);
  return (over < 0 ? lastingMost : Math.max(1, over)) * minuteMs;
}

/** Separates the jobs that each event brings beyond the usual rate from all others. */
function partedBy(
  eventsMs: readonly number[],
  jobs: readonly RecordedJob[],
  lastingMs: number,
): [Brought[], RecordedJob[]] {
  const events = eventsMs.map((eventMs) => {
    const before = jobs.filter(
      ({ startMs }) => startMs >= eventMs - beforeMs && startMs < eventMs - nextToMs,
    );
    return { eventMs, perMs: before.length / (beforeMs - nextToMs), usual: 0, jobs: [] as RecordedJob[] };
  });
  const rest = jobs.filter((job) => {
    const event = events.find(({ eventMs }) => job.startMs >= eventMs && job.startMs < eventMs + lastingMs);
    if (event === undefined) return true;
    if (event.usual < event.perMs * (job.startMs - event.eventMs)) {
      event.usual += 1;
      return true;
    }
    event.jobs.push(job);
    return false;
  });
  return [events.map(({ eventMs, jobs }) => ({ eventMs, jobs })), rest];
}
