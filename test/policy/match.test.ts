// Requests by route, the tokens of a policy's callers, and windows in the place of what cannot be enforced.
import { describe, expect, test } from "vitest";
import { asWindows, unenforceable } from "../../src/policy/as-window.ts";
import { filled, routeOf } from "../../src/policy/match.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { parsePolicyTokens } from "../../src/policy/tokens.ts";

const policy = parsePolicy({
  version: 2,
  name: "shop",
  quotas: {
    reads: { algorithm: { kind: "sliding-log", limit: 5, windowSeconds: 60 }, key: ["shop"] },
    slots: { algorithm: { kind: "concurrency", limit: 2 }, key: ["shop"] },
    writes: { algorithm: { kind: "fixed-window", limit: 3, windowSeconds: 60 }, key: ["shop"] },
  },
  operations: {
    read: { uses: { reads: 1, slots: 1 } },
    hold: { uses: { slots: 1 } },
    write: { uses: { writes: 1 } },
  },
  routes: [
    { methods: ["get"], path: "/shops/{shop}/items", operation: "read" },
    { path: "/graphql", graphql: "mutation", operation: "write", attributes: { shop: { text: "one" } } },
    { path: "/admin/**", host: "Admin.Example.com", operation: "other" },
    { path: "/hold/{shop}/", operation: "hold" },
    { path: "/limits", operation: "status" },
  ],
});

test("braces around the name of no attribute stay as they are", () => {
  expect(filled("/{shop}/{toString}/{other}", { shop: "acme" })).toBe("/acme/{toString}/{other}");
});

test.each([
  ["GET", "/shops/acme/items", "example.com", null, "read", { shop: "acme" }],
  ["GET", "/shops/acme%20co/items/?page=2", "example.com", null, "read", { shop: "acme co" }],
  ["POST", "/shops/acme/items", "example.com", null, null, {}],
  ["GET", "/shops/acme/items/7", "example.com", null, null, {}],
  ["GET", "/shops//items", "example.com", null, null, {}],
  ["GET", "/hold/acme", "example.com", null, "hold", { shop: "acme" }],
  ["GET", "/hold/acme/", "example.com", null, "hold", { shop: "acme" }],
  ["POST", "/graphql", "example.com", "mutation", "write", {}],
  ["POST", "/graphql", "example.com", "query", null, {}],
  ["GET", "/admin", "admin.example.com", null, "other", {}],
  ["GET", "/admin/a/b", "admin.example.com", null, "other", {}],
  ["GET", "/admin/a/b", "example.com", null, null, {}],
  ["GET", "/limits", "example.com", null, "status", {}],
  ["GET", "/%zz", "example.com", null, null, {}],
] as const)("%s %s of %s is %s %s", (method, target, host, graphql, operation, attributes) => {
  const found = routeOf(policy, { method, target, host, graphql });
  expect(found?.route.operation ?? null).toBe(operation);
  expect(found?.attributes ?? {}).toEqual(attributes);
});

describe("windows in the place of other kinds", () => {
  test("all that cannot be enforced is named", () => {
    expect(unenforceable(policy)).toEqual(["reads", "slots"]);
  });

  test("a sliding log becomes a window; limits of concurrent calls go, with what uses nothing else", () => {
    const { policy: windows, changes } = asWindows(policy);
    expect(changes).toEqual([
      "a window stands in for reads (sliding-log)",
      "slots (concurrent calls) is left out",
    ]);
    expect(unenforceable(windows)).toEqual([]);
    expect(Object.keys(windows.operations)).toEqual(["read", "write"]);
    expect(windows.operations["read"]?.uses).toEqual({ reads: 1 });
    expect(windows.routes.map(({ operation }) => operation)).toEqual([
      "read",
      "write",
      "other",
      "other",
      "status",
    ]);
    expect(windows.quotas["reads"]?.algorithm).toEqual({
      kind: "fixed-window",
      limit: 5,
      windowSeconds: 60,
      anchor: "first-request",
      opens: "exact",
    });
  });
});

describe("a tokens file", () => {
  const parse = (entries: unknown) => parsePolicyTokens(JSON.stringify(entries), "tokens.json", ["shop"]);

  test("gives each token its attributes; members of the default API's entries say nothing", () => {
    const entry = { token: "t1", user: "ann", organization: "org", scopes: ["graphql"] };
    expect(parse([{ ...entry, shop: "acme" }])).toEqual([{ token: "t1", attributes: { shop: "acme" } }]);
  });

  test.each([
    ["an attribute is missing", [{ token: "secret" }], "tokens.0.shop"],
    ["an unknown member", [{ token: "secret", shop: "acme", usr: "ann" }], "tokens.0"],
    [
      "a token twice",
      [
        { token: "secret", shop: "a" },
        { token: "secret", shop: "b" },
      ],
      "tokens.1.token",
    ],
    ["a token with a space", [{ token: "secret one", shop: "a" }], "tokens.0.token"],
    ["no entry", [], "tokens"],
    ["no object", ["secret"], "tokens.0"],
    ["a number", [{ token: "secret", shop: 7 }], "tokens.0.shop"],
  ])("%s: an error that names the place, and never the token", (_, entries, path) => {
    expect(() => parse(entries)).toThrow(expect.objectContaining({ code: "TOKENS_INVALID" }) as Error);
    try {
      parse(entries);
    } catch (error) {
      expect((error as { hint: string }).hint).toBe(
        'an entry of this policy is {"token": "...", "shop": "..."}',
      );
      expect((error as { problems: { path: string }[] }).problems[0]?.path).toBe(path);
      expect(JSON.stringify(error) + String(error)).not.toContain("secret");
    }
  });
});
