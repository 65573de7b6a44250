// Sums of what was let through since some instants, in order of these: the one that passes room and rate most tells how
// much is used at least. Of two, the earlier one goes on if it leads: it gets all that the later one gets.
import { driftShare, grainMs } from "./clock.ts";

/** Error of sums of fractions. */
export const tolerance = 1e-6;

/** Returns the most that comes back in a time. */
export const backWithin = (perMs: number, ms: number): number => perMs * (ms * (1 + driftShare) + grainMs);

/** Number of beginnings that are kept. Calls that are sent before the earliest one are left out of its sum. */
const beginningsMost = 64;

/** A span's beginning, with the units that were let through since then. */
export interface SpanStart {
  readonly from: number;
  readonly line: number;
  points: number;
}

export class Beginnings {
  /** Units that come back in a ms. */
  readonly #perMs: number;
  /** Beginnings by their time. Each has a greater lead than the one before. */
  readonly #beginnings: SpanStart[] = [];

  constructor(perMs: number) {
    this.#perMs = perMs;
  }

  /** The beginning whose lead is greatest; `undefined` before the first. */
  get leader(): SpanStart | undefined {
    return this.#beginnings.at(-1);
  }

  /** Adds units that were let through at `from` or later. */
  add(line: number, from: number, points: number): void {
    this.#begin(line, from);
    for (const beginning of this.#beginnings) if (beginning.from <= from) beginning.points += points;
    this.#drop();
  }

  clear(): void {
    this.#beginnings.length = 0;
  }

  /** Puts a beginning in its place. Its sum is that of the next one: calls between the two are not known any more. */
  #begin(line: number, from: number): void {
    const beginnings = this.#beginnings;
    let at = beginnings.length;
    while (at > 0 && (beginnings[at - 1] as SpanStart).from >= from) at -= 1;
    const next = beginnings[at];
    if (next?.from !== from) beginnings.splice(at, 0, { from, line, points: next?.points ?? 0 });
  }

  /** Drops beginnings behind an earlier one that leads, then the earliest of too many. */
  #drop(): void {
    const origin = this.#beginnings[0]?.from ?? 0;
    let lead = Number.NEGATIVE_INFINITY;
    let kept = 0;
    for (const beginning of this.#beginnings) {
      const its = beginning.points + this.#perMs * (beginning.from - origin);
      if (its <= lead) continue;
      lead = its;
      this.#beginnings[kept] = beginning;
      kept += 1;
    }
    this.#beginnings.length = kept;
    if (kept > beginningsMost) this.#beginnings.shift();
  }
}
