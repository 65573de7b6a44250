// Numbers as people read them, at each boundary.
import { expect, test } from "vitest";
import { figureText, instant, ownerName, share } from "../../src/report/format.ts";

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
