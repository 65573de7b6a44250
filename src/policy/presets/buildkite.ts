// The API of SPEC.md without its limits: operations, requests, and callers (SPEC.md §2.6, §4, §6).
import type { Policy } from "../policy.ts";
import type { Preset } from "../preset.ts";

const pipelines = "/v2/organizations/{organization}/pipelines";
const json = { "Content-Type": "application/json" };
const query =
  'query ($first: Int) { organization(slug: "{organization}") { pipelines(first: $first) { edges { node { name } } } } }';

/** All of the policy except its limits. */
export const buildkiteRequests: Pick<Policy, "operations" | "routes" | "auth" | "provoke"> = {
  operations: {
    rest: {
      uses: { rest: 1, rest_user: 1 },
      relation: "all-or-nothing",
      samples: [{ method: "GET", path: pipelines, headers: {}, cost: 1 }],
    },
    graphql: {
      uses: { graphql: "declared", graphql_user: "declared" },
      relation: "all-or-nothing",
      samples: [
        {
          method: "POST",
          path: "/v1/graphql",
          headers: json,
          body: { query, variables: { first: 1 } },
          cost: 4,
          dearer: { pointer: "/variables/first", costEach: 1 },
        },
      ],
    },
  },
  routes: [
    {
      methods: ["GET", "HEAD"],
      path: "/v2/organizations/{organization}/rate_limit",
      operation: "status",
      attributes: {},
    },
    { path: "/v2/organizations/{organization}/**", operation: "rest", attributes: {} },
    { path: "/v2/user", operation: "rest", attributes: {} },
    { path: "/v1/graphql", operation: "graphql", attributes: {} },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
  provoke: {
    "400": { method: "POST", path: "/v1/graphql", headers: json, body: "{" },
    "404": { method: "GET", path: `${pipelines}/none-of-this-name`, headers: {} },
    "405": { method: "DELETE", path: pipelines, headers: {} },
  },
};

const reset = { form: "delta-s", means: "window-end" } as const;

const sentence = (who: string): string =>
  `${who} exceeded the limit of {limit} requests. Please try again in {reset} seconds.`;
const restBody = { "/scope": "{quota}", "/limit": "{limit}", "/current": "{used}", "/reset": "{reset}" };
const graphqlBody = (who: string) => ({
  "/errors/0/message": [
    `${who} limit of {limit} complexity points. Please try again in {reset} seconds.`,
    `${who}*`,
  ],
});

/** All of the preset except its policy, which is made from rules. */
export const buildkiteAnswers: Omit<Preset, "policy"> = {
  title: "Buildkite's REST and GraphQL APIs, the default of every verb",
  wire: {
    revision: "2026-08",
    readings: [
      {
        quotas: ["rest", "graphql"],
        headers: {
          "RateLimit-Scope": "{quota}",
          "RateLimit-Limit": "{limit}",
          "RateLimit-Remaining": "{remaining}",
          "RateLimit-Reset": "{reset}",
        },
        reset,
        on: ["admitted", "refused", "status"],
      },
      {
        quotas: ["rest_user", "graphql_user"],
        headers: {
          "RateLimit-User-Scope": "{quota}",
          "RateLimit-User-Limit": "{limit}",
          "RateLimit-User-Remaining": "{remaining}",
          "RateLimit-User-Reset": "{reset}",
        },
        reset,
        on: ["admitted", "refused", "status"],
      },
      {
        quotas: ["rest", "graphql"],
        body: {
          "/scopes/{quota}/limit": "{limit}",
          "/scopes/{quota}/current": "{used}",
          "/scopes/{quota}/reset": "{reset}",
        },
        reset,
        on: ["status"],
      },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [
      {
        outcome: "refused",
        by: "graphql",
        status: [429],
        body: graphqlBody("Your organization has exceeded the"),
      },
      {
        outcome: "refused",
        by: "graphql_user",
        status: [429],
        body: graphqlBody("You have exceeded your per-user"),
      },
      {
        outcome: "refused",
        by: "rest",
        status: [429],
        body: { ...restBody, "/scope": "rest", "/message": [sentence("Your organization has"), "*"] },
      },
      {
        outcome: "refused",
        by: "rest_user",
        status: [429],
        body: { ...restBody, "/scope": "rest_user", "/message": [sentence("You have"), "*"] },
      },
      // A query that is not executed.
      {
        outcome: "exempt",
        headers: { "RateLimit-Scope": "graphql", "RateLimit-Complexity-Actual": "0" },
        body: { "/errors/0/message": "*" },
      },
      { outcome: "exempt", status: [401, 403] },
      { outcome: "exempt", status: [404], lacks: ["RateLimit-Scope"] },
    ],
  },
  notes: [
    "Headers that warn of a used-up quota, and those of a query's complexity, are written by `spillway serve`, and no part of the format.",
    "A user's quotas are not documented; their headers show them.",
  ],
  sources: [{ at: "the package's src/rules/SPEC.md", kind: "documented", seen: "2026-11-22" }],
  answers: [
    {
      title: "A REST call that the organization's quota refuses",
      seen: "2026-11-22",
      operation: "rest",
      answer: {
        status: 429,
        headers: {
          "RateLimit-Scope": "rest",
          "RateLimit-Limit": "200",
          "RateLimit-Remaining": "0",
          "RateLimit-Reset": "42",
          "RateLimit-User-Scope": "rest_user",
          "RateLimit-User-Limit": "50",
          "RateLimit-User-Remaining": "12",
          "RateLimit-User-Reset": "42",
          "Retry-After": "42",
        },
        body: {
          message:
            "Your organization has exceeded the limit of 200 requests. Please try again in 42 seconds.",
          scope: "rest",
          limit: 200,
          current: 200,
          reset: 42,
        },
      },
      shows: {
        outcome: "refused",
        by: "rest",
        retryAfter: { afterMs: 42_000 },
        readings: [
          { quota: "rest", limit: 200, remaining: 0, reset: { afterMs: 42_000, means: "window-end" } },
          { quota: "rest_user", limit: 50, remaining: 12 },
        ],
      },
    },
  ],
};
