// Text that must stand in a line, compared as floats of eight bytes: different ASCII texts are different numbers.

/** A text of at least four bytes of ASCII. */
export class Literal {
  readonly length: number;
  /** Its bytes as little-endian floats, without the last eight; empty for a short text. */
  readonly #numbers: Float64Array;
  readonly #last: number;
  /** First four bytes and last four bytes of a short text. */
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

  /** Tells whether the text stands at `at`; that many bytes must be readable there. */
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
