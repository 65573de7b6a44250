// Callers that begin together: what chance explains, by the time around, and by the times of the day.
import { describe, expect, test } from "vitest";
import { clockedAmong, clockedIn, spreadOf } from "../../sim/fit/clocked-wakes.ts";
import { type Beginning, beginningsOf, Crowd, isCrowd, placeOf } from "../../sim/fit/crowds.ts";
import { dayMs } from "../../sim/fit/days.ts";
import { eventsByChance, eventsDaysOff } from "../../sim/fit/events.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import { overlapByChance } from "../../sim/fit/overlaps.ts";
import type { Profile, WokenSession } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { eventsAmong, type FoundWakes, foundIn, isMore, merged } from "../../sim/fit/wakes.ts";
import { chanceOf, pick, whole } from "../worlds/chance.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
const over = (startedAtMs: number, endedAtMs: number): Recording =>
  ({ startedAtMs, endedAtMs }) as unknown as Recording;
const begins = (timesMs: readonly number[], isAfterRefusal = false): Beginning[] =>
  timesMs.map((atMs) => ({ atMs, isLong: false, isAfterRefusal }));

test("the first place that is not before an instant", () => {
  const at = [1, 3, 3, 5];
  expect([0, 1, 2, 3, 4, 5, 6].map((ms) => placeOf(at, ms))).toEqual([0, 0, 1, 1, 3, 3, 4]);
  expect(placeOf([], 1)).toBe(0);
});

describe("too many to be chance", () => {
  // If one is usual, six or more come with probability 0.000594, seven or more with 0.0000832: one recording in a
  // thousand may show such an event, wherever it could be.
  test.each([
    [1, 5, 1, false],
    [1, 6, 1, true],
    [1, 6, 2, false],
    [1, 7, 12, true],
    [1, 7, 13, false],
    [0.001, 1, 1, true],
    [0.0011, 1, 1, false],
    [0, 1, 288, true],
    [100, 200, 1, false],
    [100, 201, 1, true],
    [5, 12, 1, false],
  ])("%d are usual, %d came, at one of %d places: %j", (usual, count, places, is) => {
    expect(isCrowd(usual, count, places)).toBe(is);
  });
});

test("where ten events or more are found, smaller crowds are events, too: one in twenty may be none", () => {
  const asked: number[] = [];
  const found = (count: number) =>
    foundIn(500, (places) => {
      asked.push(places);
      return Array.from({ length: asked.length === 1 ? count : 99 }, (_, index) => index);
    }).length;
  expect([found(9), asked.splice(0)]).toEqual([9, [500]]);
  // Of ten, half a one may be none, and not one in a thousand recordings.
  expect([found(10), asked.splice(0)]).toEqual([99, [500, 500 / (0.05 * 10 * 1000)]]);
});

describe("beginnings", () => {
  /** Jobs of a second, at these seconds; `again` are tried again. */
  const profile = (seconds: readonly number[], again: readonly number[] = []) => {
    const jobs = seconds.map((second) => ({
      startMs: second * secondMs,
      endMs: (second + 1) * secondMs,
      attempts: again.includes(second) ? 2 : 1,
      jobs: 1,
    }));
    return { jobs, pausesMs: [] } as unknown as Profile;
  };
  const at = (seconds: readonly number[], again: readonly number[] = []) =>
    beginningsOf(profile(seconds, again), 0).map(({ atMs, isLong, isAfterRefusal }) => [
      atMs / secondMs,
      ...(isLong ? ["long"] : []),
      ...(isAfterRefusal ? ["after a refusal"] : []),
    ]);

  test("come after ten seconds of silence, and not at the very start", () => {
    expect(at([0, 11, 22.001])).toEqual([[22.001]]);
    expect(at([0, 11.001, 30])).toEqual([[11.001], [30]]);
    expect(at([])).toEqual([]);
  });

  test("are bursts where the third call comes within ten seconds", () => {
    expect(at([0, 20, 25, 30])).toEqual([[20, "long"]]);
    expect(at([0, 20, 25, 30.001])).toEqual([[20]]);
    expect(at([0, 20, 25])).toEqual([[20]]);
  });

  test("are long where their session has more than twice as many calls as usual, and two", () => {
    const slow = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => from + 8 * index);
    expect(at([0, 100, 200, ...slow(300, 4), 400])).toEqual([[100], [200], [300], [400]]);
    expect(at([0, 100, 200, ...slow(300, 5), 400])).toEqual([[100], [200], [300, "long"], [400]]);
  });

  test("are the window's up to five minutes after the answer of who was refused", () => {
    expect(at([0, 301, 602], [0])).toEqual([[301, "after a refusal"], [602]]);
    expect(at([0, 301.001], [0])).toEqual([[301.001]]);
    expect(at([0, 20, 40], [20])).toEqual([[20], [40, "after a refusal"]]);
  });
});

