// Transcripts of curl: `curl -i` prints answers with their headers, `curl -v` marks lines of the request by `>` and of
// the answer by `<`. Several may follow each other, with or without their command lines.
import type { RawExchange } from "./seen.ts";

const statusLine = /^HTTP\/[\d.]+ (\d{3})(?: (.*))?$/;
/** Line of `curl -v`. A brace that counts no bytes is a body's. */
const marked = /^(?:\d\d:\d\d:\d\d\.\d+ )?(?:([<>*])(?: (.*))?|[{}] \[\d+ bytes data\])$/;
const field = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*)$/;
const command = /^(?:\s*[$#%>]\s*)?curl\s/;

/** Tells whether a text is such a transcript. */
export const isCurl = (text: string): boolean =>
  text.split(/\r?\n/, 10_000).some((line) => statusLine.test(line) || /^(?:\S+ )?< HTTP\//.test(line));

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface Draft extends Mutable<Omit<RawExchange, "body">> {
  requestHeaders: (readonly [string, string])[];
  headers: (readonly [string, string])[];
  lines: string[];
}

const empty = (): Draft => ({
  method: "GET",
  url: "",
  requestHeaders: [],
  requestBody: "",
  status: 0,
  headers: [],
  lines: [],
  atMs: null,
});

export function readCurl(text: string): RawExchange[] {
  const lines = joined(text.split(/\r?\n/));
  return lines.some((line) => /^(?:\S+ )?< HTTP\//.test(line)) ? verbose(lines) : included(lines);
}

/** Joins command lines that go on after a backslash. */
function joined(lines: readonly string[]): string[] {
  const result: string[] = [];
  let open: string | null = null;
  for (const line of lines) {
    const whole: string = open === null ? line : `${open} ${line}`;
    open = null;
    if (whole.endsWith("\\") && command.test(whole)) open = whole.slice(0, -1);
    else result.push(whole);
  }
  return result;
}

function included(lines: readonly string[]): RawExchange[] {
  const done: RawExchange[] = [];
  let asked = empty();
  let now: Draft | null = null;
  let inHead = false;
  const finish = (): void => {
    if (now !== null && isFinal(now)) done.push(whole(now));
    now = null;
  };
  for (const line of lines) {
    const status = statusLine.exec(line)?.[1];
    if (status !== undefined) {
      finish();
      now = { ...asked, headers: [], lines: [], status: Number(status) };
      inHead = true;
    } else if (command.test(line)) {
      finish();
      asked = askedBy(line);
    } else if (now !== null && inHead) {
      if (line.trim() === "") inHead = false;
      else addField(now.headers, line);
    } else now?.lines.push(line);
  }
  finish();
  return done;
}

function verbose(lines: readonly string[]): RawExchange[] {
  const done: RawExchange[] = [];
  let now = empty();
  const finish = (): void => {
    if (isFinal(now)) done.push(whole(now));
  };
  let asked = empty();
  for (const line of lines) {
    const found = marked.exec(line);
    if (found === null) {
      if (command.test(line)) asked = askedBy(line);
      else now.lines.push(line);
      continue;
    }
    const [, mark, rest = ""] = found;
    const request = /^([A-Z]+) (\S+) HTTP\/[\d.]+$/.exec(rest);
    const status = statusLine.exec(rest)?.[1];
    if (mark === ">" && request !== null) {
      finish();
      now = {
        ...empty(),
        requestBody: asked.requestBody,
        method: request[1] ?? "GET",
        url: request[2] ?? "",
      };
    } else if (mark === ">") addField(now.requestHeaders, rest);
    else if (mark === "<" && status !== undefined) {
      now.status = Number(status);
      now.headers = [];
      now.lines = [];
    } else if (mark === "<") addField(now.headers, rest);
  }
  finish();
  return done;
}

/** Tells whether an answer is the API's own. Interim answers, and a proxy's answers to CONNECT, are not. */
const isFinal = ({ status, headers }: Draft): boolean => status >= 200 && headers.length > 0;

function addField(fields: (readonly [string, string])[], line: string): void {
  const [, name, value = ""] = field.exec(line) ?? [];
  if (name !== undefined) fields.push([name, value.trim()]);
}

/**
 * Returns a draft with its body. With `-i` and `-v` at once, curl prints the head twice; the second one is dropped. Of
 * `-v`, a word on the connection follows a body that has no line's end.
 */
function whole({ lines, ...draft }: Draft): RawExchange {
  const text = lines.join("\n").replace(/\* (?:Connection #\d+ to host|Closing connection) .*\s*$/, "");
  const body = /^HTTP\/[\d.]+ \d{3}/.test(text) ? text.slice(text.indexOf("\n\n") + 2) : text;
  return { ...draft, body: body.trim() };
}

/** Returns a shell's words without their quotes. Variables are not filled in. */
const words = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"(?:\\.|[^"\\])*")+/g)].map(([text]) =>
    text.replace(
      /'([^']*)'|"((?:\\.|[^"\\])*)"/g,
      (_, single?: string, double?: string) => single ?? (double ?? "").replace(/\\(.)/g, "$1"),
    ),
  );

/** A short option with an argument, in the same word or the next, behind others without one: `-X`, `-isXPOST`. */
const short = /^-[#0-9BfgiIkLNsSv]*([XHudoAembw])(.*)$/;
const data = /^(?:-d|--data(?:-\w+)?|--json)$/;
/** Other options whose argument is no URL of the request. */
const passedOver = /^(?:-[oAembw]|--output|--user-agent|--max-time|--cookie|--cacert)$/;

/** Returns the request that a command line asks for. */
function askedBy(line: string): Draft {
  const asked = empty();
  const given = words(line.replace(/^(?:\s*[$#%>]\s*)?curl\s/, ""));
  let isPost = false;
  for (let at = 0; at < given.length; at++) {
    const word = given[at] ?? "";
    const [, letter, joined = ""] = short.exec(word) ?? [];
    const flag = letter === undefined ? word : `-${letter}`;
    const value = joined === "" ? (given[at + 1] ?? "") : joined;
    if (flag === "-X" || flag === "--request") asked.method = value;
    else if (flag === "-H" || flag === "--header") addField(asked.requestHeaders, value);
    else if (flag === "-u" || flag === "--user")
      asked.requestHeaders.push(["Authorization", `Basic ${value}`]);
    else if (data.test(flag)) {
      asked.requestBody = value;
      isPost = true;
    } else if (!passedOver.test(flag)) {
      if (/^https?:\/\//i.test(word)) asked.url = word;
      continue;
    }
    if (joined === "") at += 1;
  }
  if (isPost && asked.method === "GET") asked.method = "POST";
  return asked;
}
