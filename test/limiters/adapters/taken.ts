// Limiters of which a call takes something at once, and learns whether it got it: places of a semaphore, and tokens.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { answering, byKey, clock, keyedFactory, keyOf, type Limit, limitOf, restLimiter } from "./keyed.ts";

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
