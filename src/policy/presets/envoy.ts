// Envoy's global limits: the X-RateLimit headers of its filter (draft 03), and the JSON of its reference service.
import type { Preset } from "../preset.ts";

export const envoyFilter: Preset = {
  title: "Envoy's filter ratelimit, its X-RateLimit headers of draft 03",
  wire: {
    revision: "draft 03",
    readings: [
      {
        headers: {
          // The first item is the quota with the least left; each further item is a quota that was checked.
          "x-ratelimit-limit": [
            '{limit}, {limit};w={window};name="{quota}"',
            "{limit}, {limit};w={window}",
            "{limit}, *",
            "{limit}",
          ],
          "x-ratelimit-remaining": "{remaining}",
          "x-ratelimit-reset": "{reset}",
        },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      },
    ],
    outcomes: [{ outcome: "refused", status: [429], headers: { "x-envoy-ratelimited": ["true", "*"] } }],
  },
  policy: {
    version: 2,
    name: "envoy-filter",
    quotas: {
      "per-ip": {
        algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 1 },
        key: ["client"],
        charge: { refused: "counted" },
        shown: { retryAfter: false },
      },
      hourly: {
        algorithm: { kind: "fixed-window", limit: 1000, windowSeconds: 3600 },
        key: ["client"],
        charge: { refused: "counted" },
        shown: { retryAfter: false },
      },
    },
    operations: {
      call: { uses: { "per-ip": 1, hourly: 1 }, relation: "each-alone", samples: [{ path: "/" }] },
    },
    routes: [{ path: "/**", operation: "call" }],
    wire: "envoy-filter",
  },
  notes: [
    "The limits are those of the documentation's example; the name `hourly` is ours.",
    "Headers are off unless `enable_x_ratelimit_headers` is DRAFT_VERSION_03.",
    "They show the quota with the least left. Its name is read where it is the only one that they list; the others' limits are not read.",
    "A refusal by the local filter looks alike, of a token bucket for each process; Istio's are one or the other.",
    "Answers tell no advice when to come back. `rate_limited_status` may be another status.",
  ],
  sources: [
    {
      at: "www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/ratelimit/v3/rate_limit.proto",
      kind: "documented",
      seen: "2026-11-22",
    },
    {
      at: "envoyproxy/envoy source/extensions/filters/http/ratelimit/ratelimit_headers.cc",
      kind: "source",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "A call under one quota",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 200,
        headers: {
          "x-ratelimit-limit": '10, 10;w=1;name="per-ip"',
          "x-ratelimit-remaining": "7",
          "x-ratelimit-reset": "1",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "per-ip",
            limit: 10,
            remaining: 7,
            windowSeconds: 1,
            reset: { afterMs: 1000, gridMs: 1000, means: "window-end" },
          },
        ],
      },
    },
    {
      title: "A refusal under two quotas: the headers show one, and do not say which",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: {
          "x-envoy-ratelimited": "true",
          "x-ratelimit-limit": '10, 10;w=1;name="per-ip", 1000;w=3600',
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "1",
        },
      },
      shows: {
        outcome: "refused",
        by: null,
        retryAfter: null,
        readings: [{ quota: null, limit: 10, remaining: 0, windowSeconds: null, reset: { afterMs: 1000 } }],
      },
    },
    {
      title: "The second of two quotas has the least left",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 200,
        headers: {
          "x-ratelimit-limit": '1000, 10;w=1;name="per-ip", 1000;w=3600;name="hourly"',
          "x-ratelimit-remaining": "3",
          "x-ratelimit-reset": "1200",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [{ quota: null, limit: 1000, remaining: 3, reset: { afterMs: 1_200_000 } }],
      },
    },
  ],
};

