// Text that must stand in a line, compared eight bytes at a time: as numbers, since no two texts of ASCII are equal ones.

/** At least four bytes of ASCII. */
export class Literal {
  readonly length: number;
  /** Its bytes as little-endian numbers, but for the last eight; of a short one there are none. */
  readonly #numbers: Float64Array;
  readonly #last: number;
  /** A short one's first four bytes and its last four. */
  readonly #first: number;
  readonly #end: number;

  constructor(text: string) {
    const bytes = new TextEncoder().encode(text);
    const view = new DataView(bytes.buffer);
    const { length } = bytes;
    this.length = length;
    this.#numbers = Float64Array.from({ length: (length - 1) >> 3 }, (_, index) =>
      view.getFloat64(8 * index, true),
    );
    this.#last = length < 8 ? 0 : view.getFloat64(length - 8, true);
    this.#first = view.getInt32(0, true);
    this.#end = view.getInt32(length - 4, true);
  }

  /** Tells whether it stands at `at`; as many bytes as it is long must be there to be read. */
  stands(view: DataView, at: number): boolean {
    if (this.length < 8)
      return (
        view.getInt32(at, true) === this.#first && view.getInt32(at + this.length - 4, true) === this.#end
      );
    const numbers = this.#numbers;
    for (let index = 0; index < numbers.length; index++)
      if (view.getFloat64(at + 8 * index, true) !== numbers[index]) return false;
    return view.getFloat64(at + this.length - 8, true) === this.#last;
  }
}
