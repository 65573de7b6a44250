// The kind of a GraphQL operation, as routes ask for it, and as graphql-js reads the same documents.
import { Kind, parse } from "graphql";
import { expect, test } from "vitest";
import { graphqlKind } from "../../src/policy/graphql-kind.ts";

const fragment = 'fragment mutation on Build { a(text: "} mutation M {") b }';

const documents: readonly (readonly [string, "query" | "mutation"])[] = [
  ["{ viewer { id } }", "query"],
  ["query Q($a: In = {b: 1}) @on { c(d: {e: 2}) }", "query"],
  ["mutation { create }", "mutation"],
  ["\n  mutation M($a: In = {b: {c: 1}}) { create(a: $a) }", "mutation"],
  ["subscription { events }", "query"],
  [`# query\n${fragment}\nmutation M { create }`, "mutation"],
  [`${fragment} { viewer { ...mutation } } # mutation`, "query"],
  ['{ say(text: """ } mutation M { \\""" """) }', "query"],
  ["query mutation { viewer }", "query"],
];

test.each(documents)("the operation of %j is a %s", (document, kind) => {
  const [operation] = parse(document).definitions.flatMap((one) =>
    one.kind === Kind.OPERATION_DEFINITION ? [one] : [],
  );
  expect(operation?.operation === "mutation" ? "mutation" : "query").toBe(kind);
  expect(graphqlKind(document)).toBe(kind);
  expect(graphqlKind(JSON.stringify({ variables: { query: "mutation {" }, query: document }))).toBe(kind);
});

test.each([
  ["A", "query"],
  ["B", "mutation"],
  [undefined, "query"],
])("of several operations, %s is chosen by its name", (operationName, kind) => {
  const query = "query A { a } mutation B { b } query C { c }";
  expect(graphqlKind(JSON.stringify({ query, operationName }))).toBe(kind);
});

test.each([
  "",
  "nonsense",
  "mutation {",
  "{ a } }",
  "[]",
  '{"text":"{ viewer }"}',
  '{"query":7}',
  fragment,
  '{"query":"find me"}',
])("%j has no operation", (body) => {
  expect(graphqlKind(body)).toBeNull();
});
