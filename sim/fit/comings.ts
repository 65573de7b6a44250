// Fits callers who come and go: sessions by a rhythm.

import { counted } from "../../src/rules/words.ts";
import { adaptOf, adaptText } from "./adapting.ts";
import { dayMs, minuteMs } from "./days.ts";
import { endsByTime, surelyEndByTime } from "./ends.ts";
import type { RecordedJob } from "./jobs.ts";
import type { FittedComings, FittedLoop } from "./model.ts";
import { type Profile, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import {
  associationOf,
  busyBetween,
  Calendar,
  evenRhythm,
  type FittedRhythm,
  hoursTell,
  rhythmOf,
  weekHourOf,
} from "./rhythm.ts";
import type { Spell } from "./runs.ts";
import {
  absencesIn,
  joined,
  joinedMs,
  rareAbsence,
  type Sessions,
  sessionsOf,
  tickOf,
  type WorkSession,
} from "./sessions.ts";
import { absencesOf, type FittedSpread, spreadOf } from "./spread.ts";
import { flatOf, isMemoryless, roundestWithin, SortedSample, sumOf } from "./statistics.ts";
import { spreadText, timeText } from "./words.ts";
import { workOf } from "./work.ts";
import { beginningOf, workdaysOf } from "./workdays.ts";

/** A rhythm, and the calendar that it was fitted to. */
export interface RhythmFit {
  readonly calendar: Calendar;
  readonly rhythm: FittedRhythm;
}

/** Sessions by rhythm. */
export interface ComingsFit {
  readonly behaviour: FittedComings & { readonly kind: "sessions" | "timetable" };
  readonly rhythms: readonly RhythmFit[];
  readonly why: string;
  /** The behaviour has one kind of call alone. */
  readonly single: boolean;
}

/**
 * Fits sessions to callers who are alike. Returns `null` if a plain loop says as much. All hours are alike then, and a
 * pause is as likely to be an absence after any call, however long refusals have kept the caller.
 */
export function bySessions(profiles: readonly Profile[], recording: Recording): ComingsFit | null {
  const daily = byWorkdays(profiles, recording);
  if (daily !== null) return daily;
  const { awayMs, cut, lasting } = cutOf(profiles, recording);
  const calendar = calendarOf(
    profiles,
    cut.map(({ sessions }) => sessions),
    recording,
  );
  const rhythm = rhythmOf(calendar);
  const loop = loopOf(profiles, cut, slackOf(recording), lasting);
  const sessions = flatOf(cut.map((each) => each.sessions));
  const sizes = new SortedSample(sessions.map(({ jobs }) => jobs));
  const steps = new SortedSample(sessions.map(({ spells }) => spells));
  const plain =
    rhythm === null &&
    (awayMs === 0 ||
      (loop.behaviour.kind === "worker" &&
        loop.length === null &&
        isMemoryless(steps) &&
        !areLongAway(cut, recording)));
  if (plain || (sizes.count < 2 && awayMs === 0)) return null;
  const away = absences(profiles, cut, { calendar, rhythm: rhythm ?? evenRhythm }, recording);
  return {
    behaviour: { kind: "sessions", of: loop.behaviour, away, rhythm, calls: loop.calls, length: loop.length },
    rhythms: [{ calendar, rhythm: rhythm ?? evenRhythm }],
    why: `${counted(sizes.count, "session")} of ${sizes.median === 1 ? "a call" : `${counted(sizes.median, "call")} (median)`}${loop.why}${rhythm === null ? "" : "; absences end by hour and weekday"}`,
    single: loop.behaviour.kind === "poller",
  };
}

/** Mean absence above which callers who begin with a call would call too often, ms: a plan's day begins away. */
const longAwayMs = dayMs / 4;

/** Tells whether callers are away for long. */
function areLongAway(cut: readonly Sessions[], { startedAtMs, endedAtMs }: Recording): boolean {
  const awayMs = cut.length * (endedAtMs - startedAtMs) - sumOf(flatOf(cut.map(lengthsOf)));
  return awayMs > longAwayMs * sumOf(cut.map(({ sessions }) => sessions.length));
}

/** Fits days at work to callers who all come once a day; returns `null` if they do not. */
function byWorkdays(profiles: readonly Profile[], recording: Recording): ComingsFit | null {
  const cut = profiles.flatMap((profile) => workdaysOf(profile.jobs) ?? []);
  if (cut.length < profiles.length) return null;
  const all = joined(cut);
  const slackMs = slackOf(recording);
  const lasting = endsByTime(all, true);
  const work = workOf(all, slackMs, lasting ? "else" : "work");
  return {
    behaviour: {
      kind: "timetable",
      of: work.of,
      ...beginningOf(all),
      calls: work.calls,
      length: lasting ? spreadOf(lengthsOf(all), 1, slackMs) : null,
    },
    rhythms: [],
    why: `${counted(all.sessions.length, "day")} at work, with pauses in between: ${spreadText(all.pausesMs)}`,
    single: false,
  };
}

/** @param sessions of each caller, in the order of time, with pauses in between */
function calendarOf(
  profiles: readonly Profile[],
  sessions: readonly (readonly Spell[])[],
  recording: Recording,
): Calendar {
  const lives = sessions.map((own, index) => ({
    joinedMs: joinedMs((profiles[index] as Profile).life, recording),
    sessions: own,
  }));
  return new Calendar(lives, recording.startedAtMs, recording.endedAtMs);
}

/** Returns what a caller does between two pauses: a call, or some at once. */
const spellsIn = ({ shape, runs, jobs }: Profile): readonly Spell[] => (shape.kind === "call" ? runs : jobs);

/** Joins spells without a pause in between. */
const joinedSpells = (spells: readonly Spell[]): readonly Spell[] =>
  spells.every(({ startMs }, index) => index === 0 || startMs > (spells[index - 1] as Spell).endMs)
    ? spells
    : sessionsOf(spells, 0).sessions;

/** Length below which a pause is none, ms: calls follow each other in a row. */
const atOnceMs = 1_000;

/** Largest ratio of absences' mean length, with those that nobody saw the end of, to that of the others. */
const mostStretch = 3;

/** Callers' jobs in sessions. */
interface Cut {
  /** Length above which a pause is an absence, ms; 0 if none is, and each call is a session. */
  readonly awayMs: number;
  readonly cut: readonly Sessions[];
  /** True if the sessions surely end after a time, whatever pauses are in them. */
  readonly lasting: boolean;
}

/**
 * Cuts callers' jobs into sessions. Callers who came too rarely for pauses to tell are cut at the few that are far longer
 * than the others. Where pauses are of more than two kinds, the longest ones part sessions that end after a time, if these
 * surely do, or if calls in a row are what differs most. Else the kinds that differ most part them.
 */
function cutOf(profiles: readonly Profile[], recording: Recording): Cut {
  const spells = profiles.map(spellsIn);
  const calendar = calendarOf(profiles, spells.map(joinedSpells), recording);
  const usual = rhythmOf(calendar);
  // A pause at night is long, but need not be an absence: pauses are compared in busy time.
  const lengthOf = (fromMs: number, untilMs: number): number =>
    usual === null ? untilMs - fromMs : busyBetween(usual, fromMs, untilMs, calendar.daysOff);
  const pausesMs = flatOf(
    spells.map((each) =>
      each.slice(1).map(({ startMs }, index) => Math.max(0, lengthOf((each[index] as Spell).endMs, startMs))),
    ),
  );
  const { awayMs, outerMs } = absencesIn(pausesMs);
  const unseenMs = sumOf(
    spells.map((each, index) => {
      const cameMs = joinedMs((profiles[index] as Profile).life, recording);
      const [first, last] = [each[0]?.startMs ?? cameMs, each.at(-1)?.endMs ?? cameMs];
      return lengthOf(cameMs, first) + lengthOf(last, recording.endedAtMs);
    }),
  );
  const rareMs =
    awayMs === 0 || unseenMs > mostStretch * sumOf(pausesMs) ? rareAbsence(spells, recording) : 0;
  if (rareMs > 0)
    return { awayMs: rareMs, cut: spells.map((each) => sessionsOf(each, rareMs)), lasting: false };
  if (outerMs > 0) {
    const starts = flatOf(spells.map((each) => each.map(({ startMs }) => startMs)));
    const busy = sumOf(starts.map((ms) => lengthOf(ms, ms + minuteMs))) / (minuteMs * starts.length);
    // Quiet hours shrink absences, but no other pause is as long as an absence of busy hours.
    const cut = spells.map((each) =>
      sessionsOf(each, outerMs, (fromMs, untilMs) =>
        Math.max(lengthOf(fromMs, untilMs), busy * (untilMs - fromMs)),
      ),
    );
    const lasting = surelyEndByTime(cut);
    if (lasting || awayMs < atOnceMs) return { awayMs: outerMs, cut, lasting };
  }
  const none = (): Cut => ({ awayMs: 0, cut: spells.map((each) => sessionsOf(each, 0)), lasting: false });
  if (awayMs === 0) return none();
  const cut = spells.map((each) => sessionsOf(each, awayMs, lengthOf));
  return usual !== null && lastOverADay(cut) ? none() : { awayMs, cut, lasting: false };
}

/** Tells whether most sessions hold a night: then they tell nothing of the hours at which calls come. */
const lastOverADay = (cut: readonly Sessions[]): boolean =>
  new SortedSample(flatOf(cut.map(lengthsOf))).median > dayMs;

/** Largest share of the time in sessions, and least mean absence, ms, that make sessions bursts. */
const burstShare = 0.2;
const burstAwayMs = minuteMs;

/** Tells whether a caller calls in bursts alone, with absences in between: loops apart would not come together. */
export function isInBursts(profile: Profile, recording: Recording): boolean {
  const { awayMs, cut } = cutOf([profile], recording);
  const wholeMs = recording.endedAtMs - recording.startedAtMs;
  const workMs = sumOf(flatOf(cut.map(lengthsOf)));
  const bursts = sumOf(cut.map(({ sessions }) => sessions.length));
  return awayMs > 0 && workMs < burstShare * wholeMs && wholeMs - workMs > burstAwayMs * bursts;
}

const lengthsOf = ({ sessions }: Sessions): readonly number[] =>
  sessions.map(({ startMs, endMs }) => endMs - startMs);

/** Least sessions a day of a caller that looks for work; a caller who comes less often has work. */
const sessionsTell = 12;

/**
 * Takes sessions apart by size if long ones keep other hours than short ones. An example is a program that looks for
 * work all day, and works when it finds some.
 * @returns the jobs of each caller in short sessions, and in long ones; `null` if both keep the same hours
 */
export function bySize(
  profiles: readonly Profile[],
  recording: Recording,
): Readonly<Record<"short" | "long", readonly (readonly RecordedJob[])[]>> | null {
  const { awayMs, cut } = cutOf(profiles, recording);
  const all = flatOf(cut.map(({ sessions }) => sessions));
  const days = Math.max(1, (recording.endedAtMs - recording.startedAtMs) / dayMs);
  if (awayMs === 0 || all.length < sessionsTell * days * profiles.length) return null;
  const usual = new SortedSample(all.map(({ jobs }) => jobs)).median;
  const hours = all.map(({ startMs, jobs }) => ({ hour: weekHourOf(startMs), isLong: jobs > usual }));
  if (associationOf(hours) < hoursTell) return null;
  const jobsOf = (isLong: boolean): readonly (readonly RecordedJob[])[] =>
    profiles.map(({ jobs }, index) => {
      let from = 0;
      return (cut[index] as Sessions).sessions.flatMap(({ jobs: size }) => {
        from += size;
        return size > usual === isLong ? jobs.slice(from - size, from) : [];
      });
    });
  return { short: jobsOf(false), long: jobsOf(true) };
}

interface LoopFit {
  readonly behaviour: FittedLoop;
  readonly calls: FittedSpread | null;
  readonly length: FittedSpread | null;
  readonly why: string;
}

/** Fits the behaviour within sessions: polls by a clock of the session's own, or pauses after each answer. */
function loopOf(
  profiles: readonly Profile[],
  cut: readonly Sessions[],
  slackMs: number,
  surely: boolean,
): LoopFit {
  const inner = joined(cut);
  const all = inner.sessions;
  const kinds = new Set(profiles.flatMap(({ mix }) => [...mix.keys()]));
  const single = kinds.size === 1 && new SortedSample(inner.sizes).median === 1;
  const tickMs = single ? tickOf(inner, slackMs) : null;
  if (tickMs !== null) {
    const everyMs = roundestWithin(0.998 * tickMs, 1.002 * tickMs);
    const lengths = all.map(({ startMs, lastMs }) => lastMs - startMs + everyMs / 2);
    return {
      behaviour: { kind: "poller", everyMs },
      calls: null,
      length: spreadOf(lengths, 1, slackMs),
      why: `, one every ${timeText(everyMs)}`,
    };
  }
  const sizes = all.map(({ jobs }) => jobs);
  if (sizes.every((size) => size === 1))
    return {
      behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: 1 },
      calls: null,
      length: null,
      why: "",
    };
  const adapting = adaptOf(profiles, cut, slackMs);
  const work = workOf(inner, slackMs, surely ? "time" : "work", adapting);
  const { think } = work.of;
  const pauses =
    adapting !== null
      ? adaptText(adapting.adapt)
      : think.kind === "paces"
        ? `of ${counted(think.paces.length, "pace")} in between`
        : `in between: ${spreadText(inner.pausesMs)}`;
  const lasting = surely || (think.kind !== "paces" && endsByTime(inner));
  const gaps = new SortedSample(inner.gapsMs);
  // A session of one call ends before the shortest pause does.
  const lengthOf = ({ spells, startMs, lastMs }: WorkSession): number =>
    spells === 1 ? gaps.least / 2 : lastMs - startMs + gaps.median / 2;
  return {
    behaviour: work.of,
    calls: lasting ? null : work.calls,
    length: lasting ? spreadOf(all.map(lengthOf), 1, slackMs) : null,
    why: `, with pauses ${pauses}${lasting ? "; they end after a time, however many calls that were" : ""}`,
  };
}

