// Calls that events wake, as parts of a behaviour.
import { eventsByChance } from "./events.ts";
import type { RecordedJob } from "./jobs.ts";
import { mixOfAll } from "./mix.ts";
import type { FittedPart } from "./model.ts";
import { type OwnWakes, type Profile, profileOfJobs, slackOf, type WokenSession } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { loopsIn, type Spell, spellsOf } from "./runs.ts";
import { absenceOf, joined, type Sessions, sessionsOf } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { flatOf, mode, roundestWithin, SortedSample, sumOf } from "./statistics.ts";
import { workOf } from "./work.ts";

/** Fits what each group of events wakes similar callers to. */
export function wokenParts(profiles: readonly Profile[], recording: Recording): FittedPart[] {
  const groups = profiles[0]?.apart?.wakes ?? [];
  return groups.flatMap((events) => wokenPart(profiles, events, recording));
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

/** Calls that follow one event, one after the other. */
interface Row {
  readonly eventMs: number;
  readonly spells: readonly Spell[];
}

/** Least share of the calls that loops beside the busiest make, for several clients. */
const besideLeast = 1 / 4;
/** Least share of rows that have the usual number of calls, and most rows of a session. */
const rowLeast = 0.4;
const rowsMost = 12;

/**
 * Splits sessions in which several clients do the same at the same time, each a row of so many calls: each row is a
 * client's. Other sessions stay whole.
 */
function rowsOf(sessions: readonly Row[]): readonly Row[] {
  const loops = sessions.map(({ eventMs, spells }) =>
    loopsIn(spells).map((own) => ({ eventMs, spells: own })),
  );
  const callsOf = (rows: readonly Row[]): number[] => rows.map(({ spells }) => spells.length);
  const busiest = sumOf(loops.map((own) => Math.max(...callsOf(own))));
  if (busiest > (1 - besideLeast) * sumOf(callsOf(sessions))) return sessions;
  const all = flatOf(loops);
  const cutMs = absenceOf(flatOf(all.map(({ spells }) => pausesOf(spells))));
  const rows = all.flatMap((row) => cutAt(row, cutMs));
  const usual = mode(callsOf(rows));
  const areAlike = usual.value > 1 && usual.share >= rowLeast;
  return cutMs > 0 && areAlike && rows.length <= rowsMost * sessions.length ? rows : sessions;
}

/** Returns the pauses between spells, ms. */
const pausesOf = (spells: readonly Spell[]): readonly number[] =>
  sessionsOf(spells, Number.POSITIVE_INFINITY).pausesMs;

/** Cuts a row at pauses above a length. */
function cutAt({ eventMs, spells }: Row, cutMs: number): Row[] {
  let from = 0;
  return sessionsOf(spells, cutMs).sessions.map((session) => {
    from += session.spells;
    return { eventMs, spells: spells.slice(from - session.spells, from) };
  });
}

/** Least share of the busiest worker's calls of a session that each of several workers makes. */
const workerLeast = 1 / 3;

/** Returns the calls of each worker who makes many of a session's. */
function workersIn(spells: readonly Spell[]): readonly (readonly Spell[])[] {
  const loops = loopsIn(spells);
  const most = Math.max(...loops.map(({ length }) => length));
  return loops.filter(({ length }) => length > 1 && length >= workerLeast * most);
}

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
): FittedPart[] {
  const wokenOf = ({ apart }: Profile): readonly WokenSession[] =>
    apart?.wakes.find((wakes) => wakes.group === group)?.sessions ?? [];
  const free = sumOf(profiles.map((profile) => freeAt(eventsMs, wokenOf(profile))));
  const sessions = profiles.flatMap((profile) =>
    wokenOf(profile).map(({ eventMs, jobs }) => ({
      eventMs,
      spells: profile.pace.kind === "volleys" ? spellsOf(jobs) : jobs,
    })),
  );
  const slackMs = slackOf(recording);
  const rows = rowsOf(sessions);
  const clients = Math.ceil(rows.length / sessions.length);
  const work = workBy(
    rows.map(({ spells }) => spells),
    slackMs,
    lastsMs === null ? "work" : "else",
  );
  const late = new SortedSample(rows.map(({ eventMs, spells }) => (spells[0] as Spell).startMs - eventMs));
  const own = profiles.map((profile) =>
    profileOfJobs(
      profile,
      wokenOf(profile).flatMap(({ jobs }) => jobs),
      slackMs,
    ),
  );
  const part: FittedPart = {
    behaviour: {
      kind: "woken",
      ...work,
      lasts: lastsMs === null ? null : spreadOf(lastsMs, 1, slackMs),
      events:
        clock === null
          ? eventsByChance(eventsMs, recording)
          : { kind: "clock", at: clock.at, lateMs: clock.lateMs },
      within: withinOf(late, slackMs),
      share: Math.min(1, Number((rows.length / clients / free).toPrecision(2))),
      group,
      byUser,
    },
    mix: mixOfAll(own),
  };
  return Array.from({ length: clients }, () => part);
}
