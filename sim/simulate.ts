// A scenario in virtual time: clients, network and deployment as events in one queue. The same scenario, seed
// and rules give the same calls, byte for byte, wherever they run.
import type { LimiterFactory } from "../src/engine/adapter.ts";
import { followedRules } from "../src/engine/adapter-rules.ts";
import { type ChosenFault, requirePolicy, requireSuitable } from "../src/faults/choice.ts";
import type { Policy } from "../src/policy/policy.ts";
import { parseRules } from "../src/rules/parse.ts";
import type { Rules } from "../src/rules/rules.ts";
import type { Token } from "../src/rules/tokens.ts";
import { type Adjustments, adjustScenario } from "../src/scenario/adjust.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import { type Seating, seatingOf } from "../src/scenario/seats.ts";
import type { TraceCall, TraceHeader } from "../src/trace/record.ts";
import { AdapterDeployment } from "./adapter/adapter-deployment.ts";
import { tellFactory } from "./adapter/asker.ts";
import { AnsweredCall } from "./answered-call.ts";
import type { NumericDeployment, TracedDeployment } from "./deployment.ts";
import { FaultyDeployment } from "./faulty-deployment.ts";
import { FaultyQuotaDeployment } from "./faulty-quotas.ts";
import { FlightTable } from "./flight-table.ts";
import { ObjectDeployment } from "./object-deployment.ts";
import { PolicyDeployment } from "./policy-deployment.ts";
import type { QuotaAnswer } from "./quota-answer.ts";
import { RightDeployment } from "./right-deployment.ts";
import { AWAITING, Simulator } from "./simulator.ts";
import { undecidedAnswer } from "./undecided-answer.ts";

export interface SimulateOptions extends Adjustments {
  /** Whose names the trace has (`seatingOf`); without them users are named after their populations. */
  readonly tokens?: readonly Token[] | null | undefined;
  /** Who sits where, in place of what the tokens say: `seatingLike` an earlier run. */
  readonly seating?: Seating | undefined;
  /** A known bug that the deployment is to have. The trace does not say so: its rules are what is claimed. */
  readonly fault?: ChosenFault | undefined;
  /** Somebody else's limiter in the deployment's place, one that answers at once; others by `simulateLimiter`. */
  readonly limiter?: LimiterFactory | undefined;
  /** Once it is aborted nothing more is sent; what is on the way is answered. */
  readonly signal?: { readonly aborted: boolean } | undefined;
}

/** A simulated run. */
export interface Simulation {
  readonly header: TraceHeader;
  /**
   * Every call that is sent, in the order of `received`, simulated as it is read: nothing is kept. Reading it
   * again simulates again, to the same calls.
   */
  readonly calls: Iterable<TraceCall>;
}

/**
 * Simulates a scenario. Nothing is sent at `duration` or later; calls on the way then are answered, and the
 * trace ends with the last of them.
 * @throws SpillwayError `TOKENS_INVALID` where the tokens are too few, `FAULT_INVALID` where the fault does not go
 *   with the rules. Reading `calls` throws `SCENARIO_FAILED`,
 *   naming client and virtual time, where a behaviour or policy throws, asks for a time that is none, or has
 *   more calls on the way than it declares
 * @throws RangeError where an option is out of range
 *
 * @example
 * const { header, calls } = simulate(scenario, { seed: 7 });
 * const summary = summarize(header, calls);
 */
export function simulate(scenario: Scenario, options: SimulateOptions = {}): Simulation {
  const world = worldOf(scenario, options);
  if (world.scenario.policy !== undefined)
    throw new RangeError("a trace of version 1 holds no quotas of a policy: ask simulateQuotas");
  return { header: headerOf(world), calls: { [Symbol.iterator]: () => callsOf(world) } };
}

/** The header of a simulated run's trace. */
export function headerOf({ scenario, rules }: World): TraceHeader {
  return {
    format: "spillway-trace",
    version: 1,
    source: "simulator",
    scenario: scenario.name,
    seed: scenario.seed,
    target: null,
    startedAt: scenario.startAtMs,
    clock: { kind: "virtual", resolutionMs: 0, errorMs: Math.ceil(scenario.clocks.apartMs / 2) },
    rules,
    complete: true,
    lost: 0,
  };
}

/** The result of a run, beside its answers. */
export interface RunLength {
  /** Events of the queue: a call is three (sent, arrived, answered), an executed query four. */
  readonly events: number;
  /** When the last of them was, ms since the epoch. */
  readonly endedAtMs: number;
}

/**
 * Simulates a scenario for its numbers alone, many times faster than `simulate` since no object is made per
 * call: the same run, answer by answer in the same order.
 * @param onAnswer is shown each answer when it reaches its client
 * @throws what `simulate` and reading its `calls` throw, and whatever `onAnswer` throws
 *
 * @example
 * let refused = 0;
 * simulateNumbers(scenario, { seed: 7 }, (call) => {
 *   if (call.status === 429) refused += 1;
 * });
 */
