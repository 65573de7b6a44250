// The requests of the API of SPEC.md: its operations, their requests, and who calls (SPEC.md §2.6, §4, §6).
import type { Policy } from "../policy.ts";

const pipelines = "/v2/organizations/{organization}/pipelines";
const json = { "Content-Type": "application/json" };
const query =
  'query ($first: Int) { organization(slug: "{organization}") { pipelines(first: $first) { edges { node { name } } } } }';

/** All of the policy but its limits. */
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
