// The fields of a row as places in the bytes of its line: a field that is only compared or counted needs no text. A
// line with escapes is written out once more, in its own bytes.

/** Roles of fields; a column of a log has one of them, or none. */
export const roles = [
  "time",
  "user",
  "address",
  "organization",
  "method",
  "path",
  "status",
  "cost",
  "actual",
  "duration",
  "scope",
  "select",
  "selectToo",
  "date",
] as const;
export type ColumnRole = (typeof roles)[number];

/** Places of the roles in `Cells`. */
export const [
  TIME,
  USER,
  ADDRESS,
  ORGANIZATION,
  METHOD,
  PATH,
  STATUS,
  COST,
  ACTUAL,
  DURATION,
  SCOPE,
  /** These two tell which lines are rows at all. */
  SELECT,
  SELECT_TOO,
  /** Day, if the time's column has the hour alone. */
  DATE,
] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] as const;
/** Role of a column that is not used. */
export const NO_ROLE = 255;

const [comma, dot, colon, openBracket, closeBracket] = [0x2c, 0x2e, 0x3a, 0x5b, 0x5d] as const;
const encoder = new TextEncoder();

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Tells whether bytes are digits and three dots. */
function isIpv4(view: DataView, from: number, to: number): boolean {
  let dots = 0;
  for (let at = from; at < to; at++) {
    const byte = view.getUint8(at);
    if (byte === dot) dots += 1;
    else if (!isDigit(byte)) return false;
  }
  return dots === 3;
}

/** Tells whether a text is an IPv6 address in brackets, with a port or without. */
const isIpv6 = (text: string): boolean => /^\[[\da-f]*:[\da-f:.]*(?:%\w+)?\](?::\d+)?$/i.test(text);
/** Number of bytes behind a text's end that may be read, and mean nothing. */
const slack = 64;

/** The fields of one row, filled again for each. A missing field is empty. */
export class Cells {
  /** Bytes of the fields: the line's block, or texts written out. */
  view: DataView = new DataView(new ArrayBuffer(slack));
  /** Begin and end of each role's field in `view`; the field is empty if the end is not behind the begin. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  #written = new Uint8Array(1024);

  /** @param further number of fields behind the roles, for a policy's callers */
  constructor(further = 0) {
    this.from = new Int32Array(roles.length + further);
    this.to = new Int32Array(roles.length + further);
  }

  clear(): void {
    const { to } = this;
    // A loop is faster here than a call of `fill`.
    for (let role = 0; role < to.length; role++) to[role] = 0;
  }

  isEmpty(role: number): boolean {
    return (this.to[role] as number) <= (this.from[role] as number);
  }

  /** Writes texts out as fields, by role. */
  write(texts: readonly (string | undefined)[]): void {
    let most = slack;
    for (const text of texts) most += 3 * (text?.length ?? 0);
    if (most > this.#written.length) this.#written = new Uint8Array(2 * most);
    let at = 0;
    for (let role = 0; role < this.to.length; role++) {
      this.from[role] = at;
      at += encoder.encodeInto(texts[role] ?? "", this.#written.subarray(at)).written;
      this.to[role] = at;
    }
    this.view = new DataView(this.#written.buffer);
  }

  /** Keeps the first address of a list, `203.0.113.9, 10.0.0.7`: proxies add theirs behind the caller's. */
  keepFirstAddress(): void {
    for (let at = this.from[ADDRESS] as number; at < (this.to[ADDRESS] as number); at++)
      if (this.view.getUint8(at) === comma) this.to[ADDRESS] = at;
  }

  /** Removes port and brackets of an address, `203.0.113.9:5678`, `[::1]:443`: each connection has another port. */
  dropPort(role: number): void {
    const { view } = this;
    const start = this.from[role] as number;
    const end = this.to[role] as number;
    let at = end - 1;
    while (at > start && isDigit(view.getUint8(at))) at -= 1;
    const hasPort = at < end - 1 && view.getUint8(at) === colon;
    const last = hasPort ? at : end;
    if (end > start && view.getUint8(start) === openBracket) {
      if (view.getUint8(last - 1) !== closeBracket || !isIpv6(this.text(role))) return;
      this.from[role] = start + 1;
      this.to[role] = last - 1;
    } else if (hasPort && isIpv4(view, start, at)) this.to[role] = at;
  }

  text(role: number): string {
    return textOf(this.view, this.from[role] as number, this.to[role] as number);
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const textOf = (view: DataView, from: number, to: number): string =>
  to <= from ? "" : decoder.decode(new Uint8Array(view.buffer, view.byteOffset + from, to - from));
