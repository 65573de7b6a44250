// The frequency of events that keep to no clock: by hours and weekdays, with the days on which there were none.
import { dayMs, hourMs, isWeekend, weekdayOf } from "./days.ts";
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

/** Weights of the weekdays, beside their mean; `null` where chance explains that weekends are as other days. */
function weekdaysOf(
  eventsMs: readonly number[],
  { startedAtMs, endedAtMs }: Recording,
  daysOff: number,
): readonly number[] | null {
  let [days, weekends] = [-daysOff, 0];
  for (let ms = startedAtMs; ms < endedAtMs; ms += hourMs) {
    const watched = Math.min(hourMs, endedAtMs - ms) / dayMs;
    days += watched;
    if (isWeekend(weekdayOf(ms))) weekends += watched;
  }
  if (weekends < 0.9 || days - weekends < 1 || eventsMs.length < workingLeast) return null;
  const share = weekends / days;
  const all = eventsMs.length;
  const seen = eventsMs.filter((ms) => isWeekend(weekdayOf(ms))).length;
  const apart = Math.abs(seen - share * all) / Math.sqrt(all * share * (1 - share));
  if (apart < 0.99 * weekendDeviations) return null;
  // Beside the mean of the days that were watched, of which `perDay` is the mean, too.
  const [rest, work] = [seen / weekends, (all - seen) / (days - weekends)].map(
    (perDay) => Math.round((1000 * perDay * days) / all) / 1000,
  ) as [number, number];
  return Array.from({ length: 7 }, (_, weekday) => (isWeekend(weekday) ? rest : work));
}

/** The frequency of events that keep to no clock, by hours and weekdays; on their days off there are none. */
export function eventsByChance(
  eventsMs: readonly number[],
  recording: Recording,
): FittedEvents & { readonly kind: "chance" } {
  const { startedAtMs, endedAtMs } = recording;
  const off = eventsDaysOff(eventsMs, recording).length;
  const days = Math.max(1 / 24, (endedAtMs - startedAtMs) / dayMs - off);
  const weights = Array.from({ length: 24 }, (_, hour) =>
    eventsMs.reduce((sum, ms) => {
      const apart = Math.abs((((ms % dayMs) / hourMs - hour - 0.5 + 36) % 24) - 12);
      return sum + Math.max(0, 1 - apart / hoursWide);
    }, 0.02),
  );
  const mean = new SortedSample(weights).mean;
  const hours = weights.map((weight) => Math.round((1000 * weight) / mean) / 1000);
  return {
    kind: "chance",
    perDay: Math.round((100 * eventsMs.length) / days) / 100,
    rhythm: { hours, weekend: null, weekdays: weekdaysOf(eventsMs, recording, off), days: [] },
  };
}
