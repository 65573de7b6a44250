// The fast way to read a call's line of version 2, for lines exactly as `encodeQuotaCall` writes them. Any other line
// is left to JSON.parse. The scanner must never take a line that JSON.parse refuses, or read it differently.
import type { WireOutcomeKind } from "../policy/wire-data.ts";
import { outcomes } from "../policy/wire-words.ts";
import type { Block } from "./blocks.ts";
import { ByteScanner, FAILED, NO_NUMBER } from "./byte-scanner.ts";
import { Literal } from "./literal.ts";
import { isText } from "./member-checks.ts";
import type { Names } from "./names.ts";
import { commonGridMs } from "./quota-lines.ts";
import type { QuotaCall, QuotaReading } from "./quota-record.ts";
import { ValueMemory } from "./value-memory.ts";

const [quoteMark, comma, minus, zero] = [0x22, 0x2c, 0x2d, 0x30];
const [openBracket, closeBracket, openBrace] = [0x5b, 0x5d, 0x7b];

const literal = (text: string): Literal => new Literal(text);
const begin = literal('{"sent":');
const toReceived = literal(',"received":');
const toClient = literal(',"client":"');
const toCall = literal(',"call":');
const toCaller = literal(',"caller":');
const toOperation = literal(',"operation":"');
const toCost = literal(',"cost":');
const nothing = literal("null");
const toStatus = literal(',"status":');
const toOutcome = literal(',"outcome":"');
const toReadings = literal(',"readings":[');
const toActual = literal(',"actual":');
const toBy = literal(',"by":"');
const toRetryAfter = literal(',"retryAfterMs":');
const toRetryAt = literal(',"retryAt":');
const toDate = literal(',"date":');
const viaCache = literal(',"via":"cache"');
const toWanted = literal(',"wanted":');
const toAttempt = literal(',"attempt":');

type Caller = QuotaCall["caller"];
type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

function callerOf(value: unknown): Caller {
  const caller = value as Caller;
  if (Object.values(caller).every(isText)) return caller;
  throw new TypeError("an attribute is no text");
}

export class QuotaScanner extends ByteScanner {
  readonly #callers = new ValueMemory(callerOf);
  readonly #quotas: ReadonlySet<string>;
  readonly #operations: ReadonlySet<string>;
  /** Number of the client of the call that was read. */
  client = 0;

  /** @param quotas quotas that a line may name @param operations operations that it may name */
  constructor(names: Names, quotas: ReadonlySet<string>, operations: ReadonlySet<string>) {
    super(names);
    this.#quotas = quotas;
    this.#operations = operations;
  }

  /** Place where the next line begins, after a call was read. */
  get next(): number {
    return this.at;
  }

  /** @returns the call of the line that begins at `from`; `null` if it is not as `encodeQuotaCall` writes it */
  scan(block: Block, from: number): QuotaCall | null {
    this.begin(block, from);
    const call = this.#call();
    return call !== null && this.#optional(call) && this.ends() ? call : null;
  }

  #call(): Writable<QuotaCall> | null {
    if (!this.takes(begin)) return null;
    const sent = this.time();
    if (sent === FAILED || !this.takes(toReceived)) return null;
    const received = this.time();
    if (received === FAILED || !this.takes(toClient)) return null;
    this.client = this.name();
    if (this.client === FAILED || !this.takes(toCall)) return null;
    const call = this.whole();
    if (call === FAILED || !this.takes(toCaller)) return null;
    if (this.view.getUint8(this.at) !== openBrace) return null;
    const end = this.#callers.read(this.view, this.at, this.client);
    const caller = this.#callers.last;
    if (end === FAILED || caller === null) return null;
    this.at = end;
    const operation = this.#word(toOperation);
    if (operation === null || !this.#operations.has(operation) || !this.takes(toCost)) return null;
    const cost = this.takes(nothing) ? null : this.#long();
    if (cost === FAILED || !this.takes(toStatus)) return null;
    const status = this.whole();
    if (status > 999 || (status < 100 && status !== 0)) return null;
    const outcome = this.#word(toOutcome) as WireOutcomeKind | null;
    if (outcome === null || !outcomes.includes(outcome) || !this.takes(toReadings)) return null;
    const readings = this.#readings();
    if (readings === null) return null;
    const client = this.names.text(this.client);
    return { sent, received, client, call, caller, operation, cost, status, outcome, readings };
  }

