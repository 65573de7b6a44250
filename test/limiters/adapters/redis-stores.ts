// Counts a key on Redis. Stores that count by one script, each behind the middleware or the guard that it is made for:
// rate-limit-redis, hono-rate-limiter's RedisStore, and the storages of Nest's throttler. And those that use it by
// themselves: redis-rate-limiter and @grammyjs/ratelimiter.
import type { LimiterFactory, Seam } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { askExpress, draft6, type RateLimit } from "./express-rate-limit.ts";
import { askHono, honoWith } from "./hono-rate-limiter.ts";
import { type Asks, answering, keyOf, type Limit, restLimiter, type Said } from "./keyed.ts";
import { guarding } from "./nest-throttler.ts";

type SendCommand = (...words: string[]) => Promise<unknown>;

/** @param name the package as test/limiters/package.json names it */
export function rateLimitRedis(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
  const { RedisStore } = load<{ RedisStore: new (options: { sendCommand: SendCommand }) => unknown }>(name);
  const { rateLimit } = load<{ rateLimit: RateLimit }>("express-rate-limit");
  const create = (limit: Limit): Asks => {
    const store = new RedisStore({ sendCommand: (...words) => redis.client.call(...words) });
    const middleware = rateLimit({ ...limit, ...draft6, store, keyGenerator: ({ ip }) => ip });
    return { decide: (call) => askExpress(middleware, keyOf(call)) };
  };
  return restLimiter(name, claims, create, { redis });
}

interface HonoClient {
  scriptLoad(script: string): Promise<string>;
  evalsha(sha: string, keys: string[], args: string[]): Promise<unknown>;
}

/** @param name the package as test/limiters/package.json names it */
export function honoRedis(name: string, claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory {
  const { RedisStore } = load<{ RedisStore: new (options: { client: HonoClient }) => unknown }>(name);
  const client: HonoClient = {
    scriptLoad: async (script) => String(await redis.client.call("SCRIPT", "LOAD", script)),
    evalsha: (sha, keys, args) => redis.client.evalsha(sha, keys.length, ...keys, ...args),
  };
  const create = (limit: Limit): Asks => {
    const application = honoWith(name, { ...limit, store: new RedisStore({ client }) });
    return { decide: (call) => askHono(application, keyOf(call)) };
  };
  return restLimiter(`${name} RedisStore`, claims, create, { redis });
}

/**
 * A storage of Nest's throttler, behind its guard.
 * @param name the package as test/limiters/package.json names it
 */
export function nestRedis(name: string, claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory {
  load("reflect-metadata");
  type Storage = Parameters<typeof guarding>[2];
  const { ThrottlerStorageRedisService } = load<{
    ThrottlerStorageRedisService: new (client: RealRedis["client"]) => Storage;
  }>(name);
  const create = async ({ limit, windowMs: ttl }: Limit): Promise<Asks> => {
    const storage = new ThrottlerStorageRedisService(redis.client);
    const ask = await guarding("@nestjs/throttler", { limit, ttl }, storage);
    return { decide: (call) => ask(keyOf(call)) };
  };
  return restLimiter(name, claims, create, { redis });
}

interface RedisRateLimiter {
  create(options: {
    redis: unknown;
    key(key: string): string;
    limit: number;
    window: number;
  }): (
    key: string,
    done: (error: Error | null, rate: { current: number; limit: number; over: boolean }) => void,
  ) => void;
}

/** redis-rate-limiter: its limiter without the middleware, which fails open. */
export function redisRateLimiter(
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  name = "redis-rate-limiter",
): LimiterFactory {
  const { create: make } = load<RedisRateLimiter>(name);
  const create = ({ limit: most, windowMs }: Limit): Asks => {
    const key = (own: string): string => own;
    const limiter = make({ redis: redis.client, key, limit: most, window: windowMs / 1000 });
    return answering(
      (key) =>
        new Promise<Said>((resolve, reject) => {
          limiter(key, (error, { current, limit, over } = { current: 0, limit: 0, over: false }) =>
            error === null
              ? resolve({ admitted: !over, limit, ...(Number.isInteger(current) && { current }) })
              : reject(error),
          );
        }),
    );
  };
  return restLimiter(name, claims, create, { redis, endsLate: true });
}

interface Grammy {
  limit(options: {
    timeFrame: number;
    limit: number;
    storageClient: unknown;
    keyGenerator(context: { key: string }): string;
  }): (context: { key: string }, next: () => Promise<void>) => Promise<void>;
}

/** @grammyjs/ratelimiter with its storage on Redis. */
export function grammyRatelimiter(claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory {
  const name = "@grammyjs/ratelimiter";
  const { limit: make } = load<Grammy>(name);
  const create = ({ limit, windowMs: timeFrame }: Limit, seam: Seam): Asks => {
    const storageClient = seam.over(redis.client);
    const middleware = make({ timeFrame, limit, storageClient, keyGenerator: ({ key }) => key });
    return answering(async (key) => {
      let admitted = false;
      await middleware({ key }, async () => {
        admitted = true;
      });
      return admitted;
    });
  };
  return restLimiter(name, claims, create, { redis, endsLate: true });
}

interface OldStorage {
  readonly ThrottlerStorageRedisService: new (
    client: unknown,
  ) => { increment(key: string, ttl: number): Promise<{ totalHits: number; timeToExpire: number }> };
}

/** nestjs-throttler-storage-redis for version 4 of the guard, which tells `timeToExpire` as Retry-After, in seconds. */
export function nestStorage(
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  name: string,
): LimiterFactory {
  const { ThrottlerStorageRedisService } = load<OldStorage>(name);
  const create = ({ limit, windowMs }: Limit): Asks => {
    const storage = new ThrottlerStorageRedisService(redis.client);
    return answering(async (key): Promise<Said> => {
      const { totalHits, timeToExpire } = await storage.increment(key, windowMs / 1000);
      const admitted = totalHits <= limit;
      return admitted ? { admitted } : { admitted, retryAfterMs: timeToExpire * 1000 };
    });
  };
  return restLimiter(name, claims, create, { redis, endsLate: true });
}

interface ExpressRequest {
  readonly path: string;
  readonly method: string;
  readonly ip: string;
}

interface ExpressResponse {
  set(name: string, value: unknown): void;
  status(code: number): ExpressResponse;
  send(...words: unknown[]): void;
}

type ExpressLimiter = (
  application: object,
  db: unknown,
) => (options: {
  lookup: string;
  total: number;
  expire: number;
}) => (request: ExpressRequest, response: ExpressResponse, next: () => void) => void;

/** express-limiter, asked through its middleware as Express would. */
export function expressLimiter(
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  name: string,
): LimiterFactory {
  const make = load<ExpressLimiter>(name);
  const create = ({ limit: total, windowMs: expire }: Limit): Asks => {
    const middleware = make({}, redis.client)({ lookup: "ip", total, expire });
    return answering(
      (ip) =>
        new Promise<boolean>((resolve) => {
          const response: ExpressResponse = {
            set: () => {},
            status: () => response,
            send: () => resolve(false),
          };
          middleware({ path: "/", method: "GET", ip }, response, () => resolve(true));
        }),
    );
  };
  return restLimiter(name, claims, create, { redis, endsLate: true });
}
