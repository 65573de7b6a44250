// The deployment over counters of any kind: slow ones, ones that are elsewhere, wrong ones; and answers that are
// changed on their way.
import { describe, expect, test } from "vitest";
import type { Call } from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import type { Pending, RemoteStore, SlowStore } from "../../src/engine/store.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { allBut, Deployment, deferred, eight, owed, START_MS, token } from "./deployment.ts";

const input = { organization: { rest: { limit: 3 } }, user: { rest: { limit: 2 } } };
const query = "{ viewer { user { name } } }";
const statusPath = "/v2/organizations/acme/rate_limit";

/** A limiter of which every call takes `waitMs`, and is decided then. */
function slow(limiter: Limiter, waitMs: number): SlowStore {
  const decide: SlowStore["decide"] = (call) => ({ waitMs, resume: (nowMs) => limiter.decide(call, nowMs) });
  return {
    decide,
    settle: limiter.settle.bind(limiter),
    status: limiter.status.bind(limiter),
    readings: limiter.readings.bind(limiter),
    sweep: limiter.sweep.bind(limiter),
  };
}

/** A limiter that is asked by letters. */
function remote(limiter: Limiter): RemoteStore {
  return {
    decide: async (call, nowMs) => limiter.decide(call, nowMs),
    settle: async (reservation, actual, nowMs) => limiter.settle(reservation, actual, nowMs),
    status: async (organization, nowMs) => limiter.status(organization, nowMs),
    readings: async (organization, user, scope, nowMs) => limiter.readings(organization, user, scope, nowMs),
    sweep: () => {},
  };
}

const deployments: readonly [string, (limiter: Limiter) => SlowStore | RemoteStore][] = [
  ["at hand", (limiter) => limiter],
  ["slow", (limiter) => slow(limiter, 5)],
  ["elsewhere", remote],
];

test("counters are asked once a call: for a point of REST, for the points of a query", async () => {
  const asked: unknown[] = [];
  const limiter = new Limiter(parseRules({}));
  const deployment = new Deployment(
    {},
    {
      store: Object.assign(Object.create(limiter) as Limiter, {
        decide(call: Call, nowMs: number) {
          asked.push([call, nowMs]);
          return limiter.decide(call, nowMs);
        },
        settle: limiter.settle.bind(limiter),
        status: limiter.status.bind(limiter),
        readings: limiter.readings.bind(limiter),
      }),
    },
  );
  await deployment.call("/v2/user");
  await deployment.call(statusPath);
  await deployment.graphql(query);
  await deployment.graphql("{ nonsense }");
  const caller = { organization: "acme", user: "alice" };
  expect(asked).toEqual([
    [{ ...caller, scope: "rest", cost: 1 }, START_MS],
    [{ ...caller, scope: "graphql", cost: 2 }, START_MS],
  ]);
});

/** One of each kind of answer, as a caller sees it. */
async function answers(deployment: Deployment) {
  const seen = [
    await deployment.call("/v2/user"),
    await deployment.call(statusPath),
    await deployment.call("/v2/nothing/at/all"),
    await deployment.call("/v2/organizations/acme/none"),
    await deployment.call("/v2/user"),
    await deployment.call("/v2/user", { as: allBut("read_user") }),
    await deployment.call("/v2/user", { method: "DELETE", as: "bob@acme" }),
    await deployment.call("/v1/graphql"),
    await deployment.graphql(query),
    await deployment.graphql("{ nonsense }"),
    await deployment.call("/v1/graphql", {
      method: "POST",
      body: "{",
      headers: { "content-type": "application/json" },
    }),
    await deployment.call("/v1/graphql", { method: "POST", body: { no: "query" } }),
    await deployment.call("/v1/graphql", { method: "POST", as: allBut("graphql"), body: { query } }),
  ];
  return seen.map((answer) => {
    const { date: _, ...headers } = answer.headers;
    return { status: answer.statusCode, headers, body: answer.body };
  });
}

test.each(deployments)("counters %s: the same answers, byte for byte", async (_, make) => {
  const expected = await answers(new Deployment(input));
  const store = make(new Limiter(parseRules(input)));
  expect(await answers(new Deployment(input, { store, sleep: async () => {} }))).toEqual(expected);
});

