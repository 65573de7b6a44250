// The fast way to read a call's line: byte by byte into columns, for lines exactly as `encodeCall` writes them. Their
// members stand in the format's order, with plain whole numbers and ASCII texts without escapes. Any other line is left
// to JSON.parse. The scanner must never take a line that JSON.parse refuses, or read it differently.
import { quotaNames } from "../policy/names.ts";
import { readRefusal } from "../wire/bodies.ts";
import { type CallBatch, has } from "./batch.ts";
import type { Block } from "./blocks.ts";
import { ByteScanner, FAILED, isPlain, NO_NUMBER } from "./byte-scanner.ts";
import { HabitMemory } from "./habit-memory.ts";
import { Literal } from "./literal.ts";
import { ValueMemory } from "./value-memory.ts";

const [quoteMark, openBrace, closeBrace] = [0x22, 0x7b, 0x7d];

const literal = (text: string): Literal => new Literal(text);
const begin = literal('{"sent":');
const toReceived = literal(',"received":');
const toClient = literal(',"client":"');
const toCall = literal(',"call":');
const toOrg = literal(',"org":"');
const toUser = literal(',"user":');
const nothing = literal("null");
const scopes = [literal(',"scope":"rest","kind":"'), literal(',"scope":"graphql","kind":"')] as const;
const kinds = [literal('call","cost":'), literal('status","cost":'), literal('other","cost":')] as const;
const toStatus = literal(',"status":');
const limits = [literal(',"scopeName":"rest","limit":'), literal(',"scopeName":"graphql","limit":')] as const;
const toRemaining = literal(',"remaining":');
const toReset = literal(',"reset":');
const userLimits = [
  literal(`,"userScopeName":"${quotaNames.rest.user}","userLimit":`),
  literal(`,"userScopeName":"${quotaNames.graphql.user}","userLimit":`),
] as const;
const toUserRemaining = literal(',"userRemaining":');
const toUserReset = literal(',"userReset":');
const bare = literal(
  ',"scopeName":null,"limit":null,"remaining":null,"reset":null' +
    ',"userScopeName":null,"userLimit":null,"userRemaining":null,"userReset":null',
);
const toActual = literal(',"actual":');
const toRetryAfter = literal(',"retryAfter":');
const toWarning = literal(',"warning":"');
const toUserWarning = literal(',"userWarning":"');
const toBody = literal(',"body":');
const toRefusal = literal(',"refusal":');
const toError = literal(',"error":"');
const toWanted = literal(',"wanted":');
const toAttempt = literal(',"attempt":');

export class LineScanner extends ByteScanner {
  readonly #habits = new HabitMemory();
  readonly #bodies = new ValueMemory(() => null);
  readonly #refusals = new ValueMemory(readRefusal);

  /**
   * Reads the line that begins at `from` into a row.
   * @returns where the next line begins; -1 if this one is not as `encodeCall` writes it
   */
  scan(block: Block, from: number, batch: CallBatch, row: number): number {
    this.begin(block, from);
    const bits = this.#call(batch, row);
    if (bits === FAILED) return FAILED;
    const more = this.#optional(batch, row, bits);
    if (more === FAILED || !this.ends()) return FAILED;
    batch.has[row] = bits | more;
    return this.at;
  }

