// The eight headers (SPEC.md §5): on every answer that owes them, with the values of just after the call.
import { describe, expect, test } from "vitest";
import { Deployment, eight, owed } from "./deployment.ts";

const pipelines = "/v2/organizations/acme/pipelines";

describe("every kind of REST answer to a known caller of a known organization has them", () => {
  test.each([
    [200, "GET", pipelines, "alice@acme"],
    [200, "HEAD", pipelines, "alice@acme"],
    [200, "GET", "/v2/user", "alice@acme"],
    [200, "GET", "/v2/organizations/acme/rate_limit", "alice@acme"],
    [200, "HEAD", "/v2/organizations/acme/rate_limit", "alice@acme"],
    [403, "GET", pipelines, "alice@acme:"],
    [403, "GET", "/v2/organizations/acme/rate_limit", "alice@acme:"],
    [404, "GET", `${pipelines}/none`, "alice@acme"],
    [404, "GET", "/v2/organizations/acme/none", "alice@acme"],
    [404, "GET", "/v2/organizations/acme/%FF", "alice@acme"],
    [405, "PATCH", pipelines, "alice@acme"],
  ])("%i to %s %s by %s", async (status, method, url, as) => {
    const answer = await new Deployment().call(url, { method, as });
    expect(answer.statusCode).toBe(status);
    expect(eight(answer)).toEqual(owed("rest"));
  });

  test.each([
    ["GET", pipelines],
    ["HEAD", pipelines],
    ["GET", "/v2/organizations/acme/none"],
    ["PUT", "/v2/user"],
  ])("429 to %s %s", async (method, url) => {
    const service = new Deployment({ user: { rest: { limit: 1 } } });
    await service.call("/v2/user");
    const answer = await service.call(url, { method });
    expect(answer.statusCode).toBe(429);
    expect(eight(answer)).toEqual(owed("rest"));
  });
});

describe("every kind of GraphQL answer to a known caller has them, and the complexity", () => {
  const query = "{ viewer { user { name } } }";
  const requested = "ratelimit-complexity-requested";
  const actual = "ratelimit-complexity-actual";

  test.each([
    ["executed", query, 2, 2],
    [
      "of a page that is not full",
      "{ organization { pipelines(first: 500) { edges { node { name } } } } }",
      503,
      13,
    ],
    ["with an error of the schema", "{ nonsense }", 0, 0],
    ["with an error of syntax", "{", 0, 0],
    // 3 + 500 x (1 + 2 + 500), above what one query may ask for.
    [
      "too large",
      "{ organization { pipelines { edges { node { builds { edges { node { number } } } } } } } }",
      251_503,
      0,
    ],
  ])("200, %s", async (_, text, asked, used) => {
    const answer = await new Deployment().graphql(text);
    expect(answer.statusCode).toBe(200);
    expect(eight(answer)).toEqual(owed("graphql"));
    expect(answer.headers).toMatchObject({ [requested]: String(asked), [actual]: String(used) });
  });

  test.each([
    [403, { method: "POST", as: "alice@acme:" }],
    [405, { method: "GET" }],
    [400, { method: "POST", body: "{", headers: { "content-type": "application/json" } }],
    [415, { method: "POST", body: "{", headers: { "content-type": "text/plain" } }],
  ])("%i", async (status, options) => {
    const answer = await new Deployment().call("/v1/graphql", options);
    expect(answer.statusCode).toBe(status);
    expect(eight(answer)).toEqual(owed("graphql"));
    expect(answer.headers).toMatchObject({ [requested]: "0", [actual]: "0" });
  });

  test("429: what was asked for, and nothing used", async () => {
    const service = new Deployment({ organization: { graphql: { limit: 3 } } });
    await service.graphql(query);
    const answer = await service.graphql(query);
    expect(answer.statusCode).toBe(429);
    expect(eight(answer)).toEqual({ ...owed("graphql"), limit: 3, remaining: 1 });
    expect(answer.headers).toMatchObject({ [requested]: "2", [actual]: "0" });
  });
});

describe("their values", () => {
  test("are those just after the call", async () => {
    const service = new Deployment();
    expect(eight(await service.call("/v2/user"))).toEqual({
      scope: "rest",
      limit: 200,
      remaining: 199,
      reset: 58,
      "user-scope": "rest_user",
      "user-limit": 50,
      "user-remaining": 49,
      "user-reset": 58,
    });
    service.nowMs += 57_001;
    expect(eight(await service.call("/v2/user", { as: "bob@acme" }))).toMatchObject({
      remaining: 198,
      reset: 1,
      "user-remaining": 49,
    });
  });

  test("a user's own limit, an organization's own", async () => {
    const service = new Deployment({
      organizations: { acme: { rest: { limit: 7 } } },
      users: { "acme/bob": { rest: { limit: 3, windowSeconds: 10 } } },
    });
    expect(eight(await service.call("/v2/user", { as: "bob@acme" }))).toMatchObject({
      limit: 7,
      "user-limit": 3,
      "user-reset": 8,
    });
    expect(eight(await service.call("/v2/user", { as: "alice@globex" }))).toMatchObject({ limit: 200 });
  });

  test("what is not counted shows the windows as they stand", async () => {
    const service = new Deployment();
    await service.call("/v2/user");
    const answer = await service.call("/v2/user", { as: "alice@acme:" });
    expect(eight(answer)).toMatchObject({ remaining: 199, "user-remaining": 49 });
  });

  test("`signed` shows how far a window is passed", async () => {
    const service = new Deployment({
      organization: { rest: { limit: 1, enforced: false } },
      semantics: { remaining: "signed" },
    });
    for (let call = 0; call < 3; call++) await service.call("/v2/user");
    expect(eight(await service.call("/v2/user"))).toMatchObject({ remaining: -3 });
  });
});

describe("warnings", () => {
  test("stand exactly while that window has nothing left", async () => {
    const service = new Deployment({ organization: { rest: { limit: 3 } }, user: { rest: { limit: 2 } } });
    const warned = async (as: string) => {
      const { headers } = await service.call("/v2/user", { as });
      return ["ratelimit-warning" in headers, "ratelimit-user-warning" in headers];
    };
    expect(await warned("alice@acme")).toEqual([false, false]);
    expect(await warned("alice@acme")).toEqual([false, true]);
    expect(await warned("bob@acme")).toEqual([true, false]);
    expect(await warned("bob@acme")).toEqual([true, false]);
    service.nowMs += 60_000;
    expect(await warned("alice@acme")).toEqual([false, false]);
  });
});
