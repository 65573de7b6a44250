// Later calls come out by their time.
import fc from "fast-check";
import { expect } from "vitest";
import { DueHeap } from "../../sim/replay/due.ts";
import { property } from "../support/property.ts";

property([fc.array(fc.nat(1_000), { maxLength: 300 })])("in order of time, whatever went in", (times) => {
  const heap = new DueHeap();
  for (const [item, timeMs] of times.entries()) heap.push(timeMs, item);
  const out: number[] = [];
  while (heap.firstMs < Number.POSITIVE_INFINITY) {
    const { firstMs } = heap;
    const item = heap.pop();
    expect(times[item]).toBe(firstMs);
    out.push(firstMs);
  }
  expect(out).toEqual(times.toSorted((a, b) => a - b));
});
