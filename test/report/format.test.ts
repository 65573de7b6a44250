// Numbers as people read them, at each boundary.
import { expect, test } from "vitest";
import { duration, figureText, instant, ownerName, share } from "../../src/report/format.ts";

test.each([
  [0, "0%"],
  [0.0009, "<0.1%"],
  [0.001, "0.1%"],
  [0.0594, "5.9%"],
  [0.0596, "6%"],
  [0.999, "99.9%"],
  [0.9991, ">99.9%"],
  [1, "100%"],
  [1.25, "125%"],
])("a share of %d is %s", (value, text) => {
  expect(share(value)).toBe(text);
});

test.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [1_000, "1 s"],
  [1_236, "1.24 s"],
  [9_994, "9.99 s"],
  [9_995, "10 s"],
  [12_360, "12.4 s"],
  [59_949, "59.9 s"],
  [59_950, "1 min"],
  [125_400, "2 min 5 s"],
  [3_599_499, "59 min 59 s"],
  [3_599_500, "1 h"],
  [12_029_000, "3 h 20 min"],
  [12_030_000, "3 h 21 min"],
])("%d ms are %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("instants have milliseconds only where there are any", () => {
  expect(instant(1_767_225_605_000)).toBe("2026-01-01 00:00:05 UTC");
  expect(instant(1_767_225_605_020)).toBe("2026-01-01 00:00:05.020 UTC");
});

test("a count is of an organization, or of a user of it", () => {
  expect([ownerName("acme", null), ownerName("acme", "agent-17")]).toEqual(["acme", "acme/agent-17"]);
});

test.each([
  ["refusedShare", 0.25, "25%"],
  ["waitP95Ms", 1_500, "1.5 s"],
  ["calls", 12_345, "12,345"],
  ["fairness", 0.98765, "0.988"],
  ["calls", null, "–"],
] as const)("%s of %s is %s", (name, value, text) => {
  expect(figureText(name, value)).toBe(text);
});
