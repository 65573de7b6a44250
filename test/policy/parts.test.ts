// Small functions over policies and routes, each by a table of what goes in and what comes out.
import { describe, expect, test } from "vitest";
import { asWindows } from "../../src/policy/as-window.ts";
import { calendarWindow } from "../../src/policy/calendar.ts";
import { dearer } from "../../src/policy/dearer.ts";
import { costKindOf } from "../../src/policy/declared.ts";
import { isSettled, limitOf, usedQuotas } from "../../src/policy/effective.ts";
import { nearest } from "../../src/policy/forms.ts";
import { parseLimitsFile } from "../../src/policy/limits-file.ts";
import { filled, segmentsOf, statusRequest } from "../../src/policy/match.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { CallSample, Policy, QuotaAlgorithm, Route } from "../../src/policy/policy.ts";
import { hides, isSame } from "../../src/policy/routes.ts";
import {
  emptyStatus,
  needsByVerb,
  overrideSentences,
  strayedSamples,
  unroutedOperations,
} from "../../src/policy/sentences.ts";
import { asRules, firstDifference, policyOf } from "../../src/policy/shorthand.ts";
import { parsePolicyTokens } from "../../src/policy/tokens.ts";
import type { WireData } from "../../src/policy/wire-data.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { inference } from "./policies.ts";

const policy = parsePolicy(inference);

test.each([
  ["complete", "declared", true],
  ["list", "fixed", true],
  ["look", "fixed", false],
  ["nothing of this name", "fixed", false],
])("cost of %s is %s; completed later: %s", (operation, kind, settled) => {
  expect([costKindOf(policy, operation), isSettled(policy, operation)]).toEqual([kind, settled]);
});

test("an operation whose cost has a bound alone is bounded", () => {
  const operations = { call: { uses: { a: 1, b: { atMost: 3 } } } } as unknown as Policy["operations"];
  expect(costKindOf({ operations }, "call")).toBe("bounded");
});

test.each<[string, Record<string, string>, string[]]>([
  ["look", {}, ["tenant", "user", "anybody"]],
  ["nothing of this name", {}, []],
  ["status", {}, ["anybody"]],
  ["status", { tenant: "acme" }, ["tenant", "tenant_tokens", "anybody"]],
  ["status", { tenant: "acme", user: "ann" }, ["tenant", "tenant_tokens", "user", "anybody"]],
])("%s of %j uses, or may show, %j", (operation, caller, quotas) => {
  expect(usedQuotas(policy, operation, caller)).toEqual(quotas);
});

test("the most that a quota has room for is its limit, or a bucket's capacity", () => {
  expect(Object.values(policy.quotas).map(({ algorithm }) => limitOf(algorithm))).toEqual([
    40, 4_000, 15, 90_000, 5, 100,
  ]);
});

describe("a sample made dearer", () => {
  const sample = (more: object): CallSample => ({
    method: "POST",
    path: "/",
    headers: {},
    cost: 10,
    ...more,
  });
  const by = { pointer: "/ask/tokens", costEach: 2 };
  test.each<[string, object, number, unknown]>([
    ["by its pointer", { dearer: by, body: { ask: { tokens: 5 } } }, 16, { ask: { tokens: 8 } }],
    ["cheaper, too", { dearer: by, body: { ask: { tokens: 5 } } }, 4, { ask: { tokens: 2 } }],
    ["from nothing", { dearer: by, body: { ask: {} } }, 16, { ask: { tokens: 3 } }],
    ["not at its own cost", { dearer: by, body: { ask: { tokens: 5 } } }, 10, { ask: { tokens: 5 } }],
    ["not without a way", { body: { ask: { tokens: 5 } } }, 16, { ask: { tokens: 5 } }],
    [
      "by a pointer with escapes",
      { dearer: { pointer: "/a~1b/c~0d", costEach: 1 }, body: { "a/b": { "c~d": 1 } } },
      12,
      { "a/b": { "c~d": 3 } },
    ],
    ["not in a text", { dearer: by, body: "tokens" }, 16, "tokens"],
  ])("%s", (_, more, cost, body) => {
    const before = JSON.stringify(more);
    expect(dearer(sample(more), cost)).toEqual({ ...sample(more), body });
    expect(JSON.stringify(more)).toBe(before);
  });
});

