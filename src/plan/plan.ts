// `plan`: a question about a scenario → its answer, with error bars. It is pure: it yields runs as jobs, and its driver
// does them, here or in threads. The result depends on their outcomes alone.
import { type Problem, SpillwayError } from "../rules/errors.ts";
import type { FigureReference } from "../rules/figures.ts";
import { parseRules } from "../rules/parse.ts";
import { exactShare } from "../rules/share.ts";
import { adviseScenario } from "../scenario/advice.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanAxis, PlanQuestion, PlanResult } from "../summary/plan-result.ts";
import { compare, comparedFigures } from "./comparison.ts";
import { type Goal, goalsOf, parseGoal, parseMeasured } from "./goals.ts";
import type { PlanJob } from "./job.ts";
import { errorNotes, untoldNotes } from "./model-error.ts";
import { changeScenario } from "./paths.ts";
import type { Workshop } from "./points.ts";
import { runJob } from "./run-job.ts";
import {
  Outcomes,
  type PlanSteps,
  replicationsLeast,
  replicationsMost,
  type Sampling,
  samplingOf,
} from "./sampling.ts";
import { sentencesOf } from "./sentences.ts";
import { parseStorm, type StormQuestion, searchStorm } from "./storm.ts";
import { type Find, sweepOne, sweepTwo } from "./sweep.ts";
import { parseVary, type Vary } from "./vary.ts";

/** A question, as people write it. At least one of `vary`, `storm` and `compare`. */
export interface PlanOptions {
  /** Values to vary: `agents.clients=10..500`; one, or two for a heat map. */
  readonly vary?: readonly string[] | undefined;
  /** Goals: `refused < 1%`. Default: the scenario's expectations. */
  readonly until?: readonly string[] | undefined;
  /** End of the holding values to find. Default: it depends on what is varied. */
  readonly find?: Find | undefined;
  /** Greatest number of replications of a point. Default: as many as `inRuns` needs, at least 64. */
  readonly replications?: number | undefined;
  /** Above 1/2 and below 1. Default: 0.95. */
  readonly confidence?: number | undefined;
  /**
   * Share of runs, from 1/2, in more than which the goals must hold. Default: 0.95 if one axis is searched, else 1/2.
   */
  readonly inRuns?: number | undefined;
  /** Trigger of a storm: `outage`, `burst`, `outage=1s..60s`, `burst=10..500`. */
  readonly storm?: string | undefined;
  /** Number of windows after the trigger within which the load must be back. Default: until the end of the run. */
  readonly within?: number | undefined;
  /** True to compare policies and limits. */
  readonly compare?: boolean | undefined;
  /** Command that repeats the plan, for the result. */
  readonly command?: string | undefined;
}

/** A question, read and checked against its scenario. */
export interface PreparedPlan {
  readonly question: PlanQuestion;
  /** Figures that `runJob` measures. */
  readonly figures: readonly FigureReference[];
  /** Searches: yields jobs, gets their outcomes in the same order, and returns the result. */
  steps(): PlanSteps<PlanResult>;
}

/** Figures that are measured for any goals. */
const alwaysMeasured = ["refusedShare", "waitP50Ms", "waitP95Ms", "admitted", "fairness"] as const;
/** Returns the first of 64, 128, 256, ... that is at least twice `least`, so that one run alone decides nothing. */
function replicationsFor(least: number): number {
  let most = 64;
  while (most < 2 * least) most *= 2;
  return most;
}

/**
 * Reads a question.
 * @param scenario as it is to be run: seed, duration and rules adjusted
 * @throws SpillwayError `USAGE` naming what cannot be used, with a suggestion
 */
