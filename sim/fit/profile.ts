// One caller's behaviour: its shape and its pace. The shape is one unit of work: a call, a volley, a list page by page.
// The pace says when that unit comes again: by the clock, after a pause, once, or by chance.
import type { Timetable } from "./arrivals.ts";
import {
  isRefused,
  type Jobs,
  jobsAtResets,
  jobsGuessed,
  jobsRecorded,
  RecordedJob,
  type RetrySample,
} from "./jobs.ts";
import type { Limits } from "./limits.ts";
import { overlapByChance } from "./overlaps.ts";
import { pollsOf } from "./polls.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { RecordedCaller, Recording } from "./recording.ts";
import { guessRetry, type RetryGuess, usualPauses } from "./retries.ts";
import { returnsOf } from "./returns.ts";
import {
  coarseMs,
  endedByRefusals,
  queueOf,
  type RunForm,
  runsOf,
  type Spell,
  shapeOf,
  spellsOf,
  volleysOf,
} from "./runs.ts";
import type { Sessions } from "./sessions.ts";
import { addTo, SortedSample, sumOf } from "./statistics.ts";
import { clockOf, clockOfSeveral, type Ticks } from "./ticks.ts";
import { triesInLoop, triesOf } from "./tries.ts";

export type CallPace =
  /** Runs keep to a clock. */
  | Ticks
  /** The next run comes some time after the end of the one before. */
  | { readonly kind: "pause" }
  /** The caller made only one run. */
  | { readonly kind: "once" }
  /** Several calls at once come some time after the end of those before. */
  | { readonly kind: "volleys" }
  /** The caller stands for many people, whose calls overlap as often as by chance. */
  | {
      readonly kind: "visits";
      /** Sessions of jobs that poll, several at a time; absent if the calls do not show them. */
      readonly polls?: Sessions | undefined;
    }
  /** Calls overlap and keep to no clock. */
  | { readonly kind: "chance" };

/** Sessions of one caller that keep to one timetable. */
export interface ClockedSessions {
  readonly timetable: Timetable;
  readonly periodMs: number;
  /** Start of each session, ms since the epoch. */
  readonly startsMs: readonly number[];
  readonly jobs: readonly RecordedJob[];
  /** Number of jobs of each session. */
  readonly sizes: readonly number[];
  /** Pauses from an answer to the next job, within sessions, ms. */
  readonly pausesMs: readonly number[];
  /** Weekdays on which the daily jobs of all callers do more than on the others, 1 for Monday; told once all callers are. */
  readonly busyDays?: readonly number[];
}

/** One caller's calls after one event. */
export interface WokenSession {
  /** Instant of the event, ms since the epoch. */
  readonly eventMs: number;
  readonly jobs: readonly RecordedJob[];
}

/** One caller's calls, split into calls by the clock, calls that events wake, and the rest. */
export interface Apart {
  /** Names of the parts. Callers with the same names may be of one population. */
  readonly key: string;
  readonly timetables: readonly ClockedSessions[];
  readonly wakes: readonly OwnWakes[];
  /** Pollers of one period. */
  readonly pollers: readonly Profile[];
  /** All other calls; `null` if there are none. */
  readonly rest: Profile | null;
}

/** Events at the times of one line of cron. */
export interface ClockedEvents {
  /** Line of cron, UTC. */
  readonly at: string;
  /** Longest time from the scheduled minute to an event, ms. */
  readonly lateMs: number;
  /** Instants of recorded events, ms since the epoch, rising. */
  readonly eventsMs: readonly number[];
}

/** Events that wake a caller, alone or among others. */
export interface OwnWakes {
  readonly group: number;
  /** True if these events wake this caller alone. */
  readonly byUser: boolean;
  /** Clock of the events; `null`: they come by chance. */
  readonly clock: ClockedEvents | null;
  /** Instants of all these events, ms since the epoch. */
  readonly eventsMs: readonly number[];
  /** Length of each event, ms, if all callers that it woke end together; `null` if they do not. */
  readonly lastsMs: readonly number[] | null;
  readonly sessions: readonly WokenSession[];
}

export interface Profile {
  readonly caller: RecordedCaller;
  readonly jobs: readonly RecordedJob[];
  /** All jobs of the caller, of which `jobs` may be a part. */
  readonly life: readonly RecordedJob[];
  /** Units of work: single calls, or calls that belong together. */
  readonly runs: readonly Spell[];
  readonly shape: RunForm;
  readonly pace: CallPace;
  /** Pauses from the end of a run to the start of the next, ms. */
  readonly pausesMs: readonly number[];
  readonly retries: readonly RetrySample[];
  readonly guess: RetryGuess | null;
  /** Number of refused calls. */
  readonly refused: number;
  /** Number of clients of one period that make up this caller: more than 1 if a log shows their user alone. */
  readonly clients: number;
  /** Number of jobs by kind of call. */
  readonly mix: ReadonlyMap<string, number>;
  /** The caller's behaviours, separated; `null` if it has only one. */
  readonly apart: Apart | null;
}