describe("a crowd", () => {
  const minutes = (...at: number[]): number[] => at.map((minute) => minute * minuteMs);

  test("counts within a span what no refusal explains", () => {
    const after = begins(minutes(61), true);
    const crowd = new Crowd(
      [...begins(minutes(60)), ...after, ...begins(minutes(62, 63))],
      over(0, 2 * hourMs),
    );
    expect(crowd.starts).toEqual(minutes(60, 62, 63));
    expect(crowd.countIn(60 * minuteMs, 3 * minuteMs)).toBe(2);
    expect(crowd.countIn(60 * minuteMs, 3 * minuteMs + 1)).toBe(3);
    expect(crowd.countIn(60 * minuteMs + 1, minuteMs)).toBe(0);
  });

  test("has so many as usual as half an hour around had, but for a minute next to it, and half a one", () => {
    const seen = [...minutes(29.9, 30, 58.9), ...minutes(59, 60, 63.9), ...minutes(64, 89.9, 90)];
    const crowd = new Crowd(begins(seen), over(0, 2 * hourMs));
    // Of 30 to 59 and 64 to 90, 55 minutes, two and two.
    expect(crowd.usualIn(hourMs, 3 * minuteMs)).toBeCloseTo((4.5 * 3) / 55, 12);
    // Those after a refusal are as usual as others.
    expect(new Crowd(begins(seen, true), over(0, 2 * hourMs)).usualIn(hourMs, 3 * minuteMs)).toBeCloseTo(
      (4.5 * 3) / 55,
      12,
    );
    // The recording begins at 40 and ends at 70: 19 and 6 minutes.
    const short = over(40 * minuteMs, 70 * minuteMs);
    expect(new Crowd(begins(seen), short).usualIn(hourMs, 3 * minuteMs)).toBeCloseTo((2.5 * 3) / 25, 12);
    // One side alone, and none.
    expect(new Crowd([], over(hourMs, 2 * hourMs)).usualIn(hourMs, minuteMs)).toBeCloseTo(0.5 / 28, 12);
    expect(new Crowd([], over(0, hourMs)).usualIn(hourMs, minuteMs)).toBeCloseTo(0.5 / 29, 12);
    expect(new Crowd([], over(59 * minuteMs, 62 * minuteMs)).usualIn(hourMs, minuteMs)).toBeNull();
  });
});

