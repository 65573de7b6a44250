// Readings of a window by one answer: a status body's count, and whose it is.
import { expect, test } from "vitest";
import { headerReading, negativeCount, statusReading } from "../../src/verify/answer.ts";
import { refused, rest, status } from "./traces.ts";

const shown = { at: 1000, count: 7, userCount: 3 };

test("a status body's count is the organization's, or the user's if the headers beside it say so", () => {
  expect(statusReading(status(shown, 7), "rest")).toMatchObject({ count: 7, echoesUser: false });
  expect(statusReading(status(shown, 3), "rest")).toMatchObject({ count: 3, echoesUser: true });
  expect(statusReading(status(shown, 5), "rest")).toMatchObject({ count: 5, echoesUser: false });
  expect(statusReading(status({ at: 1000, count: 3 }, 3), "rest")).toMatchObject({ echoesUser: false });
  const bare = status(shown, 3, { userRemaining: null });
  expect(statusReading(bare, "rest")).toMatchObject({ count: 3, echoesUser: false });
});

test("a count below 0 is told by itself, and is no reading", () => {
  expect([-1, 0, 1].map((count) => negativeCount(status(shown, count), "rest"))).toEqual([-1, null, null]);
  expect([-1, 0, 1].map((count) => statusReading(status(shown, count), "rest")?.count)).toEqual([
    undefined,
    0,
    1,
  ]);
});

test("a remaining of 0 hides a count, unless it has a sign or the refusal tells the count of the same owner", () => {
  const full = rest({ at: 1000, count: 200, userCount: 50 });
  const hidden = { limit: 200, count: 200, clamped: true, reset: full.reset };
  expect(headerReading(full, "organization", false)).toEqual(hidden);
  expect(headerReading(full, "organization", true)).toEqual({ ...hidden, clamped: false });
  const by = (scope: "rest" | "rest_user", count: number) =>
    headerReading(refused({ at: 1000, count, userCount: 50 }, scope), "organization", false);
  expect(by("rest", 203)).toEqual({ ...hidden, count: 203, clamped: false });
  expect(by("rest", 200)).toEqual({ ...hidden, clamped: false });
  expect(by("rest_user", 203)).toEqual(hidden);
});

test.each([
  ["the least limit", { limit: 1, remaining: 1 }, 0],
  ["no limit", { limit: 0, remaining: 0 }, undefined],
  ["more left than the limit", { limit: 5, remaining: 6 }, undefined],
  ["a reset by now", { reset: 0 }, 7],
  ["a reset that is over", { reset: -1 }, undefined],
  ["another scope's headers", { scopeName: "graphql" }, undefined],
  ["a number that is none", { remaining: "many" }, undefined],
])("headers: %s", (_name, changes, count) => {
  expect(headerReading(rest(shown, changes), "organization", false)?.count).toBe(count);
});
