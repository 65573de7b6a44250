// Numbers and nouns in sentences.
import { expect, test } from "vitest";
import { count, counted, listText, nounOf } from "../../src/rules/words.ts";

test("one is one, and all others are many", () => {
  expect([0, 1, 2, 1234].map((value) => counted(value, "window"))).toEqual([
    "0 windows",
    "1 window",
    "2 windows",
    "1,234 windows",
  ]);
});

test("a y after a consonant becomes ies", () => {
  expect([counted(2, "query"), counted(2, "day"), counted(1, "entry")]).toEqual([
    "2 queries",
    "2 days",
    "1 entry",
  ]);
  expect([nounOf(1, "law is", "laws are"), nounOf(3, "law is", "laws are")]).toEqual(["law is", "laws are"]);
});

test("numbers are grouped, and have three decimals at most", () => {
  expect([0, 999, 1000, 1234567.8912, -1200, 0.5].map(count)).toEqual([
    "0",
    "999",
    "1,000",
    "1,234,567.891",
    "-1,200",
    "0.5",
  ]);
});

test("lists are joined as one speaks", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(listText)).toEqual(["", "a", "a and b", "a, b and c"]);
});
