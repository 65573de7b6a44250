// The clock that strangers' limiters read while they are simulated or checked. Most of them call `Date.now` and keep
// timers. While one of them runs, and only then, the process's clocks and timers are ours. Code that runs between its
// calls (the simulator, the laws, Redis's client, the test runner) sees the real ones.
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { followClock, replacePromisedTimers, waitByClock } from "./promised-timers.ts";

interface Timer {
  dueMs: number;
  readonly delayMs: number;
  readonly repeats: boolean;
  readonly run: () => void;
}

/** Handle of Node's `setTimeout`, as far as limiters use it. */
class Handle {
  readonly clock: VirtualClock;
  readonly id: number;

  constructor(clock: VirtualClock, id: number) {
    this.clock = clock;
    this.id = id;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return false;
  }

  refresh(): this {
    this.clock.refresh(this.id);
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.id;
  }
}

/** A clock's replacements of the process's globals. They are made once, and installed for each of a limiter's calls. */
interface Fakes {
  readonly globals: object;
  readonly now: () => number;
  readonly hrtime: typeof process.hrtime;
}

/** Node's longest timer, ms. A longer one fires after 1 ms. */
const longestMs = 2_147_483_647;

/** Age of the process when a limiter is made, ms by `performance.now`. */
const ageMs = 86_400_000;

/** Number of turns of the event loop that a limiter may take by short timers. After that it is only awaited. */
const turnsMost = 1_000;

/** Returns an answer, or a promise of it in place of any other object that has a `then`. */
const eventual = <T>(answer: T): T =>
  typeof (answer as { readonly then?: unknown } | null | undefined)?.then === "function"
    ? (Promise.resolve(answer) as T)
    : answer;

export class VirtualClock {
  nowMs = 1_767_225_600_000;
  /** True if no timer fires, as in a process that is frozen between requests (an edge function's). */
  frozen = false;
  /** Start of the process, ms: `performance.now` counts from there. Packages take it for less than 2 ** 32. */
  #originMs = this.nowMs - ageMs;
  readonly #timers = new Map<number, Timer>();
  #lastId = 0;
  #readings = 0;
  #running = 0;
  #restore: () => void = () => {};
  #fakes: Fakes | null = null;

  constructor() {
    replacePromisedTimers();
  }

  /** Moves the clock forward or back, and fires in order the timers that fall due. */
  set(nowMs: number): void {
    if (!this.frozen)
      for (let next = this.#next(nowMs); next !== null; next = this.#next(nowMs)) this.#fire(...next);
    this.nowMs = nowMs;
  }

  /** Moves the clock as `set` does, but each timer's work is done before the next one fires. At once if none is due. */
  advance(nowMs: number): Promise<void> | undefined {
    if (!this.frozen && this.#next(nowMs) !== null) return this.#advanceOver(nowMs);
    this.nowMs = nowMs;
    return undefined;
  }

  #advanceOver(nowMs: number): Promise<void> {
    // What waited for a timer goes on under this clock, too.
    return this.during(async () => {
      let turns = 0;
      for (let next = this.#next(nowMs); next !== null; next = this.#next(nowMs)) {
        this.#fire(...next);
        turns += 1;
        // A short interval may fall due a million times in one step.
        if (turns <= turnsMost) await setImmediate();
      }
      // Work that the last timers began sets its own timers on this clock, too.
      if (turns > turnsMost) await setImmediate();
      this.nowMs = nowMs;
    });
  }

  /**
   * Runs code like `during`, for code that yields to the event loop by timers of 0 or 1 ms. These fire without moving
   * the clock, until the code's promise has settled. Code that waits for a later timer waits for ever.
   */
  yielding<T>(run: () => T): T {
    return this.during(() => {
      const answer = eventual(run());
      if (answer instanceof Promise) this.#yield(answer);
      return answer;
    });
  }

  async #yield(answer: Promise<unknown>): Promise<void> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    answer.then(settle, settle);
    for (let turn = 0; turn < turnsMost; turn += 1) {
      await setImmediate();
      if (settled) return;
      // One at a time: its work is done before the next.
      const [due] = this.#shortOnes();
      if (due !== undefined) this.#fireShort(...due);
    }
  }

  /**
   * Fires the timers that were set to 0 and 1 ms, and does not move the clock: a yield to the event loop. A longer
   * timer that is due in 1 ms does not fire. Call it only while a limiter runs.
   */
  fireShort(): void {
    for (const due of this.#shortOnes()) this.#fireShort(...due);
  }

  #shortOnes(): [number, Timer][] {
    return [...this.#timers].filter(
      ([, { dueMs, delayMs, repeats }]) => !repeats && delayMs <= 1 && dueMs <= this.nowMs + 1,
    );
  }

  #fireShort(id: number, timer: Timer): void {
    if (this.#timers.delete(id)) timer.run();
  }

