// The distance of the target's clock from the clients', where answers tell instants of the target's. A `Date` header
// tells it to the second; so does an end that lies ahead, though only to a window's length.
import { driftShare, type Span, type TraceTime } from "./clock.ts";

/** A server may send the date of a second ago: many write it once a second. */
const dateMs = 2000;

export class TargetOffset {
  readonly #time: TraceTime;
  readonly #isShared: boolean;
  /** The target's clock is ahead of the clients' by at least `from` and at most `to` ms. */
  #known: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  #at = 0;

  /** @param isShared true if there is but one clock, the simulator's */
  constructor(time: TraceTime, isShared: boolean) {
    this.#time = time;
    this.#isShared = isShared;
    if (isShared) this.#known = { from: -time.slackMs, to: time.slackMs };
  }

  /** A `Date` header of an answer. */
  date(sent: number, received: number, date: number): void {
    const read = this.#time.within(sent, received);
    this.#narrow({ from: date - read.to, to: date + dateMs - read.from }, received);
  }

  /** An answer shows a window that ends at `atMs`, give or take `gridMs`, and lasts at most `lengthMs`. */
  end(sent: number, received: number, atMs: number, gridMs: number, lengthMs: number): void {
    const read = this.#time.within(sent, received);
    this.#narrow({ from: atMs - gridMs - lengthMs - read.to, to: atMs + gridMs - read.from }, received);
  }

  /** Returns where an instant of the target's lies on the clients' clock. */
  clientsTime({ from, to }: Span): Span {
    return { from: from - this.#known.to, to: to - this.#known.from };
  }

  /** Clocks drift: what was known holds a little less by now. Bounds that contradict it stand in its place. */
  #narrow(shown: Span, at: number): void {
    if (this.#isShared) return;
    const drift = Math.abs(at - this.#at) * driftShare;
    const from = Math.max(shown.from, this.#known.from - drift);
    const to = Math.min(shown.to, this.#known.to + drift);
    this.#known = from <= to ? { from, to } : shown;
    this.#at = at;
  }
}
