// The stand-in by policies of a few lines: which parts of a request tell who calls, for what, and at which cost.
import type { InjectOptions } from "fastify";
import { describe, expect, test } from "vitest";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import type { SlowQuotaStore } from "../../src/engine/store.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { buildPolicyApp, type PolicyAppOptions } from "../../src/service/policy-app.ts";

const points = (limit = 1000) => ({
  algorithm: { kind: "fixed-window", windowSeconds: 60, limit, anchor: "epoch" } as const,
  key: ["tenant", "model"],
  unit: "points",
});
const small = { path: "/**", operation: "call", attributes: { model: { text: "small" } } };

/** Asks a stand-in for one tenant by the token `t`. */
function standIn(members: Partial<PolicyInput> = {}, options: Partial<PolicyAppOptions> = {}) {
  const policy = parsePolicy({
    ...{ version: 2, name: "own", quotas: { points: points() } },
    operations: { call: { uses: { points: "declared" }, samples: [] } },
    ...{ routes: [small], wire: "express-rate-limit", auth: { header: "X-Key", form: "{token}" } },
    ...members,
  });
  const told: string[] = [];
  const app = buildPolicyApp({
    ...{ policy, limiter: new PolicyLimiter(policy), now: () => 60_000 },
    tokens: [{ token: "t", attributes: { tenant: "acme" } }],
    onUnexpected: ({ message }) => told.push(message),
    ...options,
  });
  const ask = async (request: InjectOptions, key = "t") => {
    const headers = { "x-key": key, ...request.headers };
    const { statusCode, headers: got, body } = await app.inject({ ...request, headers });
    return { status: statusCode, remaining: got["x-ratelimit-remaining"], body };
  };
  return { ask, told };
}

const get = { method: "GET", url: "/a" } as const;
const post = (payload: object | string) =>
  ({
    method: "POST",
    url: "/a",
    payload: typeof payload === "string" ? payload : JSON.stringify(payload),
  }) as const;

const saying = (request: InjectOptions) => ({ ...request, headers: { "content-type": "application/json" } });

test("a call that is admitted shows its method and path, and counts", async () => {
  const { ask } = standIn();
  const body = JSON.stringify({ method: "GET", path: "/a?b=c" });
  expect(await ask({ method: "GET", url: "/a?b=c" })).toEqual({ status: 200, remaining: "999", body });
});

test.each([
  ["no key", ""],
  ["another's key", "u"],
  ["two keys", "t t"],
])("%s is answered 401", async (_, key) => {
  const body = '{"message":"Unauthorized"}';
  expect(await standIn().ask(get, key)).toEqual({ status: 401, remaining: undefined, body });
});

describe("an attribute of the caller", () => {
  const asking = async (attributes: object, request: InjectOptions) => {
    const { status, remaining } = await standIn({
      routes: [{ path: "/a", operation: "call", attributes: attributes as never }],
      overrides: [
        { match: { model: "large" }, quotas: { points: { limit: 10 } } },
        { match: { model: "5" }, quotas: { points: { limit: 20 } } },
      ],
    }).ask(request);
    return status === 200 ? remaining : status;
  };

  test.each([
    ["a text", { text: "large" }, get, "9"],
    ["a header", { header: "X-Model" }, { ...get, headers: { "x-model": "large" } }, "9"],
    ["a header that is absent", { header: "X-Model" }, get, 404],
    ["a member of the body", { pointer: "/model" }, post({ model: "large" }), "9"],
    ["a number", { pointer: "/model" }, post({ model: 5 }), "19"],
    ["a member that is neither", { pointer: "/model" }, post({ model: ["large"] }), 404],
    ["a member that is absent", { pointer: "/model" }, post({}), 404],
    ["a member of a body that says to be JSON", { pointer: "/model" }, saying(post({ model: "large" })), "9"],
    ["a member of a body that is no JSON", { pointer: "/model" }, saying(post("{")), 404],
    ["a member of an empty body", { pointer: "/model" }, post(""), 404],
    ["a member of null", { pointer: "/model" }, post("null"), 404],
  ] as const)("is %s", async (_, model, request, expected) => {
    expect(await asking({ model }, request)).toBe(expected);
  });

  test("that the token has may be said again, and no other", async () => {
    const model = { text: "small" };
    expect(await asking({ model, tenant: { text: "acme" } }, get)).toBe("999");
    expect(await asking({ model, tenant: { text: "globex" } }, get)).toBe(404);
  });
});

