// Stores on Redis that keep a count a key by one script, each behind the middleware or the guard that it is made for:
// rate-limit-redis, hono-rate-limiter's RedisStore and @nest-lab/throttler-storage-redis.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { askExpress, type RateLimit } from "./express-rate-limit.ts";
import { askHono, honoWith } from "./hono-rate-limiter.ts";
import { type Asks, keyedFactory, keyOf, limitOf } from "./keyed.ts";
import { guarding } from "./nest-throttler.ts";

/** Windows from the first call, in which refused calls count, on a Redis that is empty at first. */
function storeFactory(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  create: (limit: number, windowMs: number) => Asks | Promise<Asks>,
): LimiterFactory {
  return keyedFactory({
    name,
    algorithm: "fixed-window",
    claims,
    scopes: ["rest"],
    semantics: { anchor: ["first-request"], refused: ["counted"] },
    onTime: (nowMs) => redis.setNow(nowMs),
    create: async (rules) => {
      await redis.clear();
      const { limit, windowMs } = limitOf(rules, "rest");
      return create(limit, windowMs);
    },
  });
}

type SendCommand = (...words: string[]) => Promise<unknown>;

/** @param name the package as test/limiters/package.json names it */
export function rateLimitRedis(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
  const { RedisStore } = load<{ RedisStore: new (options: { sendCommand: SendCommand }) => unknown }>(name);
  const { rateLimit } = load<{ rateLimit: RateLimit }>("express-rate-limit");
  return storeFactory(name, claims, redis, (limit, windowMs) => {
    const store = new RedisStore({ sendCommand: (...words) => redis.client.call(...words) });
    const middleware = rateLimit({
      windowMs,
      limit,
      standardHeaders: "draft-6",
      legacyHeaders: false,
      validate: false,
      store,
      keyGenerator: ({ ip }) => ip,
    });
    return { decide: (call) => askExpress(middleware, keyOf(call)) };
  });
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
  return storeFactory(`${name} RedisStore`, claims, redis, (limit, windowMs) => {
    const application = honoWith(name, { limit, windowMs, store: new RedisStore({ client }) });
    return { decide: (call) => askHono(application, keyOf(call)) };
  });
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
  return storeFactory(name, claims, redis, async (limit, ttl) => {
    const storage = new ThrottlerStorageRedisService(redis.client);
    const ask = await guarding("@nestjs/throttler", { limit, ttl }, storage);
    return { decide: (call) => ask(keyOf(call)) };
  });
}
