// Reads the run folder back. run.json is put in place last, so that a folder with a run.json is whole.
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { hiddenFolders } from "../files/folder-writer.ts";
import { parsePolicy } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseExpectations } from "../rules/figures.ts";
import { parseDocument } from "../rules/json.ts";
import { parseRules } from "../rules/parse.ts";
import type { JsonPath } from "../rules/repeated-member.ts";
import type { Rules } from "../rules/rules.ts";
import { summarySchema } from "../summary/summary.ts";
import { type Verdict, verdictSchema } from "../verify/verdict.ts";
import { type Run, type RunRecord, recordSchema, runFiles } from "./run.ts";

/**
 * Reads a run folder back, except for the trace (`traceOf`).
 * @throws SpillwayError `FILE_UNREADABLE` if the folder or a file of it is missing; `RUN_INVALID` naming the file and
 *   every field that is wrong
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
 * Reads only the record of what was run. A run that did not end has none.
 * @throws SpillwayError as `readRun`
 */
export async function readRecord(folder: string): Promise<RunRecord> {
  const path = join(folder, runFiles.record);
  const record = await readPart(path, recordSchema);
  const rules = record.rules === null ? null : checkRules(path, record.rules);
  const policy = record.policy === undefined ? undefined : checkPolicy(path, record.policy);
  const { problems } = parseExpectations(record.expect);
  if (problems.length > 0) throw invalid(path, problems);
  return { ...record, rules, policy };
}

/** @throws SpillwayError `RUN_INVALID` naming the file's fields that are wrong */
export const checkRules = (path: string, input: unknown): Rules =>
  checked(path, "rules", () => parseRules(input));

/** @throws SpillwayError `RUN_INVALID` naming the file's fields that are wrong */
export const checkPolicy = (path: string, input: unknown): Policy =>
  checked(path, "policy", () => parsePolicy(input));

function checked<T>(path: string, member: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    throw invalid(
      path,
      error.problems.map((problem) => ({ ...problem, path: `${member}.${problem.path}` })),
    );
  }
}

/** @throws SpillwayError `FILE_UNREADABLE` if there is no such folder */
export async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) return;
  throw new SpillwayError("FILE_UNREADABLE", "the run folder cannot be read", {
    problem: { path: folder, got: found === null ? "no such folder" : "a file", allowed: "a run's folder" },
    hint: "npx spillway simulate and npx spillway load make one, and print where",
  });
}

/** Tells whether there is a file of this name. */
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
  await requireRegular(path);
  const content = await readFile(path, "utf8").catch(async (cause: NodeJS.ErrnoException) => {
    throw unreadable(path, cause, await whyUnfinished(path));
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

/** Requires a regular file. A folder by somebody else may hold a pipe or a link to a device, which has no end. */
async function requireRegular(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.isFile()) return;
  throw new SpillwayError("FILE_UNREADABLE", "a file of the run folder cannot be read", {
    problem: { path, got: found.isDirectory() ? "a folder" : "no regular file", allowed: "a readable file" },
  });
}

function unreadable(path: string, cause: NodeJS.ErrnoException, hint?: string): SpillwayError {
  const got = cause.code === "ENOENT" ? "no such file" : String(cause.code);
  return new SpillwayError("FILE_UNREADABLE", "a file of the run folder cannot be read", {
    problem: { path, got, allowed: "a readable file" },
    hint,
    cause,
  });
}

/** Returns why a folder has no run.json, and what can still be done with it. */
async function whyUnfinished(path: string): Promise<string | undefined> {
  if (basename(path) !== runFiles.record || (await hasFile(path))) return undefined;
  const why = "a folder without a run.json is another verb's, or of a run that did not end";
  const folder = dirname(path);
  const hasTrace = (await hasFile(join(folder, runFiles.trace))) || (await unfinishedRunIn(folder)) !== null;
  return hasTrace ? `${why}; npx spillway verify still reads its trace` : `${why}, and left no trace`;
}

/** Returns the hidden folder with the trace of the youngest unfinished run in a folder; `null` if there is none. */
export async function unfinishedRunIn(folder: string): Promise<string | null> {
  for (const hidden of await hiddenFolders(folder))
    if (await hasFile(join(hidden, runFiles.trace))) return hidden;
  return null;
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

/** Yields the bytes of a run's trace, for its reader. @throws SpillwayError `FILE_UNREADABLE` if it is missing */
export async function* traceOf(folder: string): AsyncGenerator<Uint8Array, void> {
  const path = join(folder, runFiles.trace);
  await requireRegular(path);
  try {
    yield* createReadStream(path);
  } catch (cause) {
    throw unreadable(path, cause as NodeJS.ErrnoException);
  }
}

/** Returns a file's path in a run folder. */
export const placeIn = (folder: string, ...names: readonly string[]): string => join(folder, ...names);
