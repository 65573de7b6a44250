// A scenario, as data. People write a `ScenarioInput`; `defineScenario` turns it into a `Scenario` with everything
// checked, every default filled in and every duration in milliseconds.

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

/** Clients of one kind. */
export interface PopulationInput {
  /** Number of clients for the whole run (closed model). Give either this or `arrivals`. */
  readonly clients?: number;
  /**
   * Arrivals, each of which is a client (open model). They come at a constant, ramping or random rate, by cron or the
   * hours of a day, or as a fleet that scales up and down. The words are k6's where k6 has some.
   */
  readonly arrivals?: Arrivals;
  /** Slug of an organization. Default: the first of the tokens' organizations, or `acme` without tokens. */
  readonly organization?: string;
  /**
   * Users of the clients: one each, one for all, or a number of users in turn. Populations share no users. Default:
   * `each` for `clients` and `ramping-vus`, `shared` for other `arrivals`.
   *
   * A pool of tokens is therefore a number: with `clients: 40, user: 5` forty clients take turns with five users'
   * tokens, eight of them in each user's window.
   */
  readonly user?: "each" | "shared" | number;
  readonly behaviour: Behaviour;
  /** Their reaction to a refusal. Default: none, so the call is lost. */
  readonly onRefused?: RefusalPolicy;
  /** Span within which clients begin at random (closed model). Default: 0, all at once. */
  readonly startWithin?: Duration;
}

/** Expectations of a run: a figure (`src/rules/figures.ts`) and a bound such as `"<5%"`, `">=100"`, `"<=2s"`. */
export type Expectations = Readonly<Record<string, string>>;

export interface ScenarioInput {
  /** Letters, digits, dashes, underscores: it names the run folders. */
  readonly name: string;
  readonly description?: string;
  /** Whole number of at least 0. Default: 1. */
  readonly seed?: number;
  /** Time after which nothing more is sent. */
  readonly duration: Duration;
  /** Start of virtual time, ISO 8601 with a zone. Default: 2026-01-01T00:00:00Z. */
  readonly startAt?: string;
  readonly rules?: RulesInput;
  readonly populations: Readonly<Record<string, PopulationInput>>;
  /** Travel times, losses and time-outs of the simulator's calls. */
  readonly network?: NetworkInput;
  /** The simulator's servers behind the limiter. Default: serving takes no time, and any number of calls at once. */
  readonly service?: ServiceInput;
  /** Times when the simulator's deployment serves nobody: `[{ at: "1m", for: "30s", answer: 503 }]`. */
  readonly outages?: readonly OutageInput[];
  /** Distance between the clocks of the simulator's clients. Default: none. */
  readonly clocks?: ClocksInput;
  /** Bounds of figures: the simulator's assertions and k6's thresholds. */
  readonly expect?: Expectations;
  /** Error that `spillway fit` found when it simulated the scenario that it had fitted. */
  readonly fitError?: Partial<FitError>;
}

/**
 * Differences between a recording and the simulation of its fitted scenario. Each is a share of the greater of the two,
 * from -1 to 1. Above 0, more was recorded.
 */
export interface FitError {
  readonly calls: number;
  readonly refused: number;
  /** `null`: no wait was recorded. */
  readonly waitP95Ms: number | null;
  /** Questions that the recording does not answer. */
  readonly untold?: readonly Untold[];
}

/**
 * `weekdays`: no weekday was seen twice. `reactions`: reactions to refusals were not seen, or hardly. `attempts`:
 * nobody was seen to give a call up. `caller`: one caller of many had most of the refusals. `demand`: so many calls were
 * refused that callers may have wanted more than they sent.
 */
export const untolds = ["weekdays", "reactions", "attempts", "caller", "demand"] as const;
export type Untold = (typeof untolds)[number];

interface PopulationCommon {
  /** Clients are called `name/index` in a trace. */
  readonly name: string;
  /** `null` for the first of the tokens' organizations, or `acme`. */
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

/** Clients that arrive, each for a stay of its own. */
interface OpenPopulation extends PopulationCommon {
  readonly clients: null;
  readonly arrivals: ArrivalSchedule;
}

export type Population = ClosedPopulation | OpenPopulation;

/** A scenario as `defineScenario` returns it. The order of `populations` decides names and draws of clients. */
export interface Scenario {
  readonly format: "spillway-scenario";
  readonly name: string;
  readonly description: string;
  readonly seed: number;
  readonly durationMs: number;
  /** Start of virtual time, ms since the epoch. */
  readonly startAtMs: number;
  /** `null` if the scenario names none. A simulation then has the default rules. */
  readonly rules: Rules | null;
  /** Limits of any API, in place of rules. */
  readonly policy?: Policy;
  readonly populations: readonly Population[];
  readonly network: Network;
  /** `null` if serving takes no time. */
  readonly service: Service | null;
  readonly outages: readonly Outage[];
  readonly clocks: Clocks;
  readonly expect: readonly Expectation[];
  /** `null` if the scenario was not fitted, or not checked. */
  readonly fitError: FitError | null;
}

/** Returns when a client of a closed population begins, ms from the start of the run. It is its record's first draw. */
export function startDelayMs({ startWithinMs }: ClosedPopulation, record: RandomState): number {
  return startWithinMs === 0 ? 0 : below(record, startWithinMs);
}

/** Greatest delay of a real run's start after its plan, ms: k6 gets its clients ready first. */
const lateMost = 60_000;

/**
 * Returns the stays of an open population's clients, in a run of the scenario as it is; none of a closed one's.
 * @param longerMs time that the run is assumed to last longer than its scenario
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
 * Returns the stays that there may be in a real run. If clients come by the clock, a run that begins late has other
 * stays. Those that were due before it are not among them.
 */
export function possibleStays(scenario: Scenario, place: number): Iterable<Stay> {
  const arrivals = scenario.populations[place]?.arrivals ?? null;
  return staysOf(scenario, place, arrivals !== null && isByTheClock(arrivals) ? lateMost : 0);
}

/** Returns the greatest number of clients that a population has in a run: its `clients`, or its arrivals. */
export function clientsMost(scenario: Scenario, place: number): number {
  const clients = scenario.populations[place]?.clients ?? null;
  if (clients !== null) return clients;
  let count = 0;
  for (const _ of possibleStays(scenario, place)) count += 1;
  return count;
}
