// rate-limiter-flexible, in memory and on Redis: `consume` throws its result where a key has too few points.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { type Rules, type Scope, scopes } from "../../../src/rules/rules.ts";
import type { RealRedis } from "../redis.ts";
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

/** Old versions have neither. */
interface MemoryLimiter extends Limiter {
  get(key: string): Promise<Result | null>;
  dump?(): unknown;
  restore?(dump: unknown): unknown;
}

interface Options {
  readonly points: number;
  readonly duration: number;
  readonly keyPrefix: string;
}

interface Package {
  readonly RateLimiterMemory: new (options: Options) => MemoryLimiter;
  readonly RateLimiterRedis: new (
    options: Options & { storeClient: RealRedis["client"]; insuranceLimiter?: Limiter },
  ) => Limiter;
}

const said = (
  { consumedPoints, remainingPoints, msBeforeNext }: Result,
  nowMs: number,
): Omit<Said, "admitted"> => ({
  current: consumedPoints,
  remaining: remainingPoints,
  resetAtMs: nowMs + msBeforeNext,
});

/** Asks one limiter a scope. */
function asks(limiters: Readonly<Record<string, Limiter>>): Asks {
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
export function flexibleMemory(
  name: string,
  claims: readonly LimiterLawName[],
  frozen = false,
): LimiterFactory {
  const { RateLimiterMemory } = load<Package>(name);
  const make = (rules: Rules): Record<Scope, MemoryLimiter> => {
    const limiterOf = (scope: Scope): MemoryLimiter => {
      const { limit, windowMs } = limitOf(rules, scope);
      return new RateLimiterMemory({ points: limit, duration: windowMs / 1000, keyPrefix: scope });
    };
    return { rest: limiterOf("rest"), graphql: limiterOf("graphql") };
  };
  const restorable = (limiters: Record<Scope, MemoryLimiter>): Asks => ({
    ...asks(limiters),
    status: async (key, nowMs) => {
      const shown = async (scope: Scope) => {
        const result = await limiters[scope].get(key);
        return result === null ? {} : said(result, nowMs);
      };
      return { rest: await shown("rest"), graphql: await shown("graphql") };
    },
    snapshot: () => ({ rest: limiters.rest.dump?.(), graphql: limiters.graphql.dump?.() }),
  });
  return keyedFactory({
    name: `${name} RateLimiterMemory`,
    algorithm: "fixed-window",
    claims,
    scopes,
    semantics,
    frozen,
    create: (rules) => restorable(make(rules)),
    restore: (rules, snapshot) => {
      const limiters = make(rules);
      for (const scope of scopes) limiters[scope].restore?.((snapshot as Record<Scope, unknown>)[scope]);
      return restorable(limiters);
    },
  });
}

/** RateLimiterRedis, with an insurance limiter in memory, of many points, where `insured`. */
export function flexibleRedis(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  insured = false,
): LimiterFactory {
  const { RateLimiterMemory, RateLimiterRedis } = load<Package>(name);
  return keyedFactory({
    name: `${name} RateLimiterRedis`,
    algorithm: "fixed-window",
    claims,
    scopes,
    semantics,
    endsLate: true,
    redis,
    create: (rules) => {
      const made = scopes.map((scope) => {
        const { limit, windowMs } = limitOf(rules, scope);
        const duration = windowMs / 1000;
        const options = { points: limit, duration, keyPrefix: scope, storeClient: redis.client };
        if (!insured) return [scope, new RateLimiterRedis(options)];
        const insuranceLimiter = new RateLimiterMemory({ points: 100, duration, keyPrefix: scope });
        return [scope, new RateLimiterRedis({ ...options, insuranceLimiter })];
      });
      return asks(Object.fromEntries(made) as Record<string, Limiter>);
    },
  });
}
