// Tokens: found by their hash alone, never shown again; sample tokens that nobody can guess.
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import type { Store } from "../../src/engine/store.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { parseTokens, tokenScopes } from "../../src/rules/tokens.ts";
import { callersOf, credentialIn, TokenTable } from "../../src/service/auth.ts";
import { samplePolicyTokens, sampleTokens } from "../../src/service/sample-tokens.ts";
import { Deployment } from "./deployment.ts";

describe("the table of tokens", () => {
  const tokens = sampleTokens(5000);
  const table = new TokenTable(callersOf(tokens));
  const find = (authorization: string | undefined) => table.find(authorization, {});

  test("finds each of many", () => {
    for (const { token, user } of tokens) expect(find(`Bearer ${token}`)?.user).toBe(user);
  });

  test("finds none that is not there", () => {
    for (const { token } of tokens.slice(0, 500)) {
      expect(find(`Bearer ${token}x`)).toBeNull();
      expect(find(`Bearer ${token.slice(0, -1)}`)).toBeNull();
      expect(find(`Bearer ${token.toUpperCase()}`)).toBeNull();
    }
    expect(find(undefined)).toBeNull();
    expect(new TokenTable([]).find("Bearer x", {})).toBeNull();
  });

  test("tells tokens apart, whichever came last", () => {
    const connection = {};
    const ask = (token = "none") => table.find(`Bearer ${token}`, connection)?.user ?? null;
    const [first, second] = tokens.map(({ token }) => token);
    const asked = [first, first, second, "none", second, first?.slice(0, -1), first, undefined, first];
    expect(asked.map(ask)).toEqual([
      "user-0",
      "user-0",
      "user-1",
      null,
      "user-1",
      null,
      "user-0",
      null,
      "user-0",
    ]);
    expect(table.find(undefined, connection)).toBeNull();
    expect(table.find(`bearer ${first}`, connection)?.user).toBe("user-0");
    expect(table.find(`Basic ${first}`, connection)).toBeNull();
  });

  test("gives out callers without their tokens", () => {
    const [first] = tokens;
    const caller = find(`Bearer ${first?.token}`);
    expect(caller).toEqual({
      user: "user-0",
      quota: "user-0",
      organization: "acme",
      scopes: new Set(tokenScopes),
    });
  });
});

test.each([
  [["Authorization", "a"], "a"],
  [["Host", "Authorization", "authorization", "a"], "a"],
  [["X-Authorizatio", "b", "AUTHORIZATION", "a"], "a"],
  [["authorization", "a", "Authorization", "b"], undefined],
  [["Authorization", "a", "Host", "x", "AUTHORIZATION", "a"], undefined],
  [["Authorization", "a", "Authorizatiox", "b", "Proxy-Authorization", "c"], "a"],
])("of the headers %j the credential is %s: two are none", (rawHeaders, credential) => {
  expect(credentialIn({ headers: { authorization: "a" }, raw: { rawHeaders } })).toBe(credential);
});

test("a credential may stand in another header", () => {
  const headers = { "x-api-key": "k", authorization: "a" };
  const credential = (...rawHeaders: string[]) => credentialIn({ headers, raw: { rawHeaders } }, "x-api-key");
  expect(credential("X-Api-Key", "k", "Authorization", "a")).toBe("k");
  expect(credential("X-Api-Key", "k", "x-api-key", "k")).toBe(undefined);
});

describe("sample tokens", () => {
  test("are a valid tokens file: a user each, with every scope", () => {
    const tokens = sampleTokens(3);
    expect(parseTokens(JSON.parse(JSON.stringify(tokens)))).toEqual(tokens);
    expect(tokens.map(({ user, organization }) => `${organization}/${user}`)).toEqual([
      "acme/user-0",
      "acme/user-1",
      "acme/user-2",
    ]);
    expect(tokens.every(({ scopes }) => scopes.length === tokenScopes.length)).toBe(true);
  });

  test("are all different, and different each time", () => {
    const texts = [...sampleTokens(30), ...sampleTokens(30)].map((one) => one.token);
    expect(new Set(texts).size).toBe(60);
    for (const text of texts) expect(text).toMatch(/^spw_[\w-]{32}$/);
  });
});

describe("what goes wrong says nothing of tokens", () => {
  test("no answer repeats one", async () => {
    const service = new Deployment();
    for (const headers of [{ authorization: "Bearer secret-of-mine" }, { authorization: "secret-of-mine" }])
      for (const url of ["/v2/user", "/v2/organizations/acme/rate_limit", "/nowhere"])
        expect((await service.call(url, { as: null, headers })).body).not.toContain("secret-of-mine");
  });

  test("an error that nobody meant is answered 500, and told apart from the answer", async () => {
    const told: Error[] = [];
    const broken = (): never => {
      throw new Error("the disk of 10.0.0.7 is on fire");
    };
    const service = new Deployment(
      {},
      {
        store: { decide: broken, settle: broken, status: broken, readings: broken, sweep: broken },
        onUnexpected: (error) => told.push(error),
      },
    );
    for (const answer of [
      await service.call("/v2/user"),
      await service.call("/v2/organizations/acme/rate_limit"),
      await service.graphql("{ viewer { user { name } } }"),
      await service.call("/v1/graphql", { method: "POST", body: "{" }),
    ]) {
      expect(answer.statusCode).toBe(500);
      expect(answer.json()).toEqual({ message: "Internal error" });
    }
    expect(told.map(({ message }) => message)).toEqual(Array(4).fill("the disk of 10.0.0.7 is on fire"));
  });
});

test("a query whose decision alone fails is answered 500, too", async () => {
  const limiter = new Limiter(parseRules({}));
  const store: Store = {
    decide: () => {
      throw new Error("no decision");
    },
    settle: limiter.settle.bind(limiter),
    status: limiter.status.bind(limiter),
    readings: limiter.readings.bind(limiter),
    sweep: limiter.sweep.bind(limiter),
  };
  const told: string[] = [];
  const service = new Deployment({}, { store, onUnexpected: ({ message }) => told.push(message) });
  const answer = await service.graphql("{ viewer { user { name } } }");
  expect([answer.statusCode, answer.json(), told]).toEqual([
    ...[500, { message: "Internal error" }, ["no decision"]],
  ]);
});

test("a delay without a way to wait is a programmer's mistake", () => {
  expect(() => new Deployment({}, { executionDelayMs: 5 })).toThrow(RangeError);
});

test("tokens of a policy are users of one organization, or organizations where nothing tells users apart", () => {
  const shown = (...names: string[]) => samplePolicyTokens(names, 2).map(({ attributes }) => attributes);
  expect(shown("app", "tenant")).toEqual([
    { app: "app-0", tenant: "tenant-0" },
    { app: "app-1", tenant: "tenant-0" },
  ]);
  expect(shown("store")).toEqual([{ store: "store-0" }, { store: "store-1" }]);
  expect(new Set(samplePolicyTokens(["user"], 9).map(({ token }) => token)).size).toBe(9);
});
