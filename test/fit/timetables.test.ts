// Jobs that keep to a timetable, at set minutes: periods, weekdays, chance, and a nightly job beside an hourly one.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { timetablesOf } from "../../sim/fit/timetables.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** Jobs of 100 ms at these instants after Monday began, in order. */
const jobsAt = (timesMs: readonly number[]): RecordedJob[] =>
  timesMs
    .toSorted((a, b) => a - b)
    .map((ms) => ({ startMs: monday + ms, endMs: monday + ms + 100, jobs: 1 }) as unknown as RecordedJob);

/** Returns the timetables of some hours: the line of each, its numbers of jobs and sessions, and the rest. */
function found(timesMs: readonly number[], hours: number, fromHours = 0) {
  const jobs = jobsAt(timesMs);
  const pausesMs = jobs
    .slice(1)
    .map(({ startMs }, index) => Math.max(0, startMs - (jobs[index]?.endMs ?? 0)));
  const startedAtMs = monday + fromHours * hourMs;
  const recording = { startedAtMs, endedAtMs: monday + hours * hourMs } as unknown as Recording;
  const { timetables, rest } = timetablesOf({ jobs, pausesMs } as unknown as Profile, recording);
  return {
    lines: timetables.map(
      ({ timetable, jobs, startsMs }) => `${timetable.schedule}: ${jobs.length} in ${startsMs.length}`,
    ),
    timetables,
    rest: rest.length,
  };
}
const lines = (timesMs: readonly number[], hours: number, fromHours = 0): string[] =>
  found(timesMs, hours, fromHours).lines;

/** One job at each of these minutes of a period, in so many periods. */
const each = (periodMinutes: number, at: readonly number[], count: number): number[] =>
  many(count, (period) => at.map((minute) => (period * periodMinutes + minute) * minuteMs)).flat();

