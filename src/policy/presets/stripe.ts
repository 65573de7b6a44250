// Stripe's limits of requests a second, by account and by endpoint. A header of its refusals names the kind.
import type { Preset } from "../preset.ts";

const perSecond = (capacity: number, ...key: string[]) => ({
  key: ["mode", "account", ...key],
  algorithm: { kind: "token-bucket", capacity, refill: { amount: capacity, everyMs: 1000 } } as const,
});
const exceeded =
  "Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.";
const text = (value: string) => ({ text: value });
/** Returns the route of one kind of requests to any resource: each pair of kind and resource is an endpoint. */
const endpoint = (methods: string[], path: string, action: string) => ({
  methods,
  path,
  operation: "call",
  attributes: { action: text(action) },
});

export const stripe: Preset = {
  title: "Stripe's API, for an account in live mode",
  wire: {
    revision: "2026-08-26",
    outcomes: [
      {
        outcome: "admitted",
        status: [429],
        lacks: ["Stripe-Rate-Limited-Reason"],
        body: { "/error/code": "lock_timeout" },
      },
      {
        outcome: "refused",
        by: "{quota}",
        status: [429],
        headers: { "Stripe-Rate-Limited-Reason": "{quota}" },
        body: {
          "/error/code": "rate_limit",
          "/error/message": [exceeded, "*"],
          "/error/type": ["invalid_request_error", "*"],
        },
      },
      {
        outcome: "refused",
        by: "{quota}",
        status: [429],
        headers: { "Stripe-Rate-Limited-Reason": "{quota}" },
      },
    ],
  },
  policy: {
    version: 2,
    name: "stripe",
    quotas: {
      "global-rate": perSecond(100),
      "endpoint-rate": perSecond(25, "resource", "action"),
      "resource-specific": {
        key: ["mode", "account", "intent"],
        algorithm: { kind: "fixed-window", limit: 1000, windowSeconds: 3600, anchor: "first-request" },
      },
    },
    operations: {
      call: {
        uses: { "global-rate": 1, "endpoint-rate": 1 },
        samples: [
          { path: "/v1/customers" },
          {
            method: "POST",
            path: "/v1/payment_intents",
            headers: { "Content-Type": "application/x-www-form-urlencoded" },
            body: "amount=2000&currency=usd",
          },
        ],
      },
      update_intent: {
        uses: { "global-rate": 1, "endpoint-rate": 1, "resource-specific": 1 },
        samples: [
          {
            method: "POST",
            path: "/v1/payment_intents/pi_1",
            headers: { "Content-Type": "application/x-www-form-urlencoded" },
            body: "amount=2100",
          },
        ],
      },
    },
    routes: [
      {
        methods: ["POST"],
        path: "/v1/payment_intents/{intent}",
        operation: "update_intent",
        attributes: { resource: text("payment_intents"), action: text("update") },
      },
      endpoint(["GET"], "/v1/{resource}", "list"),
      endpoint(["POST"], "/v1/{resource}", "create"),
      endpoint(["GET"], "/v1/{resource}/{id}", "retrieve"),
      endpoint(["POST"], "/v1/{resource}/{id}", "update"),
      endpoint(["DELETE"], "/v1/{resource}/{id}", "delete"),
      { path: "/v1/{resource}/{id}/{action}", operation: "call" },
    ],
    auth: { attributes: ["mode", "account"] },
    overrides: [
      {
        match: { mode: "sandbox" },
        quotas: { "global-rate": { capacity: 25, refill: { amount: 25, everyMs: 1000 } } },
      },
    ],
    wire: "stripe",
  },
  notes: [
    "An account has 100 requests a second, 25 in a sandbox (`mode` is `sandbox`), and each endpoint 25.",
    "The documentation says requests a second; a blog of Stripe's tells of token buckets, whose size is an example: one second's.",
    "A 429 of code lock_timeout without Stripe-Rate-Limited-Reason is a lock of an object, and no refusal by a limit.",
    "A refusal by concurrent calls says global-concurrency or endpoint-concurrency; their numbers are not published, so no quota has them.",
    "Of resource-specific limits, that of updates of a PaymentIntent stands here; Files, Search, Payouts and others have their own.",
    "Neither readings nor Retry-After are documented.",
  ],
  sources: [
    { at: "docs.stripe.com/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "docs.stripe.com/error-codes", kind: "documented", seen: "2026-11-22" },
    { at: "stripe.com/blog/rate-limiters", kind: "documented", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A call that passes: nothing is told",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 200, headers: {}, body: { object: "list", data: [] } },
      shows: { outcome: "admitted", by: null, retryAfter: null, readings: [] },
    },
    {
      title: "A refusal by the endpoint's limit, which the header names",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: { "Stripe-Rate-Limited-Reason": "endpoint-rate" },
        body: { error: { code: "rate_limit", message: exceeded, type: "invalid_request_error" } },
      },
      shows: { outcome: "refused", by: "endpoint-rate", readings: [] },
    },
    {
      title: "A refusal by concurrent calls, whose body nobody kept",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 429, headers: { "stripe-rate-limited-reason": "global-concurrency" } },
      shows: { outcome: "refused", by: "global-concurrency", readings: [] },
    },
    {
      title: "A 429 of a locked object, which no limit refused",
      seen: "2026-11-22",
      operation: "update_intent",
      answer: {
        status: 429,
        headers: {},
        body: {
          error: {
            code: "lock_timeout",
            message:
              "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
            type: "invalid_request_error",
          },
        },
      },
      shows: { outcome: "admitted", by: null, readings: [] },
    },
  ],
};
