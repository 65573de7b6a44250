// Logs of calls on Redis: ratelimiter, which takes a callback, and async-ratelimiter, which is made after it. Both tell
// how many calls were left before this one; none is a refusal. And oRPC's, by one script.
import type { LimiterFactory, Seam } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { askOrpc, type OrpcLimiter, orpcPart } from "./by-key.ts";
import { type Asks, answering, keyOf, type Limit, restLimiter, type Said, underClock } from "./keyed.ts";

interface Status {
  readonly remaining: number;
  readonly total: number;
  /** Seconds since the epoch, rounded down. */
  readonly reset: number;
  /** ms since the epoch, rounded down. */
  readonly resetMs?: number;
}

interface LogOptions {
  readonly db: unknown;
  readonly id: string;
  readonly max: number;
  readonly duration: number;
}

type Ratelimiter = new (
  options: LogOptions,
) => { get(done: (error: Error | null, status: Status) => void): void };

type AsyncRatelimiter = new (
  options: Omit<LogOptions, "id">,
) => { get(options: { id: string }): Promise<Status> };

/** A reset that is rounded down is meant to be over at the next whole unit. */
function said({ remaining, total, reset, resetMs }: Status): Said {
  const resetAtMs = resetMs === undefined ? (reset + 1) * 1000 : resetMs + 1;
  const left = Math.max(0, remaining - 1);
  return { admitted: remaining > 0, limit: total, remaining: left, resetAtMs };
}

/** @param refused whether refused calls are kept in the log, too */
const logFactory = (
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  refused: "counted" | "uncounted",
  create: (limit: Limit, db: unknown) => Asks,
): LimiterFactory =>
  restLimiter(name, claims, (limit, seam) => create(limit, seam.over(redis.client)), {
    algorithm: "sliding-log",
    refused,
    redis,
  });

/** @param name the package as test/limiters/package.json names it */
export function ratelimiter(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
  // It takes the time when it is loaded, and from then on counts by the monotonic clock.
  const Limiter = underClock(() => load<Ratelimiter>(name));
  return logFactory(name, claims, redis, "counted", ({ limit: max, windowMs: duration }, db) => ({
    decide: (call) =>
      new Promise((resolve, reject) => {
        new Limiter({ id: keyOf(call), db, max, duration }).get((error, status) =>
          error === null ? resolve(said(status)) : reject(error),
        );
      }),
  }));
}

/**
 * ratelimiter of version 2: a count a window, which may end up to a second early, since its end is kept in seconds.
 * @param name the package as test/limiters/package.json names it
 */
export function redisCounter(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
): LimiterFactory {
  const Limiter = load<Ratelimiter>(name);
  const create = ({ limit: max, windowMs: duration }: Limit, seam: Seam): Asks => {
    const db = seam.over(redis.client);
    return answering(
      (id) =>
        new Promise((resolve, reject) => {
          new Limiter({ id, db, max, duration }).get((error, { remaining } = noStatus) =>
            error === null || error === undefined ? resolve(remaining > 0) : reject(error),
          );
        }),
    );
  };
  return restLimiter(name, claims, create, { algorithm: "unknown", redis });
}

const noStatus: Status = { remaining: 0, total: 0, reset: 0 };

/** @param name the package as test/limiters/package.json names it */
export function asyncRatelimiter(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis,
  refused: "counted" | "uncounted",
): LimiterFactory {
  const Limiter = underClock(() => load<AsyncRatelimiter>(name));
  return logFactory(name, claims, redis, refused, ({ limit: max, windowMs: duration }, db) => {
    const limiter = new Limiter({ db, max, duration });
    return { decide: async (call) => said(await limiter.get({ id: keyOf(call) })) };
  });
}

interface Orpc {
  readonly RedisRatelimiter: new (options: {
    eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
    maxRequests: number;
    window: number;
  }) => OrpcLimiter;
}

/** @orpc/experimental-ratelimit: RedisRatelimiter. */
export function orpcRedis(claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory {
  const { RedisRatelimiter } = load<Orpc>(orpcPart("redis"));
  return logFactory(
    "@orpc/experimental-ratelimit, Redis",
    claims,
    redis,
    "uncounted",
    ({ limit: maxRequests, windowMs: window }) => {
      const run = redis.client.eval.bind(redis.client);
      return askOrpc(new RedisRatelimiter({ eval: run, maxRequests, window }));
    },
  );
}
