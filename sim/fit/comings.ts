// Callers who come and go: sessions by rhythm, sessions by the clock, or several of these under one name.

import { counted } from "../../src/rules/words.ts";
import { ln } from "../../src/scenario/elementary.ts";
import { timetableOf } from "./arrivals.ts";
import type { Job } from "./jobs.ts";
import { mixOf } from "./mix.ts";
import type { FittedBehaviour, FittedLoop, FittedPart } from "./model.ts";
import { isSteady, type Profile, profileOfJobs, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { busyBetween, Calendar, evenRhythm, type FittedRhythm, rhythmOf } from "./rhythm.ts";
import { absenceOf, type Session, type Sessions, sessionsOf, tickOf } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { roundestWithin, Sample } from "./statistics.ts";
import { spreadText, timeText } from "./words.ts";

/** A rhythm, and the calendar that it was fitted to. */
export interface RhythmFit {
  readonly calendar: Calendar;
  readonly rhythm: FittedRhythm;
}

/** Sessions by rhythm. */
export interface ComingsFit {
  readonly behaviour: FittedBehaviour & { readonly kind: "sessions" };
  readonly rhythms: readonly RhythmFit[];
  readonly why: string;
  /** The behaviour has one kind of call alone. */
  readonly single: boolean;
}

/**
 * Fits sessions to callers who are alike; `null` where a plain loop says as much: no hour differs from another, and a
 * pause is as likely to be an absence after any call.
 */
export function bySessions(profiles: readonly Profile[], recording: Recording): ComingsFit | null {
  const { startedAtMs, endedAtMs } = recording;
  const lives = (cut: readonly Sessions[]): Calendar =>
    new Calendar(
      cut.map(({ sessions }) => sessions),
      startedAtMs,
      endedAtMs,
    );
  // A pause at night is no absence because it is long for a day: pauses are told apart in busy time.
  const calls = profiles.map(({ jobs }) => sessionsOf(jobs, 0));
  const usual = rhythmOf(lives(calls));
  const lengthOf = (fromMs: number, untilMs: number): number =>
    usual === null ? untilMs - fromMs : busyBetween(usual, fromMs, untilMs);
  const awayMs = absenceOf(
    profiles.flatMap(({ jobs }) =>
      jobs.slice(1).map(({ startMs }, index) => Math.max(0, lengthOf((jobs[index] as Job).endMs, startMs))),
    ),
  );
  const cut = awayMs === 0 ? calls : profiles.map(({ jobs }) => sessionsOf(jobs, awayMs, lengthOf));
  const calendar = lives(cut);
  const rhythm = rhythmOf(calendar);
  const loop = loopOf(profiles, cut, slackOf(recording));
  const sizes = new Sample(cut.flatMap(({ sessions }) => sessions.map(({ jobs }) => jobs)));
  const plain =
    rhythm === null && (awayMs === 0 || (loop.behaviour.kind === "worker" && isMemoryless(sizes)));
  if (plain || sizes.count < 2) return null;
  const away = absences(cut, rhythm ?? evenRhythm, recording);
  return {
    behaviour: { kind: "sessions", of: loop.behaviour, away, rhythm, calls: loop.calls, length: loop.length },
    rhythms: [{ calendar, rhythm: rhythm ?? evenRhythm }],
    why: `${counted(sizes.count, "session")} of ${sizes.median === 1 ? "a call" : `${counted(sizes.median, "call")} (median)`}${loop.why}${rhythm === null ? "" : "; absences end by hour and weekday"}`,
    single: loop.behaviour.kind === "poller",
  };
}

/** Tells whether sessions end as by the toss of a coin after each call: their sizes are then geometric. */
function isMemoryless(sizes: Sample): boolean {
  const spread = sizes.deviation / Math.sqrt(Math.max(0.25, sizes.mean * (sizes.mean - 1)));
  return sizes.count < 10 || (spread > 0.75 && spread < 1.33);
}

interface LoopFit {
  readonly behaviour: FittedLoop;
  readonly calls: FittedSpread | null;
  readonly length: FittedSpread | null;
  readonly why: string;
}

/** Fits the behaviour within sessions: polls by a clock of the session's own, or pauses after each answer. */
function loopOf(profiles: readonly Profile[], cut: readonly Sessions[], slackMs: number): LoopFit {
  const all = cut.flatMap(({ sessions }) => sessions);
  const inner: Sessions = {
    sessions: all,
    pausesMs: cut.flatMap(({ pausesMs }) => pausesMs),
    gapsMs: cut.flatMap(({ gapsMs }) => gapsMs),
  };
  const kinds = new Set(profiles.flatMap(({ mix }) => [...mix.keys()]));
  const tickMs = kinds.size === 1 ? tickOf(inner, slackMs) : null;
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
      behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, jobs: 1 },
      calls: null,
      length: null,
      why: "",
    };
  const lasting = endsByTime(inner);
  const halfGapMs = new Sample(inner.gapsMs).median / 2;
  return {
    behaviour: { kind: "worker", think: spreadOf(inner.pausesMs, 0, slackMs), jobs: null },
    calls: lasting ? null : spreadOf(sizes, 1, 0),
    length: lasting
      ? spreadOf(
          all.map(({ startMs, lastMs }) => lastMs - startMs + halfGapMs),
          1,
          slackMs,
        )
      : null,
    why: `, with pauses in between: ${spreadText(inner.pausesMs)}${lasting ? "; they end after a time, however many calls that were" : ""}`,
  };
}