export function simulateNumbers(
  scenario: Scenario,
  options: SimulateOptions,
  onAnswer: (call: AnsweredCall) => void,
): RunLength {
  const steps = numberSteps(scenario, options, onAnswer);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** So many answers are shown between two steps. */
const stepAnswers = 65_536;

/** The same, a step at a time: yields the virtual time, ms since the epoch. */
export function* numberSteps(
  scenario: Scenario,
  options: SimulateOptions,
  onAnswer: (call: AnsweredCall) => void,
): Generator<number, RunLength> {
  const world = worldOf(scenario, options);
  const { policy } = world.scenario;
  const flights = new FlightTable();
  const deployment =
    policy === undefined
      ? rulesDeployment(world, flights, false)
      : policyDeployment(world, policy, flights, false);
  const { simulator, view } = runOf(world, flights, deployment);
  /** Returns the last flight: below 0 where nothing is left. */
  const show = (): number => {
    let flight = simulator.next();
    for (let left = stepAnswers; flight >= 0; flight = simulator.next()) {
      view.show(flight);
      onAnswer(view);
      left -= 1;
      if (left === 0) break;
    }
    return flight;
  };
  let last = show();
  for (; last >= 0; last = show()) yield simulator.nowMs;
  requireOver(last, world);
  return { events: simulator.events, endedAtMs: simulator.nowMs };
}

/** The simulated world, everything decided. */
export interface World {
  readonly scenario: Scenario;
  /** As far as a limiter of somebody else's follows them. */
  readonly rules: Rules;
  readonly seating: Seating;
  readonly fault: ChosenFault | undefined;
  readonly limiter: LimiterFactory | undefined;
  readonly signal: { readonly aborted: boolean } | undefined;
}

/** @throws as `simulate` does */
export function worldOf(given: Scenario, options: SimulateOptions): World {
  const scenario = adjustScenario(given, options);
  const { fault, limiter, signal, tokens = callersOf(limiter) } = options;
  const { seating = seatingOf(scenario, tokens) } = options;
  const claimed = scenario.rules ?? parseRules({});
  const rules = limiter === undefined ? claimed : followedRules(limiter, claimed);
  if (fault !== undefined && limiter !== undefined)
    throw new RangeError("a fault or a limiter is simulated, not both");
  const { policy } = scenario;
  if (limiter !== undefined && policy !== undefined)
    throw new RangeError("a limiter goes with rules, and with no policy");
  if (fault !== undefined && policy === undefined) requireSuitable(fault, rules);
  if (fault !== undefined && policy !== undefined) requirePolicy(fault, policy);
  return { scenario, rules, seating, fault, limiter, signal };
}

/** The users that a limiter knows, where it does not take any name. */
function callersOf(limiter: LimiterFactory | undefined): Token[] | null {
  if (limiter?.callers === undefined) return null;
  return Object.entries(limiter.callers).flatMap(([organization, users]) =>
    users.map((user) => ({ token: "", user, organization, scopes: [] })),
  );
}

/** The simulator of a world whose deployment is there, and a view of its answers. */
export function runOf(
  { scenario, seating, signal }: World,
  flights: FlightTable,
  deployment: NumericDeployment,
): { simulator: Simulator; view: AnsweredCall } {
  const simulator = new Simulator({ scenario, seating, flights, deployment, signal });
  return { simulator, view: new AnsweredCall(simulator, flights) };
}

/** @param traced whether the deployment is to keep its answers for a trace */
export const policyDeployment = (
  { scenario: { seed }, fault }: World,
  policy: Policy,
  flights: FlightTable,
  traced: boolean,
): TracedDeployment<QuotaAnswer> =>
  fault === undefined
    ? new PolicyDeployment(policy, flights, traced)
    : new ObjectDeployment(new FaultyQuotaDeployment(policy, fault, seed), flights);

/** @param traced whether the deployment is to keep its answers for a trace */
function rulesDeployment(
  { scenario, rules, seating, fault, limiter }: World,
  flights: FlightTable,
  traced: boolean,
): TracedDeployment {
  if (fault !== undefined)
    return new ObjectDeployment(new FaultyDeployment(rules, fault, scenario.seed), flights);
  if (limiter === undefined)
    return new RightDeployment(rules, flights, {
      traced,
      distinct: seating.isDistinct,
      restAlone: scenario.populations.every(({ behaviour }) => behaviour.calls.every(isRest)),
    });
  tellFactory(limiter, scenario.startAtMs);
  const made = limiter.create(rules);
  if (!("decide" in made)) throw isAsynchronous(limiter);
  return new ObjectDeployment(new AdapterDeployment(limiter, made, rules, undefined), flights);
}

const isRest = ({ scope, kind }: CallTemplate): boolean => scope === "rest" && kind === "call";

const isAsynchronous = ({ name }: LimiterFactory): RangeError =>
  new RangeError(`the limiter ${name} is asynchronous: simulate it by simulateLimiter`);

function requireOver(flight: number, { limiter }: World): void {
  if (flight === AWAITING && limiter !== undefined) throw isAsynchronous(limiter);
}

function* callsOf(world: World): Generator<TraceCall, void> {
  const flights = new FlightTable();
  const deployment = rulesDeployment(world, flights, true);
  const { simulator, view } = runOf(world, flights, deployment);
  let flight = simulator.next();
  for (; flight >= 0; flight = simulator.next()) {
    view.show(flight);
    yield recordOf(view, deployment);
  }
  requireOver(flight, world);
}

/** One call as traces have it: the deployment's answer, with what its client knows. */
export function recordOf(view: AnsweredCall, deployment: TracedDeployment): TraceCall {
  const answer = view.isDecided
    ? deployment.answer(view.flight, view.caller, view.call)
    : undecidedAnswer(view);
  const record = answer as TraceCall;
  record.sent = view.sentMs;
  record.received = view.receivedMs;
  record.client = view.client;
  record.call = view.number;
  record.wanted = view.wantedMs;
  record.attempt = view.attempt;
  return record;
}
