// Spreads of events that come by the clock: callers begin within a minute of one instant, or over three minutes.
import { expect, test } from "vitest";
import { clockedSpanMs, spreadOf } from "../../sim/fit/clocked-wakes.ts";
import type { Crowd } from "../../sim/fit/crowds.ts";
import { dayMs, hourMs, minuteMs } from "../../sim/fit/days.ts";

/** An event each day, half a minute late. */
const clock = {
  at: "0 9 * * *",
  lateMs: 30_000,
  eventsMs: [0, 1, 2].map((day) => day * dayMs + 9 * hourMs + 30_000),
};

/** Tells the spread of an event at which so many begin in its span, and so many in all of the time from the minute on. */
function spread([most, usualMost]: readonly [number, number], [all, usualAll]: readonly [number, number]) {
  const asked: unknown[] = [];
  const crowd = {
    countIn: (ms: number, spanMs: number) => {
      asked.push([ms % dayMs, spanMs]);
      return spanMs === clockedSpanMs ? most : all;
    },
    usualIn: (_: number, spanMs: number) => (spanMs === clockedSpanMs ? usualMost : usualAll),
  };
  const found = spreadOf(clock, crowd as unknown as Crowd);
  const [once, whole] = [9 * hourMs + 30_000, 9 * hourMs];
  expect(asked.slice(0, 2)).toEqual([
    [once, minuteMs],
    [whole, 3 * minuteMs],
  ]);
  return found;
}
const atOnce = { clock, spanMs: minuteMs };
const eventsMs = [0, 1, 2].map((day) => day * dayMs + 9 * hourMs);
const overAll = { clock: { ...clock, lateMs: 0, eventsMs }, spanMs: 3 * minuteMs };

test.each([
  ["begin in one span", [30, 0], [30, 0], atOnce],
  ["begin hardly more in all", [30, 0], [39, 0], atOnce],
  ["begin a third more in all", [30, 0], [40, 0], overAll],
  ["begin more in all", [30, 0], [41, 0], overAll],
  ["usually begin in all as well", [31, 1], [48, 9], atOnce],
  ["begin a third more than usual", [31, 1], [49, 9], overAll],
  ["usually begin in the span", [34, 4], [40, 0], overAll],
] as const)("callers who %s", (_, most, all, expected) => {
  expect(spread(most, all)).toEqual(expected);
});
