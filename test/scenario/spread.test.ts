// Draws of time: their quantiles and means, by so many draws that a wrong formula shows.
import { describe, expect, test } from "vitest";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { normalQuantile } from "../../src/scenario/normal.ts";
import { type RandomState, seedRandom } from "../../src/scenario/random.ts";
import {
  describeSpread,
  drawSpread,
  parseSpread,
  type Spread,
  type SpreadInput,
} from "../../src/scenario/spread.ts";

const random = (seed = 1): RandomState => {
  const state = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(state, seed, 0, 0);
  return state;
};
const checked = (input: unknown, leastMs = 0, mostMs?: number): Spread => {
  const mistakes = new Mistakes();
  const spread = parseSpread("time", input, mistakes, leastMs, mostMs);
  mistakes.finish("wrong");
  return spread;
};
const draws = (input: SpreadInput, count = 100_000, seed = 1): number[] => {
  const state = random(seed);
  const spread = checked(input);
  return Array.from({ length: count }, () => drawSpread(state, spread)).sort((a, b) => a - b);
};
const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

describe("the normal quantile", () => {
  // Of tables, and of Python's statistics.NormalDist().inv_cdf.
  test.each([
    [0.5, 0],
    [0.7, 0.5244005127080407],
    [0.924, 1.4325027208258119],
    [0.95, 1.6448536269514715],
    [0.975, 1.9599639845400538],
    [0.9999, 3.7190164854557084],
    [0.001, -3.090232306167813],
    [1e-10, -6.361340902404056],
    [1.4e-11, -6.656723091518184],
  ])("%d", (share, expected) => {
    expect(normalQuantile(share)).toBeCloseTo(expected, 13);
  });

  test("is symmetric, and rises without a jump where its formulas meet", () => {
    for (const share of [0.0749999, 0.075, 0.0750001]) {
      expect(normalQuantile(1 - share)).toBeCloseTo(-normalQuantile(share), 5);
      expect(normalQuantile(share * 1.000001)).toBeGreaterThan(normalQuantile(share));
      expect(normalQuantile(share * 1.000001)).toBeCloseTo(normalQuantile(share), 5);
    }
  });
});

describe("draws", () => {
  test("constant: nothing is drawn", () => {
    const state = random();
    expect(drawSpread(state, checked("30ms"))).toBe(30);
    expect(state).toEqual(random());
  });

  test("uniform: every whole millisecond, both ends included, equally often", () => {
    const sorted = draws({ least: 10, most: 19 });
    for (let ms = 10; ms <= 19; ms++)
      // 10,000 each, with a standard deviation of 95.
      expect(Math.abs(sorted.filter((one) => one === ms).length - 10_000)).toBeLessThan(400);
    expect(sorted.length).toBe(100_000);
  });

  test("lognormal: half within the median, 95 % within p95, the mean above both the mode and the median", () => {
    const sorted = draws({ median: "1s", p95: "4s" });
    // sigma = ln 4 / 1.6449 = 0.8428: the mean is exp(sigma^2 / 2) = 1.4264 medians, 25 % are within 0.5664 of one.
    expect(Math.abs(at(sorted, 0.5) - 1_000)).toBeLessThan(15);
    expect(Math.abs(at(sorted, 0.95) - 4_000)).toBeLessThan(90);
    expect(Math.abs(at(sorted, 0.25) - 566)).toBeLessThan(10);
    expect(Math.abs(at(sorted, 0.75) - 1_766)).toBeLessThan(30);
    expect(Math.abs(mean(sorted) - 1_426)).toBeLessThan(20);
  });

  test("lognormal: short ones are rounded, none is shorter or longer than allowed", () => {
    const state = random();
    const spread = checked({ median: 2, p95: 40 }, 1, 60);
    const seen = Array.from({ length: 10_000 }, () => drawSpread(state, spread));
    expect(Math.min(...seen)).toBe(1);
    expect(Math.max(...seen)).toBe(60);
  });

  test("empirical, at shares of its own: a long tail keeps its mean", () => {
    const sorted = draws({ quantiles: [10, 20, 100, 10_000], shares: [0, 0.5, 0.99, 1] });
    expect(at(sorted, 0.25)).toBeCloseTo(15, -1);
    expect(at(sorted, 0.5)).toBeCloseTo(20, -1);
    expect(at(sorted, 0.99)).toBeGreaterThan(90);
    // 0.5 x 15 + 0.49 x 60 + 0.01 x 5,050; 100,000 draws deviate by 1.9.
    expect(Math.abs(mean(sorted) - 87.4)).toBeLessThan(8);
  });

  test("empirical: the quantiles that were given, straight lines in between", () => {
    const sorted = draws({ quantiles: [10, 20, 20, 100, 1_000] });
    expect([sorted[0], sorted.at(-1)]).toEqual([10, 1_000]);
    expect(Math.abs(at(sorted, 0.125) - 15)).toBeLessThanOrEqual(1);
    for (const share of [0.26, 0.4, 0.49]) expect(at(sorted, share)).toBe(20);
    expect(Math.abs(at(sorted, 0.625) - 60)).toBeLessThan(3);
    expect(Math.abs(at(sorted, 0.875) - 550)).toBeLessThan(20);
    // The means of the four lines: 15, 20, 60 and 550.
    expect(Math.abs(mean(sorted) - 161.25)).toBeLessThan(3);
  });

  test.each<[string, SpreadInput]>([
    ["lognormal", { median: 30, p95: 90 }],
    ["empirical", { quantiles: [1, 5, 70] }],
  ])("%s: the same seed draws the same, another one other times", (_, input) => {
    expect(draws(input, 100, 7)).toEqual(draws(input, 100, 7));
    expect(draws(input, 100, 8)).not.toEqual(draws(input, 100, 7));
  });
});

