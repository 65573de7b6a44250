// Calls that may have been charged to a quota, nobody knows whether, when or where: without an answer, lost, or
// with an answer that names no window. They explain gaps (FORMAT.md, "Unknown calls"): at most as many as there
// are such calls, of at most their points, in windows that were still open when they were sent.
import type { Span } from "./clock.ts";

/** Gap to be explained: points, in so many separate places. */
export interface Unexplained {
  readonly points: number;
  readonly calls: number;
}

/** Sorted instants with what the calls up to each of them may explain. */
class Series {
  readonly #entries: { readonly at: number; readonly points: number }[] = [];
  #sums: Float64Array | null = null;

  add(at: number, points: number): void {
    this.#entries.push({ at, points });
    this.#sums = null;
  }

  /** Of the calls before an instant: how many, their points, and how many have no known cost. */
  before(at: number): { calls: number; points: number } {
    this.#sums ??= this.#sum();
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.at ?? at) < at) low = middle + 1;
      else high = middle;
    }
    return { calls: low, points: this.#sums[low] ?? 0 };
  }

  #sum(): Float64Array {
    this.#entries.sort((a, b) => a.at - b.at);
    const sums = new Float64Array(this.#entries.length + 1);
    for (const [index, { points }] of this.#entries.entries()) sums[index + 1] = (sums[index] ?? 0) + points;
    return sums;
  }
}

export class Unknowns {
  /** Calls of known cost by when they were sent, and those of them that were answered by when that was. */
  readonly #sent = new Series();
  readonly #answered = new Series();
  /** The same for calls of unknown cost. */
  readonly #sentUncosted = new Series();
  readonly #answeredUncosted = new Series();

  /**
   * @param answered when the answer came, after which the call is charged no more; `null` where none did
   * @param points the most that it may have charged, `Infinity` where that is unknown
   */
  add(sent: number, answered: number | null, points: number): void {
    const costed = Number.isFinite(points);
    (costed ? this.#sent : this.#sentUncosted).add(sent, points);
    if (answered !== null) (costed ? this.#answered : this.#answeredUncosted).add(answered, points);
  }

  /** The most that may have been charged in a span; points are `Infinity` where a cost is unknown. */
  within({ from, to }: Span): Unexplained {
    const sent = this.#sent.before(to);
    const over = this.#answered.before(from);
    const uncosted = this.#sentUncosted.before(to).calls - this.#answeredUncosted.before(from).calls;
    return {
      points: uncosted > 0 ? Number.POSITIVE_INFINITY : sent.points - over.points,
      calls: sent.calls - over.calls + uncosted,
    };
  }
}
