// Paths that were read once are known by their bytes: found again, with what was found out, and never taken for another.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PathMemory } from "../../src/logs/path-memory.ts";
import { property } from "../support/property.ts";

/** A path somewhere in a buffer, and where it is. */
function placed(path: string, before = 3): [view: DataView, from: number, to: number] {
  const bytes = new TextEncoder().encode(`${" ".repeat(before)}${path} `);
  return [new DataView(bytes.buffer), before, bytes.length - 1];
}

test("a path is found again, wherever it stands", () => {
  const memory = new PathMemory();
  expect(memory.find(...placed("/v2/user"))).toBe(false);
  memory.keep(...placed("/v2/user"), 2, 7);
  expect(memory.find(...placed("/v2/user", 12))).toBe(true);
  expect([memory.kind, memory.organization]).toEqual([2, 7]);
});

test.each([
  ["a shorter one", "/v2", false],
  ["one of a word", "/v2/", true],
  ["one of 128 bytes", `/${"x".repeat(127)}`, true],
  ["a longer one", `/${"x".repeat(128)}`, false],
])("%s is kept: %s", (_name, path, isKept) => {
  const memory = new PathMemory();
  memory.find(...placed(path));
  memory.keep(...placed(path), 1, 0);
  expect(memory.find(...placed(path))).toBe(isKept);
});

const paths = fc.array(fc.stringMatching(/^\/[a-c/]{3,12}$/), { minLength: 2, maxLength: 30 });
property([paths])("what is found was kept for the same path", (asked) => {
  const memory = new PathMemory();
  for (const [at, path] of asked.entries()) {
    if (memory.find(...placed(path))) expect(asked[memory.organization]).toBe(path);
    else memory.keep(...placed(path), 1, at);
  }
});
