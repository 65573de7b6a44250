// Events that wake many callers at once at times that nobody recorded, such as a release or the end of an outage. They
// show because far more callers begin within some seconds than independent callers ever do.

import { clockedAmong, clockedIn, clockedSpanMs, spreadOf } from "./clocked-wakes.ts";
import { Crowd, type Gathering, isCrowd, placeOf, rareCrowd } from "./crowds.ts";
import { dayMs, isWeekend, weekdayOf } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { type ClockedEvents, isSteady, type Profile, type WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { scheduledIn } from "./scheduled-wakes.ts";
import { addTo, flatOf, SortedSample, sumOf } from "./statistics.ts";
import { areApart } from "./weekdays.ts";
import { type Absences, absencesOf, apartMs, wokenBy } from "./woken.ts";

/** Events that wake the same callers. */
export interface FoundWakes {
  /** Number of this group among those found, from 0. */
  readonly group: number;
  /** Clock of the events; `null`: they come by chance. */
  readonly clock: ClockedEvents | null;
  /** Instants of the events, ms since the epoch, rising. */
  readonly eventsMs: readonly number[];
  /** Length of each event, as in `OwnWakes`. */
  readonly lastsMs: readonly number[] | null;
  /** Sessions of each caller after the events. */
  readonly woken: ReadonlyMap<Profile, readonly WokenSession[]>;
}

/** Events before they have a number. */
type Unnumbered = Omit<FoundWakes, "group">;

/** Spans within which callers begin together, ms. */
const spansMs = [10_000, 60_000];
const callersLeast = 5;
const eventsLeast = 2;
/** Number of events from which smaller crowds count as events, too. */
const manyEvents = 10;
/** Share of these events that may be chance. */
const falseShare = 0.05;
/** Least share of all callers that a mean event wakes; at least three callers. */
const shareLeast = 0.2;

/** Least ratio of a caller's events to those of its group's usual caller, and of an event's callers to the usual event's. */
const oftenEnough = 1 / 3;
/** Least share of callers that two events have in common if they are of one group. */
const alikeLeast = 0.5;
/** Least share of all events that groups must hold. */
const eventsTold = 2 / 3;
/** Least gain in the share of woken callers that groups must bring over a single group. */
const tellsMore = 0.25;

/** Events of a clock, and the span after each in which most of its callers begin, ms. */
type ClockedSpans = ReturnType<typeof spreadOf>;

/** Finds the events that woke callers together; none if they are too few to tell their rate. */
export function wakesIn(profiles: readonly Profile[], recording: Recording): readonly FoundWakes[] {
  const callers = profiles.filter((profile) => !isSteady(profile));
  const visitors = profiles.filter(({ pace }) => pace.kind === "visits");
  const events = callers.length < callersLeast ? [] : eventsIn(callers, visitors, recording);
  const scheduled = scheduledIn(callers, (ms) => isNear(events, ms), recording);
  const all = scheduled === null ? events : [...events, scheduled];
  return byDays(all.filter(({ woken }) => !isDaysWork(woken))).map((found, group) => ({ ...found, group }));
}

/** Tells weekends apart from weekdays in the lines of clocks that come on both, if their callers do less then, or more. */
function byDays(found: readonly Unnumbered[]): readonly Unnumbered[] {
  const isDaily = ({ clock }: Unnumbered): boolean => clock?.at.endsWith(" *") === true;
  const sizes = new Map<number, number>();
  for (const { woken } of found.filter(isDaily))
    for (const { eventMs, jobs } of flatOf([...woken.values()]))
      addTo(sizes, Math.floor(eventMs / dayMs), jobs.length);
  const sizesOn = (weekend: boolean): number[] =>
    [...sizes].flatMap(([day, size]) => (isWeekend(weekdayOf(day * dayMs)) === weekend ? [size] : []));
  if (!areApart(sizesOn(false), sizesOn(true))) return found;
  return found.flatMap((group) =>
    isDaily(group) ? [onDays(group, "1-5", false), onDays(group, "0,6", true)] : [group],
  );
}

/** Returns a clock's line on weekdays, or at weekends. */
function onDays(
  { clock, eventsMs, woken, ...group }: Unnumbered,
  days: string,
  weekend: boolean,
): Unnumbered {
  const isOn = (ms: number): boolean => isWeekend(weekdayOf(ms)) === weekend;
  const own = new Map(
    [...woken].flatMap(([caller, sessions]) => {
      const some = sessions.filter(({ eventMs }) => isOn(eventMs));
      return some.length === 0 ? [] : [[caller, some] as const];
    }),
  );
  const at = clock?.at.replace(/\*$/, days) ?? "";
  return {
    ...group,
    clock: clock && { ...clock, at, eventsMs: clock.eventsMs.filter(isOn) },
    eventsMs: eventsMs.filter(isOn),
    woken: own,
  };
}

function eventsIn(
  callers: readonly Profile[],
  visitors: readonly Profile[],
  recording: Recording,
): readonly Unnumbered[] {
  const absences = absencesOf(callers);
  const all = flatOf([...absences.values()].map(({ begins }) => begins)).sort((a, b) => a.atMs - b.atMs);
  const crowds = [all, all.filter(({ isLong }) => isLong)].map((each) => new Crowd(each, recording));
  const clocked = clockedIn(crowds[0] as Crowd, recording).map((found) =>
    spreadOf(found, crowds[0] as Crowd),
  );
  const timed = clocked.length === 0 ? [] : timedAmong(absencesOf(visitors), clocked, recording);
  const woken = new Map([...absences, ...timed]);
  const byClock = clocked.map(({ clock, spanMs }) => wakesBy(clock, spanMs, woken, true));
  return [...byClock, ...wakesOfDays(crowds, absences, (ms) => isNear(byClock, ms), recording)];
}

/** Least share of a caller's beginnings that come with the events of clocks, and its least ratio to chance. */
const timedLeast = 0.5;
const timesChance = 2;

/** Returns the callers whose visits are really calls at the events of clocks. */
function timedAmong(
  visitors: Absences,
  clocked: readonly ClockedSpans[],
  { startedAtMs, endedAtMs }: Recording,
): Absences {
  const spans = clocked.flatMap(({ clock, spanMs }) =>
    clock.eventsMs.map((ms) => [ms, ms + spanMs] as const),
  );
  const byChance = sumOf(spans.map(([fromMs, toMs]) => toMs - fromMs)) / (endedAtMs - startedAtMs);
  return new Map(
    [...visitors].filter(([, { begins, awayMs }]) => {
      const startsMs = begins.map(({ atMs }) => atMs);
      const timed = sumOf(spans.map(([fromMs, toMs]) => placeOf(startsMs, toMs) - placeOf(startsMs, fromMs)));
      return awayMs > 0 && timed >= Math.max(timedLeast, timesChance * byChance) * Math.max(1, begins.length);
    }),
  );
}

/** Returns the callers that events of a clock wake. */
function wakesBy(clock: ClockedEvents, spanMs: number, absences: Absences, beginsOnly: boolean): FoundWakes {
  const { eventsMs } = clock;
  const woken = wokenBy(eventsMs, spanMs, absences, beginsOnly);
  return { group: 0, clock, eventsMs, lastsMs: lastsOf(woken), woken };
}

/** Tells whether an instant is that of some events. */
const isNear = (some: readonly Pick<FoundWakes, "eventsMs">[], ms: number): boolean =>
  some.some(({ eventsMs }) => eventsMs.some((eventMs) => Math.abs(ms - eventMs) <= apartMs));

/** Finds the events that single days show. A longer span also shows events of few callers, but wakes some by chance. */
function wakesOfDays(
  crowds: readonly Crowd[],
  absences: Absences,
  isClocked: (ms: number) => boolean,
  recording: Recording,
): readonly FoundWakes[] {
  return spansMs
    .map((spanMs) => wakesWithin(spanMs, crowds, absences, isClocked, recording))
    .reduce((short, long) => (isMore(long, short) ? long : short));
}

/** Least ratio of sessions at which as many events of a longer span show more than the shorter one's. */
const sessionsMore = 1.25;

/** Tells whether some groups have more events and sessions than others, or as many events of far more sessions. */
export function isMore(some: readonly FoundWakes[], others: readonly FoundWakes[]): boolean {
  const events =
    sumOf(some.map(({ eventsMs }) => eventsMs.length)) - sumOf(others.map(({ eventsMs }) => eventsMs.length));
  const least = events > 0 ? 1 : sessionsMore;
  return events >= 0 && sumOf(some.map(sessionsIn)) > least * sumOf(others.map(sessionsIn));
}

/** Finds events whose callers begin within `spanMs`. */
function wakesWithin(
  spanMs: number,
  crowds: readonly Crowd[],
  absences: Absences,
  isClocked: (ms: number) => boolean,
  recording: Recording,
): readonly FoundWakes[] {
  const gatherings = crowds.flatMap((crowd) => crowd.gatherings(spanMs));
  const foundAt = (places: number): readonly number[] =>
    merged(eventsAmong(gatherings, places).filter(({ atMs }) => !isClocked(atMs)));
  const spans = (recording.endedAtMs - recording.startedAtMs) / spanMs;
  const allMs = foundIn(spans, foundAt);
  const daily = clockedAmong(allMs, recording);
  const clocked = daily.map((clock) => wakesBy(clock, clockedSpanMs, absences, false));
  const others = allMs.filter((ms) => !isNear(daily, ms));
  return [...clocked.filter((group) => wakesMany(group, absences)), ...wokenGroups(others, spanMs, absences)];
}

const wakesMany = (group: FoundWakes, callers: Absences): boolean =>
  sessionsIn(group) / group.eventsMs.length >= Math.max(3, shareLeast * callers.size);

/** Groups events by the callers that they wake, if groups tell more; none if they are too few, or wake too few callers. */
function wokenGroups(eventsMs: readonly number[], spanMs: number, absences: Absences): readonly FoundWakes[] {
  if (eventsMs.length < eventsLeast) return [];
  const woken = wokenBy(eventsMs, spanMs, absences, false);
  const telling = eventsThatWake(woken);
  // An instant at which some callers began by chance woke hardly any of them.
  if (telling.length < eventsMs.length) return wokenGroups(telling, spanMs, absences);
  const together = groupOf(eventsMs, woken, 0);
  const apart = groupsOf(eventsMs, woken);
  const told = sumOf(apart.map((group) => group.eventsMs.length));
  // Callers that only a few events have in common show no groups.
  if (
    apart.length > 1 &&
    told >= eventsTold * eventsMs.length &&
    shareOf(apart) > shareOf([together]) + tellsMore
  )
    return apart;
  return wakesMany(together, absences) ? [together] : [];
}

/** Finds events among `places`. If many are found, smaller crowds count, too, and one event in twenty may be chance. */
export function foundIn(places: number, foundAt: (places: number) => readonly number[]): readonly number[] {
  const surely = foundAt(places);
  return surely.length < manyEvents ? surely : foundAt(places / (falseShare * surely.length * rareCrowd));
}

/** Returns the events that woke as many callers as the usual event, or not far fewer, rising. */
function eventsThatWake(woken: Woken): readonly number[] {
  const counts = new Map<number, number>();
  for (const { eventMs } of [...woken.values()].flat()) addTo(counts, eventMs);
  const usual = usualOf([...counts.values()]);
  return [...counts]
    .flatMap(([ms, count]) => (count >= oftenEnough * usual ? [ms] : []))
    .sort((a, b) => a - b);
}

/** Returns the usual one of some counts: each weighs as much as it is. */
const usualOf = (counts: readonly number[]): number =>
  sumOf(counts.map((count) => count * count)) / Math.max(1, sumOf(counts));

const sessionsIn = ({ woken }: FoundWakes): number => sumOf([...woken.values()].map((each) => each.length));

/** Returns the mean share of its group's callers that an event wakes. */
function shareOf(groups: readonly FoundWakes[]): number {
  const most = sumOf(groups.map(({ eventsMs, woken }) => eventsMs.length * woken.size));
  return sumOf(groups.map(sessionsIn)) / Math.max(1, most);
}

type Woken = FoundWakes["woken"];

/** Tells whether most sessions last over a quarter of a day: people begin to work at this time, and nothing wakes them. */
function isDaysWork(woken: Woken): boolean {
  const lasts = [...woken.values()].flat().map(({ jobs }) => {
    const [first, last] = [jobs[0], jobs.at(-1)] as [RecordedJob, RecordedJob];
    return last.endMs - first.startMs;
  });
  return new SortedSample(lasts).median > dayMs / 4;
}

/** Makes a group of these events and the callers that they wake. */
function groupOf(eventsMs: readonly number[], all: Woken, group: number): FoundWakes {
  const events = new Set(eventsMs);
  const each = [...all].map(
    ([caller, sessions]) => [caller, sessions.filter(({ eventMs }) => events.has(eventMs))] as const,
  );
  // An event may wake only some callers, each time others. So the usual count weighs each caller by its sessions.
  const usual = usualOf(each.map(([, own]) => own.length));
  const woken = new Map(each.filter(([, own]) => own.length > 0 && own.length >= oftenEnough * usual));
  return { group, clock: null, eventsMs, lastsMs: lastsOf(woken), woken };
}

/** Most spread of the middle half of callers' ends, as a share of the event's length, if they end together. */
const endsWithin = 0.1;
/** Least share of the events whose callers end together. */
const endsMostly = 2 / 3;
/** Ratio, to the median of these spreads, that the range of event lengths exceeds: else all may just have equal work. */
const lengthsApart = 3;

/** Returns the length of each event whose callers end together, ms; `null` if callers end independently. */
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

/** Groups events by the callers that they wake, the most similar first; leaves out groups of one event. */
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

/** Returns the number of callers in both, divided by the number in either. */
function alikeness(a: Woken, b: Woken): number {
  const both = [...a.keys()].filter((caller) => b.has(caller)).length;
  return both / Math.max(1, a.size + b.size - both);
}

/** Returns the gatherings that chance does not explain, of so many places at which there could be one. */
export const eventsAmong = (gatherings: readonly Gathering[], places: number): readonly Gathering[] =>
  gatherings.filter(({ usual, count }) => isCrowd(usual, count, places));

/** Returns one instant for each event: the one after which most callers begin. */
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
