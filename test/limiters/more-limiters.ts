// More limiters of npm, among the most used: those that are asked by a key, queues, and more of Redis.
import { adonisAttempt, adonisPenalize } from "./adapters/adonis-limiter.ts";
import { asyncSema, pRatelimit, pThrottle } from "./adapters/begun-at-once.ts";
import {
  dFischerRateLimiter,
  elysiaRateLimit,
  fastRatelimit,
  graphqlRateLimit,
  lambdaRateLimiter,
  orpcMemory,
  rollingRateLimiter,
  sapphireRatelimits,
  sveltekitRateLimiter,
  tanstackPacer,
  tokenbucket,
} from "./adapters/by-key.ts";
import { expressBrute, expressSlowDown, expressThrottle } from "./adapters/express-like.ts";
import { hapiRateLimitor } from "./adapters/hapi-rate-limit.ts";
import { koaSimpleRatelimit } from "./adapters/koa-ratelimit.ts";
import { grammyRatelimiter, nestRedis, redisRateLimiter } from "./adapters/redis-stores.ts";
import { orpcRedis } from "./adapters/sliding-redis.ts";
import { asyncMutex, discordRateLimiter, nextRateLimit, tsRateLimiter } from "./adapters/taken.ts";
import {
  fixedWindow,
  npm,
  overlapping,
  perKey,
  type Stranger,
  sharesItsCount,
  type Wording,
} from "./stranger.ts";

const adonisDocs = "https://docs.adonisjs.com/guides/security/rate-limiting";
const orpcDocs = npm("@orpc/experimental-ratelimit");
const pacerDocs = "https://tanstack.com/pacer/latest/docs/framework/vanilla/guides/rate-limiting";
const pacerReference = "https://tanstack.com/pacer/latest/docs/reference/classes/RateLimiter";

/** Laws of a limiter that admits at most the limit in any span of the window's length. */
const log = ["rate-bound", "twice-at-most", "time-translates"] as const;

/** The package says the same of all its stores. */
const orpcPromises: readonly Wording[] = [
  {
    words: "The duration of the sliding window in milliseconds.",
    link: orpcDocs,
    laws: [...perKey, ...log, "recovers", "limit-agrees"],
  },
  {
    words: "Unix timestamp in milliseconds when the limits are reset.",
    link: orpcDocs,
    laws: ["honest-wait"],
  },
];

