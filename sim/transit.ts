// The way of a call: there, back, lost, or too late. A client waits for its time-out and no longer; what the deployment
// does with the call after that it never hears.
//
// No event is scheduled for time-outs that do not happen. Each step of a flight is known when the one before is over;
// where it comes after the time-out, the client will give up in between. Its half of the flight then goes on as a
// flight of its own, unanswered, and the deployment's half is an orphan: decided, charged and served as any other, and
// answered to nobody.
import { ABSENT } from "../src/scenario/client.ts";
import type { Network } from "../src/scenario/network.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import type * as Client from "./client-table.ts";
import { ARRIVE, RECEIVE } from "./event-kinds.ts";
import * as Flight from "./flight-table.ts";

/** `NUMBER` of a flight whose client has given it up. */
const ORPHAN = -1;

export class Transit {
  readonly #clients: Client.ClientTable;
  readonly #flights: Flight.FlightTable;
  readonly #schedule: (timeMs: number, kind: number, flight: number) => void;
  readonly #network: Network;
  readonly #startAtMs: number;

  /** @param schedule takes what happens to a flight, and when, ms from the start */
  constructor(
    { network, startAtMs }: Scenario,
    clients: Client.ClientTable,
    flights: Flight.FlightTable,
    schedule: (timeMs: number, kind: number, flight: number) => void,
  ) {
    this.#network = network;
    this.#startAtMs = startAtMs;
    this.#clients = clients;
    this.#flights = flights;
    this.#schedule = schedule;
  }

  /**
   * A call leaves its client.
   * @param nowMs from the run's start, as all times here
   */
  depart(client: number, flight: number, nowMs: number): void {
    const { latencyMs, roundTripMs } = this.#network;
    let thereMs: number;
    if (roundTripMs === null) thereMs = this.#clients.draw(client, latencyMs);
    else {
      // The way back takes 1 ms at least: whoever sends after an answer has come sends after it was decided.
      const tripMs = this.#clients.draw(client, roundTripMs);
      thereMs = tripMs >>> 1;
      this.#flights.ints[flight * Flight.INTS + Flight.BACK] = tripMs - thereMs;
    }
    if (this.#isLost(client)) this.silence(client, flight);
    else this.proceed(client, flight, ARRIVE, nowMs + thereMs);
  }

  /** Something happens to a flight at the deployment, at `atMs`. */
  proceed(client: number, flight: number, kind: number, atMs: number): void {
    if (!this.#isOrphan(flight) && atMs > this.#givenUpAt(client, flight)) this.#part(client, flight);
    this.#schedule(atMs, kind, flight);
  }

  /** An answer leaves the deployment at `atMs`. */
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
    else this.#schedule(atMs + backMs, RECEIVE, flight);
  }

  /** Nobody will answer: the client waits in vain. */
  silence(client: number, flight: number): void {
    if (this.#isOrphan(flight)) {
      this.#end(client, flight);
      return;
    }
    this.writeUndecided(flight, 0);
    this.#schedule(this.#givenUpAt(client, flight), RECEIVE, flight);
  }

  /** An answer, or none, that the limiter has no part in: no header, nothing counted that it would show. */
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

  /** When the client stops waiting; an answer of that very instant is still taken. */
  #givenUpAt(client: number, flight: number): number {
    const sentMs = this.#flights.doubles[flight * Flight.DOUBLES + Flight.SENT] as number;
    return sentMs - this.#clients.clockMs(client) - this.#startAtMs + this.#network.timeoutMs;
  }

  /** The client's half of a flight goes on as one of its own, and gives up. */
  #part(client: number, flight: number): void {
    const half = this.#flights.take();
    const { ints, doubles } = this.#flights;
    const [to, from] = [half * Flight.DOUBLES, flight * Flight.DOUBLES];
    doubles.copyWithin(to, from, from + Flight.DOUBLES);
    ints[flight * Flight.INTS + Flight.NUMBER] = ORPHAN;
    this.#clients.addOrphan(client);
    this.silence(client, half);
  }

  /** The deployment is done with an orphan. */
  #end(client: number, flight: number): void {
    this.#flights.give(flight);
    this.#clients.endOrphan(client);
  }
}
