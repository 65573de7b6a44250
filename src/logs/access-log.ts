// Reads lines of nginx's and Apache's access logs, common and combined, with or without more fields behind:
//   203.0.113.9 - alice [02/Jan/2026:03:04:05 +0100] "GET /v2/user HTTP/1.1" 200 512 "-" "curl/8" rt=0.123
import { newline } from "../trace/blocks.ts";
import { type Cells, METHOD, NO_ROLE, PATH, roles } from "./cells.ts";
import { ColumnRoles, type LineFormat, NOT_SCANNED, type ParsedLine } from "./line-format.ts";

const [space, quoteMark, backslash, openBracket, closeBracket, carriageReturn, equals] = [
  0x20, 0x22, 0x5c, 0x5b, 0x5d, 0x0d, 0x3d,
] as const;

/** Fields of a line in their order, by nginx's names; the last two only in combined logs; others may follow. */
export const accessLogColumns = [
  "remote_addr",
  "ident",
  "remote_user",
  "time_local",
  "request",
  "status",
  "body_bytes_sent",
  "http_referer",
  "http_user_agent",
] as const;
const [timeColumn, firstOptional] = [3, 7] as const;
/** Column of `GET /path HTTP/1.1`: the roles of method and path are read from it without being assigned to it. */
export const requestColumn = 4;

export class AccessLogFormat implements LineFormat {
  readonly isRow = true;
  readonly #roles: ColumnRoles;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  /** Place of the field that was read last. */
  #from = 0;
  #to = 0;

  /** @param columns role of each column, or `null` */
  constructor(columns: readonly (number | null)[]) {
    this.#roles = new ColumnRoles(columns.map((role, column) => (column === requestColumn ? null : role)));
  }

