// Several behaviours of one caller, or of similar callers: calls by timetables, calls that events wake, and loops
// beside them.
import { timetableOf } from "./arrivals.ts";
import { bySessions, bySize, type RhythmFit } from "./comings.ts";
import { isInBursts } from "./cuts.ts";
import { minuteMs } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { listsOf } from "./lists.ts";
import { mixOfAll } from "./mix.ts";
import type { FittedPart } from "./model.ts";
import { atOnceOf } from "./paces.ts";
import { workersOf } from "./parallel.ts";
import { pollersOf } from "./pollers.ts";
import {
  type ClockedSessions,
  isSteady,
  type OwnWakes,
  type Profile,
  pausesIn,
  profileOfJobs,
  rareOverlaps,
  slackOf,
} from "./profile.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { Recording } from "./recording.ts";
import { risesIn } from "./rises.ts";
import { loopsIn } from "./runs.ts";
import { spreadOf } from "./spread.ts";
import { flatOf, SortedSample } from "./statistics.ts";
import { timetablesOf } from "./timetables.ts";
import { groupsMost, visitsWoken } from "./visit-events.ts";
import { visitParts } from "./visits.ts";
import { type FoundWakes, wakesIn } from "./wakes.ts";
import { areApart, busyDaysOf, runsOf, weekdays } from "./weekdays.ts";
import { wokenParts } from "./woken-parts.ts";
import { workdaysOf } from "./workdays.ts";

/** Splits each caller's calls by behaviour; callers with only one behaviour stay as they are. */
export function takenApart(profiles: readonly Profile[], recording: Recording): readonly Profile[] {
  const slackMs = slackOf(recording);
  const found = profiles.map((profile) => {
    const { timetables, rest: left } = isSteady(profile)
      ? { timetables: [], rest: [] }
      : timetablesOf(profile, recording);
    const rest = timetables.length === 0 ? profile : restOf(profile, left, recording);
    const polls =
      rest === null || isSteady(rest) || rest.pace.kind === "volleys" ? null : pollersOf(rest.jobs, slackMs);
    return {
      timetables: timetables.flatMap((whole) => workersOf(whole, slackMs)),
      pollers: (polls?.pollers ?? []).map((jobs) => profileOfJobs(profile, jobs, slackMs)),
      rest: polls === null ? rest : restOf(profile, polls.rest, recording),
    };
  });
  const busyDays = busyDaysOf(found.map(({ timetables }) => timetables));
  const clocks = found.map(({ timetables, ...others }) => ({
    timetables: timetables.map((each) => ({ ...each, busyDays })),
    ...others,
  }));
  const wakes = wakesIn(
    clocks.flatMap(({ rest }) => rest ?? []),
    recording,
  );
  const calm = clocks.map(({ rest }) => withoutWakes(rest, wakes, recording));
  const rises = risesIn(
    calm.flatMap(({ rest }) => (rest === null || rest.pace.kind === "visits" ? [] : [rest])),
    recording,
    wakes,
  );
  const visits = visitsWoken(
    profiles.filter(
      ({ pace }, index) =>
        pace.kind === "visits" && pace.polls === undefined && calm[index]?.own.length === 0,
    ),
    recording,
    wakes.length + rises.length,
  );
  const listGroup = wakes.length + rises.length + groupsMost;
  return profiles.map((profile, index) => {
    const visit = visits.get(profile);
    if (visit !== undefined) {
      const rest = { ...profile, jobs: visit.rest };
      return { ...profile, apart: { key: "", timetables: [], wakes: visit.wakes, pollers: [], rest } };
    }
    const { rest: before, own: first } = calm[index] as (typeof calm)[number];
    const { rest, own: risen } = withoutWakes(before, rises, recording);
    const own = [...first, ...risen];
    const { timetables, pollers } = clocks[index] as (typeof clocks)[number];
    if (timetables.length === 0 && own.length === 0 && pollers.length === 0) {
      const lists = listsOf(profile, recording, listGroup);
      if (lists === null) return profile;
      const others = restOf(profile, lists.rest, recording);
      return { ...profile, apart: { key: "lists", timetables, wakes: [lists.wakes], pollers, rest: others } };
    }
    const names = [
      ...pollers.map(() => "poller"),
      // Callers of a fleet share the hour, but each may have its own minute.
      ...timetables.map(({ timetable }) => timetable.schedule.replace(/^\d+ (?=\d)/, "")),
      ...own.map(({ group }) => `woken ${group}`),
    ];
    const pace = profile.pace.kind === "visits" ? ({ kind: "chance" } as const) : profile.pace;
    return { ...profile, pace, apart: { key: names.join(", "), timetables, wakes: own, pollers, rest } };
  });
}

