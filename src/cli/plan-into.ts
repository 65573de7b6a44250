// A plan of a scenario's file, written into a folder: its points as they come, the documents, and plan.json last.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { loadScenarioFile } from "../load/scenario-file.ts";
import { type PlanOptions, preparePlan } from "../plan/plan.ts";
import { renderCsv } from "../report/csv.ts";
import { writePlanReport } from "../report/result-report.ts";
import { writeText } from "../report/run-folder.ts";
import { adjustScenario } from "../scenario/adjust.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { drivePlan } from "./plan-drive.ts";
import { createRunner } from "./plan-runner.ts";
import { planTable } from "./plan-table.ts";
import type { PlanTask } from "./plan-worker.ts";
import { headerOf, type KnownOutcomes, PointsFile, type PointsHeader, readPoints } from "./points-file.ts";
import { defaultFolder } from "./run-place.ts";
import { version } from "./version.ts";

const names = { points: "points.ndjson", table: "points.csv", result: "plan.json" } as const;

export interface PlanIntoOptions {
  readonly asked: PlanOptions;
  readonly adjustments: PlanTask["adjustments"];
  /** Threads, from 1. */
  readonly workers: number;
  /** The folder; named after scenario and time where it is left out. */
  readonly out: string | undefined;
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
  { asked, adjustments, workers, out, resume, signal, onProgress }: PlanIntoOptions,
): Promise<{ readonly folder: string; readonly result: PlanResult | null }> {
  const { scenario: written, path, digest } = await loadScenarioFile(file);
  const scenario = adjustScenario(written, adjustments);
  const plan = preparePlan(scenario, asked);
  const folder = out ?? defaultFolder(`${scenario.name}-plan`);
  const header = headerOf(plan.question, {
    spillway: version,
    digest,
    rules: scenario.rules,
    storm: asked.storm ?? null,
    compare: asked.compare === true,
  });
  const points = join(folder, names.points);
  const known: KnownOutcomes = resume ? await readPoints(points, header) : new Map();
  const runner = createRunner(workers, scenario, { file: path, adjustments, figures: plan.figures }, signal);
  try {
    const result = await drivePlan(plan, {
      begin: () => begin(folder, header, known),
      known,
      runner,
      signal,
      onProgress,
    });
    if (result !== null) await keep(folder, result);
    return { folder, result };
  } finally {
    await runner.close();
  }
}

/** A folder that has a result is whole: an earlier one goes first. */
async function begin(folder: string, header: PointsHeader, known: KnownOutcomes): Promise<PointsFile> {
  const file = await PointsFile.begin(join(folder, names.points), header, known);
  await rm(join(folder, names.result), { force: true });
  return file;
}

async function keep(folder: string, result: PlanResult): Promise<void> {
  await writeText(join(folder, names.table), renderCsv(planTable(result)));
  await writePlanReport(folder, result, version);
  await writeText(join(folder, names.result), `${JSON.stringify(result, null, 2)}\n`);
}
