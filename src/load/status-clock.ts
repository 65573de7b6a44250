// `reset` and `reset_at` of one status are of one reading of one clock (SPEC.md §3), so each pair tells what time
// it was there: `reset_at - reset`. How far that clock is from the client's is unknown, but constant.

interface Span {
  readonly least: number;
  readonly most: number;
}

/** Clocks are read in whole ms, and drift apart by 100 ppm at the most (FORMAT.md, "The verdict"). */
const slackMs = 2;
const drift = 1e-4;

export class StatusClock {
  /** Lead of the target's clock over the client's, ms. */
  #ahead: Span = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };
  #seenMs = Number.NaN;

  /**
   * @param resetAtMs ms since the epoch, of the target's clock
   * @param secondsLeft what `reset` may mean, by how it is rounded
   * @returns what is wrong, or `null`
   */
  fault(resetAtMs: number, secondsLeft: Span, sentMs: number, receivedMs: number): string | null {
    // The target's now is in [resetAt - most, resetAt - least]; the client's was in [sent, received + 1].
    const ahead: Span = {
      least: resetAtMs - secondsLeft.most * 1000 - receivedMs - 1 - slackMs,
      most: resetAtMs - secondsLeft.least * 1000 - sentMs + slackMs,
    };
    const drifted = Number.isNaN(this.#seenMs) ? 0 : (receivedMs - this.#seenMs) * drift;
    const before: Span = { least: this.#ahead.least - drifted, most: this.#ahead.most + drifted };
    this.#seenMs = receivedMs;
    if (ahead.least > before.most || ahead.most < before.least) {
      this.#ahead = ahead;
      return "reset-agrees: reset and reset_at of the status are of two clocks";
    }
    this.#ahead = {
      least: Math.max(ahead.least, before.least),
      most: Math.min(ahead.most, before.most),
    };
    return null;
  }
}
