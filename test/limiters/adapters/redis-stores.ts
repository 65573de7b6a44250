// Stores on Redis that keep a count a key by one script, each behind the middleware or the guard that it is made for:
// rate-limit-redis, hono-rate-limiter's RedisStore and @nest-lab/throttler-storage-redis.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { askExpress, draft6, type RateLimit } from "./express-rate-limit.ts";
import { askHono, honoWith } from "./hono-rate-limiter.ts";
import { type Asks, keyOf, type Limit, restWindows } from "./keyed.ts";
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
  return restWindows(name, claims, create, { redis });
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
  return restWindows(`${name} RedisStore`, claims, create, { redis });
}

/** @param name the package as test/limiters/package.json names it */
export function nestLabRedis(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
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
  return restWindows(name, claims, create, { redis });
}
