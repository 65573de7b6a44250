// A scenario in virtual time: clients, network and deployment as events in one queue. The same scenario, seed
// and rules give the same calls, byte for byte, wherever they run.
import type { Pending } from "../src/engine/store.ts";
import { type ChosenFault, requireSuitable } from "../src/faults/choice.ts";
import { parseRules } from "../src/rules/parse.ts";
import type { Token } from "../src/rules/tokens.ts";
import { type Adjustments, adjustScenario } from "../src/scenario/adjust.ts";
import { arrivalTimes } from "../src/scenario/arrivals.ts";
import type { Span } from "../src/scenario/mistakes.ts";
import { between } from "../src/scenario/random.ts";
import { type Population, type Scenario, startDelayMs } from "../src/scenario/scenario.ts";
import { type Seating, seatingOf } from "../src/scenario/seats.ts";
import type { TraceCall, TraceHeader } from "../src/trace/record.ts";
import { type Flight, SimulatedClient } from "./client.ts";
import {
  type Answer,
  type Caller,
  Deployment,
  type Outcome,
  type SimulatedDeployment,
} from "./deployment.ts";
import { Driver } from "./driver.ts";
import { EventQueue } from "./event-queue.ts";
import { FaultyDeployment } from "./faulty-deployment.ts";

export interface SimulateOptions extends Adjustments {
  /** Whose names the trace has (`seatingOf`); without them users are named after their populations. */
  readonly tokens?: readonly Token[] | null | undefined;
  /** Who sits where, in place of what the tokens say: `seatingLike` an earlier run. */
  readonly seating?: Seating | undefined;
  /** A known bug that the deployment is to have. The trace does not say so: its rules are what is claimed. */
  readonly fault?: ChosenFault | undefined;
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
  const adjusted = adjustScenario(scenario, options);
  const rules = adjusted.rules ?? parseRules({});
  const seating = options.seating ?? seatingOf(adjusted, options.tokens ?? null);
  const { name, seed, startAtMs } = adjusted;
  const { fault, signal } = options;
  if (fault !== undefined) requireSuitable(fault, rules);
  const run = (): Iterator<TraceCall, void> =>
    fault === undefined
      ? new Simulator(adjusted, new Deployment(rules), seating, signal).run()
      : new Simulator(adjusted, new FaultyDeployment(rules, fault, seed), seating, signal).run();
  return {
    header: {
      format: "spillway-trace",
      version: 1,
      source: "simulator",
      scenario: name,
      seed,
      target: null,
      startedAt: startAtMs,
      clock: { kind: "virtual", resolutionMs: 0, errorMs: 0 },
      rules,
      complete: true,
      lost: 0,
    },
    calls: { [Symbol.iterator]: run },
  };
}

/** Clients of an open population that have still to come. */
interface Arriving {
  readonly population: Population;
  readonly place: number;
  readonly times: Iterator<number, void>;
  index: number;
}

/**
 * What may happen: a client begins, clients arrive; a call is sent, reaches the limiter, is decided after all, has
 * run, is answered.
 */
type Event<Running extends object> =
  | { readonly kind: "start"; readonly client: SimulatedClient }
  | { readonly kind: "arrival"; readonly arriving: Arriving }
  | { readonly kind: "send"; readonly flight: Flight }
  | { readonly kind: "arrive"; readonly flight: Flight }
  | { readonly kind: "resume"; readonly flight: Flight; readonly pending: Pending<Answer | Running> }
  | { readonly kind: "complete"; readonly flight: Flight; readonly running: Running }
  | { readonly kind: "receive"; readonly flight: Flight; readonly answer: Answer };

class Simulator<Running extends object> {
  readonly #scenario: Scenario;
  readonly #seating: Seating;
  readonly #signal: { readonly aborted: boolean } | undefined;
  readonly #endMs: number;
  readonly #deployment: SimulatedDeployment<Running>;
  readonly #callers: readonly Caller[];
  readonly #queue = new EventQueue<Event<Running>>();
  readonly #driver: Driver;

