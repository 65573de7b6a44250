// The result of a plan: the question, every point that was measured, and the answer with its error bars. Plain data,
// the shape of plan.json; the report draws it, and the same question gives the same bytes on any number of workers.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import { amount, maybe, text, version, whole, yes } from "../trace/shapes.ts";

/** A value that was tried: a count, milliseconds, or a choice in words. */
const value = v.union([amount, text], "a number or text");
export type PlanValue = Shape<typeof value>;

/** Range that includes both ends. */
const interval = v.object({ low: amount, high: amount });
export type Interval = Shape<typeof interval>;

/** Decision on a point; `unclear`: the replications do not decide at this confidence. */
const state = v.picklist(["holds", "fails", "unclear"], '"holds", "fails" or "unclear"');
export type PlanState = Shape<typeof state>;

/** Varied member: a path into the scenario, and the values that it may take. */
const axis = v.object({
  /** Path as the user wrote it: `agents.clients`, `rules.organization.rest.limit`. */
  path: text,
  /** Unit of the values. `count`: whole numbers; `ms`: durations; `share`: 0 to 1; `choice`: words, in no order. */
  unit: v.picklist(["count", "ms", "share", "choice"]),
  /** Range as the user wrote it: `10..500`, `none,waitReset`. */
  range: text,
  /** First and last value of the range. */
  from: value,
  to: value,
  /** Number of values in the range; `points` has the tried ones. */
  values: whole,
});
export type PlanAxis = Shape<typeof axis>;

const goal = v.object({
  /** Figure as the user wrote it: `agents.waitP95Ms`. */
  figure: text,
  /** Bound as the user wrote it: `<2s`. */
  bound: text,
  /** The bound's amount in the figure's unit. */
  value: amount,
});
export type PlanGoal = Shape<typeof goal>;

const question = v.object({
  scenario: text,
  description: v.nullable(text),
  /** Seed of the plan; replication r of every point has the seed `replicationSeed(seed, r)`. */
  seed: whole,
  durationMs: amount,
  vary: v.array(axis),
  /** Goals; a run counts as held if all of them hold in it. */
  goals: v.array(goal),
  /** End of the holding range that is searched; `null` without a search. */
  find: v.nullable(v.picklist(["largest", "smallest"])),
  /** Share of runs; at a point that holds, the goals hold in more runs than this share. */
  share: amount,
  /** Confidence of each point's decision and of each interval: 0.95. */
  confidence: amount,
  /** Most replications of a point. */
  replicationsMost: whole,
  /** Command that repeats the plan; `null` if the plan did not come from the command line. */
  command: v.nullable(text),
});
export type PlanQuestion = Shape<typeof question>;

/** One figure over a point's replications. */
const figure = v.object({
  /** Figure's name as the user wrote it: `refusedShare`, `agents.waitP95Ms`; the numbers have its unit. */
  figure: text,
  /** Number of replications with something to measure; the other numbers are over these. */
  measured: whole,
  mean: maybe,
  /** Student's t interval of the mean, widened by a fitted scenario's error (`fitError`); `null` below two runs. */
  interval: v.nullable(interval),
  least: maybe,
  most: maybe,
});
export type PlanFigure = Shape<typeof figure>;

/** One point of the sweep. */
const point = v.object({
  /** Values in the order of `question.vary`. */
  values: v.array(value),
  replications: whole,
  /** Number of replications in which all goals held; `null` if there are no goals. */
  held: v.nullable(whole),
  /**
   * Clopper-Pearson interval of the share of runs in which all goals hold. `state` needs more: a point is judged
   * several times, and each judgement takes a part of the risk.
   */
  heldShare: v.nullable(interval),
  state: v.nullable(state),
  figures: v.array(figure),
});
export type PlanPoint = Shape<typeof point>;

/** A value, and the result of its replications. */
const evidence = v.object({ value, state, held: whole, replications: whole });
export type PlanEvidence = Shape<typeof evidence>;

/** Answer to the question. */
const answer = v.variant("kind", [
  v.object({
    kind: v.literal("value"),
    /** Largest (smallest) value whose goals surely hold in more than `share` of its runs; equal to `holds`. */
    value: amount,
    /** Values on both sides of the answer: the goals surely hold at `holds`, and surely not at `fails`. */
    holds: amount,
    fails: amount,
  }),
  /** The goals hold at all tried values, or at none, apart from `unclear` ones. */
  v.object({ kind: v.picklist(["all", "none"]) }),
  /** Holding and failing values alternate, so that no end of a range has a meaning. */
  v.object({ kind: v.literal("not-monotone"), evidence: v.array(evidence) }),
  v.object({
    kind: v.literal("too-noisy"),
    /** Values that hold and fail, on both sides of the answer; `null` if none was sure. */
    holds: maybe,
    fails: maybe,
    /** Estimate of further runs that each unclear value needs; `null` if more than can be run. */
    replicationsMore: maybe,
  }),
  /** Choices have no order; each list has them in the order given. */
  v.object({
    kind: v.literal("choices"),
    holding: v.array(text),
    failing: v.array(text),
    unclear: v.array(text),
  }),
  /** Answer for two varied members; `heatMap` has the details. */
  v.object({ kind: v.literal("frontier"), holding: whole, failing: whole, unclear: whole }),
]);
export type PlanAnswer = Shape<typeof answer>;

