// The cost of a query (SPEC.md §1): requested points from its text and variables, actual points from what came back.
import fc from "fast-check";
import {
  GraphQLList,
  GraphQLString,
  type GraphQLType,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  isWrappingType,
} from "graphql";
import { describe, expect, test } from "vitest";
import { ActualPoints, itemsMost } from "../../src/service/complexity.ts";
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

test("a query that was asked before costs what its variables say now, and a wrong one stays wrong", () => {
  const query = "query($n: Int) { organization { pipelines(first: $n) { edges { node { name } } } } }";
  // More queries than documents are kept.
  for (let n = 1; n <= 100; n++) {
    expect(points(query, { n })[0]).toBe(3 + n);
    expect(requested(`{ organization { pipelines(first: ${n}) { edges { node { name } } } } }`)).toBe(3 + n);
    expect(errorOf("{ nothing }")).toMatch(/Cannot query field "nothing"/);
  }
});

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
    expect(errorOf(`{ __schema { types { fields { args { ${type} } } } } }`)).toBeUndefined();
  });
});

describe("the schema's description of itself costs what it resolves to", () => {
  /** Objects in an answer, lists of them and what is null left out: each field that has one is a point. */
  function objectsIn(value: unknown): number {
    if (typeof value !== "object" || value === null) return 0;
    const inner: number = Object.values(value).reduce((sum: number, one) => sum + objectsIn(one), 0);
    if (Array.isArray(value)) return inner;
    return inner + Object.values(value).filter((one) => isOfObjects(one)).length;
  }
  const isOfObjects = (value: unknown): boolean =>
    typeof value === "object" && value !== null && (!Array.isArray(value) || typeof value[0] !== "string");

  test.each([
    ["its root alone", "{ __schema { __typename } }", 1],
    ["a list is one field", "{ __schema { types { name } } }", 2],
    ["each alias of it", "{ a: __schema { b: types { name } c: types { name } } }", 3],
    [
      "what is below a list, for each",
      '{ __type(name: "Viewer") { fields { type { name ofType { name } } } } }',
      4,
    ],
    ["no such type", '{ __type(name: "Nobody") { fields { name } } }', 1],
    [
      "a type by a variable's default",
      'query ($n: String! = "PageInfo") { __type(name: $n) { fields { name type { kind } } } }',
      6,
    ],
  ])("%s", (_, query, cost) => {
    expect(points(query)).toEqual([cost, cost]);
  });

  test("all of it, as tools ask for it, is within a user's limit", () => {
    const query = getIntrospectionQuery();
    const prepared = prepareQuery({ query });
    if ("errors" in prepared) throw prepared.errors[0];
    const { result, actual } = executeQuery(prepared, "acme", "alice");
    expect([prepared.requested, actual]).toEqual([objectsIn(result.data), objectsIn(result.data)]);
    expect(actual).toBeLessThan(1000);
  });
});

describe("fields to be resolved, leaves too, are bounded before anything is executed", () => {
  const aliases = (count: number, field: string, prefix: string): string =>
    Array.from({ length: count }, (_, n) => `${prefix}${n}: ${field}`).join(" ");

  test.each([
    [
      "wide introspection",
      `{ __schema { ...S } } fragment S on __Schema { ${aliases(100, "types { ...T }", "t")} }
        fragment T on __Type { ${aliases(100, "fields { ...F }", "f")} }
        fragment F on __Field { ${aliases(20, "name", "n")} }`,
    ],
    [
      "wider introspection",
      `{ __schema { ...S } } fragment S on __Schema { ${aliases(600, "types { ...T }", "t")} }
        fragment T on __Type { ${aliases(200, "fields { ...F }", "f")} ${aliases(200, "possibleTypes { name }", "p")} }
        fragment F on __Field { ${aliases(200, "args { name }", "n")} }`,
    ],
    [
      "leaves of ordinary fields",
      `{ organization { pipelines(first: 10) { edges { node { builds(first: 240) { edges { node { ${aliases(60, "message", "m")} } } } } } } } }`,
    ],
  ])("%s", (_, query) => {
    expect(errorOf(query)).toMatch(
      /^Query (?:would resolve \d+ fields, above the 100000|asks for \d+ complexity points, above)/,
    );
  });

  test("by the data that there are, not by the pages that are asked for", () => {
    const query = `{ organization { pipelines(first: 16000) { edges { node { name ${aliases(90, "slug", "s")} } } } } }`;
    expect(points(query)).toEqual([16_003, 13]);
    expect(new Set(Object.keys(itemsMost))).toEqual(
      new Set(Object.keys(schema.getTypeMap()).filter((name) => name.endsWith("Connection"))),
    );
  });

  test("names of any length, times the fields that have them", () => {
    const long = "n".repeat(2000);
    const query = `{ organization { pipelines(first: 10) { edges { node { builds(first: 240) { edges { node { ${long}: id } } } } } } } }`;
    expect(errorOf(query)).toMatch(
      /^Query's names would take \d+ characters of its answer, above the 4000000/,
    );
    expect(errorOf(query.replace(long, "n"))).toBeUndefined();
  });
});

