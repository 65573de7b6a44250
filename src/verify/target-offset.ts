// The distance of the target's clock from the clients', from instants of the target's clock in answers. A `Date` header
// tells it to the second. So does an end that lies ahead, but only to a window's length.
import { driftShare, type Span, type TraceTime } from "./clock.ts";

/** Age, ms, that a `Date` header may have: many servers write it once a second. */
export const dateMs = 2000;

export class TargetOffset {
  readonly #time: TraceTime;
  readonly #isShared: boolean;
  /** Bounds, ms, by which the target's clock is ahead of the clients'. */
  #known: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  #at = 0;

  /** @param isShared true if there is only one clock, the simulator's */
  constructor(time: TraceTime, isShared: boolean) {
    this.#time = time;
    this.#isShared = isShared;
    if (isShared) this.#known = { from: -time.slackMs, to: time.slackMs };
  }

  /** Narrows the bounds by a `Date` header. */
  date(sent: number, received: number, date: number): void {
    const read = this.#time.within(sent, received);
    this.#narrow({ from: date - read.to, to: date + dateMs - read.from }, received);
  }

  /** Narrows the bounds by a window that ends at `atMs`, give or take `gridMs`, and lasts at most `lengthMs`. */
  end(sent: number, received: number, atMs: number, gridMs: number, lengthMs: number): void {
    const read = this.#time.within(sent, received);
    this.#narrow({ from: atMs - gridMs - lengthMs - read.to, to: atMs + gridMs - read.from }, received);
  }

  /** Returns where an instant of the target's lies on the clients' clock. */
  clientsTime({ from, to }: Span): Span {
    return { from: from - this.#known.to, to: to - this.#known.from };
  }

  /** Narrows the bounds, after widening them by the drift since then. Contradicting bounds replace them. */
  #narrow(shown: Span, at: number): void {
    if (this.#isShared) return;
    const drift = Math.abs(at - this.#at) * driftShare;
    const from = Math.max(shown.from, this.#known.from - drift);
    const to = Math.min(shown.to, this.#known.to + drift);
    this.#known = from <= to ? { from, to } : shown;
    this.#at = at;
  }
}
