// The actions that are due, for all clients of a run: one queue, and one timer that is set for the first of it.
import TinyQueue from "tinyqueue";

/** The clock and the timer of a run. */
export interface RunClock {
  /** Whole ms since the epoch. */
  now(): number;
  /** Calls `action` in so many ms, give or take one. @returns what ends the wait */
  wake(ms: number, action: () => void): () => void;
}

export const wallClock: RunClock = {
  now: Date.now,
  wake(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

interface Entry {
  readonly atMs: number;
  /** Ties come out in the order in which they were planned. */
  readonly order: number;
  readonly action: () => void;
}

/** A longer wait overflows Node's timers, which are over at once then. */
const waitMostMs = 2 ** 31 - 1;

export class Scheduler {
  readonly #clock: RunClock;
  readonly #queue = new TinyQueue<Entry>([], (a, b) => a.atMs - b.atMs || a.order - b.order);
  #planned = 0;
  /** Time that the timer is set for, ms since the epoch. */
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | null = null;
  #isWaking = false;
  #isClosed = false;

  constructor(clock: RunClock) {
    this.#clock = clock;
  }

  /** Calls `action` at that instant of the clock or later, never before it, and never at once. */
  at(atMs: number, action: () => void): void {
    this.#queue.push({ atMs, order: this.#planned++, action });
    if (!this.#isWaking) this.#setTimer();
  }

  /** Nothing is called any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancel = null;
  }

  #setTimer(): void {
    const first = this.#queue.peek();
    if (first === undefined || this.#isClosed || first.atMs >= this.#wakeAtMs) return;
    this.#cancel?.();
    this.#wakeAtMs = first.atMs;
    const waitMs = Math.min(Math.max(0, first.atMs - this.#clock.now()), waitMostMs);
    this.#cancel = this.#clock.wake(waitMs, () => this.#wake());
  }

  /** A timer may be over up to 1 ms before its time: the clock decides, and what is not due is waited for again. */
  #wake(): void {
    this.#cancel = null;
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#isWaking = true;
    // Actions that they plan for now wait for the next turn: the network must have one, too.
    for (const { action } of this.#takeDue()) if (!this.#isClosed) action();
    this.#isWaking = false;
    this.#setTimer();
  }

  #takeDue(): Entry[] {
    const nowMs = this.#clock.now();
    const due: Entry[] = [];
    for (
      let first = this.#queue.peek();
      first !== undefined && first.atMs <= nowMs;
      first = this.#queue.peek()
    ) {
      due.push(first);
      this.#queue.pop();
    }
    return due;
  }
}
