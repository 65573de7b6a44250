// Expressions as text, to the last character of a line, and as the values that the text has.
import { describe, expect, test } from "vitest";
import {
  commentText,
  type Expression,
  evaluated,
  json,
  list,
  literal,
  make,
  makersOf,
  object,
  written,
} from "../../sim/fit/expression.ts";

/** A text of this many characters. */
const long = (length: number): string => "x".repeat(length);
const one = (length: number): Expression => list([literal(long(length))]);
const pair = object({ a: 1, b: 2 });
const commented = object({ a: 1 }, { a: "why" });

describe("on one line stands", () => {
  test.each<[Expression, string]>([
    [literal(5), "5"],
    [literal(true), "true"],
    [list([]), "[]"],
    [object({}), "{}"],
    [list([pair]), "[{ a: 1, b: 2 }]"],
    [list([object({ a: 1 }), object({ b: 2 })]), "[{ a: 1 }, { b: 2 }]"],
    [list([pair, literal(3)]), "[{ a: 1, b: 2 }, 3]"],
    [object({ a: "b", "c d": [literal(1)].length, e: null, f: undefined }), '{ a: "b", "c d": 1 }'],
    [object({ $a_1: 1, "1a": 2, "a-b": 3 }), '{ $a_1: 1, "1a": 2, "a-b": 3 }'],
    [make("f"), "f()"],
    [list([make("f")]), "[f()]"],
    [make("f", literal(1), make("g", literal("a"))), 'f(1, g("a"))'],
    [json([1, { a: ["b", false], c: {} }]), '[1, { a: ["b", false], c: {} }]'],
  ])("%#: %s", (expression, text) => {
    expect(written(expression)).toBe(text);
  });

  test.each([
    ["it's", `"it's"`],
    ['say "hi"', `'say "hi"'`],
    [`"it's"`, `'"it\\'s"'`],
    [`"'`, `"\\"'"`],
    ["a\\b", `"a\\\\b"`],
  ])("%s in the quotes that need fewer backslashes", (value, text) => {
    expect(written(literal(value))).toBe(text);
  });

  test("what ends within 110 characters, with what is before and after it", () => {
    expect(written(one(105))).toBe(`["${long(105)}"]`);
    expect(written(one(106))).toBe(`[\n  "${long(106)}",\n]`);
    expect(written(one(103), 2)).toBe(`["${long(103)}"]`);
    expect(written(one(104), 2)).toBe(`[\n    "${long(104)}",\n  ]`);
    expect(written(one(93), 2, 10, 3)).toBe(`["${long(93)}"]`);
    expect(written(one(94), 2, 10, 3)).toBe(`[\n    "${long(94)}",\n  ]`);
    expect(written(literal(long(200)))).toBe(`"${long(200)}"`);
  });
});

describe("on lines of their own stand", () => {
  test("objects of several members, and what has a comment", () => {
    expect(written(list([pair, pair]))).toBe("[\n  { a: 1, b: 2 },\n  { a: 1, b: 2 },\n]");
    expect(written(commented)).toBe("{\n  // why\n  a: 1,\n}");
    expect(written(list([commented]), 2)).toBe("[\n    {\n      // why\n      a: 1,\n    },\n  ]");
    expect(written(make("f", commented))).toBe("f({\n  // why\n  a: 1,\n})");
    expect(written(object({ a: commented }))).toBe("{\n  a: {\n    // why\n    a: 1,\n  },\n}");
  });

  test("members, whose names count", () => {
    expect(written(object({ a: one(100), b: 1 }))).toBe(`{\n  a: ["${long(100)}"],\n  b: 1,\n}`);
    expect(written(object({ a: one(101), b: 1 }))).toBe(`{\n  a: [\n    "${long(101)}",\n  ],\n  b: 1,\n}`);
    expect(written(object({ bc: one(100) }))).toBe(`{\n  bc: [\n    "${long(100)}",\n  ],\n}`);
  });

  test("numbers, as many as a line holds", () => {
    const numbers = [10_000, ...Array.from({ length: 18 }, () => 1_000)];
    const filled = `  10000,${" 1000,".repeat(17)}`;
    expect(filled).toHaveLength(110);
    expect(written(list(numbers.map(literal)))).toBe(`[\n${filled}\n  1000,\n]`);
    const wider = [100_000, ...numbers.slice(1)].map(literal);
    expect(written(list(wider))).toBe(`[\n  100000,${" 1000,".repeat(16)}\n  1000, 1000,\n]`);
    const words = numbers.map((number) => literal(number === 1_000 ? number : "10000"));
    expect(written(list(words))).toBe(`[\n  "10000",\n${"  1000,\n".repeat(18)}]`);
  });

  test("the last argument, or each one if those before it are too long", () => {
    expect(written(make("f", literal(1), object({ a: long(100) })))).toBe(`f(1, {\n  a: "${long(100)}",\n})`);
    expect(written(make("f", literal(long(104)), list([literal(1)])))).toBe(`f("${long(104)}", [\n  1,\n])`);
    expect(written(make("f", literal(long(105)), list([literal(1)])))).toBe(
      `f(\n  "${long(105)}",\n  [1],\n)`,
    );
    expect(written(make(long(108)))).toBe(`${long(108)}()`);
  });

  test("an argument before the last, whose characters count", () => {
    const pairs = "[\n  { a: 1, b: 2 },\n  { a: 1, b: 2 },\n]";
    const ending = (length: number): string => written(make("f", list([pair, pair]), one(length)));
    expect(ending(61)).toBe(`f(${pairs}, ["${long(61)}"])`);
    expect(ending(62)).toBe(`f(${pairs}, [\n  "${long(62)}",\n])`);
    expect(written(make("f", commented, one(60)), 2, 20)).toBe(
      `f({\n    // why\n    a: 1,\n  }, [\n    "${long(60)}",\n  ])`,
    );
  });
});

test("a comment takes as many lines of 110 characters as it needs", () => {
  const of = (length: number): string => commentText(`${long(50)} ${long(length)} end`, 2);
  expect(of(54)).toBe(`  // ${long(50)} ${long(54)}\n  // end\n`);
  expect(of(55)).toBe(`  // ${long(50)}\n  // ${long(55)} end\n`);
  expect(commentText("a b", 0)).toBe("// a b\n");
});

describe("an expression's value", () => {
  const makers = {
    sum: (...terms: number[]) => terms.reduce((all, term) => all + term, 0),
    none: () => null,
  };

  test("is that of its text", () => {
    const sum = make("sum", literal(1), make("sum", literal(2), literal(3)));
    expect(evaluated(object({ a: list([literal("b"), sum]), c: make("none") }), makers)).toEqual({
      ...{ a: ["b", 6], c: null },
    });
    expect(evaluated(json({ a: [1, { b: true }] }), makers)).toEqual({ a: [1, { b: true }] });
  });

  test("needs its makers, which are told in the order of their names", () => {
    const all = object({ a: list([make("sum", make("none"))]), b: make("apart") });
    expect(makersOf(all)).toEqual(["apart", "none", "sum"]);
    expect(makersOf(literal(1))).toEqual([]);
    expect(() => evaluated(all, makers)).toThrow(new RangeError("there is no maker apart"));
  });
});
