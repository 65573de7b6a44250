// The end of every run by any driver. Its trace is read back from the disk, judged and counted in one pass, and the
// folder gets its documents. The verdict is therefore about what is on disk.
import type { FolderWriter } from "../files/folder-writer.ts";
import { k6Files } from "../load/run-k6.ts";
import { addReport } from "../report/report.ts";
import { placeResult, writeParts } from "../report/result-writer.ts";
import type { RunRecord } from "../report/run.ts";
import { traceOf } from "../report/run-folder.ts";
import { judgeExpectations } from "../summary/expectations.ts";
import type { Series } from "../summary/series.ts";
import { Summarizer } from "../summary/summarizer.ts";
import type { ExpectationResult, Summary } from "../summary/summary.ts";
import { type AnyCall, tellerOf } from "../summary/told.ts";
import { type AnyTraceReading, openTrace } from "../trace/read.ts";
import { claimedVerdict } from "../verify/claims.ts";
import { judge } from "../verify/judge.ts";
import type { JudgeOptions } from "../verify/judging.ts";
import { judgeQuotas } from "../verify/policy-judge.ts";
import type { Verdict } from "../verify/verdict.ts";
import { acceptedBy } from "./accepted.ts";

export interface KeptRun {
  readonly folder: string;
  readonly summary: Summary;
  readonly verdict: Verdict;
  /** Counts over time that the report draws. */
  readonly series: Series;
  readonly expectations: readonly ExpectationResult[];
  /** True if the verdict is no violation and every expectation was met. */
  readonly held: boolean;
}

export interface KeepRunOptions {
  /** Another run's folder, to be shown beside this one. */
  readonly compare?: string | undefined;
  /** Takes the number of lines that have been judged. */
  readonly onProgress?: ((records: number) => void) | undefined;
}

/**
 * Judges the written trace, adds verdict, summary and documents, and puts the whole run in its place.
 * @throws SpillwayError `FILE_UNWRITABLE`, `TRACE_INVALID`, `SCENARIO_INVALID`
 */
export async function keepRun(
  writer: FolderWriter,
  record: RunRecord,
  options: KeepRunOptions = {},
): Promise<KeptRun> {
  const { folder, staging } = writer;
  const accept = acceptedBy(record.expect);
  const { judged, summary } = await judgedAndCounted(staging, accept, options.onProgress);
  const verdict = claimedVerdict(judged, record.claims ?? "all");
  const expectations = judgeExpectations(record.expect, summary, verdict.amounts ?? null);
  await writeParts(writer, { record, summary, verdict });
  const { series } = await addReport(writer, staging, { compare: options.compare });
  await placeResult(writer, Object.values(k6Files));
  const held = verdict.verdict !== "violated" && expectations.every((expectation) => expectation.held);
  return { folder, summary, verdict, series, expectations, held };
}

/** Judges and counts a trace in one pass. It is read again if a long window needs an explanation. */
async function judgedAndCounted(
  folder: string,
  accept: JudgeOptions,
  onProgress: KeepRunOptions["onProgress"],
): Promise<{ readonly judged: Verdict; readonly summary: Summary }> {
  const open = (): Promise<AnyTraceReading> => openTrace(traceOf(folder));
  const trace = await open();
  const summarizer = new Summarizer(trace.header, tellerOf(trace.header));
  if (trace.version === 1) {
    const calls = counted(trace.calls, summarizer, onProgress);
    const again = async () => ((await open()) as typeof trace).calls;
    return { judged: await judge(trace.header, calls, accept, again), summary: summarizer.finish() };
  }
  const calls = counted(trace.calls, summarizer, onProgress);
  const again = async () => ((await open()) as typeof trace).calls;
  return { judged: await judgeQuotas(trace.header, calls, accept, again), summary: summarizer.finish() };
}

async function* counted<Line extends { readonly call: AnyCall }>(
  lines: AsyncIterable<Line>,
  summarizer: Summarizer,
  onProgress: ((records: number) => void) | undefined,
): AsyncIterable<Line> {
  let records = 0;
  for await (const line of lines) {
    summarizer.add(line.call);
    records += 1;
    if (records % 10_000 === 0) onProgress?.(records);
    yield line;
  }
}
