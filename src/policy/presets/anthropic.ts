// Anthropic's limits of requests, input tokens and output tokens a minute, by organization and class of model.
import type { Preset, WrittenOutcome, WrittenReading } from "../preset.ts";

const perMinute = (capacity: number) => ({
  key: ["organization", "model"],
  algorithm: {
    kind: "token-bucket",
    capacity,
    refill: { amount: capacity, everyMs: 60_000 },
  } as const,
});
const tokens = (capacity: number) =>
  ({ ...perMinute(capacity), unit: "tokens", charge: { when: "reserve-settle" } }) as const;

const shown = (quota: string, word: string): WrittenReading => ({
  quotas: [quota],
  headers: {
    [`anthropic-ratelimit-${word}-limit`]: "{limit}",
    [`anthropic-ratelimit-${word}-remaining`]: "{remaining}",
    [`anthropic-ratelimit-${word}-reset`]: "{reset}",
  },
  reset: { form: "rfc3339", means: "full", round: "floor" },
  ...(quota === "requests" ? {} : { grain: 1000 }),
});

const error = { "/type": "error", "/error/type": "rate_limit_error" };
/** Returns a refusal. The sentence of its error names the quota. */
const refusal = (quota: string, words: string): WrittenOutcome => ({
  outcome: "refused",
  by: quota,
  status: [429],
  body: {
    ...error,
    "/error/message": [
      `This request would exceed the rate limit for your organization of {limit} ${words} per minute.`,
      `*${words}*`,
    ],
  },
});

