// The window of a reading, and its end: for figures and pictures.
import { describe, expect, test } from "vitest";
import { endedJustBefore, endOf, narrowed, takeOver, type WindowEnd } from "../../src/summary/window-ends.ts";

const ends = (...spans: (readonly [number, number])[]): WindowEnd[] =>
  spans.map(([earliestEnd, latestEnd]) => ({ windowMs: 60_000, earliestEnd, latestEnd }));

describe("a reading is of the window that its span meets", () => {
  const windows = (): WindowEnd[] => ends([10_000, 11_000], [70_000, 71_000]);
  test.each([
    ["and narrows it from both sides", 10_200, 10_800, [10_200, 10_800]],
    ["and narrows its begin", 10_200, 11_500, [10_200, 11_000]],
    ["and narrows its end", 9_500, 10_800, [10_000, 10_800]],
    ["and leaves it, where the span is wider", 9_500, 11_500, [10_000, 11_000]],
    ["in one instant", 11_000, 12_000, [11_000, 11_000]],
  ])("%s", (_name, earliest, latest, expected) => {
    const known = windows();
    const found = narrowed(known, earliest, latest);
    expect(found).toBe(known[0]);
    expect([found?.earliestEnd, found?.latestEnd]).toEqual(expected);
  });

  test.each([
    ["half a second behind it", 11_500, 12_500, 0],
    ["half a second before it", 8_500, 9_500, 0],
    ["half a second before the next", 68_500, 69_500, 1],
  ])("up to %s, which narrows nothing", (_name, earliest, latest, index) => {
    const known = windows();
    expect(narrowed(known, earliest, latest)).toBe(known[index]);
    expect(known).toEqual(windows());
  });

  test.each([
    ["further behind", 11_501, 12_500],
    ["further before", 8_500, 9_499],
  ])("and of a new one %s", (_name, earliest, latest) => {
    expect(narrowed(windows(), earliest, latest)).toBeUndefined();
  });

  test("of two that it meets, of the one that it meets more of", () => {
    const known = ends([10_000, 11_000], [10_900, 11_900]);
    expect(narrowed(known, 10_950, 11_800)).toBe(known[1]);
    expect(narrowed(ends([10_000, 11_000], [10_900, 11_900]), 10_000, 11_000)?.earliestEnd).toBe(10_000);
  });
});

test("a window is over two minutes after its end, when no later line can tell of it", () => {
  const windows = ends([10_000, 11_000], [70_000, 71_000]);
  expect(takeOver(windows, 131_000)).toBeUndefined();
  expect(windows).toHaveLength(2);
  expect(takeOver(windows, 131_001)).toMatchObject({ latestEnd: 11_000 });
  expect(takeOver(windows, 131_001)).toBeUndefined();
  expect(windows).toHaveLength(1);
  expect(takeOver([], 131_001)).toBeUndefined();
});

describe("a window ends", () => {
  test.each([
    ["on a multiple of its length", 60_000, 59_300, 60_200, 60_000],
    ["on one at the span's begin", 60_000, 60_000, 60_900, 60_000],
    ["on one at the span's end", 60_000, 59_100, 60_000, 60_000],
    ["on one beside the middle of its span", 60_000, 60_000, 62_000, 60_000],
    ["on a whole second, where no multiple fits", 60_000, 61_600, 62_500, 62_000],
    ["on a whole second, where no length is known", null, 59_300, 60_200, 60_000],
    ["on the second that its span begins with", null, 62_000, 62_400, 62_000],
    ["on the second that its span ends with", null, 61_600, 62_000, 62_000],
    ["in the middle of a span without one", null, 62_100, 62_300, 62_200],
    ["in the middle of a span behind one", null, 62_001, 62_400, 62_201],
    ["in the middle of a span before one", null, 61_600, 61_999, 61_800],
  ])("%s", (_name, windowMs, earliestEnd, latestEnd, expected) => {
    expect(endOf({ windowMs, earliestEnd, latestEnd })).toBe(expected);
  });
});

describe("a window ended less than a second before", () => {
  test.each([
    ["at its end", 60_000, true],
    ["999 ms after", 60_999, true],
    ["not a second after", 61_000, false],
    ["nor one ms before", 59_999, false],
    ["after the second one", 120_500, true],
    ["nor long after all", 200_000, false],
  ])("%s", (_name, atMs, expected) => {
    expect(endedJustBefore(ends([59_500, 60_400], [119_500, 120_400]), atMs)).toBe(expected);
  });

  test("at the end of a span that is known to the ms", () => {
    expect(
      [59_999, 60_000, 60_999, 61_000].map((atMs) => endedJustBefore(ends([60_000, 60_000]), atMs)),
    ).toEqual([false, true, true, false]);
  });
});
