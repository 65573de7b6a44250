// Fits the frequency of events that follow no clock: by hours and weekdays, with the days on which there were none.
import { dayMs, hourMs, hourOf, isWeekend, weekdayOf } from "./days.ts";
import type { FittedEvents } from "./model.ts";
import type { Recording } from "./recording.ts";
import { daysOffIn } from "./rhythm.ts";
import { addAt, SortedSample, sumOf } from "./statistics.ts";
import { apartMs } from "./woken.ts";

/** Hours before and after an event in which others are likely, the less the further. */
const hoursWide = 3;
/** Least number of events, and least deviations of weekends from other days, that chance does not explain. */
const workingLeast = 10;
const weekendDeviations = 2;

/** Returns weekdays with next to no events, though others had many; in days since the epoch. */
export function eventsDaysOff(
  eventsMs: readonly number[],
  { startedAtMs, endedAtMs }: Pick<Recording, "startedAtMs" | "endedAtMs">,
): readonly number[] {
  const first = Math.floor(startedAtMs / hourMs);
  // The rows of a week end some minutes before seven days are over, so hours are rounded.
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

/** Returns the days of a recording by a class of instants. Sums of whole ms are exact, unlike those of parts of days. */
function daysBy(recording: Recording, classes: number, classOf: (ms: number) => number): number[] {
  const { startedAtMs, endedAtMs } = recording;
  const spansMs = new Array<number>(classes).fill(0);
  for (let [ms, nextMs] = [startedAtMs, startedAtMs]; ms < endedAtMs; ms = nextMs) {
    nextMs = Math.min(endedAtMs, Math.floor(ms / hourMs + 1) * hourMs);
    (spansMs[classOf(ms)] as number) += nextMs - ms;
  }
  return spansMs.map((ms) => ms / dayMs);
}

/** Returns the weights of the weekdays, relative to their mean; `null` if chance explains how weekends differ. */
function weekdaysOf(eventsMs: readonly number[], recording: Recording, off: number): number[] | null {
  const [work = 0, weekends = 0] = daysBy(recording, 2, (ms) => Number(isWeekend(weekdayOf(ms))));
  const others = work - off;
  if (weekends < 0.9 || others < 1 || eventsMs.length < workingLeast) return null;
  const days = others + weekends;
  const share = weekends / days;
  const all = eventsMs.length;
  const seen = eventsMs.filter((ms) => isWeekend(weekdayOf(ms))).length;
  const apart = Math.abs(seen - share * all) / Math.sqrt(all * share * (1 - share));
  if (apart < 0.99 * weekendDeviations) return null;
  // Weights are relative to the mean of the recorded days, as the result's `perDay` is that mean, too.
  const [rest, usual] = [seen / weekends, (all - seen) / others].map(
    (perDay) => Math.round((1000 * perDay * days) / all) / 1000,
  ) as [number, number];
  return Array.from({ length: 7 }, (_, weekday) => (isWeekend(weekday) ? rest : usual));
}

/** Fits the frequency of events that follow no clock: by weekday, and by hour over the days on which it was recorded. */
export function eventsByChance(
  eventsMs: readonly number[],
  recording: Recording,
): FittedEvents & { readonly kind: "chance" } {
  const off = eventsDaysOff(eventsMs, recording).length;
  const least = Math.max(1 / 24, Math.min(1, (recording.endedAtMs - recording.startedAtMs) / dayMs));
  const seen = new Array<number>(24).fill(0);
  for (const ms of eventsMs) addAt(seen, hourOf(ms));
  // Another event so soon after an event counts as the same one, so that time shows none.
  const days = daysBy(recording, 24, hourOf).map((watched, hour) =>
    Math.max(least, 24 * watched - off - ((seen[hour] as number) * apartMs) / hourMs),
  );
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
    perDay: Math.round(100 * sumOf(eventsMs.map((ms) => perDayBy(ms)))) / 100,
    rhythm: { hours, weekend: null, weekdays: weekdaysOf(eventsMs, recording, off), days: [] },
  };
}
