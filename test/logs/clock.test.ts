// The clock of a log: steps back are told, and whole seconds put the start of a request into the likeliest second.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClockSteps } from "../../src/logs/clock-steps.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { lines, read } from "./reading.ts";

/** Lines and lengths, s, of the steps back in rows of these times, s. */
function stepsOf(times: readonly number[]): [line: number, back: number][] {
  const clock = new ClockSteps();
  for (const [index, time] of times.entries()) clock.add(1000 * time, index + 1);
  return clock
    .notes("log")
    .map((note) => /back by ([\d,]+) s at log:(\d+),/.exec(note) ?? [])
    .map(([, back = "", line]) => [Number(line), Number(back.replace(",", ""))]);
}

const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, place) => from + place * step);

describe("a step back of the clock", () => {
  test.each<[string, number[], [number, number][]]>([
    ["of an hour, in a busy log", [...range(0, 7200, 10), ...range(3600, 9000, 10)], [[721, 3590]]],
    ["of an hour, in a quiet log", [...range(0, 7200, 600), ...range(3600, 9000, 600)], [[13, 3000]]],
    ["of seconds", [...range(0, 100, 0.5), ...range(93, 200, 0.5)], [[201, 7]]],
    ["with a late row on both sides", [0, 10, 20, 5, 30, 2, 9, 12, 3, 15, 18, 25, 31], [[6, 28]]],
    ["at the log's end", [100, 101, 102, 50, 51, 52], [[4, 52]]],
    [
      "of a day and of another, long ones",
      [...range(2e5, 3e5, 50), ...range(1e5, 2e5, 50), ...range(0, 1e5, 50)],
      [
        [2001, 199_950],
        [4001, 199_950],
      ],
    ],
  ])("is found %s", (_, times, steps) => {
    expect(stepsOf(times)).toEqual(steps);
  });

  test.each<[string, number[]]>([
    ["rows that are late one by one", [10, 20, 5, 30, 12, 40, 22, 50, 20, 60]],
    ["rows of long requests that end together", [...range(0, 60, 1), 1, 2, 3, 4, 5, 61, 62, 63]],
    ["rows without an order", [90, 30, 80, 35, 33, 70, 31, 88, 36, 30, 91]],
    ["less than two seconds", [10, 12, 10, 10.5, 11, 11.5, 12, 13]],
    [
      "writers that take turns, in blocks",
      range(0, 20, 1).flatMap((block) => [...range(10 * block, 10 * block + 15, 1)]),
    ],
    ["two rows at the end", [10, 20, 3, 4]],
  ])("is none of %s", (_, times) => {
    expect(stepsOf(times)).toEqual([]);
  });

  const behind = range(50, 51, 0.001);
  test.each<[string, number[], number[], number]>([
    ["of more than two seconds", [12.001, 10, 10.5, 11], [12, 10, 10.5, 11], 2],
    ["with a late row for each four in order", [100, 50, 47, 51, 52, 53], [100, 50, 47, 51, 52], 50],
    ["whose late rows are more than two seconds late", [100, 50, 48, 51], [100, 50, 47.999, 51], 50],
    ["from which time comes back by half", [100, 50, 60, 75, 100], [100, 50, 60, 74.999, 100], 50],
    ["with a thousand rows behind it", [100, ...behind, 100], [100, ...behind.slice(1), 100], 50],
  ])("is one %s", (_, times, others, back) => {
    expect([stepsOf(times), stepsOf(others)]).toEqual([[[2, back]], []]);
  });

  test("may follow one that a thousand rows stand behind", () => {
    expect(stepsOf([100, ...behind, 30, 31, 32])).toEqual([
      [2, 50],
      [1002, 21],
    ]);
  });

  test("is told with four others at most", () => {
    const steps = (count: number): number[] => [100, ...range(0, count, 1).flatMap(() => [50, 60, 75, 100])];
    expect(stepsOf(steps(5)).map(([line]) => line)).toEqual([2, 6, 10, 14, 18]);
    expect(stepsOf(steps(6))).toEqual([]);
  });

  test("is none in a log in the order of time, whatever its rows", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000)), (times) => {
        expect(stepsOf(times.toSorted((a, b) => a - b))).toEqual([]);
      }),
    );
  });

  const local = (hour: number, minute: number): string =>
    `1.2.3.4 - ann [25/Oct/2026:0${hour}:${String(minute).padStart(2, "0")}:00] "GET /x HTTP/1.1" 200 5`;
  const night = [...range(0, 60, 5).map((at) => local(2, at)), ...range(0, 60, 5).map((at) => local(2, at))];

  test("is told with its place and its length", async () => {
    const { notes, rows } = await read(lines(...night));
    expect(rows).toHaveLength(24);
    expect(notes).toEqual([
      "Times go back by 3,300 s at log:13, from 2026-10-25T02:55:00.000Z on. If a clock was set back, calls before and behind are read as of the same time.",
    ]);
  });

  test("is told where it makes rows unreadable", async () => {
    const start = Date.UTC(2026, 9, 25, 1);
    const times = [...range(0, 40_000, 1), ...range(20_000, 21_600, 1)];
    const log = lines("time,user,path", ...times.map((at) => `${start + 1000 * at},ann,/x`));
    const { hint } = await codedErrorOf(read(log));
    expect(hint).toMatch(/^Times go back by 19,999 s at log:40002, .* --sort puts/);
  });
});

describe("a request that ended within a whole second", () => {
  const row = (second: string, took: string): string =>
    `1.2.3.4 - ann [20/Nov/2026:08:00:${second} +0000] "GET /x HTTP/1.1" 200 5 "-" "-" ${took}`;

  test("began in the second in which it did most probably", async () => {
    const { rows } = await read(
      lines(row("10", "0.300"), row("20", "0.700"), row("30", "2.400"), row("40", "0.000")),
    );
    expect(rows.map(({ at }) => at.slice(17, -1))).toEqual(["10.000", "19.000", "28.000", "40.000"]);
    expect(rows.map(({ durationMs }) => durationMs)).toEqual([300, 700, 2400, 0]);
  });

  test("began to the millisecond where other rows show that the clock has some", async () => {
    const written = (at: string): string => `${at} 0.300 /x`;
    const log = lines(
      "#Fields: time request_time path",
      written("2026-11-20T08:00:10.000Z"),
      written("2026-11-20T08:00:11.001Z"),
    );
    expect((await read(log)).rows.map(({ at }) => at.slice(17, -1))).toEqual(["09.700", "10.701"]);
  });
});