export const anthropic: Preset = {
  title: "Anthropic's Messages API, for an organization of tier 1 and a Sonnet model",
  wire: {
    revision: "2023-06-01",
    readings: [
      shown("requests", "requests"),
      shown("tokens", "tokens"),
      shown("input_tokens", "input-tokens"),
      shown("output_tokens", "output-tokens"),
    ],
    retryAfter: [{ header: "retry-after", form: "delta-s" }],
    outcomes: [
      refusal("input_tokens", "input tokens"),
      refusal("output_tokens", "output tokens"),
      refusal("requests", "requests"),
      { outcome: "refused", status: [429], body: error },
    ],
  },
  policy: {
    version: 2,
    name: "anthropic",
    quotas: {
      requests: perMinute(50),
      input_tokens: tokens(30_000),
      output_tokens: tokens(8000),
      tokens: { ...tokens(38_000), enforced: false },
    },
    operations: {
      message: {
        uses: { requests: 1, input_tokens: "declared", output_tokens: "declared", tokens: "declared" },
        samples: [
          {
            method: "POST",
            path: "/v1/messages",
            headers: { "Content-Type": "application/json", "anthropic-version": "2023-06-01" },
            body: {
              model: "claude-sonnet-4-5",
              max_tokens: 100,
              messages: [{ role: "user", content: "Hello" }],
            },
            cost: 100,
            dearer: { pointer: "/max_tokens", costEach: 1 },
          },
        ],
      },
    },
    routes: [
      {
        methods: ["POST"],
        path: "/v1/messages",
        operation: "message",
        attributes: { model: { pointer: "/model" } },
      },
      { path: "/v1/models/**", operation: "other" },
    ],
    auth: { header: "x-api-key", form: "{token}", attributes: ["organization"] },
    wire: "anthropic",
  },
  notes: [
    "The numbers are those of tier 1: 50 requests, 30,000 input and 8,000 output tokens a minute.",
    "Remaining tokens are rounded to thousands, so 0 may be 499. A reset tells when all is back; it was seen before the answer's own date.",
    "The headers of tokens show the most restrictive limit: a workspace's, else the sum of input and output, which refuses nobody.",
    "A call declares one number of tokens, which is held as input, as output and in the sum; what it did not use comes back.",
    "Models of one class share a limit, and cached input is free; here each model has its own, and all input counts.",
    "Limits of priority and fast traffic, of workspaces, of spending and of growth are left out; 529 is an overload, and unknown.",
  ],
  sources: [
    { at: "platform.claude.com/docs/en/api/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "bespokelabsai/curator#535", kind: "observed", seen: "2026-11-22" },
    { at: "bespokelabsai/curator#239", kind: "observed", seen: "2026-11-22" },
    {
      at: "edubruell/tidyllm tests/testthat/claude/api.anthropic.com/v1/messages-e050b5-POST.R",
      kind: "observed",
      seen: "2026-11-22",
    },
    { at: "OpenHands/OpenHands#9259", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "Remaining tokens in thousands: 51 were used, and none is missing",
      seen: "2026-11-22",
      operation: "message",
      answer: {
        status: 200,
        headers: {
          date: "Tue, 15 Oct 2024 09:48:23 GMT",
          "anthropic-ratelimit-requests-limit": "50",
          "anthropic-ratelimit-requests-remaining": "49",
          "anthropic-ratelimit-requests-reset": "2024-10-15T09:49:10Z",
          "anthropic-ratelimit-tokens-limit": "40000",
          "anthropic-ratelimit-tokens-remaining": "40000",
          "anthropic-ratelimit-tokens-reset": "2024-10-15T09:48:23Z",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "requests",
            limit: 50,
            remaining: 49,
            reset: { atMs: 1_728_985_750_000, means: "full" },
          },
          { quota: "tokens", limit: 40_000, remaining: 40_000, reset: { atMs: 1_728_985_703_000 } },
        ],
      },
    },
    {
      title: "A reset 12 seconds before the answer's date",
      seen: "2026-11-22",
      operation: "message",
      answer: {
        status: 200,
        headers: {
          date: "Mon, 24 Feb 2025 20:38:03 GMT",
          "anthropic-ratelimit-requests-limit": "4000",
          "anthropic-ratelimit-requests-remaining": "3999",
          "anthropic-ratelimit-requests-reset": "2025-02-24T20:37:51Z",
          "anthropic-ratelimit-output-tokens-limit": "80000",
          "anthropic-ratelimit-output-tokens-remaining": "80000",
          "anthropic-ratelimit-output-tokens-reset": "2025-02-24T20:38:03Z",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "requests",
            remaining: 3999,
            reset: { atMs: 1_740_429_471_000, gridMs: 1000, means: "full" },
          },
          { quota: "output_tokens", remaining: 80_000 },
        ],
      },
    },
    {
      title: "A refusal by input tokens, with the seconds to wait",
      seen: "2026-11-22",
      operation: "message",
      answer: {
        status: 429,
        headers: {
          "retry-after": "23",
          "anthropic-ratelimit-requests-limit": "50",
          "anthropic-ratelimit-requests-remaining": "49",
          "anthropic-ratelimit-requests-reset": "2026-11-22T00:00:01Z",
          "anthropic-ratelimit-input-tokens-limit": "20000",
          "anthropic-ratelimit-input-tokens-remaining": "0",
          "anthropic-ratelimit-input-tokens-reset": "2026-11-22T00:01:00Z",
          "anthropic-ratelimit-output-tokens-limit": "8000",
          "anthropic-ratelimit-output-tokens-remaining": "0",
          "anthropic-ratelimit-output-tokens-reset": "2026-11-22T00:00:58Z",
        },
        body: {
          type: "error",
          error: {
            type: "rate_limit_error",
            message:
              "This request would exceed the rate limit for your organization (acme) of 20,000 input tokens per minute. For details, refer to: https://docs.anthropic.com/en/api/rate-limits.",
          },
        },
      },
      shows: {
        outcome: "refused",
        by: "input_tokens",
        retryAfter: { afterMs: 23_000 },
        readings: [
          { quota: "requests", remaining: 49 },
          { quota: "input_tokens", limit: 20_000, remaining: 0 },
          { quota: "output_tokens", remaining: 0 },
        ],
      },
    },
    {
      title: "An overload, which says nothing of a limit",
      seen: "2026-11-22",
      operation: "message",
      answer: {
        status: 529,
        headers: {},
        body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      },
      shows: { outcome: "unknown", by: null, readings: [] },
    },
  ],
};
