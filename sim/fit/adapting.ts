// Callers that adapt their pace: after a refusal they leave longer pauses, call after call, and shorten them again with
// time. The fit looks for the numbers of `worker({ adapt })` that explain the pauses best.

import type { AdaptInput } from "../../src/scenario/behaviours/adapt.ts";
import { exp, ln } from "../../src/scenario/elementary.ts";
import { percent } from "./backtest-coverage.ts";
import { minuteMs } from "./days.ts";
import { isFailed, isRefused, type RecordedJob } from "./jobs.ts";
import type { FittedAdapt, FittedBehaviour } from "./model.ts";
import type { Profile } from "./profile.ts";
import { absenceOf, type Sessions } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { SortedSample, sumOf } from "./statistics.ts";

/** Number of pauses before and after a refused job that are compared. */
const pausesBeside = 5;
/** Least number of refused jobs that tell. */
const refusedLeast = 30;
/** Least ratio of the pauses after refusals to those before. */
const muchSlower = 1.5;

/** A caller whose pauses grow by refusals. */
export interface Adapting {
  readonly user: string;
  /** Middle ratio of the pauses after a refused job to those before. */
  readonly ratio: number;
}

/**
 * Returns the callers that are much slower after refusals than before, the slowest first; none if most refusals are of
 * others. Of some callers, calls are slower after refusals because a burst that was refused ends.
 */
export function adaptingCallers(profiles: readonly Profile[]): readonly Adapting[] {
  const refusedOf = (some: readonly { readonly refused: number }[]): number =>
    sumOf(some.map(({ refused }) => refused));
  const adapting = profiles
    .map((profile) => ({
      user: profile.caller.user,
      refused: profile.refused,
      ratio: middleOf(slowdowns(profile)),
    }))
    .filter(({ ratio }) => ratio >= muchSlower)
    .toSorted((a, b) => b.ratio - a.ratio);
  return refusedOf(adapting) > refusedOf(profiles) / 2 ? adapting : [];
}

/** Returns the middle of such ratios; 1 if too few were refused. */
const middleOf = (ratios: readonly number[]): number =>
  ratios.length < refusedLeast ? 1 : new SortedSample(ratios).median;

/** Returns the ratios of pauses after refused jobs to pauses before. */
function slowdowns({ jobs, pausesMs }: Profile): readonly number[] {
  const awayMs = absenceOf(pausesMs);
  const pauseBefore = (place: number): number => {
    const [job, before] = [jobs[place], jobs[place - 1]];
    return job === undefined || before === undefined ? Number.NaN : job.startMs - before.endMs;
  };
  const beside = (place: number): number | null => {
    const pauses = Array.from({ length: pausesBeside }, (_, index) => pauseBefore(place + index));
    return pauses.every((ms) => ms > 0 && (awayMs === 0 || ms <= awayMs))
      ? new SortedSample(pauses).median
      : null;
  };
  return jobs.flatMap(({ first }, place) => {
    if (!isRefused(first)) return [];
    const [before, after] = [beside(place - pausesBeside), beside(place + 1)];
    return before === null || after === null ? [] : [after / before];
  });
}

type AdaptNumbers = Required<AdaptInput>;

export interface AdaptFit {
  readonly adapt: FittedAdapt;
  /** Pauses at full pace. */
  readonly think: FittedSpread;
}

/** A job of a caller, seen as a step of its pace. */
interface Step {
  /** Number of refusals and failures of the job. */
  readonly refusals: number;
  /** Wait from the first refusal to the only retry, ms; `null` if there was none, or several. */
  readonly waitMs: number | null;
  /** Pause after the job, ms; `null` if the session ended. */
  readonly pauseMs: number | null;
}

/** Number of pauses that are enough to look for the best numbers. */
const pausesEnough = 20_000;
/** Share of the scatter of pauses that may be left. */
const scatterMost = 0.5;
/** Largest ratio, either way, between waits and pauses at the same pace. */
const waitsApart = 1.5;

/**
 * Fits a pace that adapts to callers who are alike; `null` if they are not slower after refusals, or if such a pace does
 * not explain their pauses: at full pace, they have to scatter far less. Calls made together show no such pace.
 * @param cut the callers' jobs in sessions; the pace goes on from one to the next
 */
