// Globs: what they stand for, and that none takes long.
import fc from "fast-check";
import { expect, test } from "vitest";
import { globMatcher } from "../../src/logs/glob.ts";

test.each([
  ["/v2/user", ["/v2/user"], ["/v2/users", "/v2/use", "/V2/user", "v2/user", ""]],
  ["/v2/*", ["/v2/user", "/v2/"], ["/v2", "/v2/user/1"]],
  ["/v2/**", ["/v2/user", "/v2/user/1", "/v2/"], ["/v2", "/v1/v2/user"]],
  ["/**/pipelines", ["/pipelines", "/a/pipelines", "/a/b/pipelines"], ["/xpipelines", "/pipelines/1"]],
  ["/v?/*/x.y", ["/v2/user/x.y"], ["/v/user/x.y", "/v2/user/x-y", "/v//user/x.y"]],
  ["**", ["", "/", "/a/b"], []],
  ["*.log", ["a.log", ".log"], ["a/b.log"]],
])("%s", (glob, fitting, others) => {
  const fits = globMatcher(glob);
  expect(fitting.filter((path) => !fits(path))).toEqual([]);
  expect(others.filter(fits)).toEqual([]);
});

test("fits the same paths as the regular expression that says the same", () => {
  const expression = (glob: string): RegExp => {
    const source = glob.replace(/\*\*\/|\*\*|\*|\?/g, (part) => {
      if (part === "**/") return "(?:.*/)?";
      if (part === "**") return ".*";
      return part === "*" ? "[^/]*" : "[^/]";
    });
    return new RegExp(`^${source}$`);
  };
  const text = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 8 });
  const property = fc.property(
    text("a", "b", "/", "*", "**", "**/", "?"),
    text("a", "b", "/"),
    (glob, path) => {
      expect(globMatcher(glob)(path)).toBe(expression(glob).test(path));
    },
  );
  fc.assert(property, { numRuns: 2000 });
});

test("ends soon where trying all ways one after the other would not", () => {
  expect(globMatcher(`${"*a".repeat(30)}b`)("a".repeat(2000))).toBe(false);
  expect(globMatcher(`${"**/".repeat(30)}b`)("/a".repeat(1000))).toBe(false);
});
