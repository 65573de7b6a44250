// Requests of a log by a policy's routes: which operation each is, what statuses mean, and what is said of paths that
// no route takes.
import { describe, expect, test } from "vitest";
import { PolicyRouting, Unrouted } from "../../src/logs/policy-routing.ts";
import { OTHER_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";

const input: PolicyInput = {
  version: 2,
  name: "routed",
  quotas: {
    calls: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] },
  },
  operations: { read: { uses: { calls: 1 } }, write: { uses: { calls: 2 } }, ask: { uses: { calls: 3 } } },
  routes: [
    { path: "/things/{thing}", methods: ["GET"], operation: "read" },
    { path: "/things/**", methods: ["POST", "DELETE"], operation: "write" },
    { path: "/limits", operation: "status" },
    { path: "/health", operation: "other" },
    { host: "search.example.com", path: "/ask", operation: "ask" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "2026",
    readings: [],
    outcomes: [
      { outcome: "refused", status: [403, 400, 399], headers: { "X-Left": "0" } },
      { outcome: "refused", status: [200], headers: { "X-Refused": "*" } },
      { outcome: "exempt", status: [404] },
      { outcome: "exempt", status: [410], headers: { "X-Free": "*" } },
    ],
  },
};
const policy = parsePolicy(input);
const routed = () => {
  const unrouted = new Unrouted();
  return { unrouted, routing: new PolicyRouting(policy, unrouted) };
};

test.each<[method: string, target: string, kind: number]>([
  ["GET", "/things/7", 0],
  ["GET", "/things/7?page=2#x", 0],
  ["POST", "/things/7/parts", 1],
  ["DELETE", "https://api.example.com/things", 1],
  ["", "/things/7", 0],
  ["", "/things/7/parts", 1],
  ["PUT", "/things/7", OTHER_CALL],
  ["GET", "/limits", STATUS_CALL],
  ["GET", "/health", OTHER_CALL],
  // A log that tells no host is of the one that routes ask for.
  ["GET", "/ask", 2],
  ["GET", "https://search.example.com/ask", 2],
  ["GET", "https://other.example.com/ask", OTHER_CALL],
])("%j %s is of the kind %d, however often it is asked", (method, target, kind) => {
  const { routing } = routed();
  expect([1, 2, 3].map(() => routing.route(method, target).kind)).toEqual([kind, kind, kind]);
});

test("an operation is known by its name, too", () => {
  const { routing, unrouted } = routed();
  const names = ["read", "write", "ask", "status", "other", "none"];
  expect(names.map((name) => routing.named(name))).toEqual([0, 1, 2, STATUS_CALL, OTHER_CALL, null]);
  routing.countNamed();
  expect(routing.unrouted("the operation none")).toEqual({ kind: OTHER_CALL, attributes: {} });
  expect(unrouted).toMatchObject({ routed: 1, unrouted: 1, paths: ["the operation none"] });
});

test("statuses tell refusals and what is charged nowhere, where they tell it alone", () => {
  const { routing } = routed();
  expect([200, 399, 400, 403, 404, 429, 503].map((status) => routing.outcome(status))).toEqual([
    200, 399, 429, 429, 404, 429, 503,
  ]);
  const statuses = [200, 401, 403, 404, 410, 429];
  expect(statuses.filter((status) => routing.isExempt(status))).toEqual([401, 404]);
  const plain = new PolicyRouting(parsePolicy({ ...input, wire: "github" }), new Unrouted());
  expect(plain.outcome(403)).toBe(429);
  expect([plain.isExempt(304), plain.isExempt(200)]).toEqual([true, false]);
  const bare = new PolicyRouting(
    parsePolicy({ ...input, wire: { revision: "2026", readings: [] } }),
    new Unrouted(),
  );
  expect([401, 402, 403, 404].filter((status) => bare.isExempt(status))).toEqual([401, 403]);
});

describe("paths that no route takes", () => {
  test("are told as templates: five, each once, without ids and secrets, 80 letters of each", () => {
    const { routing, unrouted } = routed();
    const long = `/${"parts/".repeat(20)}`;
    for (const path of [
      "/users/81723",
      "/users/99",
      "/v2/me",
      "https://x.example.com/v1/a?b=c",
      "/ghp_16C7e42F292c6912E7710c838347Ae178B4a/x",
      long,
      "/sixth",
    ])
      routing.route("GET", path);
    expect(unrouted.paths).toEqual(["/users/*", "/v2/me", "/v1/a", "/*/x", long.slice(0, 80)]);
    expect([unrouted.routed, unrouted.unrouted]).toEqual([0, 7]);
    expect(() => unrouted.requireSome(policy)).toThrow("no route of this policy matches any of 7 rows");
    routing.route("GET", "/things/7");
    unrouted.requireSome(policy);
    new Unrouted().requireSome(policy);
  });

  test("are answered by the paths of eight routes, each once", () => {
    const paths = Array.from({ length: 6 }, (_, at) => `/path-${at}`);
    const routes = paths.flatMap((path) =>
      ["GET", "POST"].map((method) => ({ path, methods: [method], operation: "read" })),
    );
    const further = ["/more", "/still-more", "/most"].map((path) => ({ path, operation: "read" }));
    const many = parsePolicy({ ...input, routes: [...routes, ...further] });
    const unrouted = new Unrouted();
    unrouted.add("/x");
    const said = (() => {
      try {
        unrouted.requireSome(many);
      } catch (error) {
        return (error as { problems: { got: string; allowed: string }[] }).problems[0];
      }
      return undefined;
    })();
    const eight = [...paths, "/more", "/still-more"].join(", ");
    expect(said).toMatchObject({ got: "/x", allowed: `a request of ${eight}` });
  });
});

test("a policy of 250 operations is read, one of 251 is not", () => {
  const of = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => [`op${at}`, { uses: { calls: 1 } }] as const);
    const routes = [{ path: "/**", operation: "op0" }];
    return parsePolicy({ ...input, operations: Object.fromEntries(names), routes });
  };
  expect(new PolicyRouting(of(250), new Unrouted()).named("op249")).toBe(249);
  expect(() => new PolicyRouting(of(251), new Unrouted())).toThrow("too many operations for logs");
});
