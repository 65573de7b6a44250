// Rows of numbers in one buffer, seen as doubles and as 32-bit integers. A row that is given back is used again.
// Nothing is allocated per row once the table has room for the most rows in use. The first integers of free rows link
// them in a list.
import { doublesInLines, intsOf } from "../src/engine/lines.ts";

const NONE = -1;

export class RowTable {
  doubles: Float64Array<ArrayBuffer>;
  ints: Int32Array<ArrayBuffer>;
  readonly #size: number;
  #free = NONE;
  #used = 0;

  /**
   * @param size number of doubles per row
   * @param capacity number of rows that fit at first; the table grows
   */
  constructor(size: number, capacity = 64) {
    this.#size = size;
    this.doubles = doublesInLines(capacity * size);
    this.ints = intsOf(this.doubles);
  }

  /** Returns a free row, which may hold numbers of an earlier use. */
  take(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.ints[2 * free * this.#size] as number;
      return free;
    }
    if ((this.#used + 1) * this.#size > this.doubles.length) this.#grow();
    return this.#used++;
  }

  give(row: number): void {
    this.ints[2 * row * this.#size] = this.#free;
    this.#free = row;
  }

  #grow(): void {
    const larger = doublesInLines(2 * this.doubles.length);
    larger.set(this.doubles);
    this.doubles = larger;
    this.ints = intsOf(larger);
  }
}
