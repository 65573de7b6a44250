// Does a job: changes the scenario, simulates it and counts.
import type { AnsweredCall } from "../../sim/answered-call.ts";
import { measure } from "../../sim/measure.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import { type FigureReference, isJudgedFigure } from "../rules/figures.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { isFailure, isRefusal } from "../wire/outcome.ts";
import { type JobOutcome, type PlanJob, replicationSeed } from "./job.ts";
import { changeScenario } from "./paths.ts";
import { withTrigger } from "./trigger.ts";

/**
 * Runs one job.
 * @param scenario the plan's, with its seed
 * @param figures the figures to measure
 * @throws what changing and simulating the scenario throw
 */
export function runJob(
  scenario: Scenario,
  figures: readonly FigureReference[],
  { variant, replication }: PlanJob,
): JobOutcome {
  const changed = changeScenario(scenario, variant.changes);
  const { trigger, windowMs } = variant;
  const world = trigger === null ? changed : withTrigger(changed, trigger);
  const seed = replicationSeed(scenario.seed, replication);
  if (windowMs !== null) return { figures: [], windows: countWindows(world, seed, windowMs) };
  const measured = measure(world, { seed });
  return {
    figures: figures.map(({ population, name }) => {
      if (isJudgedFigure(name)) return null;
      if (population === null) return measured.figures[name];
      return measured.populations.find((one) => one.name === population)?.figures[name] ?? null;
    }),
    windows: null,
  };
}

/** Counts calls by whole windows. A call belongs to the window that it was sent in. */
function countWindows(scenario: Scenario, seed: number, windowMs: number): [number, number][] {
  const length = Math.floor(scenario.durationMs / windowMs);
  const windows = Array.from({ length }, (): [number, number] => [0, 0]);
  simulateNumbers(scenario, { seed }, (answered) => {
    if (answered.call.kind !== "call") return;
    const window = windows[Math.floor((answered.sentMs - scenario.startAtMs) / windowMs)];
    if (window === undefined) return;
    window[0] += 1;
    if (isBad(answered)) window[1] += 1;
  });
  return windows;
}

/** Tells whether a call was refused, not answered, or answered by something that is broken. */
const isBad = ({ status }: AnsweredCall): boolean => isRefusal(status) || isFailure(status);
