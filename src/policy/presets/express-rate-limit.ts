// express-rate-limit with its older headers (`legacyHeaders`, on by default) and its default limit.
import type { Preset } from "../preset.ts";

export const expressRateLimit: Preset = {
  title: "express-rate-limit 8 for Express, its X-RateLimit headers",
  wire: {
    revision: "8.7",
    readings: [
      {
        headers: {
          "X-RateLimit-Limit": "{limit}",
          "X-RateLimit-Remaining": "{remaining}",
          "X-RateLimit-Reset": "{reset}",
        },
        reset: { form: "epoch-s", means: "window-end", round: "ceil" },
      },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
  },
  policy: {
    version: 2,
    name: "express-rate-limit",
    quotas: {
      requests: {
        algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60, anchor: "first-request" },
        key: ["client"],
        charge: { refused: "counted" },
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    wire: "express-rate-limit",
  },
  notes: [
    "The limit and window are the package's defaults: 5 requests in 60 seconds.",
    "A key is an IP address unless `keyGenerator` says otherwise; here a token stands for a client.",
  ],
  sources: [
    {
      at: "express-rate-limit/express-rate-limit source/headers.ts, source/memory-store.ts",
      kind: "source",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "The first of five calls",
      seen: "2026-11-22",
      operation: "call",
      nowMs: 1_795_305_600_250,
      answer: {
        status: 200,
        headers: {
          "X-RateLimit-Limit": "5",
          "X-RateLimit-Remaining": "4",
          date: "Sun, 22 Nov 2026 00:00:00 GMT",
          "X-RateLimit-Reset": "1795305661",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "requests",
            limit: 5,
            remaining: 4,
            reset: { atMs: 1_795_305_661_000, gridMs: 1000, means: "window-end" },
          },
        ],
      },
    },
  ],
};