describe("words for people", () => {
  test.each<[SpreadInput, string]>([
    [5, "5 ms"],
    [{ least: 2, most: 8 }, "2 to 8 ms"],
    [{ median: 40, p95: 120 }, "40 ms in the middle, 95 % within 120 ms"],
    [{ quantiles: [1, 4, 90] }, "1 to 90 ms, 4 ms in the middle"],
  ])("%o", (input, words) => {
    expect(describeSpread(checked(input))).toBe(words);
  });
});

test("a mistaken time is told that it may be a span, too", () => {
  expect(() => checked("0..1s")).toThrow(
    /time: got "0\.\.1s", allowed: "90s".* to a year, or \{least, most\}$/,
  );
});

describe("mistakes are told by their path", () => {
  test.each([
    ["a word", "soon", "time"],
    ["a negative time", -1, "time"],
    ["NaN", Number.NaN, "time"],
    ["a span that ends early", { least: 9, most: 3 }, "time.most"],
    ["a median of nothing", { median: 0, p95: 5 }, "time.median"],
    ["a p95 at the median", { median: 5, p95: 5 }, "time.p95"],
    ["no p95", { median: 5 }, "time.p95"],
    ["a median and something else", { median: 5, p95: 9, mean: 6 }, "time.mean"],
    ["one quantile", { quantiles: [5] }, "time.quantiles"],
    ["shares that do not end at 1", { quantiles: [1, 5], shares: [0, 0.9] }, "time.shares"],
    ["shares that stand still", { quantiles: [1, 5, 9], shares: [0, 0, 1] }, "time.shares"],
    ["fewer shares than quantiles", { quantiles: [1, 5, 9], shares: [0, 1] }, "time.shares"],
    ["quantiles that are none", { quantiles: "5, 6" }, "time.quantiles"],
    ["quantiles that fall", { quantiles: [1, 5, 4] }, "time.quantiles.2"],
    ["a quantile below 0", { quantiles: [-1, 5] }, "time.quantiles.0"],
    ["a percentile nobody knows", { p50: 5, p99: 9 }, "time"],
    ["a list", [5, 9], "time"],
    ["a span and something else", { least: 5, most: 9, mean: 6 }, "time.mean"],
  ])("%s", (_, input, path) => {
    expect(() => checked(input)).toThrow(
      expect.objectContaining({
        code: "SCENARIO_INVALID",
        problems: expect.arrayContaining([expect.objectContaining({ path })]),
      }),
    );
  });

  test.each([
    ["quantiles", { quantiles: [5] }, '"1 value"'],
    ["quantiles", { quantiles: "5, 6" }, '"5, 6"'],
    ["quantiles", { quantiles: [] }, '"0 values"'],
  ])("%s: what was got", (name, input, got) => {
    expect(() => checked(input)).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ path: `time.${name}`, got })] }),
    );
  });
});
