// Percentiles of waits: the nearest rank, whichever way waits are kept.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CountedWaits, KeptWaits, quantile } from "../../src/summary/waits.ts";

/** The nearest rank by its definition: the first value with at least this share of all at or below it. */
function plainQuantile(values: readonly number[], percent: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.find((_, at) => 100 * (at + 1) >= percent * sorted.length);
}

const percents = [0, 7, 50, 95, 99, 100];
const shares = percents.map((percent) => percent / 100);
/** Waits that share a block of counts, lie at its edges, or far apart. */
const waits = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(0, 127, 128, 255, 256, 90_000, 3_600_000)),
  { maxLength: 60 },
);

test("waits that are kept, and those that are counted, have the percentiles of a sorted list", () => {
  fc.assert(
    fc.property(waits, waits, (before, merged) => {
      const kept = [new KeptWaits(), new KeptWaits()] as const;
      const counted = [new CountedWaits(), new CountedWaits()] as const;
      for (const wait of before) {
        kept[0].add(wait);
        counted[0].add(wait);
      }
      // Whoever asks in between is not told the old percentiles later.
      expect(kept[0].quantiles(shares)).toEqual(counted[0].quantiles(shares));
      for (const wait of merged) {
        kept[1].add(wait);
        counted[1].add(wait);
      }
      kept[0].merge(kept[1]);
      counted[0].merge(counted[1]);
      const all = [...before, ...merged];
      const expected = percents.flatMap((percent) => plainQuantile(all, percent) ?? []);
      expect(kept[0].quantiles(shares)).toEqual(expected);
      expect(counted[0].quantiles(shares)).toEqual(expected);
      // The sum keeps counting at its place, and the merged one is as it was.
      kept[0].add(5);
      counted[0].add(5);
      expect(counted[0].quantiles(shares)).toEqual(kept[0].quantiles(shares));
      const others = percents.flatMap((percent) => plainQuantile(merged, percent) ?? []);
      expect(counted[1].quantiles(shares)).toEqual(others);
    }),
    { numRuns: 60 },
  );
});

describe("the nearest rank of a share", () => {
  const hundred = Float64Array.from({ length: 100 }, (_, at) => at + 1);
  test.each([
    ["0.07 x 100 is rank 7, whatever floating point makes of it", hundred, 0.07, 7],
    ["a share of nothing is the least", hundred, 0, 1],
    ["all is the greatest", hundred, 1, 100],
    ["the next rank, where a share lies between two", hundred, 0.071, 8],
    ["of none there is none", new Float64Array(0), 0.5, null],
  ])("%s", (_name, sorted, share, expected) => {
    expect(quantile(sorted, share)).toBe(expected);
  });
});
