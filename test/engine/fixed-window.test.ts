// Ends of fixed windows, by their anchors, at the instants on both sides of an edge.
import { expect, test } from "vitest";
import { gridOf } from "../../src/engine/algorithms/fixed-window.ts";
import type { FixedWindow } from "../../src/policy/policy.ts";

const minuteMs = 60_000;
const grid = (anchor: FixedWindow["anchor"], opens: FixedWindow["opens"] = "exact") =>
  gridOf({ kind: "fixed-window", limit: 1, windowSeconds: 60, anchor, opens });

test.each<[FixedWindow["anchor"], readonly [now: number, endsAt: number][]]>([
  [
    "epoch",
    [
      [0, 60_000],
      [59_999, 60_000],
      [60_000, 120_000],
    ],
  ],
  [
    { offsetMs: 250 },
    [
      [0, 250],
      [249, 250],
      [250, 60_250],
      [60_249, 60_250],
      [60_250, 120_250],
    ],
  ],
  [
    { offsetMs: 59_000 },
    [
      [0, 59_000],
      [58_999, 59_000],
      [59_000, 119_000],
    ],
  ],
  [
    { calendar: "day", zone: "UTC" },
    [
      [0, 86_400_000],
      [86_399_999, 86_400_000],
      [86_400_000, 172_800_000],
    ],
  ],
])("of the anchor %j", (anchor, ends) => {
  const { isFirst, endsAt } = grid(anchor);
  expect(isFirst).toBe(false);
  expect(ends.map(([now]) => [now, endsAt(now, minuteMs)])).toEqual(ends);
});

test.each([
  ["whole-second", [60_000, 60_000, 61_000]],
  ["exact", [60_000, 60_999, 61_000]],
] as const)("of a first request, opened %s", (opens, expected) => {
  const { isFirst, endsAt } = grid("first-request", opens);
  expect(isFirst).toBe(true);
  expect([0, 999, 1_000].map((now) => endsAt(now, minuteMs))).toEqual(expected);
});
