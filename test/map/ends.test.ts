// Lengths of windows by the ends that answers show: settled rightly, or not at all.
import { describe, expect, test } from "vitest";
import {
  anchorOf,
  isRoundedUp,
  likelySeconds,
  longestWaitMs,
  mostSeconds,
  type ShownEnd,
  settledSeconds,
  windowEnds,
} from "../../src/map/ends.ts";

const rounds = { ceil: Math.ceil, floor: Math.floor, round: Math.round };
type Round = keyof typeof rounds;

/** A window's ends as an audit looks at them: thrice, around the first end, and once off the grid. */
function looked(
  seconds: number,
  anchor: "epoch" | "first-request",
  round: Round,
  phaseMs: number,
): ShownEnd[] {
  const lengthMs = seconds * 1000;
  const shown: ShownEnd[] = [];
  let endMs = 0;
  const look = (atMs: number): void => {
    if (atMs >= endMs)
      endMs = anchor === "epoch" ? (Math.floor(atMs / lengthMs) + 1) * lengthMs : atMs + lengthMs;
    const afterMs = rounds[round]((endMs - atMs) / 1000) * 1000;
    shown.push({
      atMs: atMs + 3,
      caller: "ann",
      reset: { afterMs, atMs: null, gridMs: 1000, means: "window-end" },
    });
  };
  const start = 1_700_000_000_000 + phaseMs;
  for (const at of [0, 2350, 4700]) look(start + at);
  const [first = 0] = windowEnds(shown);
  let now = first - 350;
  for (let turn = 0; turn < 12 && windowEnds(shown).length < 2; turn++) {
    look(now);
    now += 203;
  }
  look(now + lengthMs * 1.37);
  return shown;
}

const shownAt = (...rows: readonly (readonly [atMs: number, seconds: number])[]): ShownEnd[] =>
  rows.map(([atMs, seconds]) => ({
    atMs,
    caller: "ann",
    reset: { afterMs: seconds * 1000, atMs: null, gridMs: 1000, means: "window-end" },
  }));

