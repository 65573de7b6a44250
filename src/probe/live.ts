// The hand of `check --target` on a live deployment. It calls within a budget stated beforehand, and stops at the first
// sign that calls are unwelcome. Tokens go into requests, and nowhere else.
import { openSender, type Send, sendOnce } from "../connect/send.ts";
import type { Token, TokenScope } from "../rules/tokens.ts";
import { isRedirect, isRefusal } from "../wire/outcome.ts";
import { pause, type Surroundings } from "./hand.ts";
import { isLimiters, readAnswer, type SeenCall } from "./seen.ts";
import { STATUS } from "./session.ts";

/** Allowance of a check: the most that it may use of a deployment. */
export interface LiveBudget {
  /** Calls of any kind. */
  readonly calls: number;
  /** Time from the first call on, ms. */
  readonly ms: number;
}

export interface LiveOptions extends Surroundings {
  /** URL without a slash at the end. */
  readonly base: string;
  /** Callers. Those whose scopes open nothing that counts are left out. */
  readonly callers: readonly Token[];
  readonly budget: LiveBudget;
  readonly signal?: AbortSignal | undefined;
}

/** Ends all calls: the budget is used up, the user interrupted, or the deployment wants no more. */
export class LiveEnded extends Error {
  readonly why: "budget" | "unwelcome" | "interrupted";

  constructor(why: LiveEnded["why"], reason: string) {
    super(reason);
    this.why = why;
    // A rejection with an AbortError ends a check of the laws.
    this.name = "AbortError";
  }
}

/** Numbers of calls in a row without answer, and answered 5xx, that end the check. */
const silentMost = 2;
const brokenMost = 3;
/** Number of connections: calls overlap, so that updates of a count can be lost. */
const connectionsMost = 2;

const readable: readonly (readonly [TokenScope, (slug: string) => string])[] = [
  ["read_organizations", (slug) => `/v2/organizations/${slug}`],
  ["read_pipelines", (slug) => `/v2/organizations/${slug}/pipelines?per_page=1`],
  ["read_user", () => "/v2/user"],
];

/** Returns a resource that a token may read and that counts; `null` if there is none. */
export function resourceOf({ organization, scopes }: Token): string | null {
  const slug = encodeURIComponent(organization);
  const found = readable.find(([scope]) => scopes.includes(scope));
  return found === undefined ? null : found[1](slug);
}

export class LiveCaller {
  readonly callers: readonly Token[];
  /** Number of calls made, and why no more are made, if so. */
  calls = 0;
  ended: LiveEnded | null = null;
  readonly #options: LiveOptions;
  readonly #send: Send;
  #startedMs: number | null = null;
  #silent = 0;
  #broken = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#send = options.send ?? openSender({ connections: connectionsMost, ...options }).send;
    this.callers = options.callers.filter((token) => resourceOf(token) !== null);
  }

  now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Time left of the budget, ms. */
  get leftMs(): number {
    return this.#options.budget.ms - (this.#startedMs === null ? 0 : this.now() - this.#startedMs);
  }

  get leftCalls(): number {
    return this.#options.budget.calls - this.calls;
  }

  /** Waits, unless the budget is too small. @throws LiveEnded */
  async wait(ms: number): Promise<void> {
    this.#requireOpen();
    if (ms <= 0 || ms > this.leftMs) return;
    const { signal, sleep = pause } = this.#options;
    await sleep(ms, signal).catch(this.#failed);
  }

  /** Makes a REST call that counts. @throws LiveEnded */
  async read(caller: Token, headers: Readonly<Record<string, string>> = {}): Promise<SeenCall> {
    const path = resourceOf(caller) as string;
    return this.#make(caller, `GET ${path}`, path, false, headers);
  }

  /** Calls the status endpoint. @throws LiveEnded */
  async status(caller: Token, headers: Readonly<Record<string, string>> = {}): Promise<SeenCall> {
    const path = `/v2/organizations/${encodeURIComponent(caller.organization)}/rate_limit`;
    return this.#make(caller, STATUS, path, true, headers);
  }

  #requireOpen(): void {
    if (this.ended !== null) throw this.ended;
    if (this.#options.signal?.aborted) throw this.#end("interrupted", "interrupted");
  }

  readonly #failed = (error: unknown): never => {
    throw this.#options.signal?.aborted ? this.#end("interrupted", "interrupted") : error;
  };

  #end(why: LiveEnded["why"], reason: string): LiveEnded {
    this.ended ??= new LiveEnded(why, reason);
    return this.ended;
  }

  async #make(
    caller: Token,
    what: string,
    path: string,
    isStatus: boolean,
    headers: Readonly<Record<string, string>>,
  ): Promise<SeenCall> {
    this.#requireOpen();
    if (this.leftCalls < 1) throw this.#end("budget", "the calls that were allowed are used up");
    if (this.leftMs <= 0) throw this.#end("budget", "the time that was allowed is used up");
    this.calls += 1;
    const sentMs = this.now();
    this.#startedMs ??= sentMs;
    const { token, user } = caller;
    const sent = {
      ...({ number: this.calls, what, user, scope: "rest", isStatus, isExempt: isStatus } as const),
      ...{ points: null, sentMs },
    };
    const ask = { method: "GET", url: `${this.#options.base}${path}`, token, headers } as const;
    const { got, error } = await sendOnce(this.#send, ask, this.#options.signal).catch(this.#failed);
    const seen = readAnswer(sent, got, this.now(), error, token);
    this.#heed(seen);
    return seen;
  }

  /** Ends the calls if the deployment shows that it will not, or should not, be called more. */
  #heed(seen: SeenCall): void {
    const { status, what, error } = seen;
    this.#silent = status === 0 ? this.#silent + 1 : 0;
    this.#broken = status >= 500 ? this.#broken + 1 : 0;
    if (this.#silent >= silentMost)
      this.#end("unwelcome", `${this.#silent} calls in a row had no answer (${error})`);
    if (this.#broken >= brokenMost)
      this.#end("unwelcome", `${this.#broken} calls in a row were answered ${status}`);
    if (status === 401 || isRedirect(status)) this.#end("unwelcome", `${what} was answered ${status}`);
    if ((status === 403 || isRefusal(status)) && !isLimiters(seen))
      this.#end("unwelcome", `${what} was answered ${status} by something that is not the rate limiter`);
  }
}
