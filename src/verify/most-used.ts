// The most that a bucket can have used at some instant, in a complete trace: all of it at the trace's begin, less what
// came back since, and each call's charge from its answer on; beside it, calls that were under way. Those are known once
// all calls were seen, so that claims wait.
import type { Envelope } from "../policy/envelope.ts";
import { driftShare } from "./clock.ts";
import type { UnreadCall } from "./unread.ts";

/** Number of claims that wait for later calls. */
const waitingMost = 1000;

/** Something that is wrong unless later calls explain it. */
interface Claim {
  /** Latest instant that it speaks of. */
  readonly to: number;
  /** Most that can have been used then. */
  used: number;
}

export class MostUsed<C extends Claim> {
  /** Claims that wait, each with the calls so far. */
  readonly claims: C[] = [];
  /** Instant from which on nothing is left of what was used before the trace. */
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

  /** Adds a call. Returns the most that can have been used while it was decided by calls up to now, without its own. */
  add({ from, to, most }: UnreadCall): number {
    const { room, perMs } = this.#envelope;
    for (const claim of this.claims) if (from <= claim.to) claim.used += most;
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
    for (const claim of this.claims) claim.used += most;
  }

  claim(claim: C): void {
    if (this.claims.length < waitingMost) this.claims.push(claim);
  }
}
