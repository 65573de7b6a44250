// What a query costs (SPEC.md §1): requested points from its text and variables, actual points from what came back.
import fc from "fast-check";
import {
  GraphQLList,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  isWrappingType,
} from "graphql";
import { describe, expect, test } from "vitest";
import { executeQuery, prepareQuery } from "../../src/service/query.ts";
import { schema } from "../../src/service/schema.ts";
import { property } from "../support/property.ts";

/** Requested and actual points; a query that is rejected fails the test with its errors. */
function points(query: string, variables?: Readonly<Record<string, unknown>>): [number, number] {
  const prepared = prepareQuery({ query, variables });
  if ("errors" in prepared) throw new Error(prepared.errors.map(({ message }) => message).join("\n"));
  return [prepared.requested, executeQuery(prepared, "acme", "alice").actual];
}

const requested = (query: string): number => prepareQuery({ query }).requested;
const errorOf = (query: string): string | undefined => {
  const prepared = prepareQuery({ query });
  return "errors" in prepared ? prepared.errors[0]?.message : undefined;
};

describe("requested and actual points", () => {
  test.each<[string, number, number, string]>([
    ["scalars cost nothing", 0, 0, "{ __typename }"],
    ["object-typed fields cost 1", 2, 2, "{ viewer { user { id name email } } }"],
    [
      "the documented figure",
      503,
      13,
      "{ organization { pipelines(first: 500) { edges { node { name } } } } }",
    ],
    ["an absent page size is 500", 503, 13, "{ organization { pipelines { edges { node { name } } } } }"],
    ["null is absent", 503, 13, "{ organization { pipelines(first: null) { edges { node { name } } } } }"],
    ["last is a page size", 7, 7, "{ organization { pipelines(last: 4) { edges { node { name } } } } }"],
    ["an empty page", 3, 3, "{ organization { pipelines(first: 0) { edges { node { name } } } } }"],
    [
      "no edges, no multiplication",
      3,
      3,
      "{ organization { pipelines { count pageInfo { hasNextPage } } } }",
    ],
    ["cursors alone", 3, 3, "{ organization { pipelines { edges { cursor } } } }"],
    [
      "what is below a node is multiplied",
      23,
      23,
      "{ organization { pipelines(first: 10) { edges { node { repository { url } } } } } }",
    ],
    [
      "connections multiply: 3 + 4 (4 + 5)",
      39,
      39,
      "{ organization { pipelines(first: 4) { edges { node { builds(first: 5) { edges { node { number } } pageInfo { endCursor } } } } } } }",
    ],
    [
      "what came back: 3 + 10 (1 + 1 + 1 + 240)",
      3 + 20 * 503,
      3 + 10 * 243,
      "{ organization { pipelines(first: 20) { edges { node { builds { edges { node { number } } } } } } } }",
    ],
    [
      "null costs nothing in the end",
      4,
      0,
      '{ organization(slug: "other") { pipelines(first: 1) { edges { node { name } } } } }',
    ],
    ["aliases are fields of their own", 4, 4, "{ a: viewer { user { name } } b: viewer { user { name } } }"],
    [
      "the same field twice is one",
      2,
      2,
      "{ viewer { user { name } } viewer { user { email } user { name } } }",
    ],
  ])("%s", (_, asked, used, query) => {
    expect(points(query)).toEqual([asked, used]);
  });

  test("the figure of a known refusal: 501,503", () => {
    // github.com/buildkite/cli#155: 3 + 500 (1 builds + 1 edges + 500 nodes + 500 objects in them).
    const query =
      "{ organization { pipelines(first: 500) { edges { node { builds(first: 500) { edges { node { createdBy { name } } } } } } } } }";
    expect(requested(query)).toBe(501_503);
    expect(errorOf(query)).toMatch(/501503/);
  });

  test("fragments, named and inline, cost what they stand for", () => {
    const fragments = `
      query { organization { ...Pipelines } }
      fragment Pipelines on Organization { pipelines(first: 3) { ...Page edges { node { ... on Pipeline { repository { url } } } } } }
      fragment Page on PipelineConnection { pageInfo { hasNextPage } }`;
    const plain =
      "{ organization { pipelines(first: 3) { pageInfo { hasNextPage } edges { node { repository { url } } } } } }";
    expect(points(fragments)).toEqual(points(plain));
    expect(points(plain)).toEqual([10, 10]);
  });

  test("a fragment that is spread twice in one place costs once", () => {
    const query =
      "{ organization { ...A ...A } } fragment A on Organization { pipelines(first: 1) { edges { node { name } } } }";
    expect(points(query)).toEqual([4, 4]);
  });

  test("variables and their defaults are page sizes", () => {
    const query = "query ($n: Int = 7) { organization { pipelines(first: $n) { edges { node { name } } } } }";
    expect(points(query)).toEqual([10, 10]);
    expect(points(query, { n: 2 })).toEqual([5, 5]);
    expect(points(query, { n: null })).toEqual([503, 13]);
  });

  test("@skip and @include are heeded, with variables, on fields and fragments", () => {
    const query = `query ($no: Boolean!, $yes: Boolean!) {
      a: viewer @skip(if: $yes) { user { name } }
      b: viewer @include(if: $no) { user { name } }
      c: viewer @skip(if: $no) @include(if: $yes) { user { name } }
      ... @include(if: $no) { d: viewer { user { name } } }
      ...E @skip(if: $yes)
    } fragment E on Query { e: viewer { user { name } } }`;
    expect(points(query, { no: false, yes: true })).toEqual([2, 2]);
  });

  test("page sizes too large to multiply are refused, not wrapped", () => {
    const deep =
      "{ edges { node { builds(first: 2147483647) { edges { node { pipeline { builds(first: 2147483647) { edges { node { number } } } } } } } } } }";
    expect(requested(`{ organization { pipelines(first: 2147483647) ${deep} } }`)).toBe(
      Number.MAX_SAFE_INTEGER,
    );
  });
});

