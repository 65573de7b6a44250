// What a trace's clocks allow: which answer surely came before a call, when a reading was taken, and when a window ends.
import { describe, expect, test } from "vitest";
import { driftShare, TraceTime } from "../../src/verify/clock.ts";

const wall = (resolutionMs: number, errorMs: number) =>
  new TraceTime({ kind: "wall", resolutionMs, errorMs });

describe("an answer surely came before a call was sent", () => {
  test.each<[number, number, number, number]>([
    [0, 0, 11, 11],
    [1, 0, 11, 11],
    [5, 0, 15, 15],
    [1, 4, 19, 19],
    [0, 4, 19, 18],
  ])("by a clock of %d ms that errs by %d ms, at 10 ms: from %d ms on", (resolution, error, from, least) => {
    const time = wall(resolution, error);
    expect([time.before(10, from), time.before(10, least)]).toEqual([true, resolution > 0 || error === 0]);
    expect([time.before(10, from - 1), time.before(10, 10)]).toEqual([false, false]);
  });

  test("without a grain, any later instant is later", () => {
    expect([wall(0, 0).before(10, 10.1), wall(0, 0).before(10, 10)]).toEqual([true, false]);
  });
});

test("a reading was taken from sending to receipt, by clocks that err", () => {
  expect(wall(1, 0).within(100, 130)).toEqual({ from: 100, to: 131 });
  expect(wall(5, 3).within(100, 130)).toEqual({ from: 94, to: 141 });
  expect([wall(1, 0).slackMs, wall(5, 3).slackMs]).toEqual([0, 6]);
});

describe("a window ends", () => {
  const end = (reset: number, rounding: "ceil" | "floor" | "round" | null, gridSeconds?: number) =>
    wall(1, 3).windowEnd(100_000, 100_030, reset, rounding, undefined, gridSeconds);
  /** Seconds of the target's clock on the clients', least and most. The target reads whole ms. */
  const span = (least: number, most: number) => ({
    from: 100_000 - 6 + (1000 * least - 1) * (1 - driftShare),
    to: 100_030 + 1 + 6 + 1000 * most * (1 + driftShare),
  });

  test("as many seconds later as its reset, by its rounding", () => {
    expect(end(40, "ceil")).toEqual(span(39, 40));
    expect(end(40, "floor")).toEqual(span(40, 41));
    expect(end(40, "round")).toEqual(span(39.5, 40.5));
    expect(end(40, null)).toEqual(span(39, 41));
  });

  test("in units that resets are rounded to, and never before its reading", () => {
    expect(end(120, "ceil", 60)).toEqual(span(60, 120));
    expect(end(40, null, 60)).toEqual(span(0, 100));
    expect(end(0, "ceil")).toEqual(span(0, 0));
  });

  test("in the object that is given", () => {
    const kept = { from: 0, to: 0 };
    expect(wall(1, 3).windowEnd(100_000, 100_030, 40, "ceil", kept)).toBe(kept);
    expect(kept).toEqual(span(39, 40));
  });
});
