// A load run, kept in a run folder: k6 or Node measures, then the run is judged. `load` and `demo` share it.
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FolderWriter } from "../files/folder-writer.ts";
import type { DriverChoice } from "../load/driver.ts";
import { type LoadOptions, type LoadProgress, type LoadResult, load } from "../load/load.ts";
import { isTooSlow } from "../load/node/lateness.ts";
import { share } from "../report/format.ts";
import { limitsIn, type RunRecord, runFiles } from "../report/run.ts";
import { readRun } from "../report/run-folder.ts";
import { ownerWords } from "../report/source.ts";
import { duration } from "../rules/duration.ts";
import { SpillwayError } from "../rules/errors.ts";
import { count, counted } from "../rules/words.ts";
import { type KeptRun, keepRun } from "./keep-run.ts";
import { openPlace, type RunPlace } from "./open-place.ts";
import { Pace } from "./pace.ts";
import { shellCommand } from "./run-place.ts";
import { version } from "./version.ts";

export interface LoadIntoOptions extends Omit<LoadOptions, "folder" | "onProgress"> {
  /** The scenario's file or name, as it was named. */
  readonly file: string;
  /** Command that repeats the run. */
  readonly command: string;
  readonly notes?: readonly string[];
  /** Another run's folder, to be shown beside this one. */
  readonly compare?: string | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

export interface LoadedRun extends KeptRun {
  readonly load: LoadResult;
  /** Facts that the reader must know of it. */
  readonly notes: readonly string[];
}

/**
 * Runs a scenario for real and keeps the run: trace, verdict, summary, documents, and k6's files in `k6/`. After an
 * error, what was measured before stays in the hidden folder inside.
 * @throws SpillwayError as `load` and `keepRun` do
 */
export async function loadInto(place: RunPlace, options: LoadIntoOptions): Promise<LoadedRun> {
  const writer = await openPlace(place, "run");
  try {
    return await measure(writer, options);
  } catch (error) {
    const left: string[] = await readdir(writer.staging).catch(() => []);
    if (left.length > 0) writer.leave();
    throw (await hasCall(join(writer.staging, runFiles.trace))) ? withWayOn(error, writer) : error;
  } finally {
    await writer.close();
  }
}

/** Tells whether a trace is there and has a call below its header. */
async function hasCall(path: string): Promise<boolean> {
  const file = await open(path).catch(() => null);
  if (file === null) return false;
  try {
    let lines = 0;
    for await (const _ of file.readLines()) {
      lines += 1;
      if (lines > 1) return true;
    }
    return false;
  } finally {
    await file.close();
  }
}

/** Returns the error with the folder's name for the hidden one, and with a command that judges what is left. */
function withWayOn(error: unknown, { folder, staging }: FolderWriter): unknown {
  if (!(error instanceof SpillwayError)) return error;
  const named = (text: string): string => text.replaceAll(staging, folder);
  const [summary = ""] = error.message.split("\n");
  const way = `${shellCommand(["npx", "spillway", "verify", folder])} judges what was measured until then`;
  return new SpillwayError(error.code, named(summary), {
    problems: error.problems.map((problem) => ({
      ...problem,
      path: named(problem.path),
      got: named(problem.got),
    })),
    hint: error.hint === undefined ? way : `${error.hint}; ${way}`,
    cause: error.cause,
  });
}

async function measure(writer: FolderWriter, options: LoadIntoOptions): Promise<LoadedRun> {
  const { file, command, notes: given = [], compare, onProgress, ...loading } = options;
  // The other run is read first: if there is none, nothing needs to be loaded.
  if (compare !== undefined) await readRun(compare);
  const pace = new Pace(Date.now);
  const result = await load({
    ...loading,
    folder: writer.staging,
    onProgress: (progress) => onProgress?.(progressText(progress, pace)),
  });
  const { scenario, header, endedAt, driver, checks, crossed, failure } = result;
  const notes = [
    ...(failure === null ? [] : [failure]),
    ...latenessNotes(result),
    ...crossed.map((threshold) => `k6's threshold ${threshold} was crossed`),
    ...result.notes,
    ...given,
  ];
  const record: RunRecord = {
    format: "spillway-run",
    version: 1,
    driver,
    scenario: { name: scenario.name, description: scenario.description || null, file },
    seed: scenario.seed,
    startedAt: header.startedAt,
    endedAt,
    durationMs: scenario.durationMs,
    target: header.target,
    command,
    versions: {
      spillway: version,
      node: process.versions.node,
      ...(driver === "k6" ? { k6: result.k6.version } : {}),
    },
    ...limitsIn(header),
    expect: Object.fromEntries(scenario.expect.map(({ figure, bound }) => [figure, bound])),
    ...(result.driver === "node" ? { lateness: result.lateness } : {}),
    interrupted: result.interrupted || failure !== null,
    notes,
  };
  const kept = await keepRun(writer, record, {
    compare,
    onProgress: (records) => onProgress?.(`judging: ${counted(records, "line")}`),
  });
  return { ...kept, load: result, notes, held: kept.held && crossed.length === 0 && checks.length === 0 };
}

/** Calls a second of each driver, measured on two cores, kept connections (`npm run bench -- drivers`, FORMAT.md). */
const reach = { node: 7_000, k6: 20_000 } as const;

/** Returns the first line of a run: its driver, the reason for it, and what k6 would add. */
export function driverLine(choice: DriverChoice): string {
  if (choice.driver === "k6") return `k6 ${choice.k6.version} drives the load.`;
  const figures = `about ${count(reach.node)} calls/s; k6 reaches ${count(reach.k6)}`;
  return choice.because === null
    ? `Node drives the load (${figures}).`
    : `${choice.because}, so Node drives the load (${figures}). Get k6: npx spillway doctor --get-k6`;
}

function latenessNotes(load: LoadResult): string[] {
  if (load.driver !== "node" || !isTooSlow(load.lateness)) return [];
  const late = duration(load.lateness.p99Ms);
  return [
    `the generator was too slow: 1 of 100 calls left ${late} late or later, so waits are partly its own`,
  ];
}

/** Returns how far a load is, in words. */
export function progressText(progress: LoadProgress, pace: Pace): string {
  if ("doing" in progress) return progress.doing;
  const { elapsedMs, durationMs, calls, refused, tightest, lateMs } = progress;
  const left = elapsedMs >= durationMs ? "ending" : `of ${duration(durationMs)}`;
  const perSecond = pace.at(elapsedMs / durationMs, calls)?.perSecond;
  const parts = [
    `${duration(elapsedMs)} ${left}`,
    // Looks at the status are among them.
    counted(calls, "request"),
    ...(perSecond === undefined ? [] : [`${count(Math.round(perSecond))}/s`]),
    ...(calls === 0 ? [] : [`${share(refused / calls)} refused`]),
    ...(tightest === null
      ? []
      : [`${count(tightest.remaining)} of ${count(tightest.limit)} left for ${ownerWords(tightest)}`]),
    ...(lateMs === null ? [] : [`${duration(lateMs)} late`]),
  ];
  return parts.join(", ");
}
