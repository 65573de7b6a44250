// Logs as verbs take them: files, globs, or standard input. Their first bytes decide format and columns. --dry-run
// shows the guess, and flags correct it.

import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { callerMapping } from "../logs/caller-sources.ts";
import type { LogOptions } from "../logs/choices.ts";
import { globMatcher } from "../logs/glob.ts";
import { harMapping } from "../logs/har.ts";
import { valuesByLine, valuesDepth } from "../logs/json-values.ts";
import { plain } from "../logs/log-blocks.ts";
import { guessMapping, type LogMapping, type MappingFlags, noMapping } from "../logs/mapping.ts";
import type { LogFile } from "../logs/read-file.ts";
import { type LogSettings, readLogs } from "../logs/read-logs.ts";
import type { RoutedRows } from "../logs/rows.ts";
import { headBytes, isHar, type LogSample, sniffLog } from "../logs/sniff.ts";
import { multiplyCallers } from "../logs/traffic.ts";
import type { Policy } from "../policy/policy.ts";
import { runFiles } from "../report/run.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { shortName } from "../rules/printable.ts";
import { sourcesOf } from "./distinct-logs.ts";
import type { LogSource } from "./log-bytes.ts";
import { callersOf, flagsOf, settingsOf, trafficOf, usage } from "./log-flags.ts";

export interface LogHooks {
  /** Progress of the reading, in words and as a share from 0 to 1; `null` if the share is unknown. */
  readonly onProgress?: ((text: string, share: number | null) => void) | undefined;
  /** Ends the reading: its batches end with this error. */
  readonly signal?: AbortSignal | undefined;
  /** Ends only reading from pipes, with an error: their bytes may never come. */
  readonly pipeSignal?: AbortSignal | undefined;
}

/** Opened logs: what was found out about each, and all their rows. */
export interface OpenedLogs extends RoutedRows {
  readonly files: readonly LogFile[];
  /** Policy that they are read by. */
  readonly policy: Policy | undefined;
  /** Changes that were made to them, in words: `only /v2/*`, `traffic 2x`. */
  readonly changes: readonly string[];
}

/**
 * Opens logs.
 * @param paths files, globs, folders of runs, or `-` for standard input
 * @throws SpillwayError `FILE_UNREADABLE`, `LOG_INVALID`, `USAGE`; while `batches` are read as `readLogs` does
 */
export async function openLogs(
  paths: readonly string[],
  args: LogOptions = {},
  hooks: LogHooks = {},
  policyOf?: PolicyOf,
): Promise<OpenedLogs> {
  const factor = trafficOf(args);
  const progress = new Progress(hooks);
  const files: LogFile[] = [];
  const { sources, notes } = await sourcesOf(await filesOf(paths), hooks.pipeSignal ?? hooks.signal);
  for (const file of sources) {
    const found = await lookAt(file, args);
    // DuckDB returns another number of bytes than the file has.
    if (found?.open === file.open) progress.total += file.bytes;
    if (found !== null) files.push({ ...found, open: () => progress.through(found.open()) });
  }
  if (files.length === 0)
    throw new SpillwayError("LOG_INVALID", "these logs are empty", {
      problems: paths.map((path) => ({ path, got: "nothing", allowed: "at least one row" })),
    });
  requireColumns(files, flagsOf(args));
  const policy = await policyOf?.(files);
  const flags = callersOf(args, policy);
  const settings = { ...settingsOf(args), policy };
  requirePaths(files, settings);
  const known = files.map((file) =>
    policy === undefined ? file : { ...file, callers: callerMapping(policy, file, flags, file.name) },
  );
  const rows = readLogs(known, settings, notes);
  return {
    files,
    policy,
    changes: [
      ...(settings.paths === undefined ? [] : [`only ${settings.paths.join(", ")}`]),
      ...(factor === 1 ? [] : [`traffic ${factor}x`]),
    ],
    ...(factor === 1 ? { batches: rows.batches, callers: rows.callers } : multiplyCallers(rows, factor)),
    examples: rows.examples,
    notes: rows.notes,
    get read() {
      return rows.read;
    },
    get unread() {
      return rows.unread;
    },
    get unplaced() {
      return rows.unplaced;
    },
    get anonymous() {
      return rows.anonymous;
    },
    get unrouted() {
      return rows.unrouted;
    },
    paths: rows.paths,
  };
}

/** Returns the policy that logs are read by; a trace may name one itself. `undefined` means the API of SPEC.md. */
export type PolicyOf = (files: readonly LogFile[]) => Promise<Policy | undefined>;

/**
 * Returns a log with its format and columns; `null` if it is empty.
 * @param isByLine true if its JSON was written as lines already
 */
async function lookAt(source: LogSource, args: LogOptions, isByLine = false): Promise<LogFile | null> {
  const { head, isWhole } = await headOf(source);
  if (head.length === 0) return null;
  const { name, open } = source;
  const depth = isByLine ? null : depthOf(head, args);
  if (depth !== null) {
    const lines = () => valuesByLine(plain(open(), name), depth);
    return lookAt({ ...source, open: lines }, { ...args, format: "ndjson" }, true);
  }
  const sample = sniffLog(head, isWhole, name, args.format ?? null);
  if (sample.format === "parquet" || args.sql !== undefined)
    return lookAt({ ...source, open: await throughDuckDb(source, sample, args) }, asCsv(args));
  return { name, open, sample, mapping: mappingOf(sample, flagsOf(args), name) };
}