describe("events by the clock", () => {
  /** Callers that begin so many seconds after a time of the day, on each of the days. */
  const on = (days: readonly number[], hour: number, secondsAfter: readonly number[]): number[] =>
    days.flatMap((day) =>
      secondsAfter.map((second) => monday + day * dayMs + hour * hourMs + second * secondMs),
    );
  const found = (timesMs: readonly number[], days: number) =>
    clockedIn(
      new Crowd(begins(timesMs.toSorted((a, b) => a - b)), over(monday, monday + days * dayMs)),
      over(monday, monday + days * dayMs),
    );
  const week = [0, 1, 2, 3, 4, 5, 6];
  const among = (timesMs: readonly number[], days = 7) =>
    clockedAmong(
      timesMs.toSorted((a, b) => a - b),
      over(monday, monday + days * dayMs),
    );

  test("may bring their callers over the whole time from the minute on, or most of them within a minute", () => {
    const spanOf = (secondsAfter: readonly number[]) => {
      const timesMs = on(week, 9, secondsAfter);
      const crowd = new Crowd(begins(timesMs.toSorted((a, b) => a - b)), over(monday, monday + 7 * dayMs));
      const [clock] = clockedIn(crowd, over(monday, monday + 7 * dayMs));
      if (clock === undefined) throw new Error("no clock");
      return spreadOf(clock, crowd);
    };
    const even = spanOf([2, 20, 40, 59, 80, 100, 121, 139, 160, 178]);
    expect(even).toMatchObject({ spanMs: 3 * minuteMs, clock: { at: "0 9 * * *", lateMs: 0 } });
    expect(even.clock.eventsMs).toEqual(on(week, 9, [0]));
    // Ten callers, of whom eight begin within a minute: all are not a third more. Of seven they are.
    const most = spanOf([50, 55, 60, 65, 70, 80, 90, 100, 150, 170]);
    expect(most).toMatchObject({ spanMs: minuteMs, clock: { lateMs: 50_000 } });
    expect(most.clock.eventsMs).toEqual(on(week, 9, [50]));
    expect(spanOf([50, 55, 60, 65, 70, 80, 90, 120, 150, 170]).spanMs).toBe(3 * minuteMs);
  });

  test("come on four whole days at least; half an hour less is a whole day", () => {
    const found = (fromMinutes: number, untilMinutes: number): number =>
      clockedAmong(
        on([0, 1, 2, 3], 12, [0]),
        over(monday + fromMinutes * minuteMs, monday + 4 * dayMs - untilMinutes * minuteMs),
      ).length;
    expect([found(28, 28), found(29, 0), found(0, 29)]).toEqual([1, 0, 0]);
  });

  test("are those of the same times among known ones, at their minute if they are punctual", () => {
    const early = week.map((day) => monday + day * dayMs + 6 * hourMs - (day % 2) * minuteMs);
    const noon = on(week, 12, [0]);
    const known = [...early, ...noon.map((ms) => ms + 29_999), ...on([1, 4], 15.5, [7])];
    const eventsMs = [...on(week, 6, [0]), ...noon].toSorted((a, b) => a - b);
    expect(among(known)).toEqual([{ at: "0 6,12 * * *", lateMs: 0, eventsMs }]);
    const late = [...early, ...noon.map((ms) => ms + 30_000)];
    expect(among(late)).toEqual([
      {
        at: "0 6,12 * * *",
        lateMs: 30_000,
        eventsMs: [...on(week, 6, [0]), ...noon.map((ms) => ms + 30_000)].toSorted((a, b) => a - b),
      },
    ]);
  });

  test.each<[string, number[], number, string[]]>([
    [
      "each third hour",
      [0, 3, 6, 9, 12, 15, 18, 21].flatMap((hour) => on(week, hour, [1])),
      7,
      ["0 */3 * * *"],
    ],
    ["each hour", Array.from({ length: 24 }, (_, hour) => on(week, hour, [1])).flat(), 7, ["0 * * * *"]],
    ["each third hour from one on", [1, 4, 7].flatMap((hour) => on(week, hour, [1])), 7, ["0 1,4,7 * * *"]],
    ["two minutes", [...on(week, 8, [1]), ...on(week, 9.5, [1])], 7, ["0 8 * * *", "30 9 * * *"]],
    ["weekdays", on(week.slice(0, 5), 8, [179]), 7, ["0 8 * * 1-5"]],
    ["six days of seven", on(week.slice(1), 8, [1]), 7, ["0 8 * * *"]],
    ["three days of four", on([0, 1, 2], 8, [1]), 4, []],
    ["three days", on([0, 1, 2], 8, [1]), 3, []],
    ["over a minute before", on(week, 8, [-61]), 7, []],
    ["three minutes after", on(week, 8, [180]), 7, []],
  ])("on %s among known ones are %j", (_, timesMs, days, at) => {
    expect(among(timesMs, days).map((clock) => clock.at)).toEqual(at);
  });

  test("come each day, as late as the latest", () => {
    const events = found(on(week, 10, [5, 20, 31, 40]), 7);
    expect(events).toEqual([{ at: "0 10 * * *", lateMs: 10_000, eventsMs: on(week, 10, [5]) }]);
    expect(found(on(week, 10.25, [11, 20, 31, 40]), 7)).toMatchObject([
      { at: "15 10 * * *", lateMs: 20_000 },
    ]);
  });

  test("come on weekdays alone", () => {
    const events = found(on(week.slice(0, 5), 23, [0, 20, 31, 40]), 7);
    expect(events).toEqual([{ at: "0 23 * * 1-5", lateMs: 0, eventsMs: on(week.slice(0, 5), 23, [0]) }]);
  });

  test.each<[string, number[], number, number]>([
    ["three days", on([0, 1, 2], 10, [0, 9, 19]), 3, 0],
    ["four days", on([0, 1, 2, 3], 10, [0, 9, 19]), 4, 1],
    ["two callers a day", on([0, 1, 2, 3], 10, [0, 9]), 4, 0],
    ["four days of five", on([0, 1, 2, 4], 10, [0, 9, 19]), 5, 1],
    ["three days of five", on([0, 1, 4], 10, [0, 9, 19]), 5, 0],
    ["no full minute of five", on([0, 1, 2, 3], 10 + 3 / 60, [0, 9, 19]), 4, 0],
    ["the last of three minutes", on([0, 1, 2, 3], 10, [170, 171, 172]), 4, 1],
    ["after three minutes", on([0, 1, 2, 3], 10, [180, 181, 182]), 4, 0],
    [
      "as many in all minutes",
      week.slice(0, 4).flatMap((day) =>
        on(
          [day],
          0,
          Array.from({ length: 8640 }, (_, n) => 10 * n),
        ),
      ),
      4,
      0,
    ],
  ])("%s", (_, timesMs, days, count) => {
    expect(found(timesMs, days)).toHaveLength(count);
  });

  test("are at the instant from which most begin within a minute; days of fewer than three have none", () => {
    const others = on([1, 2, 3], 10, [30, 40, 50]);
    // On the first day a caller is early: most begin from 40 s on. On the last but two are spread.
    const first = on([0], 10, [1, 62, 70, 110]);
    const spread = on([4], 10, [0, 61, 122]);
    const [event] = found([...first, ...others, ...spread], 5);
    expect(event?.eventsMs).toEqual([...on([0], 10, [62]), ...on([1, 2, 3], 10, [30])]);
    expect(event?.lateMs).toBe(70_000);
  });
});

