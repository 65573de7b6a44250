// Windows of one quota as a probe's calls saw them, and the length and grid that follow from them.
import { describe, expect, test } from "vitest";
import {
  endIn,
  gridOf,
  overlap,
  type ProbedWindow,
  readingOf,
  skewOf,
  usedIn,
  windowsOf,
} from "../../src/probe/quota-windows.ts";
import type { QuotaCall, QuotaReading } from "../../src/trace/quota-record.ts";

const exact = { sooner: 0, later: 0 };
const up = { sooner: 1, later: 0 };

/** A call on the way for 10 ms that shows so many used, and an end in so many ms. */
function call(sent: number, used: number, afterMs: number, more: object = {}): QuotaCall {
  const reset = { afterMs, atMs: null, gridMs: 1_000 };
  const readings = [{ quota: "q", limit: 10, remaining: 10 - used, used: null, reset }];
  return { sent, received: sent + 10, operation: "read", readings, ...more } as unknown as QuotaCall;
}

test.each([
  [{ used: 3, limit: 10, remaining: 9 }, 3],
  [{ used: null, limit: 10, remaining: 9 }, 1],
  [{ used: null, limit: null, remaining: 9 }, null],
  [{ used: null, limit: 10, remaining: null }, null],
])("%j uses %s", (reading, used) => {
  expect(usedIn(reading as QuotaReading)).toBe(used);
  expect(usedIn(undefined)).toBeNull();
});

test("an end is bounded by the way of the call and by rounding", () => {
  const one = call(1_000, 1, 5_000);
  const reading = readingOf(one, "q");
  expect(readingOf(one, "other")).toBeUndefined();
  expect(endIn(one, reading, up)).toEqual({ least: 5_000, most: 6_010 });
  expect(endIn(one, reading, { sooner: 0.5, later: 0.5 })).toEqual({ least: 5_500, most: 6_510 });
  const instant = { ...reading, reset: { afterMs: null, atMs: 9_000, gridMs: 1_000 } } as QuotaReading;
  expect(endIn(one, instant, { sooner: 0, later: 1 })).toEqual({ least: 9_000, most: 9_999 });
  expect(endIn(one, instant, { sooner: 0.5, later: 0.5 })).toEqual({ least: 8_500, most: 9_500 });
  expect(endIn(one, { ...instant, reset: null }, up)).toBeNull();
});

test.each([
  [[0, 5], [5, 9], { least: 5, most: 5 }],
  [[0, 5], [6, 9], null],
  [[0, 9], [2, 4], { least: 2, most: 4 }],
] as const)("%j and %j overlap in %j", ([a, b], [c, d], both) => {
  expect(overlap({ least: a, most: b }, { least: c, most: d })).toEqual(both);
});

describe("windows", () => {
  const found = (...calls: QuotaCall[]) =>
    windowsOf(calls, "q", exact, (operation) => (operation === "read" ? 1 : null)).map(
      ({ calls: { length }, end, opened }) => [length, end.least, opened?.least ?? null],
    );

  test("are calls whose ends may be one; the first opened it where it shows its own charge alone", () => {
    expect(found(call(0, 1, 60_000), call(5_000, 2, 55_000))).toEqual([[2, 60_000, 0]]);
    expect(found(call(0, 2, 60_000))).toEqual([[1, 60_000, null]]);
    expect(found(call(0, 1, 60_000, { operation: "status" }))).toEqual([[1, 60_000, null]]);
  });

  test("are another where the end moves, or less is used", () => {
    expect(found(call(0, 1, 60_000), call(70_000, 1, 60_000))).toEqual([
      [1, 60_000, 0],
      [1, 130_000, 70_000],
    ]);
    expect(found(call(0, 2, 60_000), call(5_000, 1, 55_000))).toEqual([
      [1, 60_000, null],
      [1, 60_000, 5_000],
    ]);
    expect(found(call(0, 2, 60_000), call(5_000, 2, 55_000))).toHaveLength(1);
  });

  test("are none where nothing is used, or no end is told", () => {
    expect(found(call(0, 0, 60_000), call(0, 1, 60_000, { readings: [] }))).toEqual([]);
  });
});

