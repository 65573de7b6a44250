// Limiters in memory that are asked by a key and answer at once: each takes a few lines, set up as its documentation
// says.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import {
  type Asks,
  answering,
  byKey,
  clock,
  headersSay,
  type Limit,
  restLimiter,
  type Said,
  underClock,
} from "./keyed.ts";

type Claims = readonly LimiterLawName[];

interface PacerLimiter {
  maybeExecute(): boolean;
  getRemainingInWindow(): number;
  getMsUntilNextWindow(): number;
}

interface Pacer {
  readonly RateLimiter: new (
    run: () => void,
    options: { limit: number; window: number; windowType: "fixed" | "sliding" },
  ) => PacerLimiter;
}

/** @tanstack/pacer: a RateLimiter a key, of fixed or sliding windows. */
export function tanstackPacer(windowType: "fixed" | "sliding", claims: Claims): LimiterFactory {
  const { RateLimiter } = load<Pacer>("@tanstack/pacer");
  const create = ({ limit, windowMs: window }: Limit) => {
    const limiterOf = byKey(() => new RateLimiter(() => {}, { limit, window, windowType }));
    return answering((key): Said => {
      const limiter = limiterOf(key);
      const admitted = limiter.maybeExecute();
      const remaining = limiter.getRemainingInWindow();
      return admitted ? { admitted, remaining } : { admitted, retryAfterMs: limiter.getMsUntilNextWindow() };
    });
  };
  const algorithm = windowType === "fixed" ? "fixed-window" : "sliding-log";
  return restLimiter(`@tanstack/pacer, ${windowType}`, claims, create, { algorithm, refused: "uncounted" });
}

interface DFischer {
  readonly PartitionedTimeBasedRateLimiter: new (options: {
    bucketSize: number;
    timeFrame: number;
    logger: { minLevel: "critical" };
    doRequest(key: string): Promise<true>;
    getPartitionKey(key: string): string;
  }) => { request(key: string, options: { limitReachedBehavior: "null" }): Promise<true | null> };
}

/** @d-fischer/rate-limiter: requests beyond the limit are answered by `null`. */
export function dFischerRateLimiter(claims: Claims): LimiterFactory {
  const name = "@d-fischer/rate-limiter";
  const { PartitionedTimeBasedRateLimiter } = load<DFischer>(name);
  const create = ({ limit, windowMs }: Limit) => {
    const limiter = new PartitionedTimeBasedRateLimiter({
      bucketSize: limit,
      timeFrame: windowMs,
      logger: { minLevel: "critical" },
      doRequest: async () => true,
      getPartitionKey: (key) => key,
    });
    return answering(async (key) => (await limiter.request(key, { limitReachedBehavior: "null" })) !== null);
  };
  return restLimiter(name, claims, create, { algorithm: "sliding-log", refused: "uncounted" });
}

interface FastRatelimit {
  readonly FastRateLimit: new (options: {
    threshold: number;
    ttl: number;
  }) => {
    consumeSync(key: string): boolean;
  };
}

/** fast-ratelimit: `consumeSync`. */
export function fastRatelimit(claims: Claims): LimiterFactory {
  const { FastRateLimit } = load<FastRatelimit>("fast-ratelimit");
  const create = ({ limit: threshold, windowMs }: Limit) => {
    const limiter = new FastRateLimit({ threshold, ttl: windowMs / 1000 });
    return answering((key) => limiter.consumeSync(key));
  };
  return restLimiter("fast-ratelimit", claims, create, { refused: "uncounted" });
}

type Lambda = (options: { interval: number }) => { check(limit: number, key: string): Promise<number> };

/** lambda-rate-limiter: `check` rejects with the count. */
export function lambdaRateLimiter(claims: Claims): LimiterFactory {
  const { default: lambda } = load<{ default: Lambda }>("lambda-rate-limiter");
  const create = ({ limit, windowMs: interval }: Limit): Asks => {
    const limiter = lambda({ interval });
    return answering((key) =>
      limiter.check(limit, key).then(
        () => true,
        (refusal: unknown) => {
          if (typeof refusal !== "number") throw refusal;
          return false;
        },
      ),
    );
  };
  return restLimiter("lambda-rate-limiter", claims, create, { endsLate: true });
}

interface Orpc {
  readonly MemoryRatelimiter: new (options: { maxRequests: number; window: number }) => OrpcLimiter;
}