  scan(view: DataView, from: number, cells: Cells): number {
    this.#view = view;
    this.#at = from;
    cells.view = view;
    cells.clear();
    for (let column = 0; column < timeColumn; column++) {
      if (!this.#token(false) || !this.#takes(space)) return NOT_SCANNED;
      this.#note(column, cells);
    }
    if (!this.#bracketed() || !this.#takes(space)) return NOT_SCANNED;
    this.#note(timeColumn, cells);
    if (!this.#quoted() || !this.#takes(space)) return NOT_SCANNED;
    this.#noteRequest(cells);
    for (let column = requestColumn + 1; ; column++) {
      const isOptional = column >= firstOptional;
      const isQuoted = isOptional && view.getUint8(this.#at) === quoteMark;
      if (!(isQuoted ? this.#quoted() : this.#token(isOptional))) return NOT_SCANNED;
      this.#note(column, cells);
      if (this.#takes(space)) continue;
      return column < firstOptional - 1 ? NOT_SCANNED : this.#lineEnd();
    }
  }

  parse(line: string): ParsedLine {
    const fields = splitAccessLog(line);
    if (fields === null) return { why: "it is no line of an access log" };
    const texts = new Array<string | undefined>(roles.length).fill(undefined);
    const { method, path } = splitRequest(fields[requestColumn]?.text ?? "");
    texts[METHOD] = method;
    texts[PATH] = path;
    for (const [column, { text }] of fields.entries()) {
      const role = this.#roles.of(column);
      if (role !== NO_ROLE) texts[role] = text;
    }
    return texts;
  }

  #note(column: number, cells: Cells): void {
    const role = this.#roles.of(column);
    if (role === NO_ROLE) return;
    cells.from[role] = this.#from;
    cells.to[role] = this.#to;
  }

  #noteRequest(cells: Cells): void {
    const view = this.#view;
    const end = this.#to;
    let at = this.#from;
    while (at < end && view.getUint8(at) !== space) at += 1;
    if (at === end) return;
    cells.from[METHOD] = this.#from;
    cells.to[METHOD] = at;
    cells.from[PATH] = at + 1;
    let last = end;
    while (last > at && view.getUint8(last) !== space) last -= 1;
    cells.to[PATH] = last > at ? last : end;
  }

  #takes(byte: number): boolean {
    if (this.#view.getUint8(this.#at) !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** Reads up to the next space. If fields may be named, only the value of `name=value` is kept. */
  #token(mayBeNamed: boolean): boolean {
    const view = this.#view;
    const start = this.#at;
    let from = start;
    let at = start;
    // A name ends at the first equals sign, and is not empty.
    let isName = mayBeNamed;
    for (let byte = view.getUint8(at); byte > space; byte = view.getUint8(at)) {
      if (byte === openBracket) return false;
      if (byte === quoteMark) {
        this.#at = at;
        return mayBeNamed && at > start && from === at && this.#quoted();
      }
      at += 1;
      if (byte !== equals || !isName) continue;
      isName = false;
      if (at > start + 1) from = at;
    }
    this.#from = from;
    this.#to = at;
    this.#at = at;
    return at > from;
  }

  #bracketed(): boolean {
    const view = this.#view;
    if (!this.#takes(openBracket)) return false;
    this.#from = this.#at;
    let at = this.#at;
    for (let byte = view.getUint8(at); byte !== closeBracket; byte = view.getUint8(at)) {
      if (byte === newline || byte === quoteMark) return false;
      at += 1;
    }
    this.#to = at;
    this.#at = at + 1;
    return true;
  }

  #quoted(): boolean {
    const view = this.#view;
    if (!this.#takes(quoteMark)) return false;
    this.#from = this.#at;
    let at = this.#at;
    for (let byte = view.getUint8(at); byte !== quoteMark; byte = view.getUint8(at)) {
      if (byte === newline) return false;
      at += byte === backslash && view.getUint8(at + 1) !== newline ? 2 : 1;
    }
    this.#to = at;
    this.#at = at + 1;
    return true;
  }

  #lineEnd(): number {
    this.#takes(carriageReturn);
    return this.#takes(newline) ? this.#at : NOT_SCANNED;
  }
}

/** Splits `GET /path HTTP/1.1` into its parts; a request of one word is none of HTTP's and has none. */
export function splitRequest(request: string): { method?: string; path?: string } {
  const first = request.indexOf(" ");
  if (first === -1) return {};
  const last = request.lastIndexOf(" ");
  return {
    method: request.slice(0, first),
    path: request.slice(first + 1, last > first ? last : request.length),
  };
}

/** A field, with its name if it was written `name=value`. */
export interface AccessLogField {
  readonly name: string | null;
  readonly text: string;
}

// Blanks are characters below "!", as on the fast way, and not all that `\s` is.
const plain = String.raw`[^\0- "[]`;
const inQuotes = String.raw`(?:[^"\\]|\\.)*`;
const beginning = new RegExp(
  String.raw`^([^\0- ].*?) \[([^\]"]*)\] "(${inQuotes})" (${plain}+) (${plain}+)(?: (.*))?$`,
  "s",
);
const further = new RegExp(String.raw`(?:([^\0- "[=]+)=)?(?:"(${inQuotes})"|(${plain}+)) *`, "sy");

/**
 * Splits a line into its fields, the slow way, which also takes a virtual host in front, users' names with spaces, and
 * several spaces between fields. Returns `null` if it is no line of an access log.
 */
export function splitAccessLog(line: string): AccessLogField[] | null {
  const [, callers = "", time = "", request = "", status = "", bytes = "", rest = ""] =
    beginning.exec(line.replace(/[ \r]+$/, "")) ?? [];
  const who = splitCallers(callers);
  if (who === null) return null;
  const fields = [...who, time, request, status, bytes].map(
    (text) => ({ name: null, text }) as AccessLogField,
  );
  further.lastIndex = 0;
  while (further.lastIndex < rest.length) {
    const [, name, quoted, plain] = further.exec(rest) ?? [];
    const text = quoted ?? plain;
    if (text === undefined) return null;
    fields.push({ name: name ?? null, text });
  }
  return fields;
}

const ipv6 = String.raw`(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|(?=[\da-f:.]*::)[\da-f:.]+)`;
const address = new RegExp(
  String.raw`^(?:(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|${ipv6}|\[${ipv6}\](?::\d+)?)$`,
  "i",
);

/** Tells whether a text is an address, with a port or without. */
export const isAddress = (value: string): boolean => address.test(value);

/** Tells whether a text is a caller's address, with those of its proxies; without a port, which a server's has. */
export const isAddressList = (value: string): boolean =>
  value.split(/, ?/).every((part) => isAddress(part) && !/^\d+\..*:/.test(part));

const addressForm = /^(?:[\d.]+|[\da-f:]*:[\da-f:.]+)$/i;

/** Pattern of the caller's address with those that proxies added behind it: `203.0.113.9, 10.0.0.7 - -`. */
const addressList = /^((?:[^ ,]+ )?[\da-f.:]+)(?:, +[\da-f.:]+)+(?= )/i;

/** Splits the beginning of a line into address, ident and user. */
function splitCallers(text: string): [string, string, string] | null {
  const words = text
    .replace(addressList, "$1")
    .split(" ")
    .filter((word) => word !== "");
  const [first = "", second = ""] = words;
  // vhost_combined: `www.example.com:80 203.0.113.9 - - [...`
  if (words.length > 3 && !addressForm.test(first) && addressForm.test(second)) words.shift();
  const [address = "", ident = "", ...user] = words;
  // Some formats have the user in quotes: `"%u"`; an empty one is none.
  const name = user.join(" ").replace(/^"(.*)"$/, "$1") || "-";
  return user.length === 0 ? null : [address, ident, name];
}