/** Returns the lateness without meaning, ms: the clock's resolution, and the delay of a generator or timer. */
export const slackOf = ({ resolutionMs }: Pick<Recording, "resolutionMs">): number => 5 + resolutionMs;

/** Profiles callers by all their calls. */
export function profilesOf(recording: Recording, limits: Limits): readonly Profile[] {
  const slackMs = slackOf(recording);
  return recording.callers.map((caller) => {
    if (!recording.knowsAttempts) return guessed(caller, limits, slackMs);
    const jobs = jobsRecorded(caller, limits);
    return described(caller, jobs, guessRetry(jobs.retries, slackMs, null), slackMs);
  });
}

/** Profiles a caller by only some of its jobs. */
export function profileOfJobs(
  { caller, life }: Profile,
  jobs: readonly RecordedJob[],
  slackMs: number,
): Profile {
  return { ...described({ ...caller, calls: [] }, { jobs, retries: [] }, null, slackMs), life };
}

/** Profiles a caller none of whose calls is a retry. */
export function plainProfile(caller: RecordedCaller, slackMs: number): Profile {
  const jobs = caller.calls.map((call) => new RecordedJob(call));
  return described(caller, { jobs, retries: [] }, null, slackMs);
}

/** Tells whether a caller has only one behaviour, so that there is nothing to take apart. */
export const isSteady = ({ shape, pace }: Profile): boolean =>
  shape.kind !== "call" || pace.kind === "ticks" || pace.kind === "once" || pace.kind === "visits";

/** Least share of the attempts that a policy explains; of callers whose calls overlap, and the least number of theirs. */
const toldLeast = 0.8;
const toldByMany = 0.9;
const triesLeast = 10;
/** Least ratio of the cap to the first of growing waits: below, others' calls come as soon by chance. */
const growsLeast = 4;

/** Tells whether a policy explains the attempts after refusals. */
const isTold = (guess: RetryGuess | null): guess is RetryGuess =>
  guess !== null && guess.retry.kind !== "none" && guess.explained >= toldLeast;

/** Tells whether a policy explains attempts that calls of others come between, as these come sooner than its waits. */
function isToldByMany({ guess, jobs }: ReturnType<typeof triesOf>, { calls }: RecordedCaller): boolean {
  if (!isTold(guess) || guess.explained < toldByMany || jobs.retries.length < triesLeast) return false;
  const { retry } = guess;
  if (retry.kind === "exponential") return retry.most >= growsLeast * retry.first;
  if (retry.kind !== "fixed") return true;
  const gapsMs = calls.slice(1).map(({ atMs }, place) => atMs - (calls[place] as RecordedCall).atMs);
  return retry.wait.least > new SortedSample(gapsMs).median;
}

/** Profiles a caller without numbered attempts. Calls after refusals count as retries if a policy explains them best. */
function guessed(caller: RecordedCaller, limits: Limits, slackMs: number): Profile {
  const apart = jobsGuessed(caller, limits, 1);
  const visits = visitsOf(caller, apart, limits, slackMs);
  if (visits !== null) return visits;
  if (!caller.calls.some(isRefused)) return described(caller, apart, null, slackMs);
  const { jobs: together, guess } = triesOf(caller, limits, slackMs, usualPauses([apart], slackMs));
  if (!isTold(guess)) return returned(caller, limits, slackMs) ?? described(caller, apart, guess, slackMs);
  const profile = described(caller, together, guess, slackMs);
  if (profile.pace.kind !== "chance") return profile;
  // Calls that overlap by chance hardly show which of them retries which. Those of one loop never overlap.
  const inLoop = triesInLoop(caller, limits, slackMs, guess.retry);
  const loop = inLoop === null ? null : described(caller, inLoop, guess, slackMs);
  if (loop !== null && loop.pace.kind !== "chance") return loop;
  return isToldByMany({ jobs: together, guess }, caller) ? profile : described(caller, apart, null, slackMs);
}

/** Profiles a caller whose calls overlap by retries some time after refusals; `null` if there are none. */
function returned(caller: RecordedCaller, limits: Limits, slackMs: number): Profile | null {
  const returns = returnsOf(caller, limits, slackMs);
  const profile = returns === null ? null : described(caller, returns.jobs, returns.guess, slackMs);
  return profile?.pace.kind === "volleys" ? profile : null;
}

/** Profiles a caller that stands for many independent people; `null` if it does not. */
function visitsOf(caller: RecordedCaller, apart: Jobs, limits: Limits, slackMs: number): Profile | null {
  if (slackMs >= coarseMs || !overlapByChance(apart.jobs, slackMs)) return null;
  const plain = described(caller, apart, null, slackMs);
  if (plain.shape.kind !== "call" || plain.clients > 1 || !["chance", "pause"].includes(plain.pace.kind))
    return null;
  const polls = pollsOf(caller, limits, slackMs);
  const told = polls?.jobs ?? jobsAtResets(caller, limits);
  const tries =
    told === null && plain.refused > 0
      ? triesOf(caller, limits, slackMs, usualPauses([apart], slackMs))
      : null;
  const { jobs, guess } =
    tries !== null && isToldByMany(tries, caller)
      ? tries
      : { jobs: told ?? apart, guess: guessRetry((told ?? apart).retries, slackMs, null) };
  const pace = { kind: "visits", polls: polls?.sessions } as const;
  return { ...plain, jobs: jobs.jobs, runs: jobs.jobs, pausesMs: [], retries: jobs.retries, guess, pace };
}

