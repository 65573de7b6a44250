// limiter: a RateLimiter a key, asked by tryRemoveTokens, or by removeTokens.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { Algorithm } from "../../../src/rules/algorithms.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { scopes } from "../../../src/rules/rules.ts";
import { load } from "../strangers.ts";
import { answering, byKey, keyedFactory, keyOf, limitOf, restLimiter } from "./keyed.ts";

interface RateLimiter {
  tryRemoveTokens(count: number): boolean;
}

interface Package {
  readonly RateLimiter: new (options: { tokensPerInterval: number; interval: number }) => RateLimiter;
}

/** @param name the package as test/limiters/package.json names it */
export function limiter(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const { RateLimiter } = load<Package>(name);
  const make = (tokensPerInterval: number, interval: number): RateLimiter =>
    new RateLimiter({ tokensPerInterval, interval });
  return limiterFactory(name, "token-bucket", claims, make);
}

interface OldPackage {
  readonly RateLimiter: new (tokensPerInterval: number, interval: number) => RateLimiter;
}

/**
 * Version 1: `tokensPerInterval` is the most that can be removed "over the course of one interval", which begins with
 * the first call after the last one.
 */
export function oldLimiter(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const { RateLimiter } = load<OldPackage>(name);
  const make = (limit: number, windowMs: number): RateLimiter => new RateLimiter(limit, windowMs);
  return limiterFactory(name, "fixed-window", claims, make);
}

interface OldestPackage {
  readonly RateLimiter: new (
    tokensPerInterval: number,
    interval: number,
    fireImmediately: true,
  ) => {
    removeTokens(count: number, done: (error: unknown, left: number) => void): boolean;
    getTokensRemaining(): number;
  };
}

/** Version 1.0, which knows no `tryRemoveTokens`, and its `getTokensRemaining`. A call that still waits is a refusal. */
export function countingLimiter(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const { RateLimiter } = load<OldestPackage>(name);
  return restLimiter(
    name,
    claims,
    ({ limit, windowMs }) => {
      const limiterOf = byKey(() => new RateLimiter(limit, windowMs, true));
      const decided = answering((key) => {
        let left = -1;
        limiterOf(key).removeTokens(1, (_, tokens) => {
          left = tokens;
        });
        return left >= 0;
      });
      const status = async (key: string) => ({
        rest: { remaining: Math.floor(limiterOf(key).getTokensRemaining()) },
      });
      return { ...decided, status };
    },
    { algorithm: "token-bucket", refused: "uncounted" },
  );
}

interface AsyncPackage {
  readonly RateLimiter: new (options: {
    tokensPerInterval: number;
    interval: number;
    fireImmediately: true;
  }) => { removeTokens(count: number): Promise<number> };
}

/** `removeTokens`, which tells -1 where the interval's tokens are used up. A call that still waits is a refusal, too. */
export function waitingLimiter(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const { RateLimiter } = load<AsyncPackage>(name);
  return restLimiter(
    name,
    claims,
    ({ limit: tokensPerInterval, windowMs: interval }) => {
      const limiterOf = byKey(() => new RateLimiter({ tokensPerInterval, interval, fireImmediately: true }));
      return answering(async (key) => {
        let left = -1;
        limiterOf(key)
          .removeTokens(1)
          .then((tokens) => {
            left = tokens;
          });
        await setImmediate();
        return left >= 0;
      });
    },
    { refused: "uncounted" },
  );
}

function limiterFactory(
  name: string,
  algorithm: Algorithm,
  claims: readonly LimiterLawName[],
  make: (limit: number, windowMs: number) => RateLimiter,
): LimiterFactory {
  return keyedFactory({
    name,
    algorithm,
    claims,
    scopes,
    semantics: { anchor: ["first-request"], refused: ["uncounted"] },
    create: (rules) => {
      const limiters = new Map<string, RateLimiter>();
      return {
        decide: (call) => {
          const key = `${call.scope} ${keyOf(call)}`;
          const { limit, windowMs } = limitOf(rules, call.scope);
          const known = limiters.get(key) ?? make(limit, windowMs);
          limiters.set(key, known);
          return { admitted: known.tryRemoveTokens(call.cost) };
        },
      };
    },
  });
}
