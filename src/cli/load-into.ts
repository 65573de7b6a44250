// A load run, kept in a run folder: k6 measures, then what it left is judged. `load` and `demo` share it.
import { type LoadOptions, type LoadProgress, type LoadResult, load } from "../load/load.ts";
import { counted, duration } from "../report/format.ts";
import type { RunRecord } from "../report/run.ts";
import { type KeptRun, keepRun } from "./keep-run.ts";
import { version } from "./version.ts";

export interface LoadIntoOptions extends Omit<LoadOptions, "folder" | "onProgress"> {
  /** The scenario's file or name, as it was named. */
  readonly file: string;
  /** What repeats the run. */
  readonly command: string;
  readonly notes?: readonly string[];
  /** Another run's folder, to be shown beside this one. */
  readonly compare?: string | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** A load run, judged and kept. */
export interface LoadedRun extends KeptRun {
  readonly load: LoadResult;
  /** What the reader must know of it. */
  readonly notes: readonly string[];
}

/**
 * Runs a scenario by k6 and keeps the run: trace, verdict, summary, documents, and k6's own in `k6/`.
 * @throws SpillwayError as `load` and `keepRun` do
 */
export async function loadInto(folder: string, options: LoadIntoOptions): Promise<LoadedRun> {
  const { file, command, notes: given = [], compare, onProgress, ...loading } = options;
  const result = await load({
    ...loading,
    folder,
    onProgress: (progress) => onProgress?.(progressText(progress)),
  });
  const { scenario, header, endedAt, k6, crossed, failure } = result;
  const notes = [
    ...(failure === null ? [] : [failure]),
    ...crossed.map((threshold) => `k6's threshold ${threshold} was crossed`),
    ...result.notes,
    ...given,
  ];
  const record: RunRecord = {
    format: "spillway-run",
    version: 1,
    driver: "k6",
    scenario: { name: scenario.name, description: scenario.description || null, file },
    seed: scenario.seed,
    startedAt: header.startedAt,
    endedAt,
    durationMs: scenario.durationMs,
    target: header.target,
    command,
    versions: { spillway: version, node: process.versions.node, k6: k6.version },
    rules: header.rules,
    expect: Object.fromEntries(scenario.expect.map(({ figure, bound }) => [figure, bound])),
    interrupted: result.interrupted || failure !== null,
    notes,
  };
  const kept = await keepRun(
    folder,
    record,
    { moveFrom: result.trace },
    { compare, onProgress: (records) => onProgress?.(`judging: ${counted(records, "line")}`) },
  );
  return { ...kept, load: result, notes, held: kept.held && crossed.length === 0 };
}

function progressText(progress: LoadProgress): string {
  if ("doing" in progress) return progress.doing;
  const { elapsedMs, durationMs, calls, refused } = progress;
  const left = elapsedMs >= durationMs ? "ending" : `of ${duration(durationMs)}`;
  return `k6: ${duration(elapsedMs)} ${left}, ${counted(calls, "call")}, ${counted(refused, "refusal")}`;
}
