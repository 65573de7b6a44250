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

test("a path of another byte is another path, wherever that byte stands", () => {
  const taken: string[] = [];
  for (let length = 4; length <= 128; length += 1) {
    const path = `/${"a".repeat(length - 1)}`;
    for (let at = 0; at < length; at += 1) {
      const memory = new PathMemory();
      memory.find(...placed(path));
      memory.keep(...placed(path), 1, 0);
      const other = `${path.slice(0, at)}b${path.slice(at + 1)}`;
      if (memory.find(...placed(other)) || !memory.find(...placed(path))) taken.push(other);
    }
  }
  expect(taken).toEqual([]);
});

test.each([
  ["too short", "/v2"],
  ["too long", `/${"x".repeat(128)}`],
])("a path that is %s, at the start of its block, leaves the one that was kept before", (_name, path) => {
  const memory = new PathMemory();
  memory.find(...placed("/v2/user", 0));
  memory.keep(...placed("/v2/user", 0), 2, 7);
  expect(memory.find(...placed(path, 0))).toBe(false);
  memory.keep(...placed(path, 0), 1, 0);
  expect(memory.find(...placed("/v2/user", 0))).toBe(true);
  expect([memory.kind, memory.organization]).toEqual([2, 7]);
});

test.each([
  ["at their end", (name: string) => `/v2/organizations/acme/pipelines/${name}`],
  ["in their middle", (name: string) => `/v2/organizations/${name}/pipelines/7/build`],
])("of a hundred paths that differ %s, most are remembered", (_name, pathOf) => {
  const memory = new PathMemory();
  const asked = Array.from({ length: 100 }, (_, at) => pathOf(String(1000 + 37 * at)));
  for (const [at, path] of asked.entries())
    if (!memory.find(...placed(path))) memory.keep(...placed(path), 1, at);
  expect(asked.filter((path) => memory.find(...placed(path))).length).toBeGreaterThan(80);
});

const paths = fc.array(fc.stringMatching(/^\/[a-c/]{3,12}$/), { minLength: 2, maxLength: 30 });
property([paths])("what is found was kept for the same path", (asked) => {
  const memory = new PathMemory();
  for (const [at, path] of asked.entries()) {
    if (memory.find(...placed(path))) expect(asked[memory.organization]).toBe(path);
    else memory.keep(...placed(path), 1, at);
  }
});