describe("depth", () => {
  /** A query of so many fields one below the other. */
  const nested = (depth: number): string => {
    const steps = ["organization", "pipelines(first: 1)", "edges", "node"];
    let query = "slug";
    for (let at = depth - 1; at >= 1; at--) query = `${steps[(at - 1) % 4]} { ${query} }`;
    return `{ ${query} }`;
  };

  test("15 fields are executed, 16 are not", () => {
    // Below a `node` and an `organization` there is a slug: 13 and 17 fields; 15 end in a connection's count.
    expect(errorOf(nested(13))).toBeUndefined();
    expect(errorOf(nested(13).replace("slug", "builds(first: 1) { count }"))).toBeUndefined();
    expect(errorOf(nested(13).replace("slug", "builds(first: 1) { edges { cursor } }"))).toBeUndefined();
    expect(errorOf(nested(17))).toMatch(/deeper than 15/);
  });

  test("fragments add no depth of their own, and hide none", () => {
    const fragments = `{ organization { ...O } } fragment O on Organization { pipelines(first: 1) { edges { node { ...P } } } }
      fragment P on Pipeline { organization { pipelines(first: 1) { edges { node { ...Q } } } } }
      fragment Q on Pipeline { organization { pipelines(first: 1) { edges { node { ...R } } } } }
      fragment R on Pipeline { organization { pipelines(first: 1) { edges { node { slug } } } } }`;
    expect(errorOf(fragments)).toMatch(/deeper than 15/);
    expect(errorOf(fragments.replace("edges { node { slug } }", "count"))).toBeUndefined();
  });

  test("is not measured in the schema's description of itself", () => {
    const type =
      "type { name ofType { name ofType { name ofType { name ofType { name ofType { name ofType { name ofType { name } } } } } } } }";
    expect(points(`{ __schema { types { fields { args { ${type} } } } } }`)).toEqual([1, 1]);
  });
});

describe("hostile queries end soon", () => {
  const rejection = (query: string): string => errorOf(query) ?? "executed";

  test("fragments that double at each level", () => {
    const levels = Array.from(
      { length: 40 },
      (_, n) => `fragment F${n} on Organization { ${n === 39 ? "slug" : `...F${n + 1} ...G${n + 1}`} }
                 fragment G${n} on Organization { ${n === 39 ? "name" : `...F${n + 1} ...G${n + 1}`} }`,
    );
    expect(points(`{ organization { ...F0 ...G0 } } ${levels.join(" ")}`)).toEqual([1, 1]);
  });

  test("fragments that multiply by a hundred aliases at each level", () => {
    const level = (inner: string): string =>
      Array.from(
        { length: 100 },
        (_, n) => `n${n}: organization { pipelines(first: 1) { edges { node { ${inner} } } } }`,
      ).join(" ");
    const query = `{ ${level("...A")} }
      fragment A on Pipeline { ${level("...B")} }
      fragment B on Pipeline { ${level("slug")} }`;
    expect(rejection(query)).toBe("Query has too many fields.");
  });

  test("fragments in a circle", () => {
    expect(
      rejection(
        "{ organization { ...A } } fragment A on Organization { ...B } fragment B on Organization { ...A }",
      ),
    ).toMatch(/itself/);
  });

  test("more words than anyone writes", () => {
    expect(rejection(`{ ${"viewer { user { name } } ".repeat(3000)} }`)).toMatch(/10000 tokens/);
  });
});

describe("actual never passes requested", () => {
  test("since edges are the only lists of objects", () => {
    const wrapped = (type: GraphQLType): boolean =>
      isListType(getNullableType(type)) || (isWrappingType(type) && wrapped(type.ofType));
    const lists = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !type.name.startsWith("__"))
      .flatMap((type) =>
        Object.values(isObjectType(type) ? type.getFields() : {})
          .filter((field) => wrapped(field.type) && isObjectType(getNamedType(field.type)))
          .map((field) => `${type.name}.${field.name}`),
      );
    expect(lists).toEqual(["PipelineConnection.edges", "BuildConnection.edges"]);
    expect(wrapped(new GraphQLList(schema.getType("Build") as never))).toBe(true);
  });

  const size = fc.constantFrom("", "(first: 0)", "(first: 3)", "(last: 2)", "(first: 11)");
  const info = fc.constantFrom("", "count", "pageInfo { hasNextPage }");
  const { pipeline } = fc.letrec<{ pipeline: string; build: string; builds: string }>((tie) => ({
    builds: fc
      .tuple(size, info, tie("build"))
      .map(([s, i, b]) => `builds${s} { __typename ${i} edges { cursor node { ${b} } } }`),
    build: fc.oneof(
      { maxDepth: 1 },
      fc.constant("number"),
      fc.constant("createdBy { name }"),
      tie("pipeline").map((p) => `pipeline { ${p} }`),
    ),
    pipeline: fc.oneof(
      { maxDepth: 1 },
      fc.constant("slug"),
      fc.constant("slug repository { url } organization { slug }"),
      tie("builds"),
    ),
  }));
  property([size, info, pipeline])("for queries drawn at random", (pages, more, inner) => {
    const query = `{ viewer { user { id } } organization { pipelines${pages} { __typename ${more} edges { node { ${inner} } } } } }`;
    const prepared = prepareQuery({ query });
    fc.pre(!("errors" in prepared));
    if ("errors" in prepared) return;
    const { actual } = executeQuery(prepared, "acme", "alice");
    expect(actual).toBeLessThanOrEqual(prepared.requested);
    expect(actual).toBeGreaterThan(0);
  });
});