describe("a host", () => {
  const hosts = (...names: string[]) => ({
    routes: names.map((host, at) => ({ ...small, host, operation: at === 0 ? "other" : "call" })),
  });

  test.each([
    ["the first that routes name", "api.example.com", undefined],
    ["another that they name", "uploads.example.com", "999"],
    ["one in other letters, with a port", "UPLOADS.example.com:8443", "999"],
    ["the stand-in's own, as the first", "127.0.0.1:4100", undefined],
  ])("is %s", async (_, host, remaining) => {
    const { ask } = standIn(hosts("API.example.com", "uploads.example.com"));
    expect(await ask({ ...get, headers: { host } })).toMatchObject({ status: 200, remaining });
  });

  test("is any where routes name none", async () => {
    expect((await standIn().ask({ ...get, headers: { host: "any" } })).status).toBe(200);
  });
});

describe("a GraphQL document", () => {
  const routes = (["query", "mutation"] as const).map((graphql) => ({ ...small, path: "/a", graphql }));

  test.each([
    ["a query", { query: "{ a }" }, 200],
    ["a mutation after a fragment", { query: "fragment F on A { a } mutation { ...F }" }, 200],
    ["a subscription, which is taken for a query", { query: "subscription { a }" }, 200],
    ["types alone", { query: "type A { a: Int }" }, 404],
    ["no GraphQL", { query: "{" }, 404],
    ["no text", { query: 1 }, 404],
    ["no object", ["{ a }"], 404],
  ])("is %s", async (_, body, status) => {
    const answer = await standIn({ routes }).ask(post(body));
    expect([answer.status, answer.body]).toEqual([
      status,
      status === 200 ? '{"data":{}}' : '{"message":"Not found"}',
    ]);
  });

  test("of a subscription uses a query's operation", async () => {
    const [query, mutation] = routes;
    const apart = [{ ...mutation, operation: "other" }, query] as typeof routes;
    const asked = async (text: string) =>
      (await standIn({ routes: apart }).ask(post({ query: text }))).remaining;
    expect([await asked("subscription { a }"), await asked("mutation { a }")]).toEqual(["999", undefined]);
  });
});

