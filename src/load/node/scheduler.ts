// The actions of all clients of a run: one queue, and one timer that is set for the first action.
import TinyQueue from "tinyqueue";

export interface RunClock {
  /** Returns whole ms since the epoch. */
  now(): number;
  /** Calls `action` after `ms`, give or take 1 ms. @returns a function that ends the wait */
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
  /** Entries of one time come out in the order in which they were planned. */
  readonly order: number;
  readonly action: () => void;
}

/** Longest wait, ms. A longer one overflows Node's timers, which then fire at once. */
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

  /** Calls `action` at `atMs` of the clock or later, but never within this call. */
  at(atMs: number, action: () => void): void {
    this.#queue.push({ atMs, order: this.#planned++, action });
    if (!this.#isWaking) this.#setTimer();
  }

  /** Drops all actions. */
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

  /** Runs what is due. A timer may fire up to 1 ms early, so the clock decides; it is set again for the rest. */
  #wake(): void {
    this.#cancel = null;
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#isWaking = true;
    // Actions that these plan for now wait for the next turn, so that the network gets one, too.
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
