// A deployment in virtual time: the reference service without a socket, a clock that moves only with calls and
// waits, and whatever stands between it and the prober. A probe of minutes takes milliseconds.
import type { InjectOptions } from "fastify";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Ask, Got, Send } from "../../src/connect/send.ts";
import { type ProbeOptions, type ProbeReport, probe } from "../../src/probe/probe.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { type AppOptions, buildApp } from "../../src/service/app.ts";

/** 17.3 s into a minute, 137.3 s into a span of five. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 2, 17, 300);

export const tokenOf = (user: string, scopes: Token["scopes"] = tokenScopes): Token => ({
  token: `token-of-${user}`,
  user,
  organization: "acme",
  scopes,
});

export interface VirtualOptions {
  readonly startMs?: number;
  /** Time that each way takes, ms, by the number of the call. */
  readonly latencyMs?: (call: number) => number;
  /** The prober's clock minus the target's. */
  readonly skewMs?: number;
  /** The `Date` header's clock minus the windows'; `null` sends none. */
  readonly dateSkewMs?: number | null;
  readonly tokens?: readonly Token[];
  /** Another store, say. */
  readonly app?: Partial<AppOptions>;
  /** Answer that comes before the service; `null` lets the call through. */
  readonly before?: (ask: Ask, call: number) => Got | NoAnswer | null;
  /** Changes what comes back. */
  readonly after?: (got: Got, ask: Ask, call: number) => Got;
  /** Told of each instant that passes, so that others call meanwhile: when they last did is theirs to know. */
  readonly meanwhile?: (
    nowMs: number,
    call: (token: string, path: string) => Promise<unknown>,
  ) => Promise<void>;
}

/** A call of somebody else's: a path of REST, or a small query. */
function others(token: string, path: string): Ask {
  if (path !== "graphql") return { method: "GET", url: `http://127.0.0.1:1${path}`, token };
  const body = JSON.stringify({
    query: "{ organization { pipelines(first: 9) { edges { node { id } } } } }",
  });
  return { method: "POST", url: "http://127.0.0.1:1/v1/graphql", token, body };
}

/** World of a probe, over a service with these rules. */
export class VirtualTarget {
  /** The target's clock. */
  nowMs: number;
  calls = 0;
  readonly asked: Ask[] = [];
  readonly #app;
  readonly #options: VirtualOptions;

  constructor(rules: RulesInput, options: VirtualOptions = {}) {
    this.nowMs = options.startMs ?? START_MS;
    this.#options = options;
    this.#app = buildApp({
      rules: parseRules(rules),
      tokens: options.tokens ?? [tokenOf("prober"), tokenOf("other")],
      now: () => Math.floor(this.nowMs),
      onUnexpected: (error) => {
        throw error;
      },
      sleep: async () => {},
      ...options.app,
    });
  }

  readonly now = (): number => Math.floor(this.nowMs + (this.#options.skewMs ?? 0));

  readonly sleep = async (ms: number): Promise<void> => {
    await this.#pass(ms);
  };

  readonly send: Send = async (ask) => {
    const call = ++this.calls;
    this.asked.push(ask);
    const { latencyMs = () => 4, before, after } = this.#options;
    await this.#pass(latencyMs(call));
    const got = before?.(ask, call) ?? (await this.#answer(ask));
    await this.#pass(latencyMs(call));
    if (got instanceof NoAnswer) throw got;
    return after === undefined ? got : after(got, ask, call);
  };

  async #pass(ms: number): Promise<void> {
    const { meanwhile } = this.#options;
    if (meanwhile === undefined) {
      this.nowMs += ms;
      return;
    }
    const endMs = this.nowMs + ms;
    while (this.nowMs < endMs) {
      this.nowMs = Math.min(endMs, this.nowMs + 10);
      await meanwhile(this.nowMs, (token, path) => this.#inject(others(token, path)));
    }
  }

  #inject({ method, url, token, body }: Ask) {
    const { pathname, search } = new URL(url);
    const request: InjectOptions = {
      method,
      url: pathname + search,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
    };
    if (body !== undefined) request.payload = body;
    return this.#app.inject(request);
  }

  async #answer(ask: Ask): Promise<Got> {
    const response = await this.#inject(ask);
    const { dateSkewMs = 0 } = this.#options;
    const date = dateSkewMs === null ? undefined : new Date(this.nowMs + dateSkewMs).toUTCString();
    const headers = Object.fromEntries(
      Object.entries({ ...response.headers, date }).map(([name, value]) => [
        name,
        value === undefined ? undefined : String(value),
      ]),
    );
    return { status: response.statusCode, headers, body: response.body };
  }
}

/** Probes a service with these rules in virtual time. */
export async function probeVirtually(
  rules: RulesInput,
  virtual: VirtualOptions = {},
  options: Partial<ProbeOptions> = {},
): Promise<ProbeReport> {
  return await probeOf(new VirtualTarget(rules, virtual), options);
}

export async function probeOf(
  target: VirtualTarget,
  options: Partial<ProbeOptions> = {},
): Promise<ProbeReport> {
  const { send, now, sleep } = target;
  return await probe({
    target: "http://127.0.0.1:1",
    organization: "acme",
    token: tokenOf("prober").token,
    user: "prober",
    send,
    now,
    sleep,
    ...options,
  });
}
