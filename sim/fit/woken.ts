// The calls of each caller that an event woke.
import { type Beginning, beginningsOf, placeOf, quietMs } from "./crowds.ts";
import type { RecordedJob } from "./jobs.ts";
import { type Profile, pausesIn, type WokenSession } from "./profile.ts";
import { absenceOf } from "./sessions.ts";
import { SortedSample } from "./statistics.ts";

/** Time by which two events are further apart, ms. */
export const apartMs = 120_000;

/** A caller's beginnings, and the length above which its pause is an absence, ms; 0 if its pauses show none. */
interface Silences {
  readonly awayMs: number;
  readonly begins: readonly Beginning[];
}

export type Absences = ReadonlyMap<Profile, Silences>;

/** Returns callers' absences. A caller whose pauses show them only at night is judged by the others' usual one, too. */
export function absencesOf(callers: readonly Profile[]): Absences {
  const own = callers.map((caller) => [caller, absenceOf(pausesIn(caller))] as const);
  const most = 2 * new SortedSample(own.map(([, awayMs]) => awayMs).filter((awayMs) => awayMs > 0)).median;
  return new Map(
    own.map(([caller, ownMs]) => {
      const awayMs = Math.min(ownMs, most);
      return [caller, { awayMs, begins: beginningsOf(caller, awayMs) }];
    }),
  );
}

/** Returns each caller's calls from an event on, as long as they keep the pace of a woken caller. */
export function wokenBy(
  eventsMs: readonly number[],
  spanMs: number,
  absences: Absences,
  beginsOnly: boolean,
): ReadonlyMap<Profile, readonly WokenSession[]> {
  const late = beginsOnly
    ? new Map<Profile, readonly number[]>()
    : lateAmong(eventsMs, spanMs + quietMs / 2, absences);
  const firstsOf = (caller: Profile): (readonly [eventMs: number, firsts: readonly number[]])[] => {
    const starts = caller.jobs.map(({ startMs }) => startMs);
    return eventsMs.flatMap((eventMs) => {
      const first = placeOf(starts, eventMs);
      const startMs = starts[first];
      const inTime = startMs !== undefined && startMs < eventMs + spanMs + quietMs / 2 ? [first] : [];
      const longMs = (late.get(caller) ?? []).filter((ms) => ms >= eventMs && ms < eventMs + lateMs);
      const firsts = [...inTime, ...longMs.map((ms) => placeOf(starts, ms))];
      return firsts.length === 0 ? [] : [[eventMs, firsts] as const];
    });
  };
  const firsts = new Map([...absences.keys()].map((caller) => [caller, firstsOf(caller)] as const));
  const cutMs = absenceOf(
    [...firsts].flatMap(([{ jobs }, own]) =>
      own.flatMap(([eventMs, [first = 0]]) => gapsFrom(jobs, first, eventMs + apartMs)),
    ),
  );
  const least = cutMs === 0 ? 1 : 2;
  const woken = new Map<Profile, readonly WokenSession[]>();
  for (const [caller, own] of firsts) {
    const { awayMs } = absences.get(caller) as Silences;
    const sessionFrom = (eventMs: number, first: number): WokenSession | null => {
      const begins = awayMs > 0 && (first === 0 || gapBefore(caller.jobs, first) > awayMs);
      if (awayMs > 0 && !begins && beginsOnly) return null;
      const pauseMs = begins ? awayMs : cutMs;
      let end = first + 1;
      while (end < caller.jobs.length && gapBefore(caller.jobs, end) <= pauseMs) end += 1;
      return end - first < least ? null : { eventMs, jobs: caller.jobs.slice(first, end) };
    };
    const sessions = own.flatMap(([eventMs, each]) => {
      for (const first of each) {
        const session = sessionFrom(eventMs, first);
        if (session !== null) return [session];
      }
      return [];
    });
    if (sessions.length > 0) woken.set(caller, sessions);
  }
  return woken;
}

/** Time within which a caller that is busy at an event begins a long session, ms. */
const lateMs = 300_000;
/** Least ratio of long sessions then to those in as long a time before events: a third and more come late. */
const lateMoreOften = 1.5;

/** Returns starts of each caller's long sessions, which may follow an event late; none if chance explains nearly all. */
function lateAmong(
  eventsMs: readonly number[],
  spanMs: number,
  absences: Absences,
): ReadonlyMap<Profile, readonly number[]> {
  const long = [...absences].map(
    ([caller, { begins }]) => [caller, begins.flatMap(({ atMs, isLong }) => (isLong ? [atMs] : []))] as const,
  );
  const all = long.flatMap(([, starts]) => starts);
  const countIn = (fromMs: number, toMs: number): number =>
    all.filter((ms) => eventsMs.some((eventMs) => ms >= eventMs + fromMs && ms < eventMs + toMs)).length;
  const isChance = countIn(spanMs, lateMs) < lateMoreOften * Math.max(1, countIn(spanMs - lateMs, 0));
  return isChance ? new Map() : new Map(long);
}

export const gapBefore = (jobs: readonly RecordedJob[], place: number): number =>
  Math.max(0, (jobs[place] as RecordedJob).startMs - (jobs[place - 1] as RecordedJob).endMs);

export function gapsFrom(jobs: readonly RecordedJob[], first: number, untilMs: number): number[] {
  const gaps: number[] = [];
  for (let place = first + 1; place < jobs.length && (jobs[place] as RecordedJob).startMs < untilMs; place++)
    gaps.push(gapBefore(jobs, place));
  return gaps;
}
