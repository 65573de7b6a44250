// Linear's limits of requests and of complexity an hour: refusals with status 400, resets in ms.
import type { Preset } from "../preset.ts";

const bucket = (capacity: number, everyMs: number, unit: string) => ({
  key: ["user"],
  algorithm: { kind: "token-bucket", capacity, refill: { amount: capacity, everyMs } } as const,
  unit,
  shown: { retryAfter: false },
});
const hourMs = 3_600_000;
const reset = { form: "epoch-ms", means: "full" } as const;
const limited = "Rate limit exceeded";

export const linear: Preset = {
  title: "Linear's GraphQL API, for a personal API key",
  wire: {
    revision: "2026-11",
    readings: [
      {
        quotas: ["requests"],
        headers: {
          "X-RateLimit-Requests-Limit": "{limit}",
          "X-RateLimit-Requests-Remaining": "{remaining}",
          "X-RateLimit-Requests-Reset": "{reset}",
        },
        reset,
      },
      {
        quotas: ["complexity"],
        headers: {
          "X-Complexity": "{cost}",
          "X-RateLimit-Complexity-Limit": "{limit}",
          "X-RateLimit-Complexity-Remaining": "{remaining}",
          "X-RateLimit-Complexity-Reset": "{reset}",
        },
        reset,
      },
      {
        quotas: ["endpoint"],
        headers: {
          "X-RateLimit-Endpoint-Name": "{quota}",
          "X-RateLimit-Endpoint-Requests-Limit": "{limit}",
          "X-RateLimit-Endpoint-Requests-Remaining": "{remaining}",
          "X-RateLimit-Endpoint-Requests-Reset": "{reset}",
        },
        reset,
      },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [
      {
        outcome: "refused",
        status: [400, 429],
        body: { "/errors/*/message": [limited, "*"], "/errors/*/extensions/code": "RATELIMITED" },
      },
    ],
  },
  policy: {
    version: 2,
    name: "linear",
    quotas: {
      requests: bucket(2500, hourMs, "requests"),
      complexity: bucket(3_000_000, hourMs, "points"),
      endpoint: bucket(5, 60_000, "requests"),
    },
    operations: {
      query: {
        uses: { requests: 1, complexity: "declared" },
        samples: [
          {
            method: "POST",
            path: "/graphql",
            headers: { "Content-Type": "application/json" },
            body: { query: 'query WhoAmI { user(id: "me") { name } }' },
            cost: 2,
          },
        ],
      },
    },
    routes: [{ methods: ["POST"], path: "/graphql", operation: "query" }],
    auth: { form: ["{token}", "Bearer {token}"], attributes: ["user"] },
    wire: "linear",
  },
  notes: [
    "The limits are those of an API key: 2,500 requests and 3,000,000 points an hour; others hold for OAuth and addresses.",
    "Buckets refill at a constant rate, so a reset is taken for the instant at which all is back.",
    "A refusal has status 400 and an error of code RATELIMITED. Its sentence is an example; no Retry-After is documented.",
    "Some queries have a limit of their own, under their own name. What `endpoint` allows is an example, and no operation uses it.",
    "A property costs 0.1 points and an object 1, times what a connection pages; callers declare it.",
    "A query of more than 10,000 points is always rejected; that is left out.",
  ],
  sources: [
    { at: "linear.app/developers/rate-limiting", kind: "documented", seen: "2026-11-22" },
    { at: "vanillagreencom/kendex#1018", kind: "observed", seen: "2026-11-22" },
    { at: "linear/linear#694", kind: "source", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A query with room left: instants in ms, and what it cost",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 200,
        headers: {
          "x-ratelimit-requests-limit": "2500",
          "x-ratelimit-requests-remaining": "2499",
          "x-ratelimit-requests-reset": "1795305601690",
          "x-complexity": "2",
          "x-ratelimit-complexity-limit": "3000000",
          "x-ratelimit-complexity-remaining": "2999998",
          "x-ratelimit-complexity-reset": "1795305600253",
        },
        body: { data: { user: { name: "Ann" } } },
      },
      shows: {
        outcome: "admitted",
        by: null,
        readings: [
          {
            quota: "requests",
            limit: 2500,
            remaining: 2499,
            reset: { atMs: 1_795_305_601_690, gridMs: 1, means: "full" },
          },
          { quota: "complexity", limit: 3_000_000, remaining: 2_999_998 },
        ],
      },
    },
    {
      title: "A refusal with status 400, by requests",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 400,
        headers: {
          "x-ratelimit-requests-limit": "2500",
          "x-ratelimit-requests-remaining": "0",
          "x-ratelimit-requests-reset": "1795309200250",
          "x-ratelimit-complexity-limit": "3000000",
          "x-ratelimit-complexity-remaining": "2995000",
          "x-ratelimit-complexity-reset": "1795305606250",
        },
        body: { errors: [{ message: limited, extensions: { code: "RATELIMITED", statusCode: 429 } }] },
      },
      shows: {
        outcome: "refused",
        by: "requests",
        retryAfter: null,
        readings: [
          { quota: "requests", remaining: 0, reset: { atMs: 1_795_309_200_250 } },
          { quota: "complexity", remaining: 2_995_000 },
        ],
      },
    },
    {
      title: "A refusal by the limit of one mutation, which the answer names",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 400,
        headers: {
          "x-ratelimit-requests-limit": "2500",
          "x-ratelimit-requests-remaining": "2499",
          "x-ratelimit-requests-reset": "1795305601690",
          "x-ratelimit-endpoint-name": "issueCreate",
          "x-ratelimit-endpoint-requests-limit": "5",
          "x-ratelimit-endpoint-requests-remaining": "0",
          "x-ratelimit-endpoint-requests-reset": "1795305660250",
        },
        body: { errors: [{ message: limited, extensions: { code: "RATELIMITED" } }] },
      },
      shows: {
        outcome: "refused",
        by: "issueCreate",
        readings: [
          { quota: "requests", remaining: 2499 },
          { quota: "issueCreate", limit: 5, remaining: 0 },
        ],
      },
    },
    {
      title: "Another error with status 400",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 400,
        headers: {},
        body: { errors: [{ message: "Syntax Error", extensions: { code: "GRAPHQL_PARSE_FAILED" } }] },
      },
      // Its headers are not documented: those of other answers would make it an admitted one.
      shows: { outcome: "unknown", by: null, readings: [] },
    },
  ],
};