/** Sessions of fewer calls than these tell neither their length nor their pace. */
const longSession = 5;
/** Fewer sessions show nothing. */
const fewSessions = 8;
/** Pauses this alike, as deviation by mean, are a poll's. */
const evenPauses = 0.35;

/**
 * Tells whether sessions end after a time, as a poll does that waits for something, rather than after so many calls, as
 * a list does that is worked off. Where refusals and different paces stretch sessions, one of the two spreads less, in
 * logarithms, than the other. Where neither does by more than chance, an even pace is taken for a poll's.
 */
function endsByTime({ sessions, pausesMs }: Sessions): boolean {
  const long = sessions.filter(({ jobs }) => jobs >= longSession);
  if (long.length < fewSessions) return false;
  const centred = (values: readonly number[]): readonly number[] => {
    const { mean } = new Sample(values);
    return values.map((value) => value - mean);
  };
  const sizes = centred(long.map(({ jobs }) => ln(jobs)));
  const times = centred(long.map(({ startMs, lastMs }) => ln(Math.max(1, lastMs - startMs))));
  const apart = new Sample(sizes.map((size, index) => size * size - (times[index] ?? 0) ** 2));
  const doubt = apart.deviation / Math.sqrt(apart.count);
  if (Math.abs(apart.mean) > 2 * doubt) return apart.mean > 0;
  const pauses = new Sample(pausesMs);
  return pauses.deviation < evenPauses * pauses.mean;
}

/**
 * Returns the lengths of absences, in busy time. Absences at the start or at the end were longer than anybody saw, so
 * all lengths are stretched until there are as many returns as there were.
 */
function absences(
  cut: readonly Sessions[],
  rhythm: FittedRhythm,
  { startedAtMs, endedAtMs }: Recording,
): FittedSpread {
  const seen: number[] = [];
  let [busyMs, returns] = [0, 0];
  for (const { sessions } of cut) {
    let before: Session | null = null;
    for (const session of sessions) {
      const awayMs = busyBetween(rhythm, before?.endMs ?? startedAtMs, session.startMs);
      busyMs += awayMs;
      returns += 1;
      if (before !== null) seen.push(awayMs);
      before = session;
    }
    if (before !== null) busyMs += busyBetween(rhythm, before.endMs, endedAtMs);
  }
  const mean = busyMs / Math.max(1, returns);
  if (seen.length === 0) return { kind: "uniform", least: 0, most: Math.max(1, Math.round(2 * mean)) };
  const stretch = Math.min(3, Math.max(0.5, mean / Math.max(1, new Sample(seen).mean)));
  return spreadOf(
    seen.map((ms) => Math.round(ms * stretch)),
    0,
    1000,
  );
}

/** A token of this many behaviours at once is no program any more. */
const lanesMost = 12;

/**
 * Takes apart what one caller does at once: what keeps to a timetable, and loops that overlap. `null` where it is all of
 * one kind.
 */
export function partsOf(
  profile: Profile,
  recording: Recording,
): { readonly parts: readonly FittedPart[]; readonly rhythms: readonly RhythmFit[] } | null {
  if (isSteady(profile)) return null;
  const { timetables, rest } = timetablesOf(profile, recording);
  const lanes = lanesOf(rest);
  const several = timetables.length + lanes.length > 1 || timetables.length === 1;
  if (!several || lanes.length > lanesMost) return null;
  const loops = lanes.map((jobs) => laneOf(profile, jobs, recording));
  return {
    parts: [...timetables, ...loops.map(({ part }) => part)],
    rhythms: loops.flatMap(({ rhythms }) => rhythms),
  };
}

