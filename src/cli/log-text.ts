// Words of `--dry-run` on logs: each log's format, each column's role and why, and the first rows as read.

import { Callers } from "../logs/callers.ts";
import { type ColumnUse, timesOf } from "../logs/column-guesses.ts";
import { spanOf } from "../logs/field-values.ts";
import type { LogFile } from "../logs/read-file.ts";
import { type LogBatch, type LogRows, OTHER_CALL, STATUS_CALL } from "../logs/rows.ts";
import { bareToken, looksSecret, withoutSecrets } from "../logs/secrets.ts";
import { isSerial, isUnordered } from "../logs/time-text.ts";
import type { Policy } from "../policy/policy.ts";
import { instant, ownerName } from "../report/format.ts";
import { padAfter } from "../rules/columns.ts";
import { SpillwayError } from "../rules/errors.ts";
import { shortName } from "../rules/printable.ts";
import { counted } from "../rules/words.ts";
import { digestOf } from "../runs/log-flags.ts";
import type { OpenedLogs } from "../runs/log-input.ts";
import { pc } from "./colors.ts";

const rowsMost = 5;
const widthMost = 48;

interface UsedColumn {
  /** Role of the column; `token` if it holds tokens, which stand for users. */
  readonly role: string;
  readonly column: string;
  /** Reason why the column has this role. */
  readonly why: string;
  /** First value, with secrets struck out; for a token, its fingerprint. */
  readonly example: string;
}

interface UnderstoodFile {
  readonly name: string;
  readonly format: string;
  readonly columns: readonly UsedColumn[];
  readonly unused: readonly string[];
  readonly notes: readonly string[];
}

interface UnderstoodRow {
  /** Time of the call, ms since the epoch. */
  readonly atMs: number;
  readonly organization: string;
  readonly user: string;
  /** `rest`, `graphql`, `status` or `other`; under a policy an operation replaces the first two. */
  readonly kind: string;
  /** Attributes by which a policy's quotas are kept. */
  readonly caller?: Readonly<Record<string, string>> | undefined;
  readonly cost: number;
  /** Points that the call cost in the end; `null` if the row does not say. */
  readonly actual: number | null;
  readonly status: number | null;
  readonly durationMs: number | null;
}

/** Formats that logs seem to have: the result of `replay --dry-run`. */
export interface UnderstoodLogs {
  readonly files: readonly UnderstoodFile[];
  /** Changes made to the rows, in words: `only /v2/*`. */
  readonly changes: readonly string[];
  readonly rows: readonly UnderstoodRow[];
  /** Sentences that people should know about the files. */
  readonly notes: readonly string[];
  /** The first rows that could not be read. */
  readonly unread: LogRows["examples"];
}

/**
 * Describes opened logs by their first rows. The rest of `batches` stays unread.
 * @throws SpillwayError as `batches` does, except for `LOG_UNREAD`
 */
export async function understandLogs(logs: OpenedLogs): Promise<UnderstoodLogs> {
  const rows = await firstRows(logs);
  const { changes, notes, examples: unread } = logs;
  return { files: logs.files.map(understoodFile), changes, rows, notes: [...notes], unread };
}

/** Returns the same as lines for people. */
export const describeLogs = ({ files, changes, rows, notes, unread }: UnderstoodLogs): string[] => [
  ...files.flatMap(fileLines),
  ...notes.map((note) => pc.yellow(note)),
  pc.bold(["first rows, as read", ...changes].join(", ")),
  ...rows.map((row) => `  ${rowLine(row)}`),
  ...unread.flatMap(({ file, line, why, text }) => [
    `${pc.yellow("unread")} ${file}:${line}: ${why}`,
    `  ${pc.dim(text)}`,
  ]),
];

const zoneless =
  /^(?:\d{4}[-/]\d\d[-/]\d\d(?:[T ][\d:.,]+)?|\d\d[-/ ][A-Z][a-z]{2}[-/ ]\d{4}[ :][\d:.]+|\d\d?[-/.]\d\d?[-/.]\d{4},? [\d:.]+(?:\s?[AP]M)?)$/i;

function understoodFile({ name, sample, mapping }: LogFile): UnderstoodFile {
  const { uses, timeIs, dates, clockMs, durationUnit, organization } = mapping;
  const has = (role: string): boolean => uses.some((use) => use.role === role);
  const left = sample.columns.filter((_, index) => !uses.some((use) => use.index === index));
  const times = timesOf(sample, uses);
  const durations = sample.columns[uses.find(({ role }) => role === "duration")?.index ?? -1]?.values ?? [];
  const notes = [
    times.some((time) => isSerial(time ?? "")) ? "times are a spreadsheet's numbers of days since 1900" : "",
    times.some((time) => zoneless.test(time ?? "") || isSerial(time ?? ""))
      ? "times name no zone: UTC is meant, unless --zone says otherwise"
      : "",
    times.some((time) => isUnordered(time ?? ""))
      ? `dates have the ${dates === "day-first" ? "day" : "month"} first`
      : "",
    timeIs === "end" && has("duration")
      ? `times are when requests were over: they began a duration before${clockMs > 1 ? ", in whole seconds" : ""}`
      : "",
    has("duration") && !durations.some((text) => spanOf(text ?? "") >= 0)
      ? `durations are in ${durationUnit}`
      : "",
    organization === null ? "" : `rows that name no organization are ${organization}'s`,
  ];
  return {
    name,
    format: sample.format,
    columns: uses.map((use) => usedColumn(use, sample, mapping)),
    unused: left.map((column) => column.name),
    notes: notes.filter((note) => note !== ""),
  };
}