describe("a query may ask for exactly so much", () => {
  const leaves = (count: number): string => Array.from({ length: count }, (_, n) => `s${n}: slug`).join(" ");
  const page = (size: number): string =>
    `{ organization { pipelines(first: ${size}) { edges { node { name } } } } }`;
  // 2,433 fields down to the nodes of builds, 40 leaves of each of 2,400 builds, and leaves of the organization.
  const resolving = (more: number): string =>
    `{ organization { ${leaves(more)} pipelines(first: 10) { edges { node { builds(first: 240) { edges { node { ${leaves(40).replaceAll("slug", "id")} } } } } } } } }`;
  const named = (length: number): string => `{ viewer { user { ${"n".repeat(length)}: id } } }`;

  test.each([
    [
      "points",
      page(49_997),
      page(49_998),
      "Query asks for 50001 complexity points, above the 50000 that one query may ask for.",
    ],
    [
      "fields",
      resolving(1_567),
      resolving(1_568),
      "Query would resolve 100001 fields, above the 100000 that one query may resolve.",
    ],
    [
      "characters of names",
      named(3_999_990),
      named(3_999_991),
      "Query's names would take 4000001 characters of its answer, above the 4000000 that they may take.",
    ],
  ])("%s", (_, most, above, message) => {
    expect(errorOf(most)).toBeUndefined();
    expect(errorOf(above)).toBe(message);
  });

  test("a field that is selected twice has what both select, and counts once", () => {
    const pipelines = (name: string, size: number): string =>
      `organization { ${name}: pipelines(first: ${size}) { edges { node { slug } } } }`;
    expect(points(`{ ${pipelines("one", 1)} ${pipelines("two", 2)} }`)).toEqual([8, 8]);
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

  test("a walk over 200,000 fields is one too many at the next", () => {
    // Each viewer is a field, its fragment's name another; at the end come leaves of the query itself.
    const leaves = Array.from({ length: 398 }, (_, n) => `u${n}: __typename`).join(" ");
    const viewers = Array.from({ length: 500 }, (_, n) => `v${n}: viewer { ...F }`).join(" ");
    const walked = (more: string): string =>
      rejection(`{ ${viewers} ${more} } fragment F on Viewer { ${leaves} }`);
    expect(walked("")).toMatch(/^Query would resolve 199500 fields, above/);
    expect(walked("__typename")).toBe("Query has too many fields.");
  });

  test("fragments in a circle", () => {
    expect(
      rejection(
        "{ organization { ...A } } fragment A on Organization { ...B } fragment B on Organization { ...A }",
      ),
    ).toMatch(/itself/);
  });

  test.each([
    ["braces", `${"{ a".repeat(10_000)}${"}".repeat(10_000)}`],
    ["braces, within the words that there may be", `${"{a".repeat(4900)}${"}".repeat(4900)}`],
    ["braces that nobody closes", "{a".repeat(300_000)],
    ["lists", `{ organization { pipelines(first: ${"[".repeat(4000)}1${"]".repeat(4000)}) { count } } }`],
    [
      "objects",
      `{ organization { pipelines(first: ${"{a: ".repeat(3000)}1${"}".repeat(3000)}) { count } } }`,
    ],
    ["fragments without names", `{ organization { ${"... {".repeat(3000)} slug ${"}".repeat(3000)} } }`],
    [
      "types of variables",
      `query ($v: ${"[".repeat(4000)}Int${"]".repeat(4000)}) { viewer { user { name } } }`,
    ],
  ])("%s one inside the other", (_, query) => {
    expect(rejection(query)).toBe("Query is nested deeper than 200 brackets.");
  });

  test("200 brackets one inside the other are read, 201 are not, whatever stands beside them", () => {
    const deep = (lists: number): string =>
      `{ organization { pipelines(first: ${"[".repeat(lists)}1${"]".repeat(lists)}) { count } } }`;
    expect(rejection(deep(197))).not.toMatch(/brackets/);
    expect(rejection(deep(198))).toBe("Query is nested deeper than 200 brackets.");
    expect(points(`{ ${"a: viewer { user { name } } ".repeat(150)} }`)).toEqual([2, 2]);
  });

  test("brackets that close before others nest nothing", () => {
    const lists = (count: number): string => `${"[".repeat(count)}1${"]".repeat(count)}`;
    const query = `{ ${"viewer { user { name } } ".repeat(150)} organization(slug: ${lists(199)}) { slug } }`;
    expect(rejection(query)).toBe("Query is nested deeper than 200 brackets.");
    expect(rejection(query.replace(lists(199), lists(198)))).toMatch(/^ID cannot represent/);
  });

  test("200 brackets are counted no further: the first mistake is told, not the first strange character", () => {
    const query = (brackets: number): string => `{ : \u0007 # ${"[".repeat(brackets - 1)}`;
    expect(rejection(query(200))).toBe('Syntax Error: Expected Name, found ":".');
    expect(rejection(query(201))).toBe("Syntax Error: Unexpected character: U+0007.");
  });

  test("brackets in strings and comments nest nothing", () => {
    const brackets = "{[(".repeat(1000);
    expect(points(`{ organization(slug: "${brackets}") { slug } } # ${brackets}`)).toEqual([1, 0]);
  });

  test("fragments that spread one another, as many as there may be", () => {
    const chain = Array.from(
      { length: 1200 },
      (_, n) => `fragment F${n} on User { ${n === 1199 ? "name" : `...F${n + 1}`} }`,
    );
    expect(points(`{ viewer { user { ...F0 } } } ${chain.join(" ")}`)).toEqual([2, 2]);
    expect(rejection(`{ viewer { user { ...F0 } } } ${chain.join(" ").replace("name", "...F0")}`)).toMatch(
      /itself/,
    );
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

test("documents are kept by their text: the latest 64, of at most 4,096 characters", () => {
  const documentOf = (query: string) => {
    const prepared = prepareQuery({ query });
    return "errors" in prepared ? prepared.errors : prepared.document;
  };
  const query = (name: string, length = 0) =>
    `query ${name} { viewer { user { name } } }`.padEnd(length, " ");
  const isKept = (text: string): boolean => new Set([documentOf(text), documentOf(text)]).size === 1;
  expect([isKept(query("long", 4_096)), isKept(query("longer", 4_097))]).toEqual([true, false]);
  const first = documentOf(query("first"));
  for (let at = 0; at < 63; at++) documentOf(query(`fill${at}`));
  const second = documentOf(query("second"));
  expect(documentOf(query("second"))).toBe(second);
  for (let at = 0; at < 64; at++) documentOf(query(`more${at}`));
  expect([documentOf(query("first")) === first, documentOf(query("second")) === second]).toEqual([
    false,
    false,
  ]);
});

test("each field of an object's type that has a value is a point, and others are none", () => {
  const counted = new ActualPoints();
  const object = schema.getType("Organization") as GraphQLType;
  const resolved = (field: unknown, returnType: GraphQLType) => {
    const before = counted.points;
    const value = counted.resolve({ field }, {}, null, { fieldName: "field", returnType } as never);
    return [value, counted.points - before];
  };
  const one = { name: "acme" };
  expect(resolved(one, object)).toEqual([one, 1]);
  expect(resolved([one, one], new GraphQLList(object))).toEqual([[one, one], 1]);
  expect(resolved(null, object)).toEqual([null, 0]);
  expect(resolved("acme", GraphQLString)).toEqual(["acme", 0]);
});
