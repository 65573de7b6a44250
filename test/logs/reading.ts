// Logs from texts, read as a whole: what was found out about them, and their rows as objects.
import { createHash } from "node:crypto";
import type { LogFormat } from "../../src/logs/choices.ts";
import { harMapping } from "../../src/logs/har.ts";
import { plain } from "../../src/logs/log-blocks.ts";
import { guessMapping, type MappingFlags, noMapping } from "../../src/logs/mapping.ts";
import type { LogFile } from "../../src/logs/read-file.ts";
import { type LogSettings, readLogs } from "../../src/logs/read-logs.ts";
import { type LogRows, OTHER_CALL, STATUS_CALL, type UnreadRow } from "../../src/logs/rows.ts";
import { headBytes, sniffLog } from "../../src/logs/sniff.ts";
import { chunks } from "../trace/samples.ts";

export const kindNames = ["rest", "graphql", "status", "other"] as const;

const kindOf = (kind: number | undefined): (typeof kindNames)[number] =>
  kind === STATUS_CALL ? "status" : (kindNames[kind ?? OTHER_CALL] ?? "other");

export interface Row {
  readonly at: string;
  readonly caller: string;
  readonly kind: (typeof kindNames)[number];
  readonly cost: number;
  readonly actual: number | null;
  readonly status: number;
  readonly durationMs: number | null;
}

export interface Reading {
  readonly rows: readonly Row[];
  readonly files: readonly LogFile[];
  readonly read: number;
  readonly unread: number;
  readonly anonymous: number;
  readonly unplaced: number;
  readonly examples: readonly UnreadRow[];
  readonly notes: readonly string[];
}

export interface ReadingOptions extends Partial<LogSettings> {
  readonly flags?: MappingFlags;
  readonly format?: LogFormat;
  /** Bytes of a chunk. */
  readonly size?: number;
}

/** Settings without options, except for the digest. */
export const usualSettings: Omit<LogSettings, "digest"> = {
  organization: null,
  graphqlCost: null,
  zone: 0,
  unreadMost: 0.01,
  sort: false,
};

export const digest = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Several logs as one. */
export async function readAll(
  logs: Readonly<Record<string, string | Uint8Array>>,
  { flags = {}, format, size, ...settings }: ReadingOptions = {},
): Promise<Reading> {
  const files: LogFile[] = [];
  for (const [name, bytes] of Object.entries(logs))
    files.push(await fileOf(name, () => chunks(bytes, size), flags, format ?? null));
  const rows = readLogs(files, { ...usualSettings, digest, ...settings });
  const all = await rowsOf(rows);
  const { read, unread, anonymous, unplaced, examples, notes } = rows;
  return { rows: all, files, read, unread, anonymous, unplaced, examples, notes };
}

export const read = (log: string | Uint8Array, options: ReadingOptions = {}): Promise<Reading> =>
  readAll({ log }, options);

export async function fileOf(
  name: string,
  open: () => AsyncIterable<Uint8Array>,
  flags: MappingFlags = {},
  format: LogFormat | null = null,
): Promise<LogFile> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of plain(open(), name)) {
    parts.push(part.slice());
    length += part.length;
    if (length >= headBytes) break;
  }
  const head = Buffer.concat(parts);
  const sample = sniffLog(head.subarray(0, headBytes), head.length < headBytes, name, format);
  const fixed = { trace: noMapping, har: harMapping } as const;
  const mapping =
    sample.format === "trace" || sample.format === "har"
      ? fixed[sample.format]
      : guessMapping(sample, flags, name);
  return { name, open, sample, mapping };
}

async function rowsOf({ batches, callers }: LogRows): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of batches)
    for (let row = 0; row < batch.count; row++) {
      const caller = callers[batch.caller[row] ?? -1];
      const [actual = 0, duration = 0] = [batch.actual[row], batch.durationMs[row]];
      rows.push({
        at: new Date(batch.atMs[row] ?? Number.NaN).toISOString(),
        caller: `${caller?.organization}/${caller?.user}`,
        kind: kindOf(batch.kind[row]),
        cost: batch.cost[row] ?? -1,
        actual: actual < 0 ? null : actual,
        status: batch.status[row] ?? -1,
        durationMs: Number.isNaN(duration) ? null : duration,
      });
    }
  return rows;
}

export const lines = (...each: readonly string[]): string => each.map((line) => `${line}\n`).join("");
