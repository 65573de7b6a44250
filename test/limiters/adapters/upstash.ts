// @upstash/ratelimit's sliding window and its token bucket, with a Redis of our own in place of Upstash's client, whose `eval` takes its keys
// and arguments as lists.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { type Keyed, keyedFactory, keyOf, type Limit, limitOf } from "./keyed.ts";

interface Client {
  eval(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  hset(key: string, fields: Readonly<Record<string, number>>): Promise<unknown>;
}

interface Package {
  readonly Ratelimit: {
    new (options: {
      redis: Client;
      limiter: unknown;
      analytics: false;
    }): {
      limit(key: string): Promise<{ success: boolean; limit: number; remaining: number; reset: number }>;
    };
    slidingWindow(tokens: number, window: string): unknown;
    tokenBucket(refillRate: number, interval: string, maxTokens: number): unknown;
  };
}

interface RegionsPackage {
  readonly MultiRegionRatelimit: {
    new (options: {
      redis: Client[];
      limiter: unknown;
      analytics: false;
    }): {
      limit(key: string): Promise<{
        success: boolean;
        limit: number;
        remaining: number;
        pending: Promise<unknown>;
      }>;
    };
    slidingWindow(tokens: number, window: string): unknown;
  };
}

/** A maker of the package's limiters, by what the laws draw. */
type Make = (ratelimit: Package["Ratelimit"], limit: Limit) => unknown;

/** @param name the package as test/limiters/package.json names it */
export const upstashSlidingWindow = (
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory =>
  upstash(name, { claims, algorithm: "sliding-counter", redis }, (ratelimit, { limit, windowMs }) =>
    ratelimit.slidingWindow(limit, `${windowMs} ms`),
  );

/**
 * Its bucket, which is filled once a window.
 * @param name the package as test/limiters/package.json names it
 */
export const upstashTokenBucket = (
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory =>
  upstash(name, { claims, algorithm: "token-bucket", redis }, (ratelimit, { limit, windowMs }) =>
    ratelimit.tokenBucket(limit, `${windowMs} ms`, limit),
  );

const clientOf = (redis: RealRedis): Client => ({
  eval: (script, keys, args) => redis.client.eval(script, keys.length, ...keys, ...args),
  hset: (key, fields) =>
    redis.client.call(
      "HSET",
      key,
      ...Object.entries(fields).flatMap(([field, value]) => [field, `${value}`]),
    ),
});

function upstash(
  name: string,
  kind: Pick<Keyed, "claims" | "algorithm"> & { readonly redis: RealRedis },
  make: Make,
): LimiterFactory {
  const { Ratelimit } = load<Package>(name);
  const { redis } = kind;
  const client = clientOf(redis);
  return keyedFactory({
    name,
    ...kind,
    scopes: ["rest"],
    semantics: { anchor: ["epoch"], refused: ["uncounted"] },
    create: (rules) => {
      const limiter = make(Ratelimit, limitOf(rules, "rest"));
      const ratelimit = new Ratelimit({ redis: client, limiter, analytics: false });
      return {
        decide: async (call) => {
          const { success, limit: told, remaining } = await ratelimit.limit(keyOf(call));
          return { admitted: success, limit: told, remaining };
        },
      };
    },
  });
}

/**
 * Its sliding window over many regions, of which there is one here.
 * @param name the package as test/limiters/package.json names it
 */
export function upstashRegions(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
  const { MultiRegionRatelimit } = load<RegionsPackage>(name);
  const client = clientOf(redis);
  return keyedFactory({
    name,
    claims,
    algorithm: "sliding-counter",
    redis,
    scopes: ["rest"],
    semantics: { anchor: ["epoch"], refused: ["uncounted"] },
    create: (rules) => {
      const { limit, windowMs } = limitOf(rules, "rest");
      const limiter = MultiRegionRatelimit.slidingWindow(limit, `${windowMs} ms`);
      const ratelimit = new MultiRegionRatelimit({ redis: [client], limiter, analytics: false });
      return {
        decide: async (call) => {
          const { success, limit: told, remaining, pending } = await ratelimit.limit(keyOf(call));
          await pending;
          return { admitted: success, limit: told, remaining: Math.floor(remaining) };
        },
      };
    },
  });
}
