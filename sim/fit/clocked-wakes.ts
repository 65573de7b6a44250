// Finds events that wake many callers at a fixed time of the day, such as a deploy at ten or a report at three. One day
// may wake too few callers to show an event; all days together show it.
import { type Crowd, isCrowd } from "./crowds.ts";
import { dayMs, hourMs, isWeekend, minuteMs, weekdayOf } from "./days.ts";
import type { ClockedEvents } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { SortedSample, sumOf } from "./statistics.ts";

/** Step between the times of the day that are tried, minutes: people choose multiples of five. */
const minutes = 5;
const places = (24 * 60) / minutes;
/** Longest time from the minute to the callers' beginnings, ms. */
const withinMs = 3 * minuteMs;
/** Span within which most of these callers begin, ms. */
export const clockedSpanMs = minuteMs;
const daysLeast = 4;
const shareLeast = 0.8;
const callersLeast = 3;

/** Finds the times of the day at which callers begin together, on weekdays or on all days. */
export function clockedIn(crowd: Crowd, recording: Recording): readonly ClockedEvents[] {
  return timesOfDay(
    recording,
    (days, minute) => comesOn(crowd, days, minute),
    (fromMs) => eventOn(crowd, fromMs),
  ).map((time) => clockedAt([time]));
}

/** Least ratio of the callers of the whole time to those of the span in which most begin, both beyond the usual ones. */
const spreadLeast = 4 / 3;

/**
 * Tells over how long a time an event's callers begin: a span from the instant when most do, or, if far more begin at
 * other instants, the whole time from the minute on.
 */
export function spreadOf(
  clock: ClockedEvents,
  crowd: Crowd,
): { readonly clock: ClockedEvents; readonly spanMs: number } {
  const moreIn = (ms: number, spanMs: number): number =>
    crowd.countIn(ms, spanMs) - (crowd.usualIn(ms, spanMs) as number);
  let [most, all] = [0, 0];
  const fromMs = clock.eventsMs.map((ms) => ms - (ms % (minutes * minuteMs)));
  for (const [index, ms] of fromMs.entries()) {
    most += moreIn(clock.eventsMs[index] as number, clockedSpanMs);
    all += moreIn(ms, withinMs);
  }
  return all < spreadLeast * most
    ? { clock, spanMs: clockedSpanMs }
    : { clock: { ...clock, lateMs: 0, eventsMs: fromMs }, spanMs: withinMs };
}

/** Time before its minute from which an event counts as that minute's, ms: callers' usual calls may make it seem early. */
const earlyMs = minuteMs;
/** Time up to which an event is punctual, ms. */
const punctualMs = minuteMs / 2;

/**
 * Finds those of known events that come at the same times of most days: one line of cron for each minute of the hour.
 * Punctual ones are given the instants of that minute.
 */
export function clockedAmong(knownMs: readonly number[], recording: Recording): readonly ClockedEvents[] {
  const eventsFrom = (fromMs: number): number[] =>
    knownMs.filter((ms) => ms >= fromMs - earlyMs && ms < fromMs + withinMs).slice(0, 1);
  const comes = (days: readonly number[], minute: number): boolean =>
    days.length >= daysLeast &&
    days.flatMap((day) => eventsFrom(day * dayMs + minute * minuteMs)).length >= shareLeast * days.length;
  const lines = new Map<string, TimeOfDay[]>();
  for (const time of timesOfDay(recording, comes, eventsFrom)) {
    const fromMs = time.eventsMs.map(
      (ms) => ms + earlyMs - ((ms + earlyMs) % dayMs) + time.minute * minuteMs,
    );
    const isPunctual = time.eventsMs.every((ms, at) => ms < (fromMs[at] as number) + punctualMs);
    const eventsMs = isPunctual ? fromMs : time.eventsMs.map((ms, at) => Math.max(ms, fromMs[at] as number));
    const line = `${time.minute % 60} ${time.days}`;
    lines.set(line, [...(lines.get(line) ?? []), { ...time, eventsMs }]);
  }
  return [...lines.values()].map(clockedAt);
}