/**
 * Returns the lengths of absences, in busy time. Absences at the start or at the end were longer than anybody saw. So
 * all lengths are stretched until there are as many returns as were recorded.
 */
function absences(
  profiles: readonly Profile[],
  cut: readonly Sessions[],
  { calendar: { daysOff }, rhythm }: RhythmFit,
  recording: Recording,
): FittedSpread {
  const seen: number[] = [];
  let [busyMs, returns] = [0, 0];
  for (const [index, { sessions }] of cut.entries()) {
    const cameMs = joinedMs((profiles[index] as Profile).life, recording);
    let before: WorkSession | null = null;
    for (const session of sessions) {
      const awayMs = busyBetween(rhythm, before?.endMs ?? cameMs, session.startMs, daysOff);
      busyMs += awayMs;
      returns += 1;
      if (before !== null) seen.push(awayMs);
      before = session;
    }
    if (before !== null) busyMs += busyBetween(rhythm, before.endMs, recording.endedAtMs, daysOff);
  }
  const mean = busyMs / returns;
  if (seen.length === 0) return { kind: "uniform", least: 0, most: Math.max(1, Math.round(2 * mean)) };
  const stretch = Math.min(mostStretch, Math.max(0.5, mean / Math.max(1, new SortedSample(seen).mean)));
  return absencesOf(seen.map((ms) => Math.round(ms * stretch)));
}
