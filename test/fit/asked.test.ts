// Calls of a policy as a fit reads them, and the requests that stand in for them.
import { describe, expect, test } from "vitest";
import { AskedCalls, runs, standInOf } from "../../sim/fit/asked.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { defaultOrganization } from "../../src/scenario/seats.ts";

const window = { kind: "fixed-window", limit: 5, windowSeconds: 60 } as const;
const uses = { calls: 1 };
const host = "api.example.com";
const policy = parsePolicy({
  version: 2,
  name: "own",
  quotas: {
    calls: { algorithm: window, key: [] },
    later: { algorithm: window, charge: { when: "completion" } },
  },
  operations: {
    sampled: { uses, samples: [{ method: "POST", path: "/v1/1/call" }] },
    listed: { uses },
    usual: { uses },
    query: { uses, samples: [{ method: "POST", path: "/graphql", body: { query: "{ a }" } }] },
    plain: { uses, samples: [{ method: "POST", path: "/graphql", body: { text: "{ a }" } }] },
    text: { uses, samples: [{ method: "POST", path: "/graphql", body: "{ a }" }] },
    bare: { uses, samples: [{ method: "POST", path: "/graphql" }] },
    settled: { uses: { later: 1 } },
    routeless: { uses },
  },
  routes: [
    { path: "/v1/health", operation: "status" },
    { host, path: "/v2/{place}", operation: "sampled" },
    { host, path: "/v1/{project}/call", operation: "sampled" },
    { host, methods: ["PUT", "PATCH"], path: "/v1/{project}/{page}/items/**", operation: "listed" },
    { host, path: "/v3/list", operation: "usual" },
    { host, path: "/graphql", graphql: "query", operation: "query" },
    { host, path: "/graphql", graphql: "mutation", operation: "plain" },
    { host, path: "/settled", operation: "settled" },
  ],
  auth: { attributes: ["user", "org", "team", "seat"] },
});
const asked = new AskedCalls(policy);

test("operations that the policy has are counted, and the status", () => {
  expect(["sampled", "status", "other"].map((name) => asked.counts(name))).toEqual([true, true, false]);
  expect(asked.operations.slice(0, 2)).toEqual(["sampled", "listed"]);
});

test.each<[object, string, { organization: string; user: string }]>([
  [{ org: "globex", user: "ann" }, "x", { organization: "globex", user: "ann" }],
  [{ team: "red", org: "acme", seat: "7" }, "x", { organization: "acme-red", user: "7" }],
  [{ user: "ann", seat: "7" }, "x", { organization: defaultOrganization, user: "ann" }],
  [{ org: "acme", page: "3" }, "x", { organization: "acme", user: "x" }],
  [{}, "", { organization: defaultOrganization, user: "everyone" }],
])("a token of %j is whose", (attributes, user, owner) => {
  expect(asked.owner(attributes as Record<string, string>, { user })).toEqual(owner);
});

test("the attributes that an operation's paths name are told of a call, as far as they are known", () => {
  const known = { project: "p", place: "q", user: "ann" };
  expect(asked.inPath("sampled", known)).toEqual({ place: "q", project: "p" });
  expect(asked.inPath("listed", known)).toEqual({ project: "p" });
  expect(asked.inPath("usual", known)).toBeUndefined();
  expect(asked.inPath("sampled", { user: "ann" })).toBeUndefined();
  expect(asked.inPath("other", known)).toBeUndefined();
});

describe("a stand-in is", () => {
  const of = (operation: string, values: Record<string, string> = {}) => {
    const { method, path, query } = standInOf(policy, operation, values);
    return [method, path, query];
  };

  test("the first sample, with what was asked for in its path", () => {
    expect(of("sampled", { project: "a b", place: "c" })).toEqual(["POST", "/v1/a%20b/call", null]);
    expect(of("sampled")).toEqual(["POST", "/v1/1/call", null]);
  });

  test("a path of its first route, of names and whatever fits", () => {
    expect(of("listed", { project: "p" })).toEqual(["PUT", "/v1/p/page/items/x", null]);
    expect(of("usual")).toEqual(["GET", "/v3/list", null]);
    expect(of("routeless")).toEqual(["GET", "/", null]);
    expect(of("other")).toEqual(["GET", "/", null]);
  });

  test("a query where the path is GraphQL's: the sample's, or one that any API answers", () => {
    expect(of("query")).toEqual(["POST", "/graphql", "{ a }"]);
    expect(of("plain")).toEqual(["POST", "/graphql", "{ viewer { login } }"]);
    expect(of("text")).toEqual(["POST", "/graphql", "{ viewer { login } }"]);
    expect(of("bare")).toEqual(["POST", "/graphql", "{ viewer { login } }"]);
    const routes = [{ path: "/graphql", operation: "any" }];
    const unmarked = parsePolicy({
      version: 2,
      name: "own",
      quotas: { calls: { algorithm: window } },
      operations: { any: { uses } },
      routes,
    });
    expect(standInOf(unmarked, "any", {})).toEqual({
      method: "POST",
      path: "/graphql",
      query: "{ viewer { login } }",
    });
  });
});

test("queries and calls that are charged later run for a while", () => {
  const found = ["query", "plain", "settled", "sampled", "usual"].map((name) => runs(policy, name));
  expect(found).toEqual([true, true, true, false, false]);
});
