// A run folder → its documents for people: report.html, summary.md, junit.xml, and its pictures as SVG and CSV.
import type { FolderWriter } from "../files/folder-writer.ts";
import { type Series, SeriesCollector, windowsWorthDrawing } from "../summary/series.ts";
import { tellerOf } from "../summary/told.ts";
import { openTrace } from "../trace/read.ts";
import { type PageOptions, type WrittenPage, writeDocuments, writePage } from "./result-writer.ts";
import { type Run, runFiles } from "./run.ts";
import { placeIn, readRun, requireFolder, traceOf } from "./run-folder.ts";
import type { ReportSource } from "./source.ts";

export interface ReportOptions extends PageOptions {
  /** Folder of another run of the same scenario: the simulator's, for a run by k6. */
  readonly compare?: string | undefined;
}

/** Files that were written, and the run that they are about. */
export interface Report extends WrittenPage {
  readonly run: Run;
  /** Counts over time that the pictures show. */
  readonly series: Series;
  readonly markdown: string;
  readonly junit: string;
}

/**
 * Makes the documents of a run, for the first time or again.
 * @param folder a folder by `writeRun`
 * @throws SpillwayError `FILE_UNREADABLE`, `RUN_INVALID` or `TRACE_INVALID` for the run's files; `FILE_UNWRITABLE` and
 *   `FOLDER_IN_USE` for the documents
 */
export async function writeReport(folder: string, options: ReportOptions = {}): Promise<Report> {
  await requireFolder(folder);
  return writeDocuments(folder, options.out, (writer) => addReport(writer, folder, options));
}

/**
 * Makes the documents of a run among other parts of its folder.
 * @param from folder of the run's data
 */
export async function addReport(
  writer: FolderWriter,
  from: string,
  options: ReportOptions = {},
): Promise<Report> {
  const { renderReport } = await import("./page.ts");
  const { renderJunit } = await import("./junit.ts");
  const { renderMarkdown } = await import("./markdown.ts");
  const source = await readSource(from);
  const { run, series } = source;
  const other = options.compare === undefined ? null : await readSource(options.compare);
  const page = await writePage(writer, options, (beside) => renderReport(source, other, beside));
  await writer.write(runFiles.markdown, renderMarkdown(run, other?.run ?? null));
  await writer.write(runFiles.junit, renderJunit(run));
  const { folder } = writer;
  const texts = { markdown: placeIn(folder, runFiles.markdown), junit: placeIn(folder, runFiles.junit) };
  return { run, series, ...page, ...texts };
}

/** Reads a run and its series. They need a second reading of the trace: the summary selects those worth drawing. */
async function readSource(folder: string): Promise<ReportSource> {
  const run = await readRun(folder);
  const trace = await openTrace(traceOf(folder));
  const { summary } = run;
  const collector = new SeriesCollector(summary, tellerOf(trace.header), windowsWorthDrawing(summary));
  for await (const { call } of trace.calls) collector.add(call);
  return { run, series: collector.finish() };
}
