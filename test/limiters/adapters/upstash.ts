// @upstash/ratelimit's sliding window and its token bucket, with a Redis of our own in place of Upstash's client, whose `eval` takes its keys
// and arguments as lists.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { type Keyed, keyedFactory, keyOf, type Limit, limitOf } from "./keyed.ts";

interface Client {
  eval(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
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

function upstash(
  name: string,
  kind: Pick<Keyed, "claims" | "algorithm"> & { readonly redis: RealRedis },
  make: Make,
): LimiterFactory {
  const { Ratelimit } = load<Package>(name);
  const { redis } = kind;
  const client: Client = {
    eval: (script, keys, args) => redis.client.eval(script, keys.length, ...keys, ...args),
  };
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
