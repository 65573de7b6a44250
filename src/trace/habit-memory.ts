// A client mostly does what it did last time: from `org` to `limit` its lines are the same, byte for byte. What stood
// there is remembered with what it says; where it stands again, comparing words is all there is to do.
import type { CallBatch } from "./batch.ts";

/** Habits that are remembered, a power of two; two of each client, in places that clients may have to share. */
const places = 1 << 13;
/** Longer stretches are read each time. */
const lengthMost = 256;

export class HabitMemory {
  readonly #words = new DataView(new ArrayBuffer(places * lengthMost));
  readonly #bytes = new Uint8Array(this.#words.buffer);
  readonly #length = new Int32Array(places);
  readonly #has = new Uint16Array(places);
  readonly #org = new Int32Array(places);
  readonly #user = new Int32Array(places);
  readonly #scope = new Uint8Array(places);
  readonly #kind = new Uint8Array(places);
  readonly #cost = new Int32Array(places);
  readonly #status = new Int32Array(places);
  readonly #limit = new Int32Array(places);
  /** Which of a client's two was used last; the other one is replaced. */
  readonly #latest = new Uint8Array(places / 2);
  /** The bits of `has` that go with what `read` found. */
  has = 0;

  /**
   * Fills a row with what stands at `at`, if it is one of this client's habits.
   * @returns where it ends; -1 where it is none
   */
  read(view: DataView, at: number, client: number, batch: CallBatch, row: number): number {
    const both = client & (places / 2 - 1);
    const latest = this.#latest[both] ?? 0;
    let place = 2 * both + latest;
    if (!this.#stands(place, view, at)) {
      place ^= 1;
      if (!this.#stands(place, view, at)) return -1;
      this.#latest[both] = latest ^ 1;
    }
    batch.org[row] = this.#org[place] ?? 0;
    batch.user[row] = this.#user[place] ?? 0;
    batch.scope[row] = this.#scope[place] ?? 0;
    batch.kind[row] = this.#kind[place] ?? 0;
    batch.cost[row] = this.#cost[place] ?? 0;
    batch.status[row] = this.#status[place] ?? 0;
    batch.limit[row] = this.#limit[place] ?? 0;
    this.has = this.#has[place] ?? 0;
    return at + (this.#length[place] ?? 0);
  }

  /** Remembers what was read from `at` to `end`, and said what the row now holds. */
  keep(view: DataView, at: number, end: number, batch: CallBatch, row: number, has: number): void {
    const length = end - at;
    if (length > lengthMost) return;
    const both = (batch.client[row] ?? 0) & (places / 2 - 1);
    this.#latest[both] = (this.#latest[both] ?? 0) ^ 1;
    const place = 2 * both + (this.#latest[both] ?? 0);
    this.#bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, length), place * lengthMost);
    this.#length[place] = length;
    this.#has[place] = has;
    this.#org[place] = batch.org[row] ?? 0;
    this.#user[place] = batch.user[row] ?? 0;
    this.#scope[place] = batch.scope[row] ?? 0;
    this.#kind[place] = batch.kind[row] ?? 0;
    this.#cost[place] = batch.cost[row] ?? 0;
    this.#status[place] = batch.status[row] ?? 0;
    this.#limit[place] = batch.limit[row] ?? 0;
  }

  #stands(place: number, view: DataView, at: number): boolean {
    const length = this.#length[place] ?? 0;
    if (length === 0) return false;
    const words = this.#words;
    const start = place * lengthMost;
    const last = length - 4;
    if (words.getInt32(start + last, true) !== view.getInt32(at + last, true)) return false;
    for (let index = 0; index < last; index += 4)
      if (words.getInt32(start + index, true) !== view.getInt32(at + index, true)) return false;
    return true;
  }
}
