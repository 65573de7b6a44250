// A plan, driven: its runs are kept as they end, and taken over where an earlier plan was interrupted.
import { type Job, jobKey, type Outcome } from "../plan/job.ts";
import type { PreparedPlan } from "../plan/plan.ts";
import { duration } from "../report/format.ts";
import { counted } from "../rules/words.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import type { Runner } from "./plan-runner.ts";
import type { KnownOutcomes, PointsFile } from "./points-file.ts";

export interface DriveOptions {
  /** Opens the file that outcomes are kept in. */
  begin(): Promise<PointsFile>;
  /** What is known from an earlier plan. */
  readonly known: KnownOutcomes;
  readonly runner: Runner;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/**
 * Drives a plan to its end.
 * @returns `null` where it was interrupted
 * @throws SpillwayError `FILE_UNWRITABLE`, and what the runs throw; what was done is kept
 */
export async function drivePlan(
  plan: PreparedPlan,
  { begin, known, runner, signal, onProgress }: DriveOptions,
): Promise<PlanResult | null> {
  const file = await begin();
  const pace = new Pace(onProgress);
  const onDone = (job: Job, outcome: Outcome): void => {
    known.set(jobKey(job), outcome);
    file.add(job, outcome);
    pace.done(known.size);
  };
  try {
    const steps = plan.steps();
    let step = steps.next();
    while (step.done !== true) {
      const { jobs, later } = step.value;
      const missing = jobs.filter((job) => !known.has(jobKey(job)));
      pace.expect(missing.length + later);
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

function outcomeOf(known: KnownOutcomes, job: Job): Outcome {
  const outcome = known.get(jobKey(job));
  if (outcome === undefined) throw new RangeError(`${jobKey(job)} has no outcome`);
  return outcome;
}

/** How fast it goes, for people. */
class Pace {
  readonly #say: (text: string) => void;
  readonly #startedMs = Date.now();
  #done = 0;
  #left = 0;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  expect(jobs: number): void {
    this.#left = jobs;
  }

  done(known: number): void {
    this.#done += 1;
    this.#left -= 1;
    const seconds = (Date.now() - this.#startedMs) / 1000;
    const perSecond = seconds > 0 ? this.#done / seconds : 0;
    const left =
      perSecond > 0 ? `, about ${duration((Math.max(0, this.#left) / perSecond) * 1000)} left` : "";
    this.#say(
      `planning: ${counted(known, "run")} done, ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s${left}`,
    );
  }
}
