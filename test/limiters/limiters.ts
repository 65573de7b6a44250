// Limiters of npm as they are today: how each is set up, what its documentation promises, and which laws say so.
// A law that none of these words promises is not claimed, and its absence is no fault.
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { bottleneck } from "./adapters/bottleneck.ts";
import { expressRateLimit } from "./adapters/express-rate-limit.ts";
import { fastifyRateLimit } from "./adapters/fastify-rate-limit.ts";
import { hapiRateLimit } from "./adapters/hapi-rate-limit.ts";
import { honoRateLimiter } from "./adapters/hono-rate-limiter.ts";
import { koaRatelimit } from "./adapters/koa-ratelimit.ts";
import { koa2Ratelimit } from "./adapters/koa2-ratelimit.ts";
import { limiter } from "./adapters/limiter.ts";
import { nestThrottler } from "./adapters/nest-throttler.ts";
import { flexibleMemory, flexibleRedis } from "./adapters/rate-limiter-flexible.ts";
import { honoRedis, nestRedis, rateLimitRedis } from "./adapters/redis-stores.ts";
import { asyncRatelimiter, ratelimiter } from "./adapters/sliding-redis.ts";
import { moreStrangers } from "./more-limiters.ts";
import {
  fixedWindow,
  npm,
  overlapping,
  perKey,
  type Stranger,
  sharesItsCount,
  type Wording,
} from "./stranger.ts";

const expressDocs = "https://express-rate-limit.mintlify.app/reference/configuration";
const fastifyDocs = "https://github.com/fastify/fastify-rate-limit#readme";
const flexibleDocs = "https://github.com/animir/node-rate-limiter-flexible#readme";

const flexiblePromises: readonly Wording[] = [
  {
    words:
      "All operations in memory or distributed environment use atomic increments against race conditions.",
    link: flexibleDocs,
    laws: ["refusal-justified"],
  },
  {
    words:
      "The Flexible Fixed Window algorithm starts counting from the moment a request is received, diversifying rate limit reset times across clients.",
    link: flexibleDocs,
    laws: [...perKey, ...fixedWindow],
  },
  {
    words: "consumedPoints: 5, // Number of consumed points in current duration",
    link: flexibleDocs,
    laws: ["conserved", "monotone"],
  },
  {
    words: "remainingPoints: 0, // Number of remaining points in current duration",
    link: flexibleDocs,
    laws: ["remaining-agrees"],
  },
  {
    words: "msBeforeNext: 250, // Number of milliseconds before next action can be done",
    link: flexibleDocs,
    laws: ["reset-agrees"],
  },
];

