// Traefik's middleware rateLimit, which shows something only in refusals.
import type { Preset } from "../preset.ts";

export const traefik: Preset = {
  title: "Traefik 3, its middleware rateLimit",
  wire: {
    revision: "3",
    retryAfter: [
      { header: "X-Retry-In", form: "go-duration" },
      { header: "Retry-After", form: "delta-s" },
    ],
  },
  policy: {
    version: 2,
    name: "traefik",
    quotas: {
      requests: {
        algorithm: { kind: "token-bucket", capacity: 200, refill: { amount: 100, everyMs: 1000 } },
        key: ["client"],
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    wire: "traefik",
  },
  notes: [
    "The limits are the documentation's example: `average` 100, `period` 1s, `burst` 200. By default there is no limit.",
    "A key is an IP address unless `sourceCriterion` names a header or the host.",
    "A call waits up to half of the time that one token takes, at most 0.5 s, before it is refused: about half a call more fits than the policy says.",
    "X-Retry-In has fractions down to nanoseconds, which are read to ms.",
  ],
  sources: [
    {
      at: "traefik/traefik pkg/middlewares/ratelimiter/rate_limiter.go, in_memory_limiter.go",
      kind: "source",
      seen: "2026-11-22",
    },
    {
      at: "traefik/traefik docs/content/reference/routing-configuration/http/middlewares/ratelimit.md",
      kind: "documented",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "A call that passes shows nothing",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 200, headers: {} },
      shows: { outcome: "admitted", retryAfter: null, readings: [] },
    },
    {
      title: "A refusal, whose X-Retry-In is a duration of Go",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: { "Retry-After": "1", "X-Retry-In": "9.837261ms" },
        body: "Too Many Requests",
      },
      shows: { outcome: "refused", by: "requests", retryAfter: { afterMs: 10, gridMs: 1 }, readings: [] },
    },
    {
      title: "A refusal at one call a minute",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: { "Retry-After": "120", "X-Retry-In": "1m59.25s" },
        body: "Too Many Requests",
      },
      shows: { outcome: "refused", by: "requests", retryAfter: { afterMs: 119_250 }, readings: [] },
    },
  ],
};
