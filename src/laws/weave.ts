// The seam of overlapping calls: every store call waits until fast-check's scheduler lets it run, so that
// the same seed gives the same interleaving, whatever the limiter awaits.
import type fc from "fast-check";
import type { Seam } from "../engine/adapter.ts";
import { chainedCall } from "./chained-call.ts";

/** Methods that change nothing in the store, and whose callers rely on their running at once. */
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

/** Greatest length of an argument's text in a step, characters. */
const wordsMost = 40;

export class Weave implements Seam {
  /** Steps in the order in which they ran: `call 1: get("acme/ann")`. */
  readonly steps: string[] = [];
  readonly #scheduler: fc.Scheduler;
  /** Id of the call whose code runs, set when the call starts and when its step goes on. */
  #running: number | null = null;
  /** True while calls overlap. Before and after, stores are set up and closed, and their calls run at once. */
  #overlapping = false;
  /** Number of steps left until the clock moves, and the function that moves it; `null` if it does not. */
  #ticking: { left: number; readonly label: string; readonly tick: () => Promise<void> } | null = null;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Arranges for the clock to move once, before the given step from now (from 1), while calls are under way. */
  tickBefore(step: number, label: string, tick: () => Promise<void>): void {
    this.#ticking = { left: step, label, tick };
  }

  /**
   * Runs overlapping calls.
   * @param together true to start all at once; else each starts when the scheduler lets it
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

/** Waits until all calls have settled, then returns their results or throws the first error. */
async function settled<T>(started: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(started);
  return Promise.all(started);
}

function words(value: unknown): string {
  const text = typeof value === "function" ? "function" : (JSON.stringify(value) ?? String(value));
  return text.length <= wordsMost ? text : `${text.slice(0, wordsMost)}...`;
}
