// @upstash/ratelimit's sliding window, with a Redis of our own in place of Upstash's client, whose `eval` takes its keys
// and arguments as lists.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { keyedFactory, keyOf, limitOf } from "./keyed.ts";

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
  };
}

/** @param name the package as test/limiters/package.json names it */
export function upstashSlidingWindow(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
  const { Ratelimit } = load<Package>(name);
  const client: Client = {
    eval: (script, keys, args) => redis.client.eval(script, keys.length, ...keys, ...args),
  };
  return keyedFactory({
    name,
    algorithm: "sliding-counter",
    claims,
    scopes: ["rest"],
    semantics: { anchor: ["epoch"], refused: ["uncounted"] },
    redis,
    create: (rules) => {
      const { limit, windowMs } = limitOf(rules, "rest");
      const limiter = Ratelimit.slidingWindow(limit, `${windowMs} ms`);
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
