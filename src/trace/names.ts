// Names of clients, organizations and users, each kept once and known by a small number: comparing numbers is what
// makes reading and judging fast. Grows with the names of a trace, not with its length.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One step of the hash over a name's bytes (FNV-1a); begin with 0. */
export const hashStep = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x0100_0193);

export class Names {
  /** Numbers by hash, in open addressing; -1 is free. */
  #slots = new Int32Array(1024).fill(-1);
  #hashes = new Int32Array(512);
  /** Start of each name's bytes; the next one's begin where they end. */
  #starts = new Int32Array(513);
  #bytes = new Uint8Array(8192);
  readonly #texts: string[] = [];

  get size(): number {
    return this.#texts.length;
  }

  text(id: number): string {
    const text = this.#texts[id];
    if (text === undefined) throw new RangeError(`no name has the number ${id}`);
    return text;
  }

  /** The number of a name. */
  of(text: string): number {
    const bytes = encoder.encode(text);
    let hash = 0;
    for (const byte of bytes) hash = hashStep(hash, byte);
    return this.find(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length, hash);
  }

  /**
   * The number of the name whose bytes, UTF-8, stand from `start` to `end`.
   * @param hash `hashStep` over them
   */
  find(view: DataView, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const id = slots[slot] ?? -1;
      if (id === -1) return this.#add(view, start, end, hash, slot);
      if (this.#hashes[id] === hash && this.#is(id, view, start, end)) return id;
      slot = (slot + 1) & mask;
    }
  }

  #is(id: number, view: DataView, start: number, end: number): boolean {
    const from = this.#starts[id] ?? 0;
    if ((this.#starts[id + 1] ?? 0) - from !== end - start) return false;
    const bytes = this.#bytes;
    for (let at = start, own = from; at < end; at++, own++)
      if (bytes[own] !== view.getUint8(at)) return false;
    return true;
  }

  #add(view: DataView, start: number, end: number, hash: number, slot: number): number {
    const id = this.#texts.length;
    const name = new Uint8Array(view.buffer, view.byteOffset + start, end - start);
    const from = this.#starts[id] ?? 0;
    if (from + name.length > this.#bytes.length) this.#bytes = grown(this.#bytes, from + name.length);
    this.#bytes.set(name, from);
    if (id + 2 > this.#starts.length) this.#starts = grown(this.#starts, id + 2);
    if (id + 1 > this.#hashes.length) this.#hashes = grown(this.#hashes, id + 1);
    this.#starts[id + 1] = from + name.length;
    this.#hashes[id] = hash;
    this.#slots[slot] = id;
    this.#texts.push(decoder.decode(name));
    if (2 * this.#texts.length > this.#slots.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const slots = new Int32Array(2 * this.#slots.length).fill(-1);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#texts.length; id++) {
      const hash = this.#hashes[id] ?? 0;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot] !== -1) slot = (slot + 1) & mask;
      slots[slot] = id;
    }
    this.#slots = slots;
  }
}

function grown<T extends Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(array: T, least: number): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.max(least, 2 * array.length));
  larger.set(array);
  return larger;
}