/** Limiter of oRPC, in memory or on Redis. */
export interface OrpcLimiter {
  limit(key: string): Promise<{ success: boolean; limit: number; remaining: number; reset: number }>;
}

/** Asks a limiter of oRPC. */
export const askOrpc = (limiter: OrpcLimiter) =>
  answering(async (key): Promise<Said> => {
    const { success, limit, remaining, reset } = await limiter.limit(key);
    return { admitted: success, limit, remaining, resetAtMs: reset };
  });

/** Path of a part of @orpc/experimental-ratelimit, which is for `import` alone. */
export const orpcPart = (part: string): string =>
  `./node_modules/@orpc/experimental-ratelimit/dist/adapters/${part}.mjs`;

/** @orpc/experimental-ratelimit: MemoryRatelimiter. */
export function orpcMemory(claims: Claims): LimiterFactory {
  const { MemoryRatelimiter } = load<Orpc>(orpcPart("memory"));
  return restLimiter(
    "@orpc/experimental-ratelimit, memory",
    claims,
    ({ limit, windowMs }) => askOrpc(new MemoryRatelimiter({ maxRequests: limit, window: windowMs })),
    { algorithm: "sliding-log", refused: "uncounted" },
  );
}

interface Rolling {
  readonly InMemoryRateLimiter: new (options: {
    interval: number;
    maxInInterval: number;
  }) => {
    limitWithInfo(key: string): Promise<{
      blocked: boolean;
      actionsRemaining: number;
      millisecondsUntilAllowed: number;
    }>;
  };
}

/** rolling-rate-limiter: its limiter in memory. It reads the time by a native package, which is given ours. */
export function rollingRateLimiter(claims: Claims): LimiterFactory {
  const microtime = load<{ now(): number }>("microtime");
  microtime.now = () => clock.nowMs * 1000;
  const { InMemoryRateLimiter } = load<Rolling>("rolling-rate-limiter");
  const create = ({ limit: maxInInterval, windowMs: interval }: Limit) => {
    const limiter = new InMemoryRateLimiter({ interval, maxInInterval });
    return answering(async (key): Promise<Said> => {
      const { blocked, actionsRemaining: remaining, ...info } = await limiter.limitWithInfo(key);
      return {
        admitted: !blocked,
        remaining,
        ...(blocked && { retryAfterMs: info.millisecondsUntilAllowed }),
      };
    });
  };
  return restLimiter("rolling-rate-limiter", claims, create, { algorithm: "sliding-log" });
}

type OldRolling = (options: { interval: number; maxInInterval: number }) => (key: string) => number;

/** rolling-rate-limiter of version 0.1, in memory: a function that tells ms to wait, rounded down. */
export function oldRollingRateLimiter(claims: Claims, name: string): LimiterFactory {
  const make = underClock(() => load<OldRolling>(name));
  const create = ({ limit: maxInInterval, windowMs: interval }: Limit) => {
    const limiter = make({ interval, maxInInterval });
    return answering((key): Said => {
      const waitMs = limiter(key);
      return waitMs === 0 ? { admitted: true } : { admitted: false, retryAfterMs: waitMs + 1 };
    });
  };
  return restLimiter(name, claims, create, { algorithm: "sliding-log" });
}

interface GraphqlRateLimit {
  getGraphQLRateLimiter(options: {
    identifyContext(context: { key: string }): string;
  }): (
    call: { parent: object; args: object; context: { key: string }; info: { fieldName: string } },
    limit: { max: number; window: string },
  ) => Promise<string | undefined>;
}

/** graphql-rate-limit: the function behind its directive, with its store in memory. */
export function graphqlRateLimit(claims: Claims): LimiterFactory {
  const { getGraphQLRateLimiter } = load<GraphqlRateLimit>("graphql-rate-limit");
  const create = ({ limit: max, windowMs }: Limit) => {
    const limiter = getGraphQLRateLimiter({ identifyContext: ({ key }) => key });
    const window = `${windowMs / 1000}s`;
    return answering(async (key) => {
      const call = { parent: {}, args: {}, context: { key }, info: { fieldName: "field" } };
      return (await limiter(call, { max, window })) === undefined;
    });
  };
  return restLimiter("graphql-rate-limit", claims, create, { algorithm: "sliding-log" });
}

