// A plan of a scenario's file, written into a folder: its points as they come, where a plan that is interrupted finds
// them again; all else in the end, so that an earlier plan stays until this one is whole.
import { join } from "node:path";
import type { FolderWriter } from "../files/folder-writer.ts";
import { loadScenarioFile } from "../load/scenario-file.ts";
import { type PlanOptions, preparePlan } from "../plan/plan.ts";
import { renderCsv } from "../report/csv.ts";
import { addPlanReport } from "../report/result-report.ts";
import { json, placeResult, pointsFile, resultFiles } from "../report/result-writer.ts";
import { adjustScenario } from "../scenario/adjust.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { openPlace } from "./open-place.ts";
import { drivePlan } from "./plan-drive.ts";
import { createRunner } from "./plan-runner.ts";
import { planTable } from "./plan-table.ts";
import type { PlanTask } from "./plan-worker.ts";
import { headerOf, type KnownOutcomes, PointsFile, readPoints } from "./points-file.ts";
import { version } from "./version.ts";

export interface PlanIntoOptions {
  readonly asked: PlanOptions;
  readonly adjustments: PlanTask["adjustments"];
  /** Threads, from 1. */
  readonly workers: number;
  /** The folder; named after scenario and time where it is left out. */
  readonly out: string | undefined;
  /** Replaces files that are of no plan of spillway. */
  readonly force: boolean;
  /** Whether to go on with the plan that the folder holds. */
  readonly resume: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/**
 * Answers a question about the scenario of a file.
 * @param file the scenario's name or path
 * @returns the folder and the result, `null` where it was interrupted: what was done is kept for `resume`
 * @throws SpillwayError as `loadScenarioFile`, `preparePlan`, `readPoints` and the runs do
 */
export async function planInto(
  file: string,
  { asked, adjustments, workers, out, force, resume, signal, onProgress }: PlanIntoOptions,
): Promise<{ readonly folder: string; readonly result: PlanResult | null }> {
  const { scenario: written, path, digest } = await loadScenarioFile(file);
  const scenario = adjustScenario(written, adjustments);
  const plan = preparePlan(scenario, asked);
  const header = headerOf(plan.question, {
    spillway: version,
    digest,
    rules: scenario.rules,
    storm: asked.storm ?? null,
    compare: asked.compare === true,
  });
  const writer = await openPlace({ out, name: `${scenario.name}-plan`, force }, "plan");
  const { folder } = writer;
  const runner = createRunner(workers, scenario, { file: path, adjustments, figures: plan.figures }, signal);
  try {
    const points = join(folder, pointsFile);
    const known: KnownOutcomes = resume ? await readPoints(points, header, plan.figures) : new Map();
    const begin = (): Promise<PointsFile> => PointsFile.begin(points, header, known);
    const result = await drivePlan(plan, { begin, known, runner, signal, onProgress });
    if (result !== null) await keep(writer, result);
    return { folder, result };
  } finally {
    await runner.close();
    await writer.close();
  }
}

async function keep(writer: FolderWriter, result: PlanResult): Promise<void> {
  await writer.write("points.csv", renderCsv(planTable(result)));
  await addPlanReport(writer, result, version);
  await writer.write(resultFiles.plan, json(result));
  await placeResult(writer);
}