/** Days on which events come, as cron writes them. */
type Days = "*" | "1-5";

interface TimeOfDay {
  /** Minute of the day. */
  readonly minute: number;
  readonly days: Days;
  readonly eventsMs: readonly number[];
}

/** Returns the times of the day at which events come. */
function timesOfDay(
  { startedAtMs, endedAtMs }: Recording,
  comes: (days: readonly number[], minute: number) => boolean,
  eventsFrom: (fromMs: number) => readonly number[],
): readonly TimeOfDay[] {
  const first = Math.ceil(startedAtMs / dayMs - 0.02);
  const all = Array.from(
    { length: Math.floor(endedAtMs / dayMs + 0.02) - first },
    (_, index) => first + index,
  );
  const weekdays = all.filter((day) => !isWeekend(weekdayOf(day * dayMs)));
  return Array.from({ length: places }, (_, place) => place * minutes).flatMap((minute) => {
    const days = [all, weekdays].find((some) => comes(some, minute));
    if (days === undefined) return [];
    const eventsMs = days.flatMap((day) => eventsFrom(day * dayMs + minute * minuteMs));
    return [{ minute, days: days === all ? "*" : "1-5", eventsMs } as const];
  });
}

/** Makes one line of cron of times at one minute of the hour, on the same days. */
function clockedAt(times: readonly TimeOfDay[]): ClockedEvents {
  const [{ minute: first, days }] = times as [TimeOfDay];
  const minute = first % 60;
  const eventsMs = times.flatMap((time) => time.eventsMs).sort((a, b) => a - b);
  const late = new SortedSample(eventsMs.map((ms) => (ms % hourMs) - minute * minuteMs)).most;
  const hours = hoursText(times.map((time) => Math.floor(time.minute / 60)));
  return { at: `${minute} ${hours} * * ${days}`, lateMs: Math.ceil(late / 10_000) * 10_000, eventsMs };
}

/** Writes hours as cron does: every third one as an asterisk with its step, others one by one. */
function hoursText(hours: readonly number[]): string {
  const step = 24 / hours.length;
  if (hours.length === 1 || hours.some((hour, index) => hour !== index * step)) return hours.join(",");
  return step === 1 ? "*" : `*/${step}`;
}

/** Tells whether, on most of these days, more callers begin at a minute than chance explains. */
function comesOn(crowd: Crowd, days: readonly number[], minute: number): boolean {
  if (days.length < daysLeast) return false;
  const seen = days.map((day) => {
    const atMs = day * dayMs + minute * minuteMs;
    const usual = crowd.usualIn(atMs, withinMs) ?? Number.MAX_VALUE;
    return { day, count: crowd.countIn(atMs, withinMs), usual };
  });
  for (const kind of [true, false]) {
    const own = seen.filter(({ day }) => isWeekend(weekdayOf(day * dayMs)) === kind);
    const hit = own.filter(({ count, usual }) => count >= Math.max(callersLeast, 2 * usual));
    if (hit.length < shareLeast * own.length) return false;
  }
  // The busiest day is left out: another event may have made it busy.
  const rest = seen.toSorted((a, b) => b.count - a.count).slice(1);
  const sum = (of: (day: (typeof seen)[number]) => number): number => sumOf(rest.map((day) => of(day)));
  return isCrowd(
    sum(({ usual }) => usual),
    sum(({ count }) => count),
    places,
  );
}

/** Returns the instant from which most callers begin; none if hardly anybody does. */
function eventOn(crowd: Crowd, fromMs: number): number[] {
  let best = { atMs: fromMs, count: 0 };
  for (const atMs of crowd.starts) {
    if (atMs < fromMs || atMs >= fromMs + withinMs) continue;
    const count = crowd.countIn(atMs, clockedSpanMs);
    if (count > best.count) best = { atMs, count };
  }
  return best.count < callersLeast ? [] : [best.atMs];
}
