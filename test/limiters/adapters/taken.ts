// Limiters of which a call takes something at once, and learns whether it got it: places of a semaphore, and tokens.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { importOnly, load } from "../strangers.ts";
import {
  answering,
  byKey,
  clock,
  headersSay,
  keyedFactory,
  keyOf,
  type Limit,
  limitOf,
  restLimiter,
  type Said,
  underClock,
} from "./keyed.ts";

type Claims = readonly LimiterLawName[];

interface AsyncMutex {
  readonly E_ALREADY_LOCKED: Error;
  readonly Semaphore: new (value: number) => object;
  tryAcquire(semaphore: object): { acquire(weight: number): Promise<unknown> };
}

/** async-mutex: a Semaphore a key, whose places nobody gives back, and `tryAcquire`. */
export function asyncMutex(claims: Claims): LimiterFactory {
  const { E_ALREADY_LOCKED, Semaphore, tryAcquire } = load<AsyncMutex>("async-mutex");
  return keyedFactory({
    name: "async-mutex",
    algorithm: "concurrency",
    claims,
    scopes: ["graphql"],
    semantics: { refused: ["uncounted"] },
    create: (rules) => {
      const { limit } = limitOf(rules, "graphql");
      const semaphoreOf = byKey(() => new Semaphore(limit));
      return {
        decide: async (call) => {
          const taken = tryAcquire(semaphoreOf(keyOf(call)))
            .acquire(call.cost)
            .then(
              () => ({ admitted: true }),
              (error: unknown) => {
                if (error === E_ALREADY_LOCKED) return { admitted: false };
                throw error;
              },
            );
          // A timer of 0 ms refuses what has no place by then.
          await setImmediate();
          clock.fireShort();
          return taken;
        },
      };
    },
  });
}

interface DiscordLimiter {
  readonly RateLimiter: new (amount: number, interval: number) => { take(key: string): boolean };
}

/** discord.js-rate-limiter: `take`, which says whether a key is over its limit. */
export function discordRateLimiter(claims: Claims): LimiterFactory {
  const name = "discord.js-rate-limiter";
  const { RateLimiter } = load<DiscordLimiter>(name);
  const create = ({ limit, windowMs }: Limit) => {
    const limiter = new RateLimiter(limit, windowMs);
    return answering((key) => !limiter.take(key));
  };
  return restLimiter(name, claims, create, { algorithm: "token-bucket", refused: "uncounted" });
}

interface NextRequest {
  readonly ip: string;
  readonly headers: Headers;
}

type NextRateLimit = (options: { interval: number }) => {
  checkNext(request: NextRequest, limit: number): Headers;
};

/** next-rate-limit: `checkNext`, which throws to refuse. */
export function nextRateLimit(claims: Claims): LimiterFactory {
  const name = "next-rate-limit";
  const { default: make } = underClock(() => load<{ default: NextRateLimit }>(name));
  const create = ({ limit, windowMs: interval }: Limit) => {
    const limiter = make({ interval });
    return answering((ip): Said => {
      try {
        const headers = limiter.checkNext({ ip, headers: new Headers() }, limit);
        return { admitted: true, ...headersSay((field) => headers.get(`x-ratelimit-${field}`)) };
      } catch (error) {
        if ((error as Error).message !== "Rate limit exceeded") throw error;
        return { admitted: false };
      }
    });
  };
  return restLimiter(name, claims, create, { endsLate: true });
}

interface TsRateLimiter {
  readonly config: { verbose: boolean };
  readonly RateLimiter: new (options: {
    windowMs: number;
    maxRequests: number;
    algorithm: "sliding-window";
  }) => { consume(key: string): Promise<{ allowed: boolean; limit: number }> };
}

/** ts-rate-limiter: its sliding window with its store in memory. It waits while it is loaded, so it is imported. */
export function tsRateLimiter(claims: Claims): LimiterFactory {
  const name = "ts-rate-limiter";
  const imported = importOnly<TsRateLimiter>(name);
  const create = async ({ limit, windowMs }: Limit) => {
    const { config, RateLimiter } = await imported;
    config.verbose = false;
    const limiter = new RateLimiter({ windowMs, maxRequests: limit, algorithm: "sliding-window" });
    return answering(async (key): Promise<Said> => {
      const { allowed, limit: told } = await limiter.consume(key);
      return { admitted: allowed, limit: told };
    });
  };
  return restLimiter(name, claims, create, { algorithm: "sliding-log" });
}
