// @fastify/rate-limit with its LocalStore, in a Fastify application, asked without a socket.
import type { Call, LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { headersSay, keyOf, restLimiter, type Said } from "./keyed.ts";

interface Request {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

interface Injected {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
}

interface Application {
  register(plugin: unknown, options: object): PromiseLike<unknown>;
  get(path: string, handler: () => Promise<string>): unknown;
  get(path: string, options: object, handler: () => Promise<string>): unknown;
  rateLimit(options: object): unknown;
  inject(request: { method: "GET"; url: string; headers: Record<string, string> }): Promise<Injected>;
  close(): Promise<unknown>;
}

type Fastify = () => Application;

/**
 * @param names the plugin and the Fastify that it is for, as test/limiters/package.json names them
 */
export function fastifyRateLimit(
  names: { readonly plugin: string; readonly fastify: string },
  claims: readonly LimiterLawName[],
): LimiterFactory {
  const plugin = load<unknown>(names.plugin);
  const fastify = load<Fastify>(names.fastify);
  return restLimiter(names.plugin, claims, async ({ limit, windowMs }) => {
    const keyGenerator = ({ headers }: Request): string => headers["x-caller"] ?? "";
    const application = fastify();
    await application.register(plugin, { max: limit, timeWindow: windowMs, keyGenerator });
    application.get("/", async () => "done");
    const decide = (call: Call) => ask(application, keyOf(call), claims.includes("honest-wait"));
    return { decide, close: () => application.close() };
  });
}

/**
 * Its one route has a limit of its own, and more settings; the plugin has another limit for all other routes, and the
 * same window.
 */
export function routedFastify(
  names: { readonly plugin: string; readonly fastify: string },
  claims: readonly LimiterLawName[],
  settings: object,
): LimiterFactory {
  const plugin = load<unknown>(names.plugin);
  const fastify = load<Fastify>(names.fastify);
  return restLimiter(names.plugin, claims, async ({ limit: max, windowMs: timeWindow }) => {
    const keyGenerator = ({ headers }: Request): string => headers["x-caller"] ?? "";
    const application = fastify();
    await application.register(plugin, { max: max + 100, timeWindow, keyGenerator });
    application.get("/", { config: { rateLimit: { max, ...settings } } }, async () => "done");
    return { decide: (call) => ask(application, keyOf(call), false), close: () => application.close() };
  });
}

/** Its one route asks `rateLimit`, by a limit and a window of its own; the plugin has others, for no route. */
export function windowedFastify(
  names: { readonly plugin: string; readonly fastify: string },
  claims: readonly LimiterLawName[],
): LimiterFactory {
  const plugin = load<unknown>(names.plugin);
  const fastify = load<Fastify>(names.fastify);
  return restLimiter(names.plugin, claims, async ({ limit: max, windowMs: timeWindow }) => {
    const keyGenerator = ({ headers }: Request): string => headers["x-caller"] ?? "";
    const application = fastify();
    await application.register(plugin, { global: false, max: 1_000_000, timeWindow: "1 hour", keyGenerator });
    const preHandler = application.rateLimit({ max, timeWindow, keyGenerator });
    application.get("/", { preHandler }, async () => "done");
    return { decide: (call) => ask(application, keyOf(call), false), close: () => application.close() };
  });
}

/** @param waits reads the wait of a refusal, too */
async function ask(application: Application, caller: string, waits: boolean): Promise<Said> {
  const { statusCode, headers } = await application.inject({
    method: "GET",
    url: "/",
    headers: { "x-caller": caller },
  });
  const admitted = statusCode === 200;
  if (waits)
    return admitted ? { admitted } : { admitted, retryAfterMs: 1000 * Number(headers["retry-after"]) };
  return { admitted, ...headersSay((field) => headers[`x-ratelimit-${field}`]) };
}
