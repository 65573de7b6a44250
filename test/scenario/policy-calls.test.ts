// Calls under a policy: which operation a call is, whom it is charged to, and what advice there is on it.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { rest, status } from "../../src/scenario/calls.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import { adviseScenario, defineScenario, graphql, poller } from "../../src/scenario/index.ts";
import { graphqlPath, ownAttributes, policyCall, sampleOf } from "../../src/scenario/policy-calls.ts";

const window = { kind: "fixed-window", limit: 5, windowSeconds: 60 } as const;
const policy = parsePolicy({
  version: 2,
  name: "own",
  quotas: {
    calls: { algorithm: window, key: ["organization", "user", "project", "model", "kind"] },
    free: { algorithm: { ...window, limit: 1 }, enforced: false },
    any: { algorithm: { ...window, limit: 2 }, charge: { when: "completion", fits: "any-left" } },
  },
  operations: {
    call: {
      uses: { calls: "declared", free: 9, any: { atMost: 9 } },
      samples: [{ method: "POST", path: "/v1/1/call", headers: { "X-Model": "sampled" } }],
    },
    read: { uses: { free: 1 } },
    write: { uses: { free: 1 } },
  },
  routes: [
    {
      methods: ["POST"],
      path: "/v1/{project}/call",
      operation: "call",
      attributes: { model: { header: "x-model" }, kind: { text: "usual" } },
    },
    { path: "/graphql.json", graphql: "mutation", operation: "write" },
    { path: "/graphql.json", graphql: "query", operation: "read" },
    { path: "/v1/status", operation: "status" },
  ],
  auth: { attributes: ["organization", "user"] },
});
const seat = { organization: "acme", user: "ann" };
const post = (path: string, more: Partial<CallTemplate> = {}): CallTemplate => ({
  ...rest(path, { method: "POST", cost: 3 }),
  ...more,
});

test.each<[string, CallTemplate, object, string, object]>([
  [
    "by path, header and text",
    post("/v1/7/call", { headers: { "x-MODEL": "m" } }),
    seat,
    "call",
    { project: "7", model: "m", kind: "usual" },
  ],
  ["with the sample's header", post("/v1/:org/call"), seat, "call", { project: "acme", model: "sampled" }],
  [
    "by what the token stands for",
    post("/v1/7/call"),
    { ...seat, attributes: { organization: "globex" } },
    "call",
    { organization: "globex", user: "ann" },
  ],
  ["of no route", rest("/v1/7/call"), seat, "other", { project: "acme", model: "ann", organization: "acme" }],
  [
    "a status, whatever its path",
    { ...status(), path: "/v1/7/call" },
    seat,
    "status",
    { organization: "acme" },
  ],
  ["a query", graphql("query { a }", { cost: 1 }), seat, "read", {}],
  ["a mutation", graphql("  mutation { a }", { cost: 1 }), seat, "write", {}],
])("a call %s", (_, call, caller, operation, attributes) => {
  const found = policyCall(policy, call, caller as typeof seat);
  expect(found.operation).toBe(operation);
  expect(found.caller).toMatchObject(attributes);
});

test("queries have a path of their own, and samples are found by method", () => {
  expect(graphqlPath(policy)).toBe("/graphql.json");
  expect(graphqlPath({ ...policy, routes: policy.routes.slice(0, 1) })).toBeNull();
  const path = (name: string) =>
    graphqlPath({ ...policy, routes: [{ path: name, operation: "read", attributes: {} }] });
  expect(["/a/graphql", "/graphql", "/graphql.json", "/graphql/x", "/mygraphql"].map(path)).toEqual([
    "/a/graphql",
    "/graphql",
    "/graphql.json",
    null,
    null,
  ]);
  expect(sampleOf(policy, "call", { method: "POST" })?.path).toBe("/v1/1/call");
  expect(sampleOf(policy, "call", { method: "GET" })).toBeUndefined();
  expect(ownAttributes(policy, seat)).toEqual(seat);
});

