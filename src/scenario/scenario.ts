// What a scenario is: data. Populations of clients, what they do, what is expected of the run.
import type { RulesInput } from "../rules/rules.ts";
import type { Arrivals } from "./arrivals.ts";
import type { Behaviour, RefusalPolicy } from "./client.ts";

/** `"90s"`, `"5m"`, `"1m30s"`, `"250ms"`, or milliseconds. */
export type Duration = string | number;

/** Clients that are alike. */
export interface PopulationInput {
  /** How many there are for the whole run (closed model); or `arrivals`. */
  readonly clients?: number;
  /** Each arrival is a client (open model), in k6's words. */
  readonly arrivals?: Arrivals;
  /** A slug; the first of the tokens' organizations where it is left out. */
  readonly organization?: string;
  /** Every client a user of its own, all one user, or so many users in turn. */
  readonly user?: "each" | "shared" | number;
  readonly behaviour: Behaviour;
  /** What they do when refused; nothing (the call is lost) where it is left out. */
  readonly onRefused?: RefusalPolicy;
  /** Closed model: clients begin at random within this span; 0 (all at once) where it is left out. */
  readonly startWithin?: Duration;
}

/** What is expected of a run: a figure's name (`src/summary`) and a bound such as `"<5%"`, `">=100"`, `"<=2s"`. */
export type Expectations = Readonly<Record<string, string>>;

export interface ScenarioInput {
  readonly name: string;
  readonly description?: string;
  readonly seed?: number;
  readonly duration: Duration;
  /** Where virtual time starts, ISO 8601; 2026-01-01T00:00:00Z where it is left out. */
  readonly startAt?: string;
  readonly rules?: RulesInput;
  readonly populations: Readonly<Record<string, PopulationInput>>;
  /** One-way trips in the simulator. */
  readonly network?: { readonly latency?: Latency };
  readonly expect?: Expectations;
}

/** One way, in ms: constant, or uniform over whole milliseconds. */
export type Latency = number | { readonly least: number; readonly most: number };