export function preparePlan(scenario: Scenario, options: PlanOptions): PreparedPlan {
  const varies = variesOf(scenario, options);
  const notes: string[] = [
    ...(scenario.policy === undefined ? [] : [`the limits are those of the policy ${scenario.policy.name}`]),
    ...adviseScenario(scenario, scenario.rules ?? parseRules({})),
    ...errorNotes(scenario.fitError),
  ];
  const goals = varies.length === 0 && !comparesToGoals(options) ? [] : readGoals(scenario, options, notes);
  const sampling = readSampling(options, varies.length === 1 && goals.length > 0 ? 0.95 : 0.5);
  const most = sampling.looks.at(-1) as number;
  const storm = readStorm(scenario, options);
  const find = goals.length === 0 || varies.length === 0 ? null : (options.find ?? guessFind(varies));
  const compares = options.compare === true;
  const names = measuredNames(scenario, goals, varies, compares);
  const question: PlanQuestion = {
    scenario: scenario.name,
    description: scenario.description === "" ? null : scenario.description,
    seed: scenario.seed,
    durationMs: scenario.durationMs,
    vary: varies.map(({ axis }) => axis),
    goals: goals.map(({ figure, bound, value }) => ({ figure, bound, value })),
    find,
    share: sampling.share,
    confidence: sampling.confidence,
    replicationsMost: most,
    command: options.command ?? null,
  };
  const figures = names.map((name): readonly [string, FigureReference] => [
    name,
    parseMeasured(name, scenario),
  ]);
  const screen = sampling.share === 0.5 ? sampling : samplingOf(most, sampling.confidence);
  const stormSampling = options.inRuns === undefined ? screen : sampling;
  const asked: Asked = { scenario, question, varies, storm, stormSampling, compares, notes };
  const shop = (): Workshop => ({
    outcomes: new Outcomes(),
    sampling,
    screen,
    goals,
    figures,
    fitError: scenario.fitError,
  });
  return {
    question,
    figures: figures.map(([, reference]) => reference),
    steps: () => stepsOf(asked, shop(), options.find === undefined),
  };
}

/** Tells whether the alternatives of a comparison are judged by goals. */
const comparesToGoals = ({ compare, until = [] }: PlanOptions): boolean =>
  compare === true && until.length > 0;

interface Asked {
  readonly scenario: Scenario;
  readonly question: PlanQuestion;
  readonly varies: readonly Vary[];
  readonly storm: StormQuestion | null;
  readonly stormSampling: Sampling;
  readonly compares: boolean;
  readonly notes: readonly string[];
}

function* stepsOf(asked: Asked, shop: Workshop, guessed: boolean): PlanSteps<PlanResult> {
  const { scenario, question, varies, storm, stormSampling, compares, notes } = asked;
  const [x, y] = varies;
  const find = question.find ?? "largest";
  const sweep =
    x === undefined
      ? null
      : y === undefined
        ? yield* sweepOne(shop, x, find, guessed)
        : yield* sweepTwo(shop, x, y, find);
  const stormed = storm === null ? null : yield* searchStorm(shop, storm, stormSampling);
  const comparison = compares ? yield* compare(shop, scenario) : null;
  const shares = (sweep?.points ?? [])
    .flatMap(({ figures }) => figures)
    .flatMap(({ figure, mean }) => (figure === "refusedShare" && mean !== null ? [mean] : []));
  // A storm and a comparison are asked because of refusals.
  const refused = sweep === null ? 1 : Math.max(0, ...shares);
  const result: PlanResult = {
    format: "spillway-plan",
    version: 1,
    question: { ...question, find: sweep?.find ?? null },
    points: sweep?.points ?? [],
    answer: sweep?.answer ?? null,
    heatMap: sweep?.heatMap ?? null,
    storm: stormed,
    comparison,
    simulations: shop.outcomes.size,
    sentences: [],
    notes: [
      ...notes,
      ...(guessed ? findNotes(varies, question.find, sweep?.find ?? null) : []),
      ...untoldNotes(scenario, refused),
    ],
  };
  return { ...result, sentences: sentencesOf(result, scenario) };
}

function variesOf(scenario: Scenario, { vary = [], until = [], find, storm, compare }: PlanOptions): Vary[] {
  if (vary.length > 2)
    throw usage({ path: "--vary", got: `${vary.length} of them`, allowed: "one, or two for a heat map" });
  if (vary.length === 0 && until.length > 0 && compare !== true && storm !== undefined)
    throw usage({
      path: "--until",
      got: `${until.length === 1 ? "a goal" : "goals"} with --storm alone`,
      allowed: "goals of --vary or --compare: recovery is the goal of --storm",
    });
  if (vary.length === 0 && storm === undefined && compare !== true)
    throw usage({
      path: "--vary",
      got: "nothing",
      allowed: "what to vary, such as agents.clients=10..500; or --storm, or --compare",
    });
  if (vary.length === 0 && find !== undefined)
    throw usage({
      path: "--find",
      got: `${find} without --vary`,
      allowed: "what to vary, such as agents.clients=10..500",
    });
  const varies = vary.map((text) => parseVary(text, scenario));
  const [first, second] = varies;
  if (first !== undefined && first.axis.path === second?.axis.path)
    throw usage({ path: "--vary", got: `${first.axis.path} twice`, allowed: "two different paths" });
  if (first !== undefined && second !== undefined) requireTogether(scenario, first.axis, second.axis);
  return varies;
}

