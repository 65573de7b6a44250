// The status endpoint (SPEC.md §4): exactly the documented body, free of charge, never from a cache.
import { describe, expect, test } from "vitest";
import { Deployment, eight, owed, START_MS } from "./deployment.ts";

const status = "/v2/organizations/acme/rate_limit";
const user = "/v2/user";

describe("the status endpoint", () => {
  test("shows exactly the documented body", async () => {
    const service = new Deployment();
    await service.call(user);
    const answer = await service.call(status);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.body).toBe(
      JSON.stringify({
        scopes: {
          rest: { limit: 200, current: 1, reset: 58, reset_at: "2026-01-02T03:01:00Z", enforced: true },
          graphql: { limit: 20000, current: 0, reset: 298, reset_at: "2026-01-02T03:05:00Z", enforced: true },
        },
      }),
    );
  });

  test("carries the eight headers of REST, of the same instant", async () => {
    const service = new Deployment();
    service.nowMs = START_MS + 1;
    const answer = await service.call(status);
    expect(eight(answer)).toEqual({
      scope: "rest",
      limit: 200,
      remaining: 200,
      reset: 58,
      "user-scope": "rest_user",
      "user-limit": 50,
      "user-remaining": 50,
      "user-reset": 58,
    });
    expect(answer.json().scopes.rest.reset).toBe(58);
  });

  test("is never answered from a cache", async () => {
    const service = new Deployment();
    for (const headers of [
      { "if-none-match": "*" },
      { "if-none-match": '"anything"' },
      { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" },
    ]) {
      const answer = await service.call(status, { headers });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(answer.headers).not.toHaveProperty("etag");
      expect(answer.headers).not.toHaveProperty("last-modified");
    }
  });

  test.each([
    status,
    `${status}/`,
    `${status}?x=1`,
    `${status}/?page=2`,
    "/v2/organizations/ac%6De/rate%5Flimit",
  ])("costs nothing as GET and HEAD: %s", async (url) => {
    const service = new Deployment();
    for (const method of ["GET", "HEAD", "GET", "HEAD"]) {
      const answer = await service.call(url, { method });
      expect(answer.statusCode).toBe(200);
      expect(eight(answer)).toMatchObject({ remaining: 200, "user-remaining": 50 });
    }
    expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
  });

  test("HEAD has the headers of GET", async () => {
    const service = new Deployment();
    const get = await service.call(status);
    const head = await service.call(status, { method: "HEAD" });
    expect({ ...head.headers, date: "" }).toEqual({ ...get.headers, date: "" });
  });

  test("is never refused, when both windows are used up", async () => {
    const service = new Deployment({
      organization: { rest: { limit: 1 } },
      user: { rest: { limit: 1 } },
    });
    await service.call(user);
    expect((await service.call(user)).statusCode).toBe(429);
    const answer = await service.call(status);
    expect(answer.statusCode).toBe(200);
    expect(eight(answer)).toMatchObject({ remaining: 0, "user-remaining": 0 });
    expect(answer.json().scopes.rest).toMatchObject({ limit: 1, current: 1 });
  });

  test("any number of status calls anywhere changes no other answer", async () => {
    const rules = { semantics: { anchor: "first-request" as const } };
    const quiet = new Deployment(rules);
    const watched = new Deployment(rules);
    for (const step of [0, 700, 400, 59_000, 900, 1, 61_000]) {
      quiet.nowMs += step;
      watched.nowMs += step;
      await watched.call(status);
      const [alone, seen] = [await quiet.call(user), await watched.call(user)];
      await watched.call(status, { method: "HEAD", as: "bob@acme" });
      expect(eight(seen)).toEqual(eight(alone));
    }
  });

  test("any other method is a REST call like others: counted, then 405", async () => {
    const service = new Deployment();
    const answer = await service.call(status, { method: "DELETE" });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers["allow"]).toBe("GET, HEAD");
    expect(eight(answer)).toMatchObject({ remaining: 199, "user-remaining": 49 });
  });

  test("shows whether refusing is switched on", async () => {
    const service = new Deployment({ organizations: { acme: { rest: { enforced: false } } } });
    const { scopes } = (await service.call(status)).json();
    expect([scopes.rest.enforced, scopes.graphql.enforced]).toEqual([false, true]);
  });

  test("slugs are case-sensitive", async () => {
    const service = new Deployment();
    const answer = await service.call("/v2/organizations/Acme/rate_limit");
    expect(answer.statusCode).toBe(404);
    expect(eight(answer)).not.toEqual(owed("rest"));
  });
});
