// The book of one window, kept from what a limiter answered. It charges what SPEC.md §2, §3 and §8 say and
// nothing else, and takes the limiter's word for when a window ends where that word is possible.
//
// If the rules leave two outcomes open (whether a late postpaid charge still counts, whether a charge of
// 0 points opens a window) the count is a span `least..most`, and whether a window is open may be in doubt.

/** Span of a count. */
export interface CountSpan {
  readonly least: number;
  readonly most: number;
}

/** A charge that is certain. */
export const exactly = (points: number): CountSpan => ({ least: points, most: points });

/** The window in which a call was decided, for its completion. */
export interface Held {
  /** Number of the window, `null` where none was open. */
  readonly window: number | null;
  readonly sure: boolean;
}

export class WindowBook {
  readonly lengthMs: number;
  readonly epoch: boolean;
  readonly opensToMs: number;
  /** 1 where the instant at which a window ends still belongs to it, else 0. */
  readonly lateMs: number;
  /** The latest time that this window's calls have seen. */
  seenMs = 0;
  /** When the open window ends; `null` where none is known to be open. */
  untilMs: number | null = null;
  /** Until then it is open to the rules whether a window is open; 0 where there is no doubt. */
  doubtUntilMs = 0;
  least = 0;
  most = 0;
  /** Something was charged since the window opened. */
  charged = false;
  /** A call was decided here while it was not enforced. */
  unenforced = false;
  /** `current` as the limiter showed it at the last operation on this window. */
  shown: number | null = null;
  /** Number of windows that have ended. */
  ended = 0;

  /**
   * @param opensToMs a first-request window opens at a whole multiple of it
   * @param endsLate the instant at which a window ends still belongs to it
   */
  constructor(lengthMs: number, epoch: boolean, opensToMs: number, endsLate: boolean) {
    this.lengthMs = lengthMs;
    this.epoch = epoch;
    this.opensToMs = opensToMs;
    this.lateMs = endsLate ? 1 : 0;
  }

  copy(): WindowBook {
    const { lengthMs, epoch, opensToMs, lateMs } = this;
    return Object.assign(new WindowBook(lengthMs, epoch, opensToMs, lateMs > 0), this);
  }

  get span(): CountSpan {
    return { least: this.least, most: this.most };
  }

  /** Number of the open window, `null` where none is known to be open. */
  get window(): number | null {
    return this.untilMs === null ? null : this.ended;
  }

  get held(): Held {
    return { window: this.window, sure: this.doubtUntilMs === 0 };
  }

  /** Moves the window's clock, never back (SPEC.md §2.8), and closes the window if it is over. */
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
   * Counts a charge, and opens the window that it needs.
   * @param charge `null`: this operation counts nothing, which opens no first-request window
   * @param toldMs the end that the limiter showed after the charge
   */
  count(charge: CountSpan | null, toldMs: number | null): void {
    if (charge !== null) {
      this.least += charge.least;
      this.most += charge.most;
      if (charge.most > 0) this.charged = true;
    }
    if (this.untilMs === null && (this.epoch || charge !== null)) this.#open(charge, toldMs);
  }

  #open(charge: CountSpan | null, toldMs: number | null): void {
    const now = this.seenMs;
    const possible = toldMs !== null && toldMs > now - this.lateMs && toldMs <= now + this.lengthMs;
    const surely = this.epoch || (charge !== null && charge.least > 0);
    if (surely && (possible || this.doubtUntilMs === 0)) {
      const within = now - (this.epoch ? this.lateMs : 0);
      const opened = within - (within % (this.epoch ? this.lengthMs : this.opensToMs));
      this.untilMs = possible ? toldMs : opened + this.lengthMs;
      this.doubtUntilMs = 0;
    } else this.doubtUntilMs = now + this.lengthMs;
  }

  /** Takes back what a completed call did not use, from the window that held it. Returns the points. */
  giveBack(points: number, held: Held): number {
    if (held.sure && (held.window === null || held.window !== this.window)) return 0;
    this.least -= points;
    if (held.sure) this.most -= points;
    return points;
  }

  /**
   * Returns the charge of a completed postpaid call (SPEC.md §8): its actual cost, to the window of its decision, or
   * to one that it opens if none was open then. If that window is over it is charged nowhere; a judge
   * accepts the window open at completion too, so that is a span.
   */
  late(actual: number, held: Held): CountSpan {
    const here = held.sure && (held.window === null || held.window === this.window);
    return here ? exactly(actual) : { least: 0, most: actual };
  }
}