  #call(batch: CallBatch, row: number): number {
    if (!this.takes(begin)) return FAILED;
    const sent = this.time();
    if (sent === FAILED || !this.takes(toReceived)) return FAILED;
    batch.sent[row] = sent;
    const received = this.time();
    if (received === FAILED || !this.takes(toClient)) return FAILED;
    batch.received[row] = received;
    const client = this.name();
    if (client === FAILED || !this.takes(toCall)) return FAILED;
    batch.client[row] = client;
    const call = this.whole();
    if (call === FAILED) return FAILED;
    batch.call[row] = call;
    return this.#request(batch, row, client);
  }

  /** Reads from `org` to the end of the headers. */
  #request(batch: CallBatch, row: number, client: number): number {
    const start = this.at;
    const end = this.#habits.read(this.view, start, client, batch, row);
    let bits = this.#habits.has;
    if (end === FAILED) {
      bits = this.#owner(batch, row);
      if (bits === FAILED) return FAILED;
      if ((bits & has.headers) === 0) return bits;
      this.#habits.keep(this.view, start, this.at, batch, row, bits);
    } else this.at = end;
    return this.#headers(batch, row, userLimits[batch.scope[row] === 0 ? 0 : 1]) ? bits : FAILED;
  }

  #owner(batch: CallBatch, row: number): number {
    if (!this.takes(toOrg)) return FAILED;
    const org = this.name();
    if (org === FAILED || !this.takes(toUser)) return FAILED;
    batch.org[row] = org;
    if (this.takes(nothing)) return this.#kind(batch, row, 0);
    if (this.view.getUint8(this.at) !== quoteMark) return FAILED;
    this.at += 1;
    const user = this.name();
    if (user === FAILED) return FAILED;
    batch.user[row] = user;
    return this.#kind(batch, row, has.user);
  }

  #kind(batch: CallBatch, row: number, user: number): number {
    const scope = this.takes(scopes[0]) ? 0 : this.takes(scopes[1]) ? 1 : FAILED;
    if (scope === FAILED) return FAILED;
    const kind = this.takes(kinds[0]) ? 0 : this.takes(kinds[1]) ? 1 : this.takes(kinds[2]) ? 2 : FAILED;
    if (kind === FAILED) return FAILED;
    batch.scope[row] = scope;
    batch.kind[row] = kind;
    let bits = user;
    if (!this.takes(nothing)) {
      const cost = this.whole();
      if (cost === FAILED) return FAILED;
      batch.cost[row] = cost;
      bits |= has.cost;
    }
    if (!this.takes(toStatus)) return FAILED;
    const status = this.whole();
    if (status > 999 || (status < 100 && status !== 0)) return FAILED;
    batch.status[row] = status;
    if (this.takes(bare)) return bits;
    if (!this.takes(limits[scope]) || !this.#header(batch.limit, row)) return FAILED;
    return this.takes(toRemaining) ? bits | has.headers : FAILED;
  }

  #headers(batch: CallBatch, row: number, userLimit: Literal): boolean {
    return (
      this.#header(batch.remaining, row) &&
      this.takes(toReset) &&
      this.#header(batch.reset, row) &&
      this.takes(userLimit) &&
      this.#header(batch.userLimit, row) &&
      this.takes(toUserRemaining) &&
      this.#header(batch.userRemaining, row) &&
      this.takes(toUserReset) &&
      this.#header(batch.userReset, row)
    );
  }

  #header(column: Int32Array, row: number): boolean {
    const value = this.signed();
    column[row] = value;
    return value !== NO_NUMBER;
  }

  /** Reads the optional members. @returns their bits */
  #optional(batch: CallBatch, row: number, required: number): number {
    let bits = 0;
    if (!toWanted.stands(this.view, this.at) && this.view.getUint8(this.at) !== closeBrace) {
      bits = this.#seldom(batch, row, required);
      if (bits === FAILED) return FAILED;
    }
    if (this.takes(toWanted)) {
      const wanted = this.time();
      if (wanted === FAILED) return FAILED;
      batch.wanted[row] = wanted;
      bits |= has.wanted;
    }
    if (this.takes(toAttempt)) {
      const attempt = this.whole();
      if (attempt === FAILED) return FAILED;
      batch.attempt[row] = attempt;
      bits |= has.attempt;
    }
    return bits;
  }

  #seldom(batch: CallBatch, row: number, required: number): number {
    let bits = 0;
    if (this.takes(toActual)) {
      const actual = this.whole();
      if (actual === FAILED || ((required & has.cost) !== 0 && actual > (batch.cost[row] as number)))
        return FAILED;
      batch.actual[row] = actual;
      bits |= has.actual;
    }
    if (this.takes(toRetryAfter)) {
      if (!this.#header(batch.retryAfter, row)) return FAILED;
      bits |= has.retryAfter;
    }
    if (this.takes(toWarning)) {
      if (!this.#text(batch, "warning", row)) return FAILED;
      bits |= has.warning;
    }
    if (this.takes(toUserWarning)) {
      if (!this.#text(batch, "userWarning", row)) return FAILED;
      bits |= has.userWarning;
    }
    if (this.takes(toBody)) {
      if (!this.#value(this.#bodies, batch, "body", row, 0)) return FAILED;
      bits |= has.body;
    }
    if (this.takes(toRefusal)) {
      if (!this.#refusal(batch, row)) return FAILED;
      bits |= has.refusal;
    }
    if (this.takes(toError)) {
      if (!this.#text(batch, "error", row)) return FAILED;
      bits |= has.error;
    }
    return bits;
  }

  #text(batch: CallBatch, name: "warning" | "userWarning" | "error", row: number): boolean {
    const view = this.view;
    let at = this.at;
    batch.from[name][row] = at;
    while (isPlain[view.getUint8(at)] === 1) at += 1;
    batch.to[name][row] = at;
    this.at = at + 1;
    return view.getUint8(at) === quoteMark;
  }

  #refusal(batch: CallBatch, row: number): boolean {
    const key = (batch.reset[row] as number) + 7 * (batch.userReset[row] as number);
    if (!this.#value(this.#refusals, batch, "refusal", row, key)) return false;
    const said = this.#refusals.last;
    batch.refusedBy[row] = said === null || said.by === null ? 0 : said.by === "organization" ? 1 : 2;
    batch.saidLimit[row] = said?.limit ?? Number.NaN;
    batch.saidReset[row] = said?.reset ?? Number.NaN;
    batch.saidCurrent[row] = said?.current ?? Number.NaN;
    return true;
  }

  /** Reads a JSON object. @param key tells which of the remembered objects it probably is */
  #value(
    memory: ValueMemory<unknown>,
    batch: CallBatch,
    name: "body" | "refusal",
    row: number,
    key: number,
  ): boolean {
    if (this.view.getUint8(this.at) !== openBrace) return false;
    const end = memory.read(this.view, this.at, key);
    if (end === FAILED) return false;
    batch.from[name][row] = this.at;
    batch.to[name][row] = end;
    this.at = end;
    return true;
  }
}