  /** Reads the optional members, except `unread` and `error`, which are rare. */
  #optional(call: Writable<QuotaCall>): boolean {
    const actual = this.#member(toActual);
    if (actual !== null) call.actual = actual;
    if (toBy.stands(this.view, this.at)) {
      const by = this.#word(toBy);
      if (by === null) return false;
      call.by = by;
    }
    const retryAfterMs = this.#member(toRetryAfter);
    if (retryAfterMs !== null) call.retryAfterMs = retryAfterMs;
    const retryAt = this.#member(toRetryAt);
    if (retryAt !== null) call.retryAt = retryAt;
    const date = this.#member(toDate);
    if (date !== null) call.date = date;
    if (this.takes(viaCache)) call.via = "cache";
    const wanted = this.#member(toWanted);
    if (wanted !== null) call.wanted = wanted;
    const attempt = this.#member(toAttempt);
    if (attempt !== null) call.attempt = attempt;
    const isRead =
      Math.min(actual ?? 0, retryAfterMs ?? 0, retryAt ?? 0, date ?? 0, wanted ?? 0, attempt ?? 0) >= 0;
    return isRead && (call.cost === null || (actual ?? 0) <= call.cost);
  }

  /** Reads an optional number: `null` if the member does not exist, `FAILED` if it is no number. */
  #member(before: Literal): number | null {
    return this.takes(before) ? this.#long() : null;
  }

  /** Reads a text of few values, behind what introduces it. */
  #word(before: Literal): string | null {
    if (!this.takes(before)) return null;
    const number = this.name();
    return number === FAILED ? null : this.names.text(number);
  }

  #is(byte: number): boolean {
    if (this.view.getUint8(this.at) !== byte) return false;
    this.at += 1;
    return true;
  }

  #readings(): QuotaReading[] | null {
    const readings: QuotaReading[] = [];
    if (this.#is(closeBracket)) return readings;
    do {
      const reading = this.#reading();
      if (reading === null) return null;
      readings.push(reading);
    } while (this.#is(comma));
    return this.#is(closeBracket) ? readings : null;
  }

  /** Reads `[quota, limit, remaining, used, reset, resetAt, grid]`, in which the last two are optional. */
  #reading(): QuotaReading | null {
    if (!this.#is(openBracket) || !this.#is(quoteMark)) return null;
    const number = this.name();
    const quota = number === FAILED ? "" : this.names.text(number);
    if (!this.#quotas.has(quota)) return null;
    const limit = this.#number();
    const remaining = this.#number();
    const used = this.#number();
    const afterMs = this.#number();
    const atMs = this.view.getUint8(this.at) === comma ? this.#number() : null;
    const grid = this.view.getUint8(this.at) === comma ? this.#number() : null;
    if (limit === NO_NUMBER || remaining === NO_NUMBER || used === NO_NUMBER || afterMs === NO_NUMBER)
      return null;
    if (atMs === NO_NUMBER || (grid !== null && grid < 1) || !this.#is(closeBracket)) return null;
    const isTold = (afterMs ?? atMs) !== null;
    const reset = isTold ? { afterMs, atMs, gridMs: grid ?? commonGridMs } : null;
    return { quota, limit, remaining, used, reset };
  }

  /** Reads a number of a reading, with the comma before it. */
  #number(): number | null {
    if (!this.#is(comma)) return NO_NUMBER;
    if (this.takes(nothing)) return null;
    const isNegative = this.#is(minus);
    const value = this.#long();
    return value === FAILED || (isNegative && value === 0) ? NO_NUMBER : isNegative ? -value : value;
  }

  /** Reads a whole number of at most 15 digits: all of them are safe integers. */
  #long(): number {
    const { view, at: start } = this;
    let value = view.getUint8(start) - zero;
    if (value < 0 || value > 9) return FAILED;
    let at = start + 1;
    for (; value > 0 && at < start + 16; at++) {
      const digit = view.getUint8(at) - zero;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    if (at === start + 16) return FAILED;
    this.at = at;
    return value;
  }
}
