// Mutants are one change each, drawn by seed; and the tests that may see one are found by its room and by imports.
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { builtText } from "./built-text.ts";
import { drawn } from "./drawing.ts";
import { mutated, mutationsOf } from "./mutations.ts";
import { Nets } from "./nets.ts";

const textsOf = (source: string): string[] =>
  mutationsOf("src/x.ts", source).map((mutation) => mutated(source, mutation));

describe("a source's mutants", () => {
  test.each([
    ["a comparison", "x = a === b;", [";", "x = a !== b;"]],
    ["a boundary", "x = a < b;", [";", "x = a >= b;", "x = a <= b;"]],
    ["arithmetic", "x += a + 'px';", [";", "x -= a + 'px';"]],
    ["counting", "x++;", [";", "x--;"]],
    ["a negation", "if (!a) f();", ["if (a) f();", "if (!a) ;"]],
    ["a condition", "if (a) throw b;", ["if (!(a)) throw b;", "if (a) ;"]],
    ["either", "while (a && b) continue;", ["while (a || b) continue;", "while (a && b) ;"]],
    [
      "constants",
      "const x = [0, 1.5, true, 'a'];",
      ["const x = [1, 1.5, true, 'a'];", "const x = [0, 3, true, 'a'];", "const x = [0, 1.5, false, 'a'];"],
    ],
    ["types, which the compiler checks", "let x: 1 | -2 | true;", []],
    ["an operator behind a comment", "x = a /* < */ < b;", [";"]],
  ])("%s", (_, source, expected) => {
    expect(textsOf(source)).toEqual(expected);
  });

  test.each([
    ["boolean", "return f(x);", "return !(f(x));"],
    ["number", "return x;", "return (x) + 1;"],
    ["string", "return x;", 'return "";'],
    ["string[]", "return x;", "return [];"],
    ["string | null", "return x;", "return null;"],
  ])("what a function of %s returns", (type, statement, changed) => {
    const source = `function f(): ${type} { ${statement} }`;
    expect(textsOf(source)).toEqual([`function f(): ${type} { ${changed} }`]);
    expect(textsOf(`const f = (): ${type} => x;`)).toHaveLength(1);
  });

  test("tell where they are", () => {
    expect(mutationsOf("src/x.ts", "\n\nconst x = 5;")).toEqual([
      { path: "src/x.ts", line: 3, kind: "constant", start: 12, end: 13, was: "5", becomes: "10" },
    ]);
  });
});

test("a source is built as the compiler builds it: without types, its imports of JavaScript", async () => {
  const source = `import { type A, b } from "./b.ts";
import type { C } from "./c.ts";
export * from "../d.ts";
import e from "e.ts";
const f = (await import("./f.ts")) as A;
export const path: string = "./g.ts";
`;
  expect(await builtText("src/x.ts", source)).toBe(`import { b } from "./b.js";
export * from "../d.js";
import e from "e.ts";
const f = await import("./f.js");
const path = "./g.ts";
export {
  path
};
`);
});

describe("a sample", () => {
  const sources = new Map(
    ["src/a.ts", "sim/b.ts"].map((path) => [
      path,
      "export const f = (x: number) => x < 5 && x + 1 > 2 * x;\n".repeat(9),
    ]),
  );

  test("is the same for a seed, another one for another, and begins alike however large it is", () => {
    const sample = drawn(sources, 40, 7);
    expect(sample).toHaveLength(40);
    expect(drawn(sources, 40, 7)).toEqual(sample);
    expect(drawn(sources, 40, 8)).not.toEqual(sample);
    expect(drawn(sources, 10, 7)).toEqual(sample.slice(0, 10));
  });

  test("has each mutant once, from all sources, and all of them where it may", () => {
    const all = drawn(sources, 1_000, 1);
    expect(all).toHaveLength(
      2 * 9 * mutationsOf("src/a.ts", "export const f = (x: number) => x < 5 && x + 1 > 2 * x;").length,
    );
    expect(new Set(all.map(({ path, start, becomes }) => `${path} ${start} ${becomes}`)).size).toBe(
      all.length,
    );
    expect(new Set(drawn(sources, 20, 1).map(({ path }) => path)).size).toBe(2);
  });

  test("is of sources that parse", () => {
    for (const mutation of drawn(sources, 1_000, 1)) {
      const text = mutated(sources.get(mutation.path) ?? "", mutation);
      expect(parseSync(mutation.path, text).errors).toEqual([]);
    }
  });
});

