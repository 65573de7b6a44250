// Durations as people write and read them.
import { expect, test } from "vitest";
import { duration, parseDuration } from "../../src/rules/duration.ts";

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

test.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [1_000, "1 s"],
  [1_236, "1.24 s"],
  [9_994, "9.99 s"],
  [9_995, "10 s"],
  [12_360, "12.4 s"],
  [59_949, "59.9 s"],
  [59_950, "1 min"],
  [125_400, "2 min 5 s"],
  [3_599_499, "59 min 59 s"],
  [3_599_500, "1 h"],
  [12_029_000, "3 h 20 min"],
  [12_030_000, "3 h 21 min"],
])("%d ms are %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
