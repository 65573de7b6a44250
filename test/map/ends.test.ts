// Lengths of windows by the ends that answers show: settled rightly, or not at all.
import { describe, expect, test } from "vitest";
import { anchorOf, likelySeconds, type ShownEnd, settledSeconds, windowEnds } from "../../src/map/ends.ts";

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
