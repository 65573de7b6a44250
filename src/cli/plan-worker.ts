// A thread of a plan: it loads the scenario's file once, and runs jobs.
import { workerData } from "node:worker_threads";
import { loadScenarioFile } from "../load/scenario-file.ts";
import type { Job, Outcome } from "../plan/job.ts";
import { runJob } from "../plan/run-job.ts";
import { type Problem, SpillwayError } from "../rules/errors.ts";
import type { FigureReference } from "../rules/figures.ts";
import { type Adjustments, adjustScenario } from "../scenario/adjust.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** What every job of a plan has in common. Plain data. */
export interface PlanTask {
  /** The scenario's file, absolute. */
  readonly file: string;
  readonly adjustments: Pick<Adjustments, "seed" | "durationMs" | "rules">;
  readonly figures: readonly FigureReference[];
}

/** A coded error on its way between threads, where objects lose their class. */
export interface SentError {
  readonly code: SpillwayError["code"];
  readonly summary: string;
  readonly problems: readonly Problem[];
  readonly hint: string | undefined;
}

const task = workerData as PlanTask;
let loading: Promise<Scenario> | null = null;

async function load(): Promise<Scenario> {
  const { scenario } = await loadScenarioFile(task.file);
  return adjustScenario(scenario, task.adjustments);
}

/** Runs one job. */
export default async function run(job: Job): Promise<Outcome | { readonly error: SentError }> {
  try {
    loading ??= load();
    return runJob(await loading, task.figures, job);
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const { code, message, problems, hint } = error;
    return { error: { code, summary: message.split("\n")[0] ?? "", problems, hint } };
  }
}
