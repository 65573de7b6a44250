// What `--dry-run` says of logs: what each is, what its columns were taken for and why, and its first rows as read.
import pc from "picocolors";
import { instant } from "../report/format.ts";
import { SpillwayError } from "../rules/errors.ts";
import { Callers } from "../trace/logs/callers.ts";
import type { ColumnUse } from "../trace/logs/mapping.ts";
import type { LogFile } from "../trace/logs/read-file.ts";
import { GRAPHQL_CALL, type LogBatch, type LogRows, OTHER_CALL, STATUS_CALL } from "../trace/logs/rows.ts";
import { bareToken, looksSecret, withoutSecrets } from "../trace/logs/secrets.ts";
import { digestOf, type OpenedLogs } from "./log-input.ts";

const rowsMost = 5;
const widthMost = 48;

/**
 * Describes opened logs, and reads their first rows for it: what is left of `batches` is not read.
 * @throws SpillwayError as `batches` does, but for `LOG_UNREAD`
 */
export async function describeLogs(logs: OpenedLogs): Promise<string> {
  const rows = await firstRows(logs);
  return [
    ...logs.files.flatMap(fileLines),
    pc.bold("first rows, as read"),
    ...rows.map((row) => `  ${row}`),
    ...logs.examples.map(
      ({ file, line, why, text }) => `${pc.yellow("unread")} ${file}:${line}: ${why}\n  ${pc.dim(text)}`,
    ),
  ].join("\n");
}

const zoneless = /^\d{4}[-/]\d\d[-/]\d\d(?:[T ][\d:.,]+)?$/;

function fileLines({ name, sample, mapping }: LogFile): string[] {
  const { uses, timeIs, durationUnit, organization } = mapping;
  const has = (role: string): boolean => uses.some((use) => use.role === role);
  const left = sample.columns.filter((_, index) => !uses.some((use) => use.index === index));
  const times = sample.columns[uses.find(({ role }) => role === "time")?.index ?? -1]?.values ?? [];
  const notes = [
    times.some((time) => zoneless.test(time ?? ""))
      ? "times name no zone: UTC is meant, unless --zone says otherwise"
      : "",
    timeIs === "end" && has("duration")
      ? "times are when requests were over: they began a duration before"
      : "",
    has("duration") ? `durations are in ${durationUnit}` : "",
    organization === null ? "" : `rows that name no organization are ${organization}'s`,
    left.length === 0 ? "" : `not used: ${listed(left.map((column) => column.name))}`,
  ];
  return [
    `${pc.bold(name)}: ${sample.format}`,
    ...uses.map((use) => useLine(use, { name, sample, mapping })),
    ...notes.filter((note) => note !== "").map((note) => `  ${pc.dim(note)}`),
  ];
}

const namesMost = 8;

const listed = (names: readonly string[]): string =>
  names.length <= namesMost
    ? names.join(", ")
    : `${names.slice(0, namesMost).join(", ")} and ${names.length - namesMost} more`;

function useLine(use: ColumnUse, { sample, mapping }: Pick<LogFile, "name" | "sample" | "mapping">): string {
  const isToken = use.role === "user" && mapping.userIsToken;
  const value = sample.columns[use.index]?.values.find((each) => each !== undefined && each !== "") ?? "";
  const shown = shownValue(value, isToken);
  const role = isToken ? "token" : use.role;
  return `  ${role.padEnd(12)} ${use.column.padEnd(20)} ${pc.dim(use.why.padEnd(20))} ${shown}`.trimEnd();
}

function shownValue(value: string, isToken: boolean): string {
  if (isToken || looksSecret(value))
    return value === "" ? "" : new Callers(digestOf).fingerprint(bareToken(value));
  const text = withoutSecrets(value, false);
  return text.length <= widthMost ? text : `${text.slice(0, widthMost - 3)}...`;
}

async function firstRows(logs: LogRows): Promise<string[]> {
  const lines: string[] = [];
  try {
    for await (const batch of logs.batches) {
      for (let row = 0; row < batch.count && lines.length < rowsMost; row++)
        lines.push(rowLine(logs, batch, row));
      if (lines.length === rowsMost) break;
    }
  } catch (error) {
    // Too many unread rows are what this is to find the reason of.
    if (!(error instanceof SpillwayError && error.code === "LOG_UNREAD")) throw error;
  }
  return lines;
}

function rowLine({ callers }: LogRows, batch: LogBatch, row: number): string {
  const caller = callers[batch.caller[row] ?? 0];
  const duration = batch.durationMs[row] ?? Number.NaN;
  const actual = batch.actual[row] ?? -1;
  const words = [
    instant(batch.atMs[row] ?? 0),
    `${caller?.organization ?? ""}/${caller?.user ?? ""}`,
    kindWords(batch.kind[row] ?? 0, batch.cost[row] ?? 0),
    actual < 0 ? "" : `${actual} in the end`,
    batch.status[row] === 0 ? "no status" : `status ${batch.status[row]}`,
    Number.isNaN(duration) ? "" : `${duration} ms`,
  ];
  return words.filter((word) => word !== "").join("  ");
}

function kindWords(kind: number, cost: number): string {
  if (kind === STATUS_CALL) return "status call, free";
  if (kind === OTHER_CALL) return "counts nothing";
  return kind === GRAPHQL_CALL ? `GraphQL, ${cost} points` : "REST";
}
