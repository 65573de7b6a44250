// The folders of plans and replays → their documents for people, as `writeReport` makes those of a run.
import * as v from "valibot";
import type { FolderWriter } from "../files/folder-writer.ts";
import { type PlanResult, planSchema } from "../summary/plan-result.ts";
import { quotaReplaySchema } from "../summary/quota-replay-result.ts";
import { rulesReplaySchema } from "../summary/replay-result.ts";
import type { AnyReplay } from "./replay-view.ts";
import {
  type PageOptions,
  resultFiles,
  type WrittenPage,
  writeDocuments,
  writePage,
} from "./result-writer.ts";
import { runFiles } from "./run.ts";
import { checkPolicy, checkRules, hasFile, placeIn, readPart } from "./run-folder.ts";

export interface ResultReport extends WrittenPage {
  readonly markdown: string;
  readonly junit: string;
}

/** A result that was read back. */
export type KeptResult =
  | { readonly kind: "plan"; readonly result: PlanResult }
  | { readonly kind: "replay"; readonly result: AnyReplay };

/**
 * Makes the documents of a plan, for the first time or again: report.html, summary.md, junit.xml and the pictures.
 * @param version version of spillway, which the page names
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file; `FOLDER_IN_USE`
 */
export async function writePlanReport(
  folder: string,
  result: PlanResult,
  version: string,
  options: PageOptions = {},
): Promise<ResultReport> {
  return writeDocuments(folder, options.out, (writer) => addPlanReport(writer, result, version, options));
}

/** Makes those of a replay. @throws SpillwayError `FILE_UNWRITABLE`, naming the file; `FOLDER_IN_USE` */
export async function writeReplayReport(
  folder: string,
  result: AnyReplay,
  version: string,
  options: PageOptions = {},
): Promise<ResultReport> {
  return writeDocuments(folder, options.out, (writer) => addReplayReport(writer, result, version, options));
}

/** Makes the documents of a plan among other parts of its folder. */
export async function addPlanReport(
  writer: FolderWriter,
  result: PlanResult,
  version: string,
  options: PageOptions = {},
): Promise<ResultReport> {
  const { renderPlan } = await import("./plan-page.ts");
  const { renderPlanJunit, renderPlanMarkdown } = await import("./plan-documents.ts");
  const page = await writePage(writer, options, (beside) => renderPlan(result, version, beside));
  return { ...page, ...(await addTexts(writer, renderPlanMarkdown(result), renderPlanJunit(result))) };
}

/** Makes the documents of a replay among other parts of its folder. */
export async function addReplayReport(
  writer: FolderWriter,
  result: AnyReplay,
  version: string,
  options: PageOptions = {},
): Promise<ResultReport> {
  const { renderReplay } = await import("./replay-page.ts");
  const { renderReplayJunit, renderReplayMarkdown } = await import("./replay-documents.ts");
  const page = await writePage(writer, options, (beside) => renderReplay(result, version, beside));
  return { ...page, ...(await addTexts(writer, renderReplayMarkdown(result), renderReplayJunit(result))) };
}

async function addTexts(writer: FolderWriter, markdown: string, junit: string) {
  const { folder } = writer;
  await writer.write(runFiles.markdown, markdown);
  await writer.write(runFiles.junit, junit);
  return { markdown: placeIn(folder, runFiles.markdown), junit: placeIn(folder, runFiles.junit) };
}

/**
 * Returns the plan or replay that a folder holds; `null` if it holds neither.
 * @throws SpillwayError `RUN_INVALID` naming every field that is wrong
 */
export async function readResult(folder: string): Promise<KeptResult | null> {
  const [plan, replay] = [placeIn(folder, resultFiles.plan), placeIn(folder, resultFiles.replay)];
  if (await hasFile(plan)) return { kind: "plan", result: await readPart(plan, planSchema) };
  if (!(await hasFile(replay))) return null;
  const kept = await readPart(replay, v.variant("version", [rulesReplaySchema, quotaReplaySchema]));
  if (kept.version === 2)
    return { kind: "replay", result: { ...kept, policy: checkPolicy(replay, kept.policy) } };
  return { kind: "replay", result: { ...kept, rules: checkRules(replay, kept.rules) } };
}
