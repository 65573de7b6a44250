// A scenario in virtual time: clients, network and deployment as events in one queue. The same scenario, seed and
// rules give the same calls, byte for byte, on any machine.
import type { LimiterFactory } from "../src/engine/adapter.ts";
import { followedRules } from "../src/engine/adapter-rules.ts";
import { tellTime } from "../src/engine/asking.ts";
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
  /** Tokens whose users the trace names (`seatingOf`); without them users have names of their populations. */
  readonly tokens?: readonly Token[] | null | undefined;
  /** Seating that replaces the tokens' one, for example `seatingLike` an earlier run. */
  readonly seating?: Seating | undefined;
  /** Known bug that the deployment gets. The trace does not mention it: its rules are the claimed ones. */
  readonly fault?: ChosenFault | undefined;
  /** Stranger's limiter in the deployment's place; it must be synchronous (`simulateLimiter` takes others). */
  readonly limiter?: LimiterFactory | undefined;
  /** Signal that ends the sending of calls; calls on the way are still answered. */
  readonly signal?: { readonly aborted: boolean } | undefined;
}

/** Simulated run. */
export interface Simulation {
  readonly header: TraceHeader;
  /**
   * All sent calls, in the order of `received`. Reading simulates and keeps nothing; a second reading simulates
   * again, with the same calls.
   */
  readonly calls: Iterable<TraceCall>;
}

/**
 * Simulates a scenario. No call is sent at `duration` or later; calls then on the way are answered, and the trace
 * ends with the last of these.
 * @throws SpillwayError `TOKENS_INVALID` if there are too few tokens, `FAULT_INVALID` if the fault does not fit the
 *   rules. Reading `calls` throws `SCENARIO_FAILED`, naming client and virtual time, if a behaviour or retry policy
 *   throws, gives an invalid time, or has more calls on the way than it declares
 * @throws RangeError if an option is out of range
 *
 * @example
 * const { header, calls } = simulate(scenario, { seed: 7 });
 * const summary = summarize(header, calls);
 */
export function simulate(scenario: Scenario, options: SimulateOptions = {}): Simulation {
  const world = worldOf(scenario, options);
  if (world.scenario.policy !== undefined)
    throw new RangeError("a trace of version 1 holds no quotas of a policy: ask simulateQuotas");
  const calls = () => callsOf(world, (flights) => rulesDeployment(world, flights, true), undecidedAnswer);
  return { header: headerOf(world), calls: { [Symbol.iterator]: calls } };
}

/** Returns the header of a simulated run's trace. */
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

/** Result of a run, apart from its answers. */
export interface RunLength {
  /** Number of the queue's events: a call has three (sent, arrived, answered), an executed query four. */
  readonly events: number;
  /** Time of the last event, ms since the epoch. */
  readonly endedAtMs: number;
}

/**
 * Simulates a scenario for its numbers alone: the same run, with the same answers in the same order. It is many times
 * faster than `simulate`, since it makes no object per call.
 * @param onAnswer takes each answer when it reaches its client
 * @throws the errors of `simulate`, of reading its `calls`, and of `onAnswer`
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

/** Number of answers between two steps. */
const stepAnswers = 65_536;

/** Simulates like `simulateNumbers`, a step at a time: yields the virtual time, ms since the epoch. */
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
  /** Shows the answers of one step, and returns the last flight: negative if none is left. */
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

/** World to simulate, with all options settled. */
export interface World {
  readonly scenario: Scenario;
  /** Rules, as far as a stranger's limiter follows them. */
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

/** Returns the users that a limiter knows; `null` if it takes any name. */
function callersOf(limiter: LimiterFactory | undefined): Token[] | null {
  if (limiter?.callers === undefined) return null;
  return Object.entries(limiter.callers).flatMap(([organization, users]) =>
    users.map((user) => ({ token: "", user, organization, scopes: [] })),
  );
}

/** Returns the simulator of a world with this deployment, and a view of its answers. */
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
  tellTime(limiter, scenario.startAtMs);
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

/**
 * Simulates a world, call by call.
 * @param undecided returns the answer to a call that no limiter decided
 */
export function* callsOf<Answer extends object>(
  world: World,
  deploymentIn: (flights: FlightTable) => TracedDeployment<Answer>,
  undecided: (view: AnsweredCall) => Answer,
): Generator<Answer & ClientFacts, void> {
  const flights = new FlightTable();
  const deployment = deploymentIn(flights);
  const { simulator, view } = runOf(world, flights, deployment);
  let flight = simulator.next();
  for (; flight >= 0; flight = simulator.next()) {
    view.show(flight);
    yield recordOf(view, deployment, undecided);
  }
  requireOver(flight, world);
}

/** Members of a trace's call that its client knows. */
type ClientFacts = Pick<TraceCall, "sent" | "received" | "client" | "call" | "wanted" | "attempt">;

/** Returns the trace's record of a call: the deployment's answer, with the client's facts. */
export function recordOf<Answer extends object>(
  view: AnsweredCall,
  deployment: TracedDeployment<Answer>,
  undecided: (view: AnsweredCall) => Answer,
): Answer & ClientFacts {
  const answer = view.isDecided ? deployment.answer(view.flight, view.caller, view.call) : undecided(view);
  const record = answer as Answer & ClientFacts;
  record.sent = view.sentMs;
  record.received = view.receivedMs;
  record.client = view.client;
  record.call = view.number;
  record.wanted = view.wantedMs;
  record.attempt = view.attempt;
  return record;
}
