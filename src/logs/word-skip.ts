// Skips text four bytes at a time, as long as no byte among them can matter.

const highBits = 0x8080_8080 | 0;
const eachByte = 0x0101_0101;

/** Skips ASCII from a byte on. */
export class WordSkip {
  readonly #least: number;

  /** @param least least byte that does not matter, from 1 to 0x7f */
  constructor(least: number) {
    this.#least = Math.imul(0x80 - least, eachByte);
  }

  /**
   * Finds the first word that may hold a byte that matters, or one beyond ASCII. For a byte from `least` to 0x7f the
   * sum with 0x80 - least has the highest bit; for a lesser byte it has not. Neither sum carries into the next byte. A
   * byte above 0x7f may carry, but its highest bit is missing in ~word.
   */
  over(view: DataView, from: number): number {
    const least = this.#least;
    let at = from;
    for (let word = view.getInt32(at, true); ((word + least) & ~word & highBits) === highBits; ) {
      at += 4;
      word = view.getInt32(at, true);
    }
    return at;
  }
}
