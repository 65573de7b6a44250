// One run of a plan.
import type { JobOutcome, PlanJob } from "../plan/job.ts";
import { runJob } from "../plan/run-job.ts";
import type { FigureReference } from "../rules/figures.ts";
import { type Adjustments, adjustScenario } from "../scenario/adjust.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { JobContext } from "./job.ts";
import { eventsOf } from "./job-events.ts";

/** Setting that all runs of a plan share. */
export interface PlanSetting {
  readonly adjustments: Pick<Adjustments, "seed" | "durationMs" | "rules" | "policy">;
  readonly figures: readonly FigureReference[];
}

/**
 * Does one run.
 * @throws what `runJob` throws
 */
export function planJob(
  { adjustments, figures, job }: PlanSetting & { readonly job: PlanJob },
  { scenario }: JobContext,
): AsyncGenerator<never, JobOutcome, undefined> {
  return eventsOf(async () => runJob(adjustScenario(scenario as Scenario, adjustments), figures, job));
}
