// More bugs that limiters of npm have shipped, and mended: those that a second look at their changelogs gave.
import { routedFastify } from "./adapters/fastify-rate-limit.ts";
import { countingLimiter, waitingLimiter } from "./adapters/limiter.ts";
import { nestThrottlerWaits } from "./adapters/nest-throttler.ts";
import { redisCounter } from "./adapters/sliding-redis.ts";
import { upstashTokenBucket } from "./adapters/upstash.ts";
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
];
