// A simulated run as its figures alone: what sweeps and searches ask for, thousands of times.
import type { Scenario } from "../src/scenario/scenario.ts";
import { summarize } from "../src/summary/summarizer.ts";
import type { Summary } from "../src/summary/summary.ts";
import { type SimulateOptions, simulate } from "./simulate.ts";

/** The figures of one simulated run, whole and by population, as its summary has them. */
export type Measurement = Pick<Summary, "figures" | "populations" | "endedAt" | "records">;

/**
 * Simulates a scenario and counts. The figures are those that `summarize` finds in the run's trace.
 * @throws what `simulate` and reading its `calls` throw
 *
 * @example
 * measure(scenario, { seed: 7 }).figures.refusedShare;
 */
export function measure(scenario: Scenario, options: SimulateOptions = {}): Measurement {
  const { header, calls } = simulate(scenario, options);
  const { figures, populations, endedAt, records } = summarize(header, calls);
  return { figures, populations, endedAt, records };
}
