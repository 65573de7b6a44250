// Calls as columns, some thousand at once, without an object for each call. The reader fills them, and the judge reads
// them. All columns lie in one buffer, which can go from one thread to another. A line that is not written as by
// `encodeCall` is kept as its text alone.

import { quotaNames } from "../policy/names.ts";
import type { Scope } from "../rules/rules.ts";
import type { CallKind, TraceCall } from "./record.ts";

/** Bits of `CallBatch.has`: the members that a call has. */
export const has = {
  user: 1,
  cost: 2,
  /** All eight headers came, as whole numbers, named as the scope asks. Without this bit none came. */
  headers: 4,
  actual: 8,
  retryAfter: 16,
  warning: 32,
  userWarning: 64,
  body: 128,
  refusal: 256,
  error: 512,
  wanted: 1024,
  attempt: 2048,
  /** Only the columns `line`, `sent`, `received` and `client` are filled: `callAt` parses the line itself. */
  odd: 4096,
} as const;

export const scopeNames: readonly Scope[] = ["rest", "graphql"];
export const kindNames: readonly CallKind[] = ["call", "status", "other"];

const capacity = 2048;
/** Number of columns with eight, four and one bytes a row. */
const [doubles, words, bytes] = [7, 28, 3];
const batchBytes = capacity * (8 * doubles + 4 * words + bytes);

/** Names by number. */
export interface NameTexts {
  text(number: number): string;
}

/** Members that are kept as texts, or the whole line; columns hold their places in `CallBatch.bytes`. */
const texts = ["warning", "userWarning", "body", "refusal", "error", "odd"] as const;
const anyText = texts.reduce((bits, name) => bits | has[name], 0);

/** One batch, filled again and again: use it up before asking for the next. */
export class CallBatch {
  static readonly capacity = capacity;
  readonly names: NameTexts;
  readonly buffer: ArrayBuffer;
  size = 0;
  /** Bytes of the texts that columns point into. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  readonly line: Float64Array<ArrayBuffer>;
  readonly sent: Float64Array<ArrayBuffer>;
  readonly received: Float64Array<ArrayBuffer>;
  readonly wanted: Float64Array<ArrayBuffer>;
  /** Numbers of a refusal, as `readRefusal` reads them; `NaN` for missing ones. */
  readonly saidLimit: Float64Array<ArrayBuffer>;
  readonly saidReset: Float64Array<ArrayBuffer>;
  readonly saidCurrent: Float64Array<ArrayBuffer>;
  /** Bits of `has`. */
  readonly has: Int32Array<ArrayBuffer>;
  /** Numbers of names. */
  readonly client: Int32Array<ArrayBuffer>;
  readonly org: Int32Array<ArrayBuffer>;
  readonly user: Int32Array<ArrayBuffer>;
  readonly call: Int32Array<ArrayBuffer>;
  readonly cost: Int32Array<ArrayBuffer>;
  readonly status: Int32Array<ArrayBuffer>;
  readonly limit: Int32Array<ArrayBuffer>;
  readonly remaining: Int32Array<ArrayBuffer>;
  readonly reset: Int32Array<ArrayBuffer>;
  readonly userLimit: Int32Array<ArrayBuffer>;
  readonly userRemaining: Int32Array<ArrayBuffer>;
  readonly userReset: Int32Array<ArrayBuffer>;
  readonly actual: Int32Array<ArrayBuffer>;
  readonly retryAfter: Int32Array<ArrayBuffer>;
  readonly attempt: Int32Array<ArrayBuffer>;
  /** Begin and end of each text in `bytes`. */
  readonly from: Readonly<Record<(typeof texts)[number], Int32Array<ArrayBuffer>>>;
  readonly to: Readonly<Record<(typeof texts)[number], Int32Array<ArrayBuffer>>>;
  /** Indexes of `scopeNames` and `kindNames`. */
  readonly scope: Uint8Array<ArrayBuffer>;
  readonly kind: Uint8Array<ArrayBuffer>;
  /** Owner whose window refused: 1 the organization, 2 the user, 0 if the refusal does not say. */
  readonly refusedBy: Uint8Array<ArrayBuffer>;

