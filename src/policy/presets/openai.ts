// OpenAI's limits of requests and tokens a minute, which its headers show as spans until the whole quota is back.
import type { Preset, WrittenOutcome, WrittenReading } from "../preset.ts";

const perMinute = (capacity: number, unit: string) => ({
  key: ["organization", "model"],
  algorithm: {
    kind: "token-bucket",
    capacity,
    refill: { amount: capacity, everyMs: 60_000 },
  } as const,
  unit,
});

const shown = (quota: string): WrittenReading => ({
  quotas: [quota],
  headers: {
    [`x-ratelimit-limit-${quota}`]: "{limit}",
    [`x-ratelimit-remaining-${quota}`]: "{remaining}",
    [`x-ratelimit-reset-${quota}`]: "{reset}",
  },
  reset: { form: "go-duration", means: "full" },
});

/** Returns a refusal. The type of its error names the quota. */
const refusal = (quota: string, sentence: string): WrittenOutcome => ({
  outcome: "refused",
  by: quota,
  status: [429],
  body: {
    "/error/message": [sentence, "*"],
    "/error/type": quota,
    "/error/code": "rate_limit_exceeded",
  },
});

export const openai: Preset = {
  title: "OpenAI's API, for a model with 60 requests and 150,000 tokens a minute",
  wire: {
    revision: "2026-11",
    readings: [shown("requests"), shown("tokens")],
    retryAfter: [
      { header: "retry-after-ms", form: "delta-ms" },
      { header: "retry-after", form: "delta-s" },
    ],
    outcomes: [
      {
        outcome: "refused",
        by: "insufficient_quota",
        status: [429],
        body: { "/error/code": "insufficient_quota" },
      },
      refusal(
        "requests",
        "Rate limit reached on requests per min (RPM): Limit {limit}, Used {used}, Requested 1.",
      ),
      refusal(
        "tokens",
        "Rate limit reached on tokens per min (TPM): Limit {limit}, Used {used}, Requested {cost}.",
      ),
    ],
  },
  policy: {
    version: 2,
    name: "openai",
    quotas: { requests: perMinute(60, "requests"), tokens: perMinute(150_000, "tokens") },
    operations: {
      chat: {
        uses: { requests: 1, tokens: "declared" },
        samples: [
          {
            method: "POST",
            path: "/v1/chat/completions",
            headers: { "Content-Type": "application/json" },
            body: {
              model: "gpt-4.1",
              max_completion_tokens: 16,
              messages: [{ role: "user", content: "Hello" }],
            },
            cost: 16,
            dearer: { pointer: "/max_completion_tokens", costEach: 1 },
          },
        ],
      },
      respond: {
        uses: { requests: 1, tokens: "declared" },
        samples: [
          {
            method: "POST",
            path: "/v1/responses",
            headers: { "Content-Type": "application/json" },
            body: { model: "gpt-4.1", max_output_tokens: 16, input: "Hello" },
            cost: 16,
            dearer: { pointer: "/max_output_tokens", costEach: 1 },
          },
        ],
      },
    },
    routes: [
      {
        methods: ["POST"],
        path: "/v1/chat/completions",
        operation: "chat",
        attributes: { model: { pointer: "/model" } },
      },
      {
        methods: ["POST"],
        path: "/v1/responses",
        operation: "respond",
        attributes: { model: { pointer: "/model" } },
      },
      { path: "/v1/models/**", operation: "other" },
    ],
    auth: { attributes: ["organization"] },
    wire: "openai",
  },
  notes: [
    "The numbers are those of the documentation's sample headers; an organization's tier and each model have their own.",
    "A reset is the span until all is back if nothing more is sent, so after one call of 500 a minute it is 120 ms.",
    "That the limits are token buckets is inferred from resets that were seen.",
    "Tokens are estimated before a call runs; here a call declares them, and none come back.",
    "Limits a day, of images, of a project, and of models that share one are left out; so are headers of these.",
    "A refusal for want of credit has the same status, and no wait helps: it is read as refused by insufficient_quota.",
    "Azure's answers differ: often only what remains, and resets as plain seconds.",
  ],
  sources: [
    { at: "platform.openai.com/docs/guides/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "openai/openai-openapi#564", kind: "observed", seen: "2026-11-22" },
    { at: "community.openai.com/t/1268905", kind: "observed", seen: "2026-11-22" },
    {
      at: "edubruell/tidyllm tests/testthat/openai/api.openai.com/v1/chat/completions-2f9822-POST.R",
      kind: "observed",
      seen: "2026-11-22",
    },
    { at: "continuedev/continue#11472", kind: "observed", seen: "2026-11-22" },
    { at: "openai/codex#88", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "The documentation's sample: minutes and seconds in one span",
      seen: "2026-11-22",
      operation: "chat",
      answer: {
        status: 200,
        headers: {
          "x-ratelimit-limit-requests": "60",
          "x-ratelimit-limit-tokens": "150000",
          "x-ratelimit-remaining-requests": "59",
          "x-ratelimit-remaining-tokens": "149984",
          "x-ratelimit-reset-requests": "1s",
          "x-ratelimit-reset-tokens": "6m0s",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          { quota: "requests", limit: 60, remaining: 59, reset: { afterMs: 1000, means: "full" } },
          {
            quota: "tokens",
            limit: 150_000,
            remaining: 149_984,
            reset: { afterMs: 360_000, means: "full" },
          },
        ],
      },
    },
    {
      title: "Spans of ms: one call of 5,000 a minute is back after 12 ms",
      seen: "2026-11-22",
      operation: "chat",
      answer: {
        status: 200,
        headers: {
          date: "Thu, 21 Aug 2025 12:41:43 GMT",
          "x-ratelimit-limit-requests": "5000",
          "x-ratelimit-limit-tokens": "800000",
          "x-ratelimit-remaining-requests": "4999",
          "x-ratelimit-remaining-tokens": "799986",
          "x-ratelimit-reset-requests": "12ms",
          "x-ratelimit-reset-tokens": "1ms",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          { quota: "requests", remaining: 4999, reset: { afterMs: 12, gridMs: 1 } },
          { quota: "tokens", remaining: 799_986, reset: { afterMs: 1 } },
        ],
      },
    },
    {
      title: "A refusal by tokens, of which some are left; its advice is in ms and in seconds",
      seen: "2026-11-22",
      operation: "chat",
      answer: {
        status: 429,
        headers: {
          "retry-after": "1",
          "retry-after-ms": "174",
          "x-ratelimit-limit-requests": "500",
          "x-ratelimit-limit-tokens": "30000",
          "x-ratelimit-remaining-requests": "499",
          "x-ratelimit-remaining-tokens": "11072",
          "x-ratelimit-reset-requests": "120ms",
          "x-ratelimit-reset-tokens": "37.856s",
        },
        body: {
          error: {
            message:
              "Rate limit reached for gpt-4.1 in organization org-acme on tokens per min (TPM): Limit 30000, Used 18928, Requested 11159. Please try again in 174ms. Visit https://platform.openai.com/account/rate-limits to learn more.",
            type: "tokens",
            param: null,
            code: "rate_limit_exceeded",
          },
        },
      },
      shows: {
        outcome: "refused",
        by: "tokens",
        retryAfter: { afterMs: 174 },
        readings: [
          { quota: "requests", remaining: 499, reset: { afterMs: 120 } },
          { quota: "tokens", remaining: 11_072, reset: { afterMs: 37_856 } },
        ],
      },
    },
    {
      title: "A refusal for want of credit, which no window ends",
      seen: "2026-11-22",
      operation: "chat",
      answer: {
        status: 429,
        headers: {},
        body: {
          error: {
            message: "You exceeded your current quota, please check your plan and billing details.",
            type: "insufficient_quota",
            param: null,
            code: "insufficient_quota",
          },
        },
      },
      shows: { outcome: "refused", by: "insufficient_quota", retryAfter: null, readings: [] },
    },
  ],
};
