// The error that a fit found in its own scenario: figures are as uncertain as it says, and no goal is kept by it.
import { describe, expect, test } from "vitest";
import type { Goal } from "../../src/plan/goals.ts";
import { errorNotes, heldTo, widened } from "../../src/plan/model-error.ts";

const error = { calls: 0.2, refused: -0.5, waitP95Ms: 0.5 };
const interval = { low: 10, high: 20 };

describe("an interval", () => {
  test.each([
    ["waitP95Ms", { low: 5, high: 40 }],
    ["waitP50Ms", { low: 5, high: 40 }],
    ["refusedShare", { low: 5, high: 40 }],
    ["calls", { low: 8, high: 25 }],
    ["admitted", { low: 8, high: 25 }],
    ["jobs", { low: 8, high: 25 }],
    ["fairness", interval],
  ] as const)("of %s is wider by the error that concerns it", (name, wide) => {
    expect(widened(interval, name, error)).toEqual(wide);
  });

  test("goes to ten times the amount at most, and never gets narrower", () => {
    const most = widened(interval, "calls", { ...error, calls: 1 });
    expect(most?.low).toBeCloseTo(1);
    expect(most?.high).toBeCloseTo(200);
    expect(widened({ low: -10, high: -4 }, "calls", error)).toEqual({ low: -10, high: -4 });
  });

  test("stays where there is none, or no error is known", () => {
    expect(widened(null, "calls", error)).toBeNull();
    expect(widened(interval, "calls", null)).toBe(interval);
  });
});

describe("a figure that is held to a goal", () => {
  const goal = (name: string, operator: string): Goal => ({ name, operator }) as Goal;

  test.each([
    // Waits were simulated too short: a bound from above is held to longer ones.
    ["waitP95Ms", "<", 100, 200],
    ["waitP95Ms", "<=", 100, 200],
    ["waitP95Ms", ">", 100, 100],
    // Refusals were simulated too often: a bound from below is held to fewer.
    ["refused", ">", 100, 50],
    ["refused", ">=", 100, 50],
    ["refused", "<", 100, 100],
    ["admitted", "<", 100, 125],
    ["fairness", "<", 100, 100],
  ])("%s %s: %i counts as %i", (name, operator, actual, held) => {
    expect(heldTo(actual, goal(name, operator), error)).toBe(held);
  });

  test("is at most ten times as bad, and as it was without an error or an amount", () => {
    expect(heldTo(1, goal("calls", "<"), { ...error, calls: 1 })).toBeCloseTo(10);
    expect(heldTo(1, goal("calls", ">"), { ...error, calls: -1 })).toBeCloseTo(0.1);
    expect(heldTo(null, goal("calls", "<"), error)).toBeNull();
    expect(heldTo(7, goal("calls", "<"), null)).toBe(7);
  });
});

test("the error is named, as far as there is one", () => {
  expect(errorNotes(null)).toEqual([]);
  expect(errorNotes({ calls: 0, refused: 0, waitP95Ms: 0 })).toEqual([]);
  expect(errorNotes({ ...error, calls: 0 })).toEqual([
    "the fit of this scenario simulated refusals by 50% too high, 95% of waits by 50% too low: intervals are wider by that, and a goal counts as kept only where it holds in spite of it",
  ]);
});
