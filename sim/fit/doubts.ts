// Things that a recording does not tell, however well it is fitted: too few days, too few events, sessions that are few
// and heavy. A scenario takes the mean of what was seen; what comes next may well be another.

import { shortName } from "../../src/rules/printable.ts";
import { counted } from "../../src/rules/words.ts";
import { percent } from "./backtest-coverage.ts";
import { dayMs, isWeekend, weekdayOf } from "./days.ts";
import { eventsDaysOff } from "./events.ts";
import type { Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import type { Calendar } from "./rhythm.ts";
import { absenceOf, joinedMs, sessionsOf } from "./sessions.ts";

/** Less than this, relative, is no doubt worth a sentence. */
const smallError = 0.05;
/** More sessions than these tell their mean well enough. */
const fewSessions = 60;
/** A caller of this share of all refusals matters. */
const weighty = 0.05;
/** A session of this many calls is heavy. */
const heavySession = 100;
const namedMost = 3;
/** Days; less of a recording is taken for all hours. */
const hoursTell = 0.25;

/** Sentences on what the recording leaves open, the most important first; none where it leaves nothing. */
export function doubtsOf(
  profiles: readonly Profile[],
  recording: Recording,
  days: number,
  calendars: readonly Calendar[] = [],
): readonly string[] {
  const spanDays = (recording.endedAtMs - recording.startedAtMs) / dayMs;
  return [
    ...daysDoubt(days, spanDays),
    ...daysOffDoubts(calendars),
    ...joinedDoubts(profiles, recording),
    ...eventsDoubt(profiles, recording),
    ...rareDoubts(profiles),
    ...spanDoubt(recording, spanDays),
  ];
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The error of a mean of so many. */
const errorOf = (deviation: number, count: number): number => deviation / Math.sqrt(Math.max(1, count));

function daysDoubt(days: number, spanDays: number): string[] {
  const seen = Math.max(1, Math.round(spanDays));
  const error = errorOf(days, seen);
  return error < smallError
    ? []
    : [
        `Days differ by ${percent(days)} from each other, for all callers together: ${counted(seen, "day")} tell their mean to ${percent(error)} at best.`,
      ];
}

/** Days on which whole populations stayed away. */
function daysOffDoubts(calendars: readonly Calendar[]): string[] {
  const off = new Map<number, number>();
  for (const { daysOff, callers } of calendars)
    for (const day of daysOff) off.set(day, (off.get(day) ?? 0) + callers);
  return [...off].map(
    ([day, callers]) =>
      `Next to none of ${counted(callers, "caller")} came on ${dateOf(day * dayMs)}, though they did on other days of the week: it is taken for a day off, which the scenario has not.`,
  );
}

/** Callers who joined on a later day. */
function joinedDoubts(profiles: readonly Profile[], recording: Recording): string[] {
  const late = profiles.filter(({ jobs }) => joinedMs(jobs, recording) > recording.startedAtMs);
  const [first] = late;
  if (first === undefined) return [];
  const day = dateOf(joinedMs(first.jobs, recording));
  const others = late.length === 1 ? "" : ` and ${counted(late.length - 1, "other")}`;
  return [
    `${shortName(first.caller.user)}${others} joined on a later day (${day}): the scenario has them from its start, as they were since.`,
  ];
}

function eventsDoubt(profiles: readonly Profile[], recording: Recording): string[] {
  const groups = new Map(
    profiles
      .flatMap(({ apart }) => apart?.wakes ?? [])
      .filter(({ clock }) => clock === null)
      .map(({ group, eventsMs }) => [group, eventsMs]),
  );
  return [...groups.values()].map((eventsMs) => {
    const { length } = eventsMs;
    const off = eventsDaysOff(eventsMs, recording).map(
      (day) => ` None came on ${dateOf(day * dayMs)}: it is taken for a day off, which the scenario has not.`,
    );
    return `Events woke many callers together ${counted(length, "time")}: how often they come is known to ${percent(errorOf(1, length))} at best, and nobody knows when.${off.join("")}`;
  });
}

/** Callers of few heavy sessions, of which refusals depend. */
function rareDoubts(profiles: readonly Profile[]): string[] {
  const all = profiles.reduce((sum, { refused }) => sum + refused, 0);
  return profiles
    .filter(({ refused }) => refused > 0 && refused >= weighty * all)
    .toSorted((a, b) => b.refused - a.refused)
    .flatMap(({ caller: { user }, jobs, pausesMs, refused }) => {
      const awayMs = absenceOf(pausesMs);
      const sessions = awayMs === 0 ? 0 : sessionsOf(jobs, awayMs).sessions.length;
      if (sessions === 0 || sessions > fewSessions || jobs.length < heavySession * sessions) return [];
      return [
        `${shortName(user)} has ${percent(refused / all)} of the refusals, in ${counted(sessions, "session")} alone: how often they come is known to ${percent(errorOf(1, sessions))} at best.`,
      ];
    })
    .slice(0, namedMost);
}

function spanDoubt({ startedAtMs, endedAtMs }: Recording, spanDays: number): string[] {
  // An hour short of a week is a week.
  if (spanDays >= 7 - 1 / 24) return [];
  const [first, last] = [Math.floor(startedAtMs / dayMs), Math.floor((endedAtMs - 1) / dayMs)];
  const seen = Array.from({ length: last - first + 1 }, (_, index) =>
    isWeekend(weekdayOf((first + index) * dayMs)),
  );
  const missing = seen.every((one) => !one) ? "weekend" : seen.every((one) => one) ? "weekday" : null;
  if (spanDays < 1 - 1 / 24)
    return spanDays < hoursTell
      ? []
      : ["Not all hours of a day were recorded: the others are taken to be as the mean."];
  return missing === null ? [] : [`No ${missing} was recorded: it is taken to be as the other days.`];
}