  /** @param buffer buffer of another batch, whose rows it holds */
  constructor(names: NameTexts, buffer: ArrayBuffer = new ArrayBuffer(batchBytes)) {
    this.names = names;
    this.buffer = buffer;
    let at = 0;
    const double = (): Float64Array<ArrayBuffer> => new Float64Array(buffer, place(8), capacity);
    const word = (): Int32Array<ArrayBuffer> => new Int32Array(buffer, place(4), capacity);
    const byte = (): Uint8Array<ArrayBuffer> => new Uint8Array(buffer, place(1), capacity);
    const place = (size: number): number => {
      at += size * capacity;
      return at - size * capacity;
    };
    this.line = double();
    this.sent = double();
    this.received = double();
    this.wanted = double();
    this.saidLimit = double();
    this.saidReset = double();
    this.saidCurrent = double();
    this.has = word();
    this.client = word();
    this.org = word();
    this.user = word();
    this.call = word();
    this.cost = word();
    this.status = word();
    this.limit = word();
    this.remaining = word();
    this.reset = word();
    this.userLimit = word();
    this.userRemaining = word();
    this.userReset = word();
    this.actual = word();
    this.retryAfter = word();
    this.attempt = word();
    const places = (): CallBatch["from"] => ({
      warning: word(),
      userWarning: word(),
      body: word(),
      refusal: word(),
      error: word(),
      odd: word(),
    });
    this.from = places();
    this.to = places();
    this.scope = byte();
    this.kind = byte();
    this.refusedBy = byte();
  }

  /** Returns a call as an object of its own. */
  callAt(row: number): TraceCall {
    if (this.is(row, has.odd)) return this.#json(row, "odd") as TraceCall;
    const scope = scopeNames[at(this.scope, row)] ?? "rest";
    const shows = this.is(row, has.headers);
    const call: TraceCall = {
      sent: at(this.sent, row),
      received: at(this.received, row),
      client: this.names.text(at(this.client, row)),
      call: at(this.call, row),
      org: this.names.text(at(this.org, row)),
      user: this.is(row, has.user) ? this.names.text(at(this.user, row)) : null,
      scope,
      kind: kindNames[at(this.kind, row)] ?? "call",
      cost: this.is(row, has.cost) ? at(this.cost, row) : null,
      status: at(this.status, row),
      scopeName: shows ? scope : null,
      limit: shows ? at(this.limit, row) : null,
      remaining: shows ? at(this.remaining, row) : null,
      reset: shows ? at(this.reset, row) : null,
      userScopeName: shows ? quotaNames[scope].user : null,
      userLimit: shows ? at(this.userLimit, row) : null,
      userRemaining: shows ? at(this.userRemaining, row) : null,
      userReset: shows ? at(this.userReset, row) : null,
    };
    this.#addOptional(row, call);
    return call;
  }

  is(row: number, bit: number): boolean {
    return (at(this.has, row) & bit) !== 0;
  }

  #addOptional(row: number, call: TraceCall): void {
    if (this.is(row, has.actual)) call.actual = at(this.actual, row);
    if (this.is(row, has.retryAfter)) call.retryAfter = at(this.retryAfter, row);
    if (this.is(row, has.warning)) call.warning = this.#text(row, "warning");
    if (this.is(row, has.userWarning)) call.userWarning = this.#text(row, "userWarning");
    if (this.is(row, has.body)) call.body = this.#json(row, "body");
    if (this.is(row, has.refusal)) call.refusal = this.#json(row, "refusal");
    if (this.is(row, has.error)) call.error = this.#text(row, "error");
    if (this.is(row, has.wanted)) call.wanted = at(this.wanted, row);
    if (this.is(row, has.attempt)) call.attempt = at(this.attempt, row);
  }

  #json(row: number, name: (typeof texts)[number]): unknown {
    return JSON.parse(this.#text(row, name));
  }

  #text(row: number, name: (typeof texts)[number]): string {
    return decoder.decode(this.bytes.subarray(at(this.from[name], row), at(this.to[name], row)));
  }

  /** Copies the texts out of their lines, which are overwritten when the next batch is read. */
  keepTexts(): void {
    let [size, kept] = [0, new Uint8Array(1024)];
    for (let row = 0; row < this.size; row++) {
      if (!this.is(row, anyText)) continue;
      for (const name of texts) {
        if (!this.is(row, has[name])) continue;
        const text = this.bytes.subarray(at(this.from[name], row), at(this.to[name], row));
        if (size + text.length > kept.length) {
          const larger = new Uint8Array(2 * (size + text.length));
          larger.set(kept);
          kept = larger;
        }
        kept.set(text, size);
        this.from[name][row] = size;
        size += text.length;
        this.to[name][row] = size;
      }
    }
    this.bytes = kept;
  }
}

/** Returns a row's value; every row up to the batch's size has one. */
const at = (column: ArrayLike<number>, row: number): number => column[row] as number;

const decoder = new TextDecoder();
