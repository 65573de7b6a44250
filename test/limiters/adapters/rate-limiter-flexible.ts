// rate-limiter-flexible, in memory and on Redis: `consume` throws its result where a key has too few points.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LawName } from "../../../src/rules/laws.ts";
import { scopes } from "../../../src/rules/rules.ts";
import { type RealRedis, unitsOfTime } from "../redis.ts";
import { load } from "../strangers.ts";
import { type Asks, keyedFactory, keyOf, limitOf, type Said } from "./keyed.ts";

interface Result {
  readonly consumedPoints: number;
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
}

interface Limiter {
  consume(key: string, points: number): Promise<Result>;
}

interface Options {
  readonly points: number;
  readonly duration: number;
  readonly keyPrefix: string;
}

interface Package {
  readonly RateLimiterMemory: new (options: Options) => Limiter;
  readonly RateLimiterRedis: new (
    options: Options & { storeClient: RealRedis["client"]; insuranceLimiter?: Limiter },
  ) => Limiter;
}

/** Asks one limiter a scope. `units` of the limiter's ms are one of ours. */
function asks(limiters: Readonly<Record<string, Limiter>>, units: number): Asks {
  const said = (
    { consumedPoints, remainingPoints, msBeforeNext }: Result,
    nowMs: number,
  ): Omit<Said, "admitted"> => ({
    current: consumedPoints,
    remaining: remainingPoints,
    resetAtMs: nowMs + Math.round(msBeforeNext / units),
  });
  return {
    decide: async (call, nowMs) => {
      try {
        const result = await limiters[call.scope]?.consume(keyOf(call), call.cost);
        if (result === undefined) throw new Error(`no limiter of ${call.scope}`);
        return { admitted: true, ...said(result, nowMs) };
      } catch (refusal) {
        if (refusal instanceof Error) throw refusal;
        return { admitted: false, ...said(refusal as Result, nowMs) };
      }
    },
  };
}

const semantics = { anchor: ["first-request"], refused: ["counted"] } as const;

/** RateLimiterMemory, in a process that is `frozen` between requests or not. */
export function flexibleMemory(name: string, claims: readonly LawName[], frozen = false): LimiterFactory {
  const { RateLimiterMemory } = load<Package>(name);
  return keyedFactory({
    name: `${name} RateLimiterMemory`,
    claims,
    scopes,
    semantics,
    frozen,
    create: (rules) => {
      const made = scopes.map((scope) => {
        const { limit, windowMs } = limitOf(rules, scope);
        const options = { points: limit, duration: windowMs / 1000, keyPrefix: scope };
        return [scope, new RateLimiterMemory(options)];
      });
      return asks(Object.fromEntries(made) as Record<string, Limiter>, 1);
    },
  });
}

/** RateLimiterRedis, with an insurance limiter in memory, of many points, where `insured`. */
export function flexibleRedis(
  name: string,
  claims: readonly LawName[],
  redis: RealRedis,
  insured = false,
): LimiterFactory {
  const { RateLimiterMemory, RateLimiterRedis } = load<Package>(name);
  return keyedFactory({
    name: `${name} RateLimiterRedis`,
    claims,
    scopes,
    semantics,
    onTime: (nowMs) => redis.setNow(nowMs),
    create: async (rules) => {
      await redis.clear();
      const made = scopes.map((scope) => {
        const { limit, windowMs } = limitOf(rules, scope);
        const duration = (windowMs / 1000) * unitsOfTime;
        const options = { points: limit, duration, keyPrefix: scope, storeClient: redis.client };
        if (!insured) return [scope, new RateLimiterRedis(options)];
        const insuranceLimiter = new RateLimiterMemory({ points: 100, duration, keyPrefix: scope });
        return [scope, new RateLimiterRedis({ ...options, insuranceLimiter })];
      });
      return asks(Object.fromEntries(made) as Record<string, Limiter>, unitsOfTime);
    },
  });
}
