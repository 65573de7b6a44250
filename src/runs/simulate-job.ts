// A scenario in virtual time, as the lines of its trace or as its figures alone.
import { type LimiterSimulation, simulateLimiter } from "../../sim/adapter/simulate-limiter.ts";
import type { Likeness } from "../../sim/likeness.ts";
import { type Measurement, type MeasureStep, measureSteps } from "../../sim/measure.ts";
import { type SimulateOptions, type Simulation, simulate } from "../../sim/simulate.ts";
import { type QuotaSimulation, simulateQuotas } from "../../sim/simulate-quotas.ts";
import type { SwarmTarget } from "../../sim/swarm/swarm.ts";
import { parseFault } from "../faults/choice.ts";
import type { RunRecord } from "../report/run.ts";
import { claimsInTraces } from "../rules/algorithms.ts";
import type { LawName } from "../rules/laws.ts";
import { parseRules } from "../rules/parse.ts";
import type { Token } from "../rules/tokens.ts";
import { type Adjustments, adjustScenario } from "../scenario/adjust.ts";
import { adviseScenario } from "../scenario/advice.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { seatingLike } from "../scenario/seats.ts";
import { describeSpread } from "../scenario/spread.ts";
import { encodeQuotaCall } from "../trace/quota-lines.ts";
import type { QuotaCall, QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { encodeCall } from "../trace/write.ts";
import type { JobContext } from "./job.ts";
import { limiterNotes, patientLimiter } from "./simulated-limiter.ts";
import { Turns } from "./turns.ts";

export interface SimulateTask {
  /** World of a swarm, SEED/NUMBER, in place of the scenario's file. */
  readonly world?: string | undefined;
  readonly changes: Changes;
  /** NAME or NAME=RATE. */
  readonly fault?: string | undefined;
}

export interface SimulationFacts {
  readonly kind: "facts";
  readonly scenario: Pick<Scenario, "name" | "description" | "seed" | "durationMs" | "expect">;
  readonly header: TraceHeader | QuotaTraceHeader;
  /** Laws that the limiter claims. */
  readonly claims: "all" | readonly LawName[];
  /** Facts that a reader of the run must know. */
  readonly notes: readonly string[];
}

export interface TracePart {
  readonly kind: "part";
  /** Whole lines, without the last one's end. */
  readonly lines: string;
  /** Number of calls so far. */
  readonly calls: number;
  /** Time of the last answer, ms since the epoch. */
  readonly endedAt: number;
}

/**
 * Simulates a scenario: yields its facts, then its lines. When it is asked to end, it sends nothing more; the last
 * lines are the answers to calls on the way.
 * @param clock the machine's clock, ms
 * @throws SpillwayError as `conditionsOf`, `simulate` and `simulateLimiter` do
 */
export async function* simulateJob(
  { world, changes, fault: named }: SimulateTask,
  { scenario: written, limiter: given, signal }: JobContext,
  clock: () => number = Date.now,
): AsyncGenerator<SimulationFacts | TracePart, void, undefined> {
  const fault = named === undefined ? undefined : parseFault(named);
  const limiter = given === null ? null : await patientLimiter(given);
  const chosen = world === undefined ? written : await drawn(world, { fault, limiter: limiter ?? undefined });
  if (chosen === null) throw neitherNamed();
  const { scenario, options, notes } = await conditionsOf(chosen, changes);
  const simulation =
    limiter === null
      ? scenario.policy === undefined
        ? simulate(scenario, { ...options, fault, signal })
        : simulateQuotas(scenario, { ...options, fault, signal })
      : simulateLimiter(scenario, limiter.factory, {
          ...{ ...options, signal },
          ...{ clock: limiter.clock, placeOf: limiter.placeOf },
        });
  const { name, description, seed, durationMs, expect } = scenario;
  yield {
    kind: "facts",
    scenario: { name, description, seed, durationMs, expect },
    header: simulation.header,
    claims: limiter === null ? "all" : claimsInTraces(limiter.factory),
    notes: limiter === null ? notes : [...notes, ...limiterNotes(limiter.factory, scenario.rules)],
  };
  yield* new Parts(clock).of(simulation);
}

/** Returns the scenario of a swarm's world. The code that draws worlds, and the oracle with it, is loaded only here. */
async function drawn(world: string, options: SwarmTarget): Promise<Scenario> {
  const { worldNamed } = await import("../../sim/swarm/swarm.ts");
  const { scenarioOf } = await import("../../sim/swarm/world-recipe.ts");
  return scenarioOf(worldNamed(world, options));
}

/** Facts of a simulation that leaves no trace. */
export interface MeasureFacts {
  readonly kind: "facts";
  readonly scenario: Pick<Scenario, "name" | "seed" | "startAtMs" | "durationMs" | "expect">;
  readonly notes: readonly string[];
}

/**
 * Simulates a scenario for its figures alone: yields its facts, then its progress.
 * @returns its figures; those until then if it is asked to end
 * @throws SpillwayError as `conditionsOf` and `measure` do
 */
export async function* measureJob(
  { world, changes, fault: named }: SimulateTask,
  { scenario: written, signal }: Pick<JobContext, "scenario" | "signal">,
): AsyncGenerator<MeasureFacts | (MeasureStep & { readonly kind: "step" }), Measurement, undefined> {
  const fault = named === undefined ? undefined : parseFault(named);
  const chosen = world === undefined ? written : await drawn(world, { fault });
  if (chosen === null) throw neitherNamed();
  const { scenario, options, notes } = await conditionsOf(chosen, changes);
  const { name, seed, startAtMs, durationMs, expect } = scenario;
  yield { kind: "facts", scenario: { name, seed, startAtMs, durationMs, expect }, notes };
  const steps = measureSteps(scenario, { ...options, fault, signal });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    yield { kind: "step", ...value };
  }
}

