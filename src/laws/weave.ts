// The seam of overlapping calls: every store call waits until fast-check's scheduler lets it run, so that
// the same seed gives the same interleaving, whatever the limiter awaits.
import { AsyncLocalStorage } from "node:async_hooks";
import type fc from "fast-check";
import type { Seam } from "../engine/adapter.ts";
import { proxyable } from "../engine/frozen.ts";
import { quote } from "../rules/errors.ts";

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

/** Id of the call whose code runs, also after it waited for a store's answer over the network. */
const running = new AsyncLocalStorage<number>();

export class Weave implements Seam {
  /** Steps in the order in which they ran: `call 1: get("acme/ann")`. */
  readonly steps: string[] = [];
  readonly #scheduler: fc.Scheduler;
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
      const start = (): Promise<T> => running.run(id, run);
      return together ? start() : running.run(id, () => this.#step("arrives")).then(start);
    });
    return this.#scheduler.waitFor(settled(started)).finally(() => {
      this.#overlapping = false;
    });
  }

  over<S extends object>(store: S): S {
    return new Proxy(proxyable(store), {
      get: (_, name) => {
        const member: unknown = Reflect.get(store, name);
        if (typeof member !== "function" || name === "constructor") return member;
        return (...args: unknown[]): unknown => {
          if (!this.#overlapping || atOnce.has(name)) return member.apply(store, args);
          const step = this.#step(`${String(name)}(${args.map(words).join(", ")})`);
          return chainedCall(() => step.then(() => ({ value: member.apply(store, args) as unknown })));
        };
      },
    });
  }

  async pause(label = "pause"): Promise<void> {
    if (this.#overlapping) await this.#step(label);
  }

  async #step(label: string): Promise<void> {
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
    const id = running.getStore();
    this.steps.push(id === undefined ? label : `call ${id}: ${label}`);
  }
}

/** Waits until all calls have settled, then returns their results or throws the first error. */
async function settled<T>(started: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(started);
  return Promise.all(started);
}

function words(value: unknown): string {
  const text = value === undefined ? "undefined" : quote(value);
  return text.length <= wordsMost ? text : `${text.slice(0, wordsMost)}...`;
}

// A store call that runs later: its caller gets a promise of the answer, on which further calls can be chained before
// the first has run. So `redis.multi().incr(key).exec()` is built at once, and runs as one step.

/** Box for a call's result: a query builder has a `then`, so a promise of the bare builder would send its query. */
interface Box {
  readonly value: unknown;
}

const promiseNames: ReadonlySet<string | symbol> = new Set(["then", "catch", "finally"]);

/**
 * Makes a promise of a call's answer. Any method other than a promise's is called on the result, once it is there.
 * @param run makes the call, when its turn among others comes
 */
function chainedCall(run: () => Promise<Box>): unknown {
  const made = run();
  // The error reaches whoever awaits the answer. A link that nobody awaits would make it an unhandled rejection.
  made.catch(() => {});
  let answer: Promise<unknown> | null = null;
  return new Proxy(made, {
    get(target, name) {
      if (promiseNames.has(name))
        return (...handlers: never[]): unknown => {
          // Made only when somebody asks: what the box holds may be a query, which `then` would send.
          answer ??= made.then(({ value }) => value);
          return answer[name as "then"](...handlers);
        };
      if (typeof name === "symbol" || name in target) return Reflect.get(target, name, target);
      return (...args: unknown[]) =>
        chainedCall(() => made.then(({ value }) => ({ value: called(value, name, args) })));
    },
  });
}

function called(value: unknown, name: string, args: readonly unknown[]): unknown {
  const member: unknown = (value as Record<string, unknown> | null | undefined)?.[name];
  if (typeof member !== "function") throw new TypeError(`${name} is no method of what the store gave`);
  return member.apply(value, args);
}
