// Plans without runs: their steps, driven by outcomes that are given.
import type { JobOutcome, PlanJob } from "../../src/plan/job.ts";
import type { Batch, PlanSteps } from "../../src/plan/sampling.ts";

/** Returns what the steps come to, and the batches of jobs that they asked for. */
export function driven<T>(
  steps: PlanSteps<T>,
  outcomeOf: (job: PlanJob) => JobOutcome,
): { result: T; batches: Batch[] } {
  const batches: Batch[] = [];
  let step = steps.next();
  while (step.done !== true) {
    batches.push(step.value);
    step = steps.next(step.value.jobs.map(outcomeOf));
  }
  return { result: step.value, batches };
}
