// The result of a plan: the question, every point that was measured, and the answer with its error bars. Plain data,
// the shape of plan.json; the report draws it, and the same question gives the same bytes on any number of workers.

/** A value that was tried: a count, milliseconds, or a choice in words. */
export type PlanValue = number | string;

/** Both ends included. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Varied member: a path into the scenario, and the values that it may take. */
export interface PlanAxis {
  /** As it was written: `agents.clients`, `rules.organization.rest.limit`. */
  readonly path: string;
  /** `count`: whole numbers; `ms`: durations; `share`: 0 to 1; `choice`: words, in no order. */
  readonly unit: "count" | "ms" | "share" | "choice";
  /** The range as it was written: `10..500`, `none,waitReset`. */
  readonly range: string;
  /** The first and the last value of the range. */
  readonly from: PlanValue;
  readonly to: PlanValue;
  /** Number of values in the range. Those that were tried are the points'. */
  readonly values: number;
}

export interface PlanGoal {
  /** As it was written: `agents.waitP95Ms`. */
  readonly figure: string;
  /** As it was written: `<2s`. */
  readonly bound: string;
  /** The bound's amount in the figure's unit. */
  readonly value: number;
}

export interface PlanQuestion {
  readonly scenario: string;
  readonly description: string | null;
  /** Replication r has the seed that `replicationSeed(seed, r)` makes, the same at every point. */
  readonly seed: number;
  readonly durationMs: number;
  readonly vary: readonly PlanAxis[];
  /** All of them must hold in a run for the run to count as held. */
  readonly goals: readonly PlanGoal[];
  /** Which end of what holds is looked for; `null` where nothing is searched. */
  readonly find: "largest" | "smallest" | null;
  /** A point holds where the goals hold in more than this share of runs. */
  readonly share: number;
  /** Of each point's decision and of each interval: 0.95. */
  readonly confidence: number;
  /** The most replications of a point. */
  readonly replicationsMost: number;
  /** Command that repeats the plan. `null` if the command line did not ask. */
  readonly command: string | null;
}

/** One figure over a point's replications. */
export interface PlanFigure {
  /** As it was asked for: `refusedShare`, `agents.waitP95Ms`; its unit is the figure's. */
  readonly figure: string;
  /** Replications in which there was something to measure; the numbers are over these. */
  readonly measured: number;
  readonly mean: number | null;
  /** Student's t for the mean, widened by the error of a fitted scenario (`fitError`); `null` of fewer than two. */
  readonly interval: Interval | null;
  readonly least: number | null;
  readonly most: number | null;
}

/** `unclear`: the replications do not tell at this confidence. */
export type PlanState = "holds" | "fails" | "unclear";

/** One point of the sweep. */
export interface PlanPoint {
  /** In the order of `question.vary`. */
  readonly values: readonly PlanValue[];
  readonly replications: number;
  /** In how many of them all goals held; `null` where there are no goals. */
  readonly held: number | null;
  /**
   * Clopper-Pearson for the share of runs in which they hold. `state` asks for more: a point is looked at several
   * times, and each look has its part of the risk.
   */
  readonly heldShare: Interval | null;
  readonly state: PlanState | null;
  readonly figures: readonly PlanFigure[];
}

/** A value and what was found of it. */
export interface PlanEvidence {
  readonly value: PlanValue;
  readonly state: PlanState;
  readonly held: number;
  readonly replications: number;
}

/** Answer to the question. */
export type PlanAnswer =
  | {
      readonly kind: "value";
      /** The largest (smallest) value whose goals surely hold in more than `share` of its runs: `holds`. */
      readonly value: number;
      /** The goals surely hold at `holds` and surely not at `fails`. */
      readonly holds: number;
      readonly fails: number;
    }
  /** The goals hold wherever they were tried, or nowhere; `unclear` values aside. */
  | { readonly kind: "all" | "none" }
  /** Holding and failing values alternate: neither end of a range means anything. */
  | { readonly kind: "not-monotone"; readonly evidence: readonly PlanEvidence[] }
  | {
      readonly kind: "too-noisy";
      /** The answer lies between a value that holds and one that fails; `null` where none was sure. */
      readonly holds: number | null;
      readonly fails: number | null;
      /** Further runs of each unclear value that would do if they went on as they did. `null`: more than can be run. */
      readonly replicationsMore: number | null;
    }
  /** Choices have no order: which of them hold, in the order they were given. */
  | {
      readonly kind: "choices";
      readonly holding: readonly string[];
      readonly failing: readonly string[];
      readonly unclear: readonly string[];
    }
  /** Two varies: see `heatMap`. */
  | {
      readonly kind: "frontier";
      readonly holding: number;
      readonly failing: number;
      readonly unclear: number;
    };

