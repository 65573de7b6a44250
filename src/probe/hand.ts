// The hand of any probe: makes calls, waits within an allowance, and reports its progress. It draws no conclusions.
import { setTimeout as wait } from "node:timers/promises";
import { type Ask, openSender, type Send, type SendOptions, sendOnce } from "../connect/send.ts";
import { SpillwayError } from "../rules/errors.ts";

/** Allowance of a probe: the most that it may use. */
export interface Allowance {
  /** Calls that may count: all but GET of the status. */
  readonly calls: number;
  /** Requested GraphQL points of all queries together; 0 in a probe by a policy. */
  readonly points: number;
  /** Free calls of the status. */
  readonly statusCalls: number;
  /** Time of all waits for windows together, ms. */
  readonly waitMs: number;
}

/** A probe's access to network and time; tests give their own. */
export interface Surroundings extends SendOptions {
  /** Makes the calls in place of HTTP. */
  readonly send?: Send | undefined;
  /** Returns the time, ms since the epoch. */
  readonly now?: (() => number) | undefined;
  readonly sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
}

/** Waits for a time, ms, by the real clock. */
export const pause: NonNullable<Surroundings["sleep"]> = (ms, signal) => wait(ms, undefined, { signal });

/** Reason why the probe stopped early. What it saw until then is kept. */
export class Stopped extends Error {}

/** End of a probe: `whole`, `interrupted`, or the reason why it stopped. */
export type ProbeEnd = "whole" | "interrupted" | { readonly stopped: string };

/** The probe's current step, for people. */
export interface ProbeProgress {
  readonly doing: string;
  /** Time until which it waits, ms since the epoch; `null` if it does not wait. */
  readonly untilMs: number | null;
  readonly calls: number;
  readonly statusCalls: number;
  /** Rest of the time that it may wait, ms. */
  readonly waitLeftMs: number;
}

export interface HandOptions extends Surroundings {
  readonly allowance: Allowance;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ProbeProgress) => void) | undefined;
}

/** @typeParam C a call with its answer */
export class Hand<O extends HandOptions, C> {
  readonly calls: C[] = [];
  readonly used = { calls: 0, points: 0, statusCalls: 0, waitMs: 0 };
  readonly options: O;
  readonly #send: Send;

  constructor(options: O) {
    this.options = options;
    this.#send = options.send ?? openSender(options).send;
  }

  now(): number {
    return (this.options.now ?? Date.now)();
  }

  /** Reports a step. @param waitMs time that it will take, if known */
  say(doing: string, waitMs: number | null = null): void {
    const { calls, statusCalls } = this.used;
    const untilMs = waitMs === null ? null : this.now() + waitMs;
    this.options.onProgress?.({ doing, untilMs, calls, statusCalls, waitLeftMs: this.left.waitMs });
  }

  /** Rest of the allowance. */
  get left(): Allowance {
    const { calls, points, statusCalls, waitMs } = this.options.allowance;
    const { used } = this;
    return {
      calls: calls - used.calls,
      points: points - used.points,
      statusCalls: statusCalls - used.statusCalls,
      waitMs: waitMs - used.waitMs,
    };
  }

  /** Pauses between calls, without waiting for a window. */
  async pause(ms: number): Promise<void> {
    const { signal, sleep = pause } = this.options;
    signal?.throwIfAborted();
    if (ms > 0) await sleep(ms, signal);
    signal?.throwIfAborted();
  }

  /** Waits for a window; returns `false` at once if the allowance is too small. */
  async wait(ms: number): Promise<boolean> {
    if (ms > this.left.waitMs) return false;
    this.used.waitMs += Math.max(0, ms);
    await this.pause(ms);
    return true;
  }

  protected async ask(ask: Ask): ReturnType<typeof sendOnce> {
    this.options.signal?.throwIfAborted();
    return await sendOnce(this.#send, ask, this.options.signal);
  }

  /** Runs a whole probe. @returns how it ended */
  async ended(probe: () => Promise<void>): Promise<ProbeEnd> {
    try {
      await probe();
      return "whole";
    } catch (error) {
      if (error instanceof Stopped) return { stopped: error.message };
      if (this.options.signal?.aborted === true && !(error instanceof SpillwayError)) return "interrupted";
      throw error;
    }
  }
}

/** Returns the first members of the header of a probe's trace. */
export const traceHead = <V extends 1 | 2>(version: V, target: string, startedAt: number) =>
  ({
    format: "spillway-trace",
    version,
    source: "other",
    scenario: "probe",
    seed: null,
    target: new URL(target).origin,
    startedAt,
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
  }) as const;