interface Sapphire {
  readonly RateLimitManager: new (
    timeMs: number,
    limit: number,
  ) => {
    acquire(key: string): {
      readonly limited: boolean;
      readonly remaining: number;
      readonly expires: number;
      consume(): void;
    };
  };
}

/** @sapphire/ratelimits: a bucket is asked whether it is limited, and consumed if not. */
export function sapphireRatelimits(claims: Claims): LimiterFactory {
  const { RateLimitManager } = load<Sapphire>("@sapphire/ratelimits");
  const create = ({ limit, windowMs }: Limit) => {
    const manager = new RateLimitManager(windowMs, limit);
    return answering((key): Said => {
      const bucket = manager.acquire(key);
      const admitted = !bucket.limited;
      if (admitted) bucket.consume();
      return { admitted, remaining: bucket.remaining, resetAtMs: bucket.expires };
    });
  };
  return restLimiter("@sapphire/ratelimits", claims, create, { refused: "uncounted" });
}

type TokenBucket = new (options: {
  size: number;
  tokensToAddPerInterval: number;
  interval: number;
}) => { removeTokensSync(tokens: number): boolean };

/** tokenbucket: a bucket a key, `removeTokensSync`. */
export function tokenbucket(claims: Claims): LimiterFactory {
  const Bucket = load<TokenBucket>("tokenbucket");
  const create = ({ limit, windowMs: interval }: Limit) => {
    const bucketOf = byKey(() => new Bucket({ size: limit, tokensToAddPerInterval: limit, interval }));
    return answering((key) => bucketOf(key).removeTokensSync(1));
  };
  return restLimiter("tokenbucket", claims, create, { algorithm: "token-bucket", refused: "uncounted" });
}

interface Sveltekit {
  readonly RetryAfterRateLimiter: new (options: {
    plugins: { rate: [number, "10s" | "h"]; hash(event: { key: string }): string }[];
  }) => { check(event: { key: string }): Promise<{ limited: boolean; retryAfter: number }> };
}

/**
 * sveltekit-rate-limiter: RetryAfterRateLimiter, with windows of 10 s: it knows windows of certain lengths alone.
 * @param hourly a second limit, which nobody comes to
 */
export function sveltekitRateLimiter(
  claims: Claims,
  name = "sveltekit-rate-limiter",
  hourly = false,
): LimiterFactory {
  const { RetryAfterRateLimiter } = load<Sveltekit>(`./node_modules/${name}/dist/server/index.js`);
  return restLimiter(name, claims, ({ limit, windowMs }) => {
    if (windowMs !== 10_000) throw new RangeError(`its windows are of 10 s here, not ${windowMs} ms`);
    const plugin = (rate: [number, "10s" | "h"]) => ({ rate, hash: ({ key }: { key: string }) => key });
    const plugins = [plugin([limit, "10s"]), ...(hourly ? [plugin([1_000_000, "h"])] : [])];
    const limiter = new RetryAfterRateLimiter({ plugins });
    return answering(async (key): Promise<Said> => {
      const { limited, retryAfter } = await limiter.check({ key });
      return limited ? { admitted: false, retryAfterMs: retryAfter * 1000 } : { admitted: true };
    });
  });
}

interface ElysiaApplication {
  use(plugin: unknown): ElysiaApplication;
  get(path: string, handler: () => string): ElysiaApplication;
  handle(request: Request): Promise<Response>;
}

/** elysia-rate-limit, in an Elysia application, asked without a socket. */
export function elysiaRateLimit(claims: Claims): LimiterFactory {
  const { Elysia } = load<{ Elysia: new () => ElysiaApplication }>("elysia");
  const { rateLimit } = load<{ rateLimit(options: object): unknown }>(
    "./node_modules/elysia-rate-limit/dist/index.js",
  );
  return restLimiter("elysia-rate-limit", claims, ({ limit: max, windowMs: duration }) => {
    const generator = ({ headers }: Request): string => headers.get("x-caller") ?? "";
    const application = new Elysia().use(rateLimit({ max, duration, generator })).get("/", () => "done");
    return answering(async (key): Promise<Said> => {
      const request = new Request("http://localhost/", { headers: { "x-caller": key } });
      const { status, headers } = await application.handle(request);
      return { admitted: status === 200, ...headersSay((field) => headers.get(`ratelimit-${field}`)) };
    });
  });
}
