// A backtest's two parts of a recording, and the days of the rest that it predicts.
import { describe, expect, test } from "vitest";
import { isPredicted, splitOf } from "../../sim/fit/backtest-split.ts";
import type { Recording } from "../../sim/fit/recording.ts";

const hour = 3_600_000;
const day = 24 * hour;
/** Monday, 5 January 2026, UTC. */
const monday = Date.UTC(2026, 0, 5);
const recorded = (fromMs: number, days: number) =>
  ({ startedAtMs: fromMs, endedAtMs: fromMs + days * day }) as Recording;

describe("a week", () => {
  test("from Monday on: to Thursday it is fitted to, and predicts Friday", () => {
    const split = splitOf(recorded(monday, 7), undefined);
    expect(split).toEqual({ splitAt: monday + 4 * day, predicted: "weekdays" });
    expect(isPredicted(split, monday + 5 * day - 1)).toBe(true);
    expect(isPredicted(split, monday + 5 * day)).toBe(false);
  });

  test.each([1, 2, 3, 4, 5, 6])("from %i days later on: 70% hold half a day of each kind", (later) => {
    const from = monday + later * day;
    expect(splitOf(recorded(from, 7), undefined)).toEqual({ splitAt: from + 4.9 * day, predicted: "all" });
  });

  test("at a share that is given, whatever is left", () => {
    const split = splitOf(recorded(monday, 7), 0.75);
    expect(split).toEqual({ splitAt: monday + 5.25 * day, predicted: "weekdays" });
  });
});

test("weekdays that follow a weekend alone are not predicted", () => {
  const split = splitOf(recorded(monday - 2 * day, 2.5), 0.7);
  expect(split.predicted).toBe("weekend");
  expect(isPredicted(split, monday - 1)).toBe(true);
  expect(isPredicted(split, monday)).toBe(false);
});

test.each([0.02, 1, 1.9])("%d days have no week: all of the rest is predicted", (days) => {
  const from = monday + 4.5 * day;
  expect(splitOf(recorded(from, days), undefined)).toEqual({
    splitAt: Math.round(from + 0.7 * days * day),
    predicted: "all",
  });
});

test("a weekend alone, of which half a day was fitted to, is predicted", () => {
  expect(splitOf(recorded(monday + 4 * day, 3), undefined)).toEqual({
    splitAt: Math.round(monday + 4 * day + 2.1 * day),
    predicted: "all",
  });
});
