// The hand of a probe by rules: keeps each call with its answer, and stops at the first sign that it is unwelcome. It
// draws no conclusions.
import type { Scope } from "../rules/rules.ts";
import { isFailure, isRedirect, REFUSED } from "../wire/outcome.ts";
import { Hand, type HandOptions, Stopped } from "./hand.ts";
import { isLimiters, readAnswer, type SeenCall } from "./seen.ts";

export interface SessionOptions extends HandOptions {
  /** URL without a slash at the end. */
  readonly base: string;
  readonly graphqlUrl: string;
  /** Slug of the organization. */
  readonly organization: string;
  readonly token: string;
  readonly user: string | null;
}

/** A call that may count. */
export interface Action {
  readonly what: string;
  readonly scope: Scope;
  readonly method: "GET" | "HEAD" | "POST";
  /** Path from the slash on; `null` for the GraphQL URL. */
  readonly path: string | null;
  readonly body?: string;
  /** Requested points of a query. */
  readonly points?: number;
  /** True if the rules count it nowhere (SPEC.md §1): HEAD of the status. */
  readonly isExempt?: true;
}

/** A query, with its points. */
export type QueryAction = Action & { readonly points: number };

/** `what` of a GET of the status. */
export const STATUS = "GET status";
/** Numbers of calls in a row without answer, and answered 5xx, that end the probe. */
const silentMost = 2;
const brokenMost = 12;
/** Number of tries of a status call after 5xx answers: it is free. */
const statusTries = 6;
const pauseAfterBrokenMs = 200;

export class ProbeSession extends Hand<SessionOptions, SeenCall> {
  #silent = 0;
  #broken = 0;
  #welcome = false;

  get statusPath(): string {
    return `/v2/organizations/${encodeURIComponent(this.options.organization)}/rate_limit`;
  }

  /** Forgets all but the last calls: watching for hours needs no more. */
  forget(keep: number): void {
    this.calls.splice(0, this.calls.length - keep);
  }

  /** Makes a GET of the status; returns `null` if the allowance is used up or no readable answer came. */
  async status(): Promise<SeenCall | null> {
    for (let attempt = 0; attempt < statusTries; attempt++) {
      if (this.left.statusCalls <= 0) return null;
      this.used.statusCalls += 1;
      const seen = await this.#make(
        { what: STATUS, scope: "rest", method: "GET", path: this.statusPath },
        true,
      );
      if (seen.status === 200) this.#welcome = true;
      if (!isFailure(seen.status)) return seen;
      if (this.#silent >= silentMost) return null;
      await this.pause(pauseAfterBrokenMs);
    }
    return null;
  }

  /** Tells whether the allowance has room for a call. */
  affords({ points = 0 }: Action): boolean {
    return this.left.calls >= 1 && this.left.points >= points;
  }

  /** Makes a call that may count. Makes none and returns `null` if the allowance is too small. */
  async act(action: Action): Promise<SeenCall | null> {
    if (!this.affords(action)) return null;
    const { points = 0 } = action;
    this.used.calls += 1;
    this.used.points += points;
    return await this.#make(action, false);
  }

  async #make(action: Action, isStatus: boolean): Promise<SeenCall> {
    const { base, graphqlUrl, token, user } = this.options;
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
    const { got, error } = await this.ask({ method, url, token, body });
    const seen = readAnswer(sent, got, this.now(), error, token);
    this.calls.push(seen);
    this.#heed(seen, isStatus);
    return seen;
  }

  /** Stops if the target shows that it will not, or should not, be called more. */
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
    if (isRedirect(status)) throw new Stopped(`${it} was answered ${status}, a redirect: none is followed`);
    const unwelcome = isStatus ? [403, 404, REFUSED] : isLimiters(seen) ? [] : [403, REFUSED];
    if (unwelcome.includes(status))
      throw new Stopped(
        isStatus
          ? `${it} was answered ${status}, where earlier ones were answered 200`
          : `${it} was answered ${status} with no rate limit header, as firewalls do`,
      );
  }
}
