// Rhythms of the day, from sessions of few callers: each factor is worked out by hand, and each bound has both sides.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../sim/fit/days.ts";
import {
  busyBetween,
  Calendar,
  daysApart,
  daysOffIn,
  evenRhythm,
  type FittedRhythm,
  type Life,
  rhythmOf,
  weekHourOf,
  weekHours,
} from "../../sim/fit/rhythm.ts";

const hourMs = 3_600_000;
/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
const friday = monday + 4 * dayMs;
const saturday = monday + 5 * dayMs;

/** Sessions of no length: a caller comes back, and is away again. */
const visits = (atMs: number, count: number, jobs = 1) =>
  Array.from({ length: count }, () => ({ startMs: atMs, endMs: atMs, lastMs: atMs, jobs, spells: 1 }));

/** One caller who comes back so often in each hour from `startMs` on. */
const lifeOf = (startMs: number, returns: readonly number[], jobs = 1): Life => ({
  joinedMs: startMs,
  sessions: returns.flatMap((count, hour) => visits(startMs + hour * hourMs, count, jobs)),
});
const calendarOf = (startMs: number, returns: readonly number[], jobs = 1): Calendar =>
  new Calendar([lifeOf(startMs, returns, jobs)], startMs, startMs + returns.length * hourMs);

test("nobody at a weekend, beside very many on other days, still makes a rhythm that a scenario may have", () => {
  const hours = [...new Array<number>(24).fill(900), ...new Array<number>(48).fill(0)];
  const { hours: weekday, weekend } = rhythmOf(calendarOf(friday, hours)) ?? evenRhythm;
  expect(weekend).toEqual(new Array(24).fill(0.001));
  expect(Math.min(...weekday)).toBeGreaterThan(1);
});

test("hours of the week: those of weekdays, then those of a day of the weekend", () => {
  expect(weekHours).toBe(48);
  const at = [monday, monday + dayMs - 1, friday + 23.5 * hourMs, saturday, saturday + 47.5 * hourMs];
  expect(at.map(weekHourOf)).toEqual([0, 23, 23, 24, 47]);
  expect(weekHourOf(monday + 7 * dayMs)).toBe(0);
});

describe("a calendar", () => {
  test("counts returns and absences by hour, from the hour of its start on", () => {
    const sessions = [
      { startMs: monday + 2.25 * hourMs, endMs: monday + 2.5 * hourMs, lastMs: monday, jobs: 3, spells: 1 },
      { startMs: monday + 4.5 * hourMs, endMs: monday + 5 * hourMs, lastMs: monday, jobs: 2, spells: 1 },
      ...visits(monday + 5 * hourMs, 1),
    ];
    const life = { joinedMs: monday + 1.5 * hourMs, sessions };
    const { cells, callers, calls, daysOff } = new Calendar(
      [life],
      monday + 1.25 * hourMs,
      monday + 5 * hourMs,
    );
    expect(cells).toEqual([
      { hour: 1, weekday: 1, day: 4, returns: 0, away: 0.5 },
      { hour: 2, weekday: 1, day: 4, returns: 1, away: 0.75 },
      { hour: 3, weekday: 1, day: 4, returns: 0, away: 1 },
      { hour: 4, weekday: 1, day: 4, returns: 1, away: 0.5 },
    ]);
    expect({ callers, calls, daysOff: [...daysOff] }).toEqual({ callers: 1, calls: 6, daysOff: [] });
  });

  test("has an hour, however short it is", () => {
    expect(new Calendar([], monday, monday).cells).toHaveLength(1);
    expect(new Calendar([], monday, monday + hourMs + 1).cells).toHaveLength(2);
  });

  test.each([
    [4, []],
    [5, [6]],
  ])("of %d callers has days off %j", (callers, daysOff) => {
    const week = Array.from({ length: 5 * 24 }, (_, hour) => (hour % 24 === 9 && hour !== 57 ? 3 : 0));
    const lives = Array.from({ length: callers }, () => lifeOf(monday, week));
    const calendar = new Calendar(lives, monday, monday + 5 * dayMs);
    expect([...calendar.daysOff]).toEqual(daysOff);
    expect(calendar.cells).toHaveLength((5 - daysOff.length) * 24);
  });
});

describe("a day off", () => {
  /** Whole days from Monday on, with their returns in one hour. */
  const daysOf = (returns: readonly number[], lastHours = 24) =>
    returns.flatMap((count, index) =>
      Array.from({ length: index === returns.length - 1 ? lastHours : 24 }, (_, hour) => ({
        day: 4 + index,
        weekday: (1 + index) % 7,
        returns: hour === 9 ? count : 0,
      })),
    );
  test.each<[string, number[], number, number[]]>([
    ["none came, ten on each other", [10, 0, 10, 12], 24, [5]],
    ["nine on another", [9, 0, 10, 12], 24, []],
    ["a tenth came", [10, 1, 10, 12], 24, []],
    ["a little less than a tenth", [11, 1, 11, 12], 24, [5]],
    ["two days without any", [10, 0, 0, 12, 10], 24, []],
    ["of three days", [10, 0, 10], 24, []],
    ["a fourth was seen for 23 hours", [10, 0, 10, 12], 23, []],
    ["weekends are no days of it", [10, 10, 10, 10, 10, 0, 10], 24, []],
  ])("%s", (_, returns, lastHours, off) => {
    expect([...daysOffIn(daysOf(returns, lastHours))]).toEqual(off);
  });
});

