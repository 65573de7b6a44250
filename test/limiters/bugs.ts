// Bugs that limiters of npm have shipped, each with the law that finds it: versions that have it, versions
// beside them that have not, and one adapter for all of them.
import { pQueue, pThrottle } from "./adapters/begun-at-once.ts";
import { expressRateLimit } from "./adapters/express-rate-limit.ts";
import { fastifyRateLimit } from "./adapters/fastify-rate-limit.ts";
import { koaRatelimit } from "./adapters/koa-ratelimit.ts";
import { koa2Ratelimit } from "./adapters/koa2-ratelimit.ts";
import { oldLimiter } from "./adapters/limiter.ts";
import { nestThrottler, nestThrottlerElsewhere } from "./adapters/nest-throttler.ts";
import { flexibleMemory, flexibleRedis } from "./adapters/rate-limiter-flexible.ts";
import { rateLimitRedis, redisRateLimiter } from "./adapters/redis-stores.ts";
import { asyncRatelimiter, ratelimiter } from "./adapters/sliding-redis.ts";
import { upstashSlidingWindow } from "./adapters/upstash.ts";
import { laterBugs } from "./later-bugs.ts";
import { github, needed, type PastBug } from "./past-bug.ts";

export const pastBugs: readonly PastBug[] = [
  {
    name: "insurance-takes-refusals",
    package: "rate-limiter-flexible",
    wrong:
      "On a healthy Redis every refusal was taken for a failure of Redis, and the insurance limiter asked, which admitted.",
    source: github("animir/node-rate-limiter-flexible", "issues/337"),
    law: "refusal-justified",
    runs: 30,
    bad: ["rlf-8-2-0"],
    good: ["rlf-8-1-0", "rlf-8-2-1"],
    onRedis: true,
    limiter: (alias, law, redis) => flexibleRedis(alias, [law], needed(redis), true),
  },
  {
    name: "expired-but-not-forgotten",
    package: "rate-limiter-flexible",
    wrong:
      "In memory, only a timer ended a window: where the process was frozen meanwhile (an edge function), the old count went on, `msBeforeNext` below 0.",
    source: github("animir/node-rate-limiter-flexible", "issues/238"),
    law: "recovers",
    runs: 100,
    bad: ["rlf-3-0-4"],
    good: ["rlf-3-0-5", "rate-limiter-flexible"],
    limiter: (alias, law) => flexibleMemory(alias, [law], true),
  },
  {
    name: "mapped-addresses-share",
    package: "express-rate-limit",
    wrong:
      "IPv4 clients of a dual-stack socket, `::ffff:192.0.2.1` and the like, were masked as IPv6 and shared one key.",
    source: github("express-rate-limit/express-rate-limit", "security/advisories/GHSA-46wh-pxpv-q5gq"),
    law: "isolated",
    runs: 100,
    bad: ["express-rate-limit-8-2-1"],
    good: ["express-rate-limit-7-5-1", "express-rate-limit-8-2-2"],
    limiter: (alias, law) => expressRateLimit(alias, [law]),
  },
  {
    name: "refuses-once",
    package: "koa-ratelimit",
    wrong:
      "In memory, `remaining` went below 0 and was taken for room: one call was refused, the next ones admitted.",
    source: github("koajs/ratelimit", "issues/56"),
    law: "refusal-justified",
    runs: 100,
    bad: ["koa-ratelimit-4-3-0"],
    good: ["koa-ratelimit-4-2-1", "koa-ratelimit-5-0-0"],
    limiter: (alias, law) => koaRatelimit(alias, [law]),
  },
  {
    name: "window-of-everybody",
    package: "fastify-rate-limit",
    wrong: "The LocalStore kept one window for all callers, cleared by one timer, not one for each caller.",
    source: github("fastify/fastify-rate-limit", "issues/215"),
    law: "isolated",
    runs: 60,
    bad: ["fastify-rate-limit-5-7-0"],
    good: ["fastify-rate-limit-5-7-2"],
    limiter: (alias, law) => fastifyRateLimit({ plugin: alias, fastify: "fastify-3" }, [law]),
  },
  {
    name: "reset-rounded-down",
    package: "@fastify/rate-limit",
    wrong:
      "`x-ratelimit-reset` was rounded down: a client that waited so long was refused again, with reset 0.",
    source: github("fastify/fastify-rate-limit", "pull/325"),
    law: "reset-agrees",
    runs: 60,
    bad: ["@fastify/rate-limit-8-1-1"],
    good: ["@fastify/rate-limit-9-0-0"],
    limiter: (alias, law) => fastifyRateLimit({ plugin: alias, fastify: "fastify-4" }, [law]),
  },
  {
    name: "block-rounded-down",
    package: "@nestjs/throttler",
    wrong: "The rest of a block was rounded down to seconds: in its last second it counted as over.",
    source: github("nestjs/throttler", "issues/2074"),
    law: "twice-at-most",
    rules: { user: { rest: { limit: 1, windowSeconds: 1 } } },
    runs: 600,
    bad: ["@nestjs/throttler-6-0-0"],
    good: ["@nestjs/throttler-5-2-0", "@nestjs/throttler-6-1-0"],
    limiter: (alias, law) => nestThrottler(alias, [law]),
  },
  {
    name: "timers-of-others-cleared",
    package: "@nestjs/throttler",
    wrong:
      "When one caller's block ended, the timers of all callers were cleared: what they had counted never expired. We know of no report; the code that did it is gone in 6.6.0.",
    source: "https://www.npmjs.com/package/@nestjs/throttler/v/6.6.0?activeTab=versions",
    law: "isolated",
    runs: 200,
    bad: ["@nestjs/throttler-6-5-0"],
    good: ["@nestjs/throttler-5-2-0", "@nestjs/throttler-6-6-0"],
    limiter: (alias, law) => nestThrottler(alias, [law]),
  },
  {
    name: "read-then-add",
    package: "@nestjs/throttler",
    wrong:
      "With a storage elsewhere, such as Redis, a caller's hits were read and then one was added: calls that overlapped read the same count, and all were admitted.",
    source: github("nestjs/throttler", "issues/1303"),
    law: "refusal-justified",
    runs: 200,
    bad: ["@nestjs/throttler-3-1-0"],
    good: ["@nestjs/throttler-4-0-0"],
    overlapping: true,
    limiter: (alias, law) => nestThrottlerElsewhere(alias, [law]),
  },
  {
    name: "reset-of-the-oldest",
    package: "ratelimiter",
    wrong:
      "Refused calls are kept in the log, too, and the reset was that of the oldest call in it: who waited so long was refused again.",
    source: github("tj/node-ratelimiter", "pull/44"),
    law: "honest-wait",
    runs: 120,
    bad: ["ratelimiter-3-1-0"],
    good: ["ratelimiter-3-2-0", "ratelimiter"],
    onRedis: true,
    limiter: (alias, law, redis) => ratelimiter(alias, [law], needed(redis)),
  },
  {
    name: "log-never-shorter",
    package: "async-ratelimiter",
    wrong:
      "Calls that were over were read, and not removed: a caller's log grew for as long as it called once in a window.",
    source: "https://www.npmjs.com/package/async-ratelimiter/v/1.1.2?activeTab=versions",
    law: "honest-wait",
    runs: 120,
    bad: ["async-ratelimiter-1-0-2"],
    good: ["async-ratelimiter-1-1-2"],
    onRedis: true,
    limiter: (alias, law, redis) => asyncRatelimiter(alias, [law], needed(redis), "counted"),
  },
  {
    name: "forgets-the-window-before",
    package: "@upstash/ratelimit",
    wrong:
      "The sliding window looked for the window before under a key that was never written: around a window's end twice the limit was let through.",
    source: "https://www.npmjs.com/package/@upstash/ratelimit/v/0.4.4?activeTab=versions",
    law: "rate-bound",
    runs: 100,
    bad: ["upstash-ratelimit-0-4-3"],
    good: ["upstash-ratelimit-0-4-4"],
    onRedis: true,
    limiter: (alias, law, redis) => upstashSlidingWindow(alias, [law], needed(redis)),
  },
  {
    name: "count-of-a-key-that-ends",
    package: "rate-limit-redis",
    wrong:
      "A call in a key's last millisecond, in which 0 ms are left, was added to the old count, and that count was given a whole window more.",
    source: github("express-rate-limit/rate-limit-redis", "issues/216"),
    law: "recovers",
    runs: 100,
    bad: ["rate-limit-redis-4-2-0"],
    good: ["rate-limit-redis-4-3-1", "rate-limit-redis"],
    onRedis: true,
    limiter: (alias, law, redis) => rateLimitRedis(alias, [law], needed(redis)),
  },
  {
    name: "key-ends-between-commands",
    package: "koa2-ratelimit",
    wrong:
      "A key that ended between reading its count and adding to it was made anew without an end: its caller was refused for ever. Version 1.1 gives such a key an end at the next call, but adds 1 to the text of its count: 1 becomes 11, and the caller is refused for one more window.",
    source: github("ysocorp/koa2-ratelimit", "pull/44"),
    law: "recovers",
    runs: 300,
    bad: ["koa2-ratelimit-1-0-1", "koa2-ratelimit-1-1-1"],
    good: [],
    clockMoves: true,
    onRedis: true,
    limiter: (alias, law, redis) => koa2Ratelimit(alias, [law], redis),
  },
  {
    name: "strict-is-not",
    package: "p-throttle",
    wrong:
      "`strict` kept a call that came late with the time at which it could have begun: it counted as older than it was, and more calls than the limit began at once.",
    source: "https://www.npmjs.com/package/p-throttle/v/8.1.0?activeTab=versions",
    law: "rate-bound",
    runs: 200,
    bad: ["p-throttle-8-0-0"],
    good: ["p-throttle"],
    limiter: (alias, law) => pThrottle([law], alias),
  },
  {
    name: "remaining-below-zero",
    package: "rate-limiter-flexible",
    wrong: "In memory, `get` told a negative number of remaining points: each refused call takes one.",
    source: github("animir/node-rate-limiter-flexible", "issues/172"),
    law: "remaining-agrees",
    runs: 60,
    bad: ["rlf-2-3-7"],
    good: ["rlf-2-3-8", "rate-limiter-flexible"],
    limiter: (alias, law) => flexibleMemory(alias, [law]),
  },
  {
    name: "one-call-too-few",
    package: "ratelimiter",
    wrong:
      "What was left was told without the call that asked, and 0 was a refusal: of 3 calls 2 were let through.",
    source: github("koajs/ratelimit", "pull/10"),
    law: "recovers",
    rules: { user: { rest: { limit: 1, windowSeconds: 10 } } },
    runs: 60,
    bad: ["ratelimiter-1-0-3"],
    good: ["ratelimiter-2-0-1"],
    onRedis: true,
    limiter: (alias, law, redis) => ratelimiter(alias, [law], needed(redis)),
  },
  {
    name: "one-token-is-none",
    package: "@upstash/ratelimit",
    wrong: "A sliding window of one token admitted nobody: what was left after the call had to be above 0.",
    source: github("upstash/ratelimit-js", "issues/39"),
    law: "recovers",
    rules: { user: { rest: { limit: 1, windowSeconds: 10 } } },
    runs: 60,
    bad: ["upstash-ratelimit-0-4-0"],
    good: ["upstash-ratelimit-0-4-1"],
    onRedis: true,
    limiter: (alias, law, redis) => upstashSlidingWindow(alias, [law], needed(redis)),
  },
  {
    name: "tokens-of-an-interval",
    package: "limiter",
    wrong:
      "`tryRemoveTokens` did not add to the tokens of its interval: the bucket beneath it refilled, and let almost twice the limit through.",
    source: "https://www.npmjs.com/package/limiter/v/1.1.3?activeTab=versions",
    law: "rate-bound",
    runs: 200,
    bad: ["limiter-1-1-1"],
    good: ["limiter-1-1-5"],
    limiter: (alias, law) => oldLimiter(alias, [law]),
  },
  {
    name: "window-of-the-last-job",
    package: "p-queue",
    wrong:
      "After a window had ended, a job waited until an interval had passed since the last one began, however much room the new window had.",
    source: github("sindresorhus/p-queue", "issues/251"),
    law: "refusal-justified",
    runs: 60,
    bad: ["p-queue-9-3-2"],
    good: ["p-queue-9-3-3"],
    limiter: (alias, law) => pQueue([law], alias),
  },
  {
    name: "milliseconds-for-seconds",
    package: "@fastify/rate-limit",
    wrong:
      "`retry-after`, which is in seconds, told the window's length in ms: of a window of 10 s, to come back in three hours.",
    source: "https://www.npmjs.com/package/@fastify/rate-limit/v/8.0.3?activeTab=versions",
    law: "honest-wait",
    runs: 120,
    bad: ["@fastify/rate-limit-8-0-1"],
    good: ["@fastify/rate-limit-9-0-0"],
    limiter: (alias, law) => fastifyRateLimit({ plugin: alias, fastify: "fastify-4" }, [law]),
  },
  {
    name: "answers-in-pairs",
    package: "redis-rate-limiter",
    wrong:
      "ioredis answers a transaction by pairs of an error and a value; the pair was taken for the count, which is above no limit: nobody was refused.",
    source: "https://www.npmjs.com/package/redis-rate-limiter/v/1.2.0?activeTab=versions",
    law: "refusal-justified",
    runs: 30,
    bad: ["redis-rate-limiter-1-1-0"],
    good: ["redis-rate-limiter"],
    onRedis: true,
    limiter: (alias, law, redis) => redisRateLimiter([law], needed(redis), alias),
  },
  ...laterBugs,
];