function usedColumn(use: ColumnUse, sample: LogFile["sample"], mapping: LogFile["mapping"]): UsedColumn {
  const isToken = use.role === "user" && mapping.userIsToken;
  const value = sample.columns[use.index]?.values.find((each) => each !== undefined && each !== "") ?? "";
  const { column, why } = use;
  return { role: isToken ? "token" : use.role, column, why, example: shownValue(value, isToken) };
}

function fileLines({ name, format, columns, unused, notes }: UnderstoodFile): string[] {
  const left = unused.length === 0 ? [] : [`not used: ${listed(unused)}`];
  return [
    `${pc.bold(name)}: ${format}`,
    ...columns.map(({ role, column, why, example }) =>
      `  ${role.padEnd(12)} ${padAfter(column, 20)} ${pc.dim(why)}${" ".repeat(Math.max(0, 20 - why.length))} ${example}`.trimEnd(),
    ),
    ...[...notes, ...left].map((note) => `  ${pc.dim(note)}`),
  ];
}

const namesMost = 8;

const listed = (names: readonly string[]): string =>
  names.length <= namesMost
    ? names.join(", ")
    : `${names.slice(0, namesMost).join(", ")} and ${names.length - namesMost} more`;

function shownValue(value: string, isToken: boolean): string {
  if (isToken || looksSecret(value))
    return value === "" ? "" : new Callers(digestOf).fingerprint(bareToken(value));
  const text = withoutSecrets(value, false);
  return text.length <= widthMost ? text : `${text.slice(0, widthMost - 3)}...`;
}

async function firstRows(logs: OpenedLogs): Promise<UnderstoodRow[]> {
  const rows: UnderstoodRow[] = [];
  try {
    for await (const batch of logs.batches) {
      for (let row = 0; row < batch.count && rows.length < rowsMost; row++)
        rows.push(understoodRow(logs, batch, row));
      if (rows.length === rowsMost) break;
    }
  } catch (error) {
    // The dry run shows why too many rows are unread, so it does not fail for them.
    if (!(error instanceof SpillwayError && error.code === "LOG_UNREAD")) throw error;
  }
  return rows;
}

function understoodRow({ callers, policy }: OpenedLogs, batch: LogBatch, row: number): UnderstoodRow {
  const caller = callers[batch.caller[row] as number];
  const actual = batch.actual[row] as number;
  const durationMs = batch.durationMs[row] ?? Number.NaN;
  return {
    atMs: batch.atMs[row] as number,
    organization: caller?.organization ?? "",
    user: caller?.user ?? "",
    kind: kindName(batch.kind[row] as number, policy),
    caller: caller?.attributes,
    cost: batch.cost[row] as number,
    actual: actual < 0 ? null : actual,
    status: batch.status[row] === 0 ? null : (batch.status[row] ?? null),
    durationMs: Number.isNaN(durationMs) ? null : durationMs,
  };
}

function kindName(kind: number, policy: Policy | undefined): string {
  if (kind === STATUS_CALL) return "status";
  if (kind === OTHER_CALL) return "other";
  const operations = policy === undefined ? ["rest", "graphql"] : Object.keys(policy.operations);
  return operations[kind] ?? "other";
}

function rowLine({
  atMs,
  organization,
  user,
  kind,
  caller,
  cost,
  actual,
  status,
  durationMs,
}: UnderstoodRow): string {
  const freeWords = new Map([
    ["status", "status call, free"],
    ["other", "counts nothing"],
  ]);
  const byScope = kind === "rest" ? "REST" : `GraphQL, ${counted(cost, "point")}`;
  const byOperation = cost === 1 ? kind : `${kind}, ${counted(cost, "unit")}`;
  const whose =
    caller === undefined
      ? ownerName(organization, user)
      : Object.entries(caller)
          .map(([name, value]) => `${name} ${shortName(value)}`)
          .join(", ");
  return [
    instant(atMs),
    whose || ownerName(organization, user),
    freeWords.get(kind) ?? (caller === undefined ? byScope : byOperation),
    ...(actual === null ? [] : [`${actual} in the end`]),
    status === null ? "no status" : `status ${status}`,
    ...(durationMs === null ? [] : [`${durationMs} ms`]),
  ].join("  ");
}
