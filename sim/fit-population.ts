// One cluster of callers → one population: how many, doing what, when, and what after a refusal.
import { closedArrivals, cronArrivals, openArrivals } from "./fit-arrivals.ts";
import type { Cluster } from "./fit-clusters.ts";
import { isRefused, type Job } from "./fit-jobs.ts";
import type { FittedArrivals, FittedBehaviour, FittedCall, FittedPopulation } from "./fit-model.ts";
import type { Profile } from "./fit-profile.ts";
import { slackOf } from "./fit-profile.ts";
import type { Recording } from "./fit-recording.ts";
import { type FittedRetry, guessRetry, type RetryGuess } from "./fit-retries.ts";
import { spreadOf } from "./fit-spread.ts";
import { mode, roundestWithin, Sample } from "./fit-statistics.ts";
import { count, roughText, spanText, spreadText, timeText } from "./fit-words.ts";

/** Kinds of calls that a population is given at most; rarer ones are left unexplained. */
const kindsMost = 6;
const rareShare = 0.005;

/** What is worked out of a cluster before it has a name. */
export function fittedPopulation(cluster: Cluster, recording: Recording): Omit<FittedPopulation, "name"> {
  const { profiles } = cluster;
  const pace = paceOf(cluster, recording);
  const { mix, unexplained } = mixOf(cluster, pace.single);
  const refused = profiles.reduce((sum, profile) => sum + profile.refused, 0);
  const onRefused = retryOf(profiles, recording, refused);
  const users = new Set(profiles.map(({ caller }) => caller.user)).size;
  const clients = pace.arrivals.kind === "closed" ? pace.arrivals.clients : null;
  const calls = profiles.reduce((sum, { caller }) => sum + caller.calls.length, 0);
  const organization = profiles[0]?.caller.organization ?? "";
  return {
    organization,
    user: users === clients ? "each" : users === 1 ? "shared" : users,
    callers: profiles.length,
    calls,
    refused,
    unexplained,
    behaviour: pace.behaviour,
    mix,
    arrivals: pace.arrivals,
    onRefused: onRefused.retry,
    retriesExplained: onRefused.guess?.explained ?? null,
    attempts: attemptsOf(profiles),
    reasons: {
      population: `${count(profiles.length, recording.knowsAttempts ? "client" : "caller")}, ${count(users, "user")}, ${count(calls, "call")}, ${refused === 0 ? "none" : refused.toLocaleString("en-US")} refused`,
      behaviour: pace.why,
      arrivals: pace.arrivalsWhy,
      onRefused: onRefused.why,
    },
  };
}

interface PaceFit {
  readonly behaviour: FittedBehaviour;
  readonly arrivals: FittedArrivals;
  readonly why: string;
  readonly arrivalsWhy: string;
  /** The behaviour has one kind of call alone. */
  readonly single: boolean;
}

function paceOf(cluster: Cluster, recording: Recording): PaceFit {
  const { profiles } = cluster;
  const [model] = profiles;
  if (model === undefined) throw new RangeError("a cluster has callers");
  const kinds = new Sample([...cluster.mix.values()]);
  const mixed = kinds.most < 0.9 * cluster.jobs;
  const { shape, pace } = model;
  if (pace.kind === "chance") return byChance(profiles, recording);
  if (shape.kind !== "call") return inRuns(profiles, middleShape(profiles, shape), recording);
  return pace.kind === "ticks" && !mixed ? byTheClock(profiles, recording) : byPauses(profiles, recording);
}

/** A period as round as its doubt allows. */
function everyOf(profiles: readonly Profile[], slackMs: number): { everyMs: number; gaps: number } {
  const periods: number[] = [];
  let gaps = 0;
  let doubt = 1;
  for (const { pace, runs } of profiles) {
    if (pace.kind !== "ticks") continue;
    periods.push(pace.everyMs);
    gaps += runs.length - 1;
    // A period is the time from the first start to the last by the number of periods between.
    doubt = Math.max(doubt, (2 * pace.offMs + slackMs) / Math.max(1, runs.length - 1));
  }
  const middle = new Sample(periods).median;
  return { everyMs: Math.max(1, roundestWithin(Math.max(1, middle - doubt), middle + doubt)), gaps };
}

const startsOf = (profiles: readonly Profile[]): number[] =>
  profiles.flatMap(({ runs, clients }) => runs.slice(0, clients).map(({ startMs }) => startMs));

