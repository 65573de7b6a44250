// Durations as people write them.
import { expect, test } from "vitest";
import { parseDuration } from "../../src/rules/duration.ts";

test.each<[string, number | null]>([
  ["250ms", 250],
  ["0.25s", 250],
  ["5m", 300_000],
  ["2h", 7_200_000],
  ["1m30s", 90_000],
  ["1.1s", 1100],
  ["0.0000016ms", 0.000002],
  ["0.0000014ms", 0.000001],
  ["5", null],
  ["", null],
  ["-5s", null],
  ["5 s", null],
  [".5s", null],
  ["5d", null],
])("%j", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
