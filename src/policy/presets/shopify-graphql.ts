// Shopify's GraphQL Admin API: points in a bucket, shown in the body, and refusals with status 200.
import type { Preset } from "../preset.ts";

/** Numbers of the bucket, shown beside the query's price. */
const status = {
  "/extensions/cost/throttleStatus/maximumAvailable": "{limit}",
  "/extensions/cost/throttleStatus/currentlyAvailable": "{remaining}",
  "/extensions/cost/throttleStatus/restoreRate": ["100", "*"],
};

export const shopifyGraphql: Preset = {
  title: "Shopify's GraphQL Admin API, for a store on a standard plan",
  wire: {
    revision: "2026-11",
    readings: [
      {
        quotas: ["points"],
        body: {
          "/extensions/cost/requestedQueryCost": "{cost}",
          "/extensions/cost/actualQueryCost": "{cost}",
          ...status,
        },
        on: ["admitted"],
      },
      {
        quotas: ["points"],
        body: {
          "/extensions/cost/requestedQueryCost": "{cost}",
          "/extensions/cost/actualQueryCost": ["null", "*"],
          ...status,
        },
        on: ["refused"],
      },
    ],
    outcomes: [
      { outcome: "unknown", status: [430] },
      {
        outcome: "refused",
        by: "points",
        status: [200, 429],
        body: { "/errors/*/message": ["Throttled", "*"], "/errors/*/extensions/code": "THROTTLED" },
      },
    ],
  },
  policy: {
    version: 2,
    name: "shopify-graphql",
    quotas: {
      points: {
        key: ["app", "shop"],
        algorithm: { kind: "token-bucket", capacity: 2000, refill: { amount: 100, everyMs: 1000 } },
        unit: "points",
        charge: { when: "reserve-settle" },
      },
    },
    operations: {
      query: {
        uses: { points: "declared" },
        samples: [
          {
            method: "POST",
            path: "/admin/api/2026-10/graphql.json",
            headers: { "Content-Type": "application/json" },
            body: { query: "{ shop { name } }" },
          },
        ],
      },
      mutation: {
        uses: { points: "declared" },
        samples: [
          {
            method: "POST",
            path: "/admin/api/2026-10/graphql.json",
            headers: { "Content-Type": "application/json" },
            body: { query: 'mutation { tagsAdd(id: "1", tags: ["a"]) { userErrors { message } } }' },
            cost: 10,
          },
        ],
      },
    },
    routes: [
      { path: "/admin/api/{version}/graphql.json", graphql: "mutation", operation: "mutation" },
      { path: "/admin/api/{version}/graphql.json", operation: "query" },
    ],
    auth: { header: "X-Shopify-Access-Token", form: "{token}", attributes: ["app", "shop"] },
    wire: "shopify-graphql",
  },
  notes: [
    "A standard plan restores 100 points a second, others 200, 1,000 and 2,000; the bucket of 2,000 is as answers show it.",
    "A refusal has status 200 and an error of code THROTTLED; neither reset nor Retry-After is told. Some have seen 429.",
    "The wait follows from the body: the cost that lacks room, divided by restoreRate.",
    "A query's requested cost is held, and what it did not use comes back; here a caller declares the cost.",
    "A query of more than 1,000 points is an error of another kind, and no refusal; that is left out.",
    "Status 430 is a rejection for security, which says nothing of a limit.",
  ],
  sources: [
    {
      at: "shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits",
      kind: "documented",
      seen: "2026-11-22",
    },
    { at: "shopify.dev/docs/api/usage/response-codes", kind: "documented", seen: "2026-11-22" },
    { at: "Shopify/cli#8317", kind: "observed", seen: "2026-11-22" },
    { at: "Shopify/shopify-api-js#602", kind: "observed", seen: "2026-11-22" },
    { at: "microsoft/BCApps#10417", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A query with room left: its costs and the bucket stand in the body",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 200,
        headers: {},
        body: {
          data: { customers: { nodes: [] } },
          extensions: {
            cost: {
              requestedQueryCost: 12,
              actualQueryCost: 2,
              throttleStatus: { maximumAvailable: 2000.0, currentlyAvailable: 1998, restoreRate: 100.0 },
            },
          },
        },
      },
      shows: {
        outcome: "admitted",
        by: null,
        readings: [{ quota: "points", limit: 2000, remaining: 1998, reset: null }],
      },
    },
    {
      title: "A refusal with status 200, while there are points left",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 200,
        headers: {},
        body: {
          errors: [{ message: "Throttled", extensions: { code: "THROTTLED" } }],
          extensions: {
            cost: {
              requestedQueryCost: 900,
              actualQueryCost: null,
              throttleStatus: { maximumAvailable: 2000.0, currentlyAvailable: 100, restoreRate: 100.0 },
            },
          },
        },
      },
      shows: {
        outcome: "refused",
        by: "points",
        retryAfter: null,
        readings: [{ quota: "points", limit: 2000, remaining: 100 }],
      },
    },
    {
      title: "An error of the query, which is no refusal",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 200,
        headers: {},
        body: { errors: [{ message: "Field 'x' doesn't exist", extensions: { code: "undefinedField" } }] },
      },
      shows: { outcome: "admitted", by: null, readings: [] },
    },
    {
      title: "A rejection for security",
      seen: "2026-11-22",
      operation: "query",
      answer: { status: 430, headers: {} },
      shows: { outcome: "unknown", by: null, readings: [] },
    },
  ],
};
