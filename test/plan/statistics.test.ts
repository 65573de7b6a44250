// Intervals and quantiles against published tables.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clopperPearson, incompleteBeta, meanOf, studentQuantile } from "../../src/plan/statistics.ts";

describe("Student's t, against the table of Abramowitz and Stegun 26.10", () => {
  test.each([
    [0.975, 1, 12.706],
    [0.975, 2, 4.303],
    [0.975, 7, 2.365],
    [0.95, 10, 1.812],
    [0.995, 10, 3.169],
    [0.975, 30, 2.042],
    [0.995, 120, 2.617],
    [0.975, 100_000, 1.96],
  ])("%d at %d degrees of freedom is %d", (share, freedom, expected) => {
    expect(studentQuantile(share, freedom)).toBeCloseTo(expected, 3);
  });
});

describe("Clopper-Pearson", () => {
  // In closed form where nothing or everything was seen: 1 - (alpha/2)^(1/n).
  test.each([
    [0, 10, 0.95, 0, 0.3085],
    [10, 10, 0.95, 0.6915, 1],
    [8, 8, 0.95, 0.6306, 1],
    // R: binom.test(5, 10)$conf.int, binom.test(1, 20), binom.test(15, 100), binom.test(7, 12, conf.level = .99)
    [5, 10, 0.95, 0.1871, 0.8129],
    [1, 20, 0.95, 0.0013, 0.2487],
    [15, 100, 0.95, 0.0865, 0.2353],
  ])("%d of %d at %d", (k, n, confidence, low, high) => {
    const interval = clopperPearson(k, n, confidence);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test("its ends are where the binomial tails are half of what is left (its definition)", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(60), (n, drawn) => {
        const k = Math.min(n, drawn);
        const { low, high } = clopperPearson(k, n, 0.95);
        if (k > 0) expect(tailFrom(k, n, low)).toBeCloseTo(0.025, 9);
        if (k < n) expect(1 - tailFrom(k + 1, n, high)).toBeCloseTo(0.025, 9);
      }),
    );
  });
});

/** P(X >= k) of a binomial variable, term by term. */
function tailFrom(k: number, n: number, p: number): number {
  let sum = 0;
  for (let i = k; i <= n; i++) {
    let term = 1;
    for (let j = 1; j <= i; j++) term *= ((n - i + j) / j) * p;
    for (let j = 0; j < n - i; j++) term *= 1 - p;
    sum += term;
  }
  return sum;
}

test("the incomplete beta function is x for a = b = 1, and symmetric", () => {
  // Such that 1 - x is exact: where x is 1e-19 it is not, and I_x(1/2, b) is far from nothing there.
  const share = fc.integer({ min: 0, max: 2 ** 20 }).map((parts) => parts / 2 ** 20);
  const positive = fc.double({ min: 0.5, max: 200, noNaN: true });
  fc.assert(
    fc.property(share, positive, positive, (x, a, b) => {
      expect(incompleteBeta(1, 1)(x)).toBeCloseTo(x, 12);
      expect(incompleteBeta(a, b)(x) + incompleteBeta(b, a)(1 - x)).toBeCloseTo(1, 9);
    }),
  );
});

describe("means", () => {
  test("the interval of 1, 2, 3, 4, 5 is 3 ± 2.776 x sqrt(2.5 / 5)", () => {
    const { mean, interval } = meanOf([1, 2, 3, 4, 5], 0.95);
    expect(mean).toBe(3);
    expect(interval?.high).toBeCloseTo(3 + 2.776 * Math.sqrt(0.5), 3);
    expect(interval?.low).toBeCloseTo(3 - 2.776 * Math.sqrt(0.5), 3);
  });

  test("equal values are their own interval; one has none; none has no mean", () => {
    expect(meanOf([0.1, 0.1, 0.1], 0.95)).toEqual({ mean: 0.1, interval: { low: 0.1, high: 0.1 } });
    expect(meanOf([4], 0.95)).toEqual({ mean: 4, interval: null });
    expect(meanOf([], 0.95)).toEqual({ mean: null, interval: null });
  });

  test("the interval covers the true mean about as often as it says", () => {
    // 2,000 samples of 8 sums of twelve uniform draws (Irwin and Hall), nearly normal with mean 6.
    let state = 12_345;
    const uniform = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 4_294_967_296;
    };
    const drawn = (): number => Array.from({ length: 12 }, uniform).reduce((sum, value) => sum + value, 0);
    let covered = 0;
    for (let sample = 0; sample < 2_000; sample++) {
      const { interval } = meanOf(Array.from({ length: 8 }, drawn), 0.95);
      if (interval !== null && interval.low <= 6 && interval.high >= 6) covered += 1;
    }
    expect(covered / 2_000).toBeGreaterThan(0.935);
    expect(covered / 2_000).toBeLessThan(0.965);
  });
});
