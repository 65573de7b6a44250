// The counts of one window under a hypothesis: what passes its limit unseen, since no reading shows it.
import { describe, expect, test } from "vitest";
import type { Mark } from "../../src/verify/mark.ts";
import { judgeWindow } from "../../src/verify/window-counts.ts";
import { countsInput, type GivenWindow, markOf } from "./marks.ts";

const admitted = (line: number, points: number, given: Partial<Mark> = {}): Mark =>
  markOf({
    ...{ line, sent: 100 * line, received: 100 * line + 5, limit: 5, count: 5, clamped: true },
    ...{ cost: points, asked: points, least: points, most: points, held: points, ...given },
  });

function judged(marks: readonly Mark[], given: GivenWindow = {}, givesBack = true) {
  const { terms, ...window } = countsInput({ limit: 5, refused: "counted", marks, ...given });
  const input = { ...window, setting: { ...window.setting, givesBack } };
  const hypothesis = { terms, against: null };
  return judgeWindow(input, [hypothesis]).get(hypothesis);
}

/** Accusations of a window whose limit of 5 was enforced, where a remaining of 0 may hide any count. */
const accused = (...window: Parameters<typeof judged>) => judged(...window)?.enforced;

test("calls that were told one count that may be hidden took one place only if the limit was enforced", () => {
  const told = (...counts: readonly number[]): readonly Mark[] =>
    counts.map((count, index) => admitted(index + 2, 1, { count, clamped: count >= 5 }));
  const of = (...counts: readonly number[]) => {
    const { enforced = [], otherwise = [] } = judged(told(...counts), { refused: "uncounted" }) ?? {};
    return [enforced.length, otherwise.length];
  };
  expect(of(1, 2, 3, 4, 5)).toEqual([0, 0]);
  expect(of(1, 2, 3, 4, 5, 5)).toEqual([1, 0]);
  expect(of(1, 2, 3, 3, 4)).toEqual([1, 1]);
});

test("the fewest calls that passed the limit together are told, the dearest first", () => {
  const calls = [
    ...[admitted(2, 1), admitted(3, 2), admitted(4, 3), admitted(5, 2)],
    ...[admitted(6, 9, { role: "refused" }), admitted(7, 0)],
  ];
  expect(accused(calls)).toMatchObject([
    {
      law: "refusal-justified",
      explanation:
        "3 calls of this window, one a line, were let through with 7 requests in all, more than its limit of 5 that is " +
        "enforced: the last of them found no room",
      lines: [3, 4, 5],
    },
  ]);
});

test("of calls that cost the same, the earliest are told; as many points as the limit are none too many", () => {
  const calls = [admitted(9, 2), admitted(3, 2), admitted(2, 2), admitted(5, 2)];
  expect(accused(calls)).toMatchObject([{ lines: [2, 3, 5] }]);
  expect(accused([admitted(2, 2), admitted(3, 3)])).toEqual([]);
});

test("calls that may belong to the window before are not told, nor is any of a window whose start was not seen", () => {
  const calls = [admitted(2, 4), admitted(3, 3), admitted(4, 3)];
  const late = { openedBy: 300, charging: "reserved" } as const;
  expect(accused(calls, late)).toContainEqual(expect.objectContaining({ breach: "overrun", lines: [3, 4] }));
  expect(accused(calls, { fromZero: false })).toEqual([]);
});

describe("after an answer below the limit", () => {
  const shown = (line: number, count: number, given: Partial<Mark> = {}): Mark =>
    admitted(line, 1, { count, clamped: count >= 5, ...given });
  const counts = (...given: readonly number[]): readonly Mark[] =>
    given.map((count, index) => shown(index + 2, count));
  /** A window of which the first two calls may be of the one before. */
  const late = { openedBy: 400, charging: "reserved", refused: "uncounted" } as const;

  test("a call too many is told by the fewest calls since, though the window's first may be of another", () => {
    expect(accused(counts(1, 2, 3, 4, 5, 5), late, false)).toMatchObject([
      {
        law: "conserved",
        breach: "overrun",
        explanation:
          "line 5 was told remaining 1 of 5, a count of 4; with the 2 calls let through that were sent after that answer " +
          "it is at least 6, more than the limit of 5 that is enforced: one of them was not counted",
        lines: [5, 6, 7],
      },
    ]);
  });

  test("as many calls as the limit are none too many, even where one may be of the window before", () => {
    expect(accused(counts(1, 2, 3, 4, 5), late, false)).toEqual([]);
    // Line 2 was charged before this window opened.
    expect(accused(counts(0, 1, 2, 3, 4, 5), late, false)).toEqual([]);
  });

  test("a count that may fall again proves nothing of later calls", () => {
    expect(accused(counts(1, 2, 3, 4, 5, 5), late, true)).toEqual([]);
  });

  test("calls that overlap the answer may be in its count", () => {
    const calls = [...counts(0, 0, 2, 2, 3, 4, 5)];
    // Line 4 is answered after line 5 was sent.
    calls[2] = shown(4, 2, { received: 505 });
    expect(accused(calls, late, false)).toEqual([]);
  });
});
