// The seam of calls that overlap: every call of the store waits until fast-check's scheduler lets it, so that
// the same seed gives the same interleaving, whatever the limiter awaits.
import type fc from "fast-check";
import type { Seam } from "../engine/adapter.ts";
import { chainedCall } from "./chained-call.ts";

/** Methods that change nothing in the store: who calls them relies on their being done at once. */
const atOnce: ReadonlySet<string | symbol> = new Set([
  "on",
  "once",
  "off",
  "addListener",
  "removeListener",
  "removeAllListeners",
  "emit",
  "defineCommand",
  "duplicate",
]);

/** Words of an argument in a step are cut off here. */
const wordsMost = 40;

export class Weave implements Seam {
  /** Steps that were let in, in their order: `call 1: get("acme/ann")`. */
  readonly steps: string[] = [];
  readonly #scheduler: fc.Scheduler;
  /** Whose code runs: set when a call starts, and when a step of it goes on. */
  #running: number | null = null;
  /** Calls are under way. Before and after, a store is set up and closed, and nobody is in between. */
  #overlapping = false;
  /** Steps that are still to be let in before the clock moves, and what moves it. */
  #ticking: { left: number; readonly label: string; readonly tick: () => Promise<void> } | null = null;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Moves the clock once, before the given step from now: while calls are under way. */
  tickBefore(step: number, label: string, tick: () => Promise<void>): void {
    this.#ticking = { left: step, label, tick };
  }

  /**
   * Runs calls that overlap.
   * @param together all start at once; else each starts when the scheduler lets it
   */
  async overlap<T>(calls: readonly { id: number; run: () => Promise<T> }[], together: boolean): Promise<T[]> {
    this.#overlapping = true;
    const started = calls.map(({ id, run }) => {
      const start = (): Promise<T> => {
        this.#running = id;
        return run();
      };
      return together ? start() : this.#step(id, "arrives").then(start);
    });
    return this.#scheduler.waitFor(settled(started)).finally(() => {
      this.#overlapping = false;
    });
  }

  over<S extends object>(store: S): S {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function" || name === "constructor") return member;
        return (...args: unknown[]): unknown => {
          if (!this.#overlapping || atOnce.has(name)) return member.apply(target, args);
          const step = this.#step(this.#running, `${String(name)}(${args.map(words).join(", ")})`);
          return chainedCall(() => step.then(() => ({ value: member.apply(target, args) as unknown })));
        };
      },
    });
  }

  async pause(label = "pause"): Promise<void> {
    if (this.#overlapping) await this.#step(this.#running, label);
  }

  async #step(id: number | null, label: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), label);
    const ticking = this.#ticking;
    if (ticking !== null) {
      ticking.left -= 1;
      if (ticking.left === 0) {
        this.#ticking = null;
        await ticking.tick();
        this.steps.push(ticking.label);
      }
    }
    this.#running = id;
    this.steps.push(id === null ? label : `call ${id}: ${label}`);
  }
}

/** All of them, and the first that rejected only when none is under way any more. */
async function settled<T>(started: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(started);
  return Promise.all(started);
}

function words(value: unknown): string {
  const text = typeof value === "function" ? "function" : (JSON.stringify(value) ?? String(value));
  return text.length <= wordsMost ? text : `${text.slice(0, wordsMost)}...`;
}
