// GitHub's primary limits, and those secondary limits whose numbers are published.
import type { Preset } from "../preset.ts";

const hour = { kind: "fixed-window", windowSeconds: 3600, anchor: "first-request" } as const;
const minute = { kind: "fixed-window", windowSeconds: 60, anchor: "first-request" } as const;
/** Its refusals tell no `Retry-After`, because their reset tells the time. */
const primary = { key: ["user"], shown: { retryAfter: false } };
const writes = ["POST", "PUT", "PATCH", "DELETE"];
const secondaryText =
  "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
const resources = ["core", "search", "code_search", "graphql"];

export const github: Preset = {
  title: "GitHub's REST and GraphQL APIs, for a user's token",
  wire: {
    revision: "2022-11-28",
    readings: [
      {
        quotas: resources,
        headers: {
          "X-RateLimit-Limit": "{limit}",
          "X-RateLimit-Remaining": "{remaining}",
          "X-RateLimit-Used": "{used}",
          "X-RateLimit-Reset": "{reset}",
          "X-RateLimit-Resource": "{quota}",
        },
        reset: { form: "epoch-s", means: "window-end", round: "ceil" },
        on: ["admitted", "refused", "status"],
      },
      {
        quotas: resources,
        body: {
          "/resources/{quota}/limit": "{limit}",
          "/resources/{quota}/used": "{used}",
          "/resources/{quota}/remaining": "{remaining}",
          "/resources/{quota}/reset": "{reset}",
        },
        reset: { form: "epoch-s", means: "window-end", round: "ceil" },
        on: ["status"],
      },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [
      {
        outcome: "refused",
        by: "graphql",
        status: [200],
        body: {
          "/errors/*/type": "RATE_LIMITED",
          "/errors/*/message": ["API rate limit exceeded for user.", "*"],
        },
      },
      {
        outcome: "refused",
        by: "graphql_points",
        // Clients see 403; the documentation names both.
        status: [403, 200],
        headers: { "X-RateLimit-Resource": "graphql" },
        body: { "/message": [secondaryText, "*secondary rate limit*"] },
      },
      {
        outcome: "refused",
        by: "rest_points",
        status: [403, 429],
        body: { "/message": [secondaryText, "*secondary rate limit*"] },
      },
      { outcome: "refused", by: "secondary", status: [403, 429], headers: { "Retry-After": "{retry}" } },
      {
        outcome: "refused",
        by: "{quota}",
        status: [403, 429],
        headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Resource": "{quota}" },
        body: { "/message": ["API rate limit exceeded for user.", "API rate limit exceeded*"] },
      },
      { outcome: "exempt", status: [304] },
    ],
  },
  policy: {
    version: 2,
    name: "github",
    quotas: {
      core: { ...primary, algorithm: { ...hour, limit: 5000 } },
      search: { ...primary, algorithm: { ...minute, limit: 30 } },
      code_search: { ...primary, algorithm: { ...minute, limit: 10 } },
      graphql: { ...primary, algorithm: { ...hour, limit: 5000 }, unit: "points" },
      rest_points: { key: ["user"], algorithm: { ...minute, limit: 900 }, unit: "points" },
      graphql_points: { key: ["user"], algorithm: { ...minute, limit: 2000 }, unit: "points" },
    },
    operations: {
      read: { uses: { core: 1, rest_points: 1 }, samples: [{ path: "/user" }] },
      write: {
        uses: { core: 1, rest_points: 5 },
        samples: [{ method: "POST", path: "/repos/acme/app/issues", body: { title: "A bug" } }],
      },
      search: { uses: { search: 1, rest_points: 1 }, samples: [{ path: "/search/issues?q=is:open" }] },
      code_search: { uses: { code_search: 1, rest_points: 1 }, samples: [{ path: "/search/code?q=limit" }] },
      query: {
        uses: { graphql: "declared", graphql_points: 1 },
        samples: [{ method: "POST", path: "/graphql", body: { query: "{ viewer { login } }" } }],
      },
      mutation: {
        uses: { graphql: "declared", graphql_points: 5 },
        samples: [
          { method: "POST", path: "/graphql", body: { query: "mutation { star { clientMutationId } }" } },
        ],
      },
    },
    routes: [
      { methods: ["GET"], path: "/rate_limit", operation: "status" },
      { path: "/graphql", graphql: "mutation", operation: "mutation" },
      { path: "/graphql", operation: "query" },
      { path: "/search/code", operation: "code_search" },
      { path: "/search/**", operation: "search" },
      { methods: writes, path: "/**", operation: "write" },
      { path: "/**", operation: "read" },
    ],
    auth: { header: "Authorization", form: ["Bearer {token}", "token {token}"], attributes: ["user"] },
    wire: "github",
  },
  notes: [
    "The limits are those of a user's token; installations, GITHUB_TOKEN and Enterprise have others.",
    "Points in a minute are undisclosed in their algorithm; windows stand in for them.",
    "The limits of 100 concurrent calls, of processor time and of content creation are left out.",
    "A GraphQL query costs its requests of connections divided by 100, at least 1; callers declare it.",
  ],
  sources: [
    {
      at: "github/docs content/rest/using-the-rest-api/rate-limits-for-the-rest-api.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    {
      at: "github/docs data/reusables/rest-api/secondary-rate-limit-rest-graphql.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    {
      at: "github/docs content/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    { at: "octokit/plugin-throttling.js#566", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A call with room left",
      seen: "2026-11-22",
      operation: "read",
      answer: {
        status: 200,
        headers: {
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "4987",
          "x-ratelimit-used": "13",
          "x-ratelimit-reset": "1795306868",
          "x-ratelimit-resource": "core",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "core",
            limit: 5000,
            remaining: 4987,
            used: 13,
            reset: { atMs: 1_795_306_868_000, means: "window-end" },
          },
        ],
      },
    },
    {
      title: "A refusal by the primary limit, with 403",
      seen: "2026-11-22",
      operation: "read",
      answer: {
        status: 403,
        headers: {
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-used": "5001",
          "x-ratelimit-reset": "1795306868",
          "x-ratelimit-resource": "core",
        },
        body: { message: "API rate limit exceeded for user ID 1." },
      },
      shows: { outcome: "refused", by: "core", readings: [{ quota: "core", remaining: 0 }] },
    },
    {
      title: "A refusal by a secondary limit, while the primary one has room",
      seen: "2026-11-22",
      operation: "write",
      answer: {
        status: 403,
        headers: {
          "retry-after": "60",
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "4321",
          "x-ratelimit-reset": "1795306868",
          "x-ratelimit-resource": "core",
        },
        body: { message: secondaryText },
      },
      shows: {
        outcome: "refused",
        by: "rest_points",
        retryAfter: { afterMs: 60_000 },
        readings: [{ quota: "core", remaining: 4321 }],
      },
    },
    {
      title: "A GraphQL query that is refused with status 200",
      seen: "2026-11-22",
      operation: "query",
      answer: {
        status: 200,
        headers: {
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "1795306868",
          "x-ratelimit-resource": "graphql",
        },
        body: { errors: [{ type: "RATE_LIMITED", message: "API rate limit exceeded for user ID 1." }] },
      },
      shows: { outcome: "refused", by: "graphql", readings: [{ quota: "graphql", remaining: 0 }] },
    },
    {
      title: "A 403 that is no refusal by a limit",
      seen: "2026-11-22",
      operation: "read",
      answer: {
        status: 403,
        headers: {
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "4986",
          "x-ratelimit-reset": "1795306868",
          "x-ratelimit-resource": "core",
        },
        body: { message: "Resource not accessible by personal access token" },
      },
      shows: { outcome: "admitted", by: null, readings: [{ quota: "core", remaining: 4986 }] },
    },
  ],
};
