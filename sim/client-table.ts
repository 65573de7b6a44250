// The clients of a simulation. Each client takes one line of the processor's cache. A behaviour's own record is an
// object, since the same behaviours run in k6.
import {
  type Behaviour,
  type CallTemplate,
  type ClientRecord,
  type RefusalPolicy,
  startRecord,
} from "../src/scenario/client.ts";
import { between, Draws, next32At, type RandomState, seedRandom } from "../src/scenario/random.ts";
import type { Population, Scenario } from "../src/scenario/scenario.ts";
import { userPlace } from "../src/scenario/seats.ts";
import { drawSpread, type Spread } from "../src/scenario/spread.ts";
import { RowTable } from "./row-table.ts";

/** Number of integers per client; the constants below are their places. */
export const INTS = 16;
/** Place of the population in the scenario, and of the client in the population, from 0. */
export const POPULATION = 0;
export const INDEX = 1;
/** The deployment's handle of the caller. */
export const CALLER = 2;
/** Number of calls sent so far. */
export const NUMBERED = 3;
/** Number of calls planned or on the way. */
export const OPEN = 4;
/** 1 once the client has stopped and gets no more events, else 0. */
export const STOPPED = 5;
/** State of the client's network draws, apart from its own draws: no client's draws change another's trips. */
const RANDOM = 6;
/** Lead of the client's clock over the deployment's, ms. */
const CLOCK = 10;
/** Number of calls that the client has given up, and the deployment has not finished. */
const ORPHANS = 11;
/** Time at which the client stops sending, ms from the run's start: a double in the place of integers 12 and 13. */
const END = 6;
const DOUBLES = INTS / 2;

export class ClientTable extends RowTable {
  readonly #scenario: Scenario;
  /** Behaviours by population. Columns are fast; spread populations have hidden classes of their own, and are slow. */
  readonly behaviours: readonly Behaviour[];
  readonly reactions: readonly RefusalPolicy[];
  /** The behaviour's calls, by population. */
  readonly #calls: readonly (readonly CallTemplate[])[];
  readonly #records: ClientRecord[];
  /** Draws of the current client, copied from its integers and back. */
  readonly #random = new Draws();

  /** @param capacity number of clients that fit at first; the table grows */
  constructor(scenario: Scenario, capacity: number) {
    super(DOUBLES, Math.max(1, capacity));
    this.#scenario = scenario;
    this.behaviours = scenario.populations.map(({ behaviour }) => behaviour);
    this.reactions = scenario.populations.map(({ onRefused }) => onRefused);
    this.#calls = this.behaviours.map(({ calls }) => calls);
    this.#records = new Array(capacity);
  }

  /**
   * Returns the place of a new client in this table, its own until it is given back.
   * @param place place of the population in the scenario
   * @param index place of the client in the population
   * @param caller the deployment's handle of the caller
   * @param endMs time from which the client sends nothing, ms from the run's start
   */
  begin(place: number, index: number, caller: number, endMs: number): number {
    const client = this.take();
    const { seed, populations } = this.#scenario;
    const population = this.population(place);
    const user = userPlace(population, index);
    this.#records[client] = startRecord(population.behaviour, seed, place, index, user);
    seedRandom(this.#random, seed, populations.length + place, index);
    const at = client * INTS;
    this.ints[at + POPULATION] = place;
    this.ints[at + INDEX] = index;
    this.ints[at + CALLER] = caller;
    this.ints.fill(0, at + NUMBERED, at + RANDOM);
    const { apartMs } = this.#scenario.clocks;
    this.ints[at + CLOCK] = apartMs === 0 ? 0 : between(this.#random, 0, apartMs);
    this.ints[at + ORPHANS] = 0;
    this.doubles[client * DOUBLES + END] = endMs;
    this.#putRandom(at);
    return client;
  }

  /**
   * Gives a client's place back if the client is over. Then no call is planned or on the way, so nothing can wake the
   * client, and the deployment has none of its calls left.
   */
  giveIfOver(client: number): void {
    const at = client * INTS;
    if (this.ints[at + OPEN] === 0 && this.ints[at + ORPHANS] === 0) this.give(client);
  }

  /** Counts a call that the client gives up before the deployment has finished it. */
  addOrphan(client: number): void {
    const at = client * INTS + ORPHANS;
    this.ints[at] = (this.ints[at] as number) + 1;
  }

  endOrphan(client: number): void {
    const at = client * INTS + ORPHANS;
    this.ints[at] = (this.ints[at] as number) - 1;
    this.giveIfOver(client);
  }

  /** Returns the time at which a client stops sending, ms from the run's start. */
  endMs(client: number): number {
    return this.doubles[client * DOUBLES + END] as number;
  }

  /** Returns the lead of a client's clock over the deployment's, ms. */
  clockMs(client: number): number {
    return this.ints[client * INTS + CLOCK] as number;
  }

  record(client: number): ClientRecord {
    return this.#records[client] as ClientRecord;
  }

  /** @param place place of the population in the scenario */
  population(place: number): Population {
    return this.#scenario.populations[place] as Population;
  }

  populationOf(client: number): Population {
    return this.population(this.ints[client * INTS + POPULATION] as number);
  }

  /** Returns one of a client's calls by its index in the behaviour. */
  call(client: number, template: number): CallTemplate {
    return this.#calls[this.ints[client * INTS + POPULATION] as number]?.[template] as CallTemplate;
  }

  /** Returns a client's name in traces. */
  id(client: number): string {
    return `${this.populationOf(client).name}/${this.ints[client * INTS + INDEX]}`;
  }

  /** Returns a draw of the client's network, whole ms; draws nothing if the spread has one value only. */
  draw(client: number, spread: Spread): number {
    if ("shape" in spread) {
      const drawn = drawSpread(this.#randomOf(client), spread);
      this.#putRandom(client * INTS);
      return drawn;
    }
    // Like `between`, without a copy of the state.
    const { least, most } = spread;
    return least === most ? least : least + Math.floor(this.#share(client) * (most - least + 1));
  }

  /** Tells by a draw whether an event of this probability happens to a client's trip. */
  chance(client: number, share: number): boolean {
    return this.#share(client) < share;
  }

  /** Draws a number from 0 to below 1. */
  #share(client: number): number {
    return next32At(this.ints, client * INTS + RANDOM) / 4_294_967_296;
  }

  #randomOf(client: number): RandomState {
    const at = client * INTS + RANDOM;
    const random = this.#random;
    random.random0 = this.ints[at] as number;
    random.random1 = this.ints[at + 1] as number;
    random.random2 = this.ints[at + 2] as number;
    random.random3 = this.ints[at + 3] as number;
    return random;
  }

  #putRandom(at: number): void {
    const { random0, random1, random2, random3 } = this.#random;
    this.ints[at + RANDOM] = random0;
    this.ints[at + RANDOM + 1] = random1;
    this.ints[at + RANDOM + 2] = random2;
    this.ints[at + RANDOM + 3] = random3;
  }
}