const neitherNamed = (): RangeError => new RangeError("neither a scenario nor a world is named");

/** Longest part, characters. A part has about a sixteenth of what was told before, so that no more is lost. */
const partMost = 65_536;
const partShare = 16;
/** Number of calls between two looks at the clock: a slow simulation tells its progress at each turn. */
const turnCalls = 200;

/** Gathers calls into parts of the trace. */
class Parts {
  readonly #turns: Turns;
  #lines = "";
  /** Number of characters told so far. */
  #told = 0;
  #calls = 0;
  #endedAt = 0;

  constructor(clock: () => number) {
    this.#turns = new Turns(clock);
  }

  async *of({
    calls,
  }: Simulation | LimiterSimulation | QuotaSimulation): AsyncGenerator<TracePart, void, undefined> {
    // Awaiting each call of a limiter that answers at once would take longer than the call.
    if (Symbol.asyncIterator in calls) {
      for await (const call of calls) if (this.#add(call)) yield this.#part();
    } else for (const call of calls) if (this.#add(call)) yield this.#part();
    if (this.#lines !== "") yield this.#part();
  }

  /** @returns true if the part is to be told */
  #add(call: TraceCall | QuotaCall): boolean {
    const line = "readings" in call ? encodeQuotaCall(call) : encodeCall(call);
    this.#lines = this.#lines === "" ? line : `${this.#lines}\n${line}`;
    this.#calls += 1;
    this.#endedAt = call.received;
    if (this.#lines.length >= Math.min(partMost, this.#told / partShare)) return true;
    return this.#calls % turnCalls === 0 && this.#turns.areDue;
  }

  #part(): TracePart {
    const lines = this.#lines;
    this.#lines = "";
    this.#told += lines.length;
    this.#turns.took();
    return { kind: "part", lines, calls: this.#calls, endedAt: this.#endedAt };
  }
}

interface Changes extends Pick<Adjustments, "seed" | "durationMs" | "rules" | "policy"> {
  /** Tokens whose names the trace has. */
  readonly tokens?: readonly Token[] | null | undefined;
  /** Folder of a run whose start, duration, seed, rules, users and network are taken. */
  readonly like?: string | undefined;
}

/** The scenario as it is to be run, and what the reader must know of that. */
interface Conditions {
  readonly scenario: Scenario;
  readonly options: Pick<SimulateOptions, "seating" | "tokens">;
  readonly notes: readonly string[];
}

/** @throws SpillwayError as `readRun` and `openTrace` do */
export async function conditionsOf(written: Scenario, changes: Changes): Promise<Conditions> {
  const like = changes.like === undefined ? null : await readLikeness(changes.like);
  const policy = changes.policy ?? (changes.rules === undefined ? like?.record.policy : undefined);
  const rules = changes.rules ?? like?.record.rules ?? written.rules ?? parseRules({});
  const scenario = adjustScenario(written, {
    seed: changes.seed ?? like?.record.seed,
    durationMs: changes.durationMs ?? like?.record.durationMs,
    startAtMs: like?.record.startedAt,
    ...(policy === undefined ? { rules } : { policy }),
    network: like?.likeness.network(written.network),
  });
  const by = policy === undefined ? [] : [`the limits are those of the policy ${policy.name}`];
  const notes = [...by, ...adviseScenario(scenario, rules)];
  if (like === null)
    return { scenario, options: policy === undefined ? { tokens: changes.tokens } : {}, notes };
  const { latencyMs, roundTripMs, executionMs, latenessMs } = scenario.network;
  const trip = `${describeSpread(roundTripMs ?? latencyMs)}${roundTripMs === null ? " one way" : ""}`;
  const trips = `trips of ${trip}, queries of ${describeSpread(executionMs)}, clients late by ${describeSpread(latenessMs)}`;
  return {
    scenario,
    options: policy === undefined ? { seating: seatingLike(scenario, like.likeness.users) } : {},
    notes: [...notes, `start, users and network are those of ${changes.like}: ${trips}`],
  };
}

/** Reads an earlier run. The code that reads runs is loaded only here. */
async function readLikeness(folder: string): Promise<{ record: RunRecord; likeness: Likeness }> {
  const { readRun, traceOf } = await import("../report/run-folder.ts");
  const { Likeness } = await import("../../sim/likeness.ts");
  const { openTrace } = await import("../trace/read.ts");
  const { record } = await readRun(folder);
  const likeness = new Likeness();
  const trace = await openTrace(traceOf(folder));
  if (trace.version === 1) for await (const { call } of trace.calls) likeness.add(call);
  else for await (const { call } of trace.calls) likeness.addByQuotas(call);
  return { record, likeness };
}
