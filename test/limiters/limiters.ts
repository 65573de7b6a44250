// Limiters of npm as they are today: how each is set up, what its documentation promises, and which laws say so.
// A law that none of these words promises is not claimed, and its absence is no fault.
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import type { LawName } from "../../src/rules/laws.ts";
import { bottleneck } from "./adapters/bottleneck.ts";
import { expressRateLimit } from "./adapters/express-rate-limit.ts";
import { fastifyRateLimit } from "./adapters/fastify-rate-limit.ts";
import { honoRateLimiter } from "./adapters/hono-rate-limiter.ts";
import { koaRatelimit } from "./adapters/koa-ratelimit.ts";
import { limiter } from "./adapters/limiter.ts";
import { nestThrottler } from "./adapters/nest-throttler.ts";
import { flexibleMemory, flexibleRedis } from "./adapters/rate-limiter-flexible.ts";
import type { RealRedis } from "./redis.ts";

/** Words of a package's documentation, and the laws that say the same. */
export interface Wording {
  readonly words: string;
  readonly link: string;
  readonly laws: readonly LawName[];
}

export interface Stranger {
  readonly name: string;
  readonly package: string;
  /** How it is set up and asked. */
  readonly setting: string;
  readonly promises: readonly Wording[];
  /** Of the runs asked for, the share that it is given: some take long to make. */
  readonly share?: number;
  limiter(claims: readonly LawName[], redis: RealRedis): LimiterFactory;
}

const npm = (name: string): string => `https://www.npmjs.com/package/${name}`;

/** What follows where a window is kept for each key, from its first call, and holds a maximum. */
const perKey: readonly LawName[] = ["isolated"];
const fixedWindow: readonly LawName[] = ["refusal-justified", "recovers", "twice-at-most", "time-translates"];

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
    share: 0.5,
    promises: flexiblePromises,
    limiter: (claims, redis) => flexibleRedis("rate-limiter-flexible", claims, redis),
  },
  {
    name: "koa-ratelimit",
    package: "koa-ratelimit",
    setting: "its middleware with the memory driver, a key from the context's address",
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
];

export const claimsOf = ({ promises }: Stranger): readonly LawName[] => [
  ...new Set(promises.flatMap(({ laws }) => laws)),
];
