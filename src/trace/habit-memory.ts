// A memory of lines: from `org` to `limit`, a client's lines are mostly the same, byte for byte. The bytes are kept
// with their values. If they stand there again, comparing eight bytes at a time suffices.
import type { CallBatch } from "./batch.ts";

/** Number of habits, a power of two: two for each client, in places that clients may have to share. */
const places = 1 << 13;
/** Greatest length of a habit, bytes. Longer stretches are read each time. */
const lengthMost = 256;
/** Bytes of a habit: its values, then its text. */
const saidBytes = 64;
const habitBytes = saidBytes + lengthMost;

/** Places of a habit's values, four bytes each. */
const LENGTH = 0;
const HAS = 1;
const ORG = 2;
const USER = 3;
const SCOPE = 4;
const KIND = 5;
const COST = 6;
const STATUS = 7;
const LIMIT = 8;
/** Place, in a client's first habit, of the index of the habit used last; the other one is replaced next. */
const LATEST = 9;

export class HabitMemory {
  readonly #view = new DataView(new ArrayBuffer(places * habitBytes));
  readonly #bytes = new Uint8Array(this.#view.buffer);
  readonly #words = new Int32Array(this.#view.buffer);
  /** Bits of `has` that belong to what `read` found. */
  has = 0;

  /** Fills a row with the text at `at`, if it is one of this client's habits. @returns where it ends; -1 if it is none */
  read(view: DataView, at: number, client: number, batch: CallBatch, row: number): number {
    const words = this.#words;
    const both = placeOf(client);
    const latest = words[both + LATEST] as number;
    let said = both + latest * (habitBytes / 4);
    if (!this.#stands(said, view, at)) {
      said = both + (latest ^ 1) * (habitBytes / 4);
      if (!this.#stands(said, view, at)) return -1;
      words[both + LATEST] = latest ^ 1;
    }
    batch.org[row] = words[said + ORG] as number;
    batch.user[row] = words[said + USER] as number;
    batch.scope[row] = words[said + SCOPE] as number;
    batch.kind[row] = words[said + KIND] as number;
    batch.cost[row] = words[said + COST] as number;
    batch.status[row] = words[said + STATUS] as number;
    batch.limit[row] = words[said + LIMIT] as number;
    this.has = words[said + HAS] as number;
    return at + (words[said + LENGTH] as number);
  }

  /** Keeps the text from `at` to `end` with the row's values. */
  keep(view: DataView, at: number, end: number, batch: CallBatch, row: number, has: number): void {
    const length = end - at;
    if (length > lengthMost) return;
    const words = this.#words;
    const both = placeOf(batch.client[row] as number);
    const next = (words[both + LATEST] as number) ^ 1;
    words[both + LATEST] = next;
    const said = both + next * (habitBytes / 4);
    this.#bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, length), 4 * said + saidBytes);
    words[said + LENGTH] = length;
    words[said + HAS] = has;
    words[said + ORG] = batch.org[row] as number;
    words[said + USER] = batch.user[row] as number;
    words[said + SCOPE] = batch.scope[row] as number;
    words[said + KIND] = batch.kind[row] as number;
    words[said + COST] = batch.cost[row] as number;
    words[said + STATUS] = batch.status[row] as number;
    words[said + LIMIT] = batch.limit[row] as number;
  }

  /** Compares the bytes as floats: a habit is ASCII, so that different texts are different numbers. */
  #stands(said: number, view: DataView, at: number): boolean {
    const length = this.#words[said + LENGTH] as number;
    if (length === 0) return false;
    const own = this.#view;
    const start = 4 * said + saidBytes;
    const last = length - 8;
    for (let index = 0; index < last; index += 8)
      if (own.getFloat64(start + index, true) !== view.getFloat64(at + index, true)) return false;
    return own.getFloat64(start + last, true) === view.getFloat64(at + last, true);
  }
}

/** Returns the place of a client's first habit, in words. */
const placeOf = (client: number): number => (client & (places / 2 - 1)) * 2 * (habitBytes / 4);
