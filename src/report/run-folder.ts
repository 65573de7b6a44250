// The run folder: the only place of this room that touches files. Each file is written beside itself and
// renamed, and run.json comes last, so that a folder with a run.json is whole.
import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as v from "valibot";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseExpectations } from "../rules/figures.ts";
import { parseDocument } from "../rules/json.ts";
import { parseRules } from "../rules/parse.ts";
import type { JsonPath } from "../rules/repeated-member.ts";
import type { Rules } from "../rules/rules.ts";
import type { Summary } from "../summary/summary.ts";
import type { Verdict } from "../verify/verdict.ts";
import {
  picturesFolder,
  type Run,
  type RunRecord,
  recordSchema,
  runFiles,
  summarySchema,
  verdictSchema,
} from "./run.ts";

/** The lines of a trace without their ends; or a finished file, which is moved into the folder. */
export type TraceLines = Iterable<string> | AsyncIterable<string> | { readonly moveFrom: string };

export interface RunParts {
  readonly record: RunRecord;
  readonly trace: TraceLines;
  readonly summary: Summary;
  /** `null` where the run was not judged. */
  readonly verdict: Verdict | null;
}

/**
 * Writes a run's data into its folder, which is made if need be: trace, verdict, summary, and run.json last.
 * A run that stood there before is replaced. `writeReport` adds the documents for people.
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file
 */
export async function writeRun(folder: string, parts: RunParts): Promise<void> {
  await writeTrace(folder, parts.trace);
  await writeText(join(folder, runFiles.verdict), json(parts.verdict));
  await writeText(join(folder, runFiles.summary), json(parts.summary));
  await writeText(join(folder, runFiles.record), json(parts.record));
}

/**
 * Writes a run's trace alone, so that what is judged is what was kept; `writeRun` completes the folder, which
 * counts as unfinished until then.
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file
 */
export async function writeTrace(folder: string, trace: TraceLines): Promise<void> {
  await writing(folder, () => mkdir(folder, { recursive: true }));
  // What was said of an earlier run goes first, run.json before all.
  await removePictures(join(folder, runFiles.html), picturesFolder);
  const { trace: name, ...others } = runFiles;
  for (const other of Object.values(others))
    await writing(folder, () => rm(join(folder, other), { force: true }));
  await placeTrace(join(folder, name), trace);
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

async function placeTrace(path: string, trace: TraceLines): Promise<void> {
  if (!("moveFrom" in trace)) return writeText(path, endLines(trace));
  const from = trace.moveFrom;
  await writing(path, async () => {
    if (from === path) return void (await stat(path));
    await rename(from, path).catch(async (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EXDEV") throw cause;
      const partial = partOf(path);
      await copyFile(from, partial);
      await rename(partial, path);
      await rm(from);
    });
  });
}

async function* endLines(lines: Iterable<string> | AsyncIterable<string>): AsyncIterable<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < 65_536) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

const partOf = (path: string): string => `${path}.part`;

/**
 * Writes a file as a whole or not at all: first beside itself, then renamed.
 * @throws SpillwayError `FILE_UNWRITABLE`; what stood there before is untouched then
 */
export async function writeText(path: string, content: string | AsyncIterable<string>): Promise<void> {
  const partial = partOf(path);
  try {
    await writing(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      if (typeof content === "string") await writeFile(partial, content);
      else await pipeline(Readable.from(content), createWriteStream(partial));
      await rename(partial, path);
    });
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

export interface PageOptions {
  /** Where the HTML goes instead of the folder's report.html. */
  readonly out?: string | undefined;
  /** Whether each picture is also written beside the page, as SVG and CSV; it is unless this is `false`. */
  readonly pictures?: boolean | undefined;
}

/**
 * Writes a page and its pictures. The pictures of an earlier page in its place go first.
 * @param render given the name of the folder that the pictures go to, beside the page; `null` for none
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file
 */
export async function writePage(
  folder: string,
  { out, pictures = true }: PageOptions,
  render: (beside: string | null) => {
    readonly html: string;
    files(): ReadonlyMap<string, string>;
  },
): Promise<{ readonly html: string; readonly pictures: readonly string[] }> {
  const html = out ?? join(folder, runFiles.html);
  const beside = out === undefined ? picturesFolder : `${basename(out).replace(/\.html?$/, "")}-pictures`;
  if (/[\\/]$/.test(html) || (await stat(html).catch(() => null))?.isDirectory() === true)
    throw new SpillwayError("FILE_UNWRITABLE", "the page cannot be written", {
      problems: [{ path: html, got: "a folder", allowed: "the path of an .html file" }],
    });
  const page = render(pictures ? beside : null);
  await removePictures(html, beside);
  const place = join(dirname(html), beside);
  const files = pictures ? page.files() : new Map<string, string>();
  // The page first: by its links the pictures are found again, of which some may be missing then.
  await writeText(html, page.html);
  for (const [name, content] of files) await writeText(join(place, name), content);
  return { html, pictures: [...files.keys()].map((name) => join(place, name)) };
}

/** Removes the pictures that an earlier page links: those alone, since any folder may have this name. */
async function removePictures(html: string, beside: string): Promise<void> {
  const page = await readFile(html, "utf8").catch(() => "");
  const place = join(dirname(html), beside);
  for (const [, folder, name = ""] of page.matchAll(/href="([^"/]+)\/([a-z][a-z0-9-]*\.(?:svg|csv))"/g)) {
    if (folder !== beside) continue;
    const path = join(place, name);
    await writing(path, () => rm(path, { force: true }));
  }
  await rmdir(place).catch(() => undefined);
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // What the source of the lines threw is no fault of the file.
    if (code === undefined || cause instanceof SpillwayError) throw cause;
    throw new SpillwayError("FILE_UNWRITABLE", "a file of the run folder cannot be written", {
      problems: [{ path, got: code, allowed: "a place that can be written" }],
      cause,
    });
  }
}

