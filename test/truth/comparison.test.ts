// The arithmetic of prediction beside measurement.
import { describe, expect, test } from "vitest";
import { comparisonOf } from "./comparison.ts";
import type { RulesWindow, RunFigures } from "./run-figures.ts";

const window = (endsAt: number, admitted: number, refused = 0): RulesWindow => ({
  org: "acme",
  user: null,
  scope: "rest",
  opensAt: endsAt - 12_000,
  endsAt,
  limit: 40,
  highest: admitted,
  admitted,
  refused,
});

const run = (more: Partial<RunFigures>): RunFigures => ({
  admitted: 0,
  refused: 0,
  waitsMs: [],
  windows: [],
  ...more,
});

describe("a prediction", () => {
  test("that is what was measured has no error", () => {
    const same = run({ admitted: 90, refused: 10, waitsMs: [1, 2, 3], windows: [window(24_000, 40, 5)] });
    const comparison = comparisonOf([
      { measured: same, predicted: same },
      { measured: { ...same }, predicted: same },
    ]);
    const exact = { error: 0, typical: 0 };
    expect(comparison).toMatchObject({
      runs: 2,
      admitted: { measured: 90, predicted: 90, ...exact, chance: [90, 90] },
      refused: { measured: 10, ...exact },
      waitP95Ms: { measured: 3, predicted: 3, error: 0 },
      waitsApart: 0,
      windows: [{ scope: "rest", saturated: true, windows: 1 + 1, admitted: exact, refused: exact }],
    });
  });

  test("has the error of its mean, the distance of its runs, and the chance of what was measured", () => {
    const { admitted } = comparisonOf([
      { measured: run({ admitted: 90 }), predicted: run({ admitted: 100 }) },
      { measured: run({ admitted: 110 }), predicted: run({ admitted: 104 }) },
    ]);
    expect(admitted).toMatchObject({ measured: 100, predicted: 102, error: 0.02, typical: 0.08 });
    // Standard deviation 14.14 of two runs, so a standard error of 10.
    expect(admitted.chance?.[0]).toBeCloseTo(80, 12);
    expect(admitted.chance?.[1]).toBeCloseTo(120, 12);
  });

  test("that is made several times makes what was measured no surer", () => {
    const [a, b] = [run({ admitted: 90 }), run({ admitted: 110 })];
    const predicted = run({ admitted: 100 });
    const once = [a, b].map((measured) => ({ measured, predicted }));
    const often = comparisonOf([...once, ...once, ...once]);
    expect(often.admitted).toEqual(comparisonOf(once).admitted);
  });

  test("of something where nothing was measured has no share to give", () => {
    const { refused } = comparisonOf([{ measured: run({}), predicted: run({ refused: 3 }) }]);
    expect(refused).toMatchObject({ measured: 0, predicted: 3, error: null, chance: null });
  });

  test("is held to each window: the nearest that ends within half of its length, else none", () => {
    const measured = run({ windows: [window(24_000, 30), window(36_000, 40, 6)] });
    const predicted = run({ windows: [window(24_700, 33), window(60_000, 40, 6)] });
    const [free, saturated] = comparisonOf([{ measured, predicted }]).windows;
    expect(free).toMatchObject({ saturated: false, windows: 1, admitted: { measured: 30, predicted: 33 } });
    expect(saturated).toMatchObject({ saturated: true, refused: { measured: 6, predicted: 0, error: -1 } });
  });

  test("of a percentile is as doubtful as the ranks that so many jobs leave open", () => {
    const waitsMs = Array.from({ length: 100 }, (_, index) => index + 1);
    const { waitP50Ms } = comparisonOf([{ measured: run({ waitsMs }), predicted: run({ waitsMs: [55] }) }]);
    expect(waitP50Ms).toMatchObject({ measured: 50, predicted: 55, error: 0.1, chance: [40, 60] });
  });

  test("of waits is as far off as the two curves are at their widest", () => {
    const measured = run({ waitsMs: [1, 1, 1, 5] });
    const predicted = run({ waitsMs: [1, 5, 5, 5] });
    expect(comparisonOf([{ measured, predicted }]).waitsApart).toBe(0.5);
  });
});
