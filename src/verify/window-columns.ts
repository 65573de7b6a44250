// One window's marks as columns: what the judging of its counts goes by, filled again for each window.
import {
  BITS,
  CLAMPED,
  COUNT,
  HELD,
  LEAST,
  MOST,
  NONE,
  NOT_ADMITTED,
  PIECE,
  RECEIVED,
  ROW,
  RoleCounts,
  SENT,
} from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";

export class WindowColumns {
  size = 0;
  sent = new Float64Array(256);
  received = new Float64Array(256);
  count = new Float64Array(256);
  least = new Float64Array(256);
  most = new Float64Array(256);
  held = new Float64Array(256);
  bits = new Int32Array(256);
  readonly roles = new RoleCounts();
  /** The highest count that was shown, and the lowest before a charge. */
  highest = 0;
  lowest = Number.POSITIVE_INFINITY;

  load(open: OpenWindows, window: number): void {
    const size = open.size(window);
    this.#fit(size);
    this.size = size;
    this.roles.clear();
    this.highest = 0;
    this.lowest = Number.POSITIVE_INFINITY;
    const { next } = open.rows;
    let index = 0;
    for (let piece = open.firstPiece(window); index < size; piece = next[piece] ?? NONE)
      for (let row = piece * PIECE; row < (piece + 1) * PIECE && index < size; row += ROW, index++)
        this.#copy(open.rows.numbers, row, index);
  }

  /**
   * Tells whether an answer shows no more than its own call's charge: then nothing else had been charged to this window
   * (FORMAT.md, "Windows open when the trace began").
   * @param since its call was sent at or after this
   */
  showsFirstCharge(since: number): boolean {
    for (let mark = 0; mark < this.size; mark++) {
      const charged = this.least[mark] ?? 0;
      const isExactCharge = ((this.bits[mark] ?? 0) & (CLAMPED | NOT_ADMITTED)) === 0 && charged > 0;
      if (isExactCharge && this.count[mark] === charged && (this.sent[mark] ?? 0) >= since) return true;
    }
    return false;
  }

  #copy(numbers: Float64Array, row: number, index: number): void {
    const count = numbers[row + COUNT] ?? 0;
    const least = numbers[row + LEAST] ?? 0;
    const bits = numbers[row + BITS] ?? 0;
    this.sent[index] = numbers[row + SENT] ?? 0;
    this.received[index] = numbers[row + RECEIVED] ?? 0;
    this.count[index] = count;
    this.least[index] = least;
    this.most[index] = numbers[row + MOST] ?? 0;
    this.held[index] = numbers[row + HELD] ?? 0;
    this.bits[index] = bits;
    this.roles.addBits(bits);
    if (count > this.highest) this.highest = count;
    if (count - least < this.lowest) this.lowest = count - least;
  }

  #fit(size: number): void {
    if (size <= this.sent.length) return;
    this.sent = new Float64Array(2 * size);
    this.received = new Float64Array(2 * size);
    this.count = new Float64Array(2 * size);
    this.least = new Float64Array(2 * size);
    this.most = new Float64Array(2 * size);
    this.held = new Float64Array(2 * size);
    this.bits = new Int32Array(2 * size);
  }
}
