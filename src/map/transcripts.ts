// Records of an API's answers → answers seen: a HAR, curl's output, JSON lines, an access log.
import { splitAccessLog } from "../logs/access-log.ts";
import { guesses, plainName } from "../logs/column-guesses.ts";
import { entriesOf } from "../logs/har.ts";
import { memberOf, textOfValue } from "../logs/json-lines.ts";
import { SpillwayError } from "../rules/errors.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { headerNames } from "../wire/fields.ts";
import { isCurl, readCurl } from "./curl.ts";
import { isLimitLike } from "./header-names.ts";
import { type RawExchange, type SeenAnswers, seenOf } from "./seen.ts";

/**
 * Reads a file's answers.
 * @param secrets gets the texts of the file that may be written nowhere
 * @throws SpillwayError `LOG_INVALID` if the file is none of these
 */
export function readTranscript(text: string, file: string, secrets: Set<string>): SeenAnswers[] {
  const exchanges = exchangesOf(text.replace(/^\uFEFF/, ""), file);
  if (exchanges.length === 0)
    throw new SpillwayError("LOG_INVALID", "this file shows no answer of an API", {
      problem: {
        path: file,
        got: "no HTTP answer",
        allowed: "output of curl -i or curl -v, a HAR, JSON lines, or an access log",
      },
      hint: "curl -i URL > answer.txt keeps an answer with its headers",
    });
  return exchanges.map((each) => seenOf(each, secrets));
}

function exchangesOf(text: string, file: string): RawExchange[] {
  if (isCurl(text)) return readCurl(text);
  if (/^\s*\{\s*"log"\s*:/.test(text)) return entriesOf(text, file).flatMap(harExchange);
  return text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("{") ? jsonExchange(line) : accessExchange(line)));
}

function harExchange(entry: unknown): RawExchange[] {
  const status = Number(textOfValue(memberOf(entry, ["response", "status"])));
  // A browser writes 0 if no answer came.
  if (!(status >= 100)) return [];
  const startMs = Date.parse(textOfValue(memberOf(entry, ["startedDateTime"])) ?? "");
  const took = Number(textOfValue(memberOf(entry, ["time"])));
  const encoded = memberOf(entry, ["response", "content", "encoding"]) === "base64";
  return [
    {
      method: textOfValue(memberOf(entry, ["request", "method"])) ?? "GET",
      url: textOfValue(memberOf(entry, ["request", "url"])) ?? "",
      requestHeaders: fieldsOf(memberOf(entry, ["request", "headers"])),
      requestBody: textOfValue(memberOf(entry, ["request", "postData", "text"])) ?? "",
      status,
      headers: fieldsOf(memberOf(entry, ["response", "headers"])),
      body: encoded ? "" : (textOfValue(memberOf(entry, ["response", "content", "text"])) ?? ""),
      atMs: Number.isNaN(startMs) ? null : Math.round(startMs + (took > 0 ? took : 0)),
    },
  ];
}

function fieldsOf(list: unknown): [string, string][] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown) => {
    const [name, value] = [textOfValue(memberOf(each, ["name"])), textOfValue(memberOf(each, ["value"]))];
    return name === undefined || value === undefined ? [] : [[name, value] as [string, string]];
  });
}

/** Parts of an exchange that no line of a log has. */
const unseen = { requestHeaders: [], requestBody: "", body: "" } as const;

/** Words that writers of logs put before a header's name. */
const prefix = /^(?:sent_http_|upstream_http_|resp(?:onse)?_(?:headers?_)?|headers?_|http_)/i;
const roles = {
  method: /^(?:method|request_method|http_method|verb)$/i,
  url: /^(?:url|uri|path|request_uri|target|request_path)$/i,
  status: /^(?:status|status_code|response_code|code|statuscode)$/i,
  time: /^(?:time|timestamp|ts|@timestamp|date|datetime|time_iso8601)$/i,
};
const depthMost = 4;
/** Names of members that tell callers apart, the likeliest first. */
const callerNames = [...guesses.user.names, ...guesses.address.names];

function jsonExchange(line: string): RawExchange[] {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return [];
  }
  const found: Partial<Record<keyof typeof roles, string>> = {};
  const headers: [string, string][] = [];
  const callers = new Map<string, string>();
  const visit = (value: unknown, depth: number): void => {
    if (!isPlainObject(value) || depth > depthMost) return;
    for (const [key, member] of Object.entries(value)) {
      // Caddy writes a header's values as a list.
      const text = textOfValue(Array.isArray(member) ? member.join(", ") : member);
      const name = key.replace(prefix, "").replaceAll("_", "-");
      if (text === undefined) visit(member, depth + 1);
      else if (isLimitLike(name)) headers.push([name, text]);
      else {
        if (isNamed(text) && !callers.has(plainName(key))) callers.set(plainName(key), text);
        for (const [role, pattern] of Object.entries(roles) as [keyof typeof roles, RegExp][])
          if (pattern.test(key)) found[role] ??= text;
      }
    }
  };
  visit(row, 0);
  if (headers.length === 0) headers.push(...headersOfTrace(row));
  const status = Number(found.status);
  if (!(status >= 100)) return [];
  const received = textOfValue(memberOf(row, ["received"]));
  const caller = callerNames.map((name) => callers.get(name)).find((name) => name !== undefined);
  const { method = "GET", url = "", time = received } = found;
  return [{ ...unseen, method, url, status, headers, atMs: timeOf(time), caller }];
}

/** Tells whether a field of a log names something. */
const isNamed = (text: string | undefined): text is string =>
  text !== undefined && text !== "" && text !== "-";

/** Returns the headers of a trace's line, which names them by their fields (FORMAT.md). */
const headersOfTrace = (row: unknown): [string, string][] =>
  Object.entries(headerNames).flatMap(([field, name]) => {
    const text = textOfValue(memberOf(row, [field]));
    return text === undefined ? [] : [[name, text] as [string, string]];
  });

/** Reads seconds or ms since the epoch, or a text that JavaScript can parse. */
function timeOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{13}$/.test(text)) return Number(text);
  if (/^\d{10}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

function accessExchange(line: string): RawExchange[] {
  const [, method = "", url = "", status] = /"([A-Z]+) (\S+) HTTP\/[\d.]+" (\d{3})\b/.exec(line) ?? [];
  if (status === undefined) return [];
  const [address, , user] = splitAccessLog(line) ?? [];
  const caller = [user?.text, address?.text].find(isNamed);
  return [{ ...unseen, method, url, status: Number(status), headers: [], atMs: null, caller }];
}
