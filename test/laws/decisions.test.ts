// Whether a count lacks room for a call, by what the call found: windows of known or doubtful counts, and buckets.
import { expect, test } from "vitest";
import { lacksRoom } from "../../src/laws/decisions.ts";
import type { Sight } from "../../src/laws/sight.ts";

const kinds = { window: { kind: "fixed-window" }, bucket: { kind: "token-bucket" } } as const;
const sight = (kind: keyof typeof kinds, found: object | null): Sight =>
  ({ rule: { algorithm: kinds[kind] }, clockMs: 100, found }) as unknown as Sight;
const used = (least: number, most = least) => ({ least, most });

test.each<[string, object | null, boolean | null]>([
  ["that is full", { used: used(5), needed: 1, limit: 5 }, true],
  ["with room for just the call", { used: used(4), needed: 1, limit: 5 }, false],
  ["that lacks a unit", { used: used(4), needed: 2, limit: 5 }, true],
  ["that may be full", { used: used(4, 5), needed: 1, limit: 5 }, null],
  ["that has room in any case", { used: used(3, 4), needed: 1, limit: 5 }, false],
  ["of no known count", { used: null, needed: 1, limit: 5 }, null],
  ["that was not found", null, null],
])("a window %s", (_name, found, expected) => {
  expect(lacksRoom(sight("window", found), true)).toBe(expected);
});

test("a window's count may be given in place of the one found", () => {
  const found = { used: used(0), needed: 1, limit: 5 };
  expect(lacksRoom(sight("window", found), true, used(5))).toBe(true);
  expect(lacksRoom(sight("window", found), true, null)).toBeNull();
});

test.each<[number | null, boolean, boolean | null]>([
  [null, true, true],
  [null, false, true],
  [101, true, true],
  [100, true, false],
  [102, false, true],
  [101, false, null],
  [99, false, null],
  [98, false, false],
])("a bucket that has room at %s ms, exact %s, lacks it at 100 ms: %s", (roomAtMs, isExact, expected) => {
  const found = { used: used(1), needed: 1, limit: 5, roomAtMs };
  expect(lacksRoom(sight("bucket", found), isExact)).toBe(expected);
});
