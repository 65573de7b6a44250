// The swarm: draws whole worlds from a seed, simulates them, and lets the oracle judge every law on each trace. A world
// that breaks one is made smaller, and becomes a file that breaks it again.
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import type { ChosenFault } from "../../src/faults/choice.ts";
import { claimsInTraces } from "../../src/rules/algorithms.ts";
import { quote, SpillwayError } from "../../src/rules/errors.ts";
import type { LawName } from "../../src/rules/laws.ts";
import { scopes } from "../../src/rules/rules.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { claimedVerdict } from "../../src/verify/claims.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict, Violation } from "../../src/verify/verdict.ts";
import { type SimulateLimiterOptions, simulateLimiter } from "../adapter/simulate-limiter.ts";
import { simulate } from "../simulate.ts";
import { shrinkWorld } from "./shrink.ts";
import { countsOf, type StateCounts, type StateName, StateWatch, stateNames } from "./states.ts";
import { type Constraints, drawWorld } from "./world.ts";
import { scenarioOf, sourceOf, type WorldRecipe } from "./world-recipe.ts";

/** Deployment of every world. Default: the right one. */
export interface SwarmTarget {
  readonly fault?: ChosenFault | undefined;
  readonly limiter?:
    | ({ readonly factory: LimiterFactory } & Pick<SimulateLimiterOptions, "clock" | "placeOf">)
    | undefined;
}

export interface SwarmOptions extends SwarmTarget {
  /** Number of worlds, from number 0 on. */
  readonly worlds: number;
  readonly seed: number;
  /** Number of failing worlds after which the run stops. Default: 1. */
  readonly failuresMost?: number | undefined;
  /** Greatest number of worlds that are tried to make a failing one smaller. Default: 400. */
  readonly triesMost?: number | undefined;
  /** Signal after which no further world is begun. The results so far are kept. */
  readonly signal?: { readonly aborted: boolean } | undefined;
  /** Called after each world, and while one is made smaller; awaited. */
  readonly onProgress?: ((progress: SwarmProgress) => void | Promise<void>) | undefined;
}

export interface SwarmProgress {
  /** Number of worlds that are done. */
  readonly worlds: number;
  readonly calls: number;
  /** Failing world that is being made smaller, `SEED/NUMBER`. */
  readonly shrinking: string | null;
}

/** Failure of a world: a broken law, or a limiter that throws. */
export interface WorldFailure {
  readonly law: LawName | null;
  readonly suspects: readonly string[];
  readonly explanation: string;
}

export interface FailingWorld extends WorldFailure {
  /** `SEED/NUMBER`, as `worldNamed` reads it. */
  readonly world: string;
  /** Number of lines of its trace. */
  readonly calls: number;
  readonly populations: number;
  readonly shrunk: {
    readonly calls: number;
    readonly populations: number;
    /** Number of smaller worlds that were tried. */
    readonly tried: number;
    readonly explanation: string;
    /** Source of a scenario's file. */
    readonly source: string;
  };
}

/** Result of a swarm. Plain JSON. */
export interface SwarmResult {
  readonly format: "spillway-swarm";
  readonly version: 1;
  readonly seed: number;
  /** Number of worlds that are done. */
  readonly worlds: number;
  readonly calls: number;
  /** Number of windows that the oracle judged. */
  readonly windows: number;
  /** Counts of the interesting states that were reached. */
  readonly states: StateCounts;
  readonly unreached: readonly StateName[];
  readonly failures: readonly FailingWorld[];
  readonly interrupted: boolean;
}

/** Returns the parts that do not fit a target, which are not drawn. */
function constraintsOf({ fault, limiter }: SwarmTarget): Constraints {
  const semantics = fault?.fault.semantics ?? limiter?.factory.semantics;
  const known = limiter?.factory.scopes ?? scopes;
  return {
    ...(semantics === undefined ? {} : { switches: semantics }),
    without: scopes.filter((scope) => !known.includes(scope)),
  };
}

/**
 * Returns the world of this name, for `simulate`.
 * @param name `SEED/NUMBER`
 * @throws SpillwayError `USAGE` if it is no such name
 */
export function worldNamed(name: string, target: SwarmTarget = {}): WorldRecipe {
  const [seed, index] = (/^(\d{1,16})\/(\d{1,9})$/.exec(name) ?? []).slice(1).map(Number);
  if (Number.isSafeInteger(seed))
    return drawWorld(seed as number, index as number, constraintsOf(target)).recipe;
  throw new SpillwayError("USAGE", "there is no such world", {
    problem: { path: "--world", got: quote(name), allowed: "SEED/NUMBER, as swarm prints it: 7/13" },
  });
}

/**
 * Draws worlds, simulates each and judges its trace. The same seed always gives the same worlds.
 * @throws RangeError if an option is out of range
 *
 * @example const { failures } = await swarm({ worlds: 1000, seed: 7 });
 */