describe("events by chance", () => {
  test("have a day off where none came on one weekday of many", () => {
    const at = (day: number, count: number): number[] =>
      Array.from({ length: count }, (_, index) => monday + day * dayMs + (9 + index / 10) * hourMs);
    const events = [0, 1, 3, 4].flatMap((day) => at(day, 10));
    expect(eventsDaysOff(events, over(monday, monday + 5 * dayMs))).toEqual([6]);
    // Some minutes short of five days are five; half an hour is not.
    expect(eventsDaysOff(events, over(monday, monday + 5 * dayMs - 20 * minuteMs))).toEqual([6]);
    expect(eventsDaysOff([...events, ...at(2, 1)], over(monday, monday + 5 * dayMs))).toEqual([]);
    expect(eventsDaysOff([...events, monday + 9 * dayMs], over(monday, monday + 5 * dayMs))).toEqual([6]);
  });

  test("weigh the hours near them, less the further, and come so many a day", () => {
    const noon = [0, 1].map((day) => monday + day * dayMs + 12.5 * hourMs);
    const { perDay, rhythm } = eventsByChance(noon, over(monday, monday + 2 * dayMs));
    // Each hides others for two minutes of its hour: two of two such hours, less four minutes.
    const hours = 2 - 4 / 60;
    expect(perDay).toBe(Math.round((100 * 2) / hours) / 100);
    // 1 for the hour itself, 2/3 and 1/3 for those beside it, 0.02 for all: of two events 6 in all, and 24 * 0.02.
    const little = (0.02 * hours) / ((23 * 2 + hours) / 24);
    const weights = [2 / 3, 4 / 3, 2, 4 / 3, 2 / 3].map((weight) => weight + little);
    const mean = (6 + 24 * little) / 24;
    const round = (weight: number): number => Math.round((1000 * weight) / mean) / 1000;
    expect(rhythm.hours).toEqual(
      Array.from({ length: 24 }, (_, hour) => round(weights[hour - 10] ?? little)),
    );
    expect(rhythm).toMatchObject({ weekend: null, weekdays: null, days: [] });
    // Over midnight, too.
    const { rhythm: late } = eventsByChance([monday + 0.5 * hourMs], over(monday, monday + dayMs));
    expect(late.hours[23]).toBe(late.hours[1]);
    expect(late.hours[22]).toBe(late.hours[2]);
    expect(late.hours[0]).toBeGreaterThan(late.hours[1] as number);
    // Of less than an hour, 24 a day.
    expect(eventsByChance([monday], over(monday, monday + 1)).perDay).toBe(24);
    expect(eventsByChance([monday, monday], over(monday, monday + 3 * dayMs)).perDay).toBe(0.68);
    // Noon of five days, of which the log ends before the fifth night.
    const noons = [0, 1, 2, 3, 4].map((day) => monday + day * dayMs + 12 * hourMs);
    expect(eventsByChance(noons, over(monday + 8 * hourMs, monday + 4 * dayMs + 18 * hourMs)).perDay).toBe(
      1.03,
    );
  });

  /** So many events at noon of each of seven days from Monday on. */
  const perDay = (counts: readonly number[]): number[] =>
    counts.flatMap((count, day) => new Array<number>(count).fill(monday + day * dayMs + 12 * hourMs));
  test.each<[string, number[], number, (readonly number[])[] | null]>([
    ["none at weekends", [4, 4, 4, 4, 4, 0, 0], 7, [[0], [1.4]]],
    ["all at weekends", [0, 0, 0, 0, 0, 5, 5], 7, [[3.5], [0]]],
    ["as many", [4, 4, 4, 4, 4, 4, 4], 7, null],
    ["nine events", [2, 2, 2, 2, 1, 0, 0], 7, null],
    // Ten of them, none at weekends: 20 / 7 are expected, with a deviation of sqrt(10 * 2/7 * 5/7) = 1.4286: 2 apart.
    ["ten events", [2, 2, 2, 2, 2, 0, 0], 7, [[0], [1.4]]],
    // Of eleven 3.143 are expected, and 1.498 is the deviation: one is 1.43 apart.
    ["one at the weekend", [2, 2, 2, 2, 2, 1, 0], 7, null],
    ["no weekend was seen", [4, 4, 4, 4, 4], 5, null],
  ])("have weights of weekdays, beyond chance: %s", (_, counts, days, weights) => {
    const { rhythm } = eventsByChance(perDay(counts), over(monday, monday + days * dayMs));
    if (weights === null) expect(rhythm.weekdays).toBeNull();
    else {
      const [rest, work] = weights.flat();
      expect(rhythm.weekdays).toEqual([rest, work, work, work, work, work, rest]);
    }
  });

  test("have no weights of weekdays if only a weekend was seen", () => {
    const noons = new Array<number>(12).fill(monday + 5.5 * dayMs);
    const weekend = over(monday + 5 * dayMs, monday + 7 * dayMs);
    expect(eventsByChance(noons, weekend).rhythm.weekdays).toBeNull();
  });
});

