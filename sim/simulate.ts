// A scenario in virtual time: clients, network and deployment as events in one queue. The same scenario, seed
// and rules give the same calls, byte for byte, wherever they run.
import { parseRules } from "../src/rules/parse.ts";
import type { Rules } from "../src/rules/rules.ts";
import type { Token } from "../src/rules/tokens.ts";
import { type Adjustments, adjustScenario } from "../src/scenario/adjust.ts";
import { arrivalTimes } from "../src/scenario/arrivals.ts";
import type { Span } from "../src/scenario/mistakes.ts";
import { between } from "../src/scenario/random.ts";
import { type Population, type Scenario, startDelayMs } from "../src/scenario/scenario.ts";
import { type Seating, seatingOf } from "../src/scenario/seats.ts";
import type { TraceCall, TraceHeader } from "../src/trace/record.ts";
import { type Flight, SimulatedClient } from "./client.ts";
import { type Answer, type Caller, Deployment, type Execution } from "./deployment.ts";
import { Driver } from "./driver.ts";
import { EventQueue } from "./event-queue.ts";

export interface SimulateOptions extends Adjustments {
  /** Whose names the trace has (`seatingOf`); without them users are named after their populations. */
  readonly tokens?: readonly Token[] | null | undefined;
  /** Who sits where, in place of what the tokens say: `seatingLike` an earlier run. */
  readonly seating?: Seating | undefined;
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
 * @throws SpillwayError `TOKENS_INVALID` where the tokens are too few. Reading `calls` throws `SCENARIO_FAILED`,
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
    calls: {
      [Symbol.iterator]: () => new Simulator(adjusted, rules, seating, options.signal).run(),
    },
  };
}

/** Clients of an open population that have still to come. */
interface Arriving {
  readonly population: Population;
  readonly place: number;
  readonly times: Iterator<number, void>;
  index: number;
}

/** What may happen: a client begins, clients arrive; a call is sent, reaches the limiter, has run, is answered. */
type Event =
  | { readonly kind: "start"; readonly client: SimulatedClient }
  | { readonly kind: "arrival"; readonly arriving: Arriving }
  | { readonly kind: "send"; readonly flight: Flight }
  | { readonly kind: "arrive"; readonly flight: Flight }
  | { readonly kind: "complete"; readonly flight: Flight; readonly execution: Execution }
  | { readonly kind: "receive"; readonly flight: Flight; readonly answer: Answer };

class Simulator {
  readonly #scenario: Scenario;
  readonly #seating: Seating;
  readonly #signal: { readonly aborted: boolean } | undefined;
  readonly #endMs: number;
  readonly #deployment: Deployment;
  readonly #callers: readonly Caller[];
  readonly #queue = new EventQueue<Event>();
  readonly #driver: Driver;

  constructor(
    scenario: Scenario,
    rules: Rules,
    seating: Seating,
    signal: { readonly aborted: boolean } | undefined,
  ) {
    this.#scenario = scenario;
    this.#seating = seating;
    this.#signal = signal;
    this.#endMs = scenario.startAtMs + scenario.durationMs;
    const deployment = new Deployment(rules);
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
        case "complete": {
          const { client, call } = event.flight;
          const answer = this.#deployment.complete(client.caller, call, event.execution, nowMs);
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
    if ("organizationWindow" in outcome) {
      const doneMs = nowMs + drawn(this.#scenario.network.executionMs, client);
      this.#queue.push(doneMs, { kind: "complete", flight, execution: outcome });
    } else this.#reply(flight, outcome, nowMs);
  }

  #reply(flight: Flight, answer: Answer, nowMs: number): void {
    this.#queue.push(nowMs + this.#trip(flight), { kind: "receive", flight, answer });
  }

  #trip({ client }: Flight): number {
    return drawn(this.#scenario.network.latencyMs, client);
  }
}

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
