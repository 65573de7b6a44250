// A row's fields as places in the bytes of its line: no text is made of a field that is only compared or counted. What
// stands escaped in its line is written out once more, in bytes of its own.

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
  /** These two say which lines are rows at all. */
  SELECT,
  SELECT_TOO,
] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
/** The role of a column that nobody asked for. */
export const NO_ROLE = 255;

const comma = 0x2c;
const encoder = new TextEncoder();
/** Bytes that may be read behind a text's end, and mean nothing. */
const slack = 64;

/** The fields of one row; filled again for each. A field that is not there is empty. */
export class Cells {
  /** Bytes of the fields: the line's block, or texts written out. */
  view: DataView = new DataView(new ArrayBuffer(slack));
  /** By role: where the field begins in `view`, and where it ends; it is empty where that is not behind. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  #written = new Uint8Array(1024);

  /** @param further fields behind the roles: what a policy's callers are known by */
  constructor(further = 0) {
    this.from = new Int32Array(roles.length + further);
    this.to = new Int32Array(roles.length + further);
  }

  /** Makes every field empty. */
  clear(): void {
    const { to } = this;
    // Faster than `fill`, which is a call of its own.
    for (let role = 0; role < to.length; role++) to[role] = 0;
  }

  isEmpty(role: number): boolean {
    return (this.to[role] as number) <= (this.from[role] as number);
  }

  /** The fields by role, written out. */
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

  /** Leaves the first name of a list, `203.0.113.9, 10.0.0.7`: proxies write theirs behind the caller's. */
  keepFirst(role: number): void {
    for (let at = this.from[role] as number; at < (this.to[role] as number); at++)
      if (this.view.getUint8(at) === comma) this.to[role] = at;
  }

  text(role: number): string {
    return textOf(this.view, this.from[role] as number, this.to[role] as number);
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const textOf = (view: DataView, from: number, to: number): string =>
  to <= from ? "" : decoder.decode(new Uint8Array(view.buffer, view.byteOffset + from, to - from));
