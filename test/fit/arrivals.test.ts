// When clients come, at the bounds: spans of beginnings, rates, hours of the day, and lines of cron.
import { describe, expect, test } from "vitest";
import { closedArrivals, openArrivals, timetableOf } from "../../sim/fit/arrivals.ts";
import type { Recording } from "../../sim/fit/recording.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const over = (startedAtMs: number, endedAtMs: number, resolutionMs = 1): Recording =>
  ({ startedAtMs, endedAtMs, resolutionMs }) as unknown as Recording;

describe("clients that are there from the start", () => {
  const recording = over(1000, 1000 + 2 * dayMs);
  const within = (delaysMs: readonly number[], everyMs: number, slackMs = 0, by = recording): number =>
    closedArrivals(
      delaysMs.map((ms) => ms + by.startedAtMs),
      3,
      everyMs,
      by,
      slackMs,
    ).startWithinMs;

  test("began within a span as round as may be", () => {
    expect(closedArrivals([1000, 1005], 3, 100, recording, 5)).toEqual({
      ...{ kind: "closed", clients: 3, startWithinMs: 0 },
    });
    // Up to twice the last delay, and up to their period.
    expect(within([0, 6], 0, 5)).toBe(6);
    expect(within([0, 640], 900)).toBe(700);
    expect(within([0, 640], 5_000)).toBe(1_000);
    expect(within([0, 640], 600)).toBe(640);
    // Five of them tell the span: of six values with the start, 4.6 / 7 of it are free.
    expect(within([100, 200, 300, 400, 700], 0)).toBe(1_000);
    expect(within([100, 200, 300, 700], 0)).toBe(700);
  });

  test("that joined a day later are there from the start of days to come", () => {
    expect(within([0, dayMs], 3_000)).toBe(3_000);
    expect(within([0, dayMs - 1], 3_000)).toBe(dayMs - 1);
    expect(within([0, dayMs + 7], 3 * dayMs)).toBe(25 * hourMs);
  });

  test("began within the recording", () => {
    expect(within([0, 640], 5_000, 0, over(0, 800))).toBe(800);
    expect(within([0, 640], 5_000, 0, over(0, 0))).toBe(1);
  });
});

