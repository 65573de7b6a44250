// How often events come that follow no clock, by events that are set: by hour, and on weekends or other days.
import { describe, expect, test } from "vitest";
import { dayMs, hourMs } from "../../sim/fit/days.ts";
import { eventsByChance } from "../../sim/fit/events.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { apartMs } from "../../sim/fit/woken.ts";

const monday = Date.UTC(2026, 0, 5);
const saturday = monday + 5 * dayMs;
const many = (count: number, of: (index: number) => number): number[] =>
  Array.from({ length: count }, (_, index) => of(index));
const fitted = (eventsMs: readonly number[], days: number, fromMs = monday) =>
  eventsByChance(eventsMs, { startedAtMs: fromMs, endedAtMs: fromMs + days * dayMs } as unknown as Recording);
/** Days without the time after each event, in which another one counts as the same. */
const watched = (days: number, events: number): number => days - (events * apartMs) / hourMs;

describe("events of one hour", () => {
  const daily = (count: number, hour: number): number[] =>
    many(count, (day) => monday + day * dayMs + hour * hourMs);

  test("come as often as they were seen in the time that shows them", () => {
    expect(fitted(daily(10, 9.5), 10).perDay).toBeCloseTo(10 / watched(10, 10), 2);
    expect(fitted([...daily(10, 9.5), ...daily(10, 15)], 10).perDay).toBeCloseTo(20 / watched(10, 10), 2);
    expect(fitted(daily(1, 9.5), 10).perDay).toBeCloseTo(1 / watched(10, 1), 2);
  });

  test("make others likely in the hours beside, less the further, over midnight, too", () => {
    const hoursOf = (hour: number): readonly number[] => {
      const { hours } = fitted(daily(10, hour), 10).rhythm;
      return hours.map((factor) => factor / (hours[Math.floor(hour)] as number));
    };
    const near = (hours: readonly number[], hour: number): number[] =>
      [-4, -3, -2, -1, 0, 1, 2, 3, 4].map(
        (off) => Math.round(20 * (hours[(hour + off + 24) % 24] as number)) / 20,
      );
    const triangle = [0, 0, 0.35, 0.65, 1, 0.65, 0.35, 0, 0];
    for (const hour of [9, 0, 23]) expect(near(hoursOf(hour + 0.5), hour)).toEqual(triangle);
    // At the beginning of its hour it is as near to the hour before.
    expect(near(hoursOf(9), 9).slice(2, 6)).toEqual([0.6, 1, 1, 0.6]);
  });

  test("are not impossible at other hours, as if a fiftieth of one had come there in all days", () => {
    const { hours } = fitted(daily(10, 9.5), 10).rhythm;
    const elsewhere = 0.02 / ((23 * 10 + watched(10, 10)) / 24);
    // Ten events count three times each: in their hour, and in parts in those beside it.
    const mean = elsewhere + (3 * 10) / watched(10, 10) / 24;
    expect(hours[20]).toBeCloseTo(elsewhere / mean, 3);
  });

  test("have factors whose mean is 1", () => {
    const { hours } = fitted(daily(10, 9.5), 10).rhythm;
    expect(hours).toHaveLength(24);
    expect(hours.reduce((sum, factor) => sum + factor, 0) / 24).toBeCloseTo(1, 2);
  });
});

describe("events on weekends", () => {
  /** So many events of other days, one after the other, and of weekends, of ten days from a Monday on. */
  const weekdaysOf = (others: number, weekends: number, days = 10, fromMs = monday) => {
    const work = many(days, (day) => fromMs + day * dayMs).filter(
      (ms) => ms !== saturday && ms !== saturday + dayMs,
    );
    const place = (ms: number, event: number): number => ms + (1 + (event % 20)) * hourMs;
    const events = [
      ...many(others, (event) => place(work[event % work.length] as number, event)),
      ...many(weekends, (event) => place(saturday + (event % 2) * dayMs, event)),
    ];
    return fitted(
      events.toSorted((a, b) => a - b),
      days,
      fromMs,
    ).rhythm.weekdays;
  };

  test("are as many as of other days, if chance explains the difference", () => {
    expect(weekdaysOf(16, 4)).toBeNull();
    // Of 15 a fifth are 3, with a deviation of 1.55; of 16 they are 3.2, with one of 1.6.
    expect([weekdaysOf(15, 0), weekdaysOf(16, 0) === null]).toEqual([null, false]);
  });

  test("or of other days are rarer by their number a day, beside the mean of all", () => {
    const week = (rest: number, others: number) => [rest, others, others, others, others, others, rest];
    expect(weekdaysOf(20, 0)).toEqual(week(0, 1.25));
    // Twelve in two days, and eight in eight: 6 and 1 a day, where 2 are the mean.
    expect(weekdaysOf(8, 12)).toEqual(week(3, 0.5));
  });

  test("are told apart by ten events", () => {
    expect([weekdaysOf(0, 9), weekdaysOf(0, 10)]).toEqual([null, [5, 0, 0, 0, 0, 0, 5]]);
  });

  test("are told by a day of each, nearly", () => {
    const until = (hours: number) => weekdaysOf(16, 16, 5 + hours / 24) === null;
    expect([21, 22].map(until)).toEqual([true, false]);
    const from = (hours: number) => weekdaysOf(0, 30, 2 + hours / 24, saturday) === null;
    expect([23, 24].map(from)).toEqual([true, false]);
  });
});
