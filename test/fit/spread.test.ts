// Spreads of lengths of time at their bounds: spans of uniform draws, the simplest distribution, the mean that is kept.
import { describe, expect, test } from "vitest";
import { absencesOf, type FittedSpread, spanOf, spreadOf, withMean } from "../../sim/fit/spread.ts";
import { SortedSample } from "../../sim/fit/statistics.ts";
import { exp, ln } from "../../src/scenario/elementary.ts";
import { normalQuantile } from "../../src/scenario/normal.ts";

/** `count` values from `from` on. */
const steps = (from: number, step: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + step * index);

describe("a span", () => {
  // Of 200 values, one in a hundred is left out at either end: 1,000 to 2,960, or 1,010 to 2,970. What is astray is further from them than
  // (0.03 + 5 / 201) * 1,960 = 107.6; beyond what counts, 4.6 / 201 of it is free.
  const many = steps(1000, 10, 199);
  test.each<[string, number[], number, number, number]>([
    ["equal values", new Array(10).fill(100), 0, 100, 100],
    ["values within twice the slack are one", [95, 104], 5, 100, 100],
    ["values beyond it are two", [95, 106], 5, 80, 110],
    ["values of next to nothing", [0, 3], 5, 0, 0],
    ["a value alone", [7], 0, 7, 7],
    ["a hundred values", steps(10, 10, 100), 0, 0, 1000],
    ["a low value astray", [892, ...many], 0, 1000, 3000],
    ["a low value that is not", [893, ...many], 0, 850, 3000],
    ["a high value astray", [...many, 3078], 0, 1000, 3000],
    ["a high value that is not", [...many, 3077], 0, 1000, 3100],
    ["a low value astray, but for slack", [892, ...many], 1, 850, 3000],
  ])("%s", (_, values, slackMs, least, most) => {
    expect(spanOf(values, slackMs)).toEqual({ least, most });
  });
});

describe("a spread", () => {
  const lognormal = steps(0.5, 1, 200).map((place) => 1000 * exp(normalQuantile(place / 200)));
  test.each<[string, number[], number, number, FittedSpread]>([
    ["of nothing is the least", [], 7, 0, { kind: "constant", ms: 7 }],
    ["of equal values", new Array(30).fill(503), 0, 4, { kind: "constant", ms: 505 }],
    [
      "of equal values, in doubt of half the slack",
      new Array(30).fill(503),
      0,
      6,
      { kind: "constant", ms: 500 },
    ],
    ["in doubt of a fiftieth at most", new Array(30).fill(103), 0, 10, { kind: "constant", ms: 105 }],
    ["in doubt of a ms at least", new Array(30).fill(33), 0, 10, { kind: "constant", ms: 32 }],
    ["that is no shorter than the least", new Array(30).fill(50), 80, 0, { kind: "constant", ms: 80 }],
    ["of values as far apart as the slack", [...steps(100, 1, 21)], 0, 19, { kind: "constant", ms: 110 }],
    ["of a hundred values", steps(10, 10, 100), 0, 0, { kind: "uniform", least: 0, most: 1000 }],
    ["of them, from the least on", steps(10, 10, 100), 4, 0, { kind: "uniform", least: 4, most: 1000 }],
    // 0 to 500 has the mean 250, and the values 200.
    ["of three values keeps their mean", [100, 200, 300], 0, 0, { kind: "uniform", least: 0, most: 400 }],
    ["of three values, from the least on", [100, 200, 300], 50, 0, { kind: "uniform", least: 50, most: 364 }],
  ])("%s", (_, values, leastMs, slackMs, spread) => {
    expect(spreadOf(values, leastMs, slackMs)).toEqual(spread);
  });

  test("of values whose logarithms are normal has their median, and their 95th percentile", () => {
    const spread = spreadOf(lognormal, 0, 0);
    if (spread.kind !== "lognormal") throw new Error(spread.kind);
    expect(spread.median).toBe(1000);
    // 1,000 * e^1.645 is 5,180; two hundred places of the curve scatter by 0.9944 of what it does.
    expect(spread.p95).toBeGreaterThan(5_100);
    expect(spread.p95).toBeLessThan(5_180);
    // A median below what is allowed is the least.
    expect(spreadOf(lognormal, 1200, 0)).toEqual({ ...spread, median: 1200 });
  });

  test("of values of which one is 0 is measured: it has no logarithm", () => {
    const { kind } = spreadOf([0, ...lognormal], 0, 0);
    expect(kind).toBe("quantiles");
  });

  test("of one long value among short ones is neither constant nor even", () => {
    const spread = spreadOf([...new Array<number>(99).fill(10), 100_000], 1, 5);
    if (spread.kind !== "quantiles") throw new Error(spread.kind);
    // A line from 10 to 100,000 over the last 99th has less than their mean, 1,009.9: its end is moved up to that.
    expect([spread.quantiles[0], spread.quantiles.at(-1)]).toEqual([10, 197_990]);
    expect([spread.shares[0], spread.shares.at(-1)]).toEqual([0, 1]);
  });

  test("of two kinds of values follows their quantiles, and is no shorter than the least", () => {
    const two = [...steps(100, 1, 50), ...steps(9_000, 1, 50)];
    const spread = spreadOf(two, 120, 0);
    if (spread.kind !== "quantiles") throw new Error(spread.kind);
    expect(spread.quantiles[0]).toBe(120);
    expect(Math.min(...spread.quantiles)).toBe(120);
    expect(spread.quantiles.every(Number.isInteger)).toBe(true);
  });
});

