// Enforcement of limits, and when it is known (FORMAT.md, "Rules"): `enforced` is constant unless two status bodies
// differ, and nothing is judged between them. The rules count as one more body, before all others.

/** Consecutive bodies that agree. */
interface Run {
  readonly enforced: boolean;
  /** Earliest and latest receipt: the first body was read by the one, and all bodies by the other. */
  firstReceived: number;
  lastReceived: number;
  /** Latest sending: the last body was read after it. */
  lastSent: number;
}

export class Enforcement {
  readonly #claimed: boolean | null;
  /** Runs in the order in which they were read, which is almost that of time. */
  readonly #runs: Run[] = [];
  #isSorted = true;

  /** @param claimed value that the rules say; `null` without rules */
  constructor(claimed: boolean | null) {
    this.#claimed = claimed;
  }

  /** True if limits were enforced at some time: by all bodies so far, or by the rules if there are none. */
  get wasOn(): boolean {
    return this.#runs.length === 0 ? this.#claimed === true : this.#runs.some(({ enforced }) => enforced);
  }

  /** Adds a status body that was read at some instant from `sent` to `received`. */
  observe(sent: number, received: number, enforced: boolean): void {
    const last = this.#runs.at(-1);
    if (last?.enforced === enforced) {
      last.firstReceived = Math.min(last.firstReceived, received);
      last.lastReceived = Math.max(last.lastReceived, received);
      last.lastSent = Math.max(last.lastSent, sent);
    } else this.#runs.push({ enforced, firstReceived: received, lastReceived: received, lastSent: sent });
    this.#isSorted = false;
  }

  /** Tells whether the last bodies agree with a value, and one of them was read after an instant. */
  isConfirmed(value: boolean, at: number): boolean {
    const last = this.#runs.at(-1);
    return last !== undefined && last.enforced === value && last.lastSent > at;
  }

  /**
   * Returns the value throughout a span; `null` if it is unknown or may have changed. Ask once all bodies were seen. If
   * differing bodies overlap in time, their order is unknown. Then the value is unknown, too, until a body that is
   * surely later than all of them.
   */
  throughout(from: number, to: number): boolean | null {
    if (!this.#isSorted) this.#runs.sort((a, b) => a.firstReceived - b.firstReceived);
    this.#isSorted = true;
    let value = this.#claimed ?? this.#runs[0]?.enforced ?? null;
    let until = Number.NEGATIVE_INFINITY;
    let seenBy = Number.NEGATIVE_INFINITY;
    for (const { enforced, firstReceived, lastReceived, lastSent } of this.#runs) {
      if (enforced !== value) {
        if (to < Math.min(until, firstReceived)) return value;
        const surelyLater = lastSent > seenBy;
        if (surelyLater && from <= Math.max(seenBy, firstReceived)) return null;
        value = surelyLater ? enforced : null;
      }
      until = Math.max(until, lastSent);
      seenBy = Math.max(seenBy, lastReceived);
    }
    return value;
  }
}
