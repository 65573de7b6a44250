// Replications until a point is sure of itself: looked at after 8, 16, 32, ... runs, most runs where it is close.
import type { PlanState } from "../summary/plan-result.ts";
import { type JobOutcome, jobKey, type PlanJob, type Variant } from "./job.ts";
import { clopperPearson } from "./statistics.ts";

/** Jobs to be done, in any order, all before the next batch. */
export interface Batch {
  readonly jobs: readonly PlanJob[];
  /** About how many more jobs will follow; for people. */
  readonly later: number;
}

/**
 * A search as steps: it yields jobs and is given their outcomes in the same order. Whoever drives it may do them in
 * threads or read them from a file; what it returns depends on the outcomes alone.
 */
export type PlanSteps<T> = Generator<Batch, T, readonly JobOutcome[]>;

/** Rules by which a point is decided to hold or to fail. */
export interface Sampling {
  /** A point holds where its goals hold in more than this share of runs. */
  readonly share: number;
  /** A point fails where its goals hold in less than this share of runs; `share` where left out. */
  readonly failsBelow?: number;
  /** That a decided point is decided right. */
  readonly confidence: number;
  /** After how many replications a point is looked at; the last is the most there are. */
  readonly looks: readonly number[];
}

/**
 * When to look. Each look at the same data is another chance to err, so each has its part of the risk: with
 * confidence c and n looks a look decides at 1 - (1 - c) / n (Bonferroni's bound). The first look comes as soon as
 * runs that all agree tell more than half from less, so that hopeless points take few runs; what is to hold in a larger
 * share of runs is sure of it at a later one.
 * @param most replications of one point
 * @param share from 1/2, below 1
 * @throws RangeError where even `most` runs that all agree decide nothing; it says how many would
 */
export function samplingOf(most: number, confidence: number, share = 0.5): Sampling {
  const sampling = samplingWithin(most, confidence, share);
  if (sampling !== null) return sampling;
  throw new RangeError(`replications must be ${replicationsLeast(confidence, share)} or more, got ${most}`);
}

/** Returns the least number of runs that decide a point if all agree. */
export function replicationsLeast(confidence: number, share = 0.5): number {
  let most = 1;
  while (samplingWithin(most, confidence, share) === null) most += 1;
  return most;
}

function samplingWithin(most: number, confidence: number, share: number): Sampling | null {
  for (let first = 1; first <= most; first++) {
    const looks: number[] = [];
    for (let look = first; look < most; look *= 2) looks.push(look);
    looks.push(most);
    const half = { share: 0.5, confidence, looks };
    if (stateOf(first, first, half) !== "holds" || stateOf(0, first, half) !== "fails") continue;
    const sampling = { share, confidence, looks };
    return stateOf(most, most, sampling) === "holds" ? sampling : null;
  }
  return null;
}

/** Judges by `held` of `n` runs, at one look of the sampling's. */
export function stateOf(held: number, n: number, sampling: Sampling): PlanState {
  if (n === 0) return "unclear";
  const { share, failsBelow = share, confidence, looks } = sampling;
  const { low, high } = clopperPearson(held, n, 1 - (1 - confidence) / looks.length);
  return low > share ? "holds" : high < failsBelow ? "fails" : "unclear";
}

/**
 * Returns the rules for points on the way to an edge. They hold as `screen` says, but fail as soon as they surely miss
 * what is asked. A first look is added, at which a point none of whose runs holds fails.
 */
export function hastened(screen: Sampling, { share: failsBelow }: Sampling): Sampling {
  const [first = 1] = screen.looks;
  for (let look = 1; look < first; look++) {
    const sampling = { ...screen, failsBelow, looks: [look, ...screen.looks] };
    const holds = stateOf(first, first, sampling) === "holds";
    if (holds && stateOf(0, look, sampling) === "fails") return sampling;
  }
  return screen;
}

/** Outcomes by job, gathered once. */
export class Outcomes {
  readonly #known = new Map<string, JobOutcome>();

  get size(): number {
    return this.#known.size;
  }

  /** @throws RangeError where the job has not been done */
  of(variant: Variant, replication: number): JobOutcome {
    const key = jobKey({ variant, replication });
    const outcome = this.#known.get(key);
    if (outcome === undefined) throw new RangeError(`${key} has not been run`);
    return outcome;
  }

  /** Has these variants done so many times each; what is known is not done again. */
  *replicate(variants: readonly Variant[], times: number, later: number): PlanSteps<void> {
    const wanted = new Map<string, PlanJob>();
    for (const variant of variants)
      for (let replication = 0; replication < times; replication++) {
        const job = { variant, replication };
        const key = jobKey(job);
        if (!this.#known.has(key)) wanted.set(key, job);
      }
    if (wanted.size === 0) return;
    const outcomes = yield { jobs: [...wanted.values()], later };
    for (const [index, key] of [...wanted.keys()].entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) throw new RangeError(`${key} came back without an outcome`);
      this.#known.set(key, outcome);
    }
  }
}

/** One thing that holds in a run or does not. */
export interface RunTrial {
  /** The runs that one judgement needs. */
  readonly variants: readonly Variant[];
  /** Tells whether it held in a replication; asked when those runs are done. */
  holds(replication: number): boolean;
}

/** Returns in how many of the first runs it held. */
export function heldOf(trial: RunTrial, runs: number): number {
  let held = 0;
  for (let replication = 0; replication < runs; replication++) held += Number(trial.holds(replication));
  return held;
}

/** Outcome of a trial. */
export interface Tried {
  readonly held: number;
  readonly replications: number;
  readonly state: PlanState;
}

/**
 * Replicates trials until each is decided, or the most replications are done.
 * @param later about how many more trials will follow
 */
export function* decide(
  trials: readonly RunTrial[],
  outcomes: Outcomes,
  sampling: Sampling,
  later: number,
): PlanSteps<Tried[]> {
  const tried: Tried[] = trials.map(() => ({ held: 0, replications: 0, state: "unclear" }));
  for (const look of sampling.looks) {
    const open = trials.filter((_, index) => tried[index]?.state === "unclear");
    if (open.length === 0) break;
    yield* outcomes.replicate(
      open.flatMap(({ variants }) => variants),
      look,
      later * (sampling.looks[0] as number),
    );
    for (const [index, trial] of trials.entries()) {
      if (tried[index]?.state !== "unclear") continue;
      const held = heldOf(trial, look);
      tried[index] = { held, replications: look, state: stateOf(held, look, sampling) };
    }
  }
  return tried;
}