describe("calls of one name that overlap by chance", () => {
  /** Five calls of each hour, with a minute between them and most of the hour behind them. */
  const apart = [0, 2, 4, 6, 8];
  const jobsOf = (hours: readonly (readonly number[])[], tookMs: number): RecordedJob[] =>
    hours.flatMap((minutes, hour) =>
      minutes.map((minute) => {
        const startMs = (1 + hour) * hourMs + Math.round(minute * minuteMs);
        return { startMs, first: { endMs: startMs + tookMs } } as unknown as RecordedJob;
      }),
    );
  const hoursOf = (count: number, odd: number, minutes: readonly number[]) =>
    Array.from({ length: count }, (_, hour) => (hour < odd ? minutes : apart));

  // Five calls of a minute in an hour: (5 - 1) * 5 / 60 overlaps are usual, and 20 in 60 hours.
  const one = [0, 0.5, 4, 6, 8];
  const four = [0, 0.5, 1, 1.5, 2];
  test.each<[string, RecordedJob[], number, boolean]>([
    ["no overlap", jobsOf(hoursOf(60, 0, one), minuteMs), 0, false],
    ["9 of 20 usual ones", jobsOf(hoursOf(60, 9, one), minuteMs), 0, false],
    ["10 of 20 usual ones", jobsOf(hoursOf(60, 10, one), minuteMs), 0, true],
    ["76 of 20 usual ones", jobsOf(hoursOf(60, 19, four), minuteMs), 0, true],
    ["84 of 20 usual ones", jobsOf(hoursOf(60, 21, four), minuteMs), 0, false],
    ["overlaps no longer than the slack", jobsOf(hoursOf(60, 10, one), minuteMs), minuteMs / 2, false],
    ["overlaps that are longer", jobsOf(hoursOf(60, 10, one), minuteMs), minuteMs / 2 - 1, true],
    // Of calls of 20 s there are 6.7 usual ones.
    ["four overlaps", jobsOf(hoursOf(60, 4, [0, 0.2, 4, 6, 8]), 20 * secondMs), 0, false],
    ["five overlaps", jobsOf(hoursOf(60, 5, [0, 0.2, 4, 6, 8]), 20 * secondMs), 0, true],
    ["29 long pauses", jobsOf(hoursOf(30, 10, one), minuteMs), 0, false],
    ["30 long pauses", jobsOf(hoursOf(31, 10, one), minuteMs), 0, true],
    // Of two calls an hour there are 2.2 usual ones. Pauses of five minutes, and of 53 behind them.
    [
      "pauses more than ten times as long",
      jobsOf(
        Array.from({ length: 66 }, (_, hour) => (hour < 6 ? [0, 0.5] : [0, 6])),
        minuteMs,
      ),
      0,
      true,
    ],
    // Pauses of five minutes, and of 34 behind them.
    [
      "pauses that are not ten times as long",
      jobsOf(
        hoursOf(60, 0, one).map((_, hour) => (hour < 10 ? [0, 0.5, 12, 18, 24] : [0, 6, 12, 18, 24])),
        minuteMs,
      ),
      0,
      false,
    ],
  ])("%s", (_, jobs, slackMs, byChance) => {
    expect(overlapByChance(jobs, slackMs)).toBe(byChance);
  });
});