test.each<[unknown, unknown, unknown]>([
  [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, null],
  [1, 1, null],
  [{ a: { b: 1 } }, { a: { b: 2 } }, { path: "a.b", one: 1, other: 2 }],
  [{ a: [1, 2] }, { a: [1] }, { path: "a.1", one: 2, other: undefined }],
  [{ a: [1] }, { a: { 0: 1 } }, { path: "a", one: [1], other: { 0: 1 } }],
  [{}, { a: 1 }, { path: "a", one: undefined, other: 1 }],
  [{ a: null }, { a: {} }, { path: "a", one: null, other: {} }],
  [1, "1", { path: "", one: 1, other: "1" }],
])("%j and %j differ first in %j", (one, other, difference) => {
  expect(firstDifference(one, other)).toEqual(difference);
});

test.each([
  ["/", [""]],
  ["/a/b", ["a", "b"]],
  ["/a/b/", ["a", "b"]],
  ["/a//", ["a", ""]],
  ["/a?b=/c#d", ["a"]],
  ["/a#d?b", ["a"]],
  ["HTTPS://host:1/a%2Fb/%C3%A4", ["a/b", "ä"]],
  ["http://host", []],
  ["/%E4/b", ["", "b"]],
])("segments of %s: %j", (target, segments) => {
  expect(segmentsOf(target)).toEqual(segments);
});

test("the request of a status has the caller's attributes in its path", () => {
  const route = { path: "/{org}/{user}/limits", operation: "status", attributes: {} };
  const asked = (more: object, caller: Record<string, string>) =>
    statusRequest(
      {
        routes: [
          { ...route, operation: "call" },
          { ...route, ...more },
        ] as Route[],
      },
      caller,
    );
  expect(asked({}, { org: "acme", user: "ann" })).toEqual({ method: "GET", path: "/acme/ann/limits" });
  expect(asked({ methods: ["HEAD", "GET"] }, { org: "acme" })).toEqual({
    method: "HEAD",
    path: "/acme/{user}/limits",
  });
  expect(asked({ operation: "other" }, {})).toBeNull();
  expect(filled("no {brace} {x-y}", { brace: "more" })).toBe("no more {x-y}");
});

describe("a route hides another", () => {
  const route = (path: string, more: object = {}): Route =>
    ({ path, operation: "call", attributes: {}, ...more }) as Route;
  test.each<[string, string, boolean, boolean]>([
    ["/a", "/a", true, true],
    ["/a", "/b", false, false],
    ["/{x}", "/a", true, false],
    ["/{x}", "/{y}", true, true],
    ["/a/{x}", "/a", false, false],
    ["/**", "/a/b", true, false],
    ["/a/**", "/a", true, false],
    ["/a/**", "/a/**", true, true],
    ["/a/**", "/b/**", false, false],
    ["/a/b/**", "/a", false, false],
    ["/a/{x}", "/a/**", false, true],
    ["/a/b", "/a/b/c", false, false],
  ])("%s before %s: %s; the other way round: %s", (one, other, hidden, back) => {
    expect([hides(route(one), route(other)), hides(route(other), route(one))]).toEqual([hidden, back]);
    expect(isSame(route(one), route(other))).toBe(hidden && back);
  });

  test.each<[object, object, boolean]>([
    [{}, { methods: ["GET"] }, true],
    [{ methods: ["GET"] }, {}, false],
    [{ methods: ["get", "POST"] }, { methods: ["GET"] }, true],
    [{ methods: ["GET"] }, { methods: ["GET", "POST"] }, false],
    [{ host: "API.example" }, { host: "api.EXAMPLE" }, true],
    [{ host: "a.example" }, { host: "b.example" }, false],
    [{ host: "a.example" }, {}, false],
    [{}, { host: "a.example" }, true],
    [{ graphql: "query" }, { graphql: "query" }, true],
    [{ graphql: "query" }, {}, false],
    [{}, { graphql: "query" }, true],
  ])("%j before %j: %s", (one, other, hidden) => {
    expect(hides(route("/a", one), route("/a", other))).toBe(hidden);
  });
});

