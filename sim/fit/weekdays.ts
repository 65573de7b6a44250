// Weekdays that a recording has only once: a different one may differ each week, or only that once. No fit can know.
import { weekdayName } from "../../src/rules/words.ts";
import { dateOf, dayMs, hourMs, isWeekend, weekdayOf } from "./days.ts";
import type { Recording } from "./recording.ts";
import { SortedSample, sumOf } from "./statistics.ts";

/** Least number of recorded hours of a day that counts. */
const hoursLeast = 12;
/** Largest ratio of calls between one of five weekdays and the others if all are alike. */
const alikeTimes = 1.2;
/** Least ratio, either way, of a day's calls to those of the others from which the sentence names the day. */
const apartTimes = 1.5;

/** Number of calls of a weekday by hour; `null` for hours that were not recorded. */
interface Weekday {
  readonly day: number;
  readonly hours: readonly (number | null)[];
}

/** Returns a sentence on weekdays recorded only once; none if all five were recorded and are alike. */
export function weekdaysDoubt(recording: Recording, spanDays: number): string[] {
  if (spanDays < 2 - 1 / 24 || spanDays >= 14 - 1 / 24) return [];
  const days = weekdaysIn(recording);
  const apart = (day: Weekday): number => Math.max(timesOthers(day, days), 1 / timesOthers(day, days));
  const [odd] = days.toSorted((a, b) => apart(b) - apart(a));
  if (odd === undefined || (days.length >= 5 && apart(odd) <= alikeTimes)) return [];
  const named =
    apart(odd) < apartTimes
      ? ""
      : ` ${weekdayName(odd.day * dayMs)} (${dateOf(odd.day * dayMs)}) had ${timesOthers(odd, days).toFixed(1)} times the calls of the other weekdays.`;
  const seen =
    spanDays > 7 + 1 / 24 ? "Some weekdays were recorded only once" : "No weekday was recorded twice";
  return [`${seen}: whether one is busier every week is not told, and the scenario takes all alike.${named}`];
}

function weekdaysIn({ callers, startedAtMs, endedAtMs }: Recording): readonly Weekday[] {
  const [first, last] = [Math.round(startedAtMs / hourMs), Math.round(endedAtMs / hourMs)];
  const counts = new Float64Array(last - first);
  for (const { calls } of callers)
    for (const { atMs } of calls) {
      const place = Math.floor(atMs / hourMs) - first;
      (counts[place] as number) += 1;
    }
  const days: Weekday[] = [];
  for (let day = Math.floor(first / 24); 24 * day < last; day++) {
    const hours = Array.from({ length: 24 }, (_, hour) => counts[24 * day + hour - first] ?? null);
    const isSeen = hours.filter((count) => count !== null).length >= hoursLeast;
    if (isSeen && !isWeekend(weekdayOf(day * dayMs))) days.push({ day, hours });
  }
  return days;
}

/** Returns the ratio of a day's calls to the other days' median in the same hours; 1 if they had none. */
function timesOthers({ day, hours }: Weekday, days: readonly Weekday[]): number {
  const sumIn = (some: Weekday["hours"]): number =>
    sumOf(hours.map((count, hour) => (count === null ? 0 : (some[hour] ?? 0))));
  const others = days.filter((other) => other.day !== day).map((other) => sumIn(other.hours));
  const usual = new SortedSample(others).median;
  return usual === 0 ? 1 : Math.max(0.01, sumIn(hours) / usual);
}
