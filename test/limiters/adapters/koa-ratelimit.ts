// koa-ratelimit with its memory driver, and koa-simple-ratelimit on Redis, asked through their middleware as Koa would.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import {
  type Asks,
  answering,
  headersSay,
  keyOf,
  type Limit,
  restLimiter,
  type Said,
  underClock,
} from "./keyed.ts";

interface Context {
  readonly ip: string;
  readonly state: object;
  status: number;
  body: unknown;
  set(headers: string | Readonly<Record<string, unknown>>, value?: unknown): void;
}

type Middleware = (context: Context, next: () => Promise<void>) => Promise<void>;

type Package = (options: {
  driver: "memory";
  db: Map<string, unknown>;
  duration: number;
  max: number;
  id(context: Context): string;
}) => Middleware;

/** @param name the package as test/limiters/package.json names it */
export function koaRatelimit(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  // It takes the time when it is loaded, and from then on counts by the monotonic clock.
  const ratelimit = underClock(() => load<Package>(name));
  const create = ({ limit: max, windowMs: duration }: Limit): Asks => {
    const id = ({ ip }: Context): string => ip;
    const middleware = ratelimit({ driver: "memory", db: new Map(), duration, max, id });
    return { decide: (call) => ask(middleware, keyOf(call)) };
  };
  return restLimiter(name, claims, create, { refused: "uncounted" });
}

interface SimplePackage {
  ratelimit(options: {
    db: unknown;
    duration: number;
    max: number;
    id(context: Context): string;
  }): Middleware;
}

/** koa-simple-ratelimit on Redis. Its X-RateLimit-Reset is not shown to the laws: it is a window's length away at any time. */
export function koaSimpleRatelimit(claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory {
  const name = "koa-simple-ratelimit";
  const { ratelimit } = load<SimplePackage>(name);
  const create = ({ limit: max, windowMs: duration }: Limit): Asks => {
    const id = ({ ip }: Context): string => ip;
    const middleware = ratelimit({ db: redis.client, duration, max, id });
    return answering(async (key) => {
      const { resetAtMs: _, ...said } = await ask(middleware, key);
      // It does not await its last command, which comes to Redis before this one.
      await redis.client.time();
      return said;
    });
  };
  return restLimiter(name, claims, create, { refused: "uncounted", redis, endsLate: true });
}

async function ask(middleware: Middleware, ip: string): Promise<Said> {
  const headers = new Map<string, unknown>();
  let admitted = false;
  const context: Context = {
    ip,
    state: {},
    status: 404,
    body: undefined,
    set: (given, value) => {
      const named = typeof given === "string" ? { [given]: value } : given;
      for (const [name, sent] of Object.entries(named)) headers.set(name.toLowerCase(), sent);
    },
  };
  await middleware(context, async () => {
    admitted = true;
  });
  const { reset, ...said } = headersSay((field) => headers.get(`x-ratelimit-${field}`));
  return {
    admitted,
    ...said,
    // In seconds, with a fraction to the microsecond, of which there are a few more since it was loaded.
    ...(reset === undefined ? {} : { resetAtMs: Math.floor(reset * 1000 + 0.05) }),
    ...(headers.has("retry-after") && { retryAfterMs: Number(headers.get("retry-after")) * 1000 }),
  };
}
