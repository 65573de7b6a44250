// Spring Cloud Gateway's filter RequestRateLimiter with its limiter in Redis.
import type { Preset } from "../preset.ts";

const limits = {
  "X-RateLimit-Replenish-Rate": "10",
  "X-RateLimit-Burst-Capacity": "20",
  "X-RateLimit-Requested-Tokens": "1",
};

export const springCloudGateway: Preset = {
  title: "Spring Cloud Gateway, its filter RequestRateLimiter with Redis",
  wire: {
    revision: "2026-08",
    readings: [
      {
        headers: {
          "X-RateLimit-Remaining": "{remaining}",
          "X-RateLimit-Burst-Capacity": "{limit}",
          "X-RateLimit-Requested-Tokens": "{cost}",
        },
      },
    ],
  },
  policy: {
    version: 2,
    name: "spring-cloud-gateway",
    quotas: {
      requests: {
        algorithm: { kind: "token-bucket", capacity: 20, refill: { amount: 10, everyMs: 1000 } },
        key: ["user"],
        unit: "tokens",
        shown: { retryAfter: false },
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    wire: "spring-cloud-gateway",
  },
  notes: [
    "The limits are the documentation's examples: `replenishRate` 10, `burstCapacity` 20, `requestedTokens` 1.",
    "A key is the name of the principal unless a resolver says otherwise; each route has a bucket of its own.",
    "The script in Redis reads the clock in whole seconds, so that tokens come back in steps of a second; here they come back continuously.",
    "Where Redis does not answer, every call passes, and remaining is -1: nobody knows it.",
    "Answers tell no reset and no advice; X-RateLimit-Replenish-Rate is neither read nor written.",
    "The limiter by Bucket4j shows X-RateLimit-Remaining alone.",
  ],
  sources: [
    {
      at: "spring-cloud/spring-cloud-gateway spring-cloud-gateway-server-webflux/.../filter/ratelimit/RedisRateLimiter.java, META-INF/scripts/request_rate_limiter.lua",
      kind: "source",
      seen: "2026-11-22",
    },
    {
      at: "spring-cloud/spring-cloud-gateway docs/modules/ROOT/pages/spring-cloud-gateway-server-webflux/gatewayfilter-factories/requestratelimiter-factory.adoc",
      kind: "documented",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "A call with room left",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 200, headers: { "X-RateLimit-Remaining": "19", ...limits } },
      shows: {
        outcome: "admitted",
        readings: [{ quota: "requests", limit: 20, remaining: 19, reset: null }],
      },
    },
    {
      title: "A refusal, which tells nothing of when to come back",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 429, headers: { "X-RateLimit-Remaining": "0", ...limits } },
      shows: {
        outcome: "refused",
        by: "requests",
        retryAfter: null,
        readings: [{ quota: "requests", limit: 20, remaining: 0 }],
      },
    },
    {
      title: "A call while Redis is lost",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 200, headers: { "X-RateLimit-Remaining": "-1", ...limits } },
      shows: {
        outcome: "admitted",
        by: null,
        readings: [{ quota: "requests", limit: 20, remaining: -1 }],
      },
    },
  ],
};
