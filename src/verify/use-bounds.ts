// The least and the most that is used of a count without windows, at the instants of a call.
import type { UnreadCall } from "./unread.ts";

/** Number of claims that wait for later calls. */
const waitingMost = 1000;

/** Something that is wrong unless later calls explain it. */
export interface Claim {
  /** Latest instant that it speaks of. */
  readonly to: number;
  /** Most that can have been used then. */
  used: number;
}

/** The least that is used. It needs no complete trace. */
export interface LeastUsed {
  /** Adds a call. Returns the least that is used at some instant of it, once it was charged; 0 where nothing is known. */
  add(call: UnreadCall): number;
}

/** The most that can be used, in a complete trace. */
export interface MostUsed {
  /** Instant from which on nothing is left of what was used before the trace. */
  readonly knownFrom: number;
  /** Adds a call. Returns the most that can have been used while it was decided by calls up to now, without its own. */
  add(call: UnreadCall): number;
  /** Adds a call of unknown outcome, which may be charged at any time. */
  addUnknown(most: number): void;
}

/** Claims on what can be used at most. Calls under way are known once all calls were seen, so that claims wait. */
export class Claims<C extends Claim> {
  readonly all: C[] = [];
  readonly bounds: MostUsed;

  constructor(bounds: MostUsed) {
    this.bounds = bounds;
  }

  /** As `MostUsed.add`. What is charged while a claim was decided is put to the claim. */
  add(call: UnreadCall): number {
    for (const claim of this.all) if (call.from <= claim.to) claim.used += call.most;
    return this.bounds.add(call);
  }

  addUnknown(most: number): void {
    for (const claim of this.all) claim.used += most;
    this.bounds.addUnknown(most);
  }

  claim(claim: C): void {
    if (this.all.length < waitingMost) this.all.push(claim);
  }
}

/** Charges by time: those of calls that were surely over, once a later call is sent. */
export class CallsUnderWay {
  #underWay: UnreadCall[] = [];
  #over = Number.NEGATIVE_INFINITY;

  /**
   * Adds a call. Tells those that were surely over when it was sent, each once.
   * @returns false for a call that was sent before one that was added earlier: of that one, more calls were over
   */
  add(call: UnreadCall, onOver: (over: UnreadCall) => void): boolean {
    const isNext = call.from >= this.#over;
    if (isNext) {
      this.#over = call.from;
      const later: UnreadCall[] = [];
      for (const each of this.#underWay)
        if (each.to <= call.from) onOver(each);
        else later.push(each);
      this.#underWay = later;
    }
    if (call.least > 0) this.#underWay.push(call);
    return isNext;
  }
}
