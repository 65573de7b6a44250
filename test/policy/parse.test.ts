// Policies from untrusted JSON: defaults, and every mistake at once, each with its path and what is allowed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePolicy, policyFile } from "../../src/policy/parse.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { type Problem, SpillwayError } from "../../src/rules/errors.ts";
import { parseDocument } from "../../src/rules/json.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { property } from "../support/property.ts";
import { inference } from "./policies.ts";

function problems(input: unknown): readonly Problem[] {
  try {
    parsePolicy(input);
  } catch (error) {
    if (error instanceof SpillwayError && error.code === "POLICY_INVALID") return error.problems;
    throw error;
  }
  return [];
}

type Changed = { [name: string]: unknown };

/** The policy of three dimensions with one member changed, named by its path. */
function changed(path: string, value: unknown, from: object = inference): unknown {
  const policy = structuredClone(from) as Changed;
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  let at: Changed = policy;
  for (const step of steps) {
    at[step] ??= {};
    at = at[step] as Changed;
  }
  if (value === undefined) delete at[last];
  else at[last] = value;
  return policy;
}

const bucket = (capacity: number, amount: number, everyMs: number) => ({
  kind: "token-bucket",
  capacity,
  refill: { amount, everyMs },
});

/** A policy of one quota and one operation. */
const least = {
  version: 2,
  name: "least",
  quotas: { calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 } } },
  operations: { call: { uses: { calls: 1 } } },
};

test("a quota that is used where there is none says so", () => {
  const input = { version: 2, name: "none", quotas: {}, operations: { call: { uses: { calls: 1 } } } };
  expect(problems(input)).toEqual([
    { path: "operations.call.uses.calls", got: '"calls"', allowed: "a quota, and there is none" },
  ]);
});

describe("what is left out", () => {
  const policy = parsePolicy({
    version: 2,
    name: "small",
    quotas: { calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 }, key: ["account"] } },
    operations: { call: { uses: { calls: 1 } } },
  });

  test("is the default, and a caller has the attributes that keys name", () => {
    expect(policy.quotas["calls"]).toEqual({
      algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60, anchor: "epoch", opens: "exact" },
      key: ["account"],
      unit: "requests",
      charge: { when: "admission", fits: "whole", refused: "nothing", refusedByOther: "nothing" },
      enforced: true,
      shown: { remaining: "clamped", reset: "ceil", retryAfter: true },
    });
    expect(policy.operations["call"]).toEqual({
      uses: { calls: 1 },
      relation: "all-or-nothing",
      samples: [],
    });
    expect(policy.auth).toEqual({ header: "Authorization", form: "Bearer {token}", attributes: ["account"] });
  });

  test("what a request fills is none of the token's", () => {
    const { auth: _, ...rest } = inference;
    expect(parsePolicy(rest).auth.attributes).toEqual(["tenant", "user"]);
  });

  test("a window of a calendar has its length", () => {
    const { algorithm } = parsePolicy(inference).quotas["model_day"] ?? {};
    expect(algorithm).toMatchObject({ windowSeconds: 86_400, opens: "exact" });
  });

  test("a complete policy read again is itself", () => {
    for (const one of [policy, parsePolicy(inference), policyOf(parseRules({}))])
      expect(parsePolicy(JSON.parse(JSON.stringify(one)))).toEqual(one);
  });
});

test("rules of version 1 are shorthand, with or without their version", () => {
  const rules = { user: { rest: { limit: 7 } } };
  const policy = policyOf(parseRules(rules));
  expect(parsePolicy(rules)).toEqual(policy);
  expect(parsePolicy({ version: 1, ...rules })).toEqual(policy);
  expect(policy.quotas["rest_user"]?.algorithm).toMatchObject({ limit: 7, windowSeconds: 60 });
});