function byTheClock(profiles: readonly Profile[], recording: Recording): PaceFit {
  const slackMs = slackOf(recording);
  const { everyMs, gaps } = everyOf(profiles, slackMs);
  const clients = profiles.reduce((sum, profile) => sum + profile.clients, 0);
  const cron = byCron(profiles, everyMs);
  if (cron !== null)
    return {
      behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, jobs: 1 },
      ...cron,
      why: `${count(gaps, "gap")} of whole periods of ${timeText(everyMs)}, each begun with a minute`,
      single: false,
    };
  const off = new Sample(profiles.map(({ pace }) => (pace.kind === "ticks" ? pace.offMs : 0))).most;
  return {
    behaviour: { kind: "poller", everyMs },
    ...closed(profiles, clients, everyMs, recording),
    why: `${count(gaps, "gap")} of whole periods of ${timeText(everyMs)}, nine in ten within ${roughText(Math.ceil(off))}`,
    single: true,
  };
}

function byCron(
  profiles: readonly Profile[],
  everyMs: number,
): Pick<PaceFit, "arrivals" | "arrivalsWhy"> | null {
  if (profiles.some(({ clients }) => clients > 1)) return null;
  const starts = profiles.map(({ runs }) => runs.map(({ startMs }) => startMs));
  const arrivals = cronArrivals(starts, everyMs);
  if (arrivals === null) return null;
  const spread = arrivals.spreadMs === 0 ? "at once" : `within ${timeText(arrivals.spreadMs)}`;
  return { arrivals, arrivalsWhy: `${count(starts.length, "caller")} began ${spread} with the minute` };
}

function closed(profiles: readonly Profile[], clients: number, everyMs: number, recording: Recording) {
  const starts = startsOf(profiles);
  const arrivals = closedArrivals(starts, clients, everyMs, recording, slackOf(recording));
  const last = Math.max(0, ...starts.map((ms) => ms - recording.startedAtMs));
  return {
    arrivals,
    arrivalsWhy: `the last of them was first seen ${roughText(last)} after the start`,
  };
}

function byPauses(profiles: readonly Profile[], recording: Recording): PaceFit {
  const slackMs = slackOf(recording);
  const pauses = profiles.flatMap(({ pausesMs }) => pausesMs);
  const think = spreadOf(pauses, 0, slackMs);
  const over = profiles.filter((profile) => isOver(profile, recording));
  const lengths = profiles.map(({ jobs }) => jobs.length);
  const starts = startsOf(profiles).sort((a, b) => a - b);
  const why =
    pauses.length === 0
      ? "one call each was seen"
      : `${count(pauses.length, "pause")} after an answer: ${spreadText(pauses)}`;
  const common = { why, single: false };
  if (isOpen(profiles, over, starts, recording)) {
    const jobs = Math.round(new Sample(lengths).median);
    return {
      ...common,
      behaviour: { kind: "worker", think, jobs },
      arrivals: openArrivals(starts, recording),
      arrivalsWhy: `${count(profiles.length, "caller")} came one after the other, each with ${count(jobs, "job")} (median)`,
    };
  }
  const byHour = hoursOf(profiles, recording);
  if (byHour !== null) return byHour;
  const same = mode(lengths);
  const ends = over.length >= 0.9 * profiles.length && same.share >= 0.8;
  const round = think.kind === "constant" ? think.ms : new Sample(pauses).median;
  return {
    ...common,
    behaviour: { kind: "worker", think, jobs: ends ? same.value : null },
    ...closed(profiles, profiles.length, round, recording),
  };
}

/** Callers who are busy at some hours of the day: what they do then comes by chance. */
function hoursOf(profiles: readonly Profile[], recording: Recording): PaceFit | null {
  const byChanceOf = byChance(profiles, recording);
  if (byChanceOf.arrivals.kind !== "hours") return null;
  return {
    ...byChanceOf,
    why: "busier at some hours of the day than at others: each call is a client of its own",
  };
}

/** Whether a caller had ended before the recording did: it was silent far longer than it ever paused. */
function isOver({ jobs, pausesMs, refused }: Profile, { startedAtMs, endedAtMs }: Recording): boolean {
  const last = jobs.at(-1);
  if (last === undefined || (refused > 0 && isRefused(last.last))) return false;
  const usual = new Sample(pausesMs).most;
  const silentMs = endedAtMs - last.endMs;
  return silentMs > Math.max(3 * usual, 0.02 * (endedAtMs - startedAtMs));
}

