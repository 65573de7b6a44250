// The parts of a replay that count, each by itself: spans of time, uses of windows, refusals beside those of the log, demand.
import { describe, expect, test } from "vitest";
import { DemandWindows } from "../../sim/replay/demand.ts";
import { DemandBuckets } from "../../sim/replay/demand-buckets.ts";
import { DueHeap } from "../../sim/replay/due.ts";
import { Uses } from "../../sim/replay/headroom.ts";
import { ReplaySlots } from "../../sim/replay/slots.ts";
import { RecordedTally } from "../../sim/replay/tally.ts";
import { gridOf } from "../../src/engine/algorithms/fixed-window.ts";
import type { CompiledQuota } from "../../src/engine/compiled-policy.ts";
import { replaySlotsMost } from "../../src/summary/replay-result.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

describe("spans of time", () => {
  const spans = (...calls: [atMs: number, refusing: number][]) => {
    const slots = new ReplaySlots(2);
    for (const [atMs, refusing] of calls) slots.add(atMs, refusing);
    return { widthMs: slots.widthMs, slots: slots.finish() };
  };

  test("count admitted calls, and those that each quota refused", () => {
    expect(spans([12_999, -1], [13_000, 0], [13_500, 1], [13_999, 1], [15_000, -1], [13_001, -1])).toEqual({
      widthMs: second,
      slots: [
        { atMs: 12_000, calls: 1, refusedBy: [0, 0] },
        { atMs: 13_000, calls: 4, refusedBy: [1, 2] },
        { atMs: 14_000, calls: 0, refusedBy: [0, 0] },
        { atMs: 15_000, calls: 1, refusedBy: [0, 0] },
      ],
    });
  });

  const most = replaySlotsMost;
  test.each([
    [most * second - 1, second],
    [most * second, 5 * second],
    [most * 5 * second - 1, 5 * second],
    [most * 5 * second, 10 * second],
    [most * 10 * second, 30 * second],
    [most * 30 * second, minute],
    [most * minute, 5 * minute],
    [most * 5 * minute, 10 * minute],
    [most * 10 * minute, 30 * minute],
    [most * 30 * minute, hour],
    [most * hour, 2 * hour],
    [most * 2 * hour, 6 * hour],
    [most * 6 * hour, 12 * hour],
    [most * 12 * hour, 24 * hour],
    [most * 24 * hour, 48 * hour],
    [most * 48 * hour, 96 * hour],
  ])("over %s ms are %s ms wide, and no call is lost", (atMs, widthMs) => {
    const from = Date.UTC(2026, 0, 5);
    const found = spans([from, -1], [from + 700, 0], [from + 1_500, 1], [from + atMs, 1]);
    const first = Math.floor(from / widthMs) * widthMs;
    expect(found.widthMs).toBe(widthMs);
    expect(found.slots[0]?.atMs).toBe(first);
    expect(found.slots).toHaveLength(Math.floor((from + atMs) / widthMs) - first / widthMs + 1);
    expect(found.slots.length).toBeLessThanOrEqual(most);
    const calls = found.slots.reduce((sum, slot) => sum + slot.calls, 0);
    expect([calls, found.slots.at(-1)?.refusedBy]).toEqual([4, [0, 1]]);
    expect(found.slots[0]?.refusedBy[0]).toBe(1);
  });
});

