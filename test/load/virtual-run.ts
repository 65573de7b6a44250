// A run by Node in time of the test's own: its timers may be over early, as Node's are, and its network is a function.
import { setImmediate } from "node:timers/promises";
import type { Dispatcher } from "undici";
import type { openDispatcher } from "../../src/connect/connection.ts";
import { keepParts, type NodeOutcome } from "../../src/load/by-node.ts";
import type { Caller } from "../../src/load/callers.ts";
import { driveHere } from "../../src/load/node/run.ts";
import type { RunClock } from "../../src/load/node/scheduler.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";

/** A clock that stands still until it is told to go on. */
export class VirtualClock implements RunClock {
  #nowMs: number;
  /** Timers are over so many ms before their time. */
  readonly #earlyMs: number;
  #timers: { readonly atMs: number; readonly action: () => void }[] = [];
  /** The most timers that were set by `wake` at a time. */
  timersMost = 0;
  #woken = 0;

  constructor(nowMs: number, earlyMs = 0) {
    this.#nowMs = nowMs;
    this.#earlyMs = earlyMs;
  }

  now(): number {
    return this.#nowMs;
  }

  wake(ms: number, action: () => void): () => void {
    this.#woken += 1;
    this.timersMost = Math.max(this.timersMost, this.#woken);
    const cancel = this.after(ms > this.#earlyMs ? ms - this.#earlyMs : ms, () => {
      this.#woken -= 1;
      action();
    });
    return () => {
      this.#woken -= 1;
      cancel();
    };
  }

  /** Calls `action` in so many ms exactly. */
  after(ms: number, action: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  /** Time passes, and nothing happens: the process stands still. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  /** Goes on to the next timer. @returns whether there was one */
  next(): boolean {
    const next = this.#timers.toSorted((a, b) => a.atMs - b.atMs)[0];
    if (next === undefined) return false;
    this.#timers = this.#timers.filter((one) => one !== next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.action();
    return true;
  }

  /** Lets time pass until a promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    promise.then(settled, settled);
    while (!isSettled) {
      await setImmediate();
      this.next();
    }
    return promise;
  }
}

/** Answer of the test's own network to a call. */
export interface VirtualAnswer {
  readonly afterMs: number;
  /** `null`: never. */
  readonly status: number | null;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

export interface VirtualNetwork {
  readonly open: typeof openDispatcher;
  /** Calls on the way, the most of them at a time. */
  most(): number;
}

/** A network in place of HTTP: calls leave at once, and are answered as `answer` says, or as `instead` does it. */
export function virtualNetwork(
  clock: VirtualClock,
  answer: (call: Dispatcher.DispatchOptions, number: number) => VirtualAnswer,
  instead?: Dispatcher["dispatch"],
): VirtualNetwork {
  let number = 0;
  let onTheWay = 0;
  let most = 0;
  const dispatch = (call: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const { afterMs, status, headers = {}, body = "" } = answer(call, number++);
    let isOver = false;
    const over = (): boolean => {
      if (isOver) return false;
      isOver = true;
      onTheWay -= 1;
      return true;
    };
    onTheWay += 1;
    most = Math.max(most, onTheWay);
    const controller: Dispatcher.DispatchController = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      rawTrailers: null,
      pause: () => {},
      resume: () => {},
      abort: (reason) => void (over() && handler.onResponseError?.(controller, reason)),
    };
    handler.onRequestStart?.(controller, null);
    if (status !== null)
      clock.after(afterMs, () => {
        if (!over()) return;
        handler.onResponseStart?.(controller, status, headers);
        handler.onResponseData?.(controller, Buffer.from(body));
        handler.onResponseEnd?.(controller, {});
      });
    return true;
  };
  // Nothing else of a dispatcher is used.
  const dispatcher = { dispatch: instead ?? dispatch, destroy: async () => {} } as unknown as Dispatcher;
  return { open: () => dispatcher, most: () => most };
}

/** Runs a scenario's clients in this time, against this network, into a trace. */
export function runVirtually(
  scenario: Scenario,
  {
    clock,
    open,
    ...options
  }: Pick<VirtualNetwork, "open"> & {
    readonly clock: VirtualClock;
    readonly callers: readonly (readonly Caller[])[];
    readonly base: string;
    readonly timeoutMs: number;
    readonly trace: string;
    readonly graphqlUrl?: string | undefined;
  },
): Promise<NodeOutcome> {
  const { trace, callers, base, timeoutMs, graphqlUrl = "http://127.0.0.1:1/v1/graphql" } = options;
  const { name, seed, durationMs, startAtMs, rules } = scenario;
  const startedAt = clock.now();
  const head = {
    format: "spillway-trace",
    version: 1,
    source: "node",
    scenario: name,
    seed,
    target: null,
    startedAt,
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    rules: null,
    complete: true,
  } as const;
  const task = {
    changes: { seed, durationMs, startAtMs, rules },
    settings: { shared: false, callers, base, graphqlUrl },
    timeoutMs,
    startedAt,
  };
  const run = keepParts({ trace, head }, (signal) => driveHere(scenario, task, { signal, clock, open }));
  return clock.until(run);
}