/** Separates the calls that events brought a caller from the rest. */
function withoutWakes(
  rest: Profile | null,
  wakes: readonly FoundWakes[],
  recording: Recording,
): { readonly own: readonly OwnWakes[]; readonly rest: Profile | null } {
  const own = wakes.flatMap(({ woken, ...events }): OwnWakes[] => {
    const sessions = rest === null ? undefined : woken.get(rest);
    return sessions === undefined ? [] : [{ ...events, byUser: false, sessions }];
  });
  if (rest === null || own.length === 0) return { own, rest };
  return { own, rest: restOf(rest, without(rest.jobs, own), recording) };
}

function restOf(profile: Profile, rest: readonly RecordedJob[], recording: Recording): Profile | null {
  return rest.length === 0 ? null : profileOfJobs(profile, rest, slackOf(recording));
}

function without(jobs: readonly RecordedJob[], wakes: readonly OwnWakes[]): RecordedJob[] {
  const taken = new Set(flatOf(flatOf(wakes.map(({ sessions }) => sessions)).map((session) => session.jobs)));
  return jobs.filter((job) => !taken.has(job));
}

/** Most loops at once that one program is believed to run under one name. */
const lanesMost = 12;

/** Fits each behaviour of similar callers; `null` if they have only one. */
export function partsOf(
  profiles: readonly Profile[],
  recording: Recording,
): {
  readonly parts: readonly FittedPart[];
  readonly rhythms: readonly RhythmFit[];
  /** Number of clients that make up a caller who stands for many. */
  readonly clients?: number;
} | null {
  const [model] = profiles;
  if (model === undefined) return null;
  if (model.pace.kind === "visits") return visitParts(model, mixOfAll(profiles), recording);
  const alone = profiles.length === 1 && !isSteady(model);
  if (model.apart === null && !alone) return partsBySize(profiles, recording);
  const pollers = profiles.flatMap(({ apart }) => apart?.pollers ?? []);
  const polls = pollers.length === 0 ? [] : [loopPart(pollers, recording)];
  const parts = [
    ...clockedParts(profiles, recording),
    ...wokenParts(profiles, recording),
    // All pollers of one name are alike.
    ...polls.flatMap(({ part }) => Array.from(model.apart?.pollers ?? [], () => part)),
  ];
  const rests = profiles.flatMap((profile) =>
    profile.apart === null ? [profile] : (profile.apart.rest ?? []),
  );
  const lanes =
    profiles.length > 1
      ? []
      : rests.flatMap((rest) => {
          const { pace, jobs } = rest;
          if (pace.kind === "volleys" || isLoop(model, slackOf(recording)) || workdaysOf(jobs) !== null)
            return [jobs];
          const own = lanesOf(jobs);
          return own.length > 1 && isInBursts(rest, recording) ? [jobs] : own;
        });
  if (parts.length === 0 && (lanes.length <= 1 || lanes.length > lanesMost))
    return partsBySize(profiles, recording);
  const apart = lanes.length > 1 && lanes.length <= lanesMost;
  const loops =
    rests.length === 0
      ? []
      : apart
        ? lanes.map((jobs) => loopPart([profileOfJobs(model, jobs, slackOf(recording))], recording))
        : [loopPart(rests, recording)];
  return {
    parts: [...parts, ...loops.map(({ part }) => part)],
    rhythms: [...polls, ...loops].flatMap(({ rhythms }) => rhythms),
  };
}

/** Fits long and short sessions as two behaviours; `null` unless they keep different hours. */
function partsBySize(profiles: readonly Profile[], recording: Recording): ReturnType<typeof partsOf> {
  if (profiles.some((profile) => isSteady(profile) || profile.pace.kind === "chance")) return null;
  const sizes = bySize(profiles, recording);
  if (sizes === null) return null;
  const slackMs = slackOf(recording);
  const loops = [sizes.short, sizes.long].map((kind) => {
    const own = profiles.flatMap((profile, index) => {
      const jobs = kind[index] ?? [];
      return jobs.length === 0 ? [] : [profileOfJobs(profile, jobs, slackMs)];
    });
    return loopPart(own, recording);
  });
  return { parts: loops.map(({ part }) => part), rhythms: loops.flatMap(({ rhythms }) => rhythms) };
}

const minutesBetween = (a: string, b: string): number =>
  a === b ? 0 : Number.parseInt(b, 10) - Number.parseInt(a, 10);

