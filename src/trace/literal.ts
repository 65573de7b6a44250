// Text that must stand in a line, compared four bytes at a time.

/** At least four bytes of ASCII. */
export class Literal {
  readonly length: number;
  /** Its bytes as little-endian words; the last one overlaps the one before where the length asks for it. */
  readonly #words: Int32Array;
  readonly #last: number;

  constructor(text: string) {
    const bytes = new TextEncoder().encode(text);
    const view = new DataView(bytes.buffer);
    this.length = bytes.length;
    this.#words = Int32Array.from({ length: (bytes.length - 1) >> 2 }, (_, index) =>
      view.getInt32(4 * index, true),
    );
    this.#last = view.getInt32(bytes.length - 4, true);
  }

  /** Tells whether it stands at `at`; as many bytes as it is long must be there to be read. */
  stands(view: DataView, at: number): boolean {
    const words = this.#words;
    for (let index = 0; index < words.length; index++)
      if (view.getInt32(at + 4 * index, true) !== words[index]) return false;
    return view.getInt32(at + this.length - 4, true) === this.#last;
  }
}
