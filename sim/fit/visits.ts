// Callers that stand for many people, such as a back end whose token carries all its users' calls. People act
// independently, so their calls overlap as often as by chance. Each visit is a few calls, one after the other. The fit
// turns such a caller into many clients that seldom come.

import { exp } from "../../src/scenario/elementary.ts";
import type { RhythmFit } from "./comings.ts";
import { dayMs, hourMs, minuteMs } from "./days.ts";
import { eventsByChance } from "./events.ts";
import type { RecordedJob } from "./jobs.ts";
import type { FittedCall, FittedPart } from "./model.ts";
import { type Profile, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { busyBetween, Calendar, evenRhythm, rhythmOf } from "./rhythm.ts";
import { joined, joinedMs, type Sessions, sessionsOf, type WorkSession } from "./sessions.ts";
import { spreadOf } from "./spread.ts";
import { addAt, addTo, SortedSample, sumOf } from "./statistics.ts";
import { workOf } from "./work.ts";

/** Least number of calls, and share of all calls, in the quietest hours of the day, which show single visits. */
const quietLeast = 500;
const quietShare = 0.02;
/** Most overlaps per visit in an hour that still tells visits apart. */
const meetMost = 0.2;

/** Least number of pauses that can tell pauses between visits from those within. */
const pausesLeast = 30;
/** Width of a class of lengths. `manyMore`: ratio of a class to chance above which its pauses lie within visits. */
const halfOctave = Math.SQRT2;
const manyMore = 1.5;

/**
 * Returns the length above which a pause lies between visits, ms; 0 if no such length shows. Visits come by chance, so
 * pauses between them have an exponential tail: no length is more frequent than that.
 */
function betweenVisits(pausesMs: readonly number[]): number {
  const { sorted } = new SortedSample(pausesMs);
  for (let cutMs = 100; ; cutMs *= halfOctave) {
    const tail = sorted.filter((ms) => ms > cutMs);
    if (tail.length < pausesLeast) return 0;
    const mean = sumOf(tail.map((ms) => ms - cutMs)) / tail.length;
    const beyond = (ms: number): number => tail.length * exp((cutMs - ms) / mean);
    let [fromMs, isTail] = [cutMs, true];
    while (isTail && fromMs < (tail.at(-1) as number)) {
      const toMs = fromMs * halfOctave;
      const usual = beyond(fromMs) - beyond(toMs);
      const seen = tail.filter((ms) => ms > fromMs && ms <= toMs).length;
      // A few of the longest pauses come from quieter hours, so lengths above the mean are not judged.
      isTail = fromMs > mean || seen <= manyMore * usual + 3 * Math.sqrt(usual) + 1;
      fromMs = toMs;
    }
    if (isTail) return Math.round(cutMs);
  }
}

/** Returns the visits of the hours in which visits seldom overlap. */
export function visitsIn(jobs: readonly RecordedJob[]): Sessions {
  const hourOf = ({ startMs }: RecordedJob): number => Math.floor(startMs / hourMs) % 24;
  const counts = new Array<number>(24).fill(0);
  for (const job of jobs) addAt(counts, hourOf(job));
  const hours = counts.map((_, hour) => hour).sort((a, b) => (counts[a] as number) - (counts[b] as number));
  const blocksOf = (kept: ReadonlySet<number>): RecordedJob[][] => {
    const blocks: RecordedJob[][] = [];
    let open = false;
    for (const job of jobs) {
      const isKept = kept.has(hourOf(job));
      if (isKept && open) blocks.at(-1)?.push(job);
      else if (isKept) blocks.push([job]);
      open = isKept;
    }
    return blocks;
  };
  const least = Math.max(quietLeast, quietShare * jobs.length);
  let sum = 0;
  const quiet = new Set(
    hours.filter((hour) => {
      const isQuiet = sum < least;
      sum += counts[hour] as number;
      return isQuiet;
    }),
  );
  const blocks = blocksOf(quiet);
  const awayMs = betweenVisits(
    blocks.flatMap((block) => sessionsOf(block, Number.POSITIVE_INFINITY).pausesMs),
  );
  const visits = joined(blocks.map((block) => sessionsOf(block, awayMs)));
  const days = new Set(jobs.map(({ startMs }) => Math.floor(startMs / dayMs))).size;
  const meets = (hour: number): number =>
    ((counts[hour] as number) * (awayMs + lengthOf(visits))) / (callsOf(visits) * days * hourMs);
  const apart = new Set([...quiet, ...hours.filter((hour) => meets(hour) <= meetMost)]);
  return joined(blocksOf(apart).map((block) => sessionsOf(block, awayMs)));
}

/** Returns the mean number of calls of a visit. */
export const callsOf = ({ sessions }: Sessions): number =>
  new SortedSample(sessions.map(({ jobs }) => jobs)).mean;
/** Returns the mean length of a visit, ms. */
const lengthOf = ({ sessions }: Sessions): number =>
  new SortedSample(sessions.map(({ startMs, endMs }) => endMs - startMs)).mean;

/** Returns the time in which a visit's calls are wanted, ms; at least one, for the first. */
const lastedMs = ({ startMs, lastMs }: WorkSession): number => lastMs - startMs + 1;

/** Number of clients per visit of the busiest minute, and least number: enough that most clients are away. */
const clientsEach = 10;
const clientsLeast = 20;

/** Fits clients who come for visits, by themselves or when an event wakes them. */
export function visitParts(
  profile: Profile,
  mix: readonly FittedCall[],
  recording: Recording,
): {
  readonly parts: readonly FittedPart[];
  readonly rhythms: readonly RhythmFit[];
  readonly clients: number;
} {
  const slackMs = slackOf(recording);
  const polls = profile.pace.kind === "visits" ? profile.pace.polls : undefined;
  const visits = polls ?? visitsIn(profile.jobs);
  const work = workOf(visits, slackMs, polls === undefined ? "work" : "else");
  const [calls, lengthMs] = [callsOf(visits), lengthOf(visits)];
  // If visits overlap, their first calls are not known, but their number is.
  const starts = polls?.sessions ?? everyNth(profile.apart?.rest?.jobs ?? profile.jobs, calls);
  const fromMs = joinedMs(profile.jobs, recording);
  const sessions = starts.map(({ startMs }) => ({
    ...{ startMs, endMs: startMs, lastMs: startMs, jobs: calls, spells: 1 },
  }));
  const calendar = new Calendar([{ joinedMs: fromMs, sessions }], recording.startedAtMs, recording.endedAtMs);
  const rhythm = rhythmOf(calendar);
  const busiest = new SortedSample(countsOf(profile.jobs)).most;
  const atOnce = polls === undefined ? 1 : Math.max(1, lengthMs / minuteMs);
  const clients = Math.max(clientsLeast, Math.ceil((clientsEach * busiest * atOnce) / calls));
  const busyMs = busyBetween(rhythm ?? evenRhythm, fromMs, recording.endedAtMs, calendar.daysOff);
  const awayMs = Math.max(1, (clients * busyMs) / Math.max(1, starts.length) - lengthMs);
  const comes: FittedPart["behaviour"] = {
    kind: "sessions",
    ...work,
    away: { kind: "uniform", least: 0, most: Math.round(2 * awayMs) },
    rhythm,
    length: polls === undefined ? null : spreadOf(polls.sessions.map(lastedMs), 1, slackMs),
  };
  const lateMs = new SortedSample(visits.sessions.map(({ startMs, lastMs }) => (lastMs - startMs) / 2)).mean;
  const woken = (profile.apart?.wakes ?? []).map(({ group, byUser, eventsMs, sessions }): FittedPart => {
    const delays = sessions.flatMap(({ eventMs, jobs }) =>
      jobs.map(({ startMs }) => Math.max(0, startMs - eventMs - lateMs)),
    );
    const share = delays.length / calls / eventsMs.length / clients;
    return {
      behaviour: {
        kind: "woken",
        ...work,
        events: eventsByChance(eventsMs, recording),
        within: spreadOf(delays, 0, slackMs),
        lasts: null,
        share: Math.max(0.001, Math.min(1, Math.round(1000 * share) / 1000)),
        group,
        byUser,
      },
      mix,
    };
  });
  return {
    parts: [{ behaviour: comes, mix }, ...woken],
    rhythms: [{ calendar, rhythm: rhythm ?? evenRhythm }],
    clients,
  };
}

/** Returns every n-th item, as evenly as possible; `n` need not be whole. */
export const everyNth = <Item>(items: readonly Item[], n: number): Item[] =>
  items.filter((_, index) => Math.floor((index + 1) / n) > Math.floor(index / n));

/** Counts the jobs of each minute that has any. */
function countsOf(jobs: readonly RecordedJob[]): number[] {
  const counts = new Map<number, number>();
  for (const { startMs } of jobs) addTo(counts, Math.floor(startMs / minuteMs));
  return [...counts.values()];
}