test("a mutant's tests: of its room, and those that import its file; the near and cheap ones first", () => {
  const nets = new Nets(
    new Map([
      ["src/rules/words.ts", ""],
      ["src/plan/plan.ts", 'import "../rules/words.ts";'],
      ["src/plan/thread.ts", 'const entry = new URL("./plan.js", import.meta.url);'],
      ["test/support/hostile.ts", 'const file = "test/hostile/runner.mjs";'],
      ["test/rules/far.test.ts", ""],
      ["test/rules/next.test.ts", 'import "../../src/plan/plan.ts";'],
      ["test/rules/slow.test.ts", 'import "../../src/rules/words.ts";'],
      ["test/rules/words.test.ts", 'import "../../src/rules/words.ts";'],
      ["test/rules/timed.test.ts", "// @module-tag real-time"],
      ["test/rules/waits.test.ts", "// @module-tag waiting"],
      ["test/rules/redis.test.ts", 'import "../../src/rules/words.ts";\n// @module-tag redis-server'],
      ["test/plan/plan.test.ts", 'import "../../src/plan/plan.ts";'],
      ["test/cli/words.test.ts", 'import { words } from "../../src/rules/words.ts";'],
      ["test/cli/hostile.test.ts", 'import "../support/hostile.ts"; import "../../src/rules/words.ts";'],
      ["test/cli/thread.test.ts", 'import "../../src/plan/thread.ts";'],
      ["test/cli/other.test.ts", ""],
    ]),
  );
  const costs: Readonly<Record<string, number>> = { "test/rules/slow.test.ts": 900 };
  const cost = (file: string): number => costs[file] ?? 5;
  expect(nets.of("src/rules/words.ts", cost, () => null)).toEqual([
    "test/rules/words.test.ts",
    "test/rules/next.test.ts",
    "test/cli/words.test.ts",
    "test/plan/plan.test.ts",
    "test/rules/far.test.ts",
    "test/rules/waits.test.ts",
    "test/cli/thread.test.ts",
    "test/rules/slow.test.ts",
    "test/rules/redis.test.ts",
    "test/cli/hostile.test.ts",
    "test/rules/timed.test.ts",
  ]);
  const running = ["cli/other", "rules/timed", "cli/words", "rules/slow"].map(
    (name) => `test/${name}.test.ts`,
  );
  // Those that run its place are known: no other is asked, and the one that may fail by itself comes last.
  expect(nets.of("src/rules/words.ts", cost, (test) => running.includes(test))).toEqual([
    "test/cli/words.test.ts",
    "test/cli/other.test.ts",
    "test/rules/slow.test.ts",
    "test/rules/timed.test.ts",
  ]);
  expect(nets.tests).toContain("test/rules/timed.test.ts");
  // A verb's tests lie with what it does: one that is two steps away is asked before one of another room.
  const verb = new Nets(
    new Map([
      ["src/cli/say-plan.ts", ""],
      ["test/cli/said.test.ts", 'import "../../src/cli/say-plan.ts";'],
      ["test/fit/command.test.ts", 'import "../../src/cli/say-plan.ts";'],
      ["test/plan/command.test.ts", 'import "../cli/said.test.ts";'],
      ["test/plan/plan.test.ts", ""],
    ]),
  );
  expect(verb.of("src/cli/say-plan.ts", cost, () => null)).toEqual([
    "test/cli/said.test.ts",
    "test/plan/command.test.ts",
    "test/fit/command.test.ts",
  ]);
  // A place that no test runs is seen by none.
  expect(nets.of("src/rules/words.ts", cost, () => false)).toEqual([]);
  expect(nets.isApart("test/cli/hostile.test.ts")).toBe(true);
  expect(nets.importsOf("src/plan/thread.ts")).toEqual([
    "src/plan/plan.ts",
    "src/plan/thread.ts",
    "src/rules/words.ts",
  ]);
});