  constructor(
    scenario: Scenario,
    deployment: SimulatedDeployment<Running>,
    seating: Seating,
    signal: { readonly aborted: boolean } | undefined,
  ) {
    this.#scenario = scenario;
    this.#seating = seating;
    this.#signal = signal;
    this.#endMs = scenario.startAtMs + scenario.durationMs;
    this.#deployment = deployment;
    this.#callers = seating.seats.map(({ organization, user }) => deployment.caller(organization, user));
    this.#driver = new Driver(this.#endMs, (flight, atMs) =>
      this.#queue.push(atMs, { kind: "send", flight }),
    );
  }

  *run(): Generator<TraceCall, void> {
    this.#populate();
    for (;;) {
      const nowMs = this.#queue.nextMs;
      const event = this.#queue.pop();
      if (event === undefined) return;
      switch (event.kind) {
        case "start":
          if (this.#isOpen(nowMs)) this.#driver.start(event.client, nowMs);
          break;
        case "arrival":
          this.#admit(event.arriving, nowMs);
          break;
        case "send":
          if (this.#isOpen(nowMs)) this.#send(event.flight, nowMs);
          break;
        case "arrive":
          this.#arrive(event.flight, nowMs);
          break;
        case "resume":
          this.#decided(event.flight, event.pending.resume(nowMs), nowMs);
          break;
        case "complete": {
          const { client, call } = event.flight;
          const answer = this.#deployment.complete(client.caller, call, event.running, nowMs);
          this.#reply(event.flight, answer, nowMs);
          break;
        }
        case "receive":
          yield record(event.flight, event.answer, nowMs);
          this.#driver.receive(event.flight, event.answer, nowMs);
      }
    }
  }

  /** Whether calls may still be sent at this instant. */
  #isOpen(nowMs: number): boolean {
    return nowMs < this.#endMs && this.#signal?.aborted !== true;
  }

  #populate(): void {
    const { populations, startAtMs, durationMs } = this.#scenario;
    for (const [place, population] of populations.entries()) {
      if (population.arrivals !== null) {
        const times = arrivalTimes(population.arrivals, durationMs);
        this.#schedule({ population, place, times, index: 0 });
        continue;
      }
      for (let index = 0; index < population.clients; index++) {
        const client = this.#client(population, place, index);
        const startMs = startAtMs + startDelayMs(population, client.record);
        this.#queue.push(startMs, { kind: "start", client });
      }
    }
  }

  #client(population: Population, place: number, index: number): SimulatedClient {
    const caller = this.#callers[this.#seating.seatOf(place, index)];
    if (caller === undefined) throw new RangeError(`${population.name}/${index} has no seat`);
    return new SimulatedClient(this.#scenario, population, place, index, caller);
  }

  #schedule(arriving: Arriving): void {
    const { value, done } = arriving.times.next();
    if (done !== true) this.#queue.push(this.#scenario.startAtMs + value, { kind: "arrival", arriving });
  }

  #admit(arriving: Arriving, nowMs: number): void {
    if (!this.#isOpen(nowMs)) return;
    this.#driver.start(this.#client(arriving.population, arriving.place, arriving.index), nowMs);
    arriving.index += 1;
    this.#schedule(arriving);
  }

  #send(flight: Flight, nowMs: number): void {
    flight.number = flight.client.sent;
    flight.client.sent += 1;
    flight.sentMs = nowMs;
    this.#queue.push(nowMs + this.#trip(flight), { kind: "arrive", flight });
  }

  #arrive(flight: Flight, nowMs: number): void {
    const { client, call } = flight;
    const outcome = this.#deployment.arrive(client.caller, call, nowMs);
    if (isPending(outcome))
      this.#queue.push(nowMs + outcome.waitMs, { kind: "resume", flight, pending: outcome });
    else this.#decided(flight, outcome, nowMs);
  }

  #decided(flight: Flight, outcome: Answer | Running, nowMs: number): void {
    if (isAnswer(outcome)) this.#reply(flight, outcome, nowMs);
    else {
      const doneMs = nowMs + drawn(this.#scenario.network.executionMs, flight.client);
      this.#queue.push(doneMs, { kind: "complete", flight, running: outcome });
    }
  }

  #reply(flight: Flight, answer: Answer, nowMs: number): void {
    this.#queue.push(nowMs + this.#trip(flight), { kind: "receive", flight, answer });
  }

  #trip({ client }: Flight): number {
    return drawn(this.#scenario.network.latencyMs, client);
  }
}

const isPending = <Running extends object>(outcome: Outcome<Running>): outcome is Pending<Answer | Running> =>
  "waitMs" in outcome;

const isAnswer = (outcome: object): outcome is Answer => "status" in outcome;

function drawn({ least, most }: Span, { network }: SimulatedClient): number {
  return least === most ? least : between(network, least, most);
}

function record(
  { client, number, sentMs, wantedMs, attempt }: Flight,
  answer: Answer,
  nowMs: number,
): TraceCall {
  return {
    sent: sentMs,
    received: nowMs,
    client: client.id,
    call: number,
    ...answer,
    wanted: wantedMs,
    attempt,
  };
}