describe("a slow store", () => {
  test("is resumed after its wait, by the clock of then; other calls go on meanwhile", async () => {
    const waits: number[] = [];
    const over = deferred();
    const deployment: Deployment = new Deployment(input, {
      store: slow(new Limiter(parseRules(input)), 7),
      sleep: (ms) => {
        waits.push(ms);
        return over.promise;
      },
    });
    const first = deployment.call("/v2/user");
    expect(eight(await deployment.call(statusPath))).toMatchObject({ remaining: 3, reset: 58 });
    deployment.nowMs = START_MS + 10_000;
    over.resolve();
    expect(eight(await first)).toMatchObject({ remaining: 2, reset: 48 });
    expect(waits).toEqual([7]);
  });

  test("without a way to wait is a programmer's mistake", async () => {
    const errors: Error[] = [];
    const deployment = new Deployment(input, {
      store: slow(new Limiter(parseRules(input)), 1),
      onUnexpected: (error) => errors.push(error),
    });
    expect((await deployment.call("/v2/user")).statusCode).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining("sleep") })]);
  });
});

describe("counters that fail", () => {
  const limiter = new Limiter(parseRules(input));
  const gone = () => Promise.reject(new Error("the counters are gone"));
  const pending: Pending<never> = {
    waitMs: 0,
    resume() {
      throw new Error("the counters are gone");
    },
  };
  const stores: readonly [string, SlowStore | RemoteStore][] = [
    ["elsewhere", { decide: gone, settle: gone, status: gone, readings: gone, sweep: gone }],
    ["slow", { ...slow(limiter, 0), decide: () => pending }],
  ];

  test.each(stores)("%s: 500, told to whoever runs it", async (_, store) => {
    const errors: string[] = [];
    const onUnexpected = ({ message }: Error): void => void errors.push(message);
    const deployment = new Deployment(input, { store, sleep: async () => {}, onUnexpected });
    const rest = await deployment.call("/v2/user");
    const graphql = await deployment.graphql(query);
    expect([rest.statusCode, graphql.statusCode]).toEqual([500, 500]);
    expect(rest.json()).toEqual({ message: "Internal error" });
    expect(errors).toEqual(["the counters are gone", "the counters are gone"]);
  });
});

describe("an answer that is changed on its way", () => {
  const deployment = new Deployment(input, {
    change: (answer, { kind, user, organization, scope, nowMs }) => ({
      ...answer,
      headers: {
        ...answer.headers,
        "RateLimit-Reset": undefined,
        "X-About": [kind, user, organization, scope, nowMs].join(),
      },
      body: answer.status === 429 ? { gone: true } : answer.body,
    }),
  });

  test("leaves as it was changed, with what it is about", async () => {
    const seen = [
      [await deployment.call("/v2/user"), "call", "rest"],
      [await deployment.call(statusPath), "status", "rest"],
      [await deployment.call("/v2/user", { as: "alice@acme:" }), "other", "rest"],
      [await deployment.graphql(query), "call", "graphql"],
      [await deployment.graphql("{ nonsense }"), "other", "graphql"],
    ] as const;
    for (const [answer, kind, scope] of seen) {
      expect(answer.headers["x-about"]).toBe(`${kind},alice,acme,${scope},${START_MS}`);
      expect(eight(answer)).toEqual({ ...owed(scope), reset: null });
    }
    await deployment.call("/v2/user");
    expect((await deployment.call("/v2/user")).json()).toEqual({ gone: true });
  });

  test("is not one to a caller whom nobody knows", async () => {
    expect((await deployment.call("/v2/user", { as: null })).headers).not.toHaveProperty("x-about");
  });
});

test("whose quota a call uses may be another's, who the caller is stays", async () => {
  const deployment = new Deployment(input, {
    userOf: (user, headers) => headers["x-forwarded-for"] ?? user,
  });
  const as = token("alice@acme").user;
  const from = (address: string) => deployment.call("/v2/user", { headers: { "X-Forwarded-For": address } });
  expect(eight(await from("203.0.113.1"))).toMatchObject({ "user-remaining": 1 });
  const other = await from("203.0.113.2");
  expect(eight(other)).toMatchObject({ "user-remaining": 1, remaining: 1 });
  expect(other.json()).toMatchObject({ name: as });
});
