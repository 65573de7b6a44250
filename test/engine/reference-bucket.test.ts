// The readable count of a bucket, by hand: POLICY.md §3.
import { expect, test } from "vitest";
import { BucketCount } from "../../src/engine/reference-bucket.ts";

test("a bucket is full at the first instant, even at 0, and refills to the very ms", () => {
  const bucket = new BucketCount({
    kind: "token-bucket",
    capacity: 5,
    refill: { amount: 2, everyMs: 1_000 },
  });
  expect([bucket.usedAt(0), bucket.resetAt(0)]).toEqual([0, 0]);
  bucket.charge(3);
  // Two units come back in 1,000 ms, parts of them before.
  expect([0, 1, 499, 500, 999, 1_000, 1_499, 1_500].map((now) => bucket.usedAt(now))).toEqual([
    3, 3, 3, 2, 2, 1, 1, 0,
  ]);
  expect(bucket.resetAt(0)).toBe(1_500);
  bucket.advance(500);
  bucket.charge(1);
  expect([bucket.usedAt(500), bucket.resetAt(500)]).toEqual([3, 2_000]);
});
