// The folders of plans and replays → their documents for people, as `writeReport` makes those of a run.
import type { PlanResult } from "../summary/plan-result.ts";
import type { ReplayResult } from "../summary/replay-result.ts";
import { planSchema, replaySchema } from "./result-schemas.ts";
import { runFiles } from "./run.ts";
import {
  checkRules,
  hasFile,
  type PageOptions,
  placeIn,
  readPart,
  writePage,
  writeText,
} from "./run-folder.ts";

/** What was written. */
export interface ResultReport {
  readonly html: string;
  readonly markdown: string;
  readonly junit: string;
  /** Paths of the pictures and their numbers. */
  readonly pictures: readonly string[];
}

/** The result in a folder of a plan or a replay, by its file. */
export const resultFiles = { plan: "plan.json", replay: "replay.json" } as const;

/** A result that was read back. */
export type KeptResult =
  | { readonly kind: "plan"; readonly result: PlanResult }
  | { readonly kind: "replay"; readonly result: ReplayResult };

/**
 * Makes, or makes again, the documents of a plan: report.html, summary.md, junit.xml and the pictures.
 * @param version of spillway, which the page names
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file
 */
export async function writePlanReport(
  folder: string,
  result: PlanResult,
  version: string,
  options: PageOptions = {},
): Promise<ResultReport> {
  const { renderPlan } = await import("./plan-page.ts");
  const { renderPlanJunit, renderPlanMarkdown } = await import("./plan-documents.ts");
  const page = await writePage(folder, options, (beside) => renderPlan(result, version, beside));
  return { ...page, ...(await writeTexts(folder, renderPlanMarkdown(result), renderPlanJunit(result))) };
}

/** The same of a replay. @throws SpillwayError `FILE_UNWRITABLE`, naming the file */
export async function writeReplayReport(
  folder: string,
  result: ReplayResult,
  version: string,
  options: PageOptions = {},
): Promise<ResultReport> {
  const { renderReplay } = await import("./replay-page.ts");
  const { renderReplayJunit, renderReplayMarkdown } = await import("./replay-documents.ts");
  const page = await writePage(folder, options, (beside) => renderReplay(result, version, beside));
  return { ...page, ...(await writeTexts(folder, renderReplayMarkdown(result), renderReplayJunit(result))) };
}

async function writeTexts(folder: string, markdown: string, junit: string) {
  const paths = { markdown: placeIn(folder, runFiles.markdown), junit: placeIn(folder, runFiles.junit) };
  await writeText(paths.markdown, markdown);
  await writeText(paths.junit, junit);
  return paths;
}

/**
 * The plan or replay that a folder holds; `null` where it holds neither.
 * @throws SpillwayError `RUN_INVALID` naming every field that is wrong
 */
export async function readResult(folder: string): Promise<KeptResult | null> {
  const [plan, replay] = [placeIn(folder, resultFiles.plan), placeIn(folder, resultFiles.replay)];
  if (await hasFile(plan)) return { kind: "plan", result: await readPart(plan, planSchema) };
  if (!(await hasFile(replay))) return null;
  const kept = await readPart(replay, replaySchema);
  return { kind: "replay", result: { ...kept, rules: checkRules(replay, kept.rules) } };
}