describe("a rhythm", () => {
  test("has a factor for each hour, held back by a fifth of a return; hours that nobody watched are even", () => {
    // 20 returns in 6 hours: 3.333 are expected of each.
    const { hours, weekend, weekdays, days } =
      rhythmOf(calendarOf(monday, [20, 0, 0, 0, 0, 0])) ?? evenRhythm;
    const [first, quiet] = [20.2 / (20 / 6 + 0.2), 0.2 / (20 / 6 + 0.2)];
    expect([first, quiet].map((factor) => factor.toFixed(3))).toEqual(["5.717", "0.057"]);
    expect(hours).toEqual([5.717, 0.057, 0.057, 0.057, 0.057, 0.057, ...new Array(18).fill(1)]);
    expect({ weekend, weekdays, days }).toEqual({ weekend: null, weekdays: null, days: [] });
  });

  // Pearson's sum of six hours has five degrees: its bound is 5 + 4 * sqrt(10) = 17.65.
  test.each<[string, number[], boolean]>([
    ["five hours", [20, 0, 0, 0, 0], false],
    ["nine returns", [9, 0, 0, 0, 0, 0], false],
    ["ten returns", [10, 0, 0, 0, 0, 0], true],
    ["a sum of 88 / 5", [13, 1, 3, 3, 5, 5], false],
    ["a sum of 90 / 5", [13, 1, 2, 4, 5, 5], true],
    ["hours that are alike", [5, 5, 5, 5, 5, 5], false],
  ])("of %s: %j is %j", (_, returns, isOne) => {
    expect(rhythmOf(calendarOf(monday, returns)) !== null).toBe(isOne);
  });

  test("is none where nobody was ever away", () => {
    const sessions = Array.from({ length: 12 }, (_, index) => ({
      startMs: monday + index * hourMs,
      endMs: monday + (index + 1) * hourMs,
      ...{ lastMs: monday, jobs: 1, spells: 1 },
    }));
    const never = new Calendar([{ joinedMs: monday, sessions }], monday, monday + 12 * hourMs);
    expect(rhythmOf(never)).toBeNull();
  });

  test.each([
    [12, true],
    [11, false],
  ])("has hours of weekends where %d of them were seen: %j", (hours, hasThem) => {
    const returns = Array.from({ length: 12 + hours }, (_, hour) => (hour === 0 || hour === 12 ? 20 : 0));
    const { weekend } = rhythmOf(calendarOf(friday + 12 * hourMs, returns)) ?? evenRhythm;
    // 40 returns in 24 hours: of each hour of either kind 40 / 24 are expected.
    const midnight = Math.round((1000 * 20.2) / (40 / 24 + 0.2)) / 1000;
    expect(weekend?.[0]).toBe(hasThem ? midnight : undefined);
    expect(weekend?.[12]).toBe(hasThem ? 1 : undefined);
    expect(weekend?.length ?? 0).toBe(hasThem ? 24 : 0);
  });

  test("of two weeks has weekdays, beside the hours; of an hour less it has none", () => {
    // Ten at nine o'clock of each weekday, twenty on Mondays, in 336 hours: 120 / 336 an hour.
    const returns = Array.from({ length: 14 * 24 }, (_, hour) => {
      const weekday = (1 + Math.floor(hour / 24)) % 7;
      return hour % 24 === 9 && weekday % 6 !== 0 ? (weekday === 1 ? 20 : 10) : 0;
    });
    const rate = 120 / 336;
    const nine = 120.2 / (10 * rate + 0.2);
    const other = 0.2 / (10 * rate + 0.2);
    const rest = 0.2 / (4 * rate + 0.2);
    const round = (factor: number): number => Math.round(1000 * factor) / 1000;
    const rhythm = rhythmOf(calendarOf(monday, returns));
    expect(rhythm?.hours).toEqual(Array.from({ length: 24 }, (_, hour) => round(hour === 9 ? nine : other)));
    expect(rhythm?.weekend).toEqual(new Array(24).fill(round(rest)));
    const ofWeekday = (count: number): number =>
      round((count + 0.2) / (2 * rate * (round(nine) + 23 * round(other)) + 0.2));
    const sunday = round(0.2 / (2 * rate * 24 * round(rest) + 0.2));
    expect(rhythm?.weekdays).toEqual([sunday, ofWeekday(40), ...new Array(4).fill(ofWeekday(20)), sunday]);
    expect(rhythmOf(calendarOf(monday, returns.slice(0, -1)))?.weekdays).toBeNull();
  });
});