describe("advice", () => {
  const scenario = (call: CallTemplate) =>
    defineScenario({
      name: "own",
      duration: "1m",
      populations: { all: { clients: 1, behaviour: poller({ every: "1s", call }) } },
    });
  const underPolicy = (call: CallTemplate) => {
    const adjusted = adjustScenario(scenario(call), { policy });
    return adviseScenario(adjusted, parseRules({}));
  };

  test.each<[CallTemplate, string[]]>([
    [post("/v1/7/call", { cost: 5, name: "call" }), []],
    [
      post("/v1/7/call", { cost: 6, name: "call" }),
      ["all: call costs 6 of calls, above its limit of 5: it is refused for ever"],
    ],
    [
      rest("/nowhere"),
      [
        "all: nowhere is limited by no quota of own",
        "own limits no call of this scenario: npx spillway init --policy NAME|FILE writes one of a policy's own calls",
      ],
    ],
    [status(), []],
  ])("under a policy: %#", (call, words) => {
    expect(underPolicy(call)).toEqual(words);
  });

  test("one call that is limited is enough not to be sent elsewhere", () => {
    const two = defineScenario({
      name: "own",
      duration: "1m",
      populations: {
        all: { clients: 1, behaviour: poller({ every: "1s", call: post("/v1/7/call", { cost: 5 }) }) },
        some: { clients: 1, behaviour: poller({ every: "1s", call: rest("/nowhere") }) },
      },
    });
    expect(adviseScenario(adjustScenario(two, { policy }), parseRules({}))).toEqual([
      "some: nowhere is limited by no quota of own",
    ]);
  });

  test.each<[number, object, string[]]>([
    [50_000, {}, ["above the organization's limit of 20000: it is refused for ever"]],
    [50_001, {}, ["above the 50000 points of one query: it is answered with errors and never executed"]],
    [20_000, {}, ["above a user's limit of 5000: it is refused for ever"]],
    [5_000, {}, []],
    [20_001, { semantics: { graphqlCharge: "postpaid" } }, []],
    [20_001, { organization: { graphql: { enforced: false } } }, []],
    [
      5_001,
      { organization: { graphql: { enforced: false } }, semantics: { userEnforced: "always" } },
      ["above a user's limit of 5000: it is refused for ever"],
    ],
  ])("a query of %s points under %j", (cost, rules, reasons) => {
    const found = adviseScenario(scenario(graphql("{ a }", { cost })), parseRules(rules));
    expect(found).toEqual(reasons.map((reason) => `all: graphql costs ${cost}, ${reason}`));
  });

  test("outages at the run's end, one or several", () => {
    const out = (at: number) => ({ atMs: at, forMs: 1, answer: 503, share: 1 }) as const;
    const late = (...at: number[]) =>
      adviseScenario({ ...scenario(rest("/")), outages: at.map(out) }, parseRules({}));
    expect(late(59_999)).toEqual([]);
    expect(late(0, 60_000)).toEqual(["outages.1 begins 60000 ms into a run of 60000 ms: it never happens"]);
    expect(late(60_000, 60_001)).toEqual(["2 outages begin after the run's end: they never happen"]);
  });

  test("other costs go with a policy alone", () => {
    const dear = scenario(rest("/", { cost: 2, name: "dear" }));
    expect(() => adjustScenario(dear, {})).toThrow(
      expect.objectContaining({
        problems: [
          {
            path: "populations.all.dear.cost",
            got: "2",
            allowed: "1 under rules; other costs go with --policy",
          },
        ],
      }),
    );
    expect(adjustScenario(dear, { policy })).toMatchObject({ rules: null, policy: { name: "own" } });
  });

  test("no call is charged more in the end than the policy says of its operation", () => {
    const using = (actual: number) =>
      scenario(rest("/v1/p/call", { method: "POST", cost: 20, actual, name: "dear" }));
    expect(() => adjustScenario(using(10), { policy })).toThrow(
      expect.objectContaining({
        problems: [
          {
            path: "populations.all.dear.actual",
            got: "10",
            allowed: "at most 9, which the policy says of any",
          },
        ],
      }),
    );
    expect(adjustScenario(using(9), { policy }).policy?.name).toBe("own");
  });
});
