// The figures of a run: the shape of summary.json. Plain data, bounded in size whatever the trace.
import type { FigureName } from "../rules/figures.ts";
import type { Scope } from "../rules/rules.ts";
import type { TraceSource } from "../trace/record.ts";

/** Every figure by its name (`figureKinds`); `null` where nothing was there to measure. */
export type Figures = Readonly<Record<FigureName, number | null>>;

/** Clients that are alike: the part of a client's name before the slash. */
export interface PopulationSummary {
  readonly name: string;
  /** Number of clients that were seen. */
  readonly clients: number;
  readonly figures: Figures;
  /** The waits at each of `waitShares`, in ms, nearest rank; empty where no job was answered. */
  readonly waitsMs: readonly number[];
}

export interface UserSummary {
  readonly org: string;
  readonly user: string;
  readonly figures: Figures;
}

/** One window as the answers showed it, on the clients' clock. */
export interface WindowSummary {
  readonly org: string;
  /** Whose window it is; `null` for the organization's. */
  readonly user: string | null;
  readonly scope: Scope;
  /** Ms since the epoch: the end less the window's length where the rules are known, else the first reading. */
  readonly opensAt: number;
  /** Ms since the epoch, good to a second and the time of a round trip: `reset` is whole seconds. */
  readonly endsAt: number;
  readonly limit: number | null;
  /** The highest count that any answer showed. */
  readonly highest: number | null;
  /** Calls that the answers place in this window, by how they ended. */
  readonly admitted: number;
  /** Refusals that name this window. */
  readonly refused: number;
}

export interface Summary {
  readonly format: "spillway-summary";
  readonly version: 1;
  readonly source: TraceSource;
  readonly scenario: string | null;
  readonly seed: number | null;
  /** Ms since the epoch, as the trace has them: the header's start, the last answer. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Lines of the trace, the header left out. */
  readonly records: number;
  readonly figures: Figures;
  /** In the order in which they first answered. */
  readonly populations: readonly PopulationSummary[];
  /** The most refused first, at most `usersMost`. */
  readonly users: readonly UserSummary[];
  readonly usersSeen: number;
  /** By organization, scope, user and time; where there are more than `windowsMost`, the most refused ones. */
  readonly windows: readonly WindowSummary[];
  readonly windowsSeen: number;
}

/** The shares at which a population's waits are kept: each percent, and the tail. */
export const waitShares: readonly number[] = [
  ...Array.from({ length: 100 }, (_, percent) => percent / 100),
  0.995,
  0.999,
  1,
];

export const usersMost = 1_000;
export const windowsMost = 2_000;

/** The result of one expectation of the scenario. */
export interface ExpectationResult {
  readonly figure: string;
  /** As the scenario has it, `<5%`. */
  readonly bound: string;
  /** In the figure's unit; `null` where there was nothing to measure, which holds nothing. */
  readonly actual: number | null;
  readonly held: boolean;
}
