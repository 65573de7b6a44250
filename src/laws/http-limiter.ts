// Checks limiters behind HTTP without a socket: Fetch-style handlers, applications with `inject`, and
// Express-style middleware. Each call becomes a request with its key; a 429 is a refusal; headers are
// read in any usual dialect.
import type { Awaitable, LimiterFactory } from "../engine/adapter.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import { readRateLimitHeaders } from "../wire/dialects.ts";
import { headerTexts } from "../wire/fields.ts";
import { REFUSED } from "../wire/outcome.ts";
import { type KeyedAnswer, type KeyedKind, type KeyedSettings, keyedLimiter } from "./keyed.ts";
import { type Middleware, type MiddlewareRequest, MiddlewareSession } from "./middleware.ts";

/** Header of a request that names its key. */
const keyHeader = "x-key";

/** Options of all limiters behind HTTP. */
export interface HttpKind extends KeyedKind {
  /** Reads an answer. Default: `readRateLimitHeaders`, which knows the usual dialects. */
  read?(answer: HttpAnswer, nowMs: number): Omit<KeyedAnswer, "allowed">;
  /** Status of a refusal. Any other status from 500 on is a limiter's failure. Default: 429. */
  readonly refusedStatus?: number;
}

/** `(request) => Response`, as in Workers, Deno, Bun, Next and Hono's `app.fetch`, or an object with it as `fetch`. */
export type FetchHandler =
  | ((request: Request) => Awaitable<Response>)
  | (Readonly<Record<"fetch", (request: Request) => Awaitable<Response>>> & Closing);

/** Something with timers, connections or a server, which `close` releases. */
interface Closing {
  close?(): Awaitable<unknown>;
}

export interface FetchOptions extends HttpKind {
  /** Makes a fresh handler with a fresh limiter in it. */
  create(settings: KeyedSettings): Awaitable<FetchHandler>;
  /** Returns the request of a call. Default: a GET of `/`, with the key in `x-key` and an address of the key's own. */
  request?(key: string, cost: number): Request;
}

/**
 * Makes a factory of a limiter in a Fetch-style handler. To check Hono's middleware, put it in a small Hono application.
 *
 * @example
 * const handler = fetchLimiter({
 *   name: "a handler",
 *   algorithm: "fixed-window",
 *   anchor: "epoch",
 *   create({ limit, windowMs }) {
 *     const hits = new Map<string, number>();
 *     return (request) => {
 *       const key = `${request.headers.get("x-key")} ${Math.floor(clock.now() / windowMs)}`;
 *       const count = (hits.get(key) ?? 0) + 1;
 *       if (count > limit) return new Response("slow down", { status: 429 });
 *       hits.set(key, count);
 *       return new Response("welcome", { headers: { "X-RateLimit-Remaining": String(limit - count) } });
 *     };
 *   },
 *   setNow: (nowMs) => clock.set(nowMs),
 * });
 * const report = await checkLaws(handler, { runs: 10 });
 */
export function fetchLimiter(options: FetchOptions): LimiterFactory {
  return overHttp(options, async (settings) => {
    const handler = await options.create(settings);
    return {
      async send(key, cost, address) {
        const headers = { [keyHeader]: key, "x-forwarded-for": address };
        const request = options.request?.(key, cost) ?? new Request("http://localhost/", { headers });
        const response = await (typeof handler === "function" ? handler(request) : handler.fetch(request));
        return { status: response.status, headers: Object.fromEntries(response.headers) };
      },
      ...(typeof handler === "object" && handler.close && { close: () => handler.close?.() }),
    };
  });
}

/** Request in the form that `inject` takes. */
export interface InjectRequest {
  readonly method: "GET" | "POST" | "HEAD" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly remoteAddress?: string;
  readonly payload?: string;
}

/** Application that takes requests without a socket: Fastify's, or any other through light-my-request. */
export interface Injectable {
  inject(request: InjectRequest): PromiseLike<{
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string | readonly string[] | number | undefined>>;
  }>;
  close?(): Awaitable<unknown>;
}

export interface InjectOptions extends HttpKind {
  /** Makes a fresh application with a fresh limiter in it. */
  create(settings: KeyedSettings): Awaitable<Injectable>;
  /** Returns the request of a call. Default: a GET of `/`, with the key in `x-key` and an address of the key's own. */
  request?(key: string, cost: number): InjectRequest;
}

