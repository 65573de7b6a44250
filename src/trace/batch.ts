// Calls as columns: what the reader fills and the judge goes through, a few thousand at once, without an object a call.
// A line that is not written as `encodeCall` writes it stands beside them as an object.

import { quotaNames } from "../policy/names.ts";
import type { Scope } from "../rules/rules.ts";
import type { Names } from "./names.ts";
import type { CallKind, TraceCall } from "./record.ts";

/** Bits of `CallBatch.has`: the members that a call has. */
export const has = {
  user: 1,
  cost: 2,
  /** All eight headers, as whole numbers, named as the scope asks; without this bit none of them came. */
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
  /** None of the columns but `line`, `sent`, `received` and `client` is filled: see `odd`. */
  odd: 4096,
} as const;

export const scopeNames: readonly Scope[] = ["rest", "graphql"];
const kindNames: readonly CallKind[] = ["call", "status", "other"];

const capacity = 2048;

/** One batch, filled again and again: use it up before asking for the next. */
export class CallBatch {
  static readonly capacity = capacity;
  readonly names: Names;
  size = 0;
  /** `has`, bit by bit. */
  readonly has = new Uint16Array(capacity);
  readonly line = new Float64Array(capacity);
  readonly sent = new Float64Array(capacity);
  readonly received = new Float64Array(capacity);
  /** Numbers of names. */
  readonly client = new Int32Array(capacity);
  readonly org = new Int32Array(capacity);
  readonly user = new Int32Array(capacity);
  readonly call = new Int32Array(capacity);
  /** Indexes of `scopeNames` and `kindNames`. */
  readonly scope = new Uint8Array(capacity);
  readonly kind = new Uint8Array(capacity);
  readonly cost = new Int32Array(capacity);
  readonly status = new Int32Array(capacity);
  readonly limit = new Int32Array(capacity);
  readonly remaining = new Int32Array(capacity);
  readonly reset = new Int32Array(capacity);
  readonly userLimit = new Int32Array(capacity);
  readonly userRemaining = new Int32Array(capacity);
  readonly userReset = new Int32Array(capacity);
  readonly actual = new Int32Array(capacity);
  readonly retryAfter = new Int32Array(capacity);
  readonly wanted = new Float64Array(capacity);
  readonly attempt = new Int32Array(capacity);
  /** Parsed; the same object for the same text, so not to be changed. */
  readonly body: unknown[] = new Array(capacity).fill(undefined);
  readonly refusal: unknown[] = new Array(capacity).fill(undefined);
  /** Places of the texts in `bytes`. */
  readonly warningAt = new Int32Array(capacity);
  readonly warningEnd = new Int32Array(capacity);
  readonly userWarningAt = new Int32Array(capacity);
  readonly userWarningEnd = new Int32Array(capacity);
  readonly errorAt = new Int32Array(capacity);
  readonly errorEnd = new Int32Array(capacity);
  readonly odd: (TraceCall | null)[] = new Array(capacity).fill(null);
  /** The lines themselves. */
  bytes: Uint8Array = new Uint8Array(0);

  constructor(names: Names) {
    this.names = names;
  }

  /** A call as an object of its own. */
  callAt(row: number): TraceCall {
    const odd = this.odd[row];
    if (odd !== null && odd !== undefined && this.is(row, has.odd)) return odd;
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
    if (this.is(row, has.warning)) call.warning = this.#text(row, this.warningAt, this.warningEnd);
    if (this.is(row, has.userWarning))
      call.userWarning = this.#text(row, this.userWarningAt, this.userWarningEnd);
    if (this.is(row, has.body)) call.body = this.body[row];
    if (this.is(row, has.refusal)) call.refusal = this.refusal[row];
    if (this.is(row, has.error)) call.error = this.#text(row, this.errorAt, this.errorEnd);
    if (this.is(row, has.wanted)) call.wanted = at(this.wanted, row);
    if (this.is(row, has.attempt)) call.attempt = at(this.attempt, row);
  }

  #text(row: number, from: Int32Array, to: Int32Array): string {
    return ascii(this.bytes, at(from, row), at(to, row));
  }
}

/** A row's value; every row up to the batch's size has one. */
const at = (column: ArrayLike<number>, row: number): number => column[row] ?? 0;

const decoder = new TextDecoder();

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return decoder.decode(bytes.subarray(from, to));
}