export const envoyJson: Preset = {
  title: "envoyproxy/ratelimit, Envoy's reference service, its endpoint /json",
  wire: {
    revision: "2026-07",
    readings: [
      {
        body: {
          "/statuses/*/currentLimit/name": "{quota}",
          "/statuses/*/currentLimit/requestsPerUnit": "{limit}",
          "/statuses/*/limitRemaining": "{remaining}",
          "/statuses/*/durationUntilReset": "{reset}",
        },
        omitsZero: true,
        reset: { form: "go-duration", means: "window-end", round: "ceil", gridMs: 1000 },
      },
    ],
    outcomes: [{ outcome: "refused", status: [429], body: { "/overallCode": "OVER_LIMIT" } }],
  },
  policy: {
    version: 2,
    name: "envoy-json",
    quotas: {
      one: {
        algorithm: { kind: "fixed-window", limit: 1, windowSeconds: 60 },
        key: ["client"],
        charge: { refused: "counted" },
        shown: { retryAfter: false },
      },
      two: {
        algorithm: { kind: "fixed-window", limit: 2, windowSeconds: 60 },
        key: ["client"],
        charge: { refused: "counted" },
        shown: { retryAfter: false },
      },
    },
    operations: {
      check: {
        uses: { one: 1, two: 1 },
        relation: "each-alone",
        samples: [
          {
            method: "POST",
            path: "/json",
            body: {
              domain: "dummy",
              descriptors: [
                { entries: [{ key: "one", value: "a" }] },
                { entries: [{ key: "two", value: "a" }] },
              ],
            },
          },
        ],
      },
    },
    routes: [{ methods: ["POST"], path: "/json", operation: "check" }],
    wire: "envoy-json",
  },
  notes: [
    "The limits are those of the README's example: descriptors of 1 and 2 calls a minute. A key is what the descriptors say; here a token stands for it.",
    "A status has a name where its limit has one in the configuration. Without, nobody knows which of several quotas it is.",
    "Members that are 0 are missing: a status without `limitRemaining` has nothing left.",
    "`code`, `unit` and the `overallCode` of a call that passes are neither read nor written.",
    "All descriptors count a call, even if one refuses. Months count 30 days, years 365.",
    "Descriptors in shadow mode never refuse; those in quota mode refuse only if all of them are over.",
  ],
  sources: [
    {
      at: "envoyproxy/ratelimit README.md, src/server/server_impl.go, src/limiter/base_limiter.go",
      kind: "source",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "A call that both descriptors admit",
      seen: "2026-11-22",
      operation: "check",
      answer: {
        status: 200,
        headers: {},
        body: {
          overallCode: "OK",
          statuses: [
            {
              code: "OK",
              currentLimit: { name: "one", requestsPerUnit: 1, unit: "MINUTE" },
              durationUntilReset: "21s",
            },
            {
              code: "OK",
              currentLimit: { name: "two", requestsPerUnit: 2, unit: "MINUTE" },
              limitRemaining: 1,
              durationUntilReset: "21s",
            },
          ],
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          { quota: "one", limit: 1, remaining: 0, reset: { afterMs: 21_000, means: "window-end" } },
          { quota: "two", limit: 2, remaining: 1, reset: { afterMs: 21_000, means: "window-end" } },
        ],
      },
    },
    {
      title: "A refusal by one of two descriptors that have no names",
      seen: "2026-11-22",
      operation: "check",
      answer: {
        status: 429,
        headers: {},
        body: {
          overallCode: "OVER_LIMIT",
          statuses: [
            { code: "OVER_LIMIT", currentLimit: { requestsPerUnit: 1, unit: "MINUTE" } },
            { code: "OK", currentLimit: { requestsPerUnit: 2, unit: "MINUTE" }, limitRemaining: 1 },
          ],
        },
      },
      shows: {
        outcome: "refused",
        by: null,
        readings: [
          { quota: null, limit: 1, remaining: 0, reset: null },
          { quota: null, limit: 2, remaining: 1, reset: null },
        ],
      },
    },
    {
      title: "A descriptor without a limit",
      seen: "2026-11-22",
      operation: "check",
      answer: { status: 200, headers: {}, body: { overallCode: "OK", statuses: [{ code: "OK" }] } },
      shows: { outcome: "admitted", readings: [] },
    },
  ],
};