/**
 * Reads a run folder back; the trace stays where it is (`traceOf`).
 * @throws SpillwayError `FILE_UNREADABLE` where the folder or a file of it is missing; `RUN_INVALID` naming the
 *   file and every field that is wrong
 */
export async function readRun(folder: string): Promise<Run> {
  await requireFolder(folder);
  const record = await readRecord(folder);
  const summary = await readPart(join(folder, runFiles.summary), summarySchema);
  const verdict = await readPart(join(folder, runFiles.verdict), verdictSchema);
  // The laws' names are not checked: another version may know more or fewer.
  return { record, summary, verdict: verdict as Verdict | null };
}

/**
 * Reads what was run, alone; a run that did not end has no record.
 * @throws SpillwayError as `readRun`
 */
export async function readRecord(folder: string): Promise<RunRecord> {
  const path = join(folder, runFiles.record);
  const record = await readPart(path, recordSchema);
  const rules = record.rules === null ? null : checkRules(path, record.rules);
  const { problems } = parseExpectations(record.expect);
  if (problems.length > 0) throw invalid(path, problems);
  return { ...record, rules };
}

/** @throws SpillwayError `RUN_INVALID` naming the file's fields that are wrong */
export function checkRules(path: string, input: unknown): Rules {
  try {
    return parseRules(input);
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    throw invalid(
      path,
      error.problems.map((problem) => ({ ...problem, path: `rules.${problem.path}` })),
    );
  }
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) return;
  throw new SpillwayError("FILE_UNREADABLE", "the run folder cannot be read", {
    problems: [
      { path: folder, got: found === null ? "no such folder" : "a file", allowed: "a run's folder" },
    ],
    hint: "npx spillway simulate and npx spillway load make one, and print where",
  });
}

/** Whether there is a file of this name. */
export async function hasFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

/**
 * Reads a JSON file of a folder, whole.
 * @throws SpillwayError `FILE_UNREADABLE`, or `RUN_INVALID` naming the file and every field that is wrong
 */
export async function readPart<S extends v.GenericSchema>(
  path: string,
  schema: S,
): Promise<v.InferOutput<S>> {
  const content = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw unreadable(path, cause);
  });
  const parsed = v.safeParse(schema, parseJson(path, content));
  if (parsed.success) return parsed.output;
  throw invalid(
    path,
    parsed.issues.map((issue) => ({
      path: issue.path?.map(({ key }) => String(key)).join(".") ?? path,
      got: quote(issue.input),
      allowed:
        issue.expected === null || !issue.message.startsWith("Invalid") ? issue.message : issue.expected,
    })),
  );
}

function unreadable(path: string, cause: NodeJS.ErrnoException): SpillwayError {
  const got = cause.code === "ENOENT" ? "no such file" : String(cause.code);
  return new SpillwayError("FILE_UNREADABLE", "a file of the run folder cannot be read", {
    problems: [{ path, got, allowed: "a readable file" }],
    hint: "a folder without its run.json is of a run that did not end; npx spillway verify still reads its trace",
    cause,
  });
}

function parseJson(path: string, content: string): unknown {
  try {
    const pathOf = (steps: JsonPath): string => steps.join(".");
    return parseDocument(content, path, { name: path, code: "RUN_INVALID", pathOf });
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    throw invalid(path, error.problems);
  }
}

function invalid(path: string, problems: readonly Problem[]): SpillwayError {
  return new SpillwayError("RUN_INVALID", `${path} is not what a run leaves`, { problems });
}

/** The bytes of a run's trace, for the trace's reader; `FILE_UNREADABLE` where it is missing. */
export async function* traceOf(folder: string): AsyncGenerator<Uint8Array, void> {
  const path = join(folder, runFiles.trace);
  try {
    yield* createReadStream(path);
  } catch (cause) {
    throw unreadable(path, cause as NodeJS.ErrnoException);
  }
}

/** A file's path in a run folder. */
export const placeIn = (folder: string, ...names: readonly string[]): string => join(folder, ...names);