/** Callers who come one after the other, and go. */
function isOpen(
  profiles: readonly Profile[],
  over: readonly Profile[],
  starts: readonly number[],
  { startedAtMs, endedAtMs }: Recording,
): boolean {
  const whole = endedAtMs - startedAtMs;
  const lives = new Sample(profiles.map(({ jobs }) => (jobs.at(-1)?.endMs ?? 0) - (jobs[0]?.startMs ?? 0)));
  return (
    profiles.length >= 5 &&
    over.length >= 0.6 * profiles.length &&
    new Sample(starts).breadth > 0.3 * whole &&
    lives.median < 0.5 * whole
  );
}

type RunShape = Exclude<Profile["shape"], { kind: "call" }>;

/** Of callers whose runs differ a little in length, the middle one's. */
function middleShape(profiles: readonly Profile[], model: RunShape): RunShape {
  const length = (shape: Profile["shape"]): number =>
    shape.kind === "burst" ? shape.size : shape.kind === "pager" ? shape.pages : 1;
  const middle = new Sample(profiles.map(({ shape }) => length(shape))).median;
  const found = profiles.find(({ shape }) => length(shape) === middle)?.shape ?? model;
  return found.kind === "call" ? model : found;
}

function inRuns(profiles: readonly Profile[], shape: RunShape, recording: Recording): PaceFit {
  const slackMs = slackOf(recording);
  const runs = profiles.reduce((sum, profile) => sum + profile.runs.length, 0);
  const pace = profiles[0]?.pace.kind ?? "once";
  const every = pace === "ticks" ? everyOf(profiles, slackMs) : null;
  const behaviour = { ...shape, everyMs: every?.everyMs ?? null };
  const what =
    shape.kind === "burst"
      ? `${count(runs, "volley")} of ${count(shape.size, "call")} at once`
      : `${count(runs, "run")} of ${shape.last === null || shape.last === shape.pages ? "" : `${shape.last} to `}${count(shape.pages, "call")}, each begun when one before was answered, at most ${shape.parallel} at once`;
  const when = every === null ? "" : `, every ${timeText(every.everyMs)}`;
  const common = { behaviour, why: what + when, single: true };
  const cron = every === null ? null : byCron(profiles, every.everyMs);
  if (cron !== null) return { ...common, behaviour: { ...shape, everyMs: null }, ...cron };
  const starts = profiles
    .flatMap((profile) => profile.runs.map(({ startMs }) => startMs))
    .sort((a, b) => a - b);
  const over = profiles.filter((profile) => isOver(profile, recording));
  if (pace === "pause" || (pace === "once" && isOpen(profiles, over, starts, recording)))
    return {
      ...common,
      arrivals: openArrivals(starts, recording),
      arrivalsWhy: `${count(runs, "run")} that kept to no clock`,
    };
  return { ...common, ...closed(profiles, profiles.length, every?.everyMs ?? 0, recording) };
}

function byChance(profiles: readonly Profile[], recording: Recording): PaceFit {
  const starts = profiles.flatMap(({ jobs }) => jobs.map(({ startMs }) => startMs)).sort((a, b) => a - b);
  return {
    behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, jobs: 1 },
    arrivals: openArrivals(starts, recording),
    why: "calls overlap and keep to no clock: each is a client of its own",
    arrivalsWhy: `${count(starts.length, "call")} in ${roughText(recording.endedAtMs - recording.startedAtMs)}`,
    single: false,
  };
}

/** The kinds of calls that the population makes, and how many calls are of others. */
function mixOf(cluster: Cluster, single: boolean): { mix: FittedCall[]; unexplained: number } {
  const ranked = [...cluster.mix].sort(([, a], [, b]) => b - a);
  const kept = ranked
    .slice(0, single ? 1 : kindsMost)
    .filter(([, jobs], index) => index === 0 || jobs >= rareShare * cluster.jobs);
  const keys = new Set(kept.map(([key]) => key));
  const total = kept.reduce((sum, [, jobs]) => sum + jobs, 0);
  const parts = weightsOf(
    kept.map(([, jobs]) => jobs / total),
    total,
  );
  const charged = new Map<string, { sum: number; count: number; job: Job }>();
  let unexplained = 0;
  for (const { jobs } of cluster.profiles)
    for (const job of jobs) {
      if (!keys.has(job.key)) unexplained += job.attempts;
      const known = charged.get(job.key) ?? { sum: 0, count: 0, job };
      charged.set(job.key, known);
      if (isRefused(job.last)) continue;
      known.sum += job.last.actual;
      known.count += 1;
    }
  const mix = kept.flatMap(([key], index) => {
    const seen = charged.get(key);
    if (seen === undefined) return [];
    const { scope, free, cost } = seen.job.first;
    const actual = seen.count === 0 ? cost : Math.min(cost, Math.round(seen.sum / seen.count));
    return [{ scope, free, cost, actual, weight: parts[index] ?? 1 }];
  });
  return { mix, unexplained };
}

