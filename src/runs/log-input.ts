// Logs as verbs take them: files, globs, or standard input; what each is and what its columns are is guessed from its
// first bytes, shown by --dry-run, and set right by flags.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { openBytes } from "../files/byte-source.ts";
import { requireFile } from "../files/read-file.ts";
import { type CallerFlags, callerMapping } from "../logs/caller-sources.ts";
import { defaultGraphqlPath, defaultStatusPath, defaultUnread, type LogOptions } from "../logs/choices.ts";
import { harMapping } from "../logs/har.ts";
import { plain } from "../logs/log-blocks.ts";
import { guessMapping, type LogMapping, type MappingFlags, noMapping } from "../logs/mapping.ts";
import type { LogFile } from "../logs/read-file.ts";
import { type LogSettings, readLogs } from "../logs/read-logs.ts";
import type { RoutedRows } from "../logs/rows.ts";
import { headBytes, type LogSample, sniffLog } from "../logs/sniff.ts";
import { multiplyCallers } from "../logs/traffic.ts";
import type { Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { shortName } from "../rules/printable.ts";
import { parseShare } from "../rules/share.ts";
import { filesOf } from "./log-files.ts";

export interface LogHooks {
  /** Progress of the reading, in words, and as a share from 0 to 1; `null` where that is not known. */
  readonly onProgress?: ((text: string, share: number | null) => void) | undefined;
  /** Ends the reading: its batches end by this error. */
  readonly signal?: AbortSignal | undefined;
  /** Ends, by an error, what is read from pipes alone: it may never come. */
  readonly pipeSignal?: AbortSignal | undefined;
}

/** Logs, opened: what was found out about each, and all their rows. */
export interface OpenedLogs extends RoutedRows {
  readonly files: readonly LogFile[];
  /** By which they are read. */
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
  for (const path of await filesOf(paths)) {
    const file = await fileOf(path, hooks.pipeSignal ?? hooks.signal);
    const found = await lookAt(file, args);
    // DuckDB hands on another number of bytes than the file has.
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
  const rows = readLogs(known, settings);
  return {
    files,
    policy,
    changes: [
      ...(settings.paths === undefined ? [] : [`only ${settings.paths.join(", ")}`]),
      ...(factor === 1 ? [] : [`traffic ${factor}x`]),
    ],
    ...(factor === 1 ? { batches: rows.batches, callers: rows.callers } : multiplyCallers(rows, factor)),
    examples: rows.examples,
    get read() {
      return rows.read;
    },
    get unread() {
      return rows.unread;
    },
    get unplaced() {
      return rows.unplaced;
    },
    get unrouted() {
      return rows.unrouted;
    },
    paths: rows.paths,
  };
}

/** Options about callers under a policy; `NAME=COLUMN` and `NAME=VALUE`, any number of times. */
function callersOf(args: LogOptions, policy: Policy | undefined): CallerFlags {
  const pairs = (option: string, given: readonly string[] = [], form: string): Record<string, string> =>
    Object.fromEntries(
      given.map((text) => {
        const [, name, value] = /^([\w-]+)=(.+)$/.exec(text) ?? [];
        if (policy === undefined) throw usage(`--${option}`, quote(text), "nothing without --policy");
        if (name === undefined || value === undefined) throw usage(`--${option}`, quote(text), form);
        return [name, value];
      }),
    );
  return {
    columns: pairs("caller-column", args.callerColumn, "an attribute and its column: tenant=customer_id"),
    values: pairs("caller", args.caller, "an attribute and its value: tenant=acme"),
    hasOrganization: args.organization !== undefined,
  };
}

/** The policy that logs are read by, which a trace may name itself; none: by the API of SPEC.md. */
export type PolicyOf = (files: readonly LogFile[]) => Promise<Policy | undefined>;

interface LogSource {
  readonly name: string;
  /** 0 where that is not known. */
  readonly bytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

async function fileOf(path: string, signal: AbortSignal | undefined): Promise<LogSource> {
  if (path === "-") return readOnce("standard input", await openBytes(path, signal));
  await requireFile(path, "log");
  const found = await stat(path);
  // A pipe that has a name, `<(zcat ...)`, can be read once, like standard input.
  if (!found.isFile()) return readOnce(path, await openBytes(path, signal));
  return { name: path, bytes: found.size, open: () => readable(path) };
}

const chunkBytes = 1 << 18;

/**
 * A file's bytes. Plain ones come in two buffers that are filled in turn: while a chunk is used the next one is read,
 * and a chunk holds until the next one is asked for. What is packed is used up later than that, and is not read so.
 */
async function* readable(path: string): AsyncGenerator<Uint8Array> {
  try {
    if (await isPacked(path))
      yield* createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Uint8Array>;
    else yield* inTurn(path);
  } catch (cause) {
    const got = String((cause as NodeJS.ErrnoException).code);
    throw new SpillwayError("FILE_UNREADABLE", "the log cannot be read", {
      problems: [{ path, got, allowed: "a readable file" }],
      cause,
    });
  }
}

async function isPacked(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}

async function* inTurn(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    let [current, other] = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
    let reading = file.read(current, 0, chunkBytes);
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return;
      reading = file.read(other, 0, chunkBytes);
      // It is waited for in the next turn; until then its failure is nobody's.
      reading.catch(() => undefined);
      yield current.subarray(0, bytesRead);
      [current, other] = [other, current];
    }
  } finally {
    await file.close();
  }
}

/** Bytes of a source that can be read but once which are given again: what it is, and a trace's header. */
const keptBytes = 1 << 20;

/** A source that can be read but once: the bytes that were looked at are given again. */
function readOnce(name: string, stream: AsyncIterable<Uint8Array>): LogSource {
  const chunks = stream[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let kept = 0;
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield* seen.slice();
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      if (kept < keptBytes) seen.push(next.value);
      kept += next.value.length;
      yield next.value;
    }
  };
  return { name, bytes: 0, open };
}

