// Marks in the order of a key, which answers come in nearly: equal keys keep their order, and too much disorder is told.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Order } from "../../src/verify/mark-order.ts";
import { property } from "../support/property.ts";

/** Returns the numbers from 0 on in an order in which so many pairs stand the wrong way round. */
function disordered(size: number, pairs: number): Float64Array {
  const ranked: number[] = [];
  let left = pairs;
  for (let at = 0; at < size; at++) {
    const greater = Math.min(at, left);
    ranked.splice(at - greater, 0, at);
    left -= greater;
  }
  const keys = new Float64Array(size);
  for (const [rank, at] of ranked.entries()) keys[at] = rank;
  return keys;
}

property([fc.array(fc.array(fc.nat(9), { maxLength: 20 }), { minLength: 1, maxLength: 4 })])(
  "one order serves column after column, whatever their sizes",
  (columns) => {
    const order = new Order();
    for (const column of columns) {
      const sorted = column
        .map((key, mark) => ({ key, mark }))
        .sort((a, b) => a.key - b.key || a.mark - b.mark);
      expect(order.by(Float64Array.from(column), column.length)).toBe(true);
      expect([...order.marks.subarray(0, column.length)]).toEqual(sorted.map(({ mark }) => mark));
      expect([...order.keys.subarray(0, column.length)]).toEqual(sorted.map(({ key }) => key));
    }
  },
);

describe("sixteen pairs for each mark and 256 more may stand the wrong way round", () => {
  test.each([
    [100, 1856, true],
    [100, 1857, false],
    [60, 1216, true],
    [60, 1217, false],
    [30, 435, true],
  ])("of %d marks %d pairs: %s", (size, pairs, isOrdered) => {
    const order = new Order();
    expect(order.by(disordered(size, pairs), size)).toBe(isOrdered);
    if (isOrdered) expect([...order.keys.subarray(0, size)]).toEqual([...new Array(size).keys()]);
  });
});
