// Sums over the marks of one window, and the columns that they are made of.
import { CLAMPED, NOT_ADMITTED, RoleCounts } from "./mark-rows.ts";

/** Marks as columns. */
export interface MarkColumns {
  readonly size: number;
  /** Number of them with those behind them, of calls that show a later window, and may have held something here. */
  readonly all: number;
  readonly sent: Float64Array;
  readonly received: Float64Array;
  readonly count: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  readonly held: Float64Array;
  readonly bits: Int32Array;
}

/** Tells whether a mark shows no more than its own call's charge. */
export function isFirstCharge({ bits, least, count }: MarkColumns, mark: number): boolean {
  const charged = least[mark] ?? 0;
  const isExact = ((bits[mark] ?? 0) & (CLAMPED | NOT_ADMITTED)) === 0;
  return isExact && charged > 0 && count[mark] === charged;
}

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
