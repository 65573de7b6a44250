// Every row of SPEC.md §6, and the order in which the rows are checked.
import { METHODS } from "node:http";
import { describe, expect, test } from "vitest";
import type { TokenScope } from "../../src/rules/tokens.ts";
import { allBut, Deployment, eight, noneOwed, owed } from "./deployment.ts";

const pipelines = "/v2/organizations/acme/pipelines";
const cheapQuery = { query: "{ viewer { user { name } } }" };
const nothing = { rest: 0, graphql: 0 };
const tight = { organization: { rest: { limit: 1 } }, user: { rest: { limit: 1 } } };

describe("401: no token that is known", () => {
  test.each([
    ["no header", {}],
    ["an empty header", { authorization: "" }],
    ["another scheme", { authorization: "Basic token-of-alice@acme" }],
    ["the token without a scheme", { authorization: "token-of-alice@acme" }],
    ["the scheme without a token", { authorization: "Bearer" }],
    ["an unknown token", { authorization: "Bearer token-of-nobody@acme" }],
    ["a token with something after it", { authorization: "Bearer token-of-alice@acme more" }],
    ["a token in another case", { authorization: "Bearer TOKEN-OF-ALICE@ACME" }],
    ["the beginning of a token", { authorization: "Bearer token-of-alice@acm" }],
  ])("%s", async (_, headers: Record<string, string>) => {
    const service = new Deployment();
    for (const url of [
      pipelines,
      "/v2/user",
      "/v2/organizations/acme/rate_limit",
      "/v2/organizations/nowhere",
    ]) {
      const answer = await service.call(url, { as: null, headers });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({ message: expect.stringContaining("Bearer") });
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
      expect(eight(answer)).toEqual(noneOwed);
    }
    expect(
      (await service.call("/v1/graphql", { method: "POST", as: null, headers, body: cheapQuery })).statusCode,
    ).toBe(401);
    expect(await service.counted()).toEqual(nothing);
  });

  test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("the scheme may be written %s", async (scheme) => {
    const headers = { authorization: `${scheme} token-of-alice@acme` };
    expect((await new Deployment().call("/v2/user", { as: null, headers })).statusCode).toBe(200);
  });
});

describe("404: an organization that is unknown, or another's", () => {
  test("the same body for both, without headers, nothing counted", async () => {
    const service = new Deployment();
    const bodies = [];
    for (const slug of [
      "nowhere",
      "globex",
      "ACME",
      "acme%20",
      "..%2Facme",
      "",
      "acme%00",
      "a".repeat(3000),
    ]) {
      for (const rest of ["", "/pipelines", "/rate_limit", "/no/such/thing"]) {
        if (slug === "" && rest === "") continue; // `/v2/organizations/` names no organization: outside the API.
        const answer = await service.call(`/v2/organizations/${slug}${rest}`);
        expect(answer.statusCode).toBe(404);
        expect(eight(answer)).toEqual(noneOwed);
        bodies.push(answer.body);
      }
    }
    expect(new Set(bodies)).toEqual(new Set(['{"message":"No organization found"}']));
    expect(await service.counted()).toEqual(nothing);
    expect(await service.counted("alice@globex")).toEqual(nothing);
  });

  test("before 403, 405 and 429", async () => {
    const service = new Deployment(tight);
    await service.call("/v2/user");
    for (const method of ["GET", "DELETE"]) {
      const answer = await service.call("/v2/organizations/globex/pipelines", { method, as: "alice@acme:" });
      expect(answer.statusCode).toBe(404);
    }
    expect((await service.call("/v2/organizations/globex/pipelines")).statusCode).toBe(404);
  });
});