describe("uses of windows", () => {
  const used = (...windows: [peak: number, needed: number, limit: number][]) => {
    const uses = new Uses();
    for (const one of windows) uses.add(...one);
    return uses;
  };

  test("are shares of limits; what was needed is the highest, 1 at least", () => {
    expect(used([5, 5, 10], [10, 10, 10], [11, 12, 10], [1, 1, 3]).describe()).toEqual({
      ...{
        windows: 4,
        windowsOver: 1,
        windowsFull: 1,
        useMax: 1.1,
        useP99: 1.1,
        useP50: 0.5,
        smallestLimit: 12,
      },
    });
    expect(used([0, 0, 10]).describe()).toMatchObject({ useMax: 0, useP99: 0, useP50: 0, smallestLimit: 1 });
    expect(used([1, 1, 3]).describe()).toMatchObject({ useP99: 1 / 3, windowsFull: 0 });
    expect(used().describe()).toMatchObject({ windows: 0, useP99: 0 });
  });

  test("of a hundred windows 99 stay within the next to last", () => {
    const hundred = Array.from({ length: 100 }, (_, at): [number, number, number] => [at + 1, at + 1, 200]);
    expect(used(...hundred).describe()).toMatchObject({ useP99: 0.495, useP50: 0.25, useMax: 0.5 });
  });

  test.each([
    [98, 1],
    [102, 1],
    [97, 0],
    [103, 0],
  ])("%s of 100 is full: %s", (peak, full) => {
    expect(used([peak, peak, 100]).full).toBe(full);
    expect(used([peak / 10, peak / 10, 10]).full).toBe(full);
    expect(used([9, 9, 9]).full).toBe(0);
  });

  const times = (count: number, peak: number): [number, number, number][] =>
    Array.from({ length: count }, () => [peak, peak, 100]);
  test.each([
    ["five full ones", times(5, 100), true],
    ["four", times(4, 100), false],
    ["two with a little less, of five", [...times(5, 100), ...times(2, 95)], true],
    ["three", [...times(5, 100), ...times(3, 95)], false],
    ["three of six", [...times(6, 100), ...times(3, 95)], false],
    ["three of six with much less", [...times(6, 100), ...times(3, 93)], true],
    ["two with more, of five", [...times(5, 100), ...times(2, 150)], true],
    ["three of six with more", [...times(6, 100), ...times(3, 150)], false],
  ])("pile up at the limit: %s: %s", (_, windows, isCutOff) => {
    expect(used(...windows).isCutOff).toBe(isCutOff);
    const merged = new Uses();
    for (const one of windows) merged.merge(used(one));
    expect(merged.isCutOff).toBe(isCutOff);
    expect(merged.describe()).toEqual(used(...windows).describe());
  });
});

test.each([
  [
    [
      [429, true],
      [200, false],
      [429, false],
      [200, true],
      [200, true],
    ],
    false,
    [5, 2, 1, 1, 2, false],
  ],
  [[[200, true]], true, [1, 0, 0, 0, 1, true]],
  [[[429, true]], true, [1, 1, 1, 0, 0, false]],
] as const)(
  "what a log refused, beside its replay: %j",
  (rows, isCutOff, [calls, refused, both, onlyInLog, onlyInReplay, seemsFiltered]) => {
    const tally = new RecordedTally();
    expect(tally.finish(true)).toBeNull();
    for (const [status, isRefusedHere] of rows) tally.add(status, isRefusedHere);
    expect(tally.finish(isCutOff)).toEqual({ calls, refused, both, onlyInLog, onlyInReplay, seemsFiltered });
  },
);

test("what is due comes by its time, and nothing is due never", () => {
  const due = new DueHeap();
  expect(due.firstMs).toBe(Number.POSITIVE_INFINITY);
  const times = Array.from({ length: 200 }, (_, at) => (at * 73) % 199);
  for (const [item, timeMs] of times.entries()) due.push(timeMs, item);
  const popped = times.map(() => [due.firstMs, times[due.pop()]]);
  expect(popped).toEqual(times.toSorted((a, b) => a - b).map((timeMs) => [timeMs, timeMs]));
  expect(due.firstMs).toBe(Number.POSITIVE_INFINITY);
});

