// The kind of a log, from its first bytes: the format that most of its first lines have, its columns, and the first
// values of each.
import { quote, type SpillwayError } from "../rules/errors.ts";
import {
  type AccessLogField,
  accessLogColumns,
  isAddressList,
  requestColumn,
  splitAccessLog,
  splitRequest,
} from "./access-log.ts";
import type { LogFormat } from "./choices.ts";
import { joinedLines, type Separator, separators, splitCsv, toldSeparator } from "./csv.ts";
import { textOfValue } from "./json-lines.ts";
import { invalid } from "./log-blocks.ts";
import { isTime } from "./time-text.ts";
import { layoutOf, type WordLayout, WordLines } from "./words.ts";

/** A column of a log, with its values in the first rows. */
export interface SampledColumn {
  readonly name: string;
  /** Keys that lead to it, in JSON. */
  readonly path: readonly string[];
  /** Text in each sampled row; `undefined` if the row has none. */
  readonly values: readonly (string | undefined)[];
}

export interface LogSample {
  readonly format: LogFormat;
  readonly columns: readonly SampledColumn[];
  readonly separator: Separator;
  /** True if the first line of a CSV names the columns. */
  readonly hasHeader: boolean;
  readonly layout?: WordLayout | undefined;
}

/** Number of bytes at a log's start that decide its format. */
export const headBytes = 1 << 17;
const sampledRows = 200;
/** Number of lines that decide the format. */
const decidingLines = 20;

const decoder = new TextDecoder();

/**
 * @param head first bytes, unpacked; up to `headBytes`
 * @param isWhole true if there are no others
 * @throws SpillwayError `LOG_INVALID` if their format is unknown, or if they have a single column
 */
export function sniffLog(
  head: Uint8Array,
  isWhole: boolean,
  file: string,
  forced: LogFormat | null = null,
): LogSample {
  if (head.length === 0) throw invalid(file, "this log is empty", "nothing", "at least one row");
  const text = decoder.decode(head);
  const all = linesOf(text, isWhole);
  const told = toldSeparator(all[0] ?? "");
  const lines = told === null ? all : all.slice(1);
  if (forced === null && errorLine.test(lines[0] ?? "")) throw errorLog(file);
  const format = forced ?? (told === null ? formatOf(head, text, lines) : "csv");
  if (format === null) throw unknown(file, text, lines);
  const sample = { format, columns: [], separator: "," as Separator, hasHeader: false };
  if (format === "access-log") return { ...sample, columns: accessColumns(lines) };
  if (format === "ndjson" || format === "k6") return { ...sample, columns: jsonColumns(lines) };
  if (format === "words") return { ...sample, ...sampleWords(lines, file, text) };
  return format === "csv" ? sampleCsv(lines, file, told) : sample;
}

/** Returns the format that a single line looks like; `null` if it may have any. */
export function formatOfLine(line: string): LogFormat | null {
  if (isJsonObject(line)) return "ndjson";
  return splitAccessLog(line) === null ? null : "access-log";
}

function linesOf(text: string, isWhole: boolean): string[] {
  const lines = text.split("\n");
  // The last line may be cut, unless the text is whole or has no other line.
  if (!isWhole && lines.length > 1) lines.pop();
  return lines.map((line) => line.replace(/\r$/, "")).filter((line) => line.trim() !== "");
}

function formatOf(head: Uint8Array, text: string, lines: readonly string[]): LogFormat | null {
  if (decoder.decode(head.subarray(0, 4)) === "PAR1") return "parquet";
  if (isHar(text)) return "har";
  const [first = ""] = lines;
  if (isJsonObject(first) && /"format"\s*:\s*"spillway-trace"/.test(first)) return "trace";
  const deciding = lines.slice(0, decidingLines);
  const share = (test: (line: string) => boolean): number =>
    deciding.filter(test).length / Math.max(1, deciding.length);
  if (share(isJsonObject) > 0.5) return share(isK6Line) > 0.5 ? "k6" : "ndjson";
  if (share((line) => splitAccessLog(line) !== null) > 0.5) return "access-log";
  if (layoutOf(deciding) !== null) return "words";
  return deciding.length > 0 && separatorIn(lines) !== null ? "csv" : null;
}

