// Fits callers who come and go: sessions by a rhythm.

import { counted } from "../../src/rules/words.ts";
import { adaptOf, adaptText } from "./adapting.ts";
import { calendarOf, cutOf, lengthsOf, mostStretch } from "./cuts.ts";
import { dayMs } from "./days.ts";
import { endsByTime } from "./ends.ts";
import type { RecordedJob } from "./jobs.ts";
import type { FittedComings, FittedLoop } from "./model.ts";
import { type Profile, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import {
  associationOf,
  busyBetween,
  type Calendar,
  evenRhythm,
  type FittedRhythm,
  hoursTell,
  rhythmOf,
  weekHourOf,
} from "./rhythm.ts";
import { joined, joinedMs, type Sessions, tickOf, type WorkSession } from "./sessions.ts";
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
