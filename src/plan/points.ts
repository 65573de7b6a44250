// The points of a sweep: the values of each, the number of its runs, and what was measured there.
import { type FigureReference, isWithin, unitOf } from "../rules/figures.ts";
import type { FitError } from "../scenario/scenario.ts";
import type { Interval, PlanFigure, PlanPoint, PlanValue } from "../summary/plan-result.ts";
import type { Goal } from "./goals.ts";
import type { Variant } from "./job.ts";
import { heldTo, widened } from "./model-error.ts";
import {
  decide,
  type Outcomes,
  type PlanSteps,
  type RunTrial,
  type Sampling,
  stateOf,
  type Tried,
} from "./sampling.ts";
import { clopperPearson, meanOf } from "./statistics.ts";
import type { Vary } from "./vary.ts";

/** Tools that every part of a plan works with. */
export interface Workshop {
  readonly outcomes: Outcomes;
  readonly sampling: Sampling;
  /** Rules that tell whether points hold in most runs; equal to `sampling` if no more is asked. */
  readonly screen: Sampling;
  readonly goals: readonly Goal[];
  /** Error of the scenario's fit, by which intervals are widened. */
  readonly fitError: FitError | null;
  /** Figures that are measured, by name as written. */
  readonly figures: readonly (readonly [figure: string, reference: FigureReference])[];
}

const variantAt = (varies: readonly Vary[], values: readonly PlanValue[]): Variant => ({
  changes: varies.map(({ axis: { path } }, index) => ({ path, value: values[index] ?? "" })),
  trigger: null,
  windowMs: null,
});

/** Points that were tried, by their values. */
export class Points {
  readonly #shop: Workshop;
  readonly #varies: readonly Vary[];
  readonly #tried = new Map<string, { readonly values: readonly PlanValue[]; readonly tried: Tried }>();

  constructor(shop: Workshop, varies: readonly Vary[]) {
    this.#shop = shop;
    this.#varies = varies;
  }

  /** Tries points until each is decided; without goals, each as often as the first look needs. */
  *try(
    points: readonly (readonly PlanValue[])[],
    later: number,
    sampling = this.#shop.sampling,
  ): PlanSteps<readonly Tried[]> {
    const { outcomes, goals } = this.#shop;
    const variants = points.map((values) => variantAt(this.#varies, values));
    let results: readonly Tried[];
    if (goals.length > 0)
      results = yield* decide(
        variants.map((variant) => trialOf(this.#shop, variant)),
        outcomes,
        sampling,
        later,
      );
    else {
      const times = sampling.looks[0] as number;
      yield* outcomes.replicate(variants, times, later);
      results = variants.map(() => ({ held: 0, replications: times, state: "unclear" }));
    }
    for (const [index, values] of points.entries()) {
      const tried = results[index];
      if (tried !== undefined) this.#keep(values, tried);
    }
    return results;
  }

  /** Keeps a result. A screened point is judged by `sampling`, too; one that failed surely misses that as well. */
  #keep(values: readonly PlanValue[], tried: Tried): void {
    const { goals, sampling } = this.#shop;
    const { held, replications } = tried;
    const isJudged = goals.length === 0 || tried.state === "fails";
    const state = isJudged ? tried.state : stateOf(held, replications, sampling);
    this.#tried.set(JSON.stringify(values), { values, tried: { ...tried, state } });
  }

  /** Returns the points that hold in most runs, judged by all runs that they have. */
  holdingMostly(): (readonly PlanValue[])[] {
    const { screen } = this.#shop;
    return [...this.#tried.values()]
      .filter(({ tried: { held, replications } }) => stateOf(held, replications, screen) === "holds")
      .map(({ values }) => values);
  }

  triedAt(values: readonly PlanValue[]): Tried | null {
    return this.#tried.get(JSON.stringify(values))?.tried ?? null;
  }

  /** Returns the points in the order of the first axis' candidates, then the second's. */
  finish(): readonly PlanPoint[] {
    const places = this.#varies.map(
      ({ candidates }) => new Map(candidates.map((value, index) => [value, index])),
    );
    const rank = (values: readonly PlanValue[], axis: number): number =>
      places[axis]?.get(values[axis] ?? "") as number;
    return [...this.#tried.values()]
      .sort((a, b) => rank(a.values, 0) - rank(b.values, 0) || rank(a.values, 1) - rank(b.values, 1))
      .map(({ values, tried }) => this.#point(values, tried));
  }

  #point(values: readonly PlanValue[], { held, replications, state }: Tried): PlanPoint {
    const { goals, sampling } = this.#shop;
    const judged = goals.length > 0;
    return {
      values,
      replications,
      held: judged ? held : null,
      heldShare: judged ? clopperPearson(held, replications, sampling.confidence) : null,
      state: judged ? state : null,
      figures: figuresOf(this.#shop, variantAt(this.#varies, values), replications),
    };
  }
}

/** Returns the trial of a variant: whether all goals hold in a replication. */
export function trialOf({ outcomes, goals, figures, fitError }: Workshop, variant: Variant): RunTrial {
  const places = new Map(figures.map(([figure], index) => [figure, index]));
  return {
    variants: [variant],
    holds(replication) {
      const measured = outcomes.of(variant, replication).figures;
      return goals.every((goal) =>
        isWithin(goal, heldTo(measured[places.get(goal.figure) ?? -1] ?? null, goal, fitError)),
      );
    },
  };
}

/** Returns the part of an interval that a figure can reach: none is below 0, and no share above 1. */
const possible = (interval: Interval | null, name: FigureReference["name"]): Interval | null =>
  interval && {
    low: Math.max(0, interval.low),
    high: unitOf(name) === "share" ? Math.min(1, interval.high) : interval.high,
  };

/** Returns each figure over the replications of a variant. */
export function figuresOf(shop: Workshop, variant: Variant, replications: number): PlanFigure[] {
  const { outcomes, figures, sampling, fitError } = shop;
  const runs = Array.from(
    { length: replications },
    (_, replication) => outcomes.of(variant, replication).figures,
  );
  return figures.map(([figure, { name }], index) => {
    const values = runs.map((run) => run[index] ?? null).filter((value) => value !== null);
    const { mean, interval } = meanOf(values, sampling.confidence);
    const least = values.length === 0 ? null : Math.min(...values);
    const most = values.length === 0 ? null : Math.max(...values);
    return {
      figure,
      measured: values.length,
      mean,
      interval: possible(widened(interval, name, fitError), name),
      least,
      most,
    };
  });
}
