// The frequency of events that keep to no clock: by hours and weekdays, with the days on which there were none.
import { dayMs, hourMs, hourOf, isWeekend, weekdayOf } from "./days.ts";
import type { FittedEvents } from "./model.ts";
import type { Recording } from "./recording.ts";
import { daysOffIn } from "./rhythm.ts";
import { SortedSample } from "./statistics.ts";

/** An event says that others are likely within so many hours of its own, less the further. */
const hoursWide = 3;
/** So many events, and weekends of so many deviations more or less than as many as other days, are no chance. */
const workingLeast = 10;
const weekendDeviations = 2;

/** Days of the recording on which none of so many events came, though they did on other weekdays; since the epoch. */
export function eventsDaysOff(
  eventsMs: readonly number[],
  { startedAtMs, endedAtMs }: Pick<Recording, "startedAtMs" | "endedAtMs">,
): readonly number[] {
  const first = Math.floor(startedAtMs / hourMs);
  // A week of rows is some minutes short of seven days.
  const hours = Array.from({ length: Math.round(endedAtMs / hourMs) - first }, (_, index) => {
    const day = Math.floor((first + index) / 24);
    return { day, weekday: weekdayOf(day * dayMs), returns: 0 };
  });
  for (const ms of eventsMs) {
    const hour = hours[Math.floor(ms / hourMs) - first];
    if (hour !== undefined) hour.returns += 1;
  }
  return [...daysOffIn(hours)];
}

/** Days of a recording, by a class of instants. */
function daysBy(recording: Recording, classes: number, classOf: (ms: number) => number): number[] {
  const { startedAtMs, endedAtMs } = recording;
  const days = new Array<number>(classes).fill(0);
  for (let ms = startedAtMs; ms < endedAtMs; ms = Math.floor(ms / hourMs + 1) * hourMs)
    (days[classOf(ms)] as number) += (Math.min(endedAtMs, Math.floor(ms / hourMs + 1) * hourMs) - ms) / dayMs;
  return days;
}

/** Weights of the weekdays, beside their mean; `null` where chance explains that weekends are as other days. */
function weekdaysOf(eventsMs: readonly number[], recording: Recording, off: number): number[] | null {
  const [work = 0, weekends = 0] = daysBy(recording, 2, (ms) => Number(isWeekend(weekdayOf(ms))));
  const days = work + weekends - off;
  if (weekends < 0.9 || days - weekends < 1 || eventsMs.length < workingLeast) return null;
  const share = weekends / days;
  const all = eventsMs.length;
  const seen = eventsMs.filter((ms) => isWeekend(weekdayOf(ms))).length;
  const apart = Math.abs(seen - share * all) / Math.sqrt(all * share * (1 - share));
  if (apart < 0.99 * weekendDeviations) return null;
  // Beside the mean of the days that were watched, of which `perDay` is the mean, too.
  const [rest, others] = [seen / weekends, (all - seen) / (days - weekends)].map(
    (perDay) => Math.round((1000 * perDay * days) / all) / 1000,
  ) as [number, number];
  return Array.from({ length: 7 }, (_, weekday) => (isWeekend(weekday) ? rest : others));
}

/** The frequency of events that keep to no clock, by hours, of the days on which each was watched, and by weekdays. */
export function eventsByChance(
  eventsMs: readonly number[],
  recording: Recording,
): FittedEvents & { readonly kind: "chance" } {
  const off = eventsDaysOff(eventsMs, recording).length;
  const least = Math.max(1 / 24, Math.min(1, (recording.endedAtMs - recording.startedAtMs) / dayMs));
  const days = daysBy(recording, 24, hourOf).map((watched) => Math.max(least, 24 * watched - off));
  const perDayBy = (ms: number): number => 1 / (days[hourOf(ms)] as number);
  const weights = days.map((_, hour) =>
    eventsMs.reduce((sum, ms) => {
      const apart = Math.abs((((ms % dayMs) / hourMs - hour - 0.5 + 36) % 24) - 12);
      return sum + perDayBy(ms) * Math.max(0, 1 - apart / hoursWide);
    }, 0.02 / new SortedSample(days).mean),
  );
  const mean = new SortedSample(weights).mean;
  const hours = weights.map((weight) => Math.round((1000 * weight) / mean) / 1000);
  return {
    kind: "chance",
    perDay: Math.round(100 * eventsMs.reduce((sum, ms) => sum + perDayBy(ms), 0)) / 100,
    rhythm: { hours, weekend: null, weekdays: weekdaysOf(eventsMs, recording, off), days: [] },
  };
}
