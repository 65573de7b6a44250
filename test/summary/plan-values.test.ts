// A plan's values and goals in words.
import { expect, test } from "vitest";
import type { PlanGoal } from "../../src/summary/plan-result.ts";
import { figureUnit, goalsText, valueText } from "../../src/summary/plan-values.ts";

test.each([
  ["ms", 0, "0 ms"],
  ["ms", 1_234, "1.234 s"],
  ["ms", 2_000, "2 s"],
  ["ms", 119_999, "119.999 s"],
  ["ms", 150_000, "2 min 30 s"],
  ["ms", 605_000, "10 min 5 s"],
  ["ms", 4_321_000, "4321 s"],
  ["ms", 9_000_000, "2 h 30 min"],
  ["ms", 9_000_001, "9000.001 s"],
  ["ms", "waitReset", "waitReset"],
  ["share", 0.0005, "0.05%"],
  ["share", 0.0315, "3.15%"],
  ["share", 0.12345, "12.345%"],
  ["share", 1, "100%"],
  ["count", 123_456, "123,456"],
  ["choice", "2000", "2000"],
] as const)("a value that people set, in %s, is exact: %s is %s", (unit, value, text) => {
  expect(valueText({ unit }, value)).toBe(text);
});

test("amounts are in the unit of their figure; an index of fairness is no share", () => {
  expect(
    ["agents.waitP95Ms", "refusedShare", "fairness", "agents.fairness", "admitted"].map(figureUnit),
  ).toEqual(["ms", "share", "count", "count", "count"]);
});

test("goals are joined as one speaks", () => {
  const goal = (figure: string, bound: string): PlanGoal => ({ figure, bound, value: 1 });
  expect(goalsText([goal("refusedShare", "<1%"), goal("waitP95Ms", "<2s")])).toBe(
    "refusedShare <1% and waitP95Ms <2s",
  );
});
