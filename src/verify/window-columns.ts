// One window's marks as columns, by which its counts are judged. Filled again for each window.
import {
  ACTUAL,
  BITS,
  COUNT,
  HELD,
  leastOf,
  type MarkRows,
  mostOf,
  ODD,
  PIECE,
  RECEIVED,
  ROW,
  SENT,
} from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";
import { isFirstCharge, type MarkColumns, WindowSums } from "./window-sums.ts";

const nothing = new WindowSums();

/** The marks that a window holds, and sums over all its marks. */
export class WindowColumns extends WindowSums implements MarkColumns {
  size = 0;
  all = 0;
  sent = new Float64Array(256);
  received = new Float64Array(256);
  count = new Float64Array(256);
  least = new Float64Array(256);
  most = new Float64Array(256);
  held = new Float64Array(256);
  bits = new Int32Array(256);

  load(open: OpenWindows, window: number): void {
    const size = open.size(window);
    const { rows } = open;
    const { next } = rows;
    this.#fit(size);
    this.size = size;
    this.all = size;
    this.begin(open.held.of(window) ?? nothing);
    let index = 0;
    for (let piece = open.firstPiece(window); index < size; piece = next[piece] as number)
      for (let row = piece * PIECE; row < (piece + 1) * PIECE && index < size; row += ROW, index++)
        this.#copy(rows, row, index);
  }

  /**
   * Tells whether an answer shows no more than its own call's charge, so that nothing else had been charged to this
   * window (FORMAT.md, "Windows open when the trace began").
   * @param since earliest sending of such a call
   */
  showsFirstCharge(since: number): boolean {
    if (this.firstCharge >= since) return true;
    for (let mark = 0; mark < this.size; mark++)
      if ((this.sent[mark] as number) >= since && isFirstCharge(this, mark)) return true;
    return false;
  }

  #copy(rows: MarkRows, row: number, index: number): void {
    const { numbers, wholes } = rows;
    const bits = wholes[2 * row + BITS] as number;
    const sent = numbers[row + SENT] as number;
    this.sent[index] = sent;
    this.received[index] = numbers[row + RECEIVED] as number;
    let count = wholes[2 * row + COUNT] as number;
    let held = wholes[2 * row + HELD] as number;
    let most = mostOf(bits, held, wholes[2 * row + ACTUAL] as number);
    let least = leastOf(bits, most);
    if ((bits & ODD) !== 0) ({ count, least, most, held } = rows.at(row));
    this.count[index] = count;
    this.least[index] = least;
    this.most[index] = most;
    this.held[index] = held;
    this.bits[index] = bits;
    this.add(bits, sent, count, least);
  }

  /** Adds what a call that shows a later window may have held here. */
  addOther(sent: number, received: number, most: number, held: number): void {
    const index = this.all;
    this.#fit(index + 1);
    this.all += 1;
    this.sent[index] = sent;
    this.received[index] = received;
    this.most[index] = most;
    this.held[index] = held;
  }

  #fit(size: number): void {
    if (size <= this.sent.length) return;
    const grown = <T extends Float64Array | Int32Array>(column: T, larger: T): T => {
      larger.set(column);
      return larger;
    };
    const numbers = (column: Float64Array<ArrayBuffer>) => grown(column, new Float64Array(2 * size));
    this.sent = numbers(this.sent);
    this.received = numbers(this.received);
    this.count = numbers(this.count);
    this.least = numbers(this.least);
    this.most = numbers(this.most);
    this.held = numbers(this.held);
    this.bits = grown(this.bits, new Int32Array(2 * size));
  }
}