describe("a mistake is named with its path and what is allowed", () => {
  test.each<[string, string, unknown, string, string, string]>([
    [
      "a limit of 0",
      "quotas.user.algorithm.limit",
      0,
      "quotas.user.algorithm.limit",
      "0",
      "from 1 to 9007199254740991",
    ],
    [
      "a limit above 2^53",
      "quotas.user.algorithm.limit",
      2 ** 53,
      "quotas.user.algorithm.limit",
      "9007199254740992",
      "from 1 to 9007199254740991",
    ],
    [
      "a limit that is no integer",
      "quotas.user.algorithm.limit",
      1.5,
      "quotas.user.algorithm.limit",
      "1.5",
      "a whole number",
    ],
    [
      "a window of 0",
      "quotas.tenant.algorithm.windowSeconds",
      0,
      "quotas.tenant.algorithm.windowSeconds",
      "0",
      "seconds from 1",
    ],
    [
      "no window",
      "quotas.tenant.algorithm.windowSeconds",
      undefined,
      "quotas.tenant.algorithm.windowSeconds",
      "nothing",
      "the window's length in seconds",
    ],
    [
      "a capacity of 0",
      "quotas.burst.algorithm.capacity",
      0,
      "quotas.burst.algorithm.capacity",
      "0",
      "from 1",
    ],
    [
      "a refill of 0",
      "quotas.burst.algorithm.refill.amount",
      0,
      "quotas.burst.algorithm.refill.amount",
      "0",
      "from 1",
    ],
    [
      "a rate whose product passes 2^53",
      "quotas.burst.algorithm",
      bucket(2 ** 53 - 1, 7, 60_000),
      "quotas.burst.algorithm.capacity",
      "9007199254740991",
      "at most 150119987579",
    ],
    [
      "a bucket that never fills",
      "quotas.burst.algorithm",
      bucket(10 ** 9, 1, 10 ** 6),
      "quotas.burst.algorithm.refill",
      '{"amount":1,"everyMs":1000000}',
      "within 100 years",
    ],
    [
      "no kind",
      "quotas.burst.algorithm",
      { limit: 5 },
      "quotas.burst.algorithm.kind",
      "nothing",
      '"token-bucket"',
    ],
    [
      "an unknown kind",
      "quotas.burst.algorithm.kind",
      "leaky",
      "quotas.burst.algorithm.kind",
      '"leaky"',
      '"sliding-log"',
    ],
    [
      "an unknown member",
      "quotas.user.algorithm.limits",
      5,
      "quotas.user.algorithm.limits",
      '"limits"',
      "did you mean limit?",
    ],
    [
      "a zone that is none",
      "quotas.model_day.algorithm.anchor",
      { calendar: "day", zone: "Mars" },
      "quotas.model_day.algorithm.anchor.zone",
      '"Mars"',
      "Europe/Paris",
    ],
    [
      "an anchor that is none",
      "quotas.user.algorithm.anchor",
      "noon",
      "quotas.user.algorithm.anchor",
      '"noon"',
      '"first-request"',
    ],
    [
      "an offset past the window",
      "quotas.user.algorithm.anchor",
      { offsetMs: 10_000 },
      "quotas.user.algorithm.anchor.offsetMs",
      "10000",
      "less than the window",
    ],
    [
      "a length that is not the calendar's",
      "quotas.model_day.algorithm.windowSeconds",
      60,
      "quotas.model_day.algorithm.windowSeconds",
      "60",
      "86400",
    ],
    [
      "a header of the connection",
      "operations.list.samples",
      [{ path: "/v1/models", headers: { "X-Kind": "a", expect: "100-continue" } }],
      "operations.list.samples.0.headers.expect",
      '"expect"',
      "no header of the connection",
    ],
    ...["/messages", "max_tokens", "/options/max_tokens", "/model/length"].map(
      (pointer): [string, string, unknown, string, string, string] => [
        `a pointer to no number, ${pointer}`,
        "operations.list.samples",
        [{ path: "/v1/models", body: { messages: [1], model: "m" }, dearer: { pointer, costEach: 1 } }],
        "operations.list.samples.0.dearer.pointer",
        JSON.stringify(pointer),
        "a pointer to a number in the sample's body",
      ],
    ),
    [
      "a list of headers",
      "operations.list.samples",
      [{ path: "/v1/models", headers: ["X-Kind"] }],
      "operations.list.samples.0.headers",
      '["X-Kind"]',
      "an object of headers' texts by name",
    ],
    [
      "a key that a call cannot fill",
      "quotas.tenant.key",
      ["region"],
      "operations.complete.uses.tenant",
      'a quota by "region"',
      "quotas by tenant, user, model",
    ],
    [
      "a key that one route does not fill",
      "routes.3",
      { path: "/v1/all", operation: "list" },
      "operations.list.uses.model_day",
      'a quota by "model"',
      "quotas by tenant, user",
    ],
    [
      "an attribute twice",
      "quotas.tenant.key",
      ["tenant", "tenant"],
      "quotas.tenant.key.1",
      '"tenant"',
      "each attribute once",
    ],
    ["a cost below 0", "operations.list.uses.anybody", -1, "operations.list.uses.anybody", "-1", "from 0"],
    [
      "a cost that is unknown without a bound",
      "operations.list.uses.anybody",
      {},
      "operations.list.uses.anybody",
      "{}",
      '{"atMost": ...} where only',
    ],
    [
      "a cost that must be known beforehand",
      "operations.list.uses.anybody",
      { atMost: 5 },
      "operations.list.uses.anybody",
      '{"atMost":5}',
      "must know the cost beforehand",
    ],
    [
      "a quota that is none",
      "operations.list.uses.anybdy",
      1,
      "operations.list.uses.anybdy",
      '"anybdy"',
      "did you mean anybody?",
    ],
    ["no quota", "operations.list.uses", {}, "operations.list.uses", "0 quotas", "from 1 to 32"],
    [
      "a quota that refuses with none",
      "quotas.burst.enforced",
      { with: "any" },
      "quotas.burst.enforced.with",
      '"any"',
      "a quota: tenant",
    ],
    [
      "a quota that refuses with itself",
      "quotas.burst.enforced",
      { with: "burst" },
      "quotas.burst.enforced.with",
      '"burst"',
      'an "enforced" of its own',
    ],
    [
      "a quota that refuses with another key's",
      "quotas.user.enforced",
      { with: "model_day" },
      "quotas.user.enforced.with",
      '"model_day"',
      "[tenant, user] alone",
    ],
    [
      "a route to nothing",
      "routes.1.operation",
      "lists",
      "routes.1.operation",
      '"lists"',
      "did you mean list?",
    ],
    [
      "a route that matches nothing",
      "routes.3",
      { path: "/v1/models/{any}/x", operation: "look" },
      "routes.3",
      "a route that matches nothing: routes.1",
      "requests of its own",
    ],
    [
      "two routes that tie",
      "routes.3",
      { path: "/v1/models/{name}/**", operation: "look" },
      "routes.3",
      "routes.1 again",
      "requests of its own",
    ],
    [
      "a path of half segments",
      "routes.1.path",
      "/v1/{a}b",
      "routes.1.path",
      '"/v1/{a}b"',
      "a path of segments",
    ],
    ["no method", "routes.0.methods", [], "routes.0.methods", "[]", "a list of HTTP methods, at least one"],
    [
      "an unknown attribute",
      "overrides.0.match",
      { tenan: "big" },
      "overrides.0.match.tenan",
      '"tenan"',
      "did you mean tenant?",
    ],
    [
      "an override of a shared count",
      "overrides.0.match",
      { user: "bob" },
      "overrides.0.quotas.tenant",
      "a quota whose key has no user",
      "every attribute that is matched",
    ],
    ["an override of nothing", "overrides.0.match", {}, "overrides.0.match", "{}", "at least one attribute"],
    [
      "a limit of a bucket",
      "overrides.0.quotas.tenant_tokens.limit",
      5,
      "overrides.0.quotas.tenant_tokens.limit",
      "it, of a token-bucket",
      "enforced, capacity, refill",
    ],
    ["a form without its token", "auth.form", "Bearer", "auth.form", '"Bearer"', "{token}"],
    [
      "an operation called status",
      "operations.status",
      { uses: { anybody: 1 } },
      "operations.status",
      '"status"',
      "another name",
    ],
    [
      "a name that is reserved",
      "quotas.constructor",
      inference.quotas.user,
      "quotas",
      "{",
      "names other than those of every JavaScript object",
    ],
    [
      "a name that every object has",
      "quotas.toString",
      inference.quotas.user,
      "quotas",
      "{",
      "names other than those of every JavaScript object",
    ],
    [
      "an attribute that every object has",
      "quotas.user.key.0",
      "valueOf",
      "quotas.user.key.0",
      '"valueOf"',
      "names other than those of every JavaScript object",
    ],
    ["another version", "version", 3, "version", "3", "2"],
    ["a wire that is none", "wire", "telegraph", "wire", '"telegraph"', "a wire format: "],
    ["a wire's name that is mistyped", "wire", "githup", "wire", '"githup"', "did you mean github?"],
    ["a wire of an unknown revision", "wire", "ietf-12", "wire", '"ietf-12"', "did you mean ietf-"],
    [
      "a placeholder that is none",
      "wire",
      { revision: "1", readings: [{ headers: { "X-Limit": "{limits}" } }] },
      "wire.readings.0.headers.X-Limit",
      '"{limits}"',
      "text with placeholders of {limit}",
    ],
    [
      "a form of time that is none",
      "wire",
      { revision: "1", readings: [{ reset: { form: "delta", means: "window-end" } }] },
      "wire.readings.0.reset.form",
      '"delta"',
      'one of "delta-s"',
    ],
    [
      "a meaning that is mistyped",
      "wire",
      { revision: "1", readings: [{ reset: { form: "delta-s", means: "windw-end" } }] },
      "wire.readings.0.reset.means",
      '"windw-end"',
      'did you mean "window-end"?',
    ],
    [
      "a form of advice that is none",
      "wire",
      { revision: "1", retryAfter: [{ header: "Retry-After", form: "soon" }] },
      "wire.retryAfter.0.form",
      '"soon"',
      'one of "delta-s"',
    ],
    [
      "a member that no wire has",
      "wire",
      { revision: "1", reading: [] },
      "wire.reading",
      '"reading"',
      "did you mean readings?",
    ],
    [
      "an algorithm that is mistyped",
      "quotas.user.algorithm.kind",
      "fixed-windw",
      "quotas.user.algorithm.kind",
      '"fixed-windw"',
      'did you mean "fixed-window"?',
    ],
    ["a wire with a revision of its own", "wire", "github@2022", "wire", '"github@2022"', "a wire format: "],
    [
      "a quota that only the wire has",
      "wire",
      { revision: "1", readings: [{ quotas: ["usr"] }] },
      "wire.readings.0.quotas.0",
      '"usr"',
      "did you mean user?",
    ],
  ])("%s", (_, path, value, at, got, allowed) => {
    const found = problems(changed(path, value));
    expect(found.map((problem) => problem.path)).toContain(at);
    const problem = found.find((one) => one.path === at);
    expect(problem?.got).toContain(got);
    expect(problem?.allowed).toContain(allowed);
  });

  test("in our own words, whatever is put into any place", () => {
    const full = {
      ...inference,
      routes: [{ methods: ["GET"], path: "/**", operation: "list", attributes: { model: { text: "x" } } }],
      wire: {
        revision: "1",
        readings: [{ quotas: ["user"], on: ["admitted"], headers: { a: ["{limit}"] }, body: {} }],
        retryAfter: [{ header: "Retry-After", form: "delta-s" }],
        outcomes: [{ outcome: "refused", status: [429], headers: {}, lacks: ["b"], readings: true }],
        cached: ["age"],
      },
      auth: { header: "Authorization", form: ["Bearer {token}"], attributes: ["user"] },
      $schema: "policy",
    };
    const places = (value: unknown): string[] =>
      typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => [
            key,
            ...places(inner).map((path) => `${key}.${path}`),
          ])
        : [];
    const words = places(full).flatMap((place) =>
      [-1.5, [], [-1.5], { odd: 1 }, null].flatMap((value) =>
        problems(changed(place, value, full)).map(({ allowed }) => allowed),
      ),
    );
    expect(words.length).toBeGreaterThan(100);
    expect(words.filter((allowed) => allowed.startsWith("Invalid"))).toEqual([]);
  });

  test("more than 32 quotas on one call", () => {
    const found = (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `q${index}`);
      const algorithm = { kind: "fixed-window", limit: 5, windowSeconds: 60 };
      return problems({
        version: 2,
        name: "many",
        quotas: Object.fromEntries(names.map((name) => [name, { algorithm }])),
        operations: { call: { uses: Object.fromEntries(names.map((name) => [name, 1])) } },
      });
    };
    expect(found(32)).toEqual([]);
    expect(found(33)).toEqual([
      {
        path: "operations.call.uses",
        got: "33 quotas",
        allowed: `from 1 to 32 quotas on one call; routes of calls without limits go to "other"`,
      },
    ]);
  });

  test("several at once", () => {
    const policy = changed("quotas.user.algorithm.limit", 0) as { auth: Changed; name?: string };
    policy.auth["header"] = "";
    delete policy.name;
    expect(problems(policy).map(({ path }) => path)).toEqual([
      "name",
      "quotas.user.algorithm.limit",
      "auth.header",
    ]);
  });

  test("a version 1 file with members of version 2", () => {
    expect(problems({ user: {}, quotas: {}, wire: "buildkite" })).toEqual([
      { path: "version", got: "nothing", allowed: "2, as quotas, wire are members of a policy" },
    ]);
    expect(problems({ version: 1, quotas: {} })).toMatchObject([{ path: "version", got: "1" }]);
  });

  test.each<[anchor: object, path: string]>([
    [{ calendar: "day" }, ""],
    [{ zone: "UTC" }, ""],
    [{ calendar: "hour", zone: "UTC" }, ".calendar"],
    [{ offsetMs: -1 }, ".offsetMs"],
  ])("an anchor %j", (anchor, path) => {
    const quotas = { calls: { algorithm: { ...least.quotas.calls.algorithm, anchor } } };
    expect(problems({ ...least, quotas }).map((one) => one.path)).toEqual([
      `quotas.calls.algorithm.anchor${path}`,
    ]);
  });

  test("a value that fails several checks of one form, once", () => {
    const quotas = { calls: { algorithm: { kind: "fixed-window", limit: 0.5, windowSeconds: 60 } } };
    expect(problems({ ...least, quotas })).toMatchObject([{ path: "quotas.calls.algorithm.limit" }]);
  });

  test.each(["/v1/things?page=2", "/v1/:id", "/v1/things#top"])("a route's path %s", (path) => {
    const routes = [{ path, operation: "other" }];
    expect(problems({ ...least, routes })).toMatchObject([{ path: "routes.0.path" }]);
    expect(problems({ ...least, routes: [{ path: "/v1/things:list/**", operation: "other" }] })).toEqual([]);
  });

  test.each<[outcome: object, path: string | null]>([
    [{ status: [200] }, "status"],
    [{}, "status"],
    [{ status: [403, 200] }, "status"],
    [{ status: [403] }, null],
    [{ status: [200], body: { "/ok": "false" } }, null],
    [{ headers: { "X-Refused": "*" } }, null],
    [{ lacks: ["X-Left"] }, null],
    [{ status: [403], by: "{quota}" }, "by"],
    [{ status: [403], by: "{quota}", body: { "/errors/{quota}/code": "429" } }, null],
    [{ status: [403], by: "{quota}", headers: { "X-By": ["{quota}", "*"] } }, null],
  ])("a refusal of %j that is told from nothing", (outcome, path) => {
    const outcomes = [{ outcome: "refused", ...outcome }];
    const found = problems({ ...least, wire: { revision: "1", outcomes } }).map((one) => one.path);
    expect(found).toEqual(path === null ? [] : [`wire.outcomes.0.${path}`]);
  });

  test("a file's member that stands twice", () => {
    expect(() => parseDocument('{"version": 2, "name": "a", "name": "b"}', "p.json", policyFile)).toThrow(
      expect.objectContaining({
        code: "POLICY_INVALID",
        problems: [expect.objectContaining({ path: "name" })],
      }),
    );
  });
});

property([
  fc.oneof(
    fc.jsonValue(),
    fc.record({ version: fc.constant(2), quotas: fc.jsonValue(), routes: fc.jsonValue() }),
  ),
])("any JSON is read, or refused with a code", (input) => {
  try {
    expect(parsePolicy(input).version).toBe(2);
  } catch (error) {
    expect(error).toBeInstanceOf(SpillwayError);
    expect((error as SpillwayError).problems.length).toBeGreaterThan(0);
  }
});