/** Returns the depth of the rows of JSON that are no lines (`valuesDepth`); `null` for lines, and for HAR. */
function depthOf(head: Uint8Array, { format = "ndjson", sql }: LogOptions): number | null {
  if (format !== "ndjson" || sql !== undefined || isHar(new TextDecoder().decode(head))) return null;
  return valuesDepth(head);
}

function mappingOf(sample: LogSample, flags: MappingFlags, name: string): LogMapping {
  const { format } = sample;
  if (format !== "trace" && format !== "har") return guessMapping(sample, flags, name);
  const [role] = Object.keys(flags.columns ?? {});
  const option = flags.tokenColumn === undefined ? role : "token";
  if (option === undefined) return format === "har" ? harMapping : noMapping;
  throw usage(`--${option}-column`, "a column's name", `nothing: in ${format} all has its place (${name})`);
}

const asCsv = (args: LogOptions): LogOptions => ({ ...args, format: "csv", sql: undefined });

async function throughDuckDb(
  { name, bytes }: LogSource,
  { format }: LogSample,
  { sql }: LogOptions,
): Promise<() => AsyncIterable<Uint8Array>> {
  const { csvOf, isDuckDbFormat } = await import("./log-duckdb.ts");
  if (bytes === 0 || !isDuckDbFormat(format))
    throw new SpillwayError("USAGE", "DuckDB cannot read this log", {
      problem: { path: name, got: format, allowed: "a file of Parquet, CSV or JSON lines" },
    });
  return () => csvOf(name, format, sql);
}

async function headOf({ open, name }: LogSource): Promise<{ head: Uint8Array; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of plain(open(), name)) {
    // The source may fill its chunks again.
    chunks.push(chunk.slice());
    length += chunk.length;
    if (length >= headBytes) return { head: Buffer.concat(chunks).subarray(0, headBytes), isWhole: false };
  }
  return { head: Buffer.concat(chunks), isWhole: true };
}

/**
 * Requires each named column in some file: a member of JSON may be missing in one file's first rows.
 * @throws SpillwayError `USAGE` naming the option whose column no file has
 */
function requireColumns(files: readonly LogFile[], { columns = {}, tokenColumn }: MappingFlags): void {
  const named = Object.entries({ ...columns, ...(tokenColumn === undefined ? {} : { user: tokenColumn }) });
  const uses = files.flatMap(({ mapping }) => mapping.uses);
  const missing = named.find(([role]) => !uses.some((use) => use.role === role && use.index !== -1));
  if (missing === undefined) return;
  const [role, column] = missing;
  const names = new Set(files.flatMap(({ sample }) => sample.columns.map(({ name }) => name)));
  throw usage(
    `--${role === "user" && tokenColumn !== undefined ? "token" : role}-column`,
    `${quote(column)}, which none of the first rows has`,
    [...names].slice(0, 50).map(shortName).join(", "),
  );
}

/** @throws SpillwayError `USAGE` naming a file whose rows have no path */
function requirePaths(files: readonly LogFile[], { paths }: LogSettings): void {
  if (paths === undefined) return;
  const without = files.find(
    ({ sample: { format }, mapping }) =>
      format === "trace" || (format !== "access-log" && !mapping.uses.some(({ role }) => role === "path")),
  );
  if (without === undefined) return;
  const isTrace = without.sample.format === "trace";
  throw usage(
    "--path",
    `${without.name}, ${isTrace ? "a trace, which has no paths" : "in which no column is taken for paths"}`,
    isTrace ? "logs with paths" : "a log with paths; --path-column names their column",
  );
}

class Progress {
  /** Bytes of all files. */
  total = 0;
  #read = 0;
  readonly #hooks: LogHooks;

  constructor(hooks: LogHooks) {
    this.#hooks = hooks;
  }

  async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#hooks.signal?.throwIfAborted();
      this.#read += chunk.length;
      this.#hooks.onProgress?.(this.#words(), this.#share());
      yield chunk;
    }
  }

  #share(): number | null {
    return this.total === 0 ? null : Math.min(1, this.#read / this.total);
  }

  #words(): string {
    const megabytes = `${Math.round(this.#read / 1e6).toLocaleString("en")} MB`;
    const share = this.#share();
    return share === null ? `reading: ${megabytes}` : `reading: ${Math.floor(100 * share)} %, ${megabytes}`;
  }
}

/**
 * Returns the files that paths and globs (`*`, `?`, `**`) stand for. Files of a glob are in the order of their names. A
 * run's folder stands for its trace.
 * @throws SpillwayError `FILE_UNREADABLE` if nothing fits a glob
 */
export async function filesOf(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const trace = join(path, runFiles.trace);
    if (path !== "-" && existsSync(trace)) files.push(trace);
    else if (/[*?]/.test(path) && !existsSync(path)) files.push(...(await matching(path)));
    else files.push(path);
  }
  return files;
}

async function matching(glob: string): Promise<string[]> {
  const base = dirname(`${glob.slice(0, glob.search(/[*?]/))}x`);
  const fits = globMatcher(join(glob).split(sep).join("/"));
  const recursive = glob.includes("**") || glob.slice(glob.search(/[*?]/)).includes("/");
  const entries = await readdir(base, { recursive, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    // A link may lead to a folder.
    .filter(
      (path) =>
        fits(path.split(sep).join("/")) && statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true,
    )
    .sort();
  if (files.length > 0) return files;
  throw new SpillwayError("FILE_UNREADABLE", "no file is called like that", {
    problem: { path: glob, got: "no file", allowed: "a file's name, or a pattern that some have" },
  });
}
