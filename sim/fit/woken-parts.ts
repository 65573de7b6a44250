// Calls that events wake, as parts of a behaviour.
import { eventsByChance } from "./events.ts";
import type { RecordedJob } from "./jobs.ts";
import { mixOfAll } from "./mix.ts";
import type { FittedPart } from "./model.ts";
import { type OwnWakes, type Profile, profileOfJobs, slackOf, type WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { spellsOf } from "./runs.ts";
import { joined, sessionsOf } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { roundestWithin, SortedSample, sumOf } from "./statistics.ts";
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

function wokenPart(
  profiles: readonly Profile[],
  { group, byUser, clock, eventsMs, lastsMs }: Omit<OwnWakes, "sessions">,
  recording: Recording,
): FittedPart {
  const wokenOf = ({ apart }: Profile): readonly WokenSession[] =>
    apart?.wakes.find((wakes) => wakes.group === group)?.sessions ?? [];
  const woken = profiles.flatMap(wokenOf);
  const free = sumOf(profiles.map((profile) => freeAt(eventsMs, wokenOf(profile))));
  const sessions = profiles.flatMap((profile) =>
    wokenOf(profile).map(({ jobs }) => {
      const spells = profile.pace.kind === "volleys" ? spellsOf(jobs) : jobs;
      return sessionsOf(spells, Number.POSITIVE_INFINITY);
    }),
  );
  const slackMs = slackOf(recording);
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
      ...workOf(joined(sessions), slackMs, lastsMs === null ? "work" : "else"),
      lasts: lastsMs === null ? null : spreadOf(lastsMs, 1, slackMs),
      events:
        clock === null
          ? eventsByChance(eventsMs, recording)
          : { kind: "clock", at: clock.at, lateMs: clock.lateMs },
      within: withinOf(late, slackMs),
      share: Math.min(1, Math.round((100 * woken.length) / free) / 100),
      group,
      byUser,
    },
    mix: mixOfAll(own),
  };
}