export async function swarm(options: SwarmOptions): Promise<SwarmResult> {
  const { worlds, seed, signal, failuresMost = 1 } = options;
  for (const [name, value] of Object.entries({ worlds, seed }))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${name} must be a whole number from 0, got ${value}`);
  const run = new Swarm(options);
  while (run.done < worlds && signal?.aborted !== true && run.failures.length < failuresMost)
    await run.next();
  return run.result(signal?.aborted === true);
}

/** One world, simulated and judged. */
interface Outcome {
  readonly calls: number;
  readonly windows: number;
  readonly failure: WorldFailure | null;
}

const usualTries = 400;
/** Number of calls that a simpler world may have, even if the drawn world has fewer. */
const fewCalls = 60;

class Swarm {
  done = 0;
  readonly failures: FailingWorld[] = [];
  readonly #options: SwarmOptions;
  readonly #constraints: Constraints;
  readonly #states = new Map<StateName, number>();
  #calls = 0;
  #windows = 0;

  constructor(options: SwarmOptions) {
    this.#options = options;
    this.#constraints = constraintsOf(options);
  }

  async next(): Promise<void> {
    const { seed } = this.#options;
    const { recipe } = drawWorld(seed, this.done, this.#constraints);
    const outcome = await judgeWorld(scenarioOf(recipe), this.#options, this.#states);
    this.#calls += outcome.calls;
    this.#windows += outcome.windows;
    if (outcome.failure !== null) this.failures.push(await this.#shrink(recipe, outcome, outcome.failure));
    this.done += 1;
    await this.#tell(null);
  }

  async #tell(shrinking: string | null): Promise<void> {
    await this.#options.onProgress?.({ worlds: this.done, calls: this.#calls, shrinking });
  }

  async #shrink(first: WorldRecipe, { calls }: Outcome, failure: WorldFailure): Promise<FailingWorld> {
    const { seed, signal } = this.#options;
    // A limiter that never settles takes its time at each try.
    const triesMost = Math.min(this.#options.triesMost ?? usualTries, failure.law === null ? 40 : Infinity);
    const world = `${seed}/${this.done}`;
    let last = { calls, explanation: failure.explanation };
    const fails = async (smaller: WorldRecipe): Promise<boolean> => {
      await this.#tell(world);
      if (signal?.aborted === true) return false;
      const outcome = await this.#tried(smaller, failure, Math.max(fewCalls, calls));
      if (outcome?.failure?.law !== failure.law) return false;
      last = { calls: outcome.calls, explanation: outcome.failure.explanation };
      return true;
    };
    const shrunk = await shrinkWorld(first, fails, triesMost);
    const what = failure.law ?? "a limiter that fails";
    return {
      world,
      ...failure,
      calls,
      populations: Object.keys(first.populations).length,
      shrunk: {
        ...last,
        populations: Object.keys(shrunk.world.populations).length,
        tried: shrunk.tried,
        source: sourceOf(shrunk.world, `World ${world} of the swarm, made smaller: it shows ${what}.`),
      },
    };
  }

  /** Judges a smaller world. `null` if there is none: it lacks a needed member, or the fault does not fit it. */
  async #tried(world: WorldRecipe, { law }: WorldFailure, callsMost: number): Promise<Outcome | null> {
    try {
      return await judgeWorld(scenarioOf(world), this.#options, new Map(), { law, callsMost });
    } catch (error) {
      if (error instanceof SpillwayError) return null;
      throw error;
    }
  }

  result(interrupted: boolean): SwarmResult {
    const states = countsOf(this.#states);
    return {
      format: "spillway-swarm",
      version: 1,
      seed: this.#options.seed,
      worlds: this.done,
      calls: this.#calls,
      windows: this.#windows,
      states,
      unreached: stateNames.filter((name) => states[name] === 0),
      failures: this.failures,
      interrupted,
    };
  }
}

/** Terms by which a world that is made smaller is judged. */
interface Smaller {
  /** Law to report if several are broken. */
  readonly law: LawName | null;
  /** Greatest number of calls. A world with more is not smaller: it is given up, and counts as not failing. */
  readonly callsMost: number;
}

/** @param states gets the counts of states added */
async function judgeWorld(
  scenario: Scenario,
  { fault, limiter }: SwarmTarget,
  states: Map<StateName, number>,
  { law, callsMost }: Smaller = { law: null, callsMost: Number.POSITIVE_INFINITY },
): Promise<Outcome> {
  const { header, calls } =
    limiter === undefined
      ? simulate(scenario, { fault })
      : simulateLimiter(scenario, limiter.factory, { clock: limiter.clock, placeOf: limiter.placeOf });
  const watch = header.rules === null ? null : new StateWatch(header.rules, states);
  let count = 0;
  const lines = async function* (): AsyncGenerator<TraceLine, void> {
    for await (const call of calls as AsyncIterable<TraceCall> | Iterable<TraceCall>) {
      watch?.add(call);
      count += 1;
      if (count > callsMost) return;
      yield { line: count + 1, call };
    }
  };
  try {
    const verdict = claimedVerdict(
      await judge(header, lines()),
      limiter === undefined ? "all" : claimsInTraces(limiter.factory),
    );
    const failure = count > callsMost ? null : failureOf(verdict, law);
    return { calls: count, windows: verdict.windows, failure };
  } catch (error) {
    if (!(error instanceof SpillwayError) || error.code !== "ADAPTER_FAILED") throw error;
    const [problem] = error.problems;
    const explanation = problem === undefined ? error.message : `${problem.path}: got ${problem.got}`;
    return { calls: count, windows: 0, failure: { law: null, suspects: [], explanation } };
  }
}

function failureOf({ violations }: Verdict, law: LawName | null): WorldFailure | null {
  const violation: Violation | undefined = violations.find((each) => each.law === law) ?? violations[0];
  if (violation === undefined) return null;
  return { law: violation.law, suspects: violation.suspects, explanation: violation.explanation };
}
