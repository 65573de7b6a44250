// Use of windows in a world that refuses nobody: shares of their limits in histograms of thousandths. Millions of
// windows then cost one counter for each step.
import type { WindowUse } from "../../src/summary/replay-result.ts";

/** Number of steps of a share: thousandths. */
const STEPS = 1000;

/** Least limit that tells something: lower ones are often met by chance. */
const limitLeast = 10;
/** Share by which a full window may differ: calls near a window's ends may be counted in its neighbour. */
const slack = 1 / 50;
const fullLeast = 5;

/** Windows of one quota, or of one of its counts. */
export class Uses {
  /** Number of windows by use, in thousandths of the limit, rounded up. */
  readonly #steps = new Map<number, number>();
  windows = 0;
  over = 0;
  full = 0;
  /** Number of windows with a little less than full ones, and with more. */
  #below = 0;
  #above = 0;
  useMax = 0;
  needed = 0;

  add(peak: number, needed: number, limit: number): void {
    const use = peak / limit;
    this.#count(Math.ceil((peak * STEPS) / limit), 1);
    this.windows += 1;
    if (needed > limit) this.over += 1;
    if (use > this.useMax) this.useMax = use;
    if (needed > this.needed) this.needed = needed;
    if (limit < limitLeast || use < 1 - 3 * slack) return;
    if (use > 1 + slack) this.#above += 1;
    else if (use >= 1 - slack) this.full += 1;
    else this.#below += 1;
  }

  /** Tells whether windows pile up at the limit, as if something had cut off the calls beyond it. */
  get isCutOff(): boolean {
    return this.full >= fullLeast && this.full > 2 * this.#below && this.full > 2 * this.#above;
  }

  #count(step: number, windows: number): void {
    this.#steps.set(step, (this.#steps.get(step) ?? 0) + windows);
  }

  merge(other: Uses): void {
    for (const [step, windows] of other.#steps) this.#count(step, windows);
    this.windows += other.windows;
    this.over += other.over;
    this.full += other.full;
    this.#below += other.#below;
    this.#above += other.#above;
    this.useMax = Math.max(this.useMax, other.useMax);
    this.needed = Math.max(this.needed, other.needed);
  }

  describe(): WindowUse {
    const sorted = [...this.#steps].sort(([a], [b]) => a - b);
    const at = (share: number): number => {
      let left = Math.max(1, Math.ceil(share * this.windows - 1e-9));
      const found = sorted.find(([, windows]) => {
        left -= windows;
        return left <= 0;
      });
      // A step is rounded up, but no use is above the highest.
      return Math.min((found?.[0] ?? 0) / STEPS, this.useMax);
    };
    return {
      windows: this.windows,
      windowsOver: this.over,
      windowsFull: this.full,
      useMax: this.useMax,
      useP99: at(0.99),
      useP50: at(0.5),
      smallestLimit: Math.max(1, this.needed),
    };
  }
}
