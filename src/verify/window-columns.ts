// One window's marks as columns: what the judging of its counts goes by, filled again for each window.
import {
  ACTUAL,
  BITS,
  CLAMPED,
  COUNT,
  HELD,
  leastOf,
  type MarkRows,
  mostOf,
  NONE,
  NOT_ADMITTED,
  ODD,
  PIECE,
  RECEIVED,
  ROW,
  RoleCounts,
  SENT,
} from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";

/** Sums over marks of one window. */
export class WindowSums {
  readonly roles = new RoleCounts();
  /** The highest count that was shown, and the lowest before a charge. */
  highest = 0;
  lowest = Number.POSITIVE_INFINITY;
  /** Calls that were let through and surely left something charged, those points, and when the last one was sent. */
  charges = 0;
  charged = 0;
  lastSent = Number.NEGATIVE_INFINITY;
  /** The latest sending of a call that surely showed its own charge alone, if that is looked for. */
  firstCharge = Number.NEGATIVE_INFINITY;

  /** @param sums those to begin with */
  begin({ roles, highest, lowest, charges, charged, lastSent, firstCharge }: WindowSums): void {
    this.roles.begin(roles);
    this.highest = highest;
    this.lowest = lowest;
    this.charges = charges;
    this.charged = charged;
    this.lastSent = lastSent;
    this.firstCharge = firstCharge;
  }

  /** @param bits a mark's `BITS` */
  add(bits: number, sent: number, count: number, least: number): void {
    this.roles.addBits(bits);
    if (least > 0 && (bits & NOT_ADMITTED) === 0) {
      this.charges += 1;
      this.charged += least;
      if (sent > this.lastSent) this.lastSent = sent;
    }
    if (count > this.highest) this.highest = count;
    if (count - least < this.lowest) this.lowest = count - least;
  }
}

const nothing = new WindowSums();

/** The marks of a window that are held, and sums over all of them. */
export class WindowColumns extends WindowSums {
  size = 0;
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
    this.begin(open.held.of(window) ?? nothing);
    let index = 0;
    for (let piece = open.firstPiece(window); index < size; piece = next[piece] ?? NONE)
      for (let row = piece * PIECE; row < (piece + 1) * PIECE && index < size; row += ROW, index++)
        this.#copy(rows, row, index);
  }

  /**
   * Tells whether an answer shows no more than its own call's charge: then nothing else had been charged to this window
   * (FORMAT.md, "Windows open when the trace began").
   * @param since its call was sent at or after this
   */
  showsFirstCharge(since: number): boolean {
    if (this.firstCharge >= since) return true;
    for (let mark = 0; mark < this.size; mark++)
      if ((this.sent[mark] ?? 0) >= since && this.isFirstCharge(mark)) return true;
    return false;
  }

  /** Tells whether a mark shows no more than its own call's charge. */
  isFirstCharge(mark: number): boolean {
    const charged = this.least[mark] ?? 0;
    const isExact = ((this.bits[mark] ?? 0) & (CLAMPED | NOT_ADMITTED)) === 0;
    return isExact && charged > 0 && this.count[mark] === charged;
  }

  #copy(rows: MarkRows, row: number, index: number): void {
    const { numbers, wholes } = rows;
    const bits = wholes[2 * row + BITS] ?? 0;
    const sent = numbers[row + SENT] ?? 0;
    this.sent[index] = sent;
    this.received[index] = numbers[row + RECEIVED] ?? 0;
    let count = wholes[2 * row + COUNT] ?? 0;
    let held = wholes[2 * row + HELD] ?? 0;
    let most = mostOf(bits, held, wholes[2 * row + ACTUAL] ?? 0);
    let least = leastOf(bits, most);
    if ((bits & ODD) !== 0) ({ count, least, most, held } = rows.at(row));
    this.count[index] = count;
    this.least[index] = least;
    this.most[index] = most;
    this.held[index] = held;
    this.bits[index] = bits;
    this.add(bits, sent, count, least);
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
