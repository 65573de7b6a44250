// Asks a stranger's limiter in virtual time: tells it the time, guards against its mistakes, and waits only if it
// returns a promise.
import type { LimiterAdapter, LimiterFactory } from "../../src/engine/adapter.ts";
import type { Mistake } from "../../src/engine/answer-form.ts";
import { after, answered, type Eventually, tellTime } from "../../src/engine/asking.ts";

/** The process's clock and timers, as a limiter that reads them sees them. */
export interface LimiterClock {
  /** Moves the clock. The timers that fall due run before the result settles. */
  set(nowMs: number): Eventually<unknown>;
  /** Runs a limiter's code with this clock in place of the process's, until its result has settled. */
  during<T>(run: () => T): T;
  /** Forgets the timers of a limiter that is no longer used. */
  clear?(): void;
}

export class LimiterAsker {
  readonly #factory: LimiterFactory;
  readonly #limiter: LimiterAdapter;
  readonly #clock: LimiterClock | undefined;

  constructor(factory: LimiterFactory, limiter: LimiterAdapter, clock: LimiterClock | undefined) {
    this.#factory = factory;
    this.#limiter = limiter;
    this.#clock = clock;
  }

  /** Tells the time to all clocks that the limiter may read. */
  tellTime(nowMs: number): Eventually<unknown> {
    const moved = this.#clock?.set(nowMs);
    return after(moved, () => after(tellTime(this.#factory, nowMs), () => tellTime(this.#limiter, nowMs)));
  }

  /** Asks, and checks the form of the answer: a simulation must count numbers, and never a NaN. */
  answered<T>(
    name: string,
    args: readonly unknown[],
    mistake: Mistake,
    run: () => T | PromiseLike<T>,
  ): Eventually<T> {
    const clock = this.#clock;
    return answered(name, args, mistake, clock === undefined ? run : () => clock.during(run));
  }
}
