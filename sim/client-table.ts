// The clients of a simulation. What the simulator keeps of each is one line of the processor's cache in one typed
// array; a behaviour's own record is an object, since the same behaviours run in k6.
import {
  type Behaviour,
  type CallTemplate,
  type ClientRecord,
  type RefusalPolicy,
  startRecord,
} from "../src/scenario/client.ts";
import { between, Draws, next32, type RandomState, seedRandom } from "../src/scenario/random.ts";
import type { Population, Scenario } from "../src/scenario/scenario.ts";
import { userPlace } from "../src/scenario/seats.ts";
import { drawSpread, type Spread } from "../src/scenario/spread.ts";

/** Integers a client, and where each is. */
export const INTS = 16;
/** Its population's place in the scenario, and its own place in the population, from 0. */
export const POPULATION = 0;
export const INDEX = 1;
/** The deployment's handle of who calls. */
export const CALLER = 2;
/** Calls sent so far. */
export const NUMBERED = 3;
/** Calls planned or on the way. */
export const OPEN = 4;
/** 1 when it is told nothing more. */
export const STOPPED = 5;
/** Draws of the network, apart from the client's own: what one client draws moves no other one's trips. */
const RANDOM = 6;
/** Lead of its clock over the deployment's, ms. */
const CLOCK = 10;
/** Calls that it has given up and the deployment has not. */
const ORPHANS = 11;
/** As a double, at 12 and 13: when it stops sending, ms from the run's start. */
const END = 6;
const DOUBLES = INTS / 2;

export class ClientTable {
  ints: Int32Array<ArrayBuffer>;
  /** The same memory. */
  #doubles: Float64Array<ArrayBuffer>;
  readonly #scenario: Scenario;
  /** By population, as columns: populations that were spread have hidden classes of their own, and are slow to ask. */
  readonly behaviours: readonly Behaviour[];
  readonly reactions: readonly RefusalPolicy[];
  /** By population: its behaviour's calls. */
  readonly #calls: readonly (readonly CallTemplate[])[];
  readonly #records: ClientRecord[];
  #used = 0;
  readonly #free: number[] = [];
  /** The draws of the client that is served, taken out of its integers and put back. */
  readonly #random = new Draws();

  /** @param capacity how many clients it has room for at first; it grows */
  constructor(scenario: Scenario, capacity: number) {
    this.#scenario = scenario;
    this.behaviours = scenario.populations.map(({ behaviour }) => behaviour);
    this.reactions = scenario.populations.map(({ onRefused }) => onRefused);
    this.#calls = this.behaviours.map(({ calls }) => calls);
    this.#records = new Array(capacity);
    this.ints = new Int32Array(Math.max(1, capacity) * INTS);
    this.#doubles = new Float64Array(this.ints.buffer);
  }

  /**
   * A client at its start; its place in this table is its own until it is given back.
   * @param place of its population in the scenario
   * @param index in the population
   * @param caller the deployment's handle
   * @param endMs it sends nothing from then on, ms from the run's start
   */
  take(place: number, index: number, caller: number, endMs: number): number {
    const client = this.#free.pop() ?? this.#used++;
    if ((client + 1) * INTS > this.ints.length) this.#grow();
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
    this.#doubles[client * DOUBLES + END] = endMs;
    this.#putRandom(at);
    return client;
  }

  /**
   * Gives a client's place back where it is over: nothing that is planned or on the way means that nothing will ever
   * wake it, and no call of its is left at the deployment.
   */
  giveIfOver(client: number): void {
    const at = client * INTS;
    if (this.ints[at + OPEN] === 0 && this.ints[at + ORPHANS] === 0) this.#free.push(client);
  }

  /** A client gives up a call that the deployment has still to do with. */
  addOrphan(client: number): void {
    const at = client * INTS + ORPHANS;
    this.ints[at] = (this.ints[at] as number) + 1;
  }

  endOrphan(client: number): void {
    const at = client * INTS + ORPHANS;
    this.ints[at] = (this.ints[at] as number) - 1;
    this.giveIfOver(client);
  }

  /** When a client stops sending, ms from the run's start. */
  endMs(client: number): number {
    return this.#doubles[client * DOUBLES + END] as number;
  }

  /** Returns the lead of a client's clock over the deployment's, ms. */
  clockMs(client: number): number {
    return this.ints[client * INTS + CLOCK] as number;
  }

  record(client: number): ClientRecord {
    return this.#records[client] as ClientRecord;
  }

  /** @param place in the scenario */
  population(place: number): Population {
    return this.#scenario.populations[place] as Population;
  }

  populationOf(client: number): Population {
    return this.population(this.ints[client * INTS + POPULATION] as number);
  }

  /** One of a client's calls, by its index among those of its behaviour. */
  call(client: number, template: number): CallTemplate {
    return this.#calls[this.ints[client * INTS + POPULATION] as number]?.[template] as CallTemplate;
  }

  /** As traces name it. */
  id(client: number): string {
    return `${this.populationOf(client).name}/${this.ints[client * INTS + INDEX]}`;
  }

  /** A draw of the client's network, in whole ms; nothing is drawn where there is no choice. */
  draw(client: number, spread: Spread): number {
    if (!("shape" in spread) && spread.least === spread.most) return spread.least;
    const drawn = drawSpread(this.#randomOf(client), spread);
    this.#putRandom(client * INTS);
    return drawn;
  }

  /** Tells whether something that happens with this share happens to a client's trip. */
  chance(client: number, share: number): boolean {
    const drawn = next32(this.#randomOf(client));
    this.#putRandom(client * INTS);
    return drawn < share * 4_294_967_296;
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

  #grow(): void {
    const larger = new Int32Array(2 * this.ints.length);
    larger.set(this.ints);
    this.ints = larger;
    this.#doubles = new Float64Array(larger.buffer);
  }
}
