// Finds events that wake many callers at a fixed time of the day, such as a deploy at ten or a report at three. One day
// may wake too few callers to show an event; all days together show it.
import { type Crowd, isCrowd } from "./crowds.ts";
import { dayMs, isWeekend, minuteMs, weekdayOf } from "./days.ts";
import type { ClockedEvents } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { SortedSample } from "./statistics.ts";

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
export function clockedIn(crowd: Crowd, { startedAtMs, endedAtMs }: Recording): readonly ClockedEvents[] {
  const first = Math.ceil(startedAtMs / dayMs - 0.02);
  const count = Math.max(0, Math.floor(endedAtMs / dayMs + 0.02) - first);
  const all = Array.from({ length: count }, (_, index) => first + index);
  const weekdays = all.filter((day) => !isWeekend(weekdayOf(day * dayMs)));
  const found: ClockedEvents[] = [];
  for (let place = 0; place < places; place++) {
    const minute = place * minutes;
    const days = [all, weekdays].find((some) => comesOn(crowd, some, minute));
    if (days === undefined) continue;
    const eventsMs = days.flatMap((day) => eventOn(crowd, day * dayMs + minute * minuteMs));
    const late = new SortedSample(eventsMs.map((ms) => (ms % dayMs) - minute * minuteMs)).most;
    found.push({
      at: `${minute % 60} ${Math.floor(minute / 60)} * * ${days === all ? "*" : "1-5"}`,
      lateMs: Math.ceil(late / 10_000) * 10_000,
      eventsMs,
    });
  }
  return found;
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
  const sum = (of: (day: (typeof seen)[number]) => number): number =>
    rest.reduce((all, day) => all + of(day), 0);
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
