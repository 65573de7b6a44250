// A client of a scenario in virtual time, and its calls on their way.
import { type CallTemplate, type ClientRecord, startRecord } from "../src/scenario/client.ts";
import { type RandomState, seedRandom } from "../src/scenario/random.ts";
import type { Population, Scenario } from "../src/scenario/scenario.ts";
import type { Caller } from "./deployment.ts";

export class SimulatedClient {
  readonly population: Population;
  /** Its place in the population, from 0. */
  readonly index: number;
  readonly caller: Caller;
  readonly record: ClientRecord;
  /** Draws of the network, apart from the client's own: what one client draws moves no other one's trips. */
  readonly network: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  /** Calls sent so far. */
  sent = 0;
  /** Calls planned or on the way. */
  open = 0;
  stopped = false;

  /** @param place of the population in the scenario */
  constructor(scenario: Scenario, population: Population, place: number, index: number, caller: Caller) {
    this.population = population;
    this.index = index;
    this.caller = caller;
    this.record = startRecord(population.behaviour, scenario.seed, place, index);
    seedRandom(this.network, scenario.seed, scenario.populations.length + place, index);
  }

  /** As traces name it. */
  get id(): string {
    return `${this.population.name}/${this.index}`;
  }
}

/** A call of a client, from plan to receipt. */
export interface Flight {
  readonly client: SimulatedClient;
  readonly call: CallTemplate;
  /** The call's index among the behaviour's. */
  readonly template: number;
  readonly page: number;
  readonly attempt: number;
  readonly wantedMs: number;
  readonly delayMs: number;
  /** The client's running number, given when it is sent. */
  number: number;
  sentMs: number;
}
