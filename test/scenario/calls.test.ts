import { buildSchema, parse, validate } from "graphql";
import { expect, test } from "vitest";
import { callPath, callQuery } from "../../src/scenario/calls.ts";
import { graphql, pipelinesQuery, rest, status } from "../../src/scenario/index.ts";

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

test.each([
  // 500 pipelines are 503 points (SPEC.md §1); the sample data has ten.
  [500, 503, 13],
  [10, 13, 13],
  [3, 6, 6],
])("pipelinesQuery(%i) asks for %i points and is charged %i", (first, cost, actual) => {
  expect(pipelinesQuery(first)).toMatchObject({ scope: "graphql", cost, actual });
});

test("its query is GraphQL", () => {
  const schema = buildSchema(`
    type Query { organization(slug: ID!): Organization }
    type Organization { pipelines(first: Int): Connection }
    type Connection { edges: [Edge] }
    type Edge { node: Pipeline }
    type Pipeline { slug: String, name: String }
  `);
  expect(validate(schema, parse(callQuery(pipelinesQuery(7), "acme")))).toEqual([]);
});

test("a query of one's own carries its cost; charged in full where nothing else is said", () => {
  expect(graphql("{ a }", { cost: 5 })).toMatchObject({
    cost: 5,
    actual: 5,
    name: "graphql",
    method: "POST",
  });
});
