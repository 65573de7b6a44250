// The target's clock, as statuses show it. `reset` and `reset_at` of one status come from one reading of one clock
// (SPEC.md §3), so `reset_at - reset` is the time there. Its distance from the client's clock is unknown, but constant.

interface Span {
  readonly least: number;
  readonly most: number;
}

/** Slack of clocks, which are read in whole ms and drift apart by at most 100 ppm (FORMAT.md, "The verdict"). */
const slackMs = 2;
const drift = 1e-4;

export class StatusClock {
  /** Lead of the target's clock over the client's, ms. */
  #ahead: Span = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };
  #seenMs = Number.NaN;

  /**
   * Returns the fault in a status, or `null`.
   * @param resetAtMs ms since the epoch on the target's clock
   * @param secondsLeft what `reset` may mean, by its rounding
   */
  fault(resetAtMs: number, secondsLeft: Span, sentMs: number, receivedMs: number): string | null {
    // The target's time is in [resetAt - most, resetAt - least]; the client's is in [sent, received + 1].
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