describe("the demand of one quota", () => {
  const quota = (more: Partial<CompiledQuota>) =>
    ({ isHeld: false, isLate: false, isWhole: true, ...more }) as CompiledQuota;
  type Told = [row: number, endsAtMs: number, peak: number, needed: number, limit: number];
  const windows = (more: Partial<CompiledQuota>, anchor: "epoch" | "first-request" = "epoch") => {
    const told: Told[] = [];
    const grid = gridOf({ kind: "fixed-window", limit: 5, windowSeconds: 1, anchor, opens: "exact" });
    const demand = new DemandWindows(
      quota(more),
      grid,
      (row) => ({ lengthMs: second, limit: row + 5 }),
      (...one) => told.push(one),
    );
    return { demand, told };
  };

  test("each window is told once it is over, with what it needed", () => {
    const { demand, told } = windows({});
    expect(demand.useMax(0)).toBeNull();
    demand.decide(0, 3, 100);
    demand.decide(0, 2, 999);
    expect([demand.windowOf(0), demand.useMax(0), told]).toEqual([second, null, []]);
    demand.decide(0, 1, 1_000);
    demand.decide(70, 4, 1_500);
    demand.finish();
    expect(told).toEqual([
      [0, second, 5, 5, 5],
      [0, 2 * second, 1, 1, 5],
      [70, 2 * second, 4, 4, 75],
    ]);
    expect([demand.useMax(0), demand.useMax(70), demand.useMax(69), demand.useMax(71)]).toEqual([
      1,
      4 / 75,
      null,
      null,
    ]);
  });

  test("a window from the first call on ends a length after it", () => {
    const { demand, told } = windows({}, "first-request");
    demand.decide(0, 1, 700);
    demand.decide(0, 1, 1_699);
    demand.decide(0, 1, 1_700);
    demand.finish();
    expect(told).toEqual([
      [0, 1_700, 2, 2, 5],
      [0, 2_700, 1, 1, 5],
    ]);
  });

  test("what is held comes back within its window; any room is one; what is late is charged when it is over", () => {
    const held = windows({ isHeld: true });
    held.demand.decide(0, 4, 100);
    held.demand.settle(0, 4, 1, second, 200);
    held.demand.decide(0, 2, 300);
    // Its window is over: nothing comes back.
    held.demand.settle(0, 2, 0, second, 1_000);
    held.demand.decide(0, 1, 1_100);
    held.demand.finish();
    expect(held.told).toEqual([
      [0, second, 4, 4, 5],
      [0, 2 * second, 1, 1, 5],
    ]);
    const late = windows({ isLate: true, isWhole: false });
    late.demand.decide(0, 4, 100);
    late.demand.settle(0, 4, 3, late.demand.windowOf(0), 200);
    late.demand.decide(0, 4, 300);
    late.demand.settle(0, 4, 2, second, 1_000);
    late.demand.finish();
    expect(late.told).toEqual([[0, second, 3, 4, 5]]);
  });

  test("of a bucket comes back by and by; its window ends when it is full", () => {
    const told: Told[] = [];
    const made = (more: Partial<CompiledQuota>) =>
      new DemandBuckets(
        quota(more),
        () => ({ limit: 5, first: 1, second: 10 }),
        (...one) => told.push(one),
      );
    const plain = made({});
    plain.decide(0, 2, 100);
    plain.decide(0, 2, 105);
    expect([plain.useMax(0), plain.windowOf()]).toEqual([null, 0]);
    plain.decide(0, 1, 139);
    plain.finish();
    // 35 parts lack at 105, and one at 139: eleven with the next call.
    expect(told).toEqual([[0, 150, 4, 4, 5]]);
    expect([plain.useMax(0), plain.useMax(1)]).toEqual([0.8, null]);
    told.length = 0;
    const held = made({ isHeld: true });
    held.decide(0, 4, 0);
    held.settle(0, 4, 1, 0, 10);
    held.decide(0, 1, 10);
    held.decide(0, 1, 30);
    held.finish();
    expect(told).toEqual([
      [0, 20, 4, 4, 5],
      [0, 40, 1, 1, 5],
    ]);
    told.length = 0;
    const late = made({ isLate: true, isWhole: false });
    late.decide(0, 9, 0);
    late.settle(0, 9, 3, 0, 20);
    late.decide(0, 9, 21);
    late.finish();
    // At first nothing lacks: the bucket is full when it is asked.
    expect(told).toEqual([
      [0, 0, 0, 1, 5],
      [0, 50, 3, 4, 5],
    ]);
  });
});