test("a word that is near to one allowed is asked about", () => {
  expect(nearest(["epoch", "floor"], "epoc")).toBe('one of "epoch", "floor" (did you mean "epoch"?)');
  expect(nearest(["epoch", "floor"], "zzz")).toBe('one of "epoch", "floor"');
  expect(nearest(["epoch", "floor"], 7)).toBe('one of "epoch", "floor"');
});

test("a file of limits is rules of version 1, or a policy that says as much", () => {
  const rules = parseRules({
    organization: { rest: { limit: 7 } },
    users: { "acme/a/b": { rest: { limit: 3 } } },
  });
  for (const document of [rules, { version: 1, ...rules }, policyOf(rules)])
    expect(parseLimitsFile(JSON.stringify(document), "limits.json")).toEqual(rules);
  expect(policyOf(rules).overrides).toEqual([
    { match: { organization: "acme", user: "a/b" }, quotas: { rest_user: { limit: 3 } } },
  ]);
  expect([asRules(policyOf(rules)), asRules(policy)]).toEqual([rules, null]);
  expect(() => parseLimitsFile('{"organization": {"rest": {}, "rest": {}}}', "limits.json")).toThrow(
    /organization\.rest/,
  );
});

test("overrides in words", () => {
  const overridden: Policy = {
    ...policy,
    overrides: [
      ...policy.overrides,
      { match: { tenant: "free", user: "ann" }, quotas: { user: { limit: 1, enforced: false } } },
    ],
  };
  expect(overrideSentences(overridden)).toEqual([
    "Where tenant is big: tenant is 400 requests in each minute; tenant_tokens is 8,000 tokens at once, of which 2,000 come back in each minute.",
    "Where tenant is free and user is ann: user is 1 request in each 10 seconds, and refuses nobody.",
  ]);
});

