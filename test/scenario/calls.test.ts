import { describe, expect, test } from "vitest";
import { callPath, callQuery } from "../../src/scenario/calls.ts";
import { graphql, pipelinesQuery, rest, status, withHeaders } from "../../src/scenario/index.ts";
import { executeQuery, prepareQuery } from "../../src/service/query.ts";

test("a REST call is named after the last word of its path that is no blank", () => {
  const names = ["/v2/organizations/:org/pipelines?page=:page", "/v2/user", "/v2/organizations/:org", "/"];
  expect(names.map((path) => rest(path).name)).toEqual(["pipelines", "user", "organizations", "call"]);
  expect(rest("/v2/user", "me").name).toBe("me");
});

test("the blanks of path and query are filled in", () => {
  expect(callPath(rest("/v2/organizations/:org/pipelines?page=:page"), "acme", 3)).toBe(
    "/v2/organizations/acme/pipelines?page=3",
  );
  expect(callPath(status(), "acme", 0)).toBe("/v2/organizations/acme/rate_limit");
  expect(callQuery(pipelinesQuery(2), "acme")).toContain('organization(slug: "acme")');
  expect(callQuery(rest("/v2/user"), "acme")).toBe("");
});

describe("pipelinesQuery knows what its query costs", () => {
  // 500 pipelines are 503 points (SPEC.md §1).
  test.each([
    [500, 503],
    [10, 13],
    [1, 4],
  ])("%i pipelines ask for %i points", (first, cost) => {
    expect(pipelinesQuery(first)).toMatchObject({ scope: "graphql", cost });
  });

  test.each([1, 9, 10, 11, 50, 500])("the reference deployment counts the same for %i", (first) => {
    const template = pipelinesQuery(first);
    const prepared = prepareQuery({ query: callQuery(template, "acme") });
    if (!("document" in prepared)) throw new Error(prepared.errors.join("\n"));
    expect(prepared.requested).toBe(template.cost);
    expect(executeQuery(prepared, "acme", "user-0").actual).toBe(template.actual);
  });

  test("elsewhere there may be another number of pipelines", () => {
    expect(pipelinesQuery(50, 30)).toMatchObject({ cost: 53, actual: 33 });
  });
});

test("a query of one's own carries its cost; charged in full where nothing else is said", () => {
  expect(graphql("{ a }", { cost: 5 })).toMatchObject({
    cost: 5,
    actual: 5,
    name: "graphql",
    method: "POST",
  });
});

describe("a call with headers of its own", () => {
  test("is the same call, and those of several turns add up", () => {
    const user = rest("/v2/user");
    const one = withHeaders(withHeaders(user, { "X-Forwarded-For": "203.0.113.1" }), { "X-User-Id": "7" });
    expect(one).toEqual({ ...user, headers: { "X-Forwarded-For": "203.0.113.1", "X-User-Id": "7" } });
  });

  test.each([
    ["Authorization", "Bearer x"],
    ["a b", "c"],
    ["X-User-Id", "two\nlines"],
  ])("%s: %j is refused", (name, value) => {
    expect(() => withHeaders(rest("/v2/user"), { [name]: value })).toThrow(/withHeaders/);
  });
});
