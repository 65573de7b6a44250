// The figures of a run: the shape of summary.json. Plain data, bounded in size whatever the trace.
import type { FigureName } from "../rules/figures.ts";
import type { TraceSource } from "../trace/record.ts";
import type { QuotaOwner, Whose } from "../trace/whose.ts";

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
export type WindowSummary = Whose & WindowFacts;

interface WindowFacts {
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
  /** Under a policy: refused calls by the quota that refused, or the word for what did. */
  readonly refusedBy?: Readonly<Record<string, number>> | undefined;
  /** In the order in which they first answered. */
  readonly populations: readonly PopulationSummary[];
  /** The most refused first, at most `usersMost`. */
  readonly users: readonly UserSummary[];
  readonly usersSeen: number;
  /** By organization, scope, user and time; where there are more than `windowsMost`, the most refused ones. */
  readonly windows: readonly WindowSummary[];
  readonly windowsSeen: number;
  /** Under a policy: quotas without windows, as buckets, the most refused first, at most `levelsMost`. */
  readonly levels?: readonly LevelSummary[] | undefined;
}

/** A quota without windows, as the answers showed it. */
export interface LevelSummary extends QuotaOwner {
  readonly limit: number | null;
  /** The most that any answer showed to be in use. */
  readonly highest: number | null;
  /** Calls whose answers showed it, by how they ended. */
  readonly admitted: number;
  readonly refused: number;
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
export const levelsMost = 100;

/** The result of one expectation of the scenario. */
export interface ExpectationResult {
  readonly figure: string;
  /** As the scenario has it, `<5%`. */
  readonly bound: string;
  /** In the figure's unit; `null` where there was nothing to measure, which holds nothing. */
  readonly actual: number | null;
  readonly held: boolean;
}
