// Conclusions that a trace's clocks allow (FORMAT.md, "What a judge may assume": order, the target's clock).
import type { Semantics } from "../rules/rules.ts";
import type { TraceClock } from "../trace/record.ts";

/** Rate at which the target's clock may run away from the clients': 100 ppm. */
export const driftShare = 100e-6;

/** The target reads its own clock in whole milliseconds. */
const targetGrainMs = 1;

/** From one instant to another, ms since the epoch on the clients' clock; both ends may belong to it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Seconds that a shown `reset` may stand for, least and most, by how it was rounded (SPEC.md §3, §8). */
const roundedFrom: Readonly<Record<Semantics["reset"], readonly [number, number]>> = {
  ceil: [-1, 0],
  floor: [0, 1],
  round: [-0.5, 0.5],
};
const roundedSomehow = [-1, 1] as const;

export class TraceTime {
  readonly #clock: TraceClock;
  /** Time after an answer from which a call was surely sent later; of clocks without a grain, only after it. */
  readonly #orderMs: number;
  readonly #isGrainless: boolean;

  constructor(clock: TraceClock) {
    this.#clock = clock;
    this.#orderMs = clock.resolutionMs + 2 * clock.errorMs;
    this.#isGrainless = clock.resolutionMs === 0;
  }

  /** Distance that two clocks of the run may have. */
  get slackMs(): number {
    return 2 * this.#clock.errorMs;
  }

  /**
   * Tells whether an answer received at `received` surely came before a call sent at `sent` was under way. Equal
   * readings order nothing, nor do equal instants, which clocks without a grain may show: ties have an order that the
   * trace does not show.
   */
  before(received: number, sent: number): boolean {
    const by = received + this.#orderMs;
    return received < sent && (this.#isGrainless ? by < sent : by <= sent);
  }

  /** The instants at which a reading may have been taken, by clients' and target's clocks that err alike. */
  within(sent: number, received: number): Span {
    const { resolutionMs, errorMs } = this.#clock;
    return { from: sent - 2 * errorMs, to: received + resolutionMs + 2 * errorMs };
  }

  /**
   * When the window ends that shows `reset` seconds in an answer: with `ceil`, `reset_at - now` is in
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
