// Finds sessions that somebody scheduled: they begin at a few minutes of the hour, such as a full or a half one, at hours
// that differ from day to day. Sessions of several callers then begin at one instant.
import { beginningsOf, isCrowd, placeOf, quietMs } from "./crowds.ts";
import { dayMs, hourMs, hourOf, isWeekend, minuteMs, weekdayOf } from "./days.ts";
import type { OwnWakes, Profile, WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { absencesIn } from "./sessions.ts";
import { addAt, addTo, SortedSample } from "./statistics.ts";
import { apartMs, gapBefore, gapsFrom } from "./woken.ts";

/** Longest time from the minute to the beginning of a session, ms. */
const lateMs = 15_000;
/** Step between the minutes that are tried: people choose multiples of five. */
const minutesApart = 5;
const places = 60 / minutesApart;
/** Least number of hours: sessions of fewer are at a time of the day. */
const hoursLeast = 3;
/** Least share of the busiest hour's sessions that makes an hour one of those; the same for weekends. */
const busyLeast = 1 / 4;

interface Start {
  readonly caller: Profile;
  readonly atMs: number;
}

/** Instants at which sessions may begin, and the sessions that do. */
interface ScheduledWakes extends Pick<OwnWakes, "clock" | "eventsMs" | "lastsMs"> {
  readonly woken: ReadonlyMap<Profile, readonly WokenSession[]>;
}

/** Finds scheduled sessions; `null` if chance explains the minutes at which callers begin. */
export function scheduledIn(
  callers: readonly Profile[],
  isKnown: (ms: number) => boolean,
  recording: Recording,
): ScheduledWakes | null {
  const punctual = callers.flatMap((caller) =>
    beginningsOf(caller, 0).flatMap(({ atMs, isLong, isAfterRefusal }): Start[] =>
      isLong && !isAfterRefusal && atMs % minuteMs < lateMs && !isKnown(atMs) ? [{ caller, atMs }] : [],
    ),
  );
  const minutes = minutesOf(punctual);
  const own = punctual.filter(({ atMs }) => minutes.includes(minuteOf(atMs)));
  const hours = hoursOf(own);
  if (hours.length < hoursLeast) return null;
  const rests = restsAtWeekends(own, recording);
  const isAsked = (ms: number): boolean =>
    minutes.includes(minuteOf(ms)) && hours.includes(hourOf(ms)) && !(rests && isWeekend(weekdayOf(ms)));
  const eventsMs: number[] = [];
  const firstMs = Math.ceil(recording.startedAtMs / minuteMs) * minuteMs;
  for (let ms = firstMs; ms < recording.endedAtMs; ms += minuteMs) if (isAsked(ms)) eventsMs.push(ms);
  const at = `${minutes.join(",")} ${hours.join(",")} * * ${rests ? "1-5" : "*"}`;
  const woken = sessionsFrom(own.filter(({ atMs }) => isAsked(atMs)));
  return { clock: { at, lateMs: 0, eventsMs }, eventsMs, lastsMs: null, woken };
}

const minuteOf = (ms: number): number => Math.floor((ms % hourMs) / minuteMs);

/** Returns the minutes of the hour at which more callers begin than at others, as chance does not explain. */
function minutesOf(starts: readonly Start[]): readonly number[] {
  const counts = new Array<number>(60).fill(0);
  const seen = new Map<Profile, Set<number>>();
  for (const { caller, atMs } of starts) {
    const own = seen.get(caller) ?? new Set();
    seen.set(caller, own);
    // A caller that comes each hour counts once a day.
    const minute = minuteOf(atMs);
    const dayMinute = Math.floor(atMs / dayMs) * 60 + minute;
    if (!own.has(dayMinute)) addAt(counts, minute);
    own.add(dayMinute);
  }
  const others = counts.filter((_, minute) => minute % minutesApart !== 0);
  const usual = new SortedSample(others).mean + 0.5;
  return counts.flatMap((count, minute) =>
    minute % minutesApart === 0 && isCrowd(usual, count, places) ? [minute] : [],
  );
}

function hoursOf(starts: readonly Start[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const { atMs } of starts) addTo(counts, hourOf(atMs));
  const most = Math.max(...counts.values());
  return [...counts]
    .flatMap(([hour, count]) => (count >= busyLeast * most ? [hour] : []))
    .sort((a, b) => a - b);
}

function restsAtWeekends(starts: readonly Start[], { startedAtMs, endedAtMs }: Recording): boolean {
  let [weekdays, weekends] = [0, 0];
  for (let ms = startedAtMs; ms < endedAtMs; ms += hourMs)
    if (isWeekend(weekdayOf(ms))) weekends += 1;
    else weekdays += 1;
  const seen = starts.filter(({ atMs }) => isWeekend(weekdayOf(atMs))).length;
  return seen * weekdays < busyLeast * (starts.length - seen) * weekends;
}

/** Returns each caller's sessions from these starts on; each goes on until a pause that is longer than those within. */
function sessionsFrom(starts: readonly Start[]): ReadonlyMap<Profile, readonly WokenSession[]> {
  const callers = new Set(starts.map(({ caller }) => caller));
  const startsOf = new Map([...callers].map((caller) => [caller, caller.jobs.map(({ startMs }) => startMs)]));
  const firsts = starts.map(({ caller, atMs }) => ({
    caller,
    first: placeOf(startsOf.get(caller) ?? [], atMs),
    eventMs: Math.floor(atMs / minuteMs) * minuteMs,
  }));
  const gapsMs = firsts.flatMap(({ caller, first, eventMs }) =>
    gapsFrom(caller.jobs, first, eventMs + apartMs),
  );
  const { awayMs, outerMs } = absencesIn(gapsMs);
  const cutMs = outerMs || awayMs || quietMs;
  const woken = new Map<Profile, WokenSession[]>();
  for (const { caller, first, eventMs } of firsts) {
    const { jobs } = caller;
    let end = first + 1;
    while (end < jobs.length && gapBefore(jobs, end) <= cutMs) end += 1;
    woken.set(caller, [...(woken.get(caller) ?? []), { eventMs, jobs: jobs.slice(first, end) }]);
  }
  return woken;
}