/** The smallest whole weights that are as close to the shares as these are known. */
function weightsOf(shares: readonly number[], jobs: number): number[] {
  if (shares.length <= 1) return shares.map(() => 1);
  for (let total = shares.length; total <= 100; total++) {
    const weights = shares.map((share) => Math.round(share * total));
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const fits = weights.every((weight, index) => {
      const share = shares[index] ?? 0;
      return weight >= 1 && Math.abs(weight / sum - share) <= Math.sqrt((share * (1 - share)) / jobs) + 0.002;
    });
    if (fits) return weights;
  }
  return shares.map((share) => Math.max(1, Math.round(share * 1000)));
}

interface RetryFit {
  readonly retry: FittedRetry;
  readonly guess: RetryGuess | null;
  readonly why: string;
}

function retryOf(profiles: readonly Profile[], recording: Recording, refused: number): RetryFit {
  if (refused === 0) {
    const why = "none was refused: what they would do is unknown, none is assumed";
    return { retry: { kind: "unknown" }, guess: null, why };
  }
  const samples = profiles.flatMap(({ retries }) => retries);
  if (!recording.knowsAttempts && profiles.every(({ pace }) => pace.kind === "chance"))
    return {
      retry: { kind: "unknown" },
      guess: null,
      why: `calls overlap, so which of them were tried again after ${count(refused, "refusal")} is unknown, none is assumed`,
    };
  if (samples.length === 0) {
    const gone = profiles.some(({ jobs }) =>
      jobs.some((job, index) => isRefused(job.last) && index < jobs.length - 1),
    );
    return gone
      ? {
          retry: { kind: "none" },
          guess: null,
          why: `none of ${count(refused, "refused call")} was tried again`,
        }
      : {
          retry: { kind: "unknown" },
          guess: null,
          why: "nothing was seen after a refusal: what they do then is unknown, none is assumed",
        };
  }
  const guess = guessRetry(samples, slackOf(recording), null);
  if (guess === null) return { retry: { kind: "unknown" }, guess, why: "" };
  const hits = Math.round(guess.explained * samples.length);
  const alike = guess.alike.length === 0 ? "" : `; ${guess.alike.join(" or ")} would explain them as well`;
  const why = `${hits} of ${count(samples.length, "attempt")} after a refusal came ${whenText(guess.retry)}${alike}`;
  return { retry: guess.retry, guess, why };
}

function whenText(retry: FittedRetry): string {
  switch (retry.kind) {
    case "waitReset":
      return retry.jitter.most === 0 ? "at the reset" : `${spanText(retry.jitter)} after the reset`;
    case "retryAfter":
      return retry.jitter.most === 0
        ? "when Retry-After said"
        : `${spanText(retry.jitter)} after what Retry-After said`;
    case "fixed":
      return retry.wait.most === 0 ? "at once" : `${spanText(retry.wait)} after it`;
    case "exponential":
      return `after waits that grow from ${timeText(retry.first)}, at most ${timeText(retry.most)}`;
    default:
      return "where nothing says";
  }
}

/** The most attempts that calls were given, where those that were given up had them all, and no other had more. */
function attemptsOf(profiles: readonly Profile[]): number | null {
  let most = 0;
  const gaveUp: number[] = [];
  for (const { jobs } of profiles) {
    const lastStartMs = jobs.at(-1)?.startMs ?? 0;
    for (const job of jobs) {
      most = Math.max(most, job.attempts);
      // What its caller did later shows that it was not about to try again.
      if (isRefused(job.last) && job.endMs <= lastStartMs) gaveUp.push(job.attempts);
    }
  }
  if (most <= 1 || gaveUp.length < 2) return null;
  const all = gaveUp.filter((attempts) => attempts === most);
  return all.length >= 0.8 * gaveUp.length ? most : null;
}