describe("the length of windows", () => {
  test.each<Round>(["ceil", "floor", "round"])("is settled rightly, or left open: resets by %s", (round) => {
    const wrong: unknown[] = [];
    let settled = 0;
    let tried = 0;
    for (const anchor of ["epoch", "first-request"] as const)
      for (let seconds = 6; seconds <= 90; seconds++)
        for (let phaseMs = 0; phaseMs < 20_000; phaseMs += 1_733) {
          tried += 1;
          const found = settledSeconds(looked(seconds, anchor, round, phaseMs));
          settled += found === null ? 0 : 1;
          if (found !== null && found !== seconds) wrong.push([anchor, seconds, phaseMs, found]);
        }
    expect(wrong).toEqual([]);
    if (round === "ceil") expect(settled / tried).toBeGreaterThan(0.9);
    else expect(settled / tried).toBeLessThan(0.05);
  });

  test("is none by one window, and none by whole seconds that leave several", () => {
    expect(settledSeconds([])).toBeNull();
    expect(settledSeconds(shownAt([0, 60], [2_500, 58]))).toBeNull();
    expect(settledSeconds(shownAt([0, 8], [9_000, 8], [18_000, 8]))).toBeNull();
    expect(likelySeconds(shownAt([0, 8], [9_000, 8], [18_000, 8]))).toBe(10);
    expect(settledSeconds(shownAt([10, 10], [11_010, 10]))).toBeNull();
    expect(settledSeconds(shownAt([10, 10], [510, 10], [9_960, 1], [10_210, 10]))).toBe(10);
  });

  test("is not taken for twice itself", () => {
    expect(settledSeconds(shownAt([250, 30], [2_600, 28], [30_060, 1], [30_320, 30]))).toBe(30);
    expect(likelySeconds(shownAt([0, 30], [2_000, 28], [31_000, 30]))).toBe(30);
  });

  /** Ends that allow all lengths from the one to the other: no wait is longer than a window, and no windows overlap. */
  const allowing = (least: number, most: number): ShownEnd[] =>
    shownAt([10, least], [1_000 * most - 990, least]);

  test.each([
    [9, 14, 10],
    [9, 15, null],
    [11, 14, null],
    [11, 11, 11],
    [24, 30, 30],
    [23, 30, null],
  ])("of %i to %i s is likely if one alone is plain, among fewer than eight: %j", (least, most, likely) => {
    expect(likelySeconds(allowing(least, most))).toBe(likely);
  });

  test("is likelier if people choose it", () => {
    const pairs = Array.from({ length: 8_000 }, (_, index) => likelySeconds(allowing(index + 1, index + 2)));
    expect([...new Set(pairs)].filter((seconds) => seconds !== null)).toEqual([
      ...[5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600],
    ]);
  });

  /** Ends that answers tell to the millisecond. */
  const exact = (...rows: readonly (readonly [atMs: number, afterMs: number])[]): ShownEnd[] =>
    rows.map(([atMs, afterMs]) => ({
      ...{ atMs, caller: "ann" },
      reset: { afterMs, atMs: null, gridMs: 1, means: "window-end" },
    }));
  /** Ends as instants in whole seconds. */
  const instants = (...rows: readonly (readonly [atMs: number, endMs: number])[]): ShownEnd[] =>
    rows.map(([atMs, endMs]) => ({
      ...{ atMs, caller: "ann" },
      reset: { afterMs: null, atMs: endMs, gridMs: 1_000, means: "window-end" },
    }));

  test("is settled if one alone is possible", () => {
    expect(settledSeconds(exact([10, 9_000], [9_710, 9_000]))).toBe(9);
    expect(settledSeconds(exact([10, 9_000], [9_810, 9_000]))).toBeNull();
  });

  test.each([
    ["spans, but for their step and the way", shownAt([10, 9], [14_009, 9]), 15],
    ["spans of answers whose Date alone tells their time", shownAt([1_000, 9], [14_999, 9]), 16],
    ["instants, of which each may be a step off", instants([10, 9_000], [14_009, 23_799]), 16],
    ["instants that are a moment further apart", instants([10, 9_000], [14_009, 23_800]), 17],
    ["an end that was shown half a second apart", shownAt([10, 9], [510, 9], [14_009, 9]), 14],
    ["ends in whatever order answers are given", shownAt([14_009, 9], [10, 9], [510, 9]), 14],
    ["the closest of three ends", shownAt([10, 9], [20_010, 9], [34_009, 9]), 15],
    ["one end, which tells nothing", shownAt([10, 9]), Number.POSITIVE_INFINITY],
    ["none", [], Number.POSITIVE_INFINITY],
  ])("is at most what is between %s", (_, ends, most) => {
    expect(mostSeconds(ends)).toBe(most);
  });

  test("is no shorter than the longest wait", () => {
    expect(longestWaitMs([])).toBe(0);
    expect(longestWaitMs(exact([10, 900], [20, 1_234], [30, 1_000]))).toBe(1_234);
    expect(longestWaitMs(instants([10, 5]))).toBe(0);
  });

  test("is counted between ends that lie more than two seconds apart: others are one", () => {
    expect(windowEnds(exact([10, 9_000], [2_010, 9_000]))).toEqual([9_010]);
    expect(windowEnds(exact([10, 9_000], [2_011, 9_000]))).toEqual([9_010, 11_011]);
  });

  test("is surely rounded up if one still waits less than half a second before the next end", () => {
    const rounded = (...rows: (readonly [atMs: number, seconds: number])[]) => isRoundedUp(shownAt(...rows));
    expect(rounded([10, 9], [9_010, 1], [9_310, 9])).toBe(true);
    expect(rounded([9_310, 9], [9_010, 1], [10, 9])).toBe(true);
    expect(rounded([10, 9], [9_010, 1], [9_311, 9])).toBe(false);
    expect(rounded([10, 9], [9_010, 0], [9_310, 9])).toBe(false);
  });
});

describe("the anchor", () => {
  const from = 1_700_000_040_000;
  test("is Unix time's grid, each first call, or unknown on another grid", () => {
    expect(anchorOf([], 20)).toBeNull();
    expect(anchorOf([from, from + 21_000], 20)).toBe("epoch");
    expect(anchorOf([from], 20)).toBe("epoch");
    // Of one end, a second beside the grid may be chance.
    expect(anchorOf([from + 1], 20)).toBeNull();
    expect(anchorOf([from - 1_000], 20)).toBeNull();
    expect(anchorOf([from + 1_001], 20)).toBe("first-request");
    expect(anchorOf([from + 7_000, from + 34_500], 20)).toBe("first-request");
    expect(anchorOf([from + 7_000, from + 27_000], 20)).toBe("first-request");
    expect(anchorOf([from + 7_000, from + 27_000, from + 67_400], 20)).toBeNull();
  });
});
