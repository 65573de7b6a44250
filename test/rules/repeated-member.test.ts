import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLimitsFile } from "../../src/policy/limits-file.ts";
import { repeatedMember, repeatedPath } from "../../src/rules/repeated-member.ts";

describe("a member that stands twice", () => {
  test.each<[string, readonly (string | number)[] | null]>([
    ['{"a":1,"a":2}', ["a"]],
    ['{"a":{"b":1},"b":{"a":1}}', null],
    ['{"a":[{"b":1},{"b":1,"c":"}","b":2}]}', ["a", 1, "b"]],
    ['[[1,2],[{"x":{"y":1,"y":2}}]]', [1, 0, "x", "y"]],
    ['{"a\\"":1,"b":"a\\"","a\\u0022":2}', ['a"']],
    ['{"a":"a","b":["a","a"],"":{"a":"a"}}', null],
    ['"a"', null],
  ])("%s: %j", (text, path) => {
    expect(repeatedPath(text)).toEqual(path);
  });

  test.each([
    ['{"a":1,"a":2}', "a"],
    ['{"a":[1,{"b":1}],"c":"\\",","c":2}', "c"],
    ['{"a":1,"a":[],"b":2}', "a"],
    ['{"a":1,"b":[2,3],"c":{"d":4,"e":5}}', null],
    ['{"a":1,"b":2}', null],
    ["{}", null],
  ])("of the outermost object: %s: %s", (text, name) => {
    expect(repeatedMember(text, JSON.parse(text))).toBe(name);
  });

  test("is not looked for deeper than asked", () => {
    const text = '{"a":{"b":1,"b":2},"c":1}';
    expect(repeatedMember(text, JSON.parse(text))).toBeNull();
    expect(repeatedPath(text)).toEqual(["a", "b"]);
  });

  test("is never found in what JSON.stringify writes", () => {
    fc.assert(fc.property(fc.json(), (text) => repeatedPath(JSON.stringify(JSON.parse(text))) === null));
  });

  test("is refused in rules, by its path", () => {
    const text = '{"organization":{"rest":{"limit":5,"limit":500}}}';
    expect(() => parseLimitsFile(text, "rules.json")).toThrow("organization.rest.limit: got it twice");
  });
});
