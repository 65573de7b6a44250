// The simulation itself: one queue of events, each an integer with its kind and subject; clients, flights and windows
// lie in tables. Nothing is allocated per event.
//
// The queue counts ms from the run's start: JavaScript engines pass such small integers without allocating. Clients and
// deployment get ms since the epoch.
import type { CallTemplate } from "../src/scenario/client.ts";
import type { Stay } from "../src/scenario/fleet.ts";
import type { Outage } from "../src/scenario/network.ts";
import { type Population, type Scenario, startDelayMs, staysOf } from "../src/scenario/scenario.ts";
import type { Seat, Seating } from "../src/scenario/seats.ts";
import type { Spread } from "../src/scenario/spread.ts";
import { clientThrew } from "./client-failure.ts";
import * as Client from "./client-table.ts";
import { ANSWERED, AWAITED, type Fate, type NumericDeployment, RUNS } from "./deployment.ts";
import { Driver } from "./driver.ts";
import {
  ARRIVAL,
  ARRIVE,
  COMPLETE,
  eventOf,
  KIND_BITS,
  RECEIVE,
  RESUME,
  SEND,
  START,
} from "./event-kinds.ts";
import { EventQueue, NOTHING } from "./event-queue.ts";
import * as Flight from "./flight-table.ts";
import { LookAhead } from "./look-ahead.ts";
import { PlannedTable } from "./planned-table.ts";
import { FULL, Servers } from "./servers.ts";
import { Transit } from "./transit.ts";

/** Result of `next` while a decision is awaited outside virtual time; negative, as at the run's end. */
export const AWAITING = -2;

/** Clients of an open population that have yet to come. */
interface Arriving {
  readonly place: number;
  readonly stays: Iterator<Stay, void>;
  /** Index of the next client, and the time at which it stops sending, ms from the run's start. */
  index: number;
  endMs: number;
}

export interface SimulatorOptions {
  readonly scenario: Scenario;
  readonly seating: Seating;
  readonly flights: Flight.FlightTable;
  readonly deployment: NumericDeployment;
  /** Signal that ends the sending of calls; calls on the way are still answered. */
  readonly signal: { readonly aborted: boolean } | undefined;
}

/**
 * One run of a scenario, an answer at a time.
 *
 * @example
 * for (let flight = simulator.next(); flight >= 0; flight = simulator.next()) count(flight);
 */
export class Simulator {
  readonly clients: Client.ClientTable;
  readonly #flights: Flight.FlightTable;
  readonly #planned: PlannedTable;
  readonly #scenario: Scenario;
  // Parts of the scenario that events need, copied since members of adjusted scenarios are slow to read.
  readonly #executionMs: Spread;
  readonly #outages: readonly Outage[];
  readonly #seating: Seating;
  readonly #signal: { readonly aborted: boolean } | undefined;
  readonly #startAtMs: number;
  readonly #durationMs: number;
  readonly #deployment: NumericDeployment;
  /** The deployment's handles of a population's seats, by population. */
  readonly #callers: readonly Int32Array[];
  readonly #queue: EventQueue;
  readonly #driver: Driver;
  readonly #lookAhead: LookAhead;
  readonly #transit: Transit;
  /** Servers behind the limiter; `null` if serving takes no time. */
  readonly #servers: Servers | null;
  readonly #arrivals: Arriving[] = [];
  /** Flight that `next` returned last, whose client has yet to learn of it; or `AWAITING`. */
  #received = NOTHING;
  /** Flight whose decision is awaited while `next` returns `AWAITING`. */
  #awaited = NOTHING;
  #events = 0;

