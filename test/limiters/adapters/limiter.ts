// limiter: a RateLimiter a key, asked by tryRemoveTokens.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LawName } from "../../../src/rules/laws.ts";
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
export function limiter(name: string, claims: readonly LawName[]): LimiterFactory {
  const { RateLimiter } = load<Package>(name);
  return keyedFactory({
    name,
    algorithm: "token-bucket",
    claims,
    scopes,
    semantics: { anchor: ["first-request"], refused: ["uncounted"] },
    create: (rules) => {
      const limiters = new Map<string, RateLimiter>();
      return {
        decide: (call) => {
          const key = `${call.scope} ${keyOf(call)}`;
          const { limit, windowMs } = limitOf(rules, call.scope);
          const known =
            limiters.get(key) ?? new RateLimiter({ tokensPerInterval: limit, interval: windowMs });
          limiters.set(key, known);
          return { admitted: known.tryRemoveTokens(call.cost) };
        },
      };
    },
  });
}