describe("events", () => {
  test("begin where more callers than usual begin within a span; each instant is told once", () => {
    const crowd = [...Array(12).fill(hourMs), hourMs + 2000, hourMs + 9000];
    const few = [2 * hourMs, 2 * hourMs];
    const recorded = new Crowd(begins([...crowd, ...few]), over(0, 4 * hourMs));
    const gatherings = recorded.gatherings(10_000);
    const event = { atMs: hourMs, count: 14, usual: recorded.usualIn(hourMs, 10_000) };
    expect(eventsAmong(gatherings, 1_000)).toEqual([event]);
    // Two callers are no event, however few the places are at which they could have begun.
    expect(eventsAmong(gatherings, 0.001)).toEqual([event]);
  });

  test("gather where three or more begin, and over twice as many as are usual: as one search for each says", () => {
    const chance = chanceOf(2026);
    for (let world = 0; world < 60; world++) {
      const timesMs = Array.from({ length: whole(chance, 3, 200) }, () => 100 * whole(chance, 0, 20_000));
      const some = timesMs
        .toSorted((a, b) => a - b)
        .map((atMs) => ({ atMs, isLong: false, isAfterRefusal: chance.next() < 0.2 }));
      const crowd = new Crowd(some, over(100 * whole(chance, 0, 200), 2_000_000));
      const spanMs = pick(chance, [1, 10_000, 60_000]);
      const slow = [...new Set(crowd.starts)].flatMap((atMs) => {
        const [count, usual] = [crowd.countIn(atMs, spanMs), crowd.usualIn(atMs, spanMs)];
        return usual !== null && count >= 3 && count > 2 * usual ? [{ atMs, count, usual }] : [];
      });
      expect(crowd.gatherings(spanMs)).toEqual(slow);
    }
  });

  test("are one where they follow each other within two minutes, at the instant of most callers", () => {
    const [first, second] = [10 * minuteMs, 12 * minuteMs];
    expect(
      merged([
        { atMs: second + 1, count: 3 },
        { atMs: first, count: 5 },
        { atMs: hourMs, count: 1 },
        { atMs: first - minuteMs, count: 5 },
      ]),
    ).toEqual([first - minuteMs, second + 1, hourMs]);
    expect(
      merged([
        { atMs: second, count: 6 },
        { atMs: first, count: 5 },
        { atMs: second + 2 * minuteMs, count: 6 },
      ]),
    ).toEqual([second]);
    expect(merged([])).toEqual([]);
  });
});

describe("events of a longer span", () => {
  /** A group of so many events, which wake one caller to so many sessions. */
  const group = (events: number, sessions: number): FoundWakes => ({
    ...{ group: 0, clock: null, lastsMs: null, eventsMs: new Array<number>(events).fill(0) },
    woken: new Map([[{} as Profile, new Array<WokenSession>(sessions).fill({ eventMs: 0, jobs: [] })]]),
  });
  const shorter = [group(4, 30), group(2, 10)];

  test.each<[string, readonly FoundWakes[], boolean]>([
    ["more events and sessions", [group(7, 41)], true],
    ["more events of as many sessions", [group(7, 40)], false],
    ["as many events of a quarter more sessions", [group(3, 20), group(3, 30)], false],
    ["as many events of yet more sessions", [group(3, 20), group(3, 31)], true],
    ["fewer events, though of far more sessions", [group(5, 400)], false],
  ])("are taken for the shorter span's if they are more: %s", (_, longer, expected) => {
    expect(isMore(longer, shorter)).toBe(expected);
  });
});
