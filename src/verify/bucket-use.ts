// The least and the most that is used of a token bucket.
import type { Envelope } from "../policy/envelope.ts";
import { Beginnings, backWithin, tolerance } from "./beginnings.ts";
import { driftShare } from "./clock.ts";
import type { UnreadCall } from "./unread.ts";
import { CallsUnderWay, type LeastUsed, type MostUsed } from "./use-bounds.ts";

/** The most that any span of time before leaves: calls that were surely over, less what came back since its begin. */
export class BucketLeast implements LeastUsed {
  readonly #perMs: number;
  readonly #beginnings: Beginnings;
  readonly #underWay = new CallsUnderWay();

  constructor({ perMs }: Envelope) {
    this.#perMs = perMs;
    this.#beginnings = new Beginnings(perMs);
  }

  add(call: UnreadCall): number {
    const { from, to, least } = call;
    const isKnown = this.#underWay.add(call, (over) =>
      this.#beginnings.add(over.line, over.from, over.least),
    );
    if (!isKnown) return 0;
    const before = this.#beginnings.leader;
    const used = before === undefined ? 0 : Math.max(0, before.points - this.#back(from - before.from));
    return used + least - this.#back(to - from) - tolerance;
  }

  /** Returns the most that comes back in a time. */
  #back(ms: number): number {
    return backWithin(this.#perMs, ms);
  }
}

/**
 * The most that a bucket can have used at some instant: all of it at the trace's begin, less what came back since, and
 * each call's charge from its answer on.
 */
export class BucketMost implements MostUsed {
  readonly knownFrom: number;
  readonly #envelope: Envelope;
  /** Most that is used at the latest answer, by calls that were answered. */
  #used: number;
  #at: number;
  /** Most that calls of unknown outcome may add at any time. */
  #unknown = 0;

  /** @param beganBy latest begin of the trace, ms since the epoch */
  constructor(envelope: Envelope, beganBy: number) {
    this.#envelope = envelope;
    this.#used = envelope.room;
    this.#at = beganBy;
    this.knownFrom = beganBy + envelope.room / envelope.perMs;
  }

  add({ from, to, most }: UnreadCall): number {
    const { room, perMs } = this.#envelope;
    if (to > this.#at) {
      this.#used = Math.max(0, this.#used - perMs * (to - this.#at) * (1 - driftShare));
      this.#at = to;
    }
    // It was decided before its answer came, when less had come back.
    const used = this.#used + perMs * (this.#at - from) + this.#unknown;
    this.#used = Math.min(room, this.#used + most);
    return used;
  }

  addUnknown(most: number): void {
    this.#unknown += most;
  }
}