/** Tries the ends of two axes together: least and most of one span bound each other. @throws SpillwayError `USAGE` */
function requireTogether(scenario: Scenario, x: PlanAxis, y: PlanAxis): void {
  for (const one of [x.from, x.to])
    for (const other of [y.from, y.to])
      changeScenario(scenario, [
        { path: x.path, value: one },
        { path: y.path, value: other },
      ]);
}

const usage = (problem: Problem): SpillwayError =>
  new SpillwayError("USAGE", "this question cannot be answered", {
    problem,
    hint: "npx spillway plan --help shows examples",
  });

function readGoals(scenario: Scenario, { until = [] }: PlanOptions, notes: string[]): readonly Goal[] {
  if (until.length > 0) return until.map((text) => parseGoal(text, scenario));
  const goals = goalsOf(scenario);
  notes.push(
    goals.length === 0
      ? "there is no --until, and the scenario expects nothing: values are measured, and none is searched for"
      : "there is no --until: what the scenario expects is what must hold",
  );
  return goals;
}

function readSampling(
  { replications, confidence = 0.95, inRuns }: PlanOptions,
  shareDefault: number,
): Sampling {
  const share = inRuns ?? shareDefault;
  if (!(share >= 0.5 && share < 1))
    throw usage({ path: "--in-runs", got: String(share), allowed: "from 50% to below 100%, such as 95%" });
  if (!(confidence > 0.5 && confidence < 1))
    throw usage({
      path: "--confidence",
      got: String(confidence),
      allowed: "above 0.5 and below 1, such as 0.95",
    });
  const least = replicationsLeast(confidence, share);
  const most = replications ?? replicationsFor(least);
  if (Number.isSafeInteger(most) && most >= least && most <= replicationsMost)
    return samplingOf(most, confidence, share);
  const fewer = share === 0.5 ? "" : `; --in-runs 50% takes ${replicationsLeast(confidence)}`;
  throw usage({
    path: "--replications",
    got: String(most),
    allowed: `${least} to ${replicationsMost}: fewer than ${least} that all agree tell nothing of ${exactShare(share)} of runs at ${exactShare(confidence)} confidence${fewer}`,
  });
}

function readStorm(scenario: Scenario, { storm, within }: PlanOptions): StormQuestion | null {
  if (within !== undefined && !(Number.isSafeInteger(within) && within >= 0 && storm !== undefined))
    throw usage({
      path: "--within",
      got: String(within),
      allowed: "a whole number of windows, with --storm",
    });
  return storm === undefined ? null : parseStorm(storm, scenario, within ?? null);
}

/** Guesses the end to find. More clients or calls do harm, larger limits do good: people want the far end. */
function guessFind(varies: readonly Vary[]): Find {
  const path = varies.at(-1)?.axis.path ?? "";
  return /(^|\.)(limit|capacity|amount|servers|queue)$/.test(path) ? "smallest" : "largest";
}

/** Returns a note on the end that was found without being asked for, and why it is this one. */
function findNotes(varies: readonly Vary[], guess: Find | null, found: Find | null): string[] {
  if (found === null || varies.some(({ axis }) => axis.unit === "choice")) return [];
  const path = varies.at(-1)?.axis.path;
  const reason =
    found === guess
      ? `${path} is varied`
      : `the ${found === "smallest" ? "larger" : "smaller"} values of ${path} are those that hold`;
  return [`the ${found} value is looked for, since ${reason}; --find says otherwise`];
}

function measuredNames(
  scenario: Scenario,
  goals: readonly Goal[],
  varies: readonly Vary[],
  compares: boolean,
): string[] {
  const varied = scenario.populations
    .filter(({ name }) => varies.some(({ axis }) => axis.path.startsWith(`${name}.`)))
    .flatMap(({ name }) => [`${name}.refusedShare`, `${name}.waitP95Ms`]);
  const compared = compares ? comparedFigures(scenario) : [];
  return [...new Set([...goals.map(({ figure }) => figure), ...alwaysMeasured, ...varied, ...compared])];
}

/**
 * Answers a question about a scenario, in this thread.
 * @throws SpillwayError `USAGE` naming what cannot be used, with a suggestion; and what `simulate` throws
 *
 * @example const { answer, sentences } = plan(scenario, { vary: ["agents.clients=10..500"], until: ["refused < 1%"] });
 */
export function plan(scenario: Scenario, options: PlanOptions): PlanResult {
  const prepared = preparePlan(scenario, options);
  const steps = prepared.steps();
  let step = steps.next();
  while (step.done !== true)
    step = steps.next(step.value.jobs.map((job: PlanJob) => runJob(scenario, prepared.figures, job)));
  return step.value;
}
