// Replications until a point is decided. Looks come after 8, 16, 32, ... runs, and close points take most runs. Goals
// for more than half of the runs have a look every 8 runs. They end early if more runs would decide nothing.
import type { PlanState } from "../summary/plan-result.ts";
import { type JobOutcome, jobKey, type PlanJob, type Variant } from "./job.ts";
import { clopperPearson } from "./statistics.ts";

/** Jobs to be done in any order, all before the next batch. */
export interface Batch {
  readonly jobs: readonly PlanJob[];
  /** Rough number of jobs that will follow, for people. */
  readonly later: number;
}

/**
 * A search as steps: it yields jobs and gets their outcomes in the same order. Its driver may do them in threads or
 * read them from a file. The result depends on the outcomes alone.
 */
export type PlanSteps<T> = Generator<Batch, T, readonly JobOutcome[]>;

/** Rules by which a point is decided to hold or to fail. */
export interface Sampling {
  /** A point holds if its goals hold in more than this share of runs. */
  readonly share: number;
  /** A point fails if its goals hold in less than this share of runs. Default: `share`. */
  readonly failsBelow?: number;
  /** Chance that a decision is right. */
  readonly confidence: number;
  /** Numbers of replications after which a point is looked at. The last is the greatest number. */
  readonly looks: readonly number[];
  /** Bounds of each look. Default: each look decides by itself, with an equal part of the risk. */
  readonly bounds?: readonly Bound[];
}

/** Numbers of runs that decide a point at a look. */
interface Bound {
  /** Least number of runs that held with which the point holds. */
  readonly holds: number;
  /** Greatest number of runs that held with which the point fails. */
  readonly fails: number;
}

/** Greatest number of replications of a point. */
export const replicationsMost = 10_000;

/** Greatest number of looks at goals for more than half of the runs. */
const looksMost = 16;

/**
 * Returns when to look. Each look at the same data is another chance to err. Goals for half of the runs are looked at
 * when the runs have doubled. With confidence c and n looks, each decides at 1 - (1 - c) / n (Bonferroni's bound). The
 * first look comes as soon as equal runs tell more than half from less. Goals for a larger share of runs have more
 * looks, by bounds that share the risk (`boundsOf`).
 * @param most replications of one point
 * @param share from 1/2, below 1
 * @throws RangeError if even `most` equal runs decide nothing, saying how many would
 */
export function samplingOf(most: number, confidence: number, share = 0.5): Sampling {
  const least = replicationsLeast(confidence, share);
  if (most < least) throw new RangeError(`replications must be ${least} or more, got ${most}`);
  const halves = halvesWithin(most, confidence);
  if (share === 0.5) return halves;
  const step = Math.max(halves.looks[0] as number, Math.ceil(most / looksMost));
  const looks = Array.from({ length: Math.ceil(most / step) }, (_, index) =>
    Math.min(most, step * (index + 1)),
  );
  return { share, confidence, looks, bounds: boundsOf(looks, share, 1 - confidence) };
}

/** Returns the least number of runs that decide a point if all agree. */
export function replicationsLeast(confidence: number, share = 0.5): number {
  const risk = 1 - confidence;
  let [most, ofHalves, ofShare] = [0, 1, 1];
  for (; ofHalves > risk / 2 || (share > 0.5 && ofShare > risk); most++) {
    ofHalves *= 0.5;
    ofShare *= share;
  }
  return most;
}

/** Returns the rules for goals that must hold in more than half of the runs. */
function halvesWithin(most: number, confidence: number): Sampling {
  for (let first = 1; ; first++) {
    const looks: number[] = [];
    for (let look = first; look < most; look *= 2) looks.push(look);
    looks.push(most);
    const sampling = { share: 0.5, confidence, looks };
    if (stateOf(first, first, sampling) === "holds") return sampling;
  }
}

/**
 * Returns the bounds of each look. All looks together decide wrongly with a chance of at most `risk`. A wrong decision
 * calls a point holding although it holds in at most `share` of all runs. Or it calls one failing although it holds in
 * at least as many. A look may use an equal part of the risk, and the unused parts of earlier looks. `chances` are
 * exact: the chance of each number of runs that held, if no earlier look decided.
 */