function laneOf(
  profile: Profile,
  jobs: readonly Job[],
  recording: Recording,
): { readonly part: FittedPart; readonly rhythms: readonly RhythmFit[] } {
  const slackMs = slackOf(recording);
  const own = profileOfJobs(profile, jobs, slackMs);
  const { mix } = mixOf({ profiles: [own], mixture: false, mix: new Map(own.mix), jobs: jobs.length }, false);
  if (own.pace.kind === "ticks" && mix.length === 1)
    return {
      part: { behaviour: { kind: "poller", everyMs: Math.max(1, Math.round(own.pace.everyMs)) }, mix },
      rhythms: [],
    };
  const fit = bySessions([own], recording);
  if (fit !== null) return { part: { behaviour: fit.behaviour, mix }, rhythms: fit.rhythms };
  const think = spreadOf(own.pausesMs, 0, slackMs);
  return {
    part: { behaviour: { kind: "worker", think, jobs: jobs.length === 1 ? 1 : null }, mix },
    rhythms: [],
  };
}

/** Jobs by loops of which each does one at a time: a job goes to the loop that was the last to end before it. */
function lanesOf(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const lanes: { endMs: number; readonly jobs: Job[] }[] = [];
  for (const job of jobs) {
    let best: (typeof lanes)[number] | null = null;
    for (const lane of lanes)
      if (lane.endMs <= job.startMs && (best === null || lane.endMs > best.endMs)) best = lane;
    if (best === null) lanes.push({ endMs: job.endMs, jobs: [job] });
    else {
      best.endMs = job.endMs;
      best.jobs.push(job);
    }
  }
  return lanes.map((lane) => lane.jobs);
}

const minuteMs = 60_000;
const periodsMs = [5, 10, 15, 20, 30, 60, 24 * 60].map((minutes) => minutes * minuteMs);
/** Jobs of one minute begin so close together. */
const punctualMs = 15_000;
const periodsLeast = 4;

/** Sessions that begin with the same minute of each period. */
function timetablesOf(
  profile: Profile,
  recording: Recording,
): { timetables: FittedPart[]; rest: readonly Job[] } {
  const { jobs } = profile;
  const awayMs = absenceOf(profile.pausesMs) || 30_000;
  let rest = jobs;
  const timetables: FittedPart[] = [];
  for (const periodMs of periodsMs) {
    const { sessions } = sessionsOf(rest, awayMs);
    const punctual = punctualIn(sessions, periodMs, recording);
    if (punctual === null) continue;
    const timetable = timetableOf([punctual.map(({ startMs }) => startMs)], periodMs);
    if (timetable === null) continue;
    const [own, others] = parted(rest, punctual);
    rest = others;
    const part = profileOfJobs(profile, own, slackOf(recording));
    const { mix } = mixOf(
      { profiles: [part], mixture: false, mix: new Map(part.mix), jobs: own.length },
      false,
    );
    const { pausesMs } = sessionsOf(own, awayMs);
    timetables.push({
      behaviour: {
        kind: "timetable",
        of: { kind: "worker", think: spreadOf(pausesMs, 0, slackOf(recording)), jobs: null },
        at: timetable.schedule,
        withinMs: timetable.spreadMs,
        calls: spreadOf(
          punctual.map((session) => session.jobs),
          1,
          0,
        ),
      },
      mix,
    });
  }
  return { timetables, rest };
}

/** Sessions that begin just after the minute with which most periods have one; `null` where none is such. */
function punctualIn(sessions: readonly Session[], periodMs: number, recording: Recording): Session[] | null {
  const periods = Math.floor((recording.endedAtMs - recording.startedAtMs) / periodMs);
  if (periods < periodsLeast || sessions.length < 0.8 * periods) return null;
  const byMinute = new Map<number, Session[]>();
  for (const session of sessions) {
    const phase = session.startMs % periodMs;
    if (phase % minuteMs > punctualMs) continue;
    const minute = Math.floor(phase / minuteMs);
    byMinute.set(minute, [...(byMinute.get(minute) ?? []), session]);
  }
  for (const found of byMinute.values()) {
    const covered = new Set(found.map(({ startMs }) => Math.floor(startMs / periodMs))).size;
    // By chance a quarter of all sessions begins in the first quarter of some minute.
    const chance = (sessions.length * punctualMs) / (periods * periodMs);
    if (covered >= 0.8 * periods && chance < 0.3) return found;
  }
  return null;
}

function parted(jobs: readonly Job[], sessions: readonly Session[]): [Job[], Job[]] {
  const own: Job[] = [];
  const others: Job[] = [];
  let index = 0;
  for (const job of jobs) {
    while (index < sessions.length && job.startMs > (sessions[index] as Session).endMs) index += 1;
    const session = sessions[index];
    (session !== undefined && job.startMs >= session.startMs ? own : others).push(job);
  }
  return [own, others];
}
