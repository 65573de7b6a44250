// Sums over the marks of one window, and the columns that they are made of.
import { CLAMPED, NOT_ADMITTED, RoleCounts } from "./mark-rows.ts";

/** Marks as columns. */
export interface MarkColumns {
  readonly size: number;
  /** Number of all marks: behind the first `size` stand calls that show a later window but may have held points here. */
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
  const charged = least[mark] as number;
  const isExact = ((bits[mark] as number) & (CLAMPED | NOT_ADMITTED)) === 0;
  return isExact && charged > 0 && count[mark] === charged;
}

/** Sums over marks of one window. */
export class WindowSums {
  readonly roles = new RoleCounts();
  /** Highest count that was shown, and lowest count before a charge. */
  highest = 0;
  lowest = Number.POSITIVE_INFINITY;
  /** Number of admitted calls that surely left points charged, those points, and the latest sending of such a call. */
  charges = 0;
  charged = 0;
  lastSent = Number.NEGATIVE_INFINITY;
  /** Latest sending of a call that surely showed its own charge alone, if that is looked for. */
  firstCharge = Number.NEGATIVE_INFINITY;

  /** @param sums sums to begin with */
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
