// A plan of a scenario's file, written into a folder. Its points are written as they come, so that an interrupted plan
// can go on. All other files come at the end, so that an earlier plan stays until this one is whole.
import { join } from "node:path";
import type { FolderWriter } from "../files/folder-writer.ts";
import { type JobOutcome, jobKey, type PlanJob } from "../plan/job.ts";
import { type PlanOptions, type PreparedPlan, preparePlan } from "../plan/plan.ts";
import { renderCsv } from "../report/csv.ts";
import { addPlanReport } from "../report/result-report.ts";
import { json, placeResult, pointsFile, resultFiles } from "../report/result-writer.ts";
import { counted } from "../rules/words.ts";
import { adjustScenario } from "../scenario/adjust.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { type JobOptions, startJobs } from "./job-thread.ts";
import { openPlace } from "./open-place.ts";
import { Pace, paceText } from "./pace.ts";
import type { PlanSetting } from "./plan-job.ts";
import { createRunner, type Runner } from "./plan-runner.ts";
import { planTable } from "./plan-table.ts";
import { headerOf, type KnownOutcomes, PointsFile, readPoints } from "./points-file.ts";
import { version } from "./version.ts";

export interface PlanIntoOptions extends JobOptions {
  readonly asked: PlanOptions;
  readonly adjustments: PlanSetting["adjustments"];
  /** Number of threads, at least 1. */
  readonly workers: number;
  /** The folder. Default: one named after scenario and time. */
  readonly out: string | undefined;
  /** True to replace files that belong to no plan of spillway. */
  readonly force: boolean;
  /** True to go on with the plan that the folder holds. */
  readonly resume: boolean;
  readonly onProgress: (text: string) => void;
}

/**
 * Answers a question about the scenario of a file.
 * @param file the scenario's name or path
 * @returns the folder and the result; `null` if interrupted, with its outcomes kept for `resume`
 * @throws SpillwayError as `startJobs`, `preparePlan`, `readPoints` and the runs do
 */
export async function planInto(
  file: string,
  { asked, adjustments, workers, out, force, resume, signal, importMs, onProgress }: PlanIntoOptions,
): Promise<{ readonly folder: string; readonly result: PlanResult | null }> {
  const threads = await startJobs({ scenario: file }, { signal, importMs });
  // Half a run is worth nothing, so nobody waits for its end.
  const stop = (): void => void threads.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { scenario: written, digest } = threads.scenario;
    const scenario = adjustScenario(written, adjustments);
    const plan = preparePlan(scenario, asked);
    const header = headerOf(plan.question, {
      spillway: version,
      digest,
      rules: scenario.policy ?? scenario.rules,
      storm: asked.storm ?? null,
      compare: asked.compare === true,
    });
    const runner = createRunner(workers, threads, { adjustments, figures: plan.figures });
    const writer = await openPlace({ out, name: `${scenario.name}-plan`, force }, "plan");
    try {
      const { folder } = writer;
      const points = join(folder, pointsFile);
      const known: KnownOutcomes = resume ? await readPoints(points, header, plan.figures) : new Map();
      const begin = (): Promise<PointsFile> => PointsFile.begin(points, header, known);
      const result = await drivePlan(plan, { begin, known, runner, signal, onProgress });
      if (result !== null) await keep(writer, result);
      return { folder, result };
    } finally {
      await writer.close();
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await threads.close();
  }
}

async function keep(writer: FolderWriter, result: PlanResult): Promise<void> {
  await writer.write("points.csv", renderCsv(planTable(result)));
  await addPlanReport(writer, result, version);
  await writer.write(resultFiles.plan, json(result));
  await placeResult(writer);
}

interface DriveOptions {
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
async function drivePlan(
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
      step = steps.next(jobs.map((job) => known.get(jobKey(job)) as JobOutcome));
    }
    return step.value;
  } catch (error) {
    if (!signal.aborted) throw error;
    return null;
  } finally {
    await file.close();
  }
}
