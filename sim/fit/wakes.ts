// Events that wake many callers at once, at times that nobody wrote down: a release, an outage that is over. What shows
// them is that far more callers begin within some seconds than callers who are each for themselves ever do.

import { clockedIn, clockedSpanMs } from "./clocked-wakes.ts";
import { beginningsOf, Crowd, isCrowd, placeOf, quietMs, rareCrowd } from "./crowds.ts";
import type { RecordedJob } from "./jobs.ts";
import { type ClockedEvents, isSteady, type Profile, type WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { absenceOf } from "./sessions.ts";
import { SortedSample } from "./statistics.ts";

/** Events that wake the same callers. */
export interface FoundWakes {
  /** Their number among those found, from 0. */
  readonly group: number;
  /** `null`: they come by chance. */
  readonly clock: ClockedEvents | null;
  /** Instants of the events, ms since the epoch, rising. */
  readonly eventsMs: readonly number[];
  /** As `OwnWakes` has it. */
  readonly lastsMs: readonly number[] | null;
  /** Sessions of each caller after the events. */
  readonly woken: ReadonlyMap<Profile, readonly WokenSession[]>;
}

/** Callers who begin within such a span begin together. */
const spansMs = [10_000, 60_000];
/** Two events are further apart. */
const apartMs = 120_000;
const callersLeast = 5;
const eventsLeast = 2;
/** So many events tell that there are more. */
const manyEvents = 10;
/** Of events that are found then, so many may be chance. */
const falseShare = 0.05;
/** An event wakes this share of all callers, and three of them, at least. */
const shareLeast = 0.2;

/** A caller of a group is woken by this share of the events that wake its usual caller, at least. */
const oftenEnough = 1 / 3;
/** Events are of two groups where those who wake share less than this of all of them. */
const alikeLeast = 0.5;
/** Groups are told by this share of all events, at least. */
const eventsTold = 2 / 3;
/** Groups explain so much more of who wakes than chance does, where there are any. */
const tellsMore = 0.25;

/** Finds the events that woke callers together; none where they are too few to tell how often they come. */
export function wakesIn(profiles: readonly Profile[], recording: Recording): readonly FoundWakes[] {
  const callers = profiles.filter((profile) => !isSteady(profile));
  if (callers.length < callersLeast) return [];
  const all = callers.flatMap(beginningsOf).sort((a, b) => a.atMs - b.atMs);
  const crowds = [all, all.filter(({ isLong }) => isLong)].map((each) => new Crowd(each, recording));
  const clocked = clockedIn(crowds[0] as Crowd, recording).map((clock, group) => {
    const woken = wokenBy(clock.eventsMs, clockedSpanMs, callers, true);
    return { group, clock, eventsMs: clock.eventsMs, lastsMs: lastsOf(woken), woken };
  });
  const isClocked = (ms: number): boolean =>
    clocked.some(({ eventsMs }) => eventsMs.some((eventMs) => Math.abs(ms - eventMs) <= apartMs));
  return [
    ...clocked,
    ...wakesByChance(crowds, callers, isClocked, recording).map((found) => ({
      ...found,
      group: found.group + clocked.length,
    })),
  ];
}

/** Events that keep to no clock. A longer span shows those of few callers, too, and wakes some by chance. */
function wakesByChance(
  crowds: readonly Crowd[],
  callers: readonly Profile[],
  isClocked: (ms: number) => boolean,
  recording: Recording,
): readonly FoundWakes[] {
  return spansMs
    .map((spanMs) => wakesWithin(spanMs, crowds, callers, isClocked, recording))
    .reduce((short, long) => (isMore(long, short) ? long : short));
}

/** Tells whether some groups have more events than others, and more sessions after them. */
const isMore = (some: readonly FoundWakes[], others: readonly FoundWakes[]): boolean =>
  [({ eventsMs }: FoundWakes) => eventsMs.length, sessionsIn].every(
    (count) => sumOf(some, count) > sumOf(others, count),
  );

const sumOf = (groups: readonly FoundWakes[], count: (group: FoundWakes) => number): number =>
  groups.reduce((sum, group) => sum + count(group), 0);

/** Events that wake those whom they wake within a span. */
function wakesWithin(
  spanMs: number,
  crowds: readonly Crowd[],
  callers: readonly Profile[],
  isClocked: (ms: number) => boolean,
  recording: Recording,
): readonly FoundWakes[] {
  const foundAt = (places: number): readonly number[] => {
    const found = crowds.flatMap((crowd) => eventsOf(crowd, spanMs, places));
    return merged(found.filter(({ atMs }) => !isClocked(atMs)));
  };
  const spans = Math.max(1, (recording.endedAtMs - recording.startedAtMs) / spanMs);
  const eventsMs = foundIn(spans, foundAt);
  if (eventsMs.length < eventsLeast) return [];
  const woken = wokenBy(eventsMs, spanMs, callers, false);
  const together = groupOf(eventsMs, woken, 0);
  const apart = groupsOf(eventsMs, woken);
  const told = sumOf(apart, (group) => group.eventsMs.length);
  // Callers that a few of the events have in common tell of no groups.
  if (
    apart.length > 1 &&
    told >= eventsTold * eventsMs.length &&
    shareOf(apart) > shareOf([together]) + tellsMore
  )
    return apart;
  const isEach = sessionsIn(together) / eventsMs.length >= Math.max(3, shareLeast * callers.length);
  return isEach ? [together] : [];
}

/** Events among so many places. Where many are found, smaller crowds are likelier events than chance: one in twenty may be none. */
export function foundIn(places: number, foundAt: (places: number) => readonly number[]): readonly number[] {
  const surely = foundAt(places);
  return surely.length < manyEvents ? surely : foundAt(places / (falseShare * surely.length * rareCrowd));
}

const sessionsIn = ({ woken }: FoundWakes): number =>
  [...woken.values()].reduce((sum, each) => sum + each.length, 0);

/** The share of their callers that events of these groups wake. */
function shareOf(groups: readonly FoundWakes[]): number {
  const most = sumOf(groups, ({ eventsMs, woken }) => eventsMs.length * woken.size);
  return sumOf(groups, sessionsIn) / Math.max(1, most);
}

type Woken = FoundWakes["woken"];

/** A group of these events, and the callers whom they wake. */
function groupOf(eventsMs: readonly number[], all: Woken, group: number): FoundWakes {
  const events = new Set(eventsMs);
  const each = [...all].map(
    ([caller, sessions]) => [caller, sessions.filter(({ eventMs }) => events.has(eventMs))] as const,
  );
  // An event may wake some of its callers alone, each time others: the usual caller is that of the usual session.
  const counts = each.map(([, own]) => own.length);
  const usual =
    counts.reduce((sum, count) => sum + count * count, 0) /
    Math.max(
      1,
      counts.reduce((sum, count) => sum + count, 0),
    );
  const woken = new Map(each.filter(([, own]) => own.length > 0 && own.length >= oftenEnough * usual));
  return { group, clock: null, eventsMs, lastsMs: lastsOf(woken), woken };
}

/** Those whom an event woke end together where the middle half of their ends lie within this share of its length, ... */
const endsWithin = 0.1;
/** ... for this share of the events, ... */
const endsMostly = 2 / 3;
/** ... and lengths of events differ by so many times as much: else all may have the same to do. */
const lengthsApart = 3;

/** The time that each event lasted for all whom it woke; `null` where each ends for itself. */
function lastsOf(woken: Woken): readonly number[] | null {
  const ends = new Map<number, number[]>();
  for (const { eventMs, jobs } of [...woken.values()].flat()) {
    const endMs = (jobs.at(-1) as RecordedJob).endMs - eventMs;
    ends.set(eventMs, [...(ends.get(eventMs) ?? []), endMs]);
  }
  const events = [...ends.values()]
    .filter(({ length }) => length >= 3)
    .map((each) => new SortedSample(each))
    .map((sample) => ({ lastMs: sample.median, spreadMs: sample.quantile(0.75) - sample.quantile(0.25) }));
  const together = events.filter(({ lastMs, spreadMs }) => spreadMs <= endsWithin * lastMs);
  if (together.length < eventsLeast || together.length < endsMostly * events.length) return null;
  const lengths = new SortedSample(together.map(({ lastMs }) => lastMs));
  const spread = new SortedSample(together.map(({ spreadMs }) => spreadMs)).median;
  return lengths.most - lengths.least > lengthsApart * spread ? together.map(({ lastMs }) => lastMs) : null;
}

/** Events put together by whom they wake: the most alike first. What comes once tells no more. */
function groupsOf(eventsMs: readonly number[], all: Woken): FoundWakes[] {
  let groups = eventsMs.map((eventMs) => groupOf([eventMs], all, 0));
  for (;;) {
    let best: { readonly a: FoundWakes; readonly b: FoundWakes; readonly alike: number } | null = null;
    for (const [index, a] of groups.entries())
      for (const b of groups.slice(index + 1)) {
        const alike = alikeness(a.woken, b.woken);
        if (alike >= alikeLeast && alike > (best?.alike ?? 0)) best = { a, b, alike };
      }
    if (best === null) break;
    const { a, b } = best;
    const both = [...a.eventsMs, ...b.eventsMs].sort((x, y) => x - y);
    groups = [...groups.filter((group) => group !== a && group !== b), groupOf(both, all, 0)];
  }
  return groups
    .filter((group) => group.eventsMs.length >= eventsLeast && sessionsIn(group) >= 3 * group.eventsMs.length)
    .map((found, group) => ({ ...found, group }));
}

/** The share of callers of either that are callers of both. */
function alikeness(a: Woken, b: Woken): number {
  const both = [...a.keys()].filter((caller) => b.has(caller)).length;
  return both / Math.max(1, a.size + b.size - both);
}

/** Instants from which on more callers begin within a span than chance explains by those around it. */
export function eventsOf(
  crowd: Crowd,
  spanMs: number,
  places: number,
): { readonly atMs: number; readonly count: number }[] {
  return crowd.starts.flatMap((atMs, index) => {
    if (atMs === crowd.starts[index - 1]) return [];
    const count = crowd.countIn(atMs, spanMs);
    const usual = count < 3 ? null : crowd.usualIn(atMs, spanMs);
    return usual !== null && isCrowd(usual, count, places) ? [{ atMs, count }] : [];
  });
}

/** One instant of each event: where most begin. */
export function merged(found: readonly { readonly atMs: number; readonly count: number }[]): number[] {
  const events: { atMs: number; count: number; lastMs: number }[] = [];
  for (const { atMs, count } of found.toSorted((a, b) => a.atMs - b.atMs)) {
    const event = events.at(-1);
    if (event === undefined || atMs - event.lastMs > apartMs) {
      events.push({ atMs, count, lastMs: atMs });
      continue;
    }
    event.lastMs = atMs;
    if (count > event.count) Object.assign(event, { atMs, count });
  }
  return events.map(({ atMs }) => atMs);
}

/** The calls of each caller from an event on, as long as they come at the pace of one who was woken. */
function wokenBy(
  eventsMs: readonly number[],
  spanMs: number,
  callers: readonly Profile[],
  beginsOnly: boolean,
): ReadonlyMap<Profile, readonly WokenSession[]> {
  const late = beginsOnly ? new Map<Profile, readonly number[]>() : lateAmong(eventsMs, callers);
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
  const firsts = new Map(callers.map((caller) => [caller, firstsOf(caller)] as const));
  const cutMs = absenceOf(
    [...firsts].flatMap(([{ jobs }, own]) =>
      own.flatMap(([eventMs, [first = 0]]) => gapsFrom(jobs, first, eventMs + apartMs)),
    ),
  );
  const least = cutMs === 0 ? 1 : 2;
  const absences = callers.map(({ pausesMs }) => absenceOf(pausesMs)).filter((awayMs) => awayMs > 0);
  const usualAwayMs = 2 * new SortedSample(absences).median;
  const woken = new Map<Profile, readonly WokenSession[]>();
  for (const [caller, own] of firsts) {
    // Who is away at night alone, by its pauses, is as others are by day.
    const awayMs = Math.min(absenceOf(caller.pausesMs), usualAwayMs);
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

/** Who was about other things when an event came begins a long session within this time, ms, ... */
const lateMs = 300_000;
/** ... so many times as often as at other times. */
const lateMoreOften = 4;

/** Long sessions of each caller that may be those of an event, though late; none where as many begin at other times. */
function lateAmong(
  eventsMs: readonly number[],
  callers: readonly Profile[],
): ReadonlyMap<Profile, readonly number[]> {
  const isAfter = (ms: number): boolean => eventsMs.some((eventMs) => ms >= eventMs && ms < eventMs + lateMs);
  const long = callers.map((caller) => {
    const all = beginningsOf(caller).flatMap(({ atMs, isLong }) => (isLong ? [atMs] : []));
    return [caller, all] as const;
  });
  const all = long.flatMap(([, starts]) => starts);
  const after = all.filter(isAfter).length;
  const spanMs =
    Math.max(...callers.map(({ jobs }) => jobs.at(-1)?.startMs ?? 0)) -
    Math.min(...callers.map(({ jobs }) => jobs[0]?.startMs ?? 0));
  const usual =
    ((all.length - after) * eventsMs.length * lateMs) / Math.max(1, spanMs - eventsMs.length * lateMs);
  return after < lateMoreOften * usual ? new Map() : new Map(long);
}

const gapBefore = (jobs: readonly RecordedJob[], place: number): number =>
  Math.max(0, (jobs[place] as RecordedJob).startMs - (jobs[place - 1] as RecordedJob).endMs);

function gapsFrom(jobs: readonly RecordedJob[], first: number, untilMs: number): number[] {
  const gaps: number[] = [];
  for (let place = first + 1; place < jobs.length && (jobs[place] as RecordedJob).startMs < untilMs; place++)
    gaps.push(gapBefore(jobs, place));
  return gaps;
}
