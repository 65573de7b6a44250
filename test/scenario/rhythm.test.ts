// The rhythm of a day and a week against a slow form: hours and days by the calendar, busy time summed hour by hour.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { busyUntil, factorAt, parseRhythm, type Rhythm } from "../../src/scenario/rhythm.ts";
import { property } from "../support/property.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const seed = 7;

function parsed(value?: object): Rhythm {
  const mistakes = new Mistakes();
  const rhythm = parseRhythm("rhythm", value, mistakes);
  mistakes.finish("this rhythm cannot be made");
  return rhythm;
}
const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
const plain = { hours: ones(24), weekend: ones(24), weekdays: ones(7), zoneMs: 0, days: [], sigma: 0 };

describe("a rhythm", () => {
  test("is even in UTC where nothing is said", () => {
    expect([parsed(), parsed({})]).toEqual([plain, plain]);
  });

  test("has the hours of a working day at weekends, too, unless it says others", () => {
    const hours = Array.from({ length: 24 }, (_, hour) => hour);
    const weekend = hours.toReversed();
    expect(parsed({ hours })).toEqual({ ...plain, hours, weekend: hours });
    expect(parsed({ hours, weekend })).toEqual({ ...plain, hours, weekend });
  });

  test.each([[[5]], [[1, 2]]])("may have a list of factors for its days: %j", (days) => {
    expect(parsed({ days })).toEqual({ ...plain, days });
  });

  test.each([
    ["+00:00", 0],
    ["+05:59", 359],
    ["-00:30", -30],
    ["+14:00", 840],
    ["-14:00", -840],
  ])("lies in the zone %s", (zone, minutes) => {
    expect(parsed({ zone }).zoneMs).toBe(minutes * 60_000);
  });

  test.each([0.5, 1, 2])("deviates by %f from day to day, as a lognormal factor of mean 1", (days) => {
    const rhythm = parsed({ days });
    expect(Math.exp(rhythm.sigma ** 2)).toBeCloseTo(1 + days ** 2, 9);
    const factors = Array.from({ length: 4_000 }, (_, day) => factorAt(rhythm, seed, day * dayMs));
    const logs = factors.map(Math.log);
    const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
    const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / logs.length;
    // The logarithm's mean is half its variance below 0; both are known to about a fortieth.
    expect(Math.abs(mean + rhythm.sigma ** 2 / 2)).toBeLessThan(rhythm.sigma / 15);
    expect(Math.abs(Math.sqrt(squares) / rhythm.sigma - 1)).toBeLessThan(0.05);
  });

  test("draws each day's factor evenly from a list, the same all day, and other ones for another seed", () => {
    const days = [1, 2, 5];
    const rhythm = parsed({ days });
    const of = (own: number, atMs: number) =>
      Array.from({ length: 3_000 }, (_, day) => factorAt(rhythm, own, day * dayMs + atMs));
    const drawn = of(seed, 0);
    expect(of(seed, dayMs - 1)).toEqual(drawn);
    expect(of(seed + 1, 0)).not.toEqual(drawn);
    for (const factor of days)
      expect(Math.abs(drawn.filter((each) => each === factor).length - 1_000)).toBeLessThan(100);
  });

  test.each([
    ["days", [2, [0, 1_000]], [2.01, -1, [], [1_001], ["1"]]],
    ["hours", [[...ones(23), 0], Array(24).fill(1_000)], [ones(23), ones(25), Array(24).fill(0), 5]],
    ["weekend", [ones(24)], [ones(7)]],
    ["weekdays", [ones(7)], [ones(6), ones(24)]],
    ["zone", ["+14:00"], ["+14:01", "02:00", "+2:00", "+01:60", 5]],
  ])("takes %s in bounds", (name, right, wrong) => {
    for (const value of right) expect(parsed({ [name]: value })).toBeDefined();
    for (const value of wrong) expect(() => parsed({ [name]: value })).toThrow("this rhythm cannot be made");
  });
});

const drawnRhythm = fc.record({
  hours: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 24, maxLength: 24 }),
  weekend: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 24, maxLength: 24 }),
  weekdays: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 7, maxLength: 7 }),
  zoneMs: fc.integer({ min: -840, max: 840 }).map((minutes) => minutes * 60_000),
  days: fc.constant([]),
  sigma: fc.constant(0),
});
/** The factor of an instant by the calendar. */
function factorBy({ hours, weekend, weekdays }: Rhythm, local: number): number {
  const date = new Date(local);
  const day = date.getUTCDay();
  const ofDay = day === 0 || day === 6 ? weekend : hours;
  return (ofDay[date.getUTCHours()] as number) * (weekdays[day] as number);
}
const instant = fc.integer({ min: 20_000 * dayMs, max: 20_014 * dayMs });

property([drawnRhythm, instant])(
  "an instant's factor is that of its hour and its weekday",
  (rhythm, local) => {
    expect(factorAt(rhythm, seed, local)).toBe(factorBy(rhythm, local));
  },
);

/** Busy time between two instants: the sum over the pieces that no local hour cuts. */
function busyBetween(rhythm: Rhythm, fromMs: number, toMs: number): number {
  let busyMs = 0;
  for (let atMs = fromMs; atMs < toMs; ) {
    const local = new Date(atMs + rhythm.zoneMs);
    const nextMs = Math.min(toMs, local.setUTCMinutes(60, 0, 0) - rhythm.zoneMs);
    busyMs += (nextMs - atMs) * factorBy(rhythm, atMs + rhythm.zoneMs);
    atMs = nextMs;
  }
  return busyMs;
}

property(
  [drawnRhythm, instant, fc.integer({ min: 0, max: 40 * hourMs }), fc.integer({ min: 0, max: 6 * dayMs })],
  {
    numRuns: 300,
  },
)(
  "busy time has passed at the first whole ms at which its sum is reached, or at the end",
  (rhythm, fromMs, busyMs, lastsMs) => {
    const endMs = fromMs + lastsMs;
    const untilMs = busyUntil(rhythm, seed, fromMs, busyMs, endMs);
    expect(untilMs).toBeGreaterThanOrEqual(fromMs);
    expect(untilMs).toBeLessThanOrEqual(endMs);
    if (untilMs < endMs) expect(busyBetween(rhythm, fromMs, untilMs)).toBeGreaterThanOrEqual(busyMs);
    if (untilMs > fromMs) expect(busyBetween(rhythm, fromMs, untilMs - 1)).toBeLessThan(busyMs);
  },
);