export function boundsOf(looks: readonly number[], share: number, risk: number): Bound[] {
  const chances = new Float64Array((looks.at(-1) as number) + 1);
  chances[0] = 1;
  let [runs, holding, failing] = [0, 0, 0];
  return looks.map((look, index) => {
    for (; runs < look; runs++)
      for (let held = runs + 1; held >= 0; held--)
        chances[held] = (chances[held] as number) * (1 - share) + (chances[held - 1] ?? 0) * share;
    const part = (risk * (index + 1)) / looks.length;
    const chance = (held: number): number => chances[held] ?? Number.POSITIVE_INFINITY;
    let holds = look + 1;
    for (; holding + chance(holds - 1) <= part; holds--) holding += chance(holds - 1);
    let fails = -1;
    for (; failing + chance(fails + 1) <= part; fails++) failing += chance(fails + 1);
    chances.fill(0, holds).fill(0, 0, fails + 1);
    return { holds, fails };
  });
}

/** Judges a point by `held` of `n` runs, at one look of the sampling. */
export function stateOf(held: number, n: number, sampling: Sampling): PlanState {
  if (n === 0) return "unclear";
  const { share, failsBelow = share, confidence, looks, bounds } = sampling;
  const bound = bounds?.[looks.indexOf(n)];
  if (bound !== undefined) return held >= bound.holds ? "holds" : held <= bound.fails ? "fails" : "unclear";
  const { low, high } = clopperPearson(held, n, 1 - (1 - confidence) / looks.length);
  return low > share ? "holds" : high < failsBelow ? "fails" : "unclear";
}

/** Tells whether more runs may decide a point: it can still hold, or its present share fails at the last look. */
function mayDecide({ held, replications, state }: Tried, { looks, bounds }: Sampling): boolean {
  const [most, last] = [looks.at(-1) as number, bounds?.at(-1)];
  if (state !== "unclear" || last === undefined) return state === "unclear";
  return held + most - replications >= last.holds || (held / replications) * most <= last.fails;
}

/**
 * Returns the rules for points on the way to an edge. They hold by `screen`, but fail as soon as they surely miss the
 * asked share. An additional first look fails a point without a run that holds.
 */
export function hastened(screen: Sampling, { share: failsBelow }: Sampling): Sampling {
  const first = screen.looks[0] as number;
  for (let look = 1; look < first; look++) {
    const sampling = { ...screen, failsBelow, looks: [look, ...screen.looks] };
    const holds = stateOf(first, first, sampling) === "holds";
    if (holds && stateOf(0, look, sampling) === "fails") return sampling;
  }
  return screen;
}

/** Outcomes by job, each gathered once. */
export class Outcomes {
  readonly #known = new Map<string, JobOutcome>();

  get size(): number {
    return this.#known.size;
  }

  /** @throws RangeError if the job has not been done */
  of(variant: Variant, replication: number): JobOutcome {
    const key = jobKey({ variant, replication });
    const outcome = this.#known.get(key);
    if (outcome === undefined) throw new RangeError(`${key} has not been run`);
    return outcome;
  }

  /** Has each variant run `times` times. Known outcomes are not run again. */
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

/** A condition that holds in a run or does not. */
export interface RunTrial {
  /** Runs that one judgement needs. */
  readonly variants: readonly Variant[];
  /** Tells whether the condition held in a replication. It is asked once those runs are done. */
  holds(replication: number): boolean;
}

/** Returns in how many of the first runs the condition held. */
export function heldOf(trial: RunTrial, runs: number): number {
  let held = 0;
  for (let replication = 0; replication < runs; replication++) held += Number(trial.holds(replication));
  return held;
}

export interface Tried {
  readonly held: number;
  readonly replications: number;
  readonly state: PlanState;
}

/**
 * Replicates trials until each is decided, or has the greatest number of replications.
 * @param later rough number of trials that will follow
 */
export function* decide(
  trials: readonly RunTrial[],
  outcomes: Outcomes,
  sampling: Sampling,
  later: number,
): PlanSteps<Tried[]> {
  const tried: Tried[] = trials.map(() => ({ held: 0, replications: 0, state: "unclear" }));
  for (const look of sampling.looks) {
    const open = [...trials.entries()].filter(([index]) => mayDecide(tried[index] as Tried, sampling));
    if (open.length === 0) break;
    yield* outcomes.replicate(
      open.flatMap(([, { variants }]) => variants),
      look,
      later * (sampling.looks[0] as number),
    );
    for (const [index, trial] of open) {
      const held = heldOf(trial, look);
      tried[index] = { held, replications: look, state: stateOf(held, look, sampling) };
    }
  }
  return tried;
}
