// The probe's hand on the target: makes calls within the budget, keeps each with its answer, and stops at the
// first sign that it is not wanted. No reasoning here.
import { setTimeout as wait } from "node:timers/promises";
import { NoAnswer } from "../connect/no-answer.ts";
import { openSender, type Send, type SendOptions } from "../connect/send.ts";
import type { Scope } from "../rules/rules.ts";
import { isFailure, REFUSED } from "../wire/outcome.ts";
import { isLimiters, readAnswer, type SeenCall } from "./seen.ts";

/** Allowance of a probe: the most that it may use. */
export interface Allowance {
  /** Calls that may count: all but GET of the status. */
  readonly calls: number;
  /** GraphQL points asked for, all queries together. */
  readonly points: number;
  /** Free calls of the status. */
  readonly statusCalls: number;
  /** Waiting for windows to end, ms, all waits together. */
  readonly waitMs: number;
}

/** The probe's way to the world; tests give their own. */
export interface Surroundings extends SendOptions {
  /** Makes the calls in place of HTTP. */
  readonly send?: Send | undefined;
  /** ms since the epoch. */
  readonly now?: (() => number) | undefined;
  readonly sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
}

/** Reason why the probe ended before its end. What it saw until then is kept. */
export class Stopped extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "Stopped";
  }
}

/** Step that the probe is at, for people. */
export interface ProbeProgress {
  readonly doing: string;
  /** Until when it waits, ms since the epoch; `null` where it does not. */
  readonly untilMs: number | null;
  readonly calls: number;
  readonly statusCalls: number;
  /** Of what it may wait, ms. */
  readonly waitLeftMs: number;
}

export interface SessionOptions extends Surroundings {
  /** Without a slash at the end. */
  readonly base: string;
  readonly graphqlUrl: string;
  /** The organization's slug. */
  readonly organization: string;
  readonly token: string;
  readonly user: string | null;
  readonly allowance: Allowance;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ProbeProgress) => void) | undefined;
}

/** A call that may count. */
export interface Action {
  readonly what: string;
  readonly scope: Scope;
  readonly method: "GET" | "HEAD" | "POST";
  /** From the slash on; `null` is the GraphQL URL. */
  readonly path: string | null;
  readonly body?: string;
  /** Requested points, where it is a query. */
  readonly points?: number;
  /** The rules let it count nowhere (SPEC.md §1): HEAD of the status. */
  readonly isExempt?: true;
}

/** `what` of GET of the status. */
export const STATUS = "GET status";
/** In a row; beyond it nothing will come of going on. */
const silentMost = 2;
const brokenMost = 12;
/** A status call is free: it is tried again after a 5xx. */
const statusTries = 6;
const pauseAfterBrokenMs = 200;

export class ProbeSession {
  readonly calls: SeenCall[] = [];
  readonly used = { calls: 0, points: 0, statusCalls: 0, waitMs: 0 };
  readonly options: SessionOptions;
  readonly #send: Send;
  readonly #now: () => number;
  readonly #sleep: NonNullable<Surroundings["sleep"]>;
  #silent = 0;
  #broken = 0;
  #welcome = false;

  constructor(options: SessionOptions) {
    this.options = options;
    this.#send = options.send ?? openSender(options).send;
    this.#now = options.now ?? Date.now;
    this.#sleep =
      options.sleep ?? ((ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }));
  }

  now(): number {
    return this.#now();
  }

  /** @param waitMs how long it will take, where that is known */
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

  get statusPath(): string {
    return `/v2/organizations/${encodeURIComponent(this.options.organization)}/rate_limit`;
  }

  /** Forgets all but the last calls: who only looks on, for hours, needs no more. */
  forget(keep: number): void {
    this.calls.splice(0, Math.max(0, this.calls.length - keep));
  }

  /** A breath between calls: no wait for a window. */
  async pause(ms: number): Promise<void> {
    this.options.signal?.throwIfAborted();
    if (ms > 0) await this.#sleep(ms, this.options.signal);
    this.options.signal?.throwIfAborted();
  }

  /** Waits for a window; `false`, at once, where the allowance is too small. */
  async wait(ms: number): Promise<boolean> {
    if (ms > this.left.waitMs) return false;
    this.used.waitMs += Math.max(0, ms);
    await this.pause(ms);
    return true;
  }

  /** GET of the status; `null` where no more are allowed or none came that can be read. */
  async status(): Promise<SeenCall | null> {
    for (let attempt = 0; attempt < statusTries; attempt++) {
      if (this.left.statusCalls <= 0) return null;
      this.used.statusCalls += 1;
      const seen = await this.#make(
        { what: STATUS, scope: "rest", method: "GET", path: this.statusPath },
        true,
      );
      if (seen.status === 200) this.#welcome = true;
      if (seen.status !== 0 && seen.status < 500) return seen;
      if (this.#silent >= silentMost) return null;
      await this.pause(pauseAfterBrokenMs);
    }
    return null;
  }

  /** Makes a call that may count; `null`, and no call, where the allowance is too small. */
  async act(action: Action): Promise<SeenCall | null> {
    const { points = 0 } = action;
    if (this.left.calls < 1 || this.left.points < points) return null;
    this.used.calls += 1;
    this.used.points += points;
    return await this.#make(action, false);
  }

  async #make(action: Action, isStatus: boolean): Promise<SeenCall> {
    const { signal, base, graphqlUrl, token, user } = this.options;
    signal?.throwIfAborted();
    const { method, path, body, scope, what } = action;
    const sent = {
      number: this.calls.length + 1,
      what,
      user,
      scope,
      isStatus,
      isExempt: isStatus || action.isExempt === true,
      points: action.points ?? null,
      sentMs: this.now(),
    };
    const url = path === null ? graphqlUrl : `${base}${path}`;
    let error: string | null = null;
    const got = await this.#send({ method, url, token, body }, signal).catch((cause: unknown) => {
      if (!(cause instanceof NoAnswer)) throw cause;
      error = cause.reason;
      return null;
    });
    const seen = readAnswer(sent, got, this.now(), error, token);
    this.calls.push(seen);
    this.#heed(seen, isStatus);
    return seen;
  }

  /** Stops where the target shows that it will not, or should not, be asked more. */
  #heed(seen: SeenCall, isStatus: boolean): void {
    const { status, number, what, error } = seen;
    this.#silent = status === 0 ? this.#silent + 1 : 0;
    this.#broken = isFailure(status) ? this.#broken + 1 : 0;
    const it = `call ${number} (${what})`;
    if (!this.#welcome) return;
    if (this.#silent >= silentMost)
      throw new Stopped(`${this.#silent} calls in a row had no answer, the last was ${it}: ${error}`);
    if (this.#broken >= brokenMost)
      throw new Stopped(`${this.#broken} calls in a row were answered ${status}, the last was ${it}`);
    if (status === 401) throw new Stopped(`${it} was answered 401: the token is no longer taken`);
    if (status >= 300 && status < 400)
      throw new Stopped(`${it} was answered ${status}, a redirect: none is followed`);
    const unwelcome = isStatus ? [403, 404, REFUSED] : isLimiters(seen) ? [] : [403, REFUSED];
    if (unwelcome.includes(status))
      throw new Stopped(
        isStatus
          ? `${it} was answered ${status}, where earlier ones were answered 200`
          : `${it} was answered ${status} with no rate limit header, as firewalls do`,
      );
  }
}
