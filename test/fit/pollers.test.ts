// Several pollers of one period under one name.
import { describe, expect, test } from "vitest";
import { dayMs, hourMs } from "../../sim/fit/days.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { pollersOf } from "../../sim/fit/pollers.ts";
import type { RecordedCall } from "../../sim/fit/recorded-call.ts";
import { chanceOf } from "../worlds/chance.ts";
import { recordingOf } from "../worlds/recorded.ts";

const job = (startMs: number): RecordedJob =>
  new RecordedJob({ atMs: startMs, wantedMs: startMs, endMs: startMs + 100, status: 200 } as RecordedCall);
const jobsAt = (...startsMs: readonly (readonly number[])[]): RecordedJob[] =>
  startsMs
    .flat()
    .sort((a, b) => a - b)
    .map(job);

/** Starts of ten hours of polls on some days, from a time after 8 o'clock. */
function polls(seed: number, everyMs: number, days = 3, lateMs = 2 * everyMs): number[] {
  const chance = chanceOf(seed);
  return Array.from({ length: days }, (_, day) => {
    const fromMs = day * dayMs + 8 * hourMs + Math.floor(chance.between(0, lateMs));
    return Array.from(
      { length: (10 * hourMs) / everyMs },
      (_, tick) => fromMs + tick * everyMs + Math.floor(chance.between(0, 50)),
    );
  }).flat();
}
const screens = [1, 2, 3].map((seed) => polls(seed, 60_000));
const other = Array.from({ length: 90 }, (_, place) => 9 * hourMs + 317_000 * place);

describe("pollers under one name", () => {
  test("are as many as poll at a time, whatever other calls come between", () => {
    const found = pollersOf(jobsAt(...screens, other), 6);
    // Screens that poll at nearly one time may change places.
    expect(found?.pollers.map(({ length }) => Math.round(length / 100))).toEqual([18, 18, 18]);
    expect(found?.everyMs).toBeCloseTo(60_000, -1);
    expect(found?.rest.map(({ startMs }) => startMs)).toEqual(other);
  });

  test("may miss two ticks, as while a call is tried again", () => {
    const missing = screens.map((starts) => starts.filter((_, tick) => tick % 40 !== 20 && tick % 40 !== 21));
    expect(pollersOf(jobsAt(...missing), 6)?.pollers).toHaveLength(3);
  });

  test("are several, and make most of the calls", () => {
    expect(pollersOf(jobsAt(screens[0] as number[]), 6)).toBeNull();
    const chance = chanceOf(9);
    const many = Array.from({ length: 6_000 }, () => Math.floor(chance.between(0, 3 * dayMs)));
    expect(pollersOf(jobsAt(...screens, many), 6)).toBeNull();
    expect(pollersOf(jobsAt(many), 6)).toBeNull();
    expect(pollersOf([], 6)).toBeNull();
  });

  test("keep to their clock for fifty polls and half an hour", () => {
    const lengths = (everyMs: number, ...ticks: readonly number[]) =>
      ticks.map((count) => {
        const starts = [0, 0.31, 0.67].map((part) =>
          Array.from(
            { length: 30 * count },
            (_, tick) => (part + tick) * everyMs + 11.37 * everyMs * Math.floor(tick / count),
          ),
        );
        return pollersOf(jobsAt(...starts), 6)?.pollers.length ?? null;
      });
    expect(lengths(60_000, 49, 50)).toEqual([null, 3]);
    expect(lengths(20_000, 89, 92)).toEqual([null, 3]);
  });
});

test("a shop of three screens is fitted as three pollers; their files show the events that wake all shops", () => {
  const shop = (seed: number) => {
    const chance = chanceOf(seed);
    const starts = [1, 2, 3].flatMap((screen) => polls(10 * seed + screen, 60_000, 7, hourMs));
    const files = [0, 1, 2, 3, 4, 5, 6].flatMap((day) =>
      [9.4, 12.7, 15.1].flatMap((hour) =>
        [1, 2, 3].flatMap(() => {
          const fromMs = day * dayMs + (hour + day / 10) * hourMs + chance.between(0, 60_000);
          return Array.from({ length: 8 }, (_, file) => fromMs + 250 * file);
        }),
      ),
    );
    return [...starts, ...files].map((atMs) => ({
      ...{ atMs, durationMs: 100, user: `shop-${seed}`, status: 200 },
    }));
  };
  const rows = [1, 2, 3, 4, 5].flatMap(shop).sort((a, b) => a.atMs - b.atMs);
  const { populations } = fitTo(recordingOf(rows), { name: "shops" }).model;
  const parts = populations.flatMap(({ behaviour }) =>
    behaviour.kind === "together" ? behaviour.parts : [],
  );
  const countOf = (kind: string) => parts.filter(({ behaviour }) => behaviour.kind === kind).length;
  expect(populations.length).toBeGreaterThan(0);
  expect(countOf("timetable")).toBe(3 * populations.length);
  expect(countOf("woken")).toBe(populations.length);
});
