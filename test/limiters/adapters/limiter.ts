// limiter: a RateLimiter a key, asked by tryRemoveTokens.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { Algorithm } from "../../../src/rules/algorithms.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { scopes } from "../../../src/rules/rules.ts";
import { load } from "../strangers.ts";
import { keyedFactory, keyOf, limitOf } from "./keyed.ts";

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
