// Calls that may have been charged to a quota, at an unknown time or place: calls without an answer, lost calls, and
// calls whose answer names no window. They explain gaps (FORMAT.md, "Unknown calls"): at most one each, and at most
// their points, in windows that were open when they were sent.
import type { Span } from "./clock.ts";

/** Points to be explained, and the number of separate gaps that they lie in. */
export interface Unexplained {
  readonly points: number;
  readonly calls: number;
}

/** Sorted instants, with the calls and points up to each of them. */
class Series {
  readonly #entries: { readonly at: number; readonly points: number }[] = [];
  #sums: Float64Array | null = null;

  add(at: number, points: number): void {
    this.#entries.push({ at, points });
    this.#sums = null;
  }

  /** Returns the number of calls before an instant, and their points. */
  before(at: number): { calls: number; points: number } {
    this.#sums ??= this.#sum();
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.at ?? at) < at) low = middle + 1;
      else high = middle;
    }
    return { calls: low, points: this.#sums[low] as number };
  }

  #sum(): Float64Array {
    this.#entries.sort((a, b) => a.at - b.at);
    const sums = new Float64Array(this.#entries.length + 1);
    for (const [index, { points }] of this.#entries.entries())
      sums[index + 1] = (sums[index] as number) + points;
    return sums;
  }
}

export class Unknowns {
  /** Calls of known cost by their sending, and the answered ones by their receipt. */
  readonly #sent = new Series();
  readonly #answered = new Series();
  /** Calls of unknown cost by their sending, and the answered ones by their receipt. */
  readonly #sentUncosted = new Series();
  readonly #answeredUncosted = new Series();

  /**
   * @param answered receipt of the answer, after which the call is not charged any more; `null` if none came
   * @param points most points that it may have charged; `Infinity` if unknown
   */
  add(sent: number, answered: number | null, points: number): void {
    const costed = Number.isFinite(points);
    (costed ? this.#sent : this.#sentUncosted).add(sent, points);
    if (answered !== null) (costed ? this.#answered : this.#answeredUncosted).add(answered, points);
  }

  /** Returns the most that may have been charged in a span; points are `Infinity` if a cost is unknown. */
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
