// Names of clients, organizations and users, each kept once and known by a small number: comparing numbers makes
// reading and judging fast. Memory grows with the names of a trace, not with its length.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the next hash over a name's bytes (FNV-1a); begin with 0. */
export const hashStep = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x0100_0193);

/** Number of a slot's numbers: the name's number plus 1, its hash, the place of its bytes, and their number. */
const SLOT = 4;

export class Names {
  /** Slots in open addressing, by hash; a slot that begins with 0 is free. */
  #slots = new Int32Array(1024 * SLOT);
  #bytes = new Uint8Array(8192);
  #used = 0;
  readonly #texts: string[] = [];

  get size(): number {
    return this.#texts.length;
  }

  text(id: number): string {
    const text = this.#texts[id];
    if (text === undefined) throw new RangeError(`no name has the number ${id}`);
    return text;
  }

  /** Returns the number of a name. */
  of(text: string): number {
    const bytes = encoder.encode(text);
    let hash = 0;
    for (const byte of bytes) hash = hashStep(hash, byte);
    return this.find(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length, hash);
  }

  /**
   * Returns the number of the name whose UTF-8 bytes stand from `start` to `end`.
   * @param hash `hashStep` over these bytes
   */
  find(view: DataView, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = slotOf(hash, mask);
    for (let next = slots[slot] as number; next !== 0; next = slots[slot] as number) {
      if (
        slots[slot + 1] === hash &&
        slots[slot + 3] === end - start &&
        this.#is(slots[slot + 2] as number, view, start, end)
      )
        return next - 1;
      slot = (slot + SLOT) & mask;
    }
    return this.#add(view, start, end, hash, slot);
  }

  #is(from: number, view: DataView, start: number, end: number): boolean {
    const bytes = this.#bytes;
    for (let at = start, own = from; at < end; at++, own++)
      if (bytes[own] !== view.getUint8(at)) return false;
    return true;
  }

  #add(view: DataView, start: number, end: number, hash: number, slot: number): number {
    const name = new Uint8Array(view.buffer, view.byteOffset + start, end - start);
    const from = this.#used;
    this.#used += name.length;
    if (this.#used > this.#bytes.length) {
      const bytes = new Uint8Array(2 * this.#used);
      bytes.set(this.#bytes);
      this.#bytes = bytes;
    }
    this.#bytes.set(name, from);
    const number = this.#texts.push(decoder.decode(name));
    this.#slots.set([number, hash, from, name.length], slot);
    if (2 * SLOT * number > this.#slots.length) this.#rehash();
    return number - 1;
  }

  #rehash(): void {
    const old = this.#slots;
    const slots = new Int32Array(2 * old.length);
    const mask = slots.length - 1;
    for (let from = 0; from < old.length; from += SLOT) {
      if (old[from] === 0) continue;
      let slot = slotOf(old[from + 1] as number, mask);
      while (slots[slot] !== 0) slot = (slot + SLOT) & mask;
      slots.set(old.subarray(from, from + SLOT), slot);
    }
    this.#slots = slots;
  }
}

const slotOf = (hash: number, mask: number): number => ((hash ^ (hash >>> 15)) << 2) & mask;
