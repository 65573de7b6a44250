// A run folder → its documents for people: report.html, summary.md, junit.xml, and its pictures as SVG and CSV.
import { type Series, SeriesCollector, windowsWorthDrawing } from "../summary/series.ts";
import { readTrace } from "../trace/read.ts";
import { type Run, runFiles } from "./run.ts";
import { type PageOptions, placeIn, readRun, traceOf, writePage, writeText } from "./run-folder.ts";
import type { ReportSource } from "./source.ts";

export interface ReportOptions extends PageOptions {
  /** The folder of another run of the same scenario: the simulator's, for one by k6. */
  readonly compare?: string | undefined;
}

/** What was written, and the run it is about. */
export interface Report {
  readonly run: Run;
  /** The counts over time that its pictures show. */
  readonly series: Series;
  readonly html: string;
  readonly markdown: string;
  readonly junit: string;
  /** Paths of the pictures and their numbers. */
  readonly pictures: readonly string[];
}

/**
 * Makes, or makes again, the documents of a run.
 * @param folder what `writeRun` left
 * @throws SpillwayError `FILE_UNREADABLE`, `RUN_INVALID` or `TRACE_INVALID` for what is there,
 *   `FILE_UNWRITABLE` for what is not to be
 */
export async function writeReport(folder: string, options: ReportOptions = {}): Promise<Report> {
  const { renderReport } = await import("./page.ts");
  const { renderJunit } = await import("./junit.ts");
  const { renderMarkdown } = await import("./markdown.ts");
  const source = await readSource(folder);
  const other = options.compare === undefined ? null : await readSource(options.compare);
  const markdown = placeIn(folder, runFiles.markdown);
  const junit = placeIn(folder, runFiles.junit);
  const { html, pictures } = await writePage(folder, options, (beside) =>
    renderReport(source, other, beside),
  );
  await writeText(markdown, renderMarkdown(source.run, other?.run ?? null));
  await writeText(junit, renderJunit(source.run));
  return { run: source.run, series: source.series, html, markdown, junit, pictures };
}

/** A run and its series, which take a second reading of the trace: the summary says which are worth drawing. */
async function readSource(folder: string): Promise<ReportSource> {
  const run = await readRun(folder);
  const { header, calls } = await readTrace(traceOf(folder));
  const collector = new SeriesCollector(run.summary, header.rules, windowsWorthDrawing(run.summary));
  for await (const { call } of calls) collector.add(call);
  return { run, series: collector.finish() };
}
