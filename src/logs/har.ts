// Reads HAR, in which browsers and proxies keep requests: one JSON document, so it is read whole, up to a bound.

import { costHeader } from "../policy/policy.ts";
import { nodeHeaders } from "../wire/fields.ts";
import { pointed } from "../wire/pointer.ts";
import type { CallerMapping } from "./caller-sources.ts";
import { Cells, COST, type ColumnRole, roles, USER } from "./cells.ts";
import type { ColumnUse, NamedRole } from "./column-guesses.ts";
import { memberOf, textOfValue } from "./json-lines.ts";
import { invalid, plain } from "./log-blocks.ts";
import type { LogMapping } from "./mapping.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { AddsRows, LogFile } from "./read-file.ts";
import type { LogTally } from "./rejections.ts";
import type { LogBatch } from "./rows.ts";

/** Greatest size of a document, bytes: what JSON.parse makes of it takes several times as much memory. */
const bytesMost = 1 << 28;
/** Greatest length of a request's body that is read for its callers, characters. */
const bodyMost = 1 << 20;

/** Places of the roles in an entry; the names of headers stand behind `response` and `request`. */
const places: readonly (readonly [NamedRole, readonly string[]])[] = [
  ["time", ["startedDateTime"]],
  ["duration", ["time"]],
  ["method", ["request", "method"]],
  ["path", ["request", "url"]],
  ["status", ["response", "status"]],
];
const headers: readonly (readonly [NamedRole, "request" | "response", string])[] = [
  ["user", "request", "authorization"],
  ["cost", "response", nodeHeaders.requested],
  ["actual", "response", nodeHeaders.actual],
];

const use = (role: NamedRole, path: readonly string[]): ColumnUse => ({
  role,
  column: path.join("."),
  path,
  index: -1,
  why: "where HAR has it",
});

export const harMapping: LogMapping = {
  uses: [
    ...places.map(([role, path]) => use(role, path)),
    ...headers.map(([role, side, name]) => use(role, [side, "headers", name])),
  ],
  userIsToken: true,
  hasTokens: true,
  durationUnit: "ms",
  timeIs: "start",
  dates: "day-first",
  clockMs: 1,
  organization: null,
};

/** @throws SpillwayError `LOG_INVALID` if it is no HAR, or too large */
export async function* readHar(
  file: LogFile,
  reader: AddsRows,
  tally: LogTally,
  rows: OrderedRows,
): AsyncGenerator<LogBatch, void> {
  const { callers } = file;
  const cells = new Cells(callers?.further.length);
  for (const [index, entry] of entriesOf(await textOfFile(file), file.name).entries()) {
    const texts = textsOf(entry);
    if (callers !== undefined) addCallerTexts(texts, entry, callers);
    cells.write(texts);
    const why = reader.add(cells, rows);
    if (why === null) tally.read += 1;
    else tally.reject(file.name, index + 1, why, () => "an entry of a HAR");
    if (rows.isFull) yield* rows.drain();
  }
  yield* rows.rest();
}

/**
 * Reads a whole document, packed or not.
 * @throws SpillwayError `LOG_INVALID` if it is too large, or its gzip is broken
 */
export async function textOfFile({ open, name }: Pick<LogFile, "open" | "name">): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of plain(open(), name)) {
    bytes += chunk.length;
    if (bytes > bytesMost)
      throw invalid(
        name,
        "this file is too large",
        `more than ${bytesMost} bytes`,
        `at most ${bytesMost} bytes`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** @throws SpillwayError `LOG_INVALID` if it is no HAR */
export function entriesOf(text: string, file: string): readonly unknown[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw invalid(file, "this HAR is no JSON", "text that ends or goes wrong somewhere", "one JSON document");
  }
  const entries = memberOf(document, ["log", "entries"]);
  if (Array.isArray(entries)) return entries;
  throw invalid(file, "this HAR has no entries", "no array", "log.entries, an array");
}

function textsOf(entry: unknown): (string | undefined)[] {
  const texts = new Array<string | undefined>(roles.length).fill(undefined);
  const put = (role: ColumnRole, text: string | undefined): void => {
    texts[roles.indexOf(role)] = text;
  };
  for (const [role, path] of places) put(role, textOfValue(memberOf(entry, path)));
  for (const [role, side, name] of headers) put(role, headerOf(memberOf(entry, [side, "headers"]), name));
  // An entry that a browser did not wait for has a negative time.
  if (texts[roles.indexOf("duration")]?.startsWith("-")) put("duration", undefined);
  return texts;
}

/** Adds a policy's callers: whose the token is, what routes take of the request, and the cost that it declares. */
function addCallerTexts(texts: (string | undefined)[], entry: unknown, callers: CallerMapping): void {
  const sent = memberOf(entry, ["request", "headers"]);
  texts[USER] = headerOf(sent, callers.authHeader.toLowerCase()) ?? texts[USER];
  texts[COST] ??= headerOf(sent, costHeader);
  for (const { role, source } of callers.further) {
    if (source === undefined) continue;
    texts[role] =
      "header" in source
        ? headerOf(sent, source.header.toLowerCase())
        : textOfValue(pointedAt(memberOf(entry, ["request", "postData", "text"]), source.pointer));
  }
}

/** Returns the member of a JSON text that a pointer names. */
function pointedAt(text: unknown, pointer: string): unknown {
  if (typeof text !== "string" || text.length > bodyMost) return undefined;
  try {
    return pointed(JSON.parse(text), pointer)[0]?.value;
  } catch {
    return undefined;
  }
}

function headerOf(list: unknown, name: string): string | undefined {
  if (!Array.isArray(list)) return undefined;
  const header = list.find(
    (each) => textOfValue(memberOf(each, ["name"]))?.toLowerCase() === name,
  ) as unknown;
  return textOfValue(memberOf(header, ["value"]));
}