export const strangers: readonly Stranger[] = [
  {
    name: "express-rate-limit",
    package: "express-rate-limit",
    setting: 'its middleware with the MemoryStore, `standardHeaders: "draft-6"`, a mapped IPv4 address a key',
    broken: sharesItsCount,
    promises: [
      {
        words:
          "The maximum number of connections to allow during the `window` before rate limiting the client.",
        link: `${expressDocs}#limit`,
        laws: fixedWindow,
      },
      {
        words: "By default, the client's IP address is used",
        link: `${expressDocs}#keygenerator`,
        laws: perKey,
      },
      {
        words:
          "separate `RateLimit-Policy` `RateLimit-Limit`, `RateLimit-Remaining`, and, if the store supports it, `RateLimit-Reset` headers are set on the response",
        link: `${expressDocs}#standardheaders`,
        laws: ["limit-agrees", "remaining-agrees", "reset-agrees"],
      },
      {
        words: "The `Store` to use to store the hit count for each client.",
        link: `${expressDocs}#store`,
        laws: ["conserved", "monotone"],
      },
    ],
    limiter: (claims) => expressRateLimit("express-rate-limit", claims),
  },
  {
    name: "@fastify/rate-limit",
    package: "@fastify/rate-limit",
    setting: "the plugin with its LocalStore in Fastify 5, asked by `inject`, a key from a header",
    share: 0.3,
    broken: sharesItsCount,
    promises: [
      {
        words: "maximum number of requests a single client can perform inside a timeWindow",
        link: fastifyDocs,
        laws: [...perKey, ...fixedWindow],
      },
      {
        words: "`x-ratelimit-limit`: how many requests the client can make",
        link: fastifyDocs,
        laws: ["limit-agrees"],
      },
      {
        words: "`x-ratelimit-remaining`: how many requests remain to the client in the timewindow",
        link: fastifyDocs,
        laws: ["conserved", "monotone"],
      },
      {
        words: "`x-ratelimit-reset`: how many seconds must pass before the rate limit resets",
        link: fastifyDocs,
        laws: ["reset-agrees"],
      },
    ],
    limiter: (claims) => fastifyRateLimit({ plugin: "@fastify/rate-limit", fastify: "fastify" }, claims),
  },
  {
    name: "hono-rate-limiter",
    package: "hono-rate-limiter",
    setting: 'its middleware with the MemoryStore in Hono, `standardHeaders: "draft-6"`, a key from a header',
    broken: sharesItsCount,
    promises: [
      {
        words:
          "The maximum number of connections to allow during the `window` before rate limiting the client.",
        link: npm("hono-rate-limiter"),
        laws: [...perKey, ...fixedWindow],
      },
      {
        words: "Whether to enable support for the standardized rate limit headers (`RateLimit-*`).",
        link: npm("hono-rate-limiter"),
        laws: ["limit-agrees", "conserved", "monotone", "reset-agrees"],
      },
    ],
    limiter: (claims) => honoRateLimiter("hono-rate-limiter", claims),
  },
  {
    name: "rate-limiter-flexible, memory",
    package: "rate-limiter-flexible",
    setting: "RateLimiterMemory, `consume(key, cost)`",
    promises: [
      ...flexiblePromises,
      {
        words: "Memory: Supports dump() and restore() for graceful restarts and green/blue deployment",
        link: flexibleDocs,
        laws: ["snapshot-equals"],
      },
    ],
    limiter: (claims) => flexibleMemory("rate-limiter-flexible", claims),
  },
  {
    name: "rate-limiter-flexible, Redis",
    package: "rate-limiter-flexible",
    setting: "RateLimiterRedis on a real Redis by ioredis, `consume(key, cost)`",
    share: 0.1,
    promises: flexiblePromises,
    limiter: (claims, redis) => flexibleRedis("rate-limiter-flexible", claims, redis),
  },
  {
    name: "koa-ratelimit",
    package: "koa-ratelimit",
    setting: "its middleware with the memory driver, a key from the context's address",
    broken: sharesItsCount,
    promises: [
      {
        words: "`max` max requests within `duration`; `id` id to compare requests [ip]",
        link: npm("koa-ratelimit"),
        laws: [...perKey, ...fixedWindow],
      },
      { words: "`total` total number of requests", link: npm("koa-ratelimit"), laws: ["limit-agrees"] },
      {
        words: "`remaining` remaining number of requests",
        link: npm("koa-ratelimit"),
        laws: ["conserved", "monotone"],
      },
      { words: "`reset` reset timestamp", link: npm("koa-ratelimit"), laws: ["reset-agrees"] },
    ],
    limiter: (claims) => koaRatelimit("koa-ratelimit", claims),
  },
  {
    name: "@nestjs/throttler",
    package: "@nestjs/throttler",
    setting: "ThrottlerGuard with its storage in memory, one throttler, `blockDuration` not set",
    promises: [
      {
        words: "Throttler ensures that users can only make `limit` requests per `ttl` to each endpoint.",
        link: npm("@nestjs/throttler"),
        laws: ["isolated", "twice-at-most", "time-translates", "limit-agrees"],
      },
    ],
    limiter: (claims) => nestThrottler("@nestjs/throttler", claims),
  },
  {
    name: "limiter",
    package: "limiter",
    setting: "a RateLimiter a key, `tryRemoveTokens(cost)`",
    promises: [
      {
        words: "A maximum token count per interval, with continuous refill underneath",
        link: npm("limiter"),
        laws: ["twice-at-most", "time-translates"],
      },
    ],
    limiter: (claims) => limiter("limiter", claims),
  },
  {
    name: "bottleneck",
    package: "bottleneck",
    setting:
      "a limiter a key with a reservoir that is refreshed each window, `highWater: 0` and OVERFLOW: a job that cannot start at once is dropped",
    share: 0.5,
    promises: [
      {
        words:
          "every `reservoirRefreshInterval` (60000 ms), `reservoir` is automatically updated to be equal to the `reservoirRefreshAmount`",
        link: npm("bottleneck"),
        laws: ["twice-at-most", "time-translates"],
      },
    ],
    limiter: (claims) => bottleneck("bottleneck", claims),
  },
  {
    name: "rate-limit-redis",
    package: "rate-limit-redis",
    setting: "its RedisStore in express-rate-limit's middleware, on a real Redis by ioredis",
    share: 0.1,
    promises: [
      {
        words: "max: 100, // Limit each IP to 100 requests per `window`",
        link: npm("rate-limit-redis"),
        laws: [...perKey, ...fixedWindow, "conserved", "monotone", "limit-agrees"],
      },
    ],
    limiter: (claims, redis) => rateLimitRedis("rate-limit-redis", claims, redis),
  },
  {
    name: "hono-rate-limiter, Redis",
    package: "hono-rate-limiter",
    setting: "its RedisStore in its middleware in Hono, on a real Redis by ioredis",
    share: 0.1,
    broken: {
      rows: ["conserved", "refusal-justified", "monotone", "recovers", overlapping],
      why: "A call in a key's last millisecond, in which 0 ms are left, is added to the old count, and that count is given a whole window more: a caller at its limit is refused for another window. rate-limit-redis had the same script until 4.2.",
      issue: "issues/key-that-ends.md",
    },
    promises: [
      {
        words:
          "The maximum number of connections to allow during the `window` before rate limiting the client.",
        link: npm("hono-rate-limiter"),
        laws: [...perKey, ...fixedWindow, "conserved", "monotone", "limit-agrees"],
      },
    ],
    limiter: (claims, redis) => honoRedis("hono-rate-limiter", claims, redis),
  },
  {
    name: "@nest-lab/throttler-storage-redis",
    package: "@nest-lab/throttler-storage-redis",
    setting: "its storage in @nestjs/throttler's guard, one throttler, on a real Redis by ioredis",
    share: 0.1,
    promises: [
      {
        words: "throttlers: [{ limit: 5, ttl: seconds(60) }]",
        link: npm("@nest-lab/throttler-storage-redis"),
        laws: [...perKey, "rate-bound", "limit-agrees"],
      },
    ],
    limiter: (claims, redis) => nestRedis("@nest-lab/throttler-storage-redis", claims, redis),
  },
  {
    name: "koa2-ratelimit",
    package: "koa2-ratelimit",
    setting: "its middleware with its store in memory, a key from the context's address",
    promises: [
      {
        words:
          "max number of connections during `interval` milliseconds before sending a `429` response code",
        link: npm("koa2-ratelimit"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
    ],
    limiter: (claims) => koa2Ratelimit("koa2-ratelimit", claims, null),
  },
  {
    name: "koa2-ratelimit, Redis",
    package: "koa2-ratelimit",
    setting: "its middleware with its RedisStore, on a real Redis by node-redis",
    share: 0.1,
    broken: {
      rows: [overlapping],
      why: "It reads the count, and then writes 1, or adds 1: calls that overlap all read no count, and each writes 1.",
      issue: "issues/koa2-ratelimit.md",
    },
    promises: [
      {
        words:
          "max number of connections during `interval` milliseconds before sending a `429` response code",
        link: npm("koa2-ratelimit"),
        laws: [...perKey, "refusal-justified", "twice-at-most", "rate-bound"],
      },
    ],
    limiter: (claims, redis) => koa2Ratelimit("koa2-ratelimit", claims, redis),
  },
  {
    name: "hapi-rate-limit",
    package: "hapi-rate-limit",
    setting:
      "the plugin with hapi's cache in memory, `userLimit` alone, asked by `inject`, a key from a header",
    share: 0.1,
    broken: {
      rows: [overlapping],
      why: "It reads the count from the cache, and then writes the next one: calls that overlap read the same count, and all are let through, with hapi's own cache in memory, too.",
      issue: "issues/hapi-rate-limit.md",
    },
    promises: [
      {
        words: "`userLimit`: number of total requests a user can make per period.",
        link: npm("hapi-rate-limit"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
      {
        words: "`x-ratelimit-userlimit`: Will equal `userLimit`",
        link: npm("hapi-rate-limit"),
        laws: ["limit-agrees"],
      },
      {
        words: "`x-ratelimit-userremaining`: Remaining number of requests user has this period",
        link: npm("hapi-rate-limit"),
        laws: ["conserved", "monotone"],
      },
    ],
    limiter: (claims) => hapiRateLimit("hapi-rate-limit", claims),
  },
  {
    name: "ratelimiter",
    package: "ratelimiter",
    setting: "`get` on a real Redis by ioredis; its reset, rounded down, is read as the next ms",
    share: 0.1,
    promises: [
      {
        words: "`remaining` - number of calls left in current `duration`; `total` - `max` value",
        link: npm("ratelimiter"),
        laws: [...perKey, "rate-bound", "twice-at-most", "recovers", "time-translates", "limit-agrees"],
      },
      {
        words: "`resetMs` - time since epoch in milliseconds at which the rate limiting period will end",
        link: npm("ratelimiter"),
        laws: ["honest-wait"],
      },
    ],
    limiter: (claims, redis) => ratelimiter("ratelimiter", claims, redis),
  },
  {
    name: "async-ratelimiter",
    package: "async-ratelimiter",
    setting: "`get({ id })` on a real Redis by ioredis; its reset, rounded down, is read as the next second",
    share: 0.1,
    promises: [
      {
        words: "The maximum number of requests within `duration`.",
        link: npm("async-ratelimiter"),
        laws: [...perKey, "rate-bound", "twice-at-most", "recovers", "time-translates"],
      },
      { words: "`total`: `max` value.", link: npm("async-ratelimiter"), laws: ["limit-agrees"] },
      {
        words: "`reset`: time since epoch in seconds that the rate limiting period will end",
        link: npm("async-ratelimiter"),
        laws: ["honest-wait"],
      },
    ],
    limiter: (claims, redis) => asyncRatelimiter("async-ratelimiter", claims, redis, "uncounted"),
  },
  ...moreStrangers,
];

export const claimsOf = ({ promises }: Stranger): readonly LimiterLawName[] => [
  ...new Set(promises.flatMap(({ laws }) => laws)),
];
