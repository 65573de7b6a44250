// Events that bring more calls of callers who call all day: for some time, many of them call far more often than before.
// An event's calls are those beyond the usual number. Their number is known, but not which calls they are.
import { leastOf } from "../../src/rules/extremes.ts";
import { isCrowd, rareCrowd } from "./crowds.ts";
import { dayMs, minuteMs } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import type { Profile, WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { spellsOf } from "./runs.ts";
import { SortedSample } from "./statistics.ts";
import type { FoundWakes } from "./wakes.ts";

/** Minutes compared before and after an instant. The first `lateMinutes` after it are skipped, as some callers come late. */
const sideMinutes = 10;
const lateMinutes = 5;
/** Least ratio of calls after to before, and least standard deviations of the difference, that make a rise. */
const riseLeast = 1.5;
const deviationsLeast = 2;
/** Share of recordings that show a false event. `falseShare`: share of false events, once two are sure. */
const falseMost = 0.02;
const falseShare = 0.25;
/** Least number of callers that an event affects, and least share of the callers who are awake. */
const callersLeast = 3;
const shareLeast = 0.2;
const eventsLeast = 2;
/** Most minutes that an event lasts, and minutes by which two events are further apart. */
const lastsMost = 240;
const apartMinutes = 20;
/** Number of days from which rises at one time of the day are daily, and most minutes between their times. */
const daysLeast = 4;
const dailyMinutes = 30;
const besideMinutes = sideMinutes + lateMinutes;
/** Most minutes times callers that are searched; more would take too long. */
const cellsMost = 20_000_000;

interface Caller {
  readonly profile: Profile;
  /** Number of jobs before each minute; last entry: of all jobs. */
  readonly until: Uint32Array;
}

/** Number of calls on each side of a minute. */
interface Sides {
  readonly before: number;
  readonly after: number;
}

/** Returns the number of jobs in a span of minutes, as far as it was recorded. */
function jobsIn(until: Uint32Array, from: number, to: number): number {
  const last = until.length - 1;
  return (until[Math.min(to, last)] as number) - (until[Math.min(Math.max(0, from), last)] as number);
}

/** Returns the minutes far from known events and from the calls that they woke: a remainder of these is no rise. */
function minutesApart(wakes: readonly FoundWakes[], firstMs: number, minutes: number): number[] {
  const near = new Uint8Array(minutes);
  for (const { eventsMs, woken } of wakes) {
    const ends = new Map(eventsMs.map((ms) => [ms, ms]));
    for (const { eventMs, jobs } of [...woken.values()].flat())
      ends.set(eventMs, Math.max(ends.get(eventMs) ?? eventMs, jobs.at(-1)?.endMs ?? eventMs));
    for (const [fromMs, toMs] of ends) {
      const [from, to] = [fromMs, toMs].map((ms) => Math.floor((ms - firstMs) / minuteMs)) as [
        number,
        number,
      ];
      near.fill(1, Math.max(0, from - besideMinutes), Math.max(0, to + besideMinutes + 1));
    }
  }
  const apart: number[] = [];
  for (let minute = sideMinutes; minute + besideMinutes <= minutes; minute++)
    if (near[minute] === 0) apart.push(minute);
  return apart;
}

/** Finds events that bring more calls of many callers at once; returns one group, or none. */
export function risesIn(
  profiles: readonly Profile[],
  recording: Recording,
  wakes: readonly FoundWakes[],
): readonly FoundWakes[] {
  const firstMs = Math.floor(recording.startedAtMs / minuteMs) * minuteMs;
  const minutes = Math.ceil((recording.endedAtMs - firstMs) / minuteMs);
  if (profiles.length < callersLeast || minutes * profiles.length > cellsMost) return [];
  const callers = profiles.map((profile): Caller => {
    const until = new Uint32Array(minutes + 1);
    for (const { startMs } of profile.jobs) {
      const after = Math.floor((startMs - firstMs) / minuteMs) + 1;
      until[after] = (until[after] as number) + 1;
    }
    for (let minute = 1; minute <= minutes; minute++)
      until[minute] = (until[minute] as number) + (until[minute - 1] as number);
    return { profile, until };
  });
  const asked = minutesApart(wakes, firstMs, minutes);
  const rises = risingMinutes(callers, minutes, asked).flatMap(
    (minute) => eventAt(callers, minute, firstMs) ?? [],
  );
  const events = rises.filter(({ eventMs }) => !isDaily(eventMs, rises));
  if (events.length < eventsLeast) return [];
  const woken = new Map<Profile, WokenSession[]>();
  for (const { eventMs, sessions } of events)
    for (const [profile, jobs] of sessions)
      woken.set(profile, [...(woken.get(profile) ?? []), { eventMs, jobs }]);
  const eventsMs = events.map(({ eventMs }) => eventMs);
  const lastsMs = events.map((event) => event.lastsMs);
  return [{ group: wakes.length, clock: null, eventsMs, lastsMs, woken }];
}

/** Tells whether calls rise at this time of the day on several days: then their rhythm by the hour tells it. */
function isDaily(ms: number, rises: readonly { readonly eventMs: number }[]): boolean {
  const alike = rises.filter(({ eventMs }) => {
    const apartMs = (((eventMs - ms) % dayMs) + dayMs) % dayMs;
    return Math.min(apartMs, dayMs - apartMs) <= dailyMinutes * minuteMs;
  });
  return new Set(alike.map(({ eventMs }) => Math.floor(eventMs / dayMs))).size >= daysLeast;
}

/** Returns the minutes after which far more callers rise than by chance; of neighbours, the one with the largest rise. */
function risingMinutes(callers: readonly Caller[], minutes: number, asked: readonly number[]): number[] {
  const [before, after] = [new Float64Array(minutes), new Float64Array(minutes)];
  const [rising, usual] = [new Float64Array(minutes), new Float64Array(minutes)];
  for (const { until } of callers) {
    const awake: number[] = [];
    let own = 0;
    for (const minute of asked) {
      const sides = sidesOf(until, minute);
      if (sides === null) continue;
      awake.push(minute);
      before[minute] = (before[minute] as number) + sides.before;
      after[minute] = (after[minute] as number) + sides.after;
      if (!isRise(sides)) continue;
      own += 1;
      rising[minute] = (rising[minute] as number) + 1;
    }
    for (const minute of awake) usual[minute] = (usual[minute] as number) + own / awake.length;
  }
  const rises = Array.from(before, (count, minute) => deviationsOf(count, after[minute] as number));
  const foundAt = (places: number): number[] => {
    const crowded = rises.flatMap((_, minute) => {
      const [count, mean] = [rising[minute] as number, usual[minute] as number];
      return count >= callersLeast && isCrowd(mean, count, places / rareCrowd) ? [minute] : [];
    });
    const found: number[] = [];
    for (const minute of crowded.sort((a, b) => (rises[b] as number) - (rises[a] as number)))
      if (found.every((other) => Math.abs(other - minute) > apartMinutes)) found.push(minute);
    return found;
  };
  // One rise shows in as many minutes as its sides are long.
  const places = asked.length / sideMinutes;
  const surely = foundAt(places / falseMost);
  const found = surely.length < eventsLeast ? [] : foundAt(places / (falseShare * surely.length));
  return found.sort((a, b) => a - b);
}

/** Tells whether a caller's calls rise by far more than chance. */
const isRise = ({ before, after }: Sides): boolean =>
  after > riseLeast * before && deviationsOf(before, after) > deviationsLeast;

/** Counts a caller's calls on both sides of a minute; `null` if it was not awake all the time. */
function sidesOf(until: Uint32Array, minute: number): Sides | null {
  const half = jobsIn(until, minute - sideMinutes, minute - sideMinutes / 2);
  if (half === 0) return null;
  const before = jobsIn(until, minute - sideMinutes, minute);
  const after = jobsIn(until, minute + lateMinutes, minute + lateMinutes + sideMinutes);
  return before === half || after === 0 ? null : { before, after };
}

const deviationsOf = (before: number, after: number): number =>
  (after - before) / Math.sqrt(Math.max(1, after + before));

/** Returns the calls that an event brought from a minute on; `null` if it affected few callers. */
function eventAt(
  callers: readonly Caller[],
  minute: number,
  firstMs: number,
): {
  readonly eventMs: number;
  readonly lastsMs: number;
  readonly sessions: readonly (readonly [Profile, readonly RecordedJob[]])[];
} | null {
  const awake = callers.flatMap((caller) => {
    const sides = sidesOf(caller.until, minute);
    return sides === null ? [] : [{ caller, ...sides }];
  });
  const rising = awake.filter(isRise);
  if (rising.length < shareLeast * awake.length) return null;
  const spans = rising.map(({ caller: { profile, until }, before, after }) => {
    const middle = (before + after) / 2 / sideMinutes;
    let from = minute - 1;
    while (from < minute + lateMinutes && jobsIn(until, from, from + 3) < 3 * middle) from += 1;
    let to = minute + lateMinutes;
    while (to < minute + lastsMost && jobsIn(until, to, to + 5) >= 5 * middle) to += 1;
    return { profile, from, to, perMs: before / sideMinutes / minuteMs };
  });
  const eventMs = firstMs + leastOf(spans.map(({ from }) => from)) * minuteMs;
  const ends = new SortedSample(spans.map(({ to }) => firstMs + to * minuteMs));
  return {
    eventMs,
    lastsMs: ends.median - eventMs,
    sessions: spans.flatMap(({ profile, from, to, perMs }) => {
      const jobs = beyondUsual(profile.jobs, firstMs + from * minuteMs, firstMs + to * minuteMs, perMs);
      return jobs.length === 0 ? [] : [[profile, jobs] as const];
    }),
  };
}

/** Returns the jobs of a span beyond the usual rate; jobs at once stay together. */
function beyondUsual(
  jobs: readonly RecordedJob[],
  fromMs: number,
  toMs: number,
  perMs: number,
): RecordedJob[] {
  const own = jobs.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
  const beyond: RecordedJob[] = [];
  let [place, usual] = [0, 0];
  for (const { startMs, jobs: size } of spellsOf(own)) {
    const each = own.slice(place, place + size);
    place += size;
    if (usual < perMs * (startMs - fromMs)) usual += size;
    else for (const job of each) beyond.push(job);
  }
  return beyond;
}