describe("403: a token without the needed scope", () => {
  test.each<[string, TokenScope]>([
    ["/v2/organizations/acme/rate_limit", "read_accounts"],
    ["/v2/organizations/acme", "read_organizations"],
    ["/v2/organizations/acme/pipelines", "read_pipelines"],
    ["/v2/organizations/acme/pipelines/api", "read_pipelines"],
    ["/v2/organizations/acme/pipelines/api/builds", "read_builds"],
    ["/v2/organizations/acme/pipelines/api/builds/1", "read_builds"],
    ["/v2/user", "read_user"],
  ])("%s needs %s", async (url, scope) => {
    const service = new Deployment();
    const refused = await service.call(url, { as: allBut(scope) });
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toEqual({ message: expect.stringContaining(scope) });
    expect(eight(refused)).toEqual({ ...owed("rest"), remaining: 200, "user-remaining": 50 });
    expect(await service.counted()).toEqual(nothing);
    expect((await service.call(url, { as: `only@acme:${scope}` })).statusCode).toBe(200);
  });

  test("/v1/graphql needs graphql", async () => {
    const service = new Deployment();
    const post = { method: "POST", body: cheapQuery };
    const refused = await service.call("/v1/graphql", { ...post, as: allBut("graphql") });
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toEqual({ message: expect.stringContaining("graphql") });
    expect(eight(refused)).toEqual({ ...owed("graphql"), remaining: 20_000, "user-remaining": 5000 });
    expect((await service.call("/v1/graphql", { ...post, as: "only@acme:graphql" })).statusCode).toBe(200);
  });

  test("before 405, 429 and what a body may be", async () => {
    const service = new Deployment(tight);
    await service.call("/v2/user");
    const as = "alice@acme:";
    expect((await service.call("/v2/user", { as })).statusCode).toBe(403);
    expect((await service.call(pipelines, { as, method: "PUT" })).statusCode).toBe(403);
    expect((await service.call("/v1/graphql", { as })).statusCode).toBe(403);
    expect((await service.call("/v1/graphql", { as, method: "POST", body: "{" })).statusCode).toBe(403);
  });
});

describe("429 of REST", () => {
  test("the organization's window: everything is of it", async () => {
    const service = new Deployment({ organization: { rest: { limit: 2 } } });
    await service.call("/v2/user");
    await service.call("/v2/user", { as: "bob@acme" });
    service.nowMs += 500;
    const answer = await service.call("/v2/user");
    expect(answer.statusCode).toBe(429);
    expect(answer.json()).toEqual({
      message: "Your organization has exceeded the limit of 2 requests. Please try again in 58 seconds.",
      scope: "rest",
      limit: 2,
      current: 2,
      reset: 58,
    });
    expect(answer.headers["retry-after"]).toBe("58");
    expect(eight(answer)).toEqual({
      ...owed("rest"),
      limit: 2,
      remaining: 0,
      "user-remaining": 49,
      reset: 58,
    });
    expect(answer.headers["ratelimit-warning"]).toEqual(expect.any(String));
    expect(answer.headers).not.toHaveProperty("ratelimit-user-warning");
  });

  test("the user's window: everything is of it, Retry-After too", async () => {
    const service = new Deployment({ user: { rest: { limit: 1, windowSeconds: 7 } } });
    await service.call("/v2/user");
    const answer = await service.call("/v2/user");
    expect(answer.statusCode).toBe(429);
    const { "user-reset": reset } = eight(answer);
    expect(answer.json()).toEqual({
      message: `You have exceeded the limit of 1 requests. Please try again in ${reset} seconds.`,
      scope: "rest_user",
      limit: 1,
      current: 1,
      reset,
    });
    expect(answer.headers["retry-after"]).toBe(String(reset));
    expect(answer.headers).not.toHaveProperty("ratelimit-warning");
    expect(answer.headers["ratelimit-user-warning"]).toEqual(expect.any(String));
  });

  test("where both lack room, the organization's is named", async () => {
    const service = new Deployment(tight);
    await service.call("/v2/user");
    expect((await service.call("/v2/user")).json()).toMatchObject({ scope: "rest" });
  });

  test("before 404 and 405", async () => {
    const service = new Deployment(tight);
    await service.call("/v2/user");
    for (const url of [`${pipelines}/no-such`, "/v2/organizations/acme/no/such"])
      expect((await service.call(url)).statusCode).toBe(429);
    expect((await service.call(pipelines, { method: "DELETE" })).statusCode).toBe(429);
    expect((await service.call("/v2/organizations/acme/rate_limit", { method: "POST" })).statusCode).toBe(
      429,
    );
  });

  test("Retry-After can be switched off, for each scope", async () => {
    const service = new Deployment({
      ...tight,
      organization: { rest: { limit: 1 }, graphql: { limit: 1 } },
      semantics: { retryAfter: { rest: false, graphql: true } },
    });
    await service.call("/v2/user");
    const rest = await service.call("/v2/user");
    const graphql = await service.graphql("{ viewer { user { name } } }");
    expect([rest.statusCode, graphql.statusCode]).toEqual([429, 429]);
    expect(rest.headers).not.toHaveProperty("retry-after");
    expect(graphql.headers["retry-after"]).toBe("298");
  });
});

