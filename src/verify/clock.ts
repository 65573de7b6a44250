// Conclusions that a trace's clocks allow (FORMAT.md, "What a judge may assume": order, the target's clock).
import type { Semantics } from "../rules/rules.ts";
import type { TraceClock } from "../trace/record.ts";

/** Largest drift of the target's clock against the clients': 100 ppm. */
export const driftShare = 100e-6;

/** Grain of the target's clock, ms: it reads whole milliseconds. */
const targetGrainMs = 1;
/** Error of a difference between two readings of clocks, ms: each counts whole milliseconds. */
export const grainMs = 2;

/** Span of time, ms since the epoch on the clients' clock. Both ends may belong to it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Seconds to add to a shown `reset`, least and most, by its rounding (SPEC.md §3, §8). */
const roundedFrom: Readonly<Record<Semantics["reset"], readonly [number, number]>> = {
  ceil: [-1, 0],
  floor: [0, 1],
  round: [-0.5, 0.5],
};
const roundedSomehow = [-1, 1] as const;

export class TraceTime {
  readonly #clock: TraceClock;
  /** Time after an answer, ms, from which on a call was surely sent later. Without a grain, equality does not suffice. */
  readonly #orderMs: number;
  readonly #isGrainless: boolean;

  constructor(clock: TraceClock) {
    this.#clock = clock;
    this.#orderMs = clock.resolutionMs + 2 * clock.errorMs;
    this.#isGrainless = clock.resolutionMs === 0;
  }

  /** Largest distance between two clocks of the run, ms. */
  get slackMs(): number {
    return 2 * this.#clock.errorMs;
  }

  /**
   * Tells whether an answer surely came before a call was sent. Equal readings order nothing. Neither do equal
   * instants, which clocks without a grain may show: their order is not in the trace.
   */
  before(received: number, sent: number): boolean {
    const by = received + this.#orderMs;
    return received < sent && (this.#isGrainless ? by < sent : by <= sent);
  }

  /** Returns the span in which a reading may have been taken; clients' and target's clocks err alike. */
  within(sent: number, received: number): Span {
    const { resolutionMs, errorMs } = this.#clock;
    return { from: sent - 2 * errorMs, to: received + resolutionMs + 2 * errorMs };
  }

  /**
   * Returns the span in which the window ends whose answer shows `reset` seconds. With `ceil`, `reset_at - now` is in
   * `(reset - 1, reset]` at some instant `now` from sending to receipt.
   * @param end is filled and returned
   * @param gridSeconds unit that `reset` is rounded to
   */
  windowEnd(
    sent: number,
    received: number,
    reset: number,
    rounding: Semantics["reset"] | null,
    end: { from: number; to: number } = { from: 0, to: 0 },
    gridSeconds = 1,
  ): Span {
    const { resolutionMs, errorMs } = this.#clock;
    const rounded = rounding === null ? roundedSomehow : roundedFrom[rounding];
    const earliest = Math.max(0, reset + rounded[0] * gridSeconds) * 1000 - targetGrainMs;
    end.from = sent - 2 * errorMs + earliest * (1 - driftShare);
    end.to =
      received + resolutionMs + 2 * errorMs + (reset + rounded[1] * gridSeconds) * 1000 * (1 + driftShare);
    return end;
  }
}