test("clocks differ by what all dates leave open, or by the last one that contradicts them", () => {
  const dated = (sent: number, date: number) => call(sent, 1, 0, { date });
  expect(skewOf([call(0, 1, 0)])).toBeNull();
  expect(skewOf([dated(5_400, 5_000)])).toEqual({ least: -410, most: 600 });
  expect(skewOf([dated(5_400, 5_000), dated(6_900, 6_000)])).toEqual({ least: -410, most: 100 });
  expect(skewOf([dated(5_400, 5_000), dated(6_900, 16_000)])).toEqual({ least: 9_090, most: 10_100 });
});

describe("the length and the grid", () => {
  const skew = { least: -5, most: 5 };
  /** A window that ends about then, opened by a call about then, and first seen so long before its end. */
  const window = (endMs: number, openedMs: number | null = null, leftMs = 40_000): ProbedWindow => ({
    calls: [call(endMs - leftMs, 1, leftMs)],
    end: { least: endMs - 20, most: endMs + 20 },
    opened: openedMs === null ? null : { least: openedMs, most: openedMs + 10 },
  });

  test("are of the epoch where windows in a row end whole lengths apart", () => {
    const windows = [window(60_000), window(120_000), window(180_000)];
    expect(gridOf(windows, null, 0, skew)).toMatchObject({
      ...{ windowSeconds: 60, anchor: "epoch", confidence: "certain" },
      evidence: "3 windows in a row ended 60.0 to 60.0 s apart",
    });
    expect(gridOf(windows, 60_000, 0, skew)).toMatchObject({ windowSeconds: 60, confidence: "certain" });
    expect(gridOf(windows.slice(1), 60_000, 0, skew)).toMatchObject({ confidence: "likely" });
    expect(gridOf(windows, 60_000, 0, null)).toMatchObject({
      confidence: "likely",
      evidence: "3 windows in a row ended 60.0 to 60.0 s apart; their clock is taken on trust: no Date",
    });
    expect(gridOf(windows, 50_000, 0, skew)).toMatchObject({ windowSeconds: 60 });
  });

  test("are moved where they end beside it", () => {
    const windows = [window(67_000), window(127_000), window(187_000)];
    expect(gridOf(windows, 60_000, 0, skew)).toMatchObject({ anchor: { offsetMs: 7_000 } });
  });

  test("are of a sure anchor where one whole second alone fits all ends", () => {
    const wide = (endMs: number, by: number): ProbedWindow => ({
      ...window(endMs),
      end: { least: endMs - 900 + by, most: endMs + 900 + by },
    });
    const three = (...by: readonly [number, number, number]) =>
      gridOf(
        by.map((each, at) => wide(67_000 + 60_000 * at, each)),
        60_000,
        0,
        skew,
      );
    expect(three(0, 0, 0)).toMatchObject({ confidence: "certain", anchorConfidence: "certain" });
    expect(three(200, 200, 200)).toMatchObject({ confidence: "certain", anchorConfidence: "likely" });
    // Together they leave one second, which none of them does alone.
    expect(three(500, 0, -500)).toMatchObject({
      ...{ anchor: { offsetMs: 7_000 }, anchorConfidence: "certain" },
    });
    const between = [67_400, 127_400, 187_400].map((endMs) => window(endMs));
    expect(gridOf(between, 60_000, 0, skew)).toMatchObject({
      ...{ anchor: { offsetMs: 7_400 }, confidence: "certain", anchorConfidence: "likely" },
    });
  });

  test("are those of the policy where windows between may be unseen, and of nobody where these do not fit", () => {
    const late = [window(60_000, null, 9_000), window(120_000, null, 30_000), window(180_000, null, 9_000)];
    expect(gridOf(late, 30_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 30, anchor: "epoch", confidence: "likely" },
      evidence: "3 windows ended whole lengths of 30.0 to 30.0 s apart",
    });
    expect(gridOf(late, 60_000, 0, skew)).toMatchObject({ windowSeconds: 60, confidence: "likely" });
    expect(gridOf(late, 20_000, 0, skew)).toBeNull();
    expect(gridOf(late, 25_000, 0, skew)).toBeNull();
    expect(gridOf(late, null, 0, skew)).toBeNull();
    // Windows of two seconds, of which one was not seen: 1 to 3 s and 3 to 5 s have 3 s in common.
    const short = [2_000, 4_000, 8_000].map((endMs) => ({
      ...window(endMs, null, 1_900),
      end: { least: endMs - 1_000, most: endMs },
    }));
    expect(gridOf(short, 2_000, 0, skew)?.confidence).not.toBe("certain");
  });

  test("are of first calls where windows last as long from them", () => {
    const windows = [window(60_000, 0), window(190_000, 130_000)];
    expect(gridOf(windows, 60_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 60, anchor: "first-request", confidence: "likely" },
      evidence: "2 windows lasted 60.0 to 60.0 s from their first call",
    });
  });

  test("are not surely of first calls where unseen windows of a grid explain the gaps, too", () => {
    // Windows of a second by ends of whole seconds; calls come late into each.
    const told = (endMs: number, openedMs: number): ProbedWindow => ({
      ...{ calls: [call(openedMs, 1, 400)], end: { least: endMs - 999, most: endMs } },
      opened: { least: openedMs, most: openedMs + 10 },
    });
    const skipped = [told(2_000, 600), told(3_000, 1_600), told(5_000, 3_600)];
    expect(gridOf(skipped, 1_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 1, anchor: "first-request", confidence: "likely" },
    });
    const apart = [told(2_000, 1_000), told(3_500, 2_500), told(5_250, 4_250)].map((each) => ({
      ...each,
      end: { least: each.end.most - 9, most: each.end.most },
    }));
    expect(gridOf(apart, 1_000, 0, skew)).toMatchObject({ anchor: "first-request", confidence: "certain" });
  });

  test("are of first calls where windows in a row end no whole seconds apart, if one was seen from its first", () => {
    const joined = [window(60_000), window(120_100, 60_100)];
    expect(gridOf(joined, 60_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 60, anchor: "first-request", confidence: "likely" },
      evidence: "1 window lasted 60.0 to 60.0 s from its first call",
    });
    expect(gridOf(joined, 50_000, 0, skew)).toBeNull();
    expect(gridOf([window(60_000), window(120_100)], 60_000, 0, skew)).toBeNull();
  });

  test("are of whole seconds where the policy's length, or one length, fits only so", () => {
    const lasting = (...lengths: number[]) =>
      lengths.map((length, turn) => window(200_000 * turn * turn + length, 200_000 * turn * turn));
    const text = (span: string) => `3 windows lasted ${span} s from the second of their first call`;
    expect(gridOf(lasting(8_300, 8_310, 8_320), 9_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 9, anchor: "first-request", confidence: "likely" },
      evidence: text("8.3 to 9.3"),
    });
    expect(gridOf(lasting(8_200, 8_500, 8_900), 12_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 9, confidence: "likely", evidence: text("8.9 to 9.2") },
    });
  });

  test("are uncertain where another second fits windows that open at whole ones", () => {
    const window = (endMs: number, openedMs: number): ProbedWindow => ({
      ...{ calls: [], end: { least: endMs, most: endMs + 400 } },
      opened: { least: openedMs, most: openedMs + 10 },
    });
    const windows = [window(7_900, 0), window(107_900, 100_000), window(407_900, 400_000)];
    expect(gridOf(windows, 20_000, 0, skew)).toMatchObject({ windowSeconds: 8, confidence: "likely" });
    expect(gridOf(windows, 8_000, 0, skew)).toMatchObject({ windowSeconds: 8, confidence: "certain" });
  });

  test("of one window are what the policy says, by the one that fits", () => {
    expect(gridOf([window(60_000)], null, 0, skew)).toBeNull();
    expect(gridOf([window(120_000)], 60_000, 0, skew)).toMatchObject({
      ...{ windowSeconds: 60, anchor: "epoch", confidence: "likely" },
      evidence: "one window: it ends on the grid of such windows",
    });
    expect(gridOf([window(137_000, 77_000)], 60_000, 0, skew)).toMatchObject({
      anchor: "first-request",
      evidence: "one window, seen from its first call: it ends so long after that",
    });
    expect(gridOf([window(120_000, 60_000)], 60_000, 0, skew)).toBeNull();
    expect(gridOf([window(137_000)], 60_000, 0, skew)).toBeNull();
    // An answer told more to be left than such a window has.
    expect(gridOf([window(120_000)], 30_000, 0, skew)).toBeNull();
    expect(gridOf([], 60_000, 0, skew)).toBeNull();
  });
});
