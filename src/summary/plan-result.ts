// The result of a plan: the question, every point that was measured, and the answer with its error bars. Plain data,
// the shape of plan.json; the report draws it, and the same question gives the same bytes on any number of workers.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import { amount, maybe, text, version, whole, yes } from "../trace/shapes.ts";

/** A value that was tried: a count, milliseconds, or a choice in words. */
const value = v.union([amount, text], "a number or text");
export type PlanValue = Shape<typeof value>;

/** Both ends included. */
const interval = v.object({ low: amount, high: amount });
export type Interval = Shape<typeof interval>;

/** `unclear`: the replications do not tell at this confidence. */
const state = v.picklist(["holds", "fails", "unclear"], '"holds", "fails" or "unclear"');
export type PlanState = Shape<typeof state>;

/** Varied member: a path into the scenario, and the values that it may take. */
const axis = v.object({
  /** As it was written: `agents.clients`, `rules.organization.rest.limit`. */
  path: text,
  /** `count`: whole numbers; `ms`: durations; `share`: 0 to 1; `choice`: words, in no order. */
  unit: v.picklist(["count", "ms", "share", "choice"]),
  /** The range as it was written: `10..500`, `none,waitReset`. */
  range: text,
  /** The first and the last value of the range. */
  from: value,
  to: value,
  /** Number of values in the range. Those that were tried are the points'. */
  values: whole,
});
export type PlanAxis = Shape<typeof axis>;

const goal = v.object({
  /** As it was written: `agents.waitP95Ms`. */
  figure: text,
  /** As it was written: `<2s`. */
  bound: text,
  /** The bound's amount in the figure's unit. */
  value: amount,
});
export type PlanGoal = Shape<typeof goal>;

const question = v.object({
  scenario: text,
  description: v.nullable(text),
  /** Replication r has the seed that `replicationSeed(seed, r)` makes, the same at every point. */
  seed: whole,
  durationMs: amount,
  vary: v.array(axis),
  /** All of them must hold in a run for the run to count as held. */
  goals: v.array(goal),
  /** Which end of what holds is looked for; `null` where nothing is searched. */
  find: v.nullable(v.picklist(["largest", "smallest"])),
  /** A point holds where the goals hold in more than this share of runs. */
  share: amount,
  /** Of each point's decision and of each interval: 0.95. */
  confidence: amount,
  /** The most replications of a point. */
  replicationsMost: whole,
  /** Command that repeats the plan. `null` if the command line did not ask. */
  command: v.nullable(text),
});
export type PlanQuestion = Shape<typeof question>;

/** One figure over a point's replications. */
const figure = v.object({
  /** As it was asked for: `refusedShare`, `agents.waitP95Ms`; its unit is the figure's. */
  figure: text,
  /** Replications in which there was something to measure; the numbers are over these. */
  measured: whole,
  mean: maybe,
  /** Student's t for the mean, widened by the error of a fitted scenario (`fitError`); `null` of fewer than two. */
  interval: v.nullable(interval),
  least: maybe,
  most: maybe,
});
export type PlanFigure = Shape<typeof figure>;

/** One point of the sweep. */
const point = v.object({
  /** In the order of `question.vary`. */
  values: v.array(value),
  replications: whole,
  /** In how many of them all goals held; `null` where there are no goals. */
  held: v.nullable(whole),
  /**
   * Clopper-Pearson for the share of runs in which they hold. `state` asks for more: a point is looked at several
   * times, and each look has its part of the risk.
   */
  heldShare: v.nullable(interval),
  state: v.nullable(state),
  figures: v.array(figure),
});
export type PlanPoint = Shape<typeof point>;

/** A value and what was found of it. */
const evidence = v.object({ value, state, held: whole, replications: whole });
export type PlanEvidence = Shape<typeof evidence>;

/** Answer to the question. */
const answer = v.variant("kind", [
  v.object({
    kind: v.literal("value"),
    /** The largest (smallest) value whose goals surely hold in more than `share` of its runs: `holds`. */
    value: amount,
    /** The goals surely hold at `holds` and surely not at `fails`. */
    holds: amount,
    fails: amount,
  }),
  /** The goals hold wherever they were tried, or nowhere; `unclear` values aside. */
  v.object({ kind: v.picklist(["all", "none"]) }),
  /** Holding and failing values alternate: neither end of a range means anything. */
  v.object({ kind: v.literal("not-monotone"), evidence: v.array(evidence) }),
  v.object({
    kind: v.literal("too-noisy"),
    /** The answer lies between a value that holds and one that fails; `null` where none was sure. */
    holds: maybe,
    fails: maybe,
    /** Further runs of each unclear value that would do if they went on as they did. `null`: more than can be run. */
    replicationsMore: maybe,
  }),
  /** Choices have no order: which of them hold, in the order they were given. */
  v.object({
    kind: v.literal("choices"),
    holding: v.array(text),
    failing: v.array(text),
    unclear: v.array(text),
  }),
  /** Two varies: see `heatMap`. */
  v.object({ kind: v.literal("frontier"), holding: whole, failing: whole, unclear: whole }),
]);
export type PlanAnswer = Shape<typeof answer>;

