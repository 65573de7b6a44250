// Calls that events wake, as parts of a behaviour.
import { eventsByChance } from "./events.ts";
import type { RecordedJob } from "./jobs.ts";
import { mixOfAll } from "./mix.ts";
import type { FittedPart } from "./model.ts";
import { type OwnWakes, type Profile, profileOfJobs, slackOf, type WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { loopsIn, type Spell, spellsOf } from "./runs.ts";
import { joined, type Sessions, sessionsOf } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { flatOf, roundestWithin, SortedSample, sumOf } from "./statistics.ts";
import { workOf } from "./work.ts";

/** Fits what each group of events wakes similar callers to. */
export function wokenParts(profiles: readonly Profile[], recording: Recording): FittedPart[] {
  const groups = profiles[0]?.apart?.wakes ?? [];
  return groups.map((events) => wokenPart(profiles, events, recording));
}

/** Returns the number of events that find a caller free, not busy with an earlier event's calls. */
const freeAt = (eventsMs: readonly number[], sessions: readonly WokenSession[]): number =>
  eventsMs.filter(
    (ms) => !sessions.some(({ eventMs, jobs }) => eventMs < ms && ms < (jobs.at(-1) as RecordedJob).endMs),
  ).length;

/** Ratio of median to 90th percentile below which some callers wake long after the others. */
const tailFrom = 0.25;

/** Fits the time from an event until a caller wakes. */
function withinOf(late: SortedSample, slackMs: number): FittedSpread {
  if (late.median < tailFrom * late.quantile(0.9)) return spreadOf([...late.sorted], 0, slackMs);
  // The latest callers may have begun without the event.
  const most = new SortedSample(late.sorted.filter((ms) => ms <= late.median / tailFrom)).quantile(0.95);
  return { kind: "uniform", least: 0, most: roundestWithin(most, 1.1 * most + slackMs) };
}

/** Least share of a session's calls that each of several workers makes. */
const workerLeast = 1 / 4;

/** Returns the calls of each worker who makes many of a session's. */
const workersIn = (spells: readonly Spell[]): readonly (readonly Spell[])[] =>
  loopsIn(spells).filter(({ length }) => length > 1 && length >= workerLeast * spells.length);

/** Fits the work of sessions by one worker; or by several who work at the same time, if most sessions have them. */
function workBy(
  all: readonly (readonly Spell[])[],
  slackMs: number,
  end: "work" | "else",
): ReturnType<typeof workOf> {
  const cut = (some: readonly (readonly Spell[])[]): Sessions =>
    joined(some.map((spells) => sessionsOf(spells, Number.POSITIVE_INFINITY)));
  const workers = all.map(workersIn);
  const atOnce = new SortedSample(workers.map(({ length }) => length)).median;
  if (atOnce < 2) return workOf(cut(all), slackMs, end);
  const { of, calls } = workOf(cut(flatOf(workers)), slackMs, end);
  return {
    of: { ...of, atOnce: { kind: "constant", ms: atOnce } },
    calls:
      calls === null
        ? null
        : spreadOf(
            all.map((spells) => sumOf(spells.map(({ jobs }) => jobs))),
            1,
            0,
          ),
  };
}

function wokenPart(
  profiles: readonly Profile[],
  { group, byUser, clock, eventsMs, lastsMs }: Omit<OwnWakes, "sessions">,
  recording: Recording,
): FittedPart {
  const wokenOf = ({ apart }: Profile): readonly WokenSession[] =>
    apart?.wakes.find((wakes) => wakes.group === group)?.sessions ?? [];
  const woken = profiles.flatMap(wokenOf);
  const free = sumOf(profiles.map((profile) => freeAt(eventsMs, wokenOf(profile))));
  const spells = profiles.flatMap((profile) =>
    wokenOf(profile).map(({ jobs }) => (profile.pace.kind === "volleys" ? spellsOf(jobs) : jobs)),
  );
  const slackMs = slackOf(recording);
  const work = workBy(spells, slackMs, lastsMs === null ? "work" : "else");
  const late = new SortedSample(woken.map(({ eventMs, jobs }) => (jobs[0] as RecordedJob).startMs - eventMs));
  const own = profiles.map((profile) =>
    profileOfJobs(
      profile,
      wokenOf(profile).flatMap(({ jobs }) => jobs),
      slackMs,
    ),
  );
  return {
    behaviour: {
      kind: "woken",
      ...work,
      lasts: lastsMs === null ? null : spreadOf(lastsMs, 1, slackMs),
      events:
        clock === null
          ? eventsByChance(eventsMs, recording)
          : { kind: "clock", at: clock.at, lateMs: clock.lateMs },
      within: withinOf(late, slackMs),
      share: Math.min(1, Number((woken.length / free).toPrecision(2))),
      group,
      byUser,
    },
    mix: mixOfAll(own),
  };
}