/** Returns the format of a log; `null` where there is nothing in it. */
async function lookAt(source: LogSource, args: LogOptions): Promise<LogFile | null> {
  const { head, isWhole } = await headOf(source);
  if (head.length === 0) return null;
  const { name, open } = source;
  const sample = sniffLog(head, isWhole, name, args.format ?? null);
  if (sample.format === "parquet" || args.sql !== undefined)
    return lookAt({ ...source, open: await throughDuckDb(source, sample, args) }, asCsv(args));
  return { name, open, sample, mapping: mappingOf(sample, flagsOf(args), name) };
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
      problems: [{ path: name, got: format, allowed: "a file of Parquet, CSV or JSON lines" }],
    });
  return () => csvOf(name, format, sql);
}

async function headOf({ open, name }: LogSource): Promise<{ head: Uint8Array; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of plain(open(), name)) {
    // Chunks may be filled again behind our back.
    chunks.push(chunk.slice());
    length += chunk.length;
    if (length >= headBytes) return { head: Buffer.concat(chunks).subarray(0, headBytes), isWhole: false };
  }
  return { head: Buffer.concat(chunks), isWhole: true };
}

function flagsOf(args: LogOptions): MappingFlags {
  const columns = {
    time: args.timeColumn,
    user: args.userColumn,
    address: args.addressColumn,
    organization: args.organizationColumn,
    method: args.methodColumn,
    path: args.pathColumn,
    status: args.statusColumn,
    cost: args.costColumn,
    actual: args.actualColumn,
    duration: args.durationColumn,
    scope: args.scopeColumn,
  };
  const given = Object.entries(columns).filter(([, name]) => name !== undefined);
  return {
    columns: Object.fromEntries(given) as NonNullable<MappingFlags["columns"]>,
    tokenColumn: args.tokenColumn,
    durationUnit: args.durationUnit,
    timeIs: args.timeIs,
  };
}

function settingsOf(args: LogOptions): LogSettings {
  const graphqlCost = args.graphqlCost ?? null;
  if (graphqlCost !== null && !(Number.isInteger(graphqlCost) && graphqlCost >= 0 && graphqlCost < 2 ** 31))
    throw usage("--graphql-cost", String(graphqlCost), "a whole number of points");
  return {
    organization: args.organization ?? null,
    graphqlCost,
    statusPath: args.statusPath ?? defaultStatusPath,
    graphqlPath: args.graphqlPath ?? defaultGraphqlPath,
    paths: args.path === undefined || args.path.length === 0 ? undefined : args.path,
    zoneMinutes: zoneOf(args.zone),
    unreadMost: shareOf(args.allowUnread ?? defaultUnread),
    sort: args.sort ?? false,
    digest: digestOf,
  };
}

const factorMost = 1000;

/**
 * The factor on callers: `2x`, `1.5x` or `0.5`; 1 where none is given.
 * @throws SpillwayError `USAGE`
 */
export function trafficOf({ traffic }: Pick<LogOptions, "traffic">): number {
  if (traffic === undefined) return 1;
  const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(traffic)?.[1]);
  if (factor > 0 && factor <= factorMost) return factor;
  throw usage("--traffic", quote(traffic), `a factor above 0 and at most ${factorMost}, such as 2x or 0.5x`);
}

/**
 * A member of JSON may be missing in the first rows of one file. In those of none it is mistyped.
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

/** @throws SpillwayError `USAGE` naming a file of which no row has a path */

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

/** SHA-256, so that `printf %s TOKEN | sha256sum` tells which token a fingerprint is of. */
export const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");

function zoneOf(text: string | undefined): number {
  if (text === undefined || text === "UTC" || text === "Z") return 0;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  if (sign === undefined || Number(hours) > 23 || Number(minutes) > 59)
    throw usage("--zone", quote(text), "UTC, +02:00, -0530");
  return (sign === "+" ? 1 : -1) * (60 * Number(hours) + Number(minutes));
}

function shareOf(text: string): number {
  const share = parseShare(text);
  if (share === null || share > 1) throw usage("--allow-unread", quote(text), '"5%", or a share from 0 to 1');
  return share;
}

const usage = (path: string, got: string, allowed: string): SpillwayError =>
  new SpillwayError("USAGE", `${path} cannot be used`, { problems: [{ path, got, allowed }] });

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
