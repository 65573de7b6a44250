// A scenario, as data. `ScenarioInput` is what people write, `Scenario` is what `defineScenario` makes of
// it: everything checked, every default filled in, every duration in milliseconds.

import type { Policy } from "../policy/policy.ts";
import type { Expectation } from "../rules/figures.ts";
import type { Rules, RulesInput } from "../rules/rules.ts";
import type { Arrivals } from "./arrival-input.ts";
import { type ArrivalSchedule, arrivalStays, isByTheClock } from "./arrivals.ts";
import type { Behaviour, RefusalPolicy } from "./client.ts";
import type { Stay } from "./fleet.ts";
import type { Duration } from "./mistakes.ts";
import type {
  Clocks,
  ClocksInput,
  Network,
  NetworkInput,
  Outage,
  OutageInput,
  Service,
  ServiceInput,
} from "./network.ts";
import { below, type RandomState } from "./random.ts";

/** Clients that are alike. */
export interface PopulationInput {
  /** Number of clients for the whole run (closed model); or `arrivals`. */
  readonly clients?: number;
  /**
   * Each arrival is a client (open model): at a constant, ramping or random rate, by cron, by the hours of a day; or a
   * fleet that scales up and down. In k6's words where it has some.
   */
  readonly arrivals?: Arrivals;
  /** A slug; where it is left out the first of the tokens' organizations, `acme` without tokens. */
  readonly organization?: string;
  /**
   * Every client a user of its own, all one user, or so many users in turn. Where it is left out: `each` for
   * `clients` and `ramping-vus`, `shared` for other `arrivals`. No two populations share a user.
   *
   * So a pool of tokens is a number: `clients: 40, user: 5` are forty clients that take turns with five users' tokens,
   * eight of them in each user's window.
   */
  readonly user?: "each" | "shared" | number;
  readonly behaviour: Behaviour;
  /** Their reaction to a refusal. Default: none, so the call is lost. */
  readonly onRefused?: RefusalPolicy;
  /** Closed model: clients begin at random within this span; 0 (all at once) where it is left out. */
  readonly startWithin?: Duration;
}

/** Expectations of a run: a figure (`src/rules/figures.ts`) and a bound such as `"<5%"`, `">=100"`, `"<=2s"`. */
export type Expectations = Readonly<Record<string, string>>;

export interface ScenarioInput {
  /** Letters, digits, dashes, underscores: run folders are named after it. */
  readonly name: string;
  readonly description?: string;
  /** A whole number >= 0; 1 where it is left out. */
  readonly seed?: number;
  /** Nothing is sent from then on. */
  readonly duration: Duration;
  /** Start of virtual time, ISO 8601 with a zone. Default: 2026-01-01T00:00:00Z. */
  readonly startAt?: string;
  readonly rules?: RulesInput;
  readonly populations: Readonly<Record<string, PopulationInput>>;
  /** Travel times, losses and time-outs of the simulator's calls. */
  readonly network?: NetworkInput;
  /** The simulator's servers behind the limiter; where it is left out, serving takes no time and no room. */
  readonly service?: ServiceInput;
  /** When the simulator's deployment serves nobody: `[{ at: "1m", for: "30s", answer: 503 }]`. */
  readonly outages?: readonly OutageInput[];
  /** Distance between the clocks of the simulator's clients. Default: none. */
  readonly clocks?: ClocksInput;
  /** Bounds that are to hold: the simulator's assertions and k6's thresholds. */
  readonly expect?: Expectations;
  /** Error that `spillway fit` found when it simulated what it had fitted to. */
  readonly fitError?: Partial<FitError>;
}

/**
 * Differences between what was recorded and what its fitted scenario simulates, as shares of the greater of the two,
 * from -1 to 1: above 0 if more was recorded.
 */
export interface FitError {
  readonly calls: number;
  readonly refused: number;
  readonly waitP95Ms: number;
  /** Questions that the recording does not answer. */
  readonly untold?: readonly Untold[];
}

/**
 * `weekdays`: none was seen twice; `reactions`: what callers do when refused was not seen, or hardly; `attempts`:
 * nobody was seen to give a call up; `caller`: one of many had most of the refusals.
 */
export const untolds = ["weekdays", "reactions", "attempts", "caller"] as const;
export type Untold = (typeof untolds)[number];

interface PopulationCommon {
  /** Clients are called `name/index` in a trace. */
  readonly name: string;
  /** `null`: the first of the tokens' organizations, or `acme`. */
  readonly organization: string | null;
  readonly user: "each" | "shared" | number;
  readonly behaviour: Behaviour;
  readonly onRefused: RefusalPolicy;
}

/** Clients that are there for the whole run. */
export interface ClosedPopulation extends PopulationCommon {
  readonly clients: number;
  readonly arrivals: null;
  readonly startWithinMs: number;
}

/** Clients that arrive, each for a life of its own. */
interface OpenPopulation extends PopulationCommon {
  readonly clients: null;
  readonly arrivals: ArrivalSchedule;
}

export type Population = ClosedPopulation | OpenPopulation;

/** A scenario as `defineScenario` returns it. Clients and draws go by the order of `populations`. */
export interface Scenario {
  readonly format: "spillway-scenario";
  readonly name: string;
  readonly description: string;
  readonly seed: number;
  readonly durationMs: number;
  /** Start of virtual time, ms since the epoch. */
  readonly startAtMs: number;
  /** `null` where the scenario claims none: a simulation then has the default rules. */
  readonly rules: Rules | null;
  /** Limits of any API, in place of rules. */
  readonly policy?: Policy;
  readonly populations: readonly Population[];
  readonly network: Network;
  /** `null`: serving takes no time. */
  readonly service: Service | null;
  readonly outages: readonly Outage[];
  readonly clocks: Clocks;
  readonly expect: readonly Expectation[];
  /** `null`: not fitted, or not checked. */
  readonly fitError: FitError | null;
}

/** When a client of a closed population begins, ms from the start of the run: its record's first draw. */
export function startDelayMs({ startWithinMs }: ClosedPopulation, record: RandomState): number {
  return startWithinMs === 0 ? 0 : below(record, startWithinMs);
}

/** A real run begins later than it was planned, by so much at most: k6 gets its clients ready first. */
const lateMost = 60_000;

/**
 * The stays of an open population's clients, in a run of the scenario as it is; none of a closed one's.
 * @param longerMs so much longer the run is taken to be
 */
export function staysOf(scenario: Scenario, place: number, longerMs = 0): Iterable<Stay> {
  const { startAtMs, seed, populations } = scenario;
  const arrivals = populations[place]?.arrivals ?? null;
  // Clients' own draws are the first streams, their networks' the second ones.
  const stream = 2 * populations.length + place;
  const durationMs = scenario.durationMs + longerMs;
  return arrivals === null ? [] : arrivalStays(arrivals, { durationMs, startAtMs, seed, stream });
}

/**
 * The stays that there may be in a real run: one that begins late has others where clients come by the clock, those
 * that were due before it not among them.
 */
export function possibleStays(scenario: Scenario, place: number): Iterable<Stay> {
  const arrivals = scenario.populations[place]?.arrivals ?? null;
  return staysOf(scenario, place, arrivals !== null && isByTheClock(arrivals) ? lateMost : 0);
}

/** Returns the most clients that a population has in a run: its `clients`, or its arrivals. */
export function clientsMost(scenario: Scenario, place: number): number {
  const clients = scenario.populations[place]?.clients ?? null;
  if (clients !== null) return clients;
  let count = 0;
  for (const _ of possibleStays(scenario, place)) count += 1;
  return count;
}