  /** Begins anew: forgets the timers of a limiter that is no longer asked. */
  clear(): void {
    this.#originMs = this.nowMs - ageMs;
    this.#timers.clear();
    this.#readings = 0;
  }

  #next(untilMs: number): [number, Timer] | null {
    let first: [number, Timer] | null = null;
    for (const entry of this.#timers)
      if (entry[1].dueMs <= untilMs && (first === null || entry[1].dueMs < first[1].dueMs)) first = entry;
    return first;
  }

  #fire(id: number, timer: Timer): void {
    this.nowMs = Math.max(this.nowMs, timer.dueMs);
    if (timer.repeats) timer.dueMs += timer.delayMs;
    else this.#timers.delete(id);
    this.during(timer.run);
  }

  #start(run: () => void, delayMs: number, repeats: boolean): Handle {
    const ms = delayMs >= 1 && delayMs <= longestMs ? Math.trunc(delayMs) : 1;
    this.#lastId += 1;
    this.#timers.set(this.#lastId, { dueMs: this.nowMs + ms, delayMs: ms, repeats, run });
    return new Handle(this, this.#lastId);
  }

  /** Runs code once after a time, ms. Returns a function that cancels it. */
  after(ms: number | undefined, run: () => void): () => void {
    const { id } = this.#start(run, ms ?? 1, false);
    return () => this.#timers.delete(id);
  }

  refresh(id: number): void {
    const timer = this.#timers.get(id);
    if (timer !== undefined) timer.dueMs = this.nowMs + timer.delayMs;
  }

  /**
   * Runs a limiter's code with these clocks and timers in place of the process's, until its result is settled. If
   * several run at once, the process's own return when the last of them is done.
   */
  during<T>(run: () => T): T {
    if (this.#running === 0) this.#restore = this.#install();
    this.#running += 1;
    const done = (): void => {
      this.#running -= 1;
      if (this.#running === 0) this.#restore();
    };
    let answer: T;
    try {
      answer = eventual(run());
    } catch (error) {
      done();
      throw error;
    }
    if (answer instanceof Promise) return answer.finally(done) as T;
    done();
    return answer;
  }

  #install(): () => void {
    const { Date: RealDate, setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
    const { now } = performance;
    const { hrtime } = process;
    this.#fakes ??= this.#fakesOf(RealDate);
    Object.assign(globalThis, this.#fakes.globals);
    performance.now = this.#fakes.now;
    process.hrtime = this.#fakes.hrtime;
    const outer = followClock(this);
    return () => {
      followClock(outer);
      Object.assign(globalThis, { Date: RealDate, setTimeout, setInterval, clearTimeout, clearInterval });
      performance.now = now;
      process.hrtime = hrtime;
    };
  }

  #fakesOf(RealDate: DateConstructor): Fakes {
    const clock = this;
    class FakeDate extends RealDate {
      constructor(...parts: [] | [number | string | Date]) {
        if (parts.length === 0) super(clock.nowMs);
        else super(...(parts as [number]));
      }
      static override now(): number {
        return clock.nowMs;
      }
    }
    // `Date()` without `new` tells the time as a text, which no class does.
    const Dates = new Proxy(FakeDate, { apply: () => new FakeDate().toString() });
    FakeDate.prototype.constructor = Dates;
    const start =
      (repeats: boolean) =>
      (run: (...args: unknown[]) => void, delayMs = 1, ...args: unknown[]): Handle =>
        this.#start(() => run(...args), delayMs, repeats);
    // Node also takes a handle's number, as a number or a text.
    const stop = (handle: unknown): void => {
      if (handle instanceof Handle || typeof handle === "number" || typeof handle === "string")
        this.#timers.delete(Number(handle));
    };
    // The monotonic clock advances a microsecond at each reading, so that no two are equal, as with real clocks.
    const elapsed = (since?: [number, number]): [number, number] => {
      this.#readings += 1;
      const seconds = Math.floor(this.nowMs / 1000);
      const nanos = (this.nowMs % 1000) * 1_000_000 + this.#readings * 1000;
      if (since === undefined) return [seconds, nanos];
      const total = (seconds - since[0]) * 1_000_000_000 + nanos - since[1];
      const whole = Math.floor(total / 1_000_000_000);
      return [whole, total - whole * 1_000_000_000];
    };
    const bigint = (): bigint => {
      const [seconds, nanos] = elapsed();
      return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
    };
    return {
      globals: {
        Date: Dates,
        setTimeout: Object.assign(start(false), { [promisify.custom]: waitByClock }),
        setInterval: start(true),
        clearTimeout: stop,
        clearInterval: stop,
      },
      now: () => this.nowMs - this.#originMs,
      hrtime: Object.assign(elapsed, { bigint }),
    };
  }
}
