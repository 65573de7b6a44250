// A memory of paths: most requests of a log have one of a few. The facts of the last paths are kept by their bytes. For
// a known path, comparing words suffices.

/** Number of paths that are remembered, a power of two. */
const places = 512;
/** Least and greatest length of a remembered path, bytes. Others are read each time. */
const [lengthLeast, lengthMost] = [4, 128];

export class PathMemory {
  readonly #words = new DataView(new ArrayBuffer(places * lengthMost));
  readonly #bytes = new Uint8Array(this.#words.buffer);
  readonly #length = new Int32Array(places);
  readonly #kind = new Uint8Array(places);
  readonly #organization = new Int32Array(places);
  /** Place of the path that `find` found, or would have. */
  #place = 0;

  /** Tells whether a path is remembered; `kind` and `organization` are then those of the path. */
  find(view: DataView, from: number, to: number): boolean {
    const length = to - from;
    if (length < lengthLeast || length > lengthMost) return false;
    const last = view.getInt32(to - 4, true);
    // Paths of one API differ mostly at their end.
    const middle = view.getInt32(from + ((length - 4) >> 1), true);
    const hash = Math.imul(last ^ Math.imul(middle, 0x9e37_79b1), 0x85eb_ca6b) + length;
    const place = (hash ^ (hash >>> 15)) & (places - 1);
    this.#place = place;
    if (this.#length[place] !== length) return false;
    const words = this.#words;
    const start = place * lengthMost;
    if (words.getInt32(start + length - 4, true) !== last) return false;
    for (let index = 0; index < length - 4; index += 4)
      if (words.getInt32(start + index, true) !== view.getInt32(from + index, true)) return false;
    return true;
  }

  get kind(): number {
    return this.#kind[this.#place] as number;
  }

  get organization(): number {
    return this.#organization[this.#place] as number;
  }

  /** Remembers the path that `find` did not find. */
  keep(view: DataView, from: number, to: number, kind: number, organization: number): void {
    const length = to - from;
    if (length < lengthLeast || length > lengthMost) return;
    const place = this.#place;
    this.#bytes.set(new Uint8Array(view.buffer, view.byteOffset + from, length), place * lengthMost);
    this.#length[place] = length;
    this.#kind[place] = kind;
    this.#organization[place] = organization;
  }
}
