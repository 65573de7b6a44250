// The result of a fit's check of itself, as plain data.
import type { FitError } from "../../src/scenario/scenario.ts";

/** Figures of each population that are compared: counts, and times in ms. */
export const checkedFigures = [
  "calls",
  "refused",
  "admittedP50",
  "admittedP95",
  "admittedMost",
  "waitP50Ms",
  "waitP95Ms",
  "waitP99Ms",
  "busiest",
] as const;
export type CheckedFigure = (typeof checkedFigures)[number];

/** One figure, as recorded and as simulated. */
export interface CheckRow {
  /** Name of the population. `null`: all together. */
  readonly population: string | null;
  readonly figure: CheckedFigure;
  /** `null`: not recorded, as waits in a log without durations. */
  readonly recorded: number | null;
  /** Least, median and greatest value of all simulations. */
  readonly least: number;
  readonly middle: number;
  readonly most: number;
  /** True if chance does not explain the difference. */
  readonly off: boolean;
}

export interface FitCheck {
  /** Number of simulations. */
  readonly seeds: number;
  readonly rows: readonly CheckRow[];
  /** Relative errors of all calls together. */
  readonly error: FitError;
  /** Reason why a recording cannot explain what is off, in words; `null` if none is known. */
  readonly why: string | null;
  /** Figures that are off, in words. */
  readonly findings: readonly string[];
}