describe("what verbs need of a policy", () => {
  const { operations, routes, quotas } = policy;
  const told = { ...policy, operations: Object.fromEntries(Object.entries(operations).slice(0, 2)) };

  test("an operation without a route is no request, where there are routes at all", () => {
    expect(unroutedOperations(policy)).toEqual([
      "operations.look: no route leads to it, so that no request is one.",
    ]);
    expect(unroutedOperations({ ...policy, routes: [] })).toEqual([]);
    expect(unroutedOperations(told)).toEqual([]);
  });

  test("a sample that is no call of its operation is named, where there are routes at all", () => {
    const sample = (path: string, method = "get"): CallSample => ({ method, path, headers: {}, cost: 1 });
    const samples = [
      sample("/a/1"),
      sample("/b"),
      sample("/g", "POST"),
      sample("/nowhere"),
      sample("/a/{user}"),
    ];
    const one = { ...operations["look"], samples } as Policy["operations"][string];
    const route = { operation: "one", attributes: {} };
    const strayed = {
      ...policy,
      operations: { one },
      routes: [
        { ...route, methods: ["GET"], path: "/a/{user}", host: "api.example.com" },
        { ...route, path: "/b", operation: "other" },
        { ...route, path: "/g", graphql: "mutation" as const },
      ],
    };
    expect(strayedSamples(strayed)).toEqual([
      "operations.one.samples.1: get /b is no call of one: its route leads to other.",
      "operations.one.samples.3: get /nowhere is no call of one: no route leads it anywhere.",
    ]);
    expect(strayedSamples({ ...strayed, routes: [] })).toEqual([]);
  });

  test("a sample that lacks what its route takes an attribute from is named", () => {
    const of = (more: Partial<CallSample>, attributes: Policy["routes"][number]["attributes"]) => {
      const samples = [{ method: "GET", path: "/a", headers: {}, cost: 1, ...more }];
      const one = { ...operations["look"], samples } as Policy["operations"][string];
      const routes = [{ path: "/a", operation: "one", attributes }];
      return strayedSamples({ ...policy, operations: { one }, routes });
    };
    const lead = "operations.one.samples.0: GET /a is no call of one: it lacks the";
    const [header, pointer] = [{ ip: { header: "X-Ip" } }, { room: { pointer: "/room" } }];
    expect(of({}, header)).toEqual([`${lead} header X-Ip, which tells ip.`]);
    expect(of({}, pointer)).toEqual([`${lead} body, which tells room.`]);
    expect(of({ headers: { "x-ip": "::1" } }, header)).toEqual([]);
    expect(of({ body: { room: 1 } }, pointer)).toEqual([]);
    expect(of({}, { kind: { text: "usual" } })).toEqual([]);
  });

  test("a status that shows nothing is named", () => {
    const wire = (...on: WireData["readings"][number]["on"]) =>
      ({ readings: [{ on }], outcomes: [] }) as unknown as WireData;
    const routes = [{ path: "/limits", operation: "status", attributes: {} }];
    expect(emptyStatus({ ...policy, routes }, wire("admitted", "refused"))).toHaveLength(1);
    expect(emptyStatus({ ...policy, routes }, wire("admitted", "status"))).toEqual([]);
    expect(emptyStatus({ ...policy, routes: [] }, wire("admitted"))).toEqual([]);
  });

  test("samples, routes, a status, quotas that are enforced and windows", () => {
    const sample: CallSample = { method: "GET", path: "/", headers: {}, cost: 1 };
    const one = { call: { ...operations["look"], samples: [sample] } } as unknown as Policy["operations"];
    const log = { kind: "sliding-log", limit: 1, windowSeconds: 1 } as QuotaAlgorithm;
    const limits = { kind: "concurrency", limit: 1 } as QuotaAlgorithm;
    const logged = {
      calls: { ...quotas["user"], algorithm: log },
      once: { ...quotas["user"], algorithm: limits },
    } as unknown as Policy["quotas"];
    const bare = needsByVerb({ ...policy, operations: one, routes: [], quotas: logged });
    const samples = ["operations.complete.samples", "operations.list.samples", "operations.look.samples"];
    expect(needsByVerb(policy)).toMatchObject({
      serve: [],
      load: samples,
      status: [],
      probe: samples,
      demo: samples,
    });
    const asWindow = "--as-window: quotas.calls is a sliding-log, quotas.once is a concurrency";
    const enforced = ["routes", asWindow];
    expect(bare).toEqual({
      ...{
        serve: enforced,
        simulate: enforced,
        plan: enforced,
        replay: enforced,
        fit: enforced,
        demo: enforced,
      },
      ...{ verify: [], probe: [], audit: [], bundle: [], check: [asWindow] },
      load: [`--target, or ${asWindow}`],
      status: ['a route whose operation is "status"'],
    });
    expect(needsByVerb({ ...policy, routes: routes.slice(0, 1) })["serve"]).toEqual([]);
  });

  test("what stands in for quotas that are not enforced is told, and routes of no operation are others", () => {
    const counter = { kind: "sliding-counter", limit: 3, windowSeconds: 9 } as QuotaAlgorithm;
    const { policy: changed, changes } = asWindows({
      ...policy,
      quotas: { ...quotas, user: { ...quotas["user"], algorithm: counter } } as Policy["quotas"],
    });
    expect(changes).toEqual(["a window stands in for user (sliding-counter)"]);
    expect(changed.quotas["user"]?.algorithm).toEqual({
      ...{ kind: "fixed-window", limit: 3, windowSeconds: 9, anchor: "first-request", opens: "exact" },
    });
    expect(changed.routes.map(({ operation }) => operation)).toEqual(["complete", "list", "status"]);
  });

  test("a policy without its limits of concurrent calls names them nowhere", () => {
    const window = { algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 10 }, key: ["user"] };
    const rows = [["calls", "slots"], ["slots"], undefined].map((quotas, index) => ({
      ...(quotas && { quotas }),
      headers: { [`X-Left-${index}`]: "{remaining}" },
    }));
    const { policy: changed } = asWindows(
      parsePolicy({
        ...{ version: 2, name: "slotted", routes: [{ path: "/**", operation: "call" }] },
        quotas: {
          calls: window,
          slots: { algorithm: { kind: "concurrency", limit: 3 }, key: ["user"], enforced: false },
          more: { ...window, enforced: { with: "slots" } },
          most: { ...window, enforced: { with: "calls" } },
        },
        operations: { call: { uses: { calls: 1, slots: 1, more: 1, most: 1 } } },
        overrides: [{ match: { user: "ann" }, quotas: { slots: { limit: 5 }, calls: { limit: 6 } } }],
        wire: { revision: "1", readings: rows },
      }),
    );
    expect(parsePolicy(changed)).toEqual(changed);
    expect(changed).toMatchObject({
      quotas: { calls: { enforced: true }, more: { enforced: false }, most: { enforced: { with: "calls" } } },
      overrides: [{ match: { user: "ann" }, quotas: { calls: { limit: 6 } } }],
      wire: { readings: [{ quotas: ["calls"] }, { headers: { "X-Left-2": "{remaining}" } }] },
    });
  });
});

