// @fastify/rate-limit 11 with its default limit and headers.
import type { KnownAnswer, Preset } from "../preset.ts";

const message = (after: string): string => `Rate limit exceeded, retry in ${after}`;

const answered = (
  title: string,
  status: number,
  answer: Omit<KnownAnswer["answer"], "status">,
  shows: KnownAnswer["shows"],
): KnownAnswer => ({
  title,
  seen: "2026-11-23",
  operation: "call",
  answer: { status, ...answer },
  shows,
});

export const fastify: Preset = {
  title: "@fastify/rate-limit 11 for Fastify, its x-ratelimit headers",
  wire: {
    revision: "11.2",
    readings: [
      {
        headers: {
          "x-ratelimit-limit": "{limit}",
          "x-ratelimit-remaining": "{remaining}",
          "x-ratelimit-reset": "{reset}",
        },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      },
    ],
    retryAfter: [{ header: "retry-after", form: "delta-s" }],
    outcomes: [
      {
        outcome: "refused",
        by: "ban",
        status: [403],
        headers: { "retry-after": "{retry}", "x-ratelimit-remaining": "0" },
      },
      {
        outcome: "refused",
        status: [429],
        body: {
          "/statusCode": "429",
          "/error": "Too Many Requests",
          "/message": [message("{retry} seconds"), message("*")],
        },
      },
    ],
  },
  policy: {
    version: 2,
    name: "fastify",
    quotas: {
      requests: {
        algorithm: { kind: "fixed-window", limit: 1000, windowSeconds: 60, anchor: "first-request" },
        key: ["client"],
        charge: { refused: "counted" },
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    wire: "fastify",
  },
  notes: [
    "The limit and window are the package's defaults: 1,000 requests in 60 seconds.",
    "A key is an IP address unless `keyGenerator` says otherwise; here a token stands for a client. A route with options of its own has a count of its own.",
    "`ban`, off by default, answers 403 after so many refusals of a window; no quota stands for it.",
    "Bodies say `1 minute` for 60 seconds; a stand-in says `60 seconds`.",
    "`enableDraftSpec` names the headers ratelimit-limit, -remaining and -reset, in the same form.",
    "`exponentialBackoff` and `continueExceeding` are left out.",
  ],
  sources: [
    { at: "fastify/fastify-rate-limit index.js, store/LocalStore.js", kind: "source", seen: "2026-11-22" },
    {
      at: "@fastify/rate-limit 11.2.0 of npm, run with fastify 5.12.8",
      kind: "observed",
      seen: "2026-11-23",
    },
  ],
  answers: [
    answered(
      "The first of 1,000 calls",
      200,
      {
        headers: {
          "x-ratelimit-limit": "1000",
          "x-ratelimit-remaining": "999",
          "x-ratelimit-reset": "60",
        },
        body: "ok",
      },
      {
        outcome: "admitted",
        readings: [
          {
            quota: "requests",
            limit: 1000,
            remaining: 999,
            reset: { afterMs: 60_000, gridMs: 1000, means: "window-end" },
          },
        ],
      },
    ),
    answered(
      "The call after 1,000",
      429,
      {
        headers: {
          "x-ratelimit-limit": "1000",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "59",
          "retry-after": "59",
        },
        body: { statusCode: 429, error: "Too Many Requests", message: message("59 seconds") },
      },
      {
        outcome: "refused",
        by: "requests",
        retryAfter: { afterMs: 59_000 },
        readings: [{ quota: "requests", limit: 1000, remaining: 0, reset: { afterMs: 59_000 } }],
      },
    ),
    answered(
      "A ban (`max` 2, `ban` 1)",
      403,
      {
        headers: {
          "x-ratelimit-limit": "2",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "60",
          "retry-after": "60",
        },
        body: { statusCode: 403, error: "Forbidden", message: message("1 minute") },
      },
      {
        outcome: "refused",
        by: "ban",
        retryAfter: { afterMs: 60_000 },
        readings: [{ quota: "requests", limit: 2, remaining: 0 }],
      },
    ),
    answered(
      "A 403 of the app itself, which is no refusal by a limit",
      403,
      {
        headers: {
          "x-ratelimit-limit": "2",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "60",
        },
      },
      { outcome: "admitted", by: null, readings: [{ quota: "requests", remaining: 0 }] },
    ),
  ],
};