describe("days apart", () => {
  const parts = (returns: readonly number[], jobs = 1, lastHours = 24) => {
    const hours = returns.flatMap((count, index) =>
      Array.from({ length: index === returns.length - 1 ? lastHours : 24 }, (_, hour) =>
        hour === 0 ? count : 0,
      ),
    );
    return [{ calendar: calendarOf(monday, hours, jobs), rhythm: evenRhythm }];
  };

  test("differ by more than chance: their factors are drawn towards 1", () => {
    // Twenty are expected of each: (100 + 0 + 100) / 20 / 60 is the mean square, 1 / 20 of it is chance.
    // Of three days the variance is 0.11667 * 3 / 2, and of one to come 4 / 3 of that: 0.4830 squared.
    const { deviation, factors } = daysApart(parts([10, 20, 30]));
    expect({ deviation, factors }).toEqual({ deviation: 0.48, factors: [0.41, 1, 1.59] });
  });

  test("count calls, not returns", () => {
    // Each return brings two calls: 40 are expected, and chance is 2 * 40 of each day.
    const { deviation, factors } = daysApart(parts([20, 40, 60], 2));
    // Mean square 0.16667, chance 2 / 80 = 0.025: variance 0.14167 * 1.5 = 0.2125, a day to come 0.28333.
    expect({ deviation, factors }).toEqual({ deviation: 0.53, factors: [0.35, 1, 1.65] });
  });

  test.each<[string, number[], number]>([
    ["of less than twenty a day tell nothing", [10, 19, 28], 0],
    ["two of them tell nothing", [10, 30], 0],
    ["that are alike tell nothing", [20, 20, 20], 0],
    ["that differ as chance has it tell nothing", [16, 20, 24], 0],
    ["without any call has a factor of 0 at least", [0, 0, 60], 3],
  ])("%s", (_, returns, count) => {
    const { deviation, factors } = daysApart(parts(returns));
    expect(factors).toHaveLength(count);
    expect(deviation > 0).toBe(count > 0);
    for (const factor of factors) expect(factor).toBeGreaterThanOrEqual(0);
  });

  test.each([
    [12, 3],
    [13, 4],
  ])("a last day of %d hours makes %d that tell", (hours, count) => {
    expect(daysApart(parts([100, 200, 300, 50], 1, hours)).factors).toHaveLength(count);
  });

  test("of all populations together", () => {
    const [one] = parts([10, 20, 30]);
    const [other] = parts([20, 20, 20]);
    if (one === undefined || other === undefined) throw new Error("there are two");
    // 30, 40 and 50 where 40 are expected: mean square (100 + 100) / 40 / 120, chance 1 / 40: variance 0.025.
    const { deviation, factors } = daysApart([one, other]);
    expect({ deviation, factors }).toEqual({ deviation: 0.18, factors: [0.78, 1, 1.22] });
    const nobody = { calendar: new Calendar([], monday, monday + 3 * dayMs), rhythm: evenRhythm };
    expect(daysApart([one, nobody])).toEqual(daysApart([one]));
  });

  test("of which one weekday is known to be busier are held to its factor", () => {
    // Fifty are expected of each day: 80 on Monday, 40 on the others, 50 on each of the weekend.
    const week = parts([80, 40, 40, 40, 40, 50, 50]);
    const weekdays = [1, 1.65, 0.82, 0.82, 0.82, 0.82, 1];
    expect(daysApart(week, [1]).weekdays).toEqual(weekdays);
    expect(daysApart(week, [1]).deviation).toBe(0);
    expect(daysApart(parts([40, 40]), [5]).weekdays).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(daysApart(week).weekdays).toBeNull();
    expect(daysApart(week).deviation).toBeGreaterThan(0.2);
  });

  test("are held to their rhythm", () => {
    // By the rhythm two thirds come on the second day and later: what looks uneven is expected.
    const rhythm: FittedRhythm = { ...evenRhythm, weekdays: [1, 1, 2, 3, 1, 1, 1] };
    const [{ calendar } = { calendar: new Calendar([], 0, 0) }] = parts([40, 80, 120]);
    expect(daysApart([{ calendar, rhythm }])).toEqual({ deviation: 0, factors: [], weekdays: null });
  });
});

test("busy time: as long as it took on the rhythm's clock, which stands still on days off", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => (hour === 9 ? 3 : 0.5));
  const rhythm = { hours, weekend: null, weekdays: [1, 2, 1, 1, 1, 1, 0], days: [] };
  const busy = (from: number, until: number, off: number[] = [], by: FittedRhythm = rhythm): number =>
    busyBetween(by, monday + from * hourMs, monday + until * hourMs, new Set(off)) / hourMs;
  expect(busy(8.5, 9.25)).toBe(2 * (0.5 * 0.5 + 0.25 * 3));
  expect(busy(24 + 9, 24 + 11)).toBe(3 + 0.5);
  expect(busy(9, 9)).toBe(0);
  expect(busy(23, 25, [4])).toBe(0.5);
  expect(busy(23, 25, [5])).toBe(1);
  expect(busy(5 * 24, 6 * 24)).toBe(0);
  const weekend = new Array<number>(24).fill(7);
  expect(busy(5 * 24 - 1, 5 * 24 + 1, [], { ...rhythm, weekend, weekdays: null })).toBe(0.5 + 7);
});