  constructor({ scenario, seating, flights, deployment, signal }: SimulatorOptions) {
    const { startAtMs, durationMs, populations } = scenario;
    const clients = populations.reduce((sum, population) => sum + (population.clients ?? 0), 0);
    this.#scenario = scenario;
    this.#executionMs = scenario.network.executionMs;
    this.#outages = scenario.outages;
    this.#seating = seating;
    this.#signal = signal;
    this.#startAtMs = startAtMs;
    this.#durationMs = durationMs;
    this.#flights = flights;
    this.#planned = new PlannedTable(clients + 64);
    this.#deployment = deployment;
    this.#callers = populations.map((_, place) => {
      const callers = new Int32Array(seating.count(place));
      return callers.map((_caller, n) => {
        const { organization, user } = seating.seat(place, n);
        return deployment.caller(organization, user);
      });
    });
    this.clients = new Client.ClientTable(scenario, clients);
    this.#queue = new EventQueue(0, clients + 1024);
    this.#lookAhead = new LookAhead(this.#queue, this.clients, this.#planned, deployment);
    this.#transit = new Transit(scenario, this.clients, flights, this.#queue);
    this.#servers = scenario.service === null ? null : new Servers(scenario.service);
    this.#driver = new Driver(scenario, this.clients, flights, this.#planned, this.#queue);
    this.#populate();
  }

  /** Number of events so far. */
  get events(): number {
    return this.#events;
  }

  /** Returns the seat as which a client calls. */
  seatOf(client: number): Seat {
    const at = client * Client.INTS;
    const place = this.clients.ints[at + Client.POPULATION] as number;
    const index = this.clients.ints[at + Client.INDEX] as number;
    return this.#seating.seat(place, index % this.#seating.count(place));
  }

  /** Virtual time, ms since the epoch. */
  get nowMs(): number {
    return this.#startAtMs + this.#queue.nowMs;
  }

  /**
   * Simulates until the next answer reaches its client, and returns the flight, whose numbers hold until the next call
   * of `next`. Returns a negative number at the run's end, and `AWAITING` if the deployment has yet to decide a flight:
   * virtual time stands still, and the next call asks the deployment to `resume` the flight.
   * @throws SpillwayError `SCENARIO_FAILED` if a behaviour or retry policy is at fault
   */
  next(): number {
    const received = this.#received;
    this.#received = NOTHING;
    if (received === AWAITING) this.#resume(this.#awaited, this.#queue.nowMs);
    else if (received !== NOTHING) this.#driver.receive(received, this.#queue.nowMs);
    while (this.#received === NOTHING) {
      const event = this.#queue.pop();
      if (event === NOTHING) break;
      if (this.#queue.isAtUnseen) this.#lookAhead.look();
      this.#events += 1;
      this.#happen(event & ((1 << KIND_BITS) - 1), event >>> KIND_BITS, this.#queue.nowMs);
    }
    return this.#received;
  }

  #happen(kind: number, subject: number, nowMs: number): void {
    switch (kind) {
      case START:
        if (this.#isOpen(nowMs)) this.#driver.start(subject, nowMs);
        break;
      case ARRIVAL:
        this.#admit(subject, nowMs);
        break;
      case SEND:
        this.#send(subject, nowMs);
        break;
      case ARRIVE:
        this.#arrive(subject, nowMs);
        break;
      case RESUME:
        this.#resume(subject, nowMs);
        break;
      case COMPLETE:
        this.#complete(subject, nowMs);
        break;
      case RECEIVE:
        this.#received = subject;
    }
  }

  /** Tells whether calls may still be sent at this instant. */
  #isOpen(nowMs: number): boolean {
    return nowMs < this.#durationMs && this.#signal?.aborted !== true;
  }

  #populate(): void {
    for (const [place, population] of this.#scenario.populations.entries()) {
      if (population.arrivals !== null) {
        const stays = staysOf(this.#scenario, place)[Symbol.iterator]();
        this.#await(this.#arrivals.push({ place, stays, index: -1, endMs: 0 }) - 1);
        continue;
      }
      for (let index = 0; index < population.clients; index++) {
        const client = this.#client(population, place, index, this.#durationMs);
        const startMs = startDelayMs(population, this.clients.record(client));
        this.#queue.push(startMs, eventOf(START, client));
      }
    }
  }

  #client(population: Population, place: number, index: number, endMs: number): number {
    const name = `${population.name}/${index}`;
    const callers = this.#callers[place] as Int32Array;
    const caller = callers[index % callers.length];
    if (caller === undefined) throw new RangeError(`${name} has no seat`);
    try {
      return this.clients.begin(place, index, caller, endMs);
    } catch (cause) {
      throw clientThrew({ client: name, behaviour: population.behaviour.name, nowMs: this.nowMs }, cause);
    }
  }

  /** Schedules the next client of a stream of arrivals. */
  #await(stream: number): void {
    const arriving = this.#arrivals[stream];
    const next = arriving?.stays.next();
    if (arriving === undefined || next === undefined || next.done === true) return;
    arriving.index += 1;
    arriving.endMs = next.value.endMs;
    this.#queue.push(next.value.startMs, eventOf(ARRIVAL, stream));
  }

  #admit(stream: number, nowMs: number): void {
    const arriving = this.#arrivals[stream];
    if (arriving === undefined || !this.#isOpen(nowMs)) return;
    const { place, index, endMs } = arriving;
    this.#driver.start(this.#client(this.clients.population(place), place, index, endMs), nowMs);
    this.#await(stream);
  }

  #send(row: number, nowMs: number): void {
    if (!this.#isOpen(nowMs)) {
      this.#planned.give(row);
      return;
    }
    const flight = this.#planned.depart(row, this.#flights);
    const { ints, doubles } = this.#flights;
    const client = this.#clientOf(flight);
    const at = client * Client.INTS + Client.NUMBERED;
    const number = this.clients.ints[at] as number;
    this.clients.ints[at] = number + 1;
    ints[flight * Flight.INTS + Flight.NUMBER] = number;
    doubles[flight * Flight.DOUBLES + Flight.SENT] = this.nowMs + this.clients.clockMs(client);
    this.#transit.depart(client, flight, nowMs);
  }

  #arrive(flight: number, nowMs: number): void {
    const client = this.#clientOf(flight);
    const outage = this.#outageAt(client, nowMs);
    if (outage !== null) {
      this.#turnAway(client, flight, outage.answer, nowMs);
      return;
    }
    const call = this.#callOf(client, flight);
    this.#decided(
      client,
      flight,
      this.#deployment.arrive(flight, this.#callerOf(client), call, this.nowMs),
      nowMs,
    );
  }

  #resume(flight: number, nowMs: number): void {
    this.#decided(this.#clientOf(flight), flight, this.#deployment.resume(flight, this.nowMs), nowMs);
  }

  /** Returns the outage that a call runs into; `null` if none. */
  #outageAt(client: number, nowMs: number): Outage | null {
    for (const outage of this.#outages) {
      const { atMs, forMs, share } = outage;
      const isOn = nowMs >= atMs && nowMs < atMs + forMs;
      if (isOn && (share === 1 || this.clients.chance(client, share))) return outage;
    }
    return null;
  }

  /** Ends a call before the limiter or the servers, without an answer or with a 503. */
  #turnAway(client: number, flight: number, answer: Outage["answer"], nowMs: number): void {
    if (answer === "none") {
      this.#transit.silence(client, flight);
      return;
    }
    this.#transit.writeUndecided(flight, answer);
    this.#transit.answer(client, flight, nowMs);
  }

  #decided(client: number, flight: number, fate: Fate, nowMs: number): void {
    if (fate === AWAITED) {
      this.#awaited = flight;
      this.#received = AWAITING;
    } else if (fate === RUNS) {
      const runsMs = this.clients.draw(client, this.#executionMs);
      const doneMs = this.#serve(client, nowMs, runsMs);
      if (doneMs === FULL) this.#turnAway(client, flight, 503, nowMs);
      else this.#transit.proceed(client, flight, COMPLETE, doneMs);
    } else if (fate !== ANSWERED) this.#transit.proceed(client, flight, RESUME, nowMs + fate);
    else if (this.#isServed(client, flight)) {
      const doneMs = this.#serve(client, nowMs, 0);
      if (doneMs === FULL) this.#turnAway(client, flight, 503, nowMs);
      else this.#transit.answer(client, flight, doneMs);
    } else this.#transit.answer(client, flight, nowMs);
  }

  /**
   * Tells whether a server has to serve an answered call: an admitted REST call. Refusals and status answers come from
   * in front of the servers, and a query was at a server while it ran.
   */
  #isServed(client: number, flight: number): boolean {
    if (this.#servers === null) return false;
    const { scope, kind } = this.#callOf(client, flight);
    return (
      scope === "rest" && kind === "call" && this.#flights.ints[flight * Flight.INTS + Flight.STATUS] === 200
    );
  }

  /** Returns the time at which the servers have served a call; `FULL` if they cannot take it. */
  #serve(client: number, nowMs: number, runsMs: number): number {
    const { service } = this.#scenario;
    if (this.#servers === null || service === null) return nowMs + runsMs;
    return this.#servers.take(nowMs, this.clients.draw(client, service.timeMs) + runsMs);
  }

  #complete(flight: number, nowMs: number): void {
    const client = this.#clientOf(flight);
    const call = this.#callOf(client, flight);
    const fate = this.#deployment.complete(flight, this.#callerOf(client), call, this.nowMs);
    this.#decided(client, flight, fate, nowMs);
  }

  #clientOf(flight: number): number {
    return this.#flights.ints[flight * Flight.INTS + Flight.CLIENT] as number;
  }

  #callerOf(client: number): number {
    return this.clients.ints[client * Client.INTS + Client.CALLER] as number;
  }

  #callOf(client: number, flight: number): CallTemplate {
    const template = this.#flights.ints[flight * Flight.INTS + Flight.TEMPLATE] as number;
    return this.clients.call(client, template);
  }
}
