// Callers who come once a day and stay: which callers those are, and when they begin.
import { expect, test } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../sim/fit/days.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Sessions } from "../../sim/fit/sessions.ts";
import { beginningOf, workdaysOf } from "../../sim/fit/workdays.ts";

const kind = { operation: "rest", asked: undefined, free: false, cost: 1, actual: 1, key: "rest 1" };
const jobAt = (atMs: number): RecordedJob =>
  new RecordedJob(
    new RecordedCall({
      ...{ atMs, endMs: atMs + 1000, wantedMs: atMs, attempt: 0, status: 200, said: null },
      kind,
    }),
  );
/** The epoch began on a Thursday: day 4 is a Monday. */
const monday = 4;
interface Day {
  readonly beginsMs?: number;
  readonly calls?: number;
  /** Pauses of 31 minutes after the first calls, and of one of so many hours. */
  readonly breaks?: number;
  readonly absentMs?: number;
}
function daysOf(days: readonly number[], day: (index: number) => Day = () => ({})): RecordedJob[] {
  return days.flatMap((each, index) => {
    const { beginsMs = 9 * hourMs, calls = 20, breaks = 0, absentMs = 0 } = day(index);
    let atMs = each * dayMs + beginsMs;
    return Array.from({ length: calls }, (_, place) => {
      const job = jobAt(atMs);
      atMs += place < breaks ? 31 * minuteMs : place === breaks && absentMs > 0 ? absentMs : 5 * minuteMs;
      return job;
    });
  });
}
const week = [0, 1, 2, 3, 4].map((day) => monday + day);
const cut = (jobs: readonly RecordedJob[]): number | null => workdaysOf(jobs)?.sessions.length ?? null;

test("a caller who comes on four days, twenty times on each, has days", () => {
  expect(cut(daysOf(week))).toBe(5);
  expect(cut(daysOf(week.slice(0, 4)))).toBe(4);
  expect(cut(daysOf(week.slice(0, 3), () => ({ calls: 40 })))).toBeNull();
  expect(cut(daysOf(week, (index) => ({ calls: index === 0 ? 19 : 20 })))).toBeNull();
  expect(cut(daysOf(week.slice(0, 4), () => ({ calls: 19 })))).toBeNull();
  expect(cut([])).toBeNull();
});

test("weekends are left out if the caller never comes then", () => {
  const two = [...week, ...week.map((day) => day + 7)];
  expect(cut(daysOf(two))).toBe(10);
  // Nine of ten weekdays are enough, eight are not.
  expect(cut(daysOf(two.toSpliced(4, 1)))).toBe(9);
  expect(cut(daysOf(two.toSpliced(4, 2)))).toBeNull();
  // Who comes on a Saturday is asked for on Sundays, too: 11 of 12 days are enough, 10 are not.
  const saturday = [...two.slice(0, 5), monday + 5, ...two.slice(5)];
  expect([cut(daysOf(saturday)), cut(daysOf(saturday.toSpliced(8, 1)))]).toEqual([11, null]);
  expect(cut(daysOf(Array.from({ length: 10 }, (_, day) => monday + day)))).toBe(10);
});

test("breaks of over half an hour are rare in a day", () => {
  const days = week.slice(0, 4);
  // Three pauses are those between the days; two in four days are not too many.
  expect(cut(daysOf(days, (index) => ({ breaks: index < 2 ? 1 : 0 })))).toBe(4);
  expect(cut(daysOf(days, (index) => ({ breaks: index < 3 ? 1 : 0 })))).toBeNull();
  expect(cut(daysOf(days, (index) => ({ absentMs: index < 3 ? 30 * minuteMs + 1000 : 0 })))).toBe(4);
});

test("nobody comes twice a day", () => {
  const twice = daysOf(week, (index) => ({
    calls: 40,
    absentMs: index === 0 ? 5 * hourMs + 1001 : 0,
    beginsMs: 6 * hourMs,
  }));
  expect(cut(twice)).toBeNull();
});

test("days begin within four hours", () => {
  const begun = (laterMs: number) =>
    cut(daysOf(week, (index) => ({ beginsMs: 8 * hourMs + (index === 2 ? laterMs : 0) })));
  expect([begun(4 * hourMs), begun(4 * hourMs + 1)]).toEqual([5, null]);
});

test("a day with one hour far busier than the others is none: the rhythm by the hour tells it", () => {
  /** Days of seven hours from nine on, with so many calls in the hour from noon on and twenty in each other one. */
  const withNoon = (noon: number): RecordedJob[] =>
    week.flatMap((day) =>
      Array.from({ length: 7 }, (_, hour) => {
        const calls = hour === 3 ? noon : 20;
        return Array.from({ length: calls }, (_, call) =>
          jobAt(day * dayMs + (9 + hour) * hourMs + (call * hourMs) / calls),
        );
      }).flat(),
    );
  // A hundred calls are usual in five days' hour: from 190 on, chance does not explain it.
  expect([cut(withNoon(38)), cut(withNoon(39))]).toEqual([5, null]);
  // Three hours in the midst of the day can show it, two cannot.
  const until = (hours: number): RecordedJob[] =>
    withNoon(60).filter(({ startMs }) => startMs % dayMs < hours * hourMs + hourMs / 2);
  expect([cut(until(12)), cut(until(13))]).toEqual([5, null]);
});

test.each<[readonly (readonly [day: number, ms: number])[], string, number]>([
  [[[monday, 9 * hourMs]], "0 9 * * 1-5", 0],
  [[[monday + 5, 9 * hourMs]], "0 9 * * *", 0],
  [
    [
      [monday, 9 * hourMs + 7 * minuteMs],
      [monday + 1, 9 * hourMs + 31 * minuteMs],
    ],
    "5 9 * * 1-5",
    30,
  ],
  [
    [
      [monday, 9 * hourMs + 59 * minuteMs],
      [monday + 6, 10 * hourMs],
    ],
    "55 9 * * *",
    5,
  ],
])("callers who come at %j begin at %s", (starts, at, minutes) => {
  const sessions = starts.map(([day, ms]) => ({ startMs: day * dayMs + ms }));
  expect(beginningOf({ sessions } as unknown as Sessions)).toEqual({ at, withinMs: minutes * minuteMs });
});