function clockedParts(profiles: readonly Profile[], recording: Recording): FittedPart[] {
  const slackMs = slackOf(recording);
  const all = profiles.map(({ apart }) => apart?.timetables ?? []);
  return (all[0] ?? []).flatMap(({ timetable, periodMs }, place) => {
    const own = all.flatMap((timetables) => timetables[place] ?? []);
    const together = timetableOf(
      own.map(({ startsMs }) => startsMs),
      periodMs,
    );
    const [first = timetable] = own
      .map((each) => each.timetable)
      .sort((a, b) => Number.parseInt(a.schedule, 10) - Number.parseInt(b.schedule, 10));
    const lastMs = own.reduce(
      (most, { timetable: { schedule, spreadMs } }) =>
        Math.max(most, minutesBetween(first.schedule, schedule) * minuteMs + spreadMs),
      0,
    );
    const pausesMs = flatOf(own.map((each) => each.pausesMs));
    const jobs = profiles.flatMap((profile) =>
      profileOfJobs(profile, profile.apart?.timetables[place]?.jobs ?? [], slackMs),
    );
    const think = spreadOf(pausesMs, 0, slackMs);
    const mix = mixOfAll(jobs);
    return runsByDay(first.schedule, own).map(
      ({ schedule, sizes }): FittedPart => ({
        behaviour: {
          kind: "timetable",
          of: { kind: "worker", think, atOnce: null, jobs: null },
          at: schedule,
          withinMs: together?.spreadMs ?? lastMs,
          calls: spreadOf(sizes, 1, 0),
          length: null,
        },
        mix,
      }),
    );
  });
}

/**
 * Returns the lines of cron of a daily job with the sizes of its runs: of weekends apart if it does less then, or more;
 * and of the weekdays on which all do more.
 */
function runsByDay(
  schedule: string,
  own: readonly ClockedSessions[],
): readonly { readonly schedule: string; readonly sizes: readonly number[] }[] {
  const whole = [{ schedule, sizes: own.flatMap(({ sizes }) => sizes) }];
  const [, time, named] = /^(\d+ \d+ \* \*) (\*|1-5)$/.exec(schedule) ?? [];
  if (time === undefined) return whole;
  const runs = own.flatMap(runsOf);
  const busy = own[0]?.busyDays ?? [];
  const sizesOn = (some: readonly number[]): number[] =>
    runs.filter(({ weekday }) => some.includes(weekday)).map(({ size }) => size);
  const weekend = named === "*" && areApart(sizesOn(weekdays), sizesOn([0, 6])) ? [0, 6] : [];
  if (busy.length + weekend.length === 0) return whole;
  const usual = (named === "*" ? [0, ...weekdays, 6] : weekdays).filter(
    (day) => !busy.includes(day) && !weekend.includes(day),
  );
  return [busy, usual, weekend].flatMap((some) => {
    const sizes = sizesOn(some);
    const text = some.join(",").replace("1,2,3,4,5", "1-5");
    return sizes.length === 0 ? [] : [{ schedule: `${time} ${text}`, sizes }];
  });
}

/** Largest ratio between the periods of one part. */
const periodsAlike = 1.02;

function loopPart(
  profiles: readonly Profile[],
  recording: Recording,
): { readonly part: FittedPart; readonly rhythms: readonly RhythmFit[] } {
  const mix = mixOfAll(profiles);
  const everyMs = profiles.flatMap(({ pace }) => (pace.kind === "ticks" ? [pace.everyMs] : []));
  const periods = new SortedSample(everyMs);
  const alike = everyMs.length === profiles.length && periods.most <= periodsAlike * periods.least;
  if (alike && mix.length === 1)
    return {
      part: {
        behaviour: { kind: "poller", everyMs: Math.max(1, Math.round(periods.median)) },
        mix,
      },
      rhythms: [],
    };
  const fit = bySessions(profiles, recording);
  if (fit !== null) return { part: { behaviour: fit.behaviour, mix }, rhythms: fit.rhythms };
  const think = spreadOf(flatOf(profiles.map(pausesIn)), 0, slackOf(recording));
  const once = profiles.every(({ jobs }) => jobs.length === 1);
  const atOnce = atOnceOf(flatOf(profiles.map(({ runs }) => runs.map(({ jobs }) => jobs))));
  return { part: { behaviour: { kind: "worker", think, atOnce, jobs: once ? 1 : null }, mix }, rhythms: [] };
}

/** Tells whether a caller's calls never overlap, though its jobs may: a call after a long wait can pass for a retry. */
const isLoop = ({ pace, retries, caller: { calls } }: Profile, slackMs: number): boolean =>
  pace.kind === "pause" &&
  retries.length > 0 &&
  calls.every(({ atMs }, index) => index === 0 || (calls[index - 1] as RecordedCall).endMs <= atMs + slackMs);

/** Splits jobs into loops; a few jobs that overlap now and then make no loop of their own. */
function lanesOf(jobs: readonly RecordedJob[]): readonly (readonly RecordedJob[])[] {
  const loops = loopsIn(jobs);
  const least = rareOverlaps * jobs.length;
  const rare = loops.filter(({ length }) => length <= least).flat();
  const [first = [], ...others] = loops.filter(({ length }) => length > least);
  return [rare.length === 0 ? first : [...first, ...rare].sort((a, b) => a.startMs - b.startMs), ...others];
}