describe("a cost", () => {
  const sample = (body?: object) => ({
    ...{ method: "POST", path: "/a", cost: 40 },
    ...(body === undefined ? {} : { body, dearer: { pointer: "/n", costEach: 3 } }),
  });
  const charged = async (samples: object[], request: InjectOptions, cost: unknown = "declared") => {
    const operations = { call: { uses: { points: cost }, samples } } as never;
    const charge = { when: "reserve-settle" } as const;
    const quotas = { points: { ...points(Number.MAX_SAFE_INTEGER), charge } };
    const { remaining } = await standIn({ operations, quotas }).ask(request);
    return Number.MAX_SAFE_INTEGER - Number(remaining);
  };
  const declaring = (cost: string) => ({ ...get, headers: { "spillway-cost": cost } });

  test.each<[string, object[], InjectOptions, number]>([
    ["is 1 without a sample", [], get, 1],
    ["is the sample's", [sample()], get, 40],
    ["is the sample's where the body says nothing", [sample({ n: 10 })], get, 40],
    ["is more for more", [sample({ n: 10 })], post({ n: 12 }), 46],
    ["is from nothing where the sample has no number", [sample({})], post({ n: 2 }), 46],
    ["is that of nothing for less than nothing", [sample({ n: 10 })], post({ n: -5 }), 10],
    ["is never below 0", [sample({ n: 20 })], post({ n: 0 }), 0],
    ["is declared", [sample()], declaring("7"), 7],
    ["is declared as nothing", [sample()], declaring("0"), 0],
    ["is declared in 15 digits", [], declaring("9".repeat(15)), 999_999_999_999_999],
    ["is not declared in 16 digits", [sample()], declaring("1".repeat(16)), 40],
    ["is not declared as a word", [sample()], declaring("7 points"), 40],
  ])("%s", async (_, samples, request, cost) => {
    expect(await charged(samples, request)).toBe(cost);
  });

  test("stays a whole number, however much is asked for", async () => {
    expect(await charged([sample({ n: 1 })], post({ n: 1e300 }))).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("is at most what the operation may use, by sample, body and header", async () => {
    const most = { atMost: 30 };
    expect(await charged([sample()], get, most)).toBe(30);
    expect(await charged([sample({ n: 1 })], post({ n: 2 }), most)).toBe(30);
    expect(await charged([sample({ n: 1 })], post({}), most)).toBe(30);
    expect(await charged([], declaring("31"), most)).toBe(30);
  });
});

describe("the body of an answer", () => {
  const row = (body: Record<string, string>, on: ("admitted" | "refused" | "status")[] = ["admitted"]) => ({
    wire: { revision: "1", readings: [{ on, body }] },
  });

  test("has the format's members beside the sample's, and in them", async () => {
    const { ask } = standIn(row({ "/data/left": "{remaining}", "/path/left": "{remaining}" }));
    const query = post({ query: "{ a }" });
    expect(JSON.parse((await ask(query)).body)).toEqual({ data: { left: 999 }, path: { left: 999 } });
    expect(JSON.parse((await ask(get)).body)).toEqual({
      ...{ method: "GET", data: { left: 998 }, path: { left: 998 } },
    });
  });

  test("keeps letters beyond ASCII", async () => {
    const { ask } = standIn({ ...row({ "/message": "später: {remaining}" }), routes: [small] });
    expect(JSON.parse((await ask(get)).body)).toMatchObject({ message: "später: 999" });
  });

  test("is the format's alone where a call is refused or asks for its status", async () => {
    const body = { "/left": "{remaining}", "/cost": "{cost}" };
    const routes = [{ ...small, path: "/status", operation: "status" }, small];
    const { ask } = standIn({ ...row(body, ["refused", "status"]), routes, quotas: { points: points(1) } });
    expect((await ask({ method: "GET", url: "/status" })).body).toBe('{"left":1,"cost":0}');
    expect((await ask(get)).body).toBe('{"method":"GET","path":"/a"}');
    expect(await ask(get)).toMatchObject({ status: 429, body: '{"left":0,"cost":1}' });
  });

  test("is an empty object where the format says nothing of a refusal", async () => {
    const { ask } = standIn({ quotas: { points: points(1) }, wire: { revision: "1", readings: [] } });
    await ask(get);
    expect(await ask(get)).toMatchObject({ status: 429, body: "{}" });
  });

  test("and the headers that a fault takes away are not sent", async () => {
    const faulty = {
      change: (answer: object) => ({ ...answer, headers: { "X-RateLimit-Remaining": undefined } }),
    };
    const { ask } = standIn({}, { faulty: faulty as never });
    expect(await ask(get)).toMatchObject({ status: 200, remaining: undefined });
  });
});

describe("a limiter that takes its time", () => {
  const later = (limiter: PolicyLimiter, times: number[], isBroken = false): SlowQuotaStore =>
    Object.assign(Object.create(limiter) as SlowQuotaStore, {
      decide: (call: Parameters<PolicyLimiter["decide"]>[0]) => ({
        waitMs: 25,
        resume(nowMs: number) {
          times.push(nowMs);
          if (isBroken) throw new RangeError("no count");
          return limiter.decide(call, nowMs);
        },
      }),
    });
  const slow = (isBroken: boolean, hasSleep = true) => {
    const policy = parsePolicy({
      ...{ version: 2, name: "own", quotas: { points: { ...points(), key: ["tenant"] } } },
      operations: { call: { uses: { points: 1 } } },
    });
    const times: number[] = [];
    let nowMs = 60_000;
    const sleep = async (ms: number) => {
      nowMs += ms;
    };
    const made = standIn(
      { routes: [{ path: "/**", operation: "call" }] },
      {
        ...{ limiter: later(new PolicyLimiter(policy), times, isBroken), now: () => nowMs },
        sleep: hasSleep ? sleep : undefined,
      },
    );
    return { ...made, times };
  };

  test("decides after its wait, at the time of then", async () => {
    const { ask, times, told } = slow(false);
    expect(await ask(get)).toMatchObject({ status: 200, remaining: "999" });
    expect([times, told]).toEqual([[60_025], []]);
  });

  test.each([
    ["fails", true, true, "no count"],
    ["cannot wait", false, false, "a slow limiter needs a sleep"],
  ])("and %s is answered 500, and told", async (_, isBroken, hasSleep, message) => {
    const { ask, told } = slow(isBroken, hasSleep);
    expect(await ask(get)).toMatchObject({ status: 500, body: '{"message":"Internal error"}' });
    expect(told).toEqual([message]);
  });
});

test.each([
  [500, 500, "Internal error", ["odd"]],
  [499, 499, "Bad request", []],
  [undefined, 500, "Internal error", ["odd"]],
])(
  "an error of status %s is answered %i, and told if it is nobody else's",
  async (statusCode, status, message, errors) => {
    const fail = () => {
      throw Object.assign(new Error("odd"), statusCode === undefined ? {} : { statusCode });
    };
    const { ask, told } = standIn({}, { now: fail });
    expect(await ask(get)).toMatchObject({ status, body: JSON.stringify({ message }) });
    expect(told).toEqual(errors);
  },
);