/** Point along y, at one x, at which goals stop holding. */
export interface PlanFrontierPoint {
  readonly x: PlanValue;
  /** The last y (in the order searched) that holds, and the first that fails after it. */
  readonly holds: PlanValue | null;
  readonly fails: PlanValue | null;
  /** True if holding and failing do not alternate in this column. */
  readonly monotone: boolean;
}

/** Two varies: `question.vary[0]` along x, `question.vary[1]` along y. */
export interface PlanHeatMap {
  readonly xs: readonly PlanValue[];
  readonly ys: readonly PlanValue[];
  /** Rows by y, then x: places in `points`. */
  readonly cells: readonly (readonly number[])[];
  /** Which figures of the points are worth a map; the first is drawn first. */
  readonly figures: readonly string[];
  /** Empty where there are no goals or y is a choice. */
  readonly frontier: readonly PlanFrontierPoint[];
}

/** One size of a trigger. */
export interface PlanTrigger {
  /** Ms of outage, or calls of a burst. */
  readonly size: number;
  readonly replications: number;
  /** In how many the load recovered by the end of the run. */
  readonly recovered: number;
  /** Clopper-Pearson for the share of runs that recover. */
  readonly recoveredShare: Interval;
  /** `holds`: it recovers. */
  readonly state: PlanState;
  /** Windows from the trigger's end until it was back, over the runs that recovered; `null` of none. */
  readonly windowsToRecover: number | null;
}

/** Mean share of calls that were refused or not answered, window by window. */
export interface PlanStormSeries {
  /** The trigger's size; 0 for the run without. */
  readonly size: number;
  readonly shares: readonly (number | null)[];
}

/** Does the load recover when the trigger is over? */
export interface PlanStorm {
  readonly trigger: "outage" | "burst";
  readonly unit: "ms" | "count";
  /** When the trigger begins, ms from the run's start. */
  readonly atMs: number;
  /** The windows that recovery is measured in, ms. */
  readonly windowMs: number;
  /** Within how many windows after the trigger it must be back; `null`: by the end of the run. */
  readonly withinWindows: number | null;
  /** `value`: `answer.fails` is the smallest trigger that it does not recover from, `answer.holds` one it does. */
  readonly answer: PlanAnswer;
  readonly from: number;
  readonly to: number;
  /** By size. */
  readonly triggers: readonly PlanTrigger[];
  /** Without a trigger, and with the triggers on both sides of the answer. */
  readonly series: readonly PlanStormSeries[];
}

/** One way to run it. */
export interface PlanAlternative {
  /** Whose policy was changed; `null` where only limits were, or nothing. */
  readonly population: string | null;
  /** `its own (wait-reset-organization)`, `none`, `waitReset+0..5s`. */
  readonly policy: string;
  /** `as they are`, `+50%`, `x2`. */
  readonly limits: string;
  /** The scenario as it stands. */
  readonly asIs: boolean;
  readonly replications: number;
  /** In how many of them all goals held; `null` where there are no goals. */
  readonly held: number | null;
  readonly figures: readonly PlanFigure[];
}

export interface PlanComparison {
  /** The populations that are refused as things stand, most refused first. */
  readonly populations: readonly string[];
  readonly alternatives: readonly PlanAlternative[];
}

export interface PlanResult {
  readonly format: "spillway-plan";
  readonly version: 1;
  readonly question: PlanQuestion;
  /** By their values, in the order of the first axis, then the second. */
  readonly points: readonly PlanPoint[];
  /** `null` where nothing was to hold. */
  readonly answer: PlanAnswer | null;
  readonly heatMap: PlanHeatMap | null;
  readonly storm: PlanStorm | null;
  readonly comparison: PlanComparison | null;
  /** Number of runs that were simulated in all. */
  readonly simulations: number;
  /** For people, the answer first; each a sentence. */
  readonly sentences: readonly string[];
  /** Notes for the reader: defaults that were taken, calls that can never be admitted. */
  readonly notes: readonly string[];
}