export const moreStrangers: readonly Stranger[] = [
  {
    name: "p-throttle",
    package: "p-throttle",
    setting: "a throttled function a key, `strict`; a call that does not begin at once is a refusal",
    promises: [
      {
        words:
          "The strict algorithm throttles each call individually, ensuring the limit is not exceeded for any interval.",
        link: npm("p-throttle"),
        laws: log,
      },
    ],
    limiter: (claims) => pThrottle(claims),
  },
  {
    name: "async-sema",
    package: "async-sema",
    setting: "a RateLimit a key; a call that does not begin at once is a refusal",
    promises: [
      {
        words:
          "The `timeUnit` is an optional argument setting the width of the rate limiting window in milliseconds.",
        link: npm("async-sema"),
        laws: log,
      },
    ],
    limiter: asyncSema,
  },
  {
    name: "p-ratelimit",
    package: "p-ratelimit",
    setting: "a pRateLimit a key, by `interval` and `rate`; a call that does not begin at once is a refusal",
    promises: [
      {
        words: "`rate`: how many API calls to allow over the interval period",
        link: npm("p-ratelimit"),
        laws: log,
      },
    ],
    limiter: pRatelimit,
  },
  {
    name: "@tanstack/pacer, fixed",
    package: "@tanstack/pacer",
    setting: 'a RateLimiter a key, `windowType: "fixed"`, `maybeExecute` and `getMsUntilNextWindow`',
    broken: {
      rows: ["honest-wait"],
      why: "The window's last instant is still of the window, and `getMsUntilNextWindow` ends there: who waits exactly so long is rejected, and told 0 ms.",
      issue: "issues/tanstack-pacer.md",
    },
    promises: [
      {
        words: "A fixed window starts when its first execution is accepted.",
        link: pacerDocs,
        laws: ["twice-at-most", "time-translates"],
      },
      {
        words: "Returns the number of milliseconds until the next execution will be possible",
        link: pacerReference,
        laws: ["honest-wait"],
      },
    ],
    limiter: (claims) => tanstackPacer("fixed", claims),
  },
  {
    name: "@tanstack/pacer, sliding",
    package: "@tanstack/pacer",
    setting: 'a RateLimiter a key, `windowType: "sliding"`, `maybeExecute` and `getMsUntilNextWindow`',
    promises: [
      {
        words: "A rolling window that allows executions as old ones expire.",
        link: pacerReference,
        laws: [...log, "recovers"],
      },
      {
        words: "Returns the number of milliseconds until the next execution will be possible",
        link: pacerReference,
        laws: ["honest-wait"],
      },
    ],
    limiter: (claims) => tanstackPacer("sliding", claims),
  },
  {
    name: "@d-fischer/rate-limiter",
    package: "@d-fischer/rate-limiter",
    setting: 'PartitionedTimeBasedRateLimiter, `limitReachedBehavior: "null"`',
    promises: [
      {
        words: "Rate limit your requests. (`bucketSize` in a `timeFrame`, by `getPartitionKey`)",
        link: npm("@d-fischer/rate-limiter"),
        laws: [...perKey, ...log, "recovers"],
      },
    ],
    limiter: dFischerRateLimiter,
  },
  {
    name: "express-slow-down",
    package: "express-slow-down",
    setting: "its middleware with its store in memory; a call that is delayed is a refusal",
    broken: sharesItsCount,
    promises: [
      {
        words:
          "The max number of requests allowed during `windowMs` before the middleware starts delaying responses.",
        link: npm("express-slow-down"),
        laws: [...perKey, ...fixedWindow, "rate-bound", "conserved", "monotone"],
      },
    ],
    limiter: expressSlowDown,
  },
  {
    name: "express-throttle",
    package: "express-throttle",
    setting: "its middleware with its store in memory and a `rate`",
    promises: [
      {
        words: "The throttling is done using the canonical token bucket algorithm",
        link: npm("express-throttle"),
        laws: [...perKey, ...log, "recovers", "give-back"],
      },
    ],
    limiter: expressThrottle,
  },
  {
    name: "fast-ratelimit",
    package: "fast-ratelimit",
    setting: "`consumeSync`",
    promises: [
      {
        words: "threshold: 20, // available tokens over timespan",
        link: npm("fast-ratelimit"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
      {
        words: "The reset scheduling is done per-namespace",
        link: npm("fast-ratelimit"),
        laws: ["isolated"],
      },
    ],
    limiter: fastRatelimit,
  },
  {
    name: "lambda-rate-limiter",
    package: "lambda-rate-limiter",
    setting: "`check(limit, key)`",
    promises: [
      {
        words: "Fast and efficient in-memory rate-limiter.",
        link: npm("lambda-rate-limiter"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
    ],
    limiter: lambdaRateLimiter,
  },
  {
    name: "@orpc/experimental-ratelimit, memory",
    package: "@orpc/experimental-ratelimit",
    setting: "MemoryRatelimiter, `limit(key)`",
    broken: {
      rows: ["honest-wait"],
      why: "At its `reset` the oldest timestamp still counts: who comes then is refused, and told the same `reset`. The limiter on Redis has no such fault.",
      issue: "issues/orpc-ratelimit.md",
    },
    promises: orpcPromises,
    limiter: orpcMemory,
  },
  {
    name: "@orpc/experimental-ratelimit, Redis",
    package: "@orpc/experimental-ratelimit",
    setting: "RedisRatelimiter, `limit(key)`, on a real Redis by ioredis",
    share: 0.1,
    promises: orpcPromises,
    limiter: orpcRedis,
  },
  {
    name: "rolling-rate-limiter",
    package: "rolling-rate-limiter",
    setting: "InMemoryRateLimiter, `limitWithInfo(key)`",
    promises: [
      {
        words:
          "any action will be blocked if 5 actions have already occured in the preceeding 60 seconds, without any set points at which this interval resets",
        link: npm("rolling-rate-limiter"),
        laws: [...perKey, ...log, "recovers"],
      },
      {
        words:
          "`millisecondsUntilAllowed: number` - The number of milliseconds the user must wait until they can make another action.",
        link: npm("rolling-rate-limiter"),
        laws: ["honest-wait"],
      },
    ],
    limiter: rollingRateLimiter,
  },
  {
    name: "graphql-rate-limit",
    package: "graphql-rate-limit",
    setting: "getGraphQLRateLimiter with its store in memory, one field, a context of its own for each call",
    broken: {
      rows: [overlapping],
      why: "It awaits the timestamps of its caller, and then stores them with its own: calls of one turn all read the same, and all are let through, with the store in memory, too.",
      issue: "issues/graphql-rate-limit.md",
    },
    promises: [
      {
        words: "Define the max number of calls to the given field per `window`.",
        link: npm("graphql-rate-limit"),
        laws: [...perKey, ...log, "recovers"],
      },
    ],
    limiter: graphqlRateLimit,
  },
  {
    name: "@sapphire/ratelimits",
    package: "@sapphire/ratelimits",
    setting: "RateLimitManager: `acquire(key).limited`, then `consume()`",
    promises: [
      {
        words: "The remaining amount of times this entry can be dripped before the bucket is empty.",
        link: npm("@sapphire/ratelimits"),
        laws: [...perKey, ...fixedWindow, "rate-bound", "conserved", "monotone"],
      },
      {
        words: "The timestamp that represents when this entry will reset back to a available state.",
        link: npm("@sapphire/ratelimits"),
        laws: ["reset-agrees", "honest-wait"],
      },
    ],
    limiter: sapphireRatelimits,
  },
  {
    name: "tokenbucket",
    package: "tokenbucket",
    setting: "a bucket a key that is filled once an interval, `removeTokensSync(1)`",
    promises: [
      {
        words: "By default it will wait the interval, and then add all the tokensToAddPerInterval at once.",
        link: npm("tokenbucket"),
        laws: [...log, "recovers"],
      },
    ],
    limiter: tokenbucket,
  },
  {
    name: "sveltekit-rate-limiter",
    package: "sveltekit-rate-limiter",
    setting: "RetryAfterRateLimiter with one plugin, 3 in 10 s, `check`",
    rules: { user: { rest: { limit: 3, windowSeconds: 10 } } },
    broken: {
      rows: ["honest-wait"],
      why: "`retryAfter` is rounded down, counted from the first refusal, and kept into the next window: who waits so long is refused again.",
      issue: "issues/sveltekit-rate-limiter.md",
    },
    promises: [
      {
        words: "Every call to isLimited counts as a hit towards the rate limit for the event.",
        link: npm("sveltekit-rate-limiter"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
      {
        words: "the number of seconds before the request should be attempted again",
        link: npm("sveltekit-rate-limiter"),
        laws: ["honest-wait"],
      },
    ],
    limiter: (claims) => sveltekitRateLimiter(claims),
  },
  {
    name: "elysia-rate-limit",
    package: "elysia-rate-limit",
    setting: "the plugin with its context in memory in Elysia, asked by `handle`, a key from a header",
    broken: sharesItsCount,
    promises: [
      {
        words: "Maximum of request to be allowed during 1 `duration` timeframe.",
        link: npm("elysia-rate-limit"),
        laws: [...perKey, ...fixedWindow, "rate-bound", "limit-agrees", "conserved", "monotone"],
      },
    ],
    limiter: elysiaRateLimit,
  },
  {
    name: "redis-rate-limiter",
    package: "redis-rate-limiter",
    setting: "its limiter without the middleware, on a real Redis by ioredis",
    share: 0.1,
    promises: [
      {
        words: "But uses a fixed-window algorithm",
        link: npm("redis-rate-limiter"),
        laws: [...perKey, ...fixedWindow, "rate-bound", "limit-agrees", "conserved", "monotone"],
      },
    ],
    limiter: redisRateLimiter,
  },
  {
    name: "@grammyjs/ratelimiter, Redis",
    package: "@grammyjs/ratelimiter",
    setting: "its middleware with its storage on a real Redis by ioredis",
    share: 0.1,
    promises: [
      {
        words: "timeFrame: 2000, limit: 3: allow only 3 messages to be handled every 2 seconds",
        link: npm("@grammyjs/ratelimiter"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
    ],
    limiter: grammyRatelimiter,
  },
  {
    name: "nestjs-throttler-storage-redis",
    package: "nestjs-throttler-storage-redis",
    setting: "its storage in @nestjs/throttler's guard, one throttler, on a real Redis by ioredis",
    share: 0.1,
    promises: [
      {
        words: "throttlers: [{ limit: 5, ttl: seconds(60) }]",
        link: npm("nestjs-throttler-storage-redis"),
        laws: [...perKey, "rate-bound", "twice-at-most", "limit-agrees"],
      },
    ],
    limiter: (claims, redis) => nestRedis("nestjs-throttler-storage-redis", claims, redis),
  },
  {
    name: "hapi-rate-limitor",
    package: "hapi-rate-limitor",
    setting:
      "the plugin on a real Redis by the client that it makes, asked by `inject`, a key by `getIp`; its reset, rounded down, is read as the next second",
    share: 0.1,
    promises: [
      {
        words: "`max`: the maximum number of requests allowed in a `duration`",
        link: npm("hapi-rate-limitor"),
        laws: [...perKey, "rate-bound", "twice-at-most", "recovers", "time-translates"],
      },
      {
        words: "`X-Rate-Limit-Limit`: total request limit (`max`) within `duration`",
        link: npm("hapi-rate-limitor"),
        laws: ["limit-agrees"],
      },
      {
        words: "`X-Rate-Limit-Reset`: time since epoch in seconds that the rate limiting period will end",
        link: npm("hapi-rate-limitor"),
        laws: ["honest-wait"],
      },
    ],
    limiter: hapiRateLimitor,
  },
  {
    name: "express-brute",
    package: "express-brute",
    setting:
      "`prevent` with its store in memory, `refreshTimeoutOnRequest: false`, and waits as long as the lifetime: so many attempts in it",
    promises: [
      {
        words:
          "Useful for allowing limits over fixed periods of time, for example: a limited number of requests per day.",
        link: npm("express-brute"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
      {
        words: 'the "Retry-After" header to the number of seconds until it is safe to try again',
        link: npm("express-brute"),
        laws: ["honest-wait"],
      },
    ],
    limiter: expressBrute,
  },
  {
    name: "@adonisjs/limiter, attempt",
    package: "@adonisjs/limiter",
    setting: "a LimiterManager with the store in memory, `attempt`, then `get`",
    promises: [
      {
        words: "uses atomic increments to avoid race conditions",
        link: adonisDocs,
        laws: [...perKey, ...fixedWindow, "rate-bound", "conserved", "monotone", "limit-agrees"],
      },
      {
        words: "Number of seconds after which the requests count will reset",
        link: npm("@adonisjs/limiter"),
        laws: ["honest-wait"],
      },
    ],
    limiter: adonisAttempt,
  },
  {
    name: "@adonisjs/limiter, penalize",
    package: "@adonisjs/limiter",
    setting: "a LimiterManager with the store in memory, `penalize` of a function that fails a turn later",
    broken: {
      rows: [overlapping],
      why: "`penalize` reads the count, runs the function, and counts its failure afterwards: calls that overlap all read the same count, and all run.",
      issue: "issues/adonis-limiter.md",
    },
    promises: [
      {
        words:
          "Returns error if rate limit is exhausted. Executes callback if requests are available. Increments counter and blocks key on callback failure",
        link: npm("@adonisjs/limiter"),
        laws: [...perKey, ...fixedWindow, "rate-bound"],
      },
      {
        words: "Number of seconds after which the requests count will reset",
        link: npm("@adonisjs/limiter"),
        laws: ["honest-wait"],
      },
    ],
    limiter: adonisPenalize,
  },
  {
    name: "async-mutex",
    package: "async-mutex",
    setting: "a Semaphore a key, whose places nobody gives back, `tryAcquire(semaphore).acquire(weight)`",
    broken: {
      rows: ["refusal-justified", "give-back", overlapping],
      why: "`tryAcquire` is a time-out of 0 ms, and what it gives up on stays in the semaphore's queue: until that weight is free, and for ever if it is more than the semaphore holds, every later `acquire` of less waits behind it, and every `tryAcquire` fails.",
      issue: "issues/async-mutex.md",
    },
    promises: [
      {
        words:
          "changes the behavior of `acquire` and `runExclusive` to immediately throw `E_ALREADY_LOCKED` if the mutex is not available",
        link: npm("async-mutex"),
        laws: [...perKey, "rate-bound", "refusal-justified", "give-back"],
      },
    ],
    limiter: asyncMutex,
  },
  {
    name: "discord.js-rate-limiter",
    package: "discord.js-rate-limiter",
    setting: "`take(key)`",
    broken: {
      rows: ["twice-at-most", "rate-bound", overlapping],
      why: "It asks a bucket for room, and takes the token by a method of `limiter` that waits until the interval has room, too: while it waits, the bucket keeps its token, and each further call is let through.",
      issue: "issues/discord-js-rate-limiter.md",
    },
    promises: [
      {
        words:
          "amount - Amount of times an action can be done within an interval. Ex: `2` would mean 2 times.",
        link: npm("discord.js-rate-limiter"),
        laws: [...perKey, ...log],
      },
    ],
    limiter: discordRateLimiter,
  },
  {
    name: "next-rate-limit",
    package: "next-rate-limit",
    setting: "`checkNext(request, limit)`, which throws to refuse",
    broken: {
      rows: ["refusal-justified", "recovers", overlapping],
      why: "The call is counted first, and refused where the count has come to the limit: of 10 requests 9 pass, and with a limit of 1 none does.",
      issue: "issues/next-rate-limit.md",
    },
    promises: [
      {
        words: "const headers = limiter.checkNext(req, 10); limit: headers.get('X-RateLimit-Limit')",
        link: npm("next-rate-limit"),
        laws: [...perKey, ...fixedWindow, "rate-bound", "limit-agrees"],
      },
    ],
    limiter: nextRateLimit,
  },
  {
    name: "ts-rate-limiter, sliding",
    package: "ts-rate-limiter",
    setting: '`consume(key)` with `algorithm: "sliding-window"` and the store in memory',
    broken: {
      rows: ["rate-bound", overlapping],
      why: "The log of a sliding window is thrown away whenever a fixed window beside it begins anew: calls of a moment ago no longer count, and almost twice the limit passes at once.",
      issue: "issues/ts-rate-limiter.md",
    },
    promises: [
      {
        words: "Sliding Window: More accurate, prevents traffic spikes at window boundaries",
        link: npm("ts-rate-limiter"),
        laws: [...perKey, ...log],
      },
      {
        words: "maxRequests: 100, // limit each IP to 100 requests per windowMs",
        link: npm("ts-rate-limiter"),
        laws: ["limit-agrees"],
      },
    ],
    limiter: tsRateLimiter,
  },
  {
    name: "koa-simple-ratelimit",
    package: "koa-simple-ratelimit",
    setting: "its middleware on a real Redis by ioredis",
    share: 0.1,
    broken: {
      rows: ["honest-wait", overlapping],
      why: "`Retry-After` is in seconds from now; the middleware sends the time at which a window would end that began now, in seconds since 1970. And it reads what is left before it takes one: calls that overlap read the same.",
      issue: "issues/koa-simple-ratelimit.md",
    },
    promises: [
      {
        words: "max requests within duration",
        link: npm("koa-simple-ratelimit"),
        laws: [...perKey, ...fixedWindow, "rate-bound", "conserved", "limit-agrees", "honest-wait"],
      },
    ],
    limiter: koaSimpleRatelimit,
  },
];
