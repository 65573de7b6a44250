// Goals in words, and a finer look where none of them held.
import { describe, expect, test } from "vitest";
import { lookFiner } from "../../src/plan/finer.ts";
import { goalsOf, parseGoal, parseMeasured } from "../../src/plan/goals.ts";
import type { Points } from "../../src/plan/points.ts";
import type { PlanPoint, PlanValue } from "../../src/summary/plan-result.ts";
import { codedError } from "../support/coded-error.ts";
import { crowd } from "./worlds.ts";

const scenario = crowd();

test.each([
  ["refused<1%", "refusedShare", 0.01],
  ["crowd.refused <= 2% ", "crowd.refusedShare", 0.02],
  ["refused<10", "refused", 10],
  ["crowd.waitP95Ms<=2s", "crowd.waitP95Ms", 2_000],
  ["  calls >= 3", "calls", 3],
  ["refused==0", "refused", 0],
])("%j bounds %s by %d", (text, figure, value) => {
  expect(parseGoal(text, scenario)).toMatchObject({ figure, value });
});

function problemOf(work: () => unknown) {
  const { code, problems } = codedError(work);
  return { ...problems[0], code };
}

test.each([
  ["refused", { path: "--until", got: '"refused"' }],
  ["<1%", { path: "--until" }],
  ["refusd<1%", { allowed: expect.stringContaining("refused") }],
  ["nobody.refused<1%", {}],
  ["refused<much", {}],
  ["overAdmission==0", { allowed: "a figure of the summary: the judge does not read a plan's runs" }],
])("%j is no goal", (text, problem) => {
  expect(problemOf(() => parseGoal(text, scenario))).toMatchObject({ code: "USAGE", ...problem });
});

test("a figure is measured by its name, of all or of a population", () => {
  expect(parseMeasured("crowd.refused", scenario)).toEqual({ population: "crowd", name: "refused" });
  expect(problemOf(() => parseMeasured("refusd", scenario))).toMatchObject({ code: "USAGE" });
});

test("a scenario's expectations are goals, but for those that only the judge knows", () => {
  const expecting = {
    ...scenario,
    expect: [
      parseGoal("refused<1%", scenario),
      { ...parseGoal("refused<1%", scenario), figure: "overAdmission", name: "overAdmission" as const },
    ],
  };
  expect(goalsOf(expecting).map(({ figure }) => figure)).toEqual(["refusedShare"]);
});

describe("a finer look", () => {
  const candidates: readonly PlanValue[] = Array.from({ length: 101 }, (_, place) => place);
  const goals = [parseGoal("refused>=500", scenario), parseGoal("calls<=100", scenario)];

  /**
   * Figures by value: refusals that rise up to a value and fall behind it, and calls; each point that is tried.
   * @param peak where they are most, and hold if anywhere
   */
  function looked(first: readonly number[], peak: number, most: number): [found: boolean, tried: number[]] {
    const tried: number[] = [];
    const figure = (name: string, mean: number | null) => ({ figure: name, mean, interval: null });
    const refusedAt = (value: number): number => most - 10 * Math.abs(value - peak);
    const points = {
      finish: () =>
        [...first, ...tried]
          .toSorted((a, b) => a - b)
          .map(
            (value) =>
              ({
                values: [value],
                figures: [figure("refused", refusedAt(value)), figure("calls", 50)],
              }) as unknown as PlanPoint,
          ),
      *try(values: readonly (readonly number[])[]) {
        const now = values.map(([value = 0]) => value);
        tried.push(...now);
        return now.map((value) => ({ held: refusedAt(value) >= 500 ? 1 : 0 }));
      },
    };
    const { value } = lookFiner(points as unknown as Points, goals, candidates).next();
    return [value as boolean, tried];
  }

  test("is taken on both sides of the nearest value, until one holds", () => {
    expect(looked([0, 40, 60, 100], 50, 505)).toEqual([true, [20, 50]]);
    expect(looked([0, 20, 100], 55, 505)).toEqual([true, [10, 60, 40, 80, 50, 70, 45, 55]]);
  });

  test("ends where the nearest value is at an end, or nothing lies between", () => {
    expect(looked([0, 50, 100], 0, 400)).toEqual([false, []]);
    expect(looked([0, 50, 100], 100, 400)).toEqual([false, []]);
    expect(looked([49, 50, 51], 50, 400)).toEqual([false, []]);
  });

  test("ends after five rounds", () => {
    const [found, tried] = looked([0, 50, 100], 50, 400);
    expect(found).toBe(false);
    expect(tried).toEqual([25, 75, 37, 62, 43, 56, 46, 53, 48, 51]);
  });
});