describe("a tokens file of a policy", () => {
  const read = (entries: unknown) => parsePolicyTokens(JSON.stringify(entries), "tokens.json", ["account"]);
  const good = { token: "t", account: "acme" };
  test.each<[unknown, string, string, string]>([
    [{}, "tokens", "no list of entries", "at least one entry"],
    [[], "tokens", "no list of entries", "at least one entry"],
    [[good, 7], "tokens.1", "no object", "an entry: an object of token, account"],
    [[{ token: "t" }], "tokens.0.account", "nothing", "a text that is not empty"],
    [[{ ...good, account: "" }], "tokens.0.account", "no text", "a text that is not empty"],
    [[{ ...good, account: 7 }], "tokens.0.account", "no text", "a text that is not empty"],
    [[{ ...good, other: 7 }], "tokens.0", "an unknown member", "token, account"],
    [[{ ...good, token: "a b" }], "tokens.0.token", "other characters", "printable ASCII without spaces"],
    [[good, good], "tokens.1.token", "a token that stands above", "each token once"],
  ])("%j", (entries, path, got, allowed) => {
    expect(() => read(entries)).toThrow(
      expect.objectContaining({ code: "TOKENS_INVALID", problems: [{ path, got, allowed }] }),
    );
  });

  test("a member that stands twice is not quoted", () => {
    const text = '[{"token": "t", "secret": 1, "secret": 2}]';
    expect(() => parsePolicyTokens(text, "tokens.json", ["account"])).toThrow(/tokens\.0\.\(a member\)/);
    expect(() => parsePolicyTokens(text, "tokens.json", ["account"])).not.toThrow(/secret/);
  });
});

test.each([
  // Clocks that skip midnight: the day begins at one o'clock.
  ["day", "America/Santiago", "2026-09-06T12:00:00Z", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"],
  ["week", "UTC", "2026-03-01T00:00:00Z", "2026-02-23T00:00:00Z", "2026-03-02T00:00:00Z"],
  ["month", "UTC", "2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
] as const)("the %s of %s at %s", (unit, zone, at, opens, ends) => {
  const { opensAt, endsAt } = calendarWindow(unit, zone, Date.parse(at));
  expect([opensAt, endsAt]).toEqual([Date.parse(opens), Date.parse(ends)]);
});
