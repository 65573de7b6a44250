// What every run ends with, whoever drove it: its trace is read back from where it was written, judged and
// counted in one pass, and the folder gets its documents. What is judged is what is on disk.
import { writeReport } from "../report/report.ts";
import { type RunRecord, runFiles } from "../report/run.ts";
import { placeIn, type TraceLines, traceOf, writeRun, writeTrace } from "../report/run-folder.ts";
import type { LawName } from "../rules/laws.ts";
import { judgeExpectations } from "../summary/expectations.ts";
import type { Series } from "../summary/series.ts";
import { Summarizer } from "../summary/summarizer.ts";
import type { ExpectationResult, Summary } from "../summary/summary.ts";
import { readTrace, type TraceLine } from "../trace/read.ts";
import { claimedVerdict } from "../verify/claims.ts";
import { judge } from "../verify/judge.ts";
import type { Verdict } from "../verify/verdict.ts";
import { acceptedBy } from "./accepted.ts";

/** A run, judged and kept. */
export interface KeptRun {
  readonly folder: string;
  readonly summary: Summary;
  readonly verdict: Verdict;
  /** Counts over time, as the report draws them. */
  readonly series: Series;
  readonly expectations: readonly ExpectationResult[];
  /** Whether the verdict is no violation and every expectation was met. */
  readonly held: boolean;
}

export interface KeepOptions {
  /** Another run's folder, to be shown beside this one. */
  readonly compare?: string | undefined;
  /** The laws that the limiter claims, where it is somebody else's; it is judged by them alone. */
  readonly claims?: "all" | readonly LawName[] | undefined;
  /** Told how many lines have been judged. */
  readonly onProgress?: ((records: number) => void) | undefined;
}

/**
 * Writes a run's folder: trace, verdict, summary, run.json, and the documents for people.
 * @throws SpillwayError `FILE_UNWRITABLE`, `TRACE_INVALID`, `SCENARIO_INVALID`
 */
export async function keepRun(
  folder: string,
  record: RunRecord,
  trace: TraceLines,
  options: KeepOptions = {},
): Promise<KeptRun> {
  await writeTrace(folder, trace);
  const { header, calls } = await readTrace(traceOf(folder));
  const summarizer = new Summarizer(header);
  const accept = acceptedBy(record.expect);
  const judged = await judge(header, counted(calls, summarizer, options.onProgress), accept);
  const verdict = claimedVerdict(judged, options.claims ?? "all");
  const summary = summarizer.finish();
  const expectations = judgeExpectations(record.expect, summary, verdict.amounts ?? null);
  await writeRun(folder, { record, trace: { moveFrom: placeIn(folder, runFiles.trace) }, summary, verdict });
  const { series } = await writeReport(folder, { compare: options.compare });
  const held = verdict.verdict !== "violated" && expectations.every((expectation) => expectation.held);
  return { folder, summary, verdict, series, expectations, held };
}

async function* counted(
  lines: AsyncIterable<TraceLine>,
  summarizer: Summarizer,
  onProgress: ((records: number) => void) | undefined,
): AsyncIterable<TraceLine> {
  let records = 0;
  for await (const line of lines) {
    summarizer.add(line.call);
    records += 1;
    if (records % 10_000 === 0) onProgress?.(records);
    yield line;
  }
}
