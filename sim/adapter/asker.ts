// Asks a stranger's limiter in virtual time: tells it the time, guards against its mistakes, and waits only if it
// returns a promise.
import type { LimiterAdapter, LimiterFactory } from "../../src/engine/adapter.ts";
import { copyOf, isObject, type Mistake } from "../../src/engine/answer-form.ts";
import { callText, LimiterFailure, thrown } from "../../src/engine/limiter-failure.ts";
import { quote } from "../../src/rules/errors.ts";

/** A value now, or once a promise has settled. */
export type Eventually<T> = T | Promise<T>;

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  (typeof value === "object" || typeof value === "function") &&
  value !== null &&
  typeof (value as { then?: unknown }).then === "function";

/** Goes on with a value, at once if it is there, so that a synchronous limiter stays synchronous. */
export function after<T, U>(value: T | PromiseLike<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** The process's clock and timers, as a limiter that reads them sees them. */
export interface LimiterClock {
  /** Moves the clock. The timers that fall due run before the result settles. */
  set(nowMs: number): Eventually<unknown>;
  /** Runs a limiter's code with this clock in place of the process's, until its result has settled. */
  during<T>(run: () => T): T;
  /** Forgets the timers of a limiter that is no longer used. */
  clear?(): void;
}

/** Runs code of the limiter's. The error of a throw or a rejection names the call. */
export function guarded<T>(
  name: string,
  args: readonly unknown[],
  run: () => T | PromiseLike<T>,
): Eventually<T> {
  const failed = (cause: unknown): never => {
    throw new LimiterFailure(callText(name, args), thrown(cause), "an answer", cause);
  };
  try {
    const answer = run();
    return isThenable(answer) ? Promise.resolve(answer).catch(failed) : answer;
  } catch (cause) {
    return failed(cause);
  }
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
    return after(moved, () =>
      after(tellFactory(this.#factory, nowMs), () => {
        const { setNow } = this.#limiter;
        return setNow && guarded("setNow", [nowMs], () => setNow.call(this.#limiter, nowMs));
      }),
    );
  }

  /** Asks, and checks the form of the answer: a simulation must count numbers, and never a NaN. */
  answered<T>(
    name: string,
    args: readonly unknown[],
    mistake: Mistake,
    run: () => T | PromiseLike<T>,
  ): Eventually<T> {
    const clock = this.#clock;
    const answer = guarded(name, args, clock === undefined ? run : () => clock.during(run));
    return after(answer, (value) => {
      const copy = isObject(value) ? (copyOf(value) as T) : value;
      const wrong = mistake(copy);
      if (wrong === null) return copy;
      const [path, got, allowed] = wrong;
      throw new LimiterFailure(callText(name, args), `${path} = ${quote(got)}`, allowed);
    });
  }

  /** Copies a value that is promised to be plain JSON. Live references in it do not survive. */
  throughJson(what: string, value: unknown): unknown {
    try {
      return JSON.parse(JSON.stringify(value ?? null));
    } catch (cause) {
      throw new LimiterFailure("decide(...)", `${what}: ${thrown(cause)}`, "plain JSON", cause);
    }
  }
}

/** Sets the clock that all limiters of this kind read. */
export function tellFactory(factory: LimiterFactory, nowMs: number): Eventually<unknown> {
  const { setNow } = factory;
  return setNow && guarded("setNow", [nowMs], () => setNow.call(factory, nowMs));
}
