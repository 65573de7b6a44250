// A few knots for many values: the mean of a heavy tail is what even quantiles lose.
import { expect, test } from "vitest";
import { knotsOf } from "../../sim/fit/knots.ts";
import { SortedSample } from "../../sim/fit/statistics.ts";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { drawSpread, parseSpread } from "../../src/scenario/spread.ts";

/** Pareto with exponent 1.4 at even shares: a mean of 3.5 times the least, one in a hundred above 26 times. */
const heavy = Array.from({ length: 5_000 }, (_, n) => 100 * ((5_000 - n) / 5_000) ** (-1 / 1.4));

const meanOf = ({ quantiles, shares }: ReturnType<typeof knotsOf>): number =>
  quantiles
    .slice(1)
    .reduce(
      (sum, value, index) =>
        sum + (((shares[index + 1] ?? 0) - (shares[index] ?? 0)) * (value + (quantiles[index] ?? 0))) / 2,
      0,
    );

test("at most 60 knots keep the mean of a heavy tail, and of its last hundredth", () => {
  const sample = new SortedSample(heavy);
  const knots = knotsOf(sample);
  expect(knots.quantiles.length).toBeLessThanOrEqual(60);
  expect(Math.abs(meanOf(knots) / sample.mean - 1)).toBeLessThan(0.01);
  const tail = heavy.slice(-50).reduce((sum, value) => sum + value, 0);
  const from = knots.shares.findIndex((share) => share >= 0.99);
  const kept = meanOf({ quantiles: knots.quantiles.slice(from), shares: knots.shares.slice(from) });
  expect(Math.abs((kept * heavy.length) / tail - 1)).toBeLessThan(0.15);
});

test("knots are a spread that scenarios take, and its draws have the mean", () => {
  const sample = new SortedSample(heavy.map(Math.round));
  const { quantiles, shares } = knotsOf(sample);
  const mistakes = new Mistakes();
  const spread = parseSpread("think", { quantiles: quantiles.map(Math.round), shares }, mistakes);
  mistakes.finish("wrong");
  const random = { random0: 1, random1: 2, random2: 3, random3: 4 };
  let sum = 0;
  for (let draw = 0; draw < 200_000; draw++) sum += drawSpread(random, spread);
  // 200,000 draws of a deviation of some 1,700 are off by 4.
  expect(Math.abs(sum / 200_000 - sample.mean)).toBeLessThan(0.05 * sample.mean);
});

test("of more than 50,000 values the means of each two are enough, and the ends", () => {
  const line = Float64Array.from({ length: 100_000 }, (_, place) => place);
  expect(knotsOf(new SortedSample(line))).toEqual({ quantiles: [0, 99_999], shares: [0, 1] });
  // A step in the middle: its ends are the 25,000th and the next of 50,000 means.
  const { quantiles, shares } = knotsOf(
    new SortedSample(line.map((place) => (place < 50_000 ? 1000 : 3000))),
  );
  expect(quantiles).toEqual([1000, 1000, 3000, 3000]);
  expect(shares).toEqual(
    [0, 24_999 / 49_999, 25_000 / 49_999, 1].map((share) => Math.round(1e6 * share) / 1e6),
  );
});

test("values on a line need the two ends alone", () => {
  expect(knotsOf(new SortedSample([10, 20, 30, 40, 50]))).toEqual({ quantiles: [10, 50], shares: [0, 1] });
});

test("values in a hundred steps have sixty knots, and their mean", () => {
  const steps = Array.from({ length: 2_000 }, (_, place) => (1 + Math.floor(place / 20)) ** 2);
  const sample = new SortedSample(steps);
  const knots = knotsOf(sample);
  expect(knots.quantiles).toHaveLength(60);
  expect(meanOf(knots)).toBeCloseTo(sample.mean, 6);
});