describe("a timetable", () => {
  test.each<[string, number[], number, string[]]>([
    ["each five minutes", each(5, [0], 12), 1, ["*/5 * * * *: 12 in 12"]],
    ["each ten", each(10, [3], 12), 2, ["3/10 * * * *: 12 in 12"]],
    ["each quarter", each(15, [0], 12), 3, ["*/15 * * * *: 12 in 12"]],
    ["each twenty", each(20, [7], 12), 4, ["7/20 * * * *: 12 in 12"]],
    ["each half hour", each(30, [0], 12), 6, ["*/30 * * * *: 12 in 12"]],
    ["each hour", each(60, [40], 12), 12, ["40 * * * *: 12 in 12"]],
    ["each day", each(1440, [61], 7), 7 * 24, ["1 1 * * *: 7 in 7"]],
    [
      "each day of a week that is some minutes short",
      each(1440, [61], 7),
      7 * 24 - 0.4,
      ["1 1 * * *: 7 in 7"],
    ],
    ["three hours tell none", each(60, [40], 3), 3, []],
    ["four hours", each(60, [40], 4), 4, ["40 * * * *: 4 in 4"]],
    ["four hours of five", each(60, [40], 4), 5, ["40 * * * *: 4 in 4"]],
    ["seven hours of nine", each(60, [40], 7), 9, []],
    ["within fifteen seconds", each(60, [40, 40.2], 12), 12, ["40 * * * *: 24 in 12"]],
    ["with a second job in the session", each(60, [40, 40.3], 12), 12, ["40 * * * *: 24 in 12"]],
  ])("%s", (_, timesMs, hours, expected) => {
    expect(lines(timesMs, hours)).toEqual(expected);
  });

  test("takes its jobs, and leaves the others", () => {
    const others = [0, 3, 4, 8, 9].map((hour) => hour * hourMs + 17 * minuteMs);
    const { timetables, rest, lines } = found([...each(60, [40], 12), ...others], 12);
    expect(lines).toEqual(["40 * * * *: 12 in 12"]);
    expect(rest).toBe(5);
    expect(timetables[0]).toMatchObject({
      ...{ periodMs: hourMs, sizes: many(12, () => 1), pausesMs: [] },
      timetable: { schedule: "40 * * * *", spreadMs: 0 },
    });
  });

  test("has sessions of several jobs, with the pauses in them", () => {
    const { timetables, rest } = found(each(60, [40, 40.05, 40.1], 12), 12);
    expect(rest).toBe(0);
    expect(timetables[0]).toMatchObject({ sizes: many(12, () => 3), pausesMs: many(24, () => 2900) });
  });

  test("of any second of the minute is told of hours and days alone", () => {
    expect(lines(each(60, [40.5], 12), 12)).toEqual(["40 * * * *: 12 in 12"]);
    expect(lines(each(1440, [40.5], 7), 7 * 24)).toEqual(["40 0 * * *: 7 in 7"]);
    // Half an hour is neither: what keeps to the hour is taken out, and the rest is left.
    expect(found(each(30, [10.5], 24), 12)).toMatchObject({ lines: ["10 * * * *: 12 in 12"], rest: 12 });
  });

  test("of working days has none at weekends", () => {
    const weekdays = each(1440, [600], 14).filter((ms) => ![5, 6].includes(Math.floor(ms / dayMs) % 7));
    expect(lines(weekdays, 14 * 24)).toEqual(["0 10 * * 1-5: 10 in 10"]);
    const hourly = each(60, [20], 7 * 24).filter((ms) => ![5, 6].includes(Math.floor(ms / dayMs) % 7));
    expect(lines(hourly, 7 * 24)).toEqual(["20 * * * 1-5: 120 in 120"]);
  });

  // From Thursday on, four weekdays of six days; from Friday on, three of five.
  test.each([
    [3, 6, ["0 10 * * 1-5: 4 in 4"]],
    [4, 5, []],
    // One day of the weekend is none.
    [6, 6, ["0 10 * * *: 5 in 5"]],
  ])("from weekday %i on, of %i days, is %j without weekends", (from, days, expected) => {
    const weekdays = many(days, (day) => (from + day) * dayMs)
      .filter((ms) => ![5, 6].includes(Math.floor(ms / dayMs) % 7))
      .map((ms) => ms + 10 * hourMs);
    expect(lines(weekdays, (from + days) * 24, from * 24)).toEqual(expected);
  });

  test("is none where callers begin with any minute", () => {
    // A call each 47 s for three hours.
    expect(
      lines(
        many(230, (index) => index * 47 * secondMs),
        3,
      ),
    ).toEqual([]);
    // Beginnings of each hour at another minute.
    expect(
      lines(
        many(12, (hour) => (60 * hour + ((7 * hour) % 60)) * minuteMs),
        12,
      ),
    ).toEqual([]);
  });

  // A job at minute 40 of ten hours of twelve, beside others that begin with so many other minutes of each hour, in turn.
  // 60 minutes may seem to have one: of 58 minutes in 12 hours, 138.5 beginnings are a share of 0.199, for which ten or
  // more of twelve come with probability 0.0000043; 174.5 are 0.251, with 0.000039. One in a thousand is too likely.
  test.each([
    [5, ["40 * * * *: 10 in 10"]],
    [4, []],
  ])("among beginnings each %d minutes is %j", (apart, expected) => {
    const others = many(12, (hour) =>
      many(60 / apart, (place) => (apart * place + hour) % 60)
        .filter((minute) => minute !== 40)
        .map((minute) => (60 * hour + minute) * minuteMs),
    ).flat();
    const own = each(60, [40], 12).filter((_, hour) => hour !== 3 && hour !== 7);
    expect(lines([...own, ...others], 12)).toEqual(expected);
  });

  test("of each day is one of several where those after the first are of long sessions", () => {
    const looks = many(7 * 24, (hour) => (60 * hour + 10.5 + ((7 * hour) % 40)) * minuteMs);
    const [first, morning, evening] = [
      each(1440, [61], 7),
      each(
        1440,
        many(12, (index) => 360 + index / 20),
        7,
      ),
      each(
        1440,
        many(40, (index) => 1260 + index / 20),
        7,
      ),
    ];
    expect(found([...looks, ...first, ...evening, ...morning], 7 * 24)).toMatchObject({
      lines: ["1 1 * * *: 7 in 7", "0 6 * * *: 84 in 7", "0 21 * * *: 280 in 7"],
      rest: looks.length,
    });
    expect(found([...looks, ...first, ...evening, ...each(1440, [360], 7)], 7 * 24)).toMatchObject({
      lines: ["1 1 * * *: 7 in 7", "0 21 * * *: 280 in 7"],
      rest: looks.length + 7,
    });
  });

  test("has a job that is late for once, by less than a minute", () => {
    const late = (hours: number, byMs: number): number[] =>
      each(60, [40], hours).map((ms, hour) => (hour === 5 ? ms + byMs : ms));
    expect(found(late(12, 59_000), 12)).toMatchObject({ lines: ["40 * * * *: 12 in 12"], rest: 0 });
    expect(found(late(12, 61_000), 12)).toMatchObject({ lines: ["40 * * * *: 11 in 11"], rest: 1 });
  });

  test("of who joined later is kept from then on", () => {
    const late = each(60, [40], 72).map((ms) => ms + 8 * dayMs);
    expect(lines(late, 11 * 24)).toEqual(["40 * * * *: 72 in 72"]);
  });
});