export const isHar = (text: string): boolean => /^\s*\{\s*"log"\s*:\s*\{/.test(text);

/** Line of Apache's or nginx's error log. */
const errorLine = /^\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d|^\d{4}\/\d\d\/\d\d \S+ \[\w+\] \d+#/;

const isK6Line = (line: string): boolean =>
  /"metric"\s*:\s*"/.test(line) && /"type"\s*:\s*"(?:Point|Metric)"/.test(line);

function isJsonObject(line: string): boolean {
  if (!line.trimStart().startsWith("{")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Returns the separator of the first rows, which may take several lines each. */
const separatorIn = (lines: readonly string[]): Separator | null =>
  separatorOf(joinedLines(lines).slice(0, decidingLines)) ?? separatorOf(lines.slice(0, decidingLines));

/** Returns the separator that cuts most lines into the same number of columns, more than one. */
function separatorOf(lines: readonly string[]): Separator | null {
  let best: Separator | null = null;
  let most = 0;
  for (const separator of separators) {
    const counts = new Map<number, number>();
    for (const line of lines) {
      const count = splitCsv(line, separator)?.length ?? 0;
      if (count > 1) counts.set(count, (counts.get(count) ?? 0) + 1);
    }
    const alike = Math.max(0, ...counts.values());
    if (alike > most) [best, most] = [separator, alike];
  }
  return most > lines.length / 2 ? best : null;
}

function sampleCsv(lines: readonly string[], file: string, told: Separator | null): LogSample {
  const separator = told ?? separatorIn(lines);
  if (separator === null) throw oneColumn(file, lines[0] ?? "");
  const rows = joinedLines(lines)
    .slice(0, sampledRows + 1)
    .map((line) => splitCsv(line, separator) ?? []);
  const [first = []] = rows;
  const hasHeader = !first.some((field) => isTime(field) || /^-?\d+(?:\.\d+)?$/.test(field));
  // Concatenated files repeat the names.
  const isNames = (row: readonly string[]): boolean =>
    hasHeader && row.join(separator) === first.join(separator);
  const others = rows.filter((row) => row.length === first.length && !isNames(row));
  const columns = first.map((field, index) => {
    const name = hasHeader && field !== "" ? field.trim() : `column${index + 1}`;
    return { name, path: [name], values: others.map((row) => row[index]) };
  });
  return { format: "csv", columns, separator, hasHeader };
}

function accessColumns(lines: readonly string[]): SampledColumn[] {
  const rows = lines.slice(0, sampledRows).flatMap((line) => {
    const fields = splitAccessLog(line);
    return fields === null ? [] : [fields];
  });
  const count = Math.max(...rows.map((row) => row.length), 0);
  return Array.from({ length: count }, (_, index) => {
    const name = accessColumnName(rows, index);
    return { name, path: [name], values: rows.map((row) => shownAs(row[index]?.text, index)) };
  });
}

/** Returns a field's text; for a request, its path. */
const shownAs = (text: string | undefined, column: number): string | undefined =>
  column === requestColumn && text !== undefined ? splitRequest(text).path : text;

function accessColumnName(rows: readonly (readonly AccessLogField[])[], index: number): string {
  const written = rows.find((row) => row[index]?.name != null)?.[index]?.name;
  const known = accessLogColumns[index] ?? written;
  if (known != null) return known;
  return isForwarded(rows, index) ? "http_x_forwarded_for" : `extra${index + 1 - accessLogColumns.length}`;
}

/** Tells whether a field without a name, the last of nginx's own format, has the callers' addresses behind a proxy. */
function isForwarded(rows: readonly (readonly AccessLogField[])[], index: number): boolean {
  const texts = rows.map((row) => row[index]?.text ?? "-").filter((text) => text !== "-");
  const connected = new Set(rows.map(([address]) => address?.text));
  return new Set(texts).size > connected.size && texts.every(isAddressList);
}

/** Returns the columns of objects: every member of the first rows, by the keys that lead to it. */
function jsonColumns(lines: readonly string[]): SampledColumn[] {
  const rows = lines.slice(0, sampledRows).filter(isJsonObject);
  return columnsOf(rows.map((line) => membersOf(JSON.parse(line), [])));
}

/** Returns the columns of rows whose fields have names, by the keys that lead to them. */
function columnsOf(
  rows: readonly Iterable<readonly [path: readonly string[], value: string | undefined]>[],
): SampledColumn[] {
  const columns = new Map<string, { path: readonly string[]; values: (string | undefined)[] }>();
  for (const [row, fields] of rows.entries())
    for (const [path, value] of fields) {
      const key = JSON.stringify(path);
      let column = columns.get(key);
      if (column === undefined) {
        column = { path, values: new Array<string | undefined>(rows.length).fill(undefined) };
        columns.set(key, column);
      }
      column.values[row] = value;
    }
  return [...columns.values()].map(({ path, values }) => ({ name: path.join("."), path, values }));
}

function sampleWords(
  lines: readonly string[],
  file: string,
  text: string,
): Pick<LogSample, "columns" | "layout"> {
  const layout = layoutOf(lines.slice(0, decidingLines));
  if (layout === null) throw unknown(file, text, lines);
  const words = new WordLines(layout);
  const rows = lines.slice(0, sampledRows).flatMap((line) => words.fieldsOf(line) ?? []);
  const columns = columnsOf(
    rows.map((fields) => [...fields].map(([name, value]) => [[name], value] as const)),
  );
  return { columns, layout };
}

/** Greatest depth of sampled members. */
const depthMost = 6;

function* membersOf(value: unknown, path: string[]): Generator<[string[], string | undefined]> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || path.length === depthMost)
    yield [path, textOfValue(value)];
  else for (const [key, member] of Object.entries(value)) yield* membersOf(member, [...path, key]);
}

const allFormats =
  "lines of an access log (nginx, Apache, HAProxy, AWS, IIS, Envoy), logfmt, JSON lines, CSV, HAR, k6's --out json, a spillway trace, or Parquet";

function unknown(file: string, text: string, lines: readonly string[]): SpillwayError {
  const [first = ""] = lines;
  if (/^\s*\[\s*[[{]/.test(text))
    return invalid(
      file,
      "this log is one JSON array",
      "an array",
      allFormats,
      `jq -c '.[]' ${file} makes lines of it`,
    );
  if (lines.length > 0 && lines.every((line) => separators.every((each) => !line.includes(each))))
    return oneColumn(file, first);
  return invalid(
    file,
    "what this log is cannot be told from its first lines",
    quote(first.replace(/[\w~+=.-]{6,}/g, "***")),
    allFormats,
    "--format says what it is",
  );
}

const errorLog = (file: string): SpillwayError =>
  invalid(
    file,
    "this is an error log, which tells no requests",
    "lines of Apache's or nginx's error log",
    allFormats,
    "the access log beside it tells them",
  );

function oneColumn(file: string, first: string): SpillwayError {
  return invalid(
    file,
    "this log has one column alone",
    quote(first.replace(/[A-Za-z_][\w~+=.-]{11,}/g, "***")),
    "a time, and who asked for what: at least two columns, between commas, semicolons, tabs or bars",
  );
}