describe("clients that come", () => {
  const every = (gapMs: number, count: number, fromMs = 0): number[] =>
    Array.from({ length: count }, (_, index) => fromMs + index * gapMs);

  test("at a rate by the hour", () => {
    expect(openArrivals(every(1000, 11), over(0, 20_000))).toEqual({
      ...{ kind: "steady", perHour: 11 / (20 / 3600), even: true },
    });
    // Within an instant is within a second.
    expect(openArrivals([0, 0], over(0, 999))).toEqual({ kind: "steady", perHour: 7200, even: false });
  });

  test.each<[string, number[], number, boolean]>([
    ["ten gaps", every(1000, 11), 1, true],
    ["nine gaps", every(1000, 10), 1, false],
    ["gaps of ten times the clock's tick", every(1000, 11), 100, false],
    ["gaps of a little more than that", every(1000, 11), 99, true],
    // Gaps of 1 ± 0.28 s deviate by 0.28 * sqrt(10 / 9) = 0.295 s, and those of 1 ± 0.29 by 0.306.
    [
      "gaps that deviate by less than 0.3 of their mean",
      [0, 720, 2000, 2720, 4000, 4720, 6000, 6720, 8000, 8720, 10_000],
      1,
      true,
    ],
    ["gaps that deviate by more", [0, 710, 2000, 2710, 4000, 4710, 6000, 6710, 8000, 8710, 10_000], 1, false],
  ])("evenly or not: %s", (_, times, resolutionMs, even) => {
    expect(openArrivals(times, over(0, 20_000, resolutionMs))).toMatchObject({ kind: "steady", even });
    // Callers' starts come in no order.
    expect(openArrivals(times.toReversed(), over(0, 20_000, resolutionMs))).toMatchObject({ even });
  });

  // So many in each hour, at its first minutes.
  const byHours = (counts: readonly number[], fromHour = 0): number[] =>
    counts.flatMap((count, hour) => every(1000, count, (fromHour + hour) * hourMs));

  // Pearson's sum of six hours has five degrees: its bound is 5 + 4 * sqrt(10) = 17.65.
  test.each<[string, number[], boolean]>([
    ["five hours", [20, 0, 0, 0, 0], false],
    ["a sum of 88 / 5", [13, 1, 3, 3, 5, 5], false],
    ["a sum of 90 / 5", [13, 1, 2, 4, 5, 5], true],
  ])("by the hour of the day, beyond chance: %s", (_, counts, isByHour) => {
    const { kind } = openArrivals(byHours(counts), over(0, counts.length * hourMs));
    expect(kind).toBe(isByHour ? "hours" : "steady");
  });

  test("have a rate for each hour of the day: the mean where none was watched, by the time that was", () => {
    // From 22:30 to 4:00 of the second day: of hour 22 half an hour was watched.
    const counts = [10, 40, 0, 0, 0, 0];
    const times = byHours(counts, 22).map((ms) => ms + hourMs / 2);
    const arrivals = openArrivals(times, over(22.5 * hourMs, 28.5 * hourMs));
    if (arrivals.kind !== "hours") throw new Error(arrivals.kind);
    const rate = 50 / 6;
    expect(arrivals.perHour).toEqual([...[0, 0, 0, 0, 0], ...new Array<number>(17).fill(rate), ...[20, 40]]);
    // Two days: the hours of both, together. What comes at the very end is not of it.
    const twice = [...byHours([30, 0, 10]), ...byHours([30, 0, 0], 24), 48 * hourMs];
    const two = openArrivals(twice, over(0, 48 * hourMs));
    if (two.kind !== "hours") throw new Error(two.kind);
    expect(two.perHour).toEqual([30, 0, 5, ...new Array<number>(21).fill(0)]);
  });
});

describe("a line of cron", () => {
  const at = (period: number, offsets: readonly number[], rounds = 4): number[] =>
    offsets.flatMap((offset) =>
      Array.from({ length: rounds }, (_, round) => 7 * dayMs + round * period + offset),
    );

  test.each<[number, number, string | null]>([
    [1, 0, "* * * * *"],
    [2, 0, "*/2 * * * *"],
    [5, 0, "*/5 * * * *"],
    [5, 3, "3/5 * * * *"],
    [7, 0, null],
    [30, 0, "*/30 * * * *"],
    [45, 0, null],
    [60, 0, "0 * * * *"],
    [60, 59, "59 * * * *"],
    [120, 0, null],
    [1440, 0, "0 0 * * *"],
    [1440, 61, "1 1 * * *"],
    [1440, 1439, "59 23 * * *"],
    [2880, 0, null],
    [0.5, 0, null],
  ])("each %d minutes, %d minutes on: %s", (period, minute, schedule) => {
    const starts = at(period * minuteMs, [minute * minuteMs]);
    const timetable = timetableOf([starts.slice(0, 2), starts.slice(2)], period * minuteMs);
    expect(timetable).toEqual(schedule === null ? null : { schedule, spreadMs: 0 });
  });

  test.each<[string, number[], boolean, number | null]>([
    ["at once", [0, 50], false, 0],
    // Of nine values from 0 to 51 ms, 4.6 / 10 of that are free.
    ["within more than 50 ms", [0, 51], false, 60],
    ["15 s late", [0, 15_000], false, 20_000],
    ["later", [0, 15_001], false, null],
    ["100 ms early", [-100, -60], false, 0],
    ["earlier", [-101, 0], false, null],
    ["half a minute late", [40_000, 40_000], false, null],
    ["half a minute late, at any second", [40_000, 40_000], true, 0],
  ])("%s: clients begin %j ms after the minute", (_, offsets, anySecond, spreadMs) => {
    const own = timetableOf([at(5 * minuteMs, offsets)], 5 * minuteMs, anySecond);
    expect(own).toEqual(spreadMs === null ? null : { schedule: "*/5 * * * *", spreadMs });
  });
});