/** Point along y, at one x, where the goals stop holding. */
const frontierPoint = v.object({
  x: value,
  /** Last y that holds in the order of the search, and the first y after it that fails. */
  holds: v.nullable(value),
  fails: v.nullable(value),
  /** True if holding and failing do not alternate in this column. */
  monotone: yes,
});
export type PlanFrontierPoint = Shape<typeof frontierPoint>;

/** Map of two varied members: `question.vary[0]` along x, `question.vary[1]` along y. */
const heatMap = v.object({
  xs: v.array(value),
  ys: v.array(value),
  /** Places in `points`, by y, then by x. */
  cells: v.array(v.array(whole)),
  /** Figures of the points that are worth a map, in the order in which they are drawn. */
  figures: v.array(text),
  /** Points of the frontier; empty if there are no goals, or if y is a choice. */
  frontier: v.array(frontierPoint),
});
export type PlanHeatMap = Shape<typeof heatMap>;

/** Results for one size of a trigger. */
const trigger = v.object({
  /** Length of an outage, ms, or number of calls of a burst. */
  size: amount,
  replications: whole,
  /** Number of replications in which the load recovered by the end of the run. */
  recovered: whole,
  /** Clopper-Pearson interval of the share of runs that recover. */
  recoveredShare: interval,
  /** Decision on the size; `holds`: the load recovers. */
  state,
  /** Mean windows from the trigger's end to recovery, over the runs that recovered; `null` if none did. */
  windowsToRecover: maybe,
});
export type PlanTrigger = Shape<typeof trigger>;

/** Mean share of calls refused or unanswered, window by window; size 0 is the run without a trigger. */
const stormSeries = v.object({ size: amount, shares: v.array(maybe) });
export type PlanStormSeries = Shape<typeof stormSeries>;

/** Answer to whether the load recovers after the trigger. */
const storm = v.object({
  trigger: v.picklist(["outage", "burst"]),
  unit: v.picklist(["ms", "count"]),
  /** Start of the trigger, ms from the run's start. */
  atMs: amount,
  /** Length of the windows in which recovery is measured, ms. */
  windowMs: amount,
  /** Number of windows after the trigger within which the load must recover; `null`: by the end of the run. */
  withinWindows: maybe,
  /** Share of runs in more than which the load must recover; in older results absent: the question's. */
  share: v.optional(amount),
  /** `value`: no recovery from `answer.fails`, the smallest such trigger; recovery from `answer.holds`. */
  answer,
  from: amount,
  to: amount,
  /** Triggers in the order of size. */
  triggers: v.array(trigger),
  /** Series without a trigger, and with the triggers on both sides of the answer. */
  series: v.array(stormSeries),
});
export type PlanStorm = Shape<typeof storm>;

/** One way to run the scenario. */
const alternative = v.object({
  /** Population whose retry policy is changed; `null` if only limits are changed, or nothing. */
  population: v.nullable(text),
  /** Retry policy in words: `its own (wait-reset-organization)`, `none`, `waitReset+0..5s`. */
  policy: text,
  /** Limits in words: `as they are`, `+50%`, `x2`. */
  limits: text,
  /** True for the scenario without a change. */
  asIs: yes,
  replications: whole,
  /** Number of replications in which all goals held; `null` if there are no goals. */
  held: v.nullable(whole),
  figures: v.array(figure),
});
export type PlanAlternative = Shape<typeof alternative>;

const comparison = v.object({
  /** Populations that are refused without a change, the most refused first. */
  populations: v.array(text),
  alternatives: v.array(alternative),
});
export type PlanComparison = Shape<typeof comparison>;

export const planSchema = v.object({
  format: v.literal("spillway-plan", '"spillway-plan"'),
  version,
  question,
  /** Points in the order of the first axis, then of the second. */
  points: v.array(point),
  /** Answer; `null` if there are no goals. */
  answer: v.nullable(answer),
  heatMap: v.nullable(heatMap),
  storm: v.nullable(storm),
  comparison: v.nullable(comparison),
  /** Number of all simulated runs. */
  simulations: whole,
  /** Sentences for people, the answer first. */
  sentences: v.array(text),
  /** Notes for the reader: defaults used, calls that can never be admitted. */
  notes: v.array(text),
});
export type PlanResult = Shape<typeof planSchema>;
