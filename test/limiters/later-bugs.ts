// More bugs that limiters of npm have shipped, and mended: those that a second look at their changelogs gave.
import { bottleneck } from "./adapters/bottleneck.ts";
import { oldRollingRateLimiter, rollingRateLimiter, sveltekitRateLimiter } from "./adapters/by-key.ts";
import { routedFastify, windowedFastify } from "./adapters/fastify-rate-limit.ts";
import { oldHapiRateLimit } from "./adapters/hapi-rate-limit.ts";
import { countingLimiter, waitingLimiter } from "./adapters/limiter.ts";
import { nestThrottlerWaits } from "./adapters/nest-throttler.ts";
import {
  functionRateLimit,
  namedExpressRateLimit,
  namedExpressSlowDown,
  proxiedExpressBrute,
} from "./adapters/plain.ts";
import { expressLimiter, nestStorage } from "./adapters/redis-stores.ts";
import { redisCounter } from "./adapters/sliding-redis.ts";
import { upstashRegions, upstashTokenBucket } from "./adapters/upstash.ts";
import { github, needed, type PastBug } from "./past-bug.ts";

export const laterBugs: readonly PastBug[] = [
  {
    name: "allowance-after-the-wait",
    package: "limiter",
    wrong:
      "`removeTokens` looked at what is left of its interval, awaited the bucket, and added to the interval afterwards: calls that overlap saw the same allowance, and all took tokens.",
    source: "https://www.npmjs.com/package/limiter/v/4.0.0?activeTab=code",
    law: "rate-bound",
    rules: { user: { rest: { limit: 2, windowSeconds: 10 } } },
    runs: 300,
    bad: ["limiter-3-0-0"],
    good: ["limiter-4-0-0", "limiter"],
    overlapping: true,
    limiter: (alias, law) => waitingLimiter(alias, [law]),
  },
  {
    name: "tokens-of-long-ago",
    package: "limiter",
    wrong:
      "`getTokensRemaining` told what the bucket held when a token was last taken: none, however long ago.",
    source: github("jhurliman/node-rate-limiter", "pull/6"),
    law: "remaining-agrees",
    rules: { user: { rest: { limit: 3, windowSeconds: 10 } } },
    runs: 300,
    bad: ["limiter-1-0-3"],
    good: ["limiter-1-0-5"],
    limiter: (alias, law) => countingLimiter(alias, [law]),
  },
  {
    name: "writes-what-it-read",
    package: "ratelimiter",
    wrong:
      "What was left was read, and one less written back. WATCH does not see commands of the same connection: calls that overlapped wrote the same number, and all were let through.",
    source: "https://www.npmjs.com/package/ratelimiter/v/2.2.0?activeTab=versions",
    law: "rate-bound",
    // Few: 2.2.0 counts a call in the last millisecond of a window, and lets a whole window through behind it.
    runs: 8,
    // By seed 1 another bug comes first: keys that end apart send 2.1.3 from one of its steps to the other for ever.
    seed: 2,
    bad: ["ratelimiter-2-1-3"],
    good: ["ratelimiter-2-2-0"],
    overlapping: true,
    onRedis: true,
    limiter: (alias, law, redis) => redisCounter(alias, [law], needed(redis)),
  },
  {
    name: "limit-of-another-route",
    package: "@fastify/rate-limit",
    wrong: "A route with a `groupId` was held to the plugin's limit, not to its own.",
    source: github("fastify/fastify-rate-limit", "pull/393"),
    law: "limit-agrees",
    runs: 60,
    bad: ["@fastify/rate-limit-10-2-0"],
    good: ["@fastify/rate-limit-10-2-1", "@fastify/rate-limit"],
    limiter: (alias, law) => routedFastify({ plugin: alias, fastify: "fastify" }, [law], { groupId: "one" }),
  },
  {
    name: "refused-for-longer",
    package: "@nestjs/throttler",
    wrong:
      "`Retry-After` told the end of a window, rounded down, and refused calls counted for a window of their own: who waited so long was refused again.",
    source: "https://www.npmjs.com/package/@nestjs/throttler/v/6.1.0?activeTab=versions",
    law: "honest-wait",
    runs: 120,
    bad: ["@nestjs/throttler-5-2-0"],
    good: ["@nestjs/throttler-6-1-0", "@nestjs/throttler"],
    limiter: (alias, law) => nestThrottlerWaits(alias, [law]),
  },
  {
    name: "last-token-is-none",
    package: "@upstash/ratelimit",
    wrong:
      "The token bucket let a call through only if a token was left after it: of 3 tokens 2 could be had.",
    source: github("upstash/ratelimit-js", "pull/74"),
    law: "refusal-justified",
    runs: 60,
    bad: ["upstash-ratelimit-0-4-4", "upstash-ratelimit-1-0-0"],
    good: ["upstash-ratelimit-1-0-3"],
    onRedis: true,
    limiter: (alias, law, redis) => upstashTokenBucket(alias, [law], needed(redis)),
  },
  {
    name: "reservoir-filled-early",
    package: "bottleneck",
    wrong:
      "A reservoir was refreshed as soon as its limiter first looked, 5 s after it was made, however long its interval: it let another reservoir through.",
    source: github("SGrondin/bottleneck", "commit/fc83f0f"),
    law: "rate-bound",
    runs: 60,
    bad: ["bottleneck-2-11-0"],
    good: ["bottleneck-2-11-1"],
    limiter: (alias, law) => bottleneck(alias, [law], true),
  },
  {
    name: "rates-share-a-count",
    package: "sveltekit-rate-limiter",
    wrong:
      "Of several rates for one caller each counted the call in the same place: each call counted as two.",
    source: github("ciscoheat/sveltekit-rate-limiter", "commit/3d2914b"),
    law: "refusal-justified",
    rules: { user: { rest: { limit: 2, windowSeconds: 10 } } },
    runs: 100,
    bad: ["sveltekit-rate-limiter-0-5-2"],
    good: ["sveltekit-rate-limiter-0-6-1", "sveltekit-rate-limiter"],
    limiter: (alias, law) => sveltekitRateLimiter([law], alias, true),
  },
  {
    name: "window-of-another-route",
    package: "fastify-rate-limit",
    wrong: "A handler of `fastify.rateLimit` with a time window of its own was held to the plugin's window.",
    source: github("fastify/fastify-rate-limit", "pull/179"),
    law: "recovers",
    runs: 60,
    bad: ["fastify-rate-limit-5-6-0"],
    good: ["fastify-rate-limit-5-7-2"],
    limiter: (alias, law) => windowedFastify({ plugin: alias, fastify: "fastify-3" }, [law]),
  },
  {
    name: "limits-to-one-less",
    package: "express-limiter",
    wrong: "A call after which none was left was refused: of a limit of 10, 9 calls were let through.",
    source: github("ded/express-limiter", "pull/16"),
    law: "refusal-justified",
    runs: 60,
    bad: ["express-limiter-1-3-0"],
    good: ["express-limiter"],
    onRedis: true,
    limiter: (alias, law, redis) => expressLimiter([law], needed(redis), alias),
  },
  {
    name: "wait-without-the-refused",
    package: "rolling-rate-limiter",
    wrong:
      "Refused calls take up room, and the wait that a refusal told left the refused call itself out: who waited so long was refused again.",
    source: github("peterkhayes/rolling-rate-limiter", "issues/15"),
    law: "honest-wait",
    runs: 120,
    bad: ["rolling-rate-limiter-0-1-11"],
    good: ["rolling-rate-limiter"],
    limiter: (alias, law) =>
      alias === "rolling-rate-limiter" ? rollingRateLimiter([law]) : oldRollingRateLimiter([law], alias),
  },
  {
    name: "count-from-zero",
    package: "hapi-rate-limit",
    wrong: "The first call was counted as 0: one more was told to remain than there was.",
    source: github("wraithgar/hapi-rate-limit", "pull/22"),
    law: "conserved",
    runs: 60,
    bad: ["hapi-rate-limit-1-2-4"],
    good: ["hapi-rate-limit-1-2-5"],
    limiter: (alias, law) => oldHapiRateLimit(alias, [law]),
  },
  {
    name: "milliseconds-of-redis",
    package: "nestjs-throttler-storage-redis",
    wrong: "The time to a window's end, which the guard tells as `Retry-After`, was in ms, not in seconds.",
    source: github("kkoomen/nestjs-throttler-storage-redis", "issues/1167"),
    law: "honest-wait",
    runs: 120,
    bad: ["nestjs-throttler-storage-redis-0-3-0"],
    good: ["nestjs-throttler-storage-redis-0-3-3"],
    onRedis: true,
    limiter: (alias, law, redis) => nestStorage([law], needed(redis), alias),
  },
  {
    name: "remaining-without-this-call",
    package: "@upstash/ratelimit",
    wrong: "The sliding window over many regions told what was left before the call that asked.",
    source: github("upstash/ratelimit-js", "commit/1a42a0f"),
    law: "remaining-agrees",
    runs: 60,
    bad: ["upstash-ratelimit-1-1-1"],
    good: ["upstash-ratelimit-1-1-2"],
    onRedis: true,
    limiter: (alias, law, redis) => upstashRegions(alias, [law], needed(redis)),
  },
  {
    name: "counts-in-an-object",
    package: "express-rate-limit",
    wrong:
      "Counts were kept in a plain object: the caller `constructor` found a function of JavaScript's for a count, and was never refused.",
    source: "https://www.npmjs.com/package/express-rate-limit/v/7.0.0?activeTab=versions",
    law: "rate-bound",
    runs: 100,
    bad: ["express-rate-limit-6-11-2"],
    good: ["express-rate-limit-7-5-1", "express-rate-limit"],
    limiter: (alias, law) => namedExpressRateLimit(alias, [law]),
  },
  {
    name: "delays-in-an-object",
    package: "express-slow-down",
    wrong:
      "Counts were kept in a plain object: the caller `constructor` found a function of JavaScript's for a count, and was never slowed down.",
    source: "https://www.npmjs.com/package/express-slow-down/v/2.0.0?activeTab=versions",
    law: "rate-bound",
    runs: 100,
    bad: ["express-slow-down-1-6-0"],
    good: ["express-slow-down-2-0-3", "express-slow-down"],
    limiter: (alias, law) => namedExpressSlowDown(alias, [law]),
  },
  {
    name: "behind-one-proxy",
    package: "express-brute",
    wrong:
      "Behind one proxy, an `X-Forwarded-For` of one address was not looked at: all callers shared the proxy's count.",
    source: "https://www.npmjs.com/package/express-brute/v/0.5.1?activeTab=code",
    law: "isolated",
    runs: 60,
    bad: ["express-brute-0-4-2"],
    good: ["express-brute"],
    limiter: (alias, law) => proxiedExpressBrute(alias, [law]),
  },
  {
    name: "last-ms-lets-one-more",
    package: "function-rate-limit",
    wrong: "In the last ms of an interval one call more was let through, and a whole limit right after it.",
    source: "https://www.npmjs.com/package/function-rate-limit/v/1.0.1?activeTab=versions",
    law: "rate-bound",
    runs: 100,
    bad: ["function-rate-limit-0-0-1"],
    good: ["function-rate-limit"],
    limiter: (alias, law) => functionRateLimit(alias, [law]),
  },
];