/**
 * Makes a factory of a limiter in an application with `inject`, such as a Fastify plugin. For unchanged Express, Koa
 * or Connect, use `{ inject: (request) => inject(app, request) }` with light-my-request's `inject`.
 *
 * @example
 * const plugin = injectLimiter({
 *   name: "@fastify/rate-limit",
 *   algorithm: "fixed-window",
 *   refused: "counted",
 *   async create({ limit, windowMs }) {
 *     const app = fastify();
 *     await app.register(rateLimit, { max: limit, timeWindow: windowMs });
 *     app.get("/", () => "welcome");
 *     return app;
 *   },
 *   setNow: (nowMs) => clock.set(nowMs),
 * });
 * const report = await checkLaws(plugin, { runs: 10 });
 */
export function injectLimiter(options: InjectOptions): LimiterFactory {
  return overHttp(options, async (settings) => {
    // A Fastify application takes half a megabyte, which is freed only at the next turn of the event loop.
    await nextTurn();
    const app = await options.create(settings);
    return {
      async send(key, cost, remoteAddress) {
        const usual = { method: "GET", url: "/", headers: { [keyHeader]: key }, remoteAddress } as const;
        const { statusCode, headers } = await app.inject(options.request?.(key, cost) ?? usual);
        return { status: statusCode, headers: headerTexts(headers) };
      },
      ...(app.close && { close: () => app.close?.() }),
    };
  });
}

export interface MiddlewareOptions extends HttpKind {
  /** Makes fresh middleware, with a `close` beside it if its store holds something open. */
  create(settings: KeyedSettings): Awaitable<Middleware | ({ readonly middleware: Middleware } & Closing)>;
  /** Returns members of a call's request that differ from the default: `{ method: "POST", body }`. */
  request?(key: string, cost: number): Partial<MiddlewareRequest>;
}

/**
 * Makes a factory of Express or Connect middleware, `(request, response, next)`. Its requests and responses have
 * only what middleware uses, so a check is quick and nothing listens. For middleware that needs real ones, use
 * `injectLimiter`.
 *
 * @example
 * const middleware = middlewareLimiter({
 *   name: "express-rate-limit",
 *   algorithm: "fixed-window",
 *   refused: "counted",
 *   create: ({ limit, windowMs }) => rateLimit({ limit, windowMs, standardHeaders: "draft-7" }),
 *   setNow: (nowMs) => clock.set(nowMs),
 * });
 * const report = await checkLaws(middleware, { runs: 10 });
 */
export function middlewareLimiter(options: MiddlewareOptions): LimiterFactory {
  return overHttp(options, async (settings) => {
    const made = await options.create(settings);
    const { middleware, close }: { readonly middleware: Middleware } & Closing =
      typeof made === "function" ? { middleware: made } : made;
    const session = new MiddlewareSession(middleware);
    return {
      send: (key, cost, ip) =>
        session.run({ headers: { [keyHeader]: key }, ip, ...options.request?.(key, cost) }),
      ...(close && { close }),
    };
  });
}

/** Sends calls. Each key has its own `address`. */
interface Sender {
  send(key: string, cost: number, address: string): Promise<HttpAnswer>;
  close?(): Awaitable<unknown>;
}

function overHttp(kind: HttpKind, create: (settings: KeyedSettings) => Promise<Sender>): LimiterFactory {
  const { read = readRateLimitHeaders, refusedStatus = REFUSED } = kind;
  return keyedLimiter({
    ...kind,
    async create(settings) {
      const sender = await create(settings);
      const addresses = new Map<string, string>();
      const addressOf = (key: string): string => {
        const known = addresses.get(key) ?? `10.0.${addresses.size >> 8}.${(addresses.size & 255) + 1}`;
        addresses.set(key, known);
        return known;
      };
      return {
        async consume(key, cost, nowMs): Promise<KeyedAnswer> {
          const answer = await sender.send(key, cost, addressOf(key));
          const { status } = answer;
          if (status !== refusedStatus && status >= 500) throw new Error(`the answer has status ${status}`);
          return { allowed: status !== refusedStatus, ...read(answer, nowMs) };
        },
        ...(sender.close && { close: () => sender.close?.() }),
      };
    },
  });
}

/**
 * Waits for the next turn of the event loop, without a timer. The runtime frees what a WeakRef has named only between two
 * turns, and a check of a limiter that never waits for anything outside takes no turn.
 */
async function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port2.once("message", resolve);
    port1.postMessage(null);
  });
  port1.close();
}
