// The error that a fit found in its own scenario: figures are as uncertain as it says, and no goal is kept by it.
import { describe, expect, test } from "vitest";
import type { Goal } from "../../src/plan/goals.ts";
import { errorNotes, heldTo, untoldNotes, widened } from "../../src/plan/model-error.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";

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
  const unknown =
    "no wait was recorded: nothing tells how far waits are from the truth, and their intervals show chance alone";
  expect(errorNotes({ calls: 0, refused: 0, waitP95Ms: null })).toEqual([unknown]);
  const [named, ...rest] = errorNotes({ calls: 0.1, refused: 0, waitP95Ms: null });
  expect(named).toMatch(/^the fit of this scenario simulated calls by 10% too low: /);
  expect(rest).toEqual([unknown]);
  const wait = { low: 1, high: 2 };
  expect(widened(wait, "waitP95Ms", { calls: 0.1, refused: 0, waitP95Ms: null })).toEqual(wait);
});

describe("what a recording does not tell", () => {
  type Untold = NonNullable<NonNullable<Scenario["fitError"]>["untold"]>[number];
  const monday = Date.UTC(2026, 0, 5);
  const notes = (untold: readonly Untold[], refused: number, days = 1): string[] =>
    untoldNotes(
      {
        fitError: { ...error, untold },
        ...{ startAtMs: monday, durationMs: days * 86_400_000, populations: [{ name: "agents" }] },
      } as unknown as Scenario,
      refused,
    );
  const weekdays =
    "this run begins on a Monday, and no weekday was recorded twice: where Mondays differ from other days each week, so does the truth from this answer";
  const reactions =
    "what callers do when refused was not seen when this was recorded: the answer takes it for granted. Ask for others, such as --vary agents.onRefused=none,waitReset,exponential";
  const attempts =
    "nobody gave a call up when this was recorded: where callers try so many times at most (attempts), fewer are refused than here";
  const caller =
    "one caller had most of the refusals that were recorded: the answer depends on what that one does next";
  const all: readonly Untold[] = ["weekdays", "reactions", "attempts", "caller"];

  test.each<[refused: number, days: number, told: string[]]>([
    [0, 1, [weekdays]],
    [0, 4.9, [weekdays]],
    [0, 5, []],
    [0.001, 5, [reactions, caller]],
    [0.049, 5, [reactions, caller]],
    [0.05, 5, [reactions, attempts, caller]],
    [1, 1, [weekdays, reactions, attempts, caller]],
  ])("is told where %d are refused in %d days", (refused, days, told) => {
    expect(notes(all, refused, days)).toEqual(told);
    for (const [one, note] of [
      ["weekdays", weekdays],
      ["reactions", reactions],
      ["attempts", attempts],
      ["caller", caller],
    ] as const)
      expect(notes([one], refused, days)).toEqual(told.includes(note) ? [note] : []);
    expect(notes([], refused, days)).toEqual([]);
  });

  test("is the demand of callers whom limits held back, whatever is refused now", () => {
    const demand =
      "many calls were refused when this was recorded, so callers may have wanted more than they sent: what they ask for here is a lower bound, above all under larger limits";
    expect(notes(["demand"], 0, 5)).toEqual([demand]);
    expect(notes(["demand", "reactions"], 0.5, 5)).toEqual([demand, reactions]);
  });

  test("is nothing of a scenario that no recording made", () => {
    expect(untoldNotes({ fitError: null } as Scenario, 1)).toEqual([]);
  });
});