describe("absences", () => {
  const lengths = (count: number): number[] =>
    Array.from({ length: count }, (_, place) => -3_600_000 * ln(1 - (place + 0.5) / count));

  test("that chance may end are longer than any that was seen, and keep their mean", () => {
    const { mean, most } = new SortedSample(lengths(12));
    const spread = absencesOf(lengths(12)) as FittedSpread & { kind: "quantiles" };
    const area = spread.quantiles.slice(1).reduce((sum, end, place) => {
      const width = (spread.shares[place + 1] as number) - (spread.shares[place] as number);
      return sum + (width * (end + (spread.quantiles[place] as number))) / 2;
    }, 0);
    expect(Math.abs(area / mean - 1)).toBeLessThan(0.01);
    expect(spread.quantiles.at(-1)).toBeGreaterThan(1.5 * most);
  });

  test("that are alike, or many, have the spread that they show", () => {
    const alike = Array.from({ length: 12 }, (_, place) => 3_600_000 + 60_000 * place);
    expect(absencesOf(alike)).toMatchObject({ kind: "uniform" });
    expect(absencesOf(lengths(2_000))).toEqual(spreadOf(lengths(2_000), 0, 1_000));
  });
});

test("a spread is scaled to a mean", () => {
  expect(withMean({ kind: "uniform", least: 100, most: 300 }, 400)).toEqual({
    ...{ kind: "uniform", least: 200, most: 600 },
  });
  expect(withMean({ kind: "uniform", least: 1, most: 2 }, 0)).toEqual({ kind: "uniform", least: 0, most: 1 });
  expect(withMean({ kind: "uniform", least: 0, most: 0 }, 5)).toEqual({ kind: "uniform", least: 0, most: 1 });
  // Logarithms that deviate by 1: the mean is e^0.5 times the median.
  const bell = { kind: "lognormal", median: 1000, p95: 5180 } as const;
  expect(withMean(bell, 1648.7)).toEqual(bell);
  expect(withMean(bell, 2 * 1648.7)).toEqual({ kind: "lognormal", median: 2000, p95: 10_360 });
  expect(withMean(bell, 0)).toEqual({ kind: "lognormal", median: 1, p95: 2 });
});
