// Windows of a calendar, by the clocks of a time zone.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CalendarUnit,
  calendarSeconds,
  calendarWindow,
  isZone,
  oddDays,
} from "../../src/policy/calendar.ts";
import { property } from "../support/property.ts";

const iso = (unit: CalendarUnit, zone: string, at: string): string[] => {
  const { opensAt, endsAt } = calendarWindow(unit, zone, Date.parse(at));
  return [opensAt, endsAt].map((ms) => new Date(ms).toISOString());
};

describe("a window lasts", () => {
  test.each<[string, CalendarUnit, string, string, string, string]>([
    ["a day", "day", "UTC", "2026-03-05T12:00:00Z", "2026-03-05T00:00:00.000Z", "2026-03-06T00:00:00.000Z"],
    [
      "a day elsewhere",
      "day",
      "Asia/Kathmandu",
      "2026-03-05T18:20:00Z",
      "2026-03-05T18:15:00.000Z",
      "2026-03-06T18:15:00.000Z",
    ],
    [
      "23 hours in spring",
      "day",
      "Europe/Paris",
      "2026-03-29T12:00:00Z",
      "2026-03-28T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z",
    ],
    [
      "25 hours in autumn",
      "day",
      "America/New_York",
      "2026-11-01T12:00:00Z",
      "2026-11-01T04:00:00.000Z",
      "2026-11-02T05:00:00.000Z",
    ],
    [
      "from Monday to Monday",
      "week",
      "UTC",
      "2026-11-22T23:59:59.999Z",
      "2026-11-16T00:00:00.000Z",
      "2026-11-23T00:00:00.000Z",
    ],
    [
      "a month of 28 days",
      "month",
      "UTC",
      "2026-02-10T00:00:00Z",
      "2026-02-01T00:00:00.000Z",
      "2026-03-01T00:00:00.000Z",
    ],
    [
      "to the new year",
      "month",
      "Australia/Sydney",
      "2026-12-10T00:00:00Z",
      "2026-11-30T13:00:00.000Z",
      "2026-12-31T13:00:00.000Z",
    ],
    [
      "from 1 o'clock, where clocks skip midnight",
      "day",
      "Asia/Beirut",
      "2026-03-29T12:00:00Z",
      "2026-03-28T22:00:00.000Z",
      "2026-03-29T21:00:00.000Z",
    ],
  ])("%s", (_, unit, zone, at, opensAt, endsAt) => {
    expect(iso(unit, zone, at)).toEqual([opensAt, endsAt]);
  });
});

test("a year has two days of other than 24 hours, where clocks change", () => {
  const days = (zone: string) =>
    oddDays(zone, Date.parse("2026-01-01T00:00:00Z")).map((ms) => new Date(ms).toISOString());
  expect(days("Europe/Paris")).toEqual(["2026-03-28T23:00:00.000Z", "2026-10-24T22:00:00.000Z"]);
  expect(days("Australia/Sydney")).toEqual(["2026-04-04T13:00:00.000Z", "2026-10-03T14:00:00.000Z"]);
  expect(days("UTC")).toEqual([]);
});

property(
  [
    fc.constantFrom<CalendarUnit>("day", "week", "month"),
    fc.constantFrom(
      "UTC",
      "Europe/Paris",
      "America/New_York",
      "Asia/Beirut",
      "America/Havana",
      "Pacific/Apia",
      "Australia/Lord_Howe",
      "Asia/Tehran",
      "America/Asuncion",
    ),
    fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2040-01-01") }),
  ],
  { numRuns: 1_000 },
)("windows follow each other without a gap, and each instant is in one", (unit, zone, atMs) => {
  const { opensAt, endsAt } = calendarWindow(unit, zone, atMs);
  expect(opensAt).toBeLessThanOrEqual(atMs);
  expect(endsAt).toBeGreaterThan(atMs);
  expect(endsAt - opensAt).toBeLessThanOrEqual(1000 * (calendarSeconds[unit] + 90_000));
  for (const inside of [opensAt, endsAt - 1])
    expect(calendarWindow(unit, zone, inside)).toEqual({ opensAt, endsAt });
  expect(calendarWindow(unit, zone, endsAt).opensAt).toBe(endsAt);
});

test.each([
  ["Europe/Paris", true],
  ["UTC", true],
  ["Mars/Olympus", false],
  ["", false],
])("%j is the name of a zone: %s", (zone, isOne) => {
  expect(isZone(zone)).toBe(isOne);
});
