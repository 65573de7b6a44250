// Shopify's REST Admin API: a leaky bucket, of which answers show the used part.
import type { Preset } from "../preset.ts";

const exceeded =
  "Exceeded 2 calls per second for api client. Reduce request rates to resume uninterrupted service.";

export const shopifyRest: Preset = {
  title: "Shopify's REST Admin API, for a store on a standard plan",
  wire: {
    revision: "2026-11",
    readings: [{ quotas: ["requests"], headers: { "X-Shopify-Shop-Api-Call-Limit": "{used}/{limit}" } }],
    retryAfter: [{ header: "Retry-After", form: "delta-s-float" }],
    outcomes: [
      { outcome: "unknown", status: [430] },
      { outcome: "refused", by: "requests", status: [429], body: { "/errors": [exceeded, "*"] } },
    ],
  },
  policy: {
    version: 2,
    name: "shopify-rest",
    quotas: {
      requests: {
        key: ["app", "shop"],
        algorithm: { kind: "token-bucket", capacity: 40, refill: { amount: 2, everyMs: 1000 } },
      },
    },
    operations: {
      call: { uses: { requests: 1 }, samples: [{ path: "/admin/api/2026-10/products.json" }] },
    },
    routes: [{ path: "/admin/api/**", operation: "call" }],
    auth: { header: "X-Shopify-Access-Token", form: "{token}", attributes: ["app", "shop"] },
    wire: "shopify-rest",
  },
  notes: [
    "A bucket of 40 that leaks 2 a second; plans above the standard one leak 4, 20 and more.",
    "The header shows used/size; no reset is told, and Retry-After in seconds with decimals on refusals alone.",
    "A call before Retry-After is over is refused again.",
    "Status 430 is a rejection for security, which says nothing of a limit.",
    "Limits of single resources, as of new variants a day, are left out.",
  ],
  sources: [
    { at: "shopify.dev/docs/api/admin-rest/usage/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "shopify.dev/docs/api/usage/response-codes", kind: "documented", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A call with room left: used and size in one header",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 200, headers: { "X-Shopify-Shop-Api-Call-Limit": "32/40" } },
      shows: {
        outcome: "admitted",
        readings: [{ quota: "requests", limit: 40, used: 32, remaining: null, reset: null }],
      },
    },
    {
      title: "A refusal, with seconds to wait that have a decimal",
      seen: "2026-11-22",
      operation: "call",
      answer: {
        status: 429,
        headers: { "X-Shopify-Shop-Api-Call-Limit": "40/40", "Retry-After": "2.0" },
        body: { errors: exceeded },
      },
      shows: {
        outcome: "refused",
        by: "requests",
        retryAfter: { afterMs: 2000 },
        readings: [{ quota: "requests", limit: 40, used: 40 }],
      },
    },
    {
      title: "A rejection for security",
      seen: "2026-11-22",
      operation: "call",
      answer: { status: 430, headers: {} },
      shows: { outcome: "unknown", by: null, readings: [] },
    },
  ],
};