describe("a nightly job beside an hourly one", () => {
  const hourly = each(60, [20], 4 * 24);
  const nightly = (hours: readonly number[], days: readonly number[], count = 12): number[] =>
    days.flatMap((day) =>
      hours.flatMap((hour) =>
        many(count, (index) => day * dayMs + hour * hourMs + 20 * minuteMs + (index + 1) * 2 * secondMs),
      ),
    );

  test("has what is beyond the usual size", () => {
    const { lines, rest, timetables } = found([...hourly, ...nightly([3], [0, 1, 2, 3])], 4 * 24);
    expect(lines).toEqual(["20 * * * *: 96 in 96", "20 3 * * *: 48 in 4"]);
    expect(rest).toBe(0);
    expect(timetables[0]).toMatchObject({
      ...{ periodMs: hourMs, sizes: many(96, () => 1), pausesMs: [] },
      startsMs: many(96, (hour) => monday + hour * hourMs + 20 * minuteMs),
    });
    expect(timetables[1]).toMatchObject({
      ...{ periodMs: dayMs, sizes: [12, 12, 12, 12], pausesMs: many(44, () => 1_900) },
      // They begin with the hourly one, which they may wait for.
      startsMs: many(4, (day) => monday + day * dayMs + 3 * hourMs + 20 * minuteMs),
    });
  });

  test("did not start in a night without it", () => {
    const nights = [0, 1, 2, 4, 5];
    const { timetables } = found([...each(60, [20], 6 * 24), ...nightly([3], nights)], 6 * 24);
    expect(timetables[1]).toMatchObject({
      sizes: many(5, () => 12),
      startsMs: nights.map((day) => monday + day * dayMs + 3 * hourMs + 20 * minuteMs),
    });
  });

  test("of working days has none at weekends, either", () => {
    const working = (ms: number): boolean => Math.floor(ms / dayMs) % 7 < 5;
    const jobs = [
      ...each(60, [20], 14 * 24),
      ...nightly(
        [13],
        many(14, (day) => day),
      ),
    ].filter(working);
    expect(lines(jobs, 14 * 24)).toEqual(["20 * * * 1-5: 240 in 240", "20 13 * * 1-5: 120 in 10"]);
  });

  test("is told from three days on, of four minutes at most, where it is much longer", () => {
    const all = [0, 1, 2, 3];
    expect(lines([...each(60, [20], 72), ...nightly([3], [0, 1, 2])], 3 * 24)).toEqual([
      "20 * * * *: 72 in 72",
      "20 3 * * *: 36 in 3",
    ]);
    expect(lines([...each(60, [20], 48), ...nightly([3], [0, 1])], 48)).toEqual(["20 * * * *: 72 in 48"]);
    expect(lines([...hourly, ...nightly([1, 3, 5, 7], all)], 4 * 24)).toHaveLength(5);
    expect(lines([...hourly, ...nightly([1, 3, 5, 7, 9], all)], 4 * 24)).toHaveLength(1);
    // One is usual: five are more than twice as many and two, four are not.
    expect(lines([...hourly, ...nightly([3], all, 4)], 4 * 24)).toHaveLength(2);
    expect(lines([...hourly, ...nightly([3], all, 3)], 4 * 24)).toHaveLength(1);
    // It may be missing in one night of six, but not in one of five.
    expect(lines([...each(60, [20], 6 * 24), ...nightly([3], [0, 1, 2, 3, 4])], 6 * 24)).toHaveLength(2);
    expect(lines([...each(60, [20], 5 * 24), ...nightly([3], all)], 5 * 24)).toHaveLength(1);
  });
});

test("a job before a day at work is a run of its own, though the day's other pauses are far shorter than the night", () => {
  const day = [
    ...many(40, (call) => 7 * hourMs + 150 * call),
    ...many(120, (call) => 8 * hourMs + 5 * minuteMs * call),
  ];
  const week = many(7, (place) => day.map((ms) => place * dayMs + ms)).flat();
  expect(found(week, 7 * 24)).toMatchObject({ lines: ["0 7 * * *: 280 in 7"], rest: 840 });
});