/** Kind of the calls after refusals: retries; calls by a clock, which come anyway; or not known. */
export type AfterRefusals = "again" | "anew" | "untold";

/** Tells of which kind a caller's calls after refusals are, if nobody numbered its attempts. */
export function afterRefusals(caller: RecordedCaller, limits: Limits, resolutionMs: number): AfterRefusals {
  const { retries, guess, pace } = guessed(caller, limits, slackOf({ resolutionMs }));
  if (retries.length > 0) return "again";
  // Without a clock, the usual pauses after refusals may as well be the waits of retries.
  return guess?.retry.kind === "none" && pace.kind === "ticks" ? "anew" : "untold";
}

export function described(
  caller: RecordedCaller,
  { jobs, retries }: Jobs,
  guess: RetryGuess | null,
  slackMs: number,
): Profile {
  const mix = new Map<string, number>();
  for (const { key } of jobs) addTo(mix, key);
  const refused = caller.calls.filter(isRefused).length;
  const common = { caller, jobs, life: jobs, retries, guess, mix, refused, apart: null };
  const whole = runsOf(jobs, slackMs);
  const shape = queueOf(jobs, slackMs) ?? (endedByRefusals(whole) ? null : shapeOf(whole));
  if (shape !== null && shape.kind !== "call") {
    const pausesMs = pausesOf(whole);
    const pace = paceOf(whole, pausesMs, slackMs);
    // A part of a caller's calls keeps its shape: `loopPart` finds the hours at which it comes.
    const volleys = pace.kind === "pause" && caller.calls.length > 0 ? volleysOf(jobs, slackMs) : null;
    return volleys === null
      ? { ...common, runs: whole, shape, pausesMs, pace, clients: 1 }
      : inVolleys(common, volleys);
  }
  const runs: readonly Spell[] = jobs;
  const call = { ...common, runs, shape: { kind: "call" } as const };
  const overlapping = sumOf(whole.map((run) => (run.open > 1 ? run.jobs : 0)));
  if (overlapping <= rareOverlaps * jobs.length) {
    const pausesMs = pausesOf(runs);
    const pace = paceOf(runs, pausesMs, slackMs);
    // Limits also make callers keep to a clock, that of the windows; so refused callers are left out.
    const pauses = new SortedSample(pausesMs);
    const uneven = pauses.breadth > 0.2 * pauses.median + slackMs;
    const several =
      pace.kind === "pause" && uneven && common.refused === 0 ? clockOfSeveral(runs, slackMs) : null;
    return { ...call, pausesMs, pace: several?.pace ?? pace, clients: several?.clients ?? 1 };
  }
  const several = common.refused === 0 ? clockOfSeveral(runs, slackMs) : null;
  if (several !== null) return { ...call, pausesMs: [], pace: several.pace, clients: several.clients };
  const volleys = volleysOf(jobs, slackMs);
  return volleys === null
    ? { ...call, runs: spellsOf(jobs), pausesMs: [], pace: { kind: "chance" }, clients: 1 }
    : inVolleys(common, volleys);
}

const inVolleys = <Common>(common: Common, runs: readonly Spell[]) => ({
  ...common,
  ...({
    runs,
    shape: { kind: "call" },
    pausesMs: pausesOf(runs),
    pace: { kind: "volleys" },
    clients: 1,
  } as const),
});

/** Returns a caller's pauses, ms; those between single jobs if calls overlap by chance, so that runs show none. */
export const pausesIn = ({ pausesMs, jobs }: Profile): readonly number[] =>
  pausesMs.length > 0 ? pausesMs : pausesOf(jobs);

function pausesOf(runs: readonly Spell[]): number[] {
  return runs.slice(1).map(({ startMs }, index) => Math.max(0, startMs - (runs[index] as Spell).endMs));
}

/** Share of overlapping jobs up to which a caller is still one loop: late answers make some jobs overlap. */
export const rareOverlaps = 0.02;

function paceOf(runs: readonly Spell[], pausesMs: readonly number[], slackMs: number): CallPace {
  if (runs.length < 2) return { kind: "once" };
  const ticks = clockOf(runs, slackMs);
  const pauses = new SortedSample(pausesMs);
  // A caller that calls again right after each answer follows the answers, however regular they are.
  if (ticks !== null && pauses.median < 0.2 * ticks.everyMs && ticks.everyMs < 1000) return { kind: "pause" };
  // Starts by a clock scatter less around its ticks than pauses do; starts after pauses drift away from any clock.
  return ticks !== null && ticks.offMs <= 0.8 * pauses.breadth + slackMs / 5 ? ticks : { kind: "pause" };
}
