// The places of a module that a test file ran, read from V8's counts.
import { expect, test } from "vitest";
import { spansOf, unionOf } from "./coverage.ts";

const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count });

test("a place was run as often as its innermost range says", () => {
  const module = range(0, 100, 1);
  const called = range(10, 50, 3);
  const branchNotTaken = range(20, 30, 0);
  const branchTakenInIt = range(22, 24, 1);
  const neverCalled = range(60, 90, 0);
  expect(spansOf([module, called, branchNotTaken, branchTakenInIt, neverCalled])).toEqual([
    0, 20, 22, 24, 30, 60, 90, 100,
  ]);
  expect(spansOf([range(0, 100, 0), range(10, 20, 1)])).toEqual([10, 20]);
  expect(spansOf([])).toEqual([]);
});

test("two processes run what either of them runs", () => {
  expect(unionOf([0, 20, 50, 60], [10, 30, 60, 70, 80, 90])).toEqual([0, 30, 50, 70, 80, 90]);
  expect(unionOf([], [5, 6])).toEqual([5, 6]);
});
