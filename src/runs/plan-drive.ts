// Drives a plan. Its runs are kept as they end, and taken over from an earlier plan that was interrupted.
import { type JobOutcome, jobKey, type PlanJob } from "../plan/job.ts";
import type { PreparedPlan } from "../plan/plan.ts";
import { counted } from "../rules/words.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { Pace, paceText } from "./pace.ts";
import type { Runner } from "./plan-runner.ts";
import type { KnownOutcomes, PointsFile } from "./points-file.ts";

export interface DriveOptions {
  /** Opens the file that outcomes are kept in. */
  begin(): Promise<PointsFile>;
  /** Outcomes that are known from an earlier plan. */
  readonly known: KnownOutcomes;
  readonly runner: Runner;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/**
 * Drives a plan to its end.
 * @returns `null` if it was interrupted
 * @throws SpillwayError `FILE_UNWRITABLE`, and what the runs throw; what was done is kept
 */
export async function drivePlan(
  plan: PreparedPlan,
  { begin, known, runner, signal, onProgress }: DriveOptions,
): Promise<PlanResult | null> {
  const file = await begin();
  const pace = new Pace(Date.now);
  let [done, left] = [0, 0];
  const onDone = (job: PlanJob, outcome: JobOutcome): void => {
    known.set(jobKey(job), outcome);
    file.add(job, outcome);
    done += 1;
    left = Math.max(0, left - 1);
    onProgress(
      `planning: ${counted(known.size, "run")} done${paceText(pace.at(done / (done + left), done), "run")}`,
    );
  };
  try {
    const steps = plan.steps();
    let step = steps.next();
    while (step.done !== true) {
      const { jobs, later } = step.value;
      const missing = jobs.filter((job) => !known.has(jobKey(job)));
      left = missing.length + later;
      await runner.run(missing, onDone);
      step = steps.next(jobs.map((job) => outcomeOf(known, job)));
    }
    return step.value;
  } catch (error) {
    if (!signal.aborted) throw error;
    return null;
  } finally {
    await file.close();
  }
}

function outcomeOf(known: KnownOutcomes, job: PlanJob): JobOutcome {
  const outcome = known.get(jobKey(job));
  if (outcome === undefined) throw new RangeError(`${jobKey(job)} has no outcome`);
  return outcome;
}
