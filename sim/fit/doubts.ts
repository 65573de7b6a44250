// Says what a recording does not tell, however well it is fitted: it has too few days or events, or few heavy sessions.
// A scenario takes the mean of what was seen; the future may well differ.

import { leastOf, mostOf } from "../../src/rules/extremes.ts";
import { shortName } from "../../src/rules/printable.ts";
import { count, counted } from "../../src/rules/words.ts";
import type { Untold } from "../../src/scenario/scenario.ts";
import { adaptIn, adaptingCallers } from "./adapting.ts";
import { percent } from "./backtest-coverage.ts";
import { dateOf, dayMs, isWeekend, weekdayOf } from "./days.ts";
import { eventsDaysOff } from "./events.ts";
import { isRefused } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import type { FittedPopulation } from "./model.ts";
import type { Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { associationOf, type Calendar, hoursTell, weekHourOf } from "./rhythm.ts";
import { roomDoubts } from "./room.ts";
import { absenceOf, joinedMs, sessionsOf } from "./sessions.ts";
import { addTo, sumOf } from "./statistics.ts";
import { weekdaysDoubt } from "./weekdays.ts";

/** Something that a recording does not tell, as a sentence; and its kind, if a plan has to know of it. */
export interface Doubt {
  readonly text: string;
  readonly about: Untold | null;
}

/** Relative error below which a doubt is not worth a sentence. */
const smallError = 0.05;
/** Number of sessions above which their mean is known well enough. */
const fewSessions = 60;
/** Least share of all refusals that makes a caller matter. */
const weighty = 0.05;
/** Least number of calls of a heavy session. */
const heavySession = 100;
const namedMost = 3;
/** Length of a recording below which it is taken for all hours, days. */
const spanTells = 0.25;

/** Least refusals of one population that show how others of its organization would react. */
export const refusalsTelling = 30;

/** Returns the questions that a recording leaves open, the most important first. */
export function doubtsOf(
  profiles: readonly Profile[],
  recording: Recording,
  days: number,
  limits: Limits,
  calendars: readonly Calendar[] = [],
  populations: readonly FittedPopulation[] = [],
): readonly Doubt[] {
  const spanDays = (recording.endedAtMs - recording.startedAtMs) / dayMs;
  const plain = (texts: readonly string[]): Doubt[] => texts.map((text) => ({ text, about: null }));
  return [
    ...plain(roomDoubts(recording, limits)),
    ...plain(daysDoubt(days, spanDays)),
    ...weekdaysDoubt(recording, spanDays, profiles).map((text): Doubt => ({ text, about: "weekdays" })),
    ...demandDoubt(recording),
    ...reactionsDoubt(populations, recording),
    ...adaptingDoubt(profiles, populations),
    ...plain(kindsDoubt(profiles)),
    ...plain(daysOffDoubts(calendars)),
    ...plain(joinedDoubts(profiles, recording)),
    ...plain(ownEventsDoubt(profiles)),
    ...plain(eventsDoubt(profiles, recording)),
    ...callerDoubts(profiles),
    ...plain(spanDoubt(recording, spanDays)),
  ];
}

/** Returns the error of a mean of `count` values. */
const errorOf = (deviation: number, count: number): number => deviation / Math.sqrt(count);

function daysDoubt(days: number, spanDays: number): string[] {
  const seen = Math.max(1, Math.round(spanDays));
  const error = errorOf(days, seen);
  return error < smallError
    ? []
    : [
        `Days differ by ${percent(days)} from each other, for all callers together: ${counted(seen, "day")} tell their mean to ${percent(error)} at best.`,
      ];
}

/** Number of a caller's most frequent kinds of calls that are looked at. */
const kindsMost = 6;

/** Names callers who stand for many, some of whose kinds of calls keep hours of their own: visits mix all kinds. */
function kindsDoubt(profiles: readonly Profile[]): string[] {
  const apart = profiles.flatMap(({ caller: { user }, jobs, mix, pace }) => {
    if (pace.kind !== "visits") return [];
    const [, ...rarer] = [...mix].sort(([, a], [, b]) => b - a).slice(0, kindsMost);
    const calls = jobs.map(({ startMs, key }) => ({ hour: weekHourOf(startMs), key }));
    const kind = rarer.find(([kind]) => {
      const hours = calls.map(({ hour, key }) => ({ hour, isLong: key === kind }));
      return associationOf(hours) >= hoursTell;
    });
    return kind === undefined ? [] : [{ user, kind: kind[0] }];
  });
  const [first] = apart;
  if (first === undefined) return [];
  return [
    `${withOthers(first.user, apart.length)} ${apart.length === 1 ? "makes" : "make"} calls of one kind (${shortName(first.kind)}) at hours of their own: the scenario mixes all kinds at all hours, and may refuse too few.`,
  ];
}

/** Names days on which whole populations stayed away. */
function daysOffDoubts(calendars: readonly Calendar[]): string[] {
  const off = new Map<number, number>();
  for (const { daysOff, callers } of calendars) for (const day of daysOff) addTo(off, day, callers);
  return [...off].map(
    ([day, callers]) =>
      `Next to none of ${counted(callers, "caller")} came on ${dateOf(day * dayMs)}, though they did on other days of the week: it is taken for a day off, which the scenario has not.`,
  );
}

/** Names the first of some callers, and counts the others. */
const withOthers = (user: string, count: number): string =>
  `${shortName(user)}${count === 1 ? "" : ` and ${counted(count - 1, "other")}`}`;

/** Names callers who joined on a later day. */
function joinedDoubts(profiles: readonly Profile[], recording: Recording): string[] {
  const late = profiles.filter(({ jobs }) => joinedMs(jobs, recording) > recording.startedAtMs);
  const [first] = late;
  if (first === undefined) return [];
  const day = dateOf(joinedMs(first.jobs, recording));
  return [
    `${withOthers(first.caller.user, late.length)} joined on a later day (${day}): the scenario has them from its start, as they were since.`,
  ];
}

/** Says how well the events of single users are known. */
function ownEventsDoubt(profiles: readonly Profile[]): string[] {
  const counts = profiles.flatMap(({ apart }) => {
    const events = (apart?.wakes ?? []).filter(({ byUser }) => byUser).flatMap(({ eventsMs }) => eventsMs);
    return events.length === 0 ? [] : [events.length];
  });
  if (counts.length === 0) return [];
  const least = leastOf(counts);
  return [
    `Each of ${counted(counts.length, "user")} had events of its own, ${least} to ${mostOf(counts)} times: how often they come is known to ${percent(errorOf(1, least))} at best, and nobody knows when.`,
  ];
}

/** Says how well the events of many callers together are known. */
function eventsDoubt(profiles: readonly Profile[], recording: Recording): string[] {
  const byChance = profiles
    .flatMap(({ apart }) => apart?.wakes ?? [])
    .filter(({ clock, byUser }) => clock === null && !byUser);
  const groups = new Map(byChance.map(({ group, eventsMs }) => [group, eventsMs]));
  const counts = [...groups.values()].map(({ length }) => length).sort((a, b) => b - a);
  const least = counts.at(-1);
  if (least === undefined) return [];
  const off = new Set([...groups.values()].flatMap((eventsMs) => eventsDaysOff(eventsMs, recording)));
  const each =
    counts.length === 1 ? counted(least, "time") : `in ${counts.length} ways, ${counts.join(", ")} times`;
  return [
    `Events woke many callers together ${each}: how often they come is known to ${percent(errorOf(1, least))} at best, and nobody knows when.${[...off].map((day) => ` Next to none came on ${dateOf(day * dayMs)}: it is taken for a day off, which the scenario has not.`).join("")}`,
  ];
}

/** Names callers on whom refusals depend: those of few heavy sessions, and one with most of the refusals. */
function callerDoubts(profiles: readonly Profile[]): Doubt[] {
  const all = sumOf(profiles.map(({ refused }) => refused));
  return profiles
    .filter(({ refused }) => refused > 0 && refused >= weighty * all)
    .toSorted((a, b) => b.refused - a.refused)
    .flatMap(({ caller: { user }, jobs, pausesMs, refused }): Doubt[] => {
      const has = `${shortName(user)} has ${percent(refused / all)} of the refusals`;
      const most = all >= refusalsTelling && profiles.length > 2 && refused > all / 2;
      const about = most ? "caller" : null;
      const awayMs = absenceOf(pausesMs);
      const sessions = awayMs === 0 ? 0 : sessionsOf(jobs, awayMs).sessions.length;
      if (sessions > 0 && sessions <= fewSessions && jobs.length >= heavySession * sessions)
        return [
          {
            text: `${has}, in ${counted(sessions, "session")} alone: how often they come is known to ${percent(errorOf(1, sessions))} at best.`,
            about,
          },
        ];
      return most ? [{ text: `${has}: what is refused next depends on this one caller.`, about }] : [];
    })
    .slice(0, namedMost);
}

/** Least share of refused calls at which the limits held callers back, so that demand was hardly seen whole. */
const heldBack = 0.05;

/** Says that a recording at its limits shows less than callers wanted. */
function demandDoubt({ callers, calls }: Recording): Doubt[] {
  const refused = sumOf(callers.map((caller) => caller.calls.filter(isRefused).length));
  return refused === 0 || refused < heldBack * calls
    ? []
    : [
        {
          text: `${percent(refused / calls)} of the calls were refused: the limits held callers back, who may have wanted more than they sent. Demand is a lower bound.`,
          about: "demand",
        },
      ];
}

/** Says what is unknown of reactions to refusals: too few were seen, or no caller gave up. */
function reactionsDoubt(populations: readonly FittedPopulation[], { callers }: Recording): Doubt[] {
  const sum = (some: readonly FittedPopulation[]): number => sumOf(some.map((one) => one.refused));
  const refused = sum(populations);
  const unknown = sum(populations.filter(({ onRefused }) => onRefused.kind === "unknown"));
  const about = (text: string, about: Untold = "reactions"): Doubt[] => [{ text, about }];
  if (populations.length === 0) return [];
  if (refused === 0) {
    const hasStatuses = callers.some(({ calls }) => calls.some(({ status }) => status !== 0));
    const why = hasStatuses ? "No call was refused" : "No status tells which calls were refused";
    const isAssumed = populations.some(({ onRefused: { kind } }) => kind !== "unknown" && kind !== "none");
    const so = isAssumed ? "what the scenario does then is assumed" : "the scenario tries none again";
    return about(`${why}: what callers do when they are refused is not known, and ${so}.`);
  }
  if (unknown >= refused / 2)
    return about(
      `What callers do after ${unknown === refused ? "" : `${count(unknown)} of `}${counted(refused, "refusal")} could not be told: the scenario tries none of those calls again.`,
    );
  if (refused < refusalsTelling)
    return about(
      `${counted(refused, "call")} ${refused === 1 ? "was" : "were"} refused: so few hardly tell what callers do then.`,
    );
  const retried = populations.filter(({ refused, onRefused }) => refused > 0 && onRefused.kind !== "none");
  return retried.length === 0 || retried.some(({ attempts }) => attempts !== null)
    ? []
    : about("No call was given up after refusals: in the scenario none ever is.", "attempts");
}

/** Names callers whose pace depends on refusals in a way that their population lacks. */
function adaptingDoubt(profiles: readonly Profile[], populations: readonly FittedPopulation[]): Doubt[] {
  const fitted = new Set(
    populations.flatMap(({ behaviour, users }) => (adaptIn(behaviour) === undefined ? [] : users)),
  );
  const adapting = adaptingCallers(profiles).filter(({ user }) => !fitted.has(user));
  const [first] = adapting;
  if (first === undefined) return [];
  const verb = adapting.length === 1 ? "leaves" : "leave";
  return [
    {
      text: `${withOthers(first.user, adapting.length)} ${verb} longer pauses after refusals than before (${first.ratio.toFixed(1)} times): they adapt their pace, which the scenario does not, so it refuses them more often.`,
      about: "reactions",
    },
  ];
}

function spanDoubt({ startedAtMs, endedAtMs }: Recording, spanDays: number): string[] {
  // A week less an hour counts as a week.
  if (spanDays >= 7 - 1 / 24) return [];
  const [first, last] = [Math.floor(startedAtMs / dayMs), Math.floor((endedAtMs - 1) / dayMs)];
  const seen = Array.from({ length: last - first + 1 }, (_, index) =>
    isWeekend(weekdayOf((first + index) * dayMs)),
  );
  if (spanDays >= 1 - 1 / 24 && spanDays < 2 - 1 / 24)
    return ["One day was recorded: all others, weekends too, are taken to be as it was."];
  const missing = seen.every((one) => !one) ? "weekend" : seen.every((one) => one) ? "weekday" : null;
  if (spanDays < 1 - 1 / 24)
    return spanDays < spanTells
      ? []
      : ["Not all hours of a day were recorded: the others are taken to be as the mean."];
  return missing === null ? [] : [`No ${missing} was recorded: it is taken to be as the other days.`];
}
