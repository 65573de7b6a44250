// Sends events to clients, takes their plans, and guards against faults of a behaviour: an exception, an invalid time,
// too many calls.

import type { SpillwayError } from "../src/rules/errors.ts";
import { counted } from "../src/rules/words.ts";
import {
  ANSWERED,
  type Behaviour,
  ClientOut,
  createEvent,
  type PlannedCall,
  type RefusalPolicy,
  step,
} from "../src/scenario/client.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import type { Spread } from "../src/scenario/spread.ts";
import { type Culprit, clientFailure, clientThrew } from "./client-failure.ts";
import * as Client from "./client-table.ts";
import { eventOf, SEND } from "./event-kinds.ts";
import type { EventQueue } from "./event-queue.ts";
import * as Flight from "./flight-table.ts";
import type { PlannedTable } from "./planned-table.ts";

/** Drives the clients of one simulation. */
export class Driver {
  readonly #clients: Client.ClientTable;
  readonly #flights: Flight.FlightTable;
  readonly #planned: PlannedTable;
  readonly #queue: EventQueue;
  readonly #startAtMs: number;
  readonly #latenessMs: Spread;
  /** True if flights show what calls ask of each quota. */
  readonly #isByPolicy: boolean;
  // Each step fills these in again; for an event that starts a client, only its times.
  readonly #started = createEvent();
  readonly #answered = createEvent();
  /** Event of the current step, or of the last one. */
  #event = this.#started;
  readonly #out = new ClientOut();

  /** @param queue takes the calls that clients plan, by their times, ms from the run's start */
  constructor(
    { startAtMs, network, policy }: Scenario,
    clients: Client.ClientTable,
    flights: Flight.FlightTable,
    planned: PlannedTable,
    queue: EventQueue,
  ) {
    this.#clients = clients;
    this.#flights = flights;
    this.#planned = planned;
    this.#queue = queue;
    this.#startAtMs = startAtMs;
    this.#latenessMs = network.latenessMs;
    this.#isByPolicy = policy !== undefined;
  }

  /**
   * Starts a client.
   * @param nowMs ms from the run's start, as for `receive`
   */
  start(client: number, nowMs: number): void {
    this.#event = this.#started;
    this.#setClock(client, nowMs);
    this.#step(client);
  }

  /** Gives the client the answer of a flight, and ends the flight. */
  receive(flight: number, nowMs: number): void {
    const client = this.#flights.ints[flight * Flight.INTS + Flight.CLIENT] as number;
    const { ints } = this.#clients;
    const at = client * Client.INTS;
    ints[at + Client.OPEN] = (ints[at + Client.OPEN] as number) - 1;
    if (ints[at + Client.STOPPED] === 0) {
      this.#tell(client, flight, nowMs);
      this.#flights.give(flight);
      this.#step(client);
      return;
    }
    this.#flights.give(flight);
    this.#clients.giveIfOver(client);
  }

  /** Sets the event's time and the client's end, by the client's own clock. */
  #setClock(client: number, nowMs: number): void {
    const startMs = this.#startAtMs + this.#clients.clockMs(client);
    this.#event.nowMs = startMs + nowMs;
    this.#event.endMs = startMs + this.#clients.endMs(client);
  }

  /** Fills in the event of an answer. */
  #tell(client: number, flight: number, nowMs: number): void {
    const { ints, doubles } = this.#flights;
    const [at, inInts] = [flight * Flight.DOUBLES, flight * Flight.INTS];
    const event = this.#answered;
    this.#event = event;
    event.kind = ANSWERED;
    this.#setClock(client, nowMs);
    event.template = ints[inInts + Flight.TEMPLATE] as number;
    event.attempt = ints[inInts + Flight.ATTEMPT] as number;
    event.status = ints[inInts + Flight.STATUS] as number;
    event.page = ints[inInts + Flight.PAGE] as number;
    event.wantedMs = doubles[at + Flight.WANTED] as number;
    event.delayMs = doubles[at + Flight.DELAY] as number;
    event.limit = doubles[at + Flight.LIMIT] as number;
    event.remaining = doubles[at + Flight.REMAINING] as number;
    event.reset = doubles[at + Flight.RESET] as number;
    event.userLimit = doubles[at + Flight.USER_LIMIT] as number;
    event.userRemaining = doubles[at + Flight.USER_REMAINING] as number;
    event.userReset = doubles[at + Flight.USER_RESET] as number;
    event.retryAfter = doubles[at + Flight.RETRY_AFTER] as number;
    const { cost, lastPage } = this.#clients.call(client, event.template);
    const isByQuota = this.#isByPolicy && ((ints[inInts + Flight.SHOWN] as number) & Flight.UNDECIDED) === 0;
    event.cost = isByQuota ? (doubles[at + Flight.COST] as number) : cost;
    event.userCost = isByQuota ? (doubles[at + Flight.USER_COST] as number) : cost;
    event.hasNextPage = event.status === 200 && (lastPage === undefined || event.page < lastPage);
  }

  #step(client: number): void {
    const { ints, behaviours, reactions } = this.#clients;
    const at = client * Client.INTS;
    const population = ints[at + Client.POPULATION] as number;
    const behaviour = behaviours[population] as Behaviour;
    const onRefused = reactions[population] as RefusalPolicy;
    const out = this.#out;
    try {
      step(behaviour, onRefused, this.#clients.record(client), this.#event, out);
    } catch (cause) {
      throw clientThrew(this.#culprit(client), cause);
    }
    const open = (ints[at + Client.OPEN] as number) + out.count;
    ints[at + Client.OPEN] = open;
    if (open > behaviour.inFlightMost)
      throw this.#failure(
        client,
        `${counted(open, "call")} planned or on the way`,
        `at most ${behaviour.inFlightMost}, the inFlightMost of its behaviour`,
      );
    for (let index = 0; index < out.count; index++)
      this.#take(client, behaviour, out.calls[index] as PlannedCall);
    ints[at + Client.STOPPED] = Number(out.stopped);
    this.#clients.giveIfOver(client);
  }

  /** Checks a call that a client wants, and plans it. A call due at the client's end or later is never sent. */
  #take(client: number, { calls }: Behaviour, planned: PlannedCall): void {
    const { template, atMs, page } = planned;
    if (calls[template] === undefined)
      throw this.#failure(client, `call ${template}`, `0 to ${calls.length - 1}, an index of its calls`);
    if (!Number.isSafeInteger(atMs) || atMs < this.#startAtMs)
      throw this.#failure(
        client,
        `a call at ${atMs}`,
        "a time in whole ms since the epoch, not before the run: event.nowMs + 1000 is a second from now",
      );
    if ((page | 0) !== page) throw this.#failure(client, `page ${page}`, "a whole number below 2^31");
    const { nowMs, endMs } = this.#event;
    if (atMs >= endMs) return;
    const dueMs = Math.max(atMs, nowMs) - this.#startAtMs - this.#clients.clockMs(client);
    // A client that has to wait for a call may send it late.
    const lateMs = dueMs > this.#queue.nowMs ? this.#clients.draw(client, this.#latenessMs) : 0;
    this.#queue.push(dueMs + lateMs, eventOf(SEND, this.#planned.put(client, planned)));
  }

  #failure(client: number, got: string, allowed: string): SpillwayError {
    return clientFailure(this.#culprit(client), got, allowed);
  }

  #culprit(client: number): Culprit {
    const { behaviour } = this.#clients.populationOf(client);
    return { client: this.#clients.id(client), behaviour: behaviour.name, nowMs: this.#event.nowMs };
  }
}