export function adaptOf(
  profiles: readonly Profile[],
  cut: readonly Sessions[],
  slackMs: number,
): AdaptFit | null {
  const single = profiles.every(({ jobs, runs }) => jobs.length === runs.length);
  if (!single || middleOf(profiles.flatMap(slowdowns)) < muchSlower) return null;
  const callers = profiles.map((profile, index) => stepsOf(profile.jobs, cut[index] as Sessions));
  const some: (readonly Step[])[] = [];
  for (const [index, steps] of callers.entries()) {
    if (sumOf(some.map(({ length }) => length)) >= pausesEnough) break;
    if ((profiles[index] as Profile).refused > 0) some.push(steps);
  }
  const scatterOf = (numbers: AdaptNumbers): number => scatter(atFullPace(some, numbers).pauses);
  const numbers = bestOf(scatterOf);
  if (scatterOf(numbers) > scatterMost * scatterOf({ decrease: 1, increase: 0, least: 1 })) return null;
  const { pauses, waits, slowest } = atFullPace(callers, numbers);
  const full = pauses.map((log) => Math.round(exp(log)));
  const apart = Math.abs(new SortedSample(waits).median - new SortedSample(pauses).median);
  const isAlike = apart < ln(waitsApart) && scatter(waits) < 2 * scatter(pauses);
  return {
    adapt: {
      decrease: rounded(numbers.decrease),
      increase: rounded(numbers.increase),
      // Nobody knows whether callers would slow down further than they ever had to.
      least: rounded(Math.max(numbers.least, slowest)),
      waits: waits.length >= refusedLeast && isAlike,
    },
    think: spreadOf(full, 0, slackMs),
  };
}

/** Returns how refusals slow a behaviour down; `undefined` if they do not. */
export function adaptIn(behaviour: FittedBehaviour): FittedAdapt | undefined {
  const loop = "of" in behaviour ? behaviour.of : behaviour;
  return loop.kind === "worker" ? loop.adapt : undefined;
}

/** Says in words what a pace does, after "pauses". */
export const adaptText = ({ decrease, increase, least }: FittedAdapt): string =>
  `that adapt: a refusal leaves ${percent(decrease)} of the pace, at least ${percent(least)} of the full one, and each minute of pauses adds ${percent(increase)}`;

function stepsOf(jobs: readonly RecordedJob[], { sessions, pausesMs }: Sessions): readonly Step[] {
  let [place, pause] = [0, 0];
  return sessions.flatMap(({ spells }) =>
    Array.from({ length: spells }, (_, index): Step => {
      const { attempts, first, last } = jobs[place++] as RecordedJob;
      return {
        refusals: attempts - 1 + Number(isRefused(last) || isFailed(last)),
        waitMs: attempts === 2 && isRefused(first) ? last.atMs - first.endMs : null,
        pauseMs: index + 1 === spells ? null : (pausesMs[pause++] as number),
      };
    }),
  );
}

/** Returns the logarithms of pauses and waits as they would be at full pace, and the least share of the pace. */
function atFullPace(
  callers: readonly (readonly Step[])[],
  { decrease, increase, least }: AdaptNumbers,
): { readonly pauses: readonly number[]; readonly waits: readonly number[]; readonly slowest: number } {
  const pauses: number[] = [];
  const waits: number[] = [];
  let slowest = 1;
  for (const steps of callers) {
    let share = 1;
    for (const { refusals, waitMs, pauseMs } of steps) {
      for (let refusal = 0; refusal < refusals; refusal++) share = Math.max(least, share * decrease);
      slowest = Math.min(slowest, share);
      if (waitMs !== null) waits.push(ln(Math.max(1, waitMs) * share));
      if (pauseMs === null) continue;
      pauses.push(ln(Math.max(1, pauseMs) * share));
      share = Math.min(1, share + (increase * pauseMs) / minuteMs);
    }
  }
  return { pauses, waits, slowest };
}

const rounded = (value: number): number => Number(value.toPrecision(2));
const scatter = (logs: readonly number[]): number => new SortedSample(logs).deviation ** 2;

/** First numbers to try, and the factors by which better ones are looked for. */
const decreases = [0.3, 0.5, 0.7];
const increases = [0.001, 0.01, 0.1, 1];
const leasts = [0.01, 0.03, 0.1, 0.3];
/** Share of the full pace per minute that is as good as all of it at once. */
const increaseMost = 100;
const factors = [2, 1.4, 1.2, 1.1, 1.05];

/** Returns the numbers of least scatter: the best of a coarse grid, then better ones by ever smaller steps. */
function bestOf(scatterOf: (numbers: AdaptNumbers) => number): AdaptNumbers {
  let best: AdaptNumbers = { decrease: 0.5, increase: 0.1, least: 0.1 };
  let leastScatter = scatterOf(best);
  const isBetter = (numbers: AdaptNumbers): boolean => {
    if (numbers.decrease >= 1 || numbers.least > 1 || numbers.increase > increaseMost) return false;
    const found = scatterOf(numbers);
    if (found >= leastScatter) return false;
    [best, leastScatter] = [numbers, found];
    return true;
  };
  for (const decrease of decreases)
    for (const increase of increases) for (const least of leasts) isBetter({ decrease, increase, least });
  const moves = (["decrease", "increase", "least"] as const).flatMap((name) => [
    (by: number) => ({ ...best, [name]: best[name] * by }),
    (by: number) => ({ ...best, [name]: best[name] / by }),
  ]);
  for (const factor of factors) while (moves.map((move) => isBetter(move(factor))).includes(true));
  return best;
}
