// The little statistics of a fit, at their boundaries.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isMemoryless,
  mode,
  PearsonSum,
  placed,
  roundestWithin,
  SortedSample,
} from "../../sim/fit/statistics.ts";
import { property } from "../support/property.ts";

describe("a sample", () => {
  test("is sorted, and asked by nearest rank", () => {
    const sample = new SortedSample([50, 10, 40, 20, 30, 60, 70, 80, 90, 100]);
    expect([...sample.sorted]).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    const ranks = [0, 0.1, 0.11, 0.5, 0.51, 0.95, 1].map((share) => sample.quantile(share));
    expect(ranks).toEqual([10, 10, 20, 50, 60, 100, 100]);
    const { count, median, least, most, mean, breadth } = sample;
    expect({ count, median, least, most, mean, breadth }).toEqual({
      ...{ count: 10, median: 50, least: 10, most: 100, mean: 55, breadth: 80 },
    });
  });

  // Many equal values, many different ones (-0 is 0), and those that go up and down, where looking for one takes longest.
  const values = fc.oneof(
    fc.array(fc.integer({ min: -2, max: 3 }), { minLength: 1, maxLength: 60 }),
    fc.array(
      fc.double({ noNaN: true }).map((value) => value + 0),
      { minLength: 1, maxLength: 60 },
    ),
    fc.integer({ min: 1, max: 300 }).map((n) => Array.from({ length: n }, (_, at) => Math.min(at, n - at))),
  );
  property([values, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 7 })])(
    "has the quantiles that it has in order, however many are asked for",
    (drawn, shares) => {
      const sample = new SortedSample(drawn);
      const told = shares.map((share) => sample.quantile(share));
      const { sorted } = new SortedSample(drawn);
      const ranks = shares.map((share) => Math.max(1, Math.ceil(share * drawn.length - 1e-9)));
      expect(told).toEqual(ranks.map((rank) => sorted[rank - 1]));
      expect([sample.least, sample.most]).toEqual([sorted[0], sorted.at(-1)]);
      expect(sample.sorted).toEqual(sorted);
    },
  );

  // Up to sixteen values, each round may set one apart alone: its steps, at most 8 for each value, suffice.
  property([fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 16 }), fc.nat(15)])(
    "of few values is never sorted to find the one at a place",
    (drawn, at) => {
      const place = at % drawn.length;
      const sorted = drawn.toSorted((a, b) => a - b);
      expect(placed(Float64Array.from(drawn), place)).toBe(sorted[place]);
    },
  );

  test("deviates by n - 1; a lone value deviates from nothing", () => {
    expect(new SortedSample([2, 4, 4, 4, 5, 5, 7, 9]).deviation).toBeCloseTo(Math.sqrt(32 / 7), 12);
    expect(new SortedSample([1, 3]).deviation).toBeCloseTo(Math.sqrt(2), 12);
    expect(new SortedSample([7]).deviation).toBe(0);
  });

  test("of nothing is 0 throughout", () => {
    const { count, median, least, most, mean, deviation, breadth } = new SortedSample([]);
    expect([count, median, least, most, mean, deviation, breadth]).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});

test.each<[number[], number, number]>([
  [[3, 1, 3, 2], 3, 0.5],
  [[5, 2, 2, 5, 9], 2, 0.4],
  [[2, 5, 5, 2], 2, 0.5],
  [[7], 7, 1],
  [[], 0, 0],
])("the mode of %j is %d, a share of %d", (values, value, share) => {
  expect(mode(values)).toEqual({ value, share });
});

// Each step is the roundest where no longer one has a multiple: of the next shorter one there is a smaller multiple.
test.each([
  [16_200_000, 18_000_000],
  [8_400_000, 9_000_000],
  [2_700_000, 3_000_000],
  [1_440_000, 1_500_000],
  [390_000, 420_000],
  [140_000, 150_000],
  [65_000, 70_000],
  [24_000, 25_000],
  [6_500, 7_000],
  [2_400, 2_500],
  [650, 700],
  [240, 250],
  [65, 70],
  [24, 25],
])("the roundest from %d on is %d", (least, most) => {
  expect(roundestWithin(least, most)).toBe(most);
});

// Deviations by the root of mean * (mean - 1), between 0.75 and 1.33: those of a coin that is tossed after each.
test.each<[string, number[], boolean]>([
  ["nine equal sizes tell nothing", new Array(9).fill(5), true],
  ["ten equal sizes are no coin's", new Array(10).fill(5), false],
  ["0.745", [1, 1, 1, 1, 1, 3, 3, 3, 3, 3], false],
  ["0.788", [1, 1, 1, 1, 1, 3, 3, 3, 3, 4], true],
  ["1.291", [1, 1, 1, 1, 1, 1, 1, 1, 4, 4], true],
  ["1.370", [1, 1, 1, 1, 1, 1, 1, 1, 4, 5], false],
  ["0.422, by a half at least", [1, 1, 1, 1, 1, 1, 1, 1, 2, 2], true],
  ["0.316, by a half at least", [1, 1, 1, 1, 1, 1, 1, 1, 1, 2], false],
])("sizes: %s", (_, sizes, isOne) => {
  expect(isMemoryless(new SortedSample(sizes))).toBe(isOne);
});

test.each([
  [26.5, 28.4, 27],
  [3_599_000, 3_600_000, 3_600_000],
  [1_799_000, 3_599_999, 1_800_000],
  [595_000, 610_000, 600_000],
  [295_000, 310_000, 300_000],
  [61_000, 119_999, 90_000],
  [59_000, 61_000, 60_000],
  [9_500, 10_400, 10_000],
  [4_900, 5_200, 5_000],
  [990, 1_010, 1_000],
  [480, 510, 500],
  [92, 104, 100],
  [11, 14, 11],
  [12.2, 12.9, 13],
  [12.2, 12.4, 12],
])("the roundest from %d to %d ms is %d", (least, most, expected) => {
  expect(roundestWithin(least, most)).toBe(expected);
});

// Of three classes the sum has two degrees: chance explains up to 4 * sqrt(4) = 8 more than these.
test.each<[string, readonly (readonly [seen: number, mean: number, variance?: number])[], number]>([
  ["of nothing", [], 0],
  ["of one class, however far off", [[100, 1]], 0],
  [
    "at four deviations",
    [
      [20, 10],
      [10, 10],
      [10, 10],
    ],
    0,
  ],
  [
    "above them",
    [
      [20, 10, 9],
      [10, 10],
      [10, 10],
    ],
    100 / 9 - 2,
  ],
  [
    "far above them",
    [
      [20, 10],
      [0, 10],
      [10, 10],
    ],
    18,
  ],
  [
    "by variances of their own",
    [
      [20, 10, 5],
      [10, 10, 5],
      [10, 10, 5],
    ],
    18,
  ],
  [
    "by one more degree",
    [
      [20, 10],
      [0, 10],
      [10, 10],
      [10, 10],
    ],
    17,
  ],
])("Pearson's sum above its mean, %s", (_, classes, excess) => {
  const sum = new PearsonSum();
  for (const one of classes) sum.add(...one);
  expect(sum.excess).toBe(excess);
});
