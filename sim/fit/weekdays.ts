// Weekdays that a recording has only once: a different one may differ each week, or only that once. No fit can know.
import { weekdayName } from "../../src/rules/words.ts";
import { dateOf, dayMs, hourMs, isWeekend, weekdayOf } from "./days.ts";
import type { ClockedSessions, Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { addTo, SortedSample, sumOf } from "./statistics.ts";

/** Least number of recorded hours of a day that counts. */
const hoursLeast = 12;
/** Largest ratio of calls between one of five weekdays and the others if all are alike. */
const alikeTimes = 1.2;
/** Ratio, either way, from which the sentence names the day though few callers differ alike. */
const apartTimes = 1.5;

/** From Monday to Friday. */
export const weekdays = [1, 2, 3, 4, 5] as const;
/** Least share of callers, or of pairs of two days' runs, that differ alike where the days are of two kinds. */
const pairsApart = 0.9;
/** Least number of callers who do more on the same days: fewer may by chance. */
const callersTell = 5;

/** Share of the difference between weekdays that lies between two kinds of them: days at random have it 1 in 75 times. */
const gapTells = 0.82;

/** Returns the days and sizes of a timetable's runs. */
export const runsOf = ({ startsMs, sizes }: ClockedSessions): Run[] =>
  startsMs.map((startMs, run) => ({
    day: Math.floor(startMs / dayMs),
    weekday: weekdayOf(startMs),
    size: sizes[run] as number,
  }));

interface Run {
  /** Days since the epoch. */
  readonly day: number;
  readonly weekday: number;
  readonly size: number;
}

/** Least ratio of the usual sizes of runs on weekdays and at weekends, either way, that makes them two kinds. */
const daysApartTimes = 2;

/** Tells whether runs on weekdays and at weekends are of two kinds, by their sizes. */
export function areApart(onWeekdays: readonly number[], atWeekends: readonly number[]): boolean {
  if (onWeekdays.length < 4 || atWeekends.length < 2) return false;
  const times = new SortedSample(onWeekdays).median / new SortedSample(atWeekends).median;
  if (times < daysApartTimes && times > 1 / daysApartTimes) return false;
  const pairs = onWeekdays.flatMap((size) =>
    atWeekends.map((other) => (times > 1 ? size > other : size < other)),
  );
  return pairs.filter(Boolean).length >= pairsApart * pairs.length;
}

/** Returns the mean number of jobs of a day with runs; 0 if there is none. */
const meanOf = (runs: readonly Run[]): number =>
  sumOf(runs.map(({ size }) => size)) / Math.max(1, new Set(runs.map(({ day }) => day)).size);

/** Returns the weekdays on which the daily jobs of nearly all callers do more than on the others; empty: on none. */
export const busyDaysOf = (callers: readonly (readonly ClockedSessions[])[]): readonly number[] =>
  busyDaysIn(callers.map((own) => own.filter(({ periodMs }) => periodMs === dayMs).flatMap(runsOf)));

/**
 * Returns the weekdays on which nearly all callers come more often than on the others; empty: on none. What comes
 * without a timetable differs from day to day anyway, so the weekdays of each kind have to be alike.
 */
export const busyVisitDays = (profiles: readonly Profile[]): readonly number[] =>
  busyDaysIn(
    profiles.map(({ apart, jobs }) => {
      const sizes = new Map<number, number>();
      for (const { startMs } of apart === null ? jobs : (apart.rest?.jobs ?? []))
        addTo(sizes, Math.floor(startMs / dayMs));
      return [...sizes].map(([day, size]) => ({ day, weekday: weekdayOf(day * dayMs), size }));
    }),
    gapTells,
  );

function busyDaysIn(callers: readonly (readonly Run[])[], gapLeast = 0): readonly number[] {
  const loads = callers.flatMap((runs) => {
    const load = weekdays.map((day) => meanOf(runs.filter(({ weekday }) => weekday === day)));
    const all = sumOf(load);
    return load.includes(0) ? [] : [load.map((size) => size / all)];
  });
  if (loads.length < callersTell) return [];
  const shareOf = (day: number): number => sumOf(loads.map((load) => load[day - 1] as number));
  const days = weekdays.toSorted((a, b) => shareOf(b) - shareOf(a));
  const timesNext = (place: number): number =>
    shareOf(days[place] as number) / shareOf(days[place + 1] as number);
  const [last = 0] = [0, 1, 2, 3].toSorted((a, b) => timesNext(b) - timesNext(a));
  const [busy, others] = [days.slice(0, last + 1), days.slice(last + 1)];
  const pairs = loads.flatMap((load) =>
    busy.flatMap((day) => others.map((other) => (load[day - 1] as number) > (load[other - 1] as number))),
  );
  const [gap, all] = [
    shareOf(busy[last] as number) - shareOf(others[0] as number),
    shareOf(days[0] as number) - shareOf(days[4] as number),
  ];
  const apart =
    timesNext(last) >= alikeTimes &&
    gap >= gapLeast * all &&
    pairs.filter(Boolean).length >= pairsApart * pairs.length;
  return apart ? busy.toSorted((a, b) => a - b) : [];
}

/** Number of calls of a weekday by hour; `null` for hours that were not recorded. */
interface Weekday {
  readonly day: number;
  readonly hours: readonly (number | null)[];
}

/** Returns a sentence on weekdays recorded only once; none if all five were recorded and are alike. */
export function weekdaysDoubt(
  recording: Recording,
  spanDays: number,
  profiles: readonly Profile[] = [],
): string[] {
  if (spanDays < 2 - 1 / 24 || spanDays >= 14 - 1 / 24) return [];
  const days = weekdaysIn(recording);
  const [busy = []] = profiles.flatMap(
    ({ apart }) => apart?.timetables.map(({ busyDays }) => busyDays) ?? [],
  );
  const apart = (day: Weekday): number => Math.max(timesOthers(day, days), 1 / timesOthers(day, days));
  const [odd] = days.toSorted((a, b) => apart(b) - apart(a));
  if (odd === undefined || (days.length >= 5 && apart(odd) <= alikeTimes)) return [];
  const named =
    apart(odd) < apartTimes && !isOddForMost(odd, timesOthers(odd, days) > 1, recording)
      ? ""
      : ` ${weekdayName(odd.day * dayMs)} (${dateOf(odd.day * dayMs)}) had ${timesOthers(odd, days).toFixed(1)} times the calls of the other weekdays.`;
  const seen =
    spanDays > 7 + 1 / 24 ? "Some weekdays were recorded only once" : "No weekday was recorded twice";
  const but = [
    { days: busy, text: ", but has daily jobs do more" },
    { days: busyVisitDays(profiles), text: ", but has callers come more often" },
  ].map(({ days, text }) =>
    days.length === 0
      ? ""
      : `${text} on each ${days.map((day) => weekdayName((day + 3) * dayMs)).join(" and ")}`,
  );
  return [
    `${seen}: whether one is busier every week is not told, and the scenario takes all alike${but.join("")}.${named}`,
  ];
}

/** Tells whether a day differs from the others in the same way for nearly all callers. */
function isOddForMost(odd: Weekday, isMore: boolean, recording: Recording): boolean {
  const alike = recording.callers.filter((caller) => {
    const days = weekdaysIn({ ...recording, callers: [caller] });
    const times = timesOthers(days.find(({ day }) => day === odd.day) ?? odd, days);
    return isMore ? times > 1 : times < 1;
  });
  return alike.length >= Math.max(callersTell, pairsApart * recording.callers.length);
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