/** Point along y, at one x, at which goals stop holding. */
const frontierPoint = v.object({
  x: value,
  /** The last y (in the order searched) that holds, and the first that fails after it. */
  holds: v.nullable(value),
  fails: v.nullable(value),
  /** True if holding and failing do not alternate in this column. */
  monotone: yes,
});
export type PlanFrontierPoint = Shape<typeof frontierPoint>;

/** Two varies: `question.vary[0]` along x, `question.vary[1]` along y. */
const heatMap = v.object({
  xs: v.array(value),
  ys: v.array(value),
  /** Rows by y, then x: places in `points`. */
  cells: v.array(v.array(whole)),
  /** Which figures of the points are worth a map; the first is drawn first. */
  figures: v.array(text),
  /** Empty where there are no goals or y is a choice. */
  frontier: v.array(frontierPoint),
});
export type PlanHeatMap = Shape<typeof heatMap>;

/** One size of a trigger. */
const trigger = v.object({
  /** Ms of outage, or calls of a burst. */
  size: amount,
  replications: whole,
  /** In how many the load recovered by the end of the run. */
  recovered: whole,
  /** Clopper-Pearson for the share of runs that recover. */
  recoveredShare: interval,
  /** `holds`: it recovers. */
  state,
  /** Windows from the trigger's end until it was back, over the runs that recovered; `null` of none. */
  windowsToRecover: maybe,
});
export type PlanTrigger = Shape<typeof trigger>;

/** Mean share of calls that were refused or not answered, window by window; the size is 0 for the run without. */
const stormSeries = v.object({ size: amount, shares: v.array(maybe) });
export type PlanStormSeries = Shape<typeof stormSeries>;

/** Does the load recover when the trigger is over? */
const storm = v.object({
  trigger: v.picklist(["outage", "burst"]),
  unit: v.picklist(["ms", "count"]),
  /** When the trigger begins, ms from the run's start. */
  atMs: amount,
  /** The windows that recovery is measured in, ms. */
  windowMs: amount,
  /** Within how many windows after the trigger it must be back; `null`: by the end of the run. */
  withinWindows: maybe,
  /** `value`: `answer.fails` is the smallest trigger that it does not recover from, `answer.holds` one it does. */
  answer,
  from: amount,
  to: amount,
  /** By size. */
  triggers: v.array(trigger),
  /** Without a trigger, and with the triggers on both sides of the answer. */
  series: v.array(stormSeries),
});
export type PlanStorm = Shape<typeof storm>;

/** One way to run it. */
const alternative = v.object({
  /** Whose policy was changed; `null` where only limits were, or nothing. */
  population: v.nullable(text),
  /** `its own (wait-reset-organization)`, `none`, `waitReset+0..5s`. */
  policy: text,
  /** `as they are`, `+50%`, `x2`. */
  limits: text,
  /** The scenario as it stands. */
  asIs: yes,
  replications: whole,
  /** In how many of them all goals held; `null` where there are no goals. */
  held: v.nullable(whole),
  figures: v.array(figure),
});
export type PlanAlternative = Shape<typeof alternative>;

const comparison = v.object({
  /** The populations that are refused as things stand, most refused first. */
  populations: v.array(text),
  alternatives: v.array(alternative),
});
export type PlanComparison = Shape<typeof comparison>;

export const planSchema = v.object({
  format: v.literal("spillway-plan", '"spillway-plan"'),
  version,
  question,
  /** By their values, in the order of the first axis, then the second. */
  points: v.array(point),
  /** `null` where nothing was to hold. */
  answer: v.nullable(answer),
  heatMap: v.nullable(heatMap),
  storm: v.nullable(storm),
  comparison: v.nullable(comparison),
  /** Number of runs that were simulated in all. */
  simulations: whole,
  /** For people, the answer first; each a sentence. */
  sentences: v.array(text),
  /** Notes for the reader: defaults that were taken, calls that can never be admitted. */
  notes: v.array(text),
});
export type PlanResult = Shape<typeof planSchema>;
