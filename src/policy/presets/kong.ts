// Kong's plugin rate-limiting, with its default status and headers.
import { capitalized } from "../../rules/words.ts";
import type { Preset } from "../preset.ts";

const periods = ["second", "minute", "hour", "day", "month", "year"] as const;

export const kong: Preset = {
  title: "Kong Gateway 3, its plugin rate-limiting",
  wire: {
    revision: "3",
    readings: [
      {
        headers: {
          "RateLimit-Limit": "{limit}",
          "RateLimit-Remaining": "{remaining}",
          "RateLimit-Reset": "{reset}",
        },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      },
      ...periods.map((period) => ({
        quotas: [period],
        headers: {
          [`X-RateLimit-Limit-${capitalized(period)}`]: "{limit}",
          [`X-RateLimit-Remaining-${capitalized(period)}`]: "{remaining}",
        },
      })),
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [{ outcome: "refused", status: [429], body: { "/message": "API rate limit exceeded" } }],
  },
  policy: {
    version: 2,
    name: "kong",
    quotas: {
      minute: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 }, key: ["consumer"] },
      hour: { algorithm: { kind: "fixed-window", limit: 100, windowSeconds: 3600 }, key: ["consumer"] },
    },
    operations: { call: { uses: { minute: 1, hour: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    wire: "kong",
  },
  notes: [
    "The limits are examples: Kong has no defaults. A quota's name is its period: second, minute, hour, day, month, year.",
    "The headers without a period show the quota with the least left; which one it is, they do not say.",
    "Resets are at least 1. Months and years are those of the calendar in UTC, but count 30 and 365 days in a reset.",
    "Kong counts a call in a timer after its decision, so that calls at the same time may pass a limit. The policy decides and counts at once.",
    "`error_code`, `error_message` and `hide_client_headers` change how a refusal looks.",
  ],
  sources: [
    {
      at: "Kong/kong kong/plugins/rate-limiting/handler.lua, schema.lua, expiration.lua",
      kind: "source",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "A call with room in both windows",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 200,
        headers: {
          "X-RateLimit-Limit-Minute": "5",
          "X-RateLimit-Remaining-Minute": "3",
          "X-RateLimit-Limit-Hour": "100",
          "X-RateLimit-Remaining-Hour": "87",
          "RateLimit-Limit": "5",
          "RateLimit-Remaining": "3",
          "RateLimit-Reset": "42",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          { quota: null, limit: 5, remaining: 3, reset: { afterMs: 42_000, means: "window-end" } },
          { quota: "minute", limit: 5, remaining: 3, reset: null },
          { quota: "hour", limit: 100, remaining: 87, reset: null },
        ],
      },
    },
    {
      title: "A refusal by the minute's quota",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: {
          "Retry-After": "42",
          "X-RateLimit-Limit-Minute": "5",
          "X-RateLimit-Remaining-Minute": "0",
          "X-RateLimit-Limit-Hour": "100",
          "X-RateLimit-Remaining-Hour": "84",
          "RateLimit-Limit": "5",
          "RateLimit-Remaining": "0",
          "RateLimit-Reset": "42",
        },
        body: { message: "API rate limit exceeded" },
      },
      shows: {
        outcome: "refused",
        by: "minute",
        retryAfter: { afterMs: 42_000 },
        readings: [
          { quota: null, remaining: 0 },
          { quota: "minute", remaining: 0 },
          { quota: "hour", remaining: 84 },
        ],
      },
    },
    {
      title: "A refusal with a message of its own, and without the common headers",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: { "Retry-After": "42", "X-RateLimit-Remaining-Minute": "0" },
        body: { message: "Slow down" },
      },
      shows: { outcome: "refused", by: "minute", readings: [{ quota: "minute", remaining: 0 }] },
    },
  ],
};