describe("404 and 405 of REST: looked up after counting", () => {
  test.each([
    "/v2/organizations/acme/no/such/thing",
    "/v2/organizations/acme/pipelines/no-such",
    "/v2/organizations/acme/pipelines/API",
    "/v2/organizations/acme/pipelines/no-such/builds",
    "/v2/organizations/acme/pipelines/api/builds/0",
    "/v2/organizations/acme/pipelines/api/builds/1.5",
    "/v2/organizations/acme/pipelines/api/builds/1e1",
    "/v2/organizations/acme/pipelines/api/builds/241",
    "/v2/organizations/acme/pipelines/api/builds/one",
    "/v2/organizations/acme/rate_limit/more",
    "/v2/organizations/acme/rate_limit%2F",
    "/v2/organizations/acme//rate_limit",
    "/v2/organizations/acme/pipelines/%FF",
    "/v2/organizations/acme/%zz",
  ])("404 counts: %s", async (url) => {
    const service = new Deployment();
    const answer = await service.call(url);
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({ message: expect.any(String) });
    expect(eight(answer)).toEqual({ ...owed("rest"), remaining: 199, "user-remaining": 49 });
  });

  // CONNECT is no request for a resource: Node hands it to whoever wants to be a proxy.
  test.each(METHODS.filter((method) => !["GET", "HEAD", "CONNECT"].includes(method)))(
    "405 counts, whatever its body: %s",
    async (method) => {
      const service = new Deployment();
      for (const [index, url] of ["/v2/user", pipelines, `${pipelines}/no-such/builds`].entries()) {
        const headers = { "content-type": "application/json" };
        const answer = await service.call(url, { method, headers, body: "{ no JSON" });
        expect(answer.statusCode).toBe(405);
        expect(answer.headers["allow"]).toBe("GET, HEAD");
        expect(answer.json()).toEqual({ message: expect.stringContaining(method) });
        expect(eight(answer)).toMatchObject({ ...owed("rest"), remaining: 199 - index });
      }
    },
  );

  test("HEAD counts like GET, and has its headers", async () => {
    const service = new Deployment();
    const head = await service.call(pipelines, { method: "HEAD" });
    expect(head.statusCode).toBe(200);
    expect(eight(head)).toMatchObject({ remaining: 199, "user-remaining": 49 });
  });
});

describe("404: paths outside the API, before anything else", () => {
  test.each([
    "/",
    "/v2",
    "/v2/",
    "/v2/users",
    "/v2/user/keys",
    "/v2/organizations",
    "/v2/organizations/",
    "/V2/user",
    "/v1",
    "/v1/graphql/more",
    "/v2//user",
    "/favicon.ico",
    "/%zz",
    "/v2/organizations%2Facme",
  ])("%s", async (url) => {
    const service = new Deployment(tight);
    for (const as of [null, "alice@acme"])
      for (const method of ["GET", "POST", "DELETE", "PROPFIND"]) {
        const answer = await service.call(url, { method, as });
        expect(answer.statusCode).toBe(404);
        expect(answer.json()).toEqual({ message: "Not found" });
        expect(eight(answer)).toEqual(noneOwed);
      }
    expect(await service.counted()).toEqual(nothing);
  });
});

