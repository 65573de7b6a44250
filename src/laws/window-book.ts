// The book of one window, kept from a limiter's answers. It charges what SPEC.md §2, §3 and §8 say and
// nothing else. It believes the limiter's end of a window if the rules allow that end.
//
// The rules leave two outcomes open: whether a late postpaid charge still counts, and whether a charge of
// 0 points opens a window. Then the count is a span `least..most`, and it may be in doubt whether a window is open.

/** The least and the most that a count can be, points. */
export interface CountSpan {
  readonly least: number;
  readonly most: number;
}

/** Returns the span of a certain number of points. */
export const exactly = (points: number): CountSpan => ({ least: points, most: points });

/** Window in which a call was decided, kept for the call's completion. */
export interface Held {
  /** Number of the window; `null` if none was open. */
  readonly window: number | null;
  readonly sure: boolean;
}

export class WindowBook {
  readonly lengthMs: number;
  /** Edge of the grid on which windows lie, ms; `null` if a window opens with its first charge. */
  readonly gridMs: number | null;
  readonly opensToMs: number;
  readonly lateMs: number;
  /** Clock of the window: the latest time of its operations, ms. */
  seenMs = 0;
  /** End of the open window, ms; `null` if none is known to be open. */
  untilMs: number | null = null;
  /** End of the time in which the rules leave open whether a window is open, ms; 0 if there is no doubt. */
  doubtUntilMs = 0;
  least = 0;
  most = 0;
  /** True if the window was charged since it opened. */
  charged = false;
  /** True if a call was decided in this window while it was not enforced. */
  unenforced = false;
  /** Count that the limiter showed at the last operation on this window. */
  shown: number | null = null;
  /** Number of windows that have ended. */
  ended = 0;

  /**
   * @param gridMs edge of the grid on which windows lie, ms; `null` if a window opens with its first charge
   * @param opensToMs unit that the opening of a first-request window is rounded down to, ms
   * @param lateMs 1 if a window includes the instant of its end, else 0; ms
   */
  constructor(lengthMs: number, gridMs: number | null, opensToMs: number, lateMs: number) {
    this.lengthMs = lengthMs;
    this.gridMs = gridMs;
    this.opensToMs = opensToMs;
    this.lateMs = lateMs;
  }

  copy(): WindowBook {
    const { lengthMs, gridMs, opensToMs, lateMs } = this;
    return Object.assign(new WindowBook(lengthMs, gridMs, opensToMs, lateMs), this);
  }

  get span(): CountSpan {
    return { least: this.least, most: this.most };
  }

  /** Number of the open window; `null` if none is known to be open. */
  get window(): number | null {
    return this.untilMs === null ? null : this.ended;
  }

  get held(): Held {
    return { window: this.window, sure: this.doubtUntilMs === 0 };
  }

  /** Moves the window's clock, never back (SPEC.md §2.8), and closes the window if it is over. Returns the clock. */
  advance(nowMs: number, floorMs: number): number {
    this.seenMs = Math.max(nowMs, this.seenMs, floorMs);
    const end = this.untilMs ?? (this.doubtUntilMs > 0 ? this.doubtUntilMs : null);
    if (end !== null && this.seenMs >= end + this.lateMs) this.#close();
    return this.seenMs;
  }

  #close(): void {
    this.untilMs = null;
    this.doubtUntilMs = 0;
    this.least = 0;
    this.most = 0;
    this.charged = false;
    this.unenforced = false;
    this.shown = null;
    this.ended += 1;
  }

  /**
   * Counts a charge, and opens a window if none is open.
   * @param charge `null` if the operation counts nothing; then no first-request window opens
   * @param toldMs end that the limiter showed after the charge, ms
   */
  count(charge: CountSpan | null, toldMs: number | null): void {
    if (charge !== null) {
      this.least += charge.least;
      this.most += charge.most;
      if (charge.most > 0) this.charged = true;
    }
    if (this.untilMs === null && (this.gridMs !== null || charge !== null)) this.#open(charge, toldMs);
  }

  #open(charge: CountSpan | null, toldMs: number | null): void {
    const now = this.seenMs;
    const possible = toldMs !== null && toldMs > now - this.lateMs && toldMs <= now + this.lengthMs;
    const { gridMs } = this;
    const surely = gridMs !== null || (charge !== null && charge.least > 0);
    if (surely && (possible || this.doubtUntilMs === 0)) {
      const sinceMs = gridMs === null ? now % this.opensToMs : (now - this.lateMs - gridMs) % this.lengthMs;
      const lateMs = gridMs === null ? 0 : this.lateMs;
      this.untilMs = possible ? toldMs : now - lateMs - sinceMs + this.lengthMs;
      this.doubtUntilMs = 0;
    } else this.doubtUntilMs = now + this.lengthMs;
  }

  /** Takes points that a completed call did not use from the window that held them. Returns the points taken. */
  giveBack(points: number, held: Held): number {
    if (held.sure && (held.window === null || held.window !== this.window)) return 0;
    this.least -= points;
    if (held.sure) this.most -= points;
    return points;
  }

  /**
   * Returns the charge of a completed postpaid call (SPEC.md §8): its actual cost, in the window of its decision, or
   * in a new one if none was open then. If that window is over, the call is charged nowhere. A judge also
   * accepts a charge to the window that is open at completion; then the charge is the span from 0 to the cost.
   */
  late(actual: number, held: Held): CountSpan {
    const here = held.sure && (held.window === null || held.window === this.window);
    return here ? exactly(actual) : { least: 0, most: actual };
  }
}
