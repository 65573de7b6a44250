// The way of a call: there, back, lost, or too late. A client waits until its time-out, and learns nothing of what the
// deployment does with the call later.
//
// Time-outs that do not happen have no event. The time of a flight's next step is known when a step ends. If the next
// step comes after the time-out, the client gives up before it. The client's half then goes on as a flight of its own,
// unanswered. The deployment's half becomes an orphan: decided, charged and served as any other call, but answered
// to nobody.
import { ABSENT } from "../src/scenario/client.ts";
import type { Network } from "../src/scenario/network.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import type * as Client from "./client-table.ts";
import { ARRIVE, eventOf, RECEIVE } from "./event-kinds.ts";
import type { EventQueue } from "./event-queue.ts";
import * as Flight from "./flight-table.ts";

/** `NUMBER` of a flight that its client has given up. */
const ORPHAN = -1;

export class Transit {
  readonly #clients: Client.ClientTable;
  readonly #flights: Flight.FlightTable;
  readonly #queue: EventQueue;
  readonly #network: Network;
  readonly #startAtMs: number;

  /** @param queue takes the events of flights, by their times, ms from the run's start */
  constructor(
    { network, startAtMs }: Scenario,
    clients: Client.ClientTable,
    flights: Flight.FlightTable,
    queue: EventQueue,
  ) {
    this.#network = network;
    this.#startAtMs = startAtMs;
    this.#clients = clients;
    this.#flights = flights;
    this.#queue = queue;
  }

  /**
   * Sends a call on its way from the client.
   * @param nowMs ms from the run's start, as all times here
   */
  depart(client: number, flight: number, nowMs: number): void {
    const { latencyMs, roundTripMs } = this.#network;
    let thereMs: number;
    if (roundTripMs === null) thereMs = this.#clients.draw(client, latencyMs);
    else {
      // The way back takes at least 1 ms, so that a call sent after an answer is sent after that answer's decision.
      const tripMs = this.#clients.draw(client, roundTripMs);
      thereMs = tripMs >>> 1;
      this.#flights.ints[flight * Flight.INTS + Flight.BACK] = tripMs - thereMs;
    }
    if (this.#isLost(client)) this.silence(client, flight);
    else this.proceed(client, flight, ARRIVE, nowMs + thereMs);
  }

  /** Schedules a flight's next event at the deployment, at `atMs`; parts the flight if its client gives up before. */
  proceed(client: number, flight: number, kind: number, atMs: number): void {
    if (!this.#isOrphan(flight) && atMs > this.#givenUpAt(client, flight)) this.#part(client, flight);
    this.#queue.push(atMs, eventOf(kind, flight));
  }

  /** Sends an answer on its way from the deployment, at `atMs`. */
  answer(client: number, flight: number, atMs: number): void {
    if (this.#isOrphan(flight)) {
      this.#end(client, flight);
      return;
    }
    const { latencyMs, roundTripMs } = this.#network;
    const backMs =
      roundTripMs === null
        ? this.#clients.draw(client, latencyMs)
        : (this.#flights.ints[flight * Flight.INTS + Flight.BACK] as number);
    if (this.#isLost(client) || atMs + backMs > this.#givenUpAt(client, flight)) this.silence(client, flight);
    else this.#queue.push(atMs + backMs, eventOf(RECEIVE, flight));
  }

  /** Lets the client of a flight wait in vain until its time-out; ends an orphan. */
  silence(client: number, flight: number): void {
    if (this.#isOrphan(flight)) {
      this.#end(client, flight);
      return;
    }
    this.writeUndecided(flight, 0);
    this.#queue.push(this.#givenUpAt(client, flight), eventOf(RECEIVE, flight));
  }

  /** Writes an answer that no limiter made, or none (status 0): it has no headers and shows no counts. */
  writeUndecided(flight: number, status: 0 | 503): void {
    const { ints, doubles } = this.#flights;
    ints[flight * Flight.INTS + Flight.STATUS] = status;
    ints[flight * Flight.INTS + Flight.SHOWN] = Flight.UNDECIDED;
    const at = flight * Flight.DOUBLES;
    doubles.fill(ABSENT, at + Flight.RETRY_AFTER, at + Flight.USER_RESET + 1);
    doubles.fill(Number.NaN, at + Flight.REST_RESET, at + Flight.GRAPHQL_RESET + 1);
  }

  #isLost(client: number): boolean {
    const { loss } = this.#network;
    return loss > 0 && this.#clients.chance(client, loss);
  }

  #isOrphan(flight: number): boolean {
    return this.#flights.ints[flight * Flight.INTS + Flight.NUMBER] === ORPHAN;
  }

  /** Returns the time at which the client stops waiting; an answer at that very instant still counts. */
  #givenUpAt(client: number, flight: number): number {
    const sentMs = this.#flights.doubles[flight * Flight.DOUBLES + Flight.SENT] as number;
    return sentMs - this.#clients.clockMs(client) - this.#startAtMs + this.#network.timeoutMs;
  }

  /** Makes the client's half a flight of its own, which gives up, and the deployment's half an orphan. */
  #part(client: number, flight: number): void {
    const half = this.#flights.take();
    const { ints, doubles } = this.#flights;
    const [to, from] = [half * Flight.DOUBLES, flight * Flight.DOUBLES];
    doubles.copyWithin(to, from, from + Flight.DOUBLES);
    ints[flight * Flight.INTS + Flight.NUMBER] = ORPHAN;
    this.#clients.addOrphan(client);
    this.silence(client, half);
  }

  /** Ends an orphan that the deployment has finished. */
  #end(client: number, flight: number): void {
    this.#flights.give(flight);
    this.#clients.endOrphan(client);
  }
}