describe("GraphQL that is not executed counts nothing", () => {
  const post = { method: "POST" };
  const json = { "content-type": "application/json" };

  test.each(METHODS.filter((method) => !["POST", "CONNECT"].includes(method)))("405: %s", async (method) => {
    const service = new Deployment();
    const answer = await service.call("/v1/graphql?query={viewer{user{name}}}", { method });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers["allow"]).toBe("POST");
    expect(eight(answer)).toEqual({ ...owed("graphql"), remaining: 20_000, "user-remaining": 5000 });
    if (method !== "HEAD") expect(answer.json().errors).toHaveLength(1);
  });

  test.each<[string, number, Record<string, string>, string | Buffer]>([
    ["bad JSON", 400, json, "{ no JSON"],
    ["an empty body", 400, json, ""],
    ["JSON that is no object", 400, json, "[]"],
    ["null", 400, json, "null"],
    ["several queries at once", 400, json, JSON.stringify([cheapQuery])],
    ["no query", 400, json, "{}"],
    ["a query that is no text", 400, json, '{"query":1}'],
    ["variables that are no object", 400, json, '{"query":"{viewer{user{name}}}","variables":[1]}'],
    ["invalid UTF-8", 400, json, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ["a surrogate half in UTF-8", 400, json, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a form", 415, { "content-type": "application/x-www-form-urlencoded" }, "query=1"],
    ["text", 415, { "content-type": "text/plain" }, JSON.stringify(cheapQuery)],
    ["GraphQL itself", 415, { "content-type": "application/graphql" }, "{ viewer { user { name } } }"],
    ["no JSON by its name", 415, { "content-type": "application/jsonp" }, JSON.stringify(cheapQuery)],
    ["a content type that is none", 415, { "content-type": "json" }, JSON.stringify(cheapQuery)],
    ["a body of 1 MiB and a byte", 413, json, Buffer.alloc(1_048_577, 0x20)],
  ])("%s: %i", async (_, status, headers, body) => {
    const service = new Deployment();
    const answer = await service.call("/v1/graphql", { ...post, headers, body });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ errors: [{ message: expect.any(String) }] });
    expect(eight(answer)).toEqual({ ...owed("graphql"), remaining: 20_000, "user-remaining": 5000 });
    expect(answer.headers).toMatchObject({
      "ratelimit-complexity-requested": "0",
      "ratelimit-complexity-actual": "0",
    });
    expect(await service.counted()).toEqual(nothing);
  });

  test("a body of exactly 1 MiB is read", async () => {
    const text = JSON.stringify(cheapQuery);
    const body = Buffer.concat([Buffer.from(text), Buffer.alloc(1_048_576 - text.length, 0x20)]);
    const answer = await new Deployment().call("/v1/graphql", { ...post, headers: json, body });
    expect(answer.statusCode).toBe(200);
  });

  test.each(["application/json", "application/json; charset=utf-8", "Application/JSON"])(
    "%s is read",
    async (type) => {
      const headers = { "content-type": type };
      const answer = await new Deployment().call("/v1/graphql", {
        ...post,
        headers,
        body: JSON.stringify(cheapQuery),
      });
      expect(answer.statusCode).toBe(200);
    },
  );

  test("all of them before 429", async () => {
    const service = new Deployment({ organization: { graphql: { limit: 2 } } });
    await service.graphql(cheapQuery.query);
    expect((await service.graphql(cheapQuery.query)).statusCode).toBe(429);
    expect((await service.call("/v1/graphql", { ...post, headers: json, body: "{" })).statusCode).toBe(400);
    expect((await service.call("/v1/graphql")).statusCode).toBe(405);
    expect((await service.graphql("{ organization { pipelines(first: 60000) { count } } }")).statusCode).toBe(
      429,
    );
    const large = "{ organization { pipelines(first: 60000) { edges { node { name } } } } }";
    expect((await service.graphql(large)).statusCode).toBe(200);
  });
});
