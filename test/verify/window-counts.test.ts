// The counts of one window under a hypothesis: what passes its limit unseen, since no reading shows it.
import { expect, test } from "vitest";
import type { Mark } from "../../src/verify/mark.ts";
import { judgeWindow } from "../../src/verify/window-counts.ts";
import { countsInput, type GivenWindow, markOf } from "./marks.ts";

const admitted = (line: number, points: number, given: Partial<Mark> = {}): Mark =>
  markOf({
    ...{ line, sent: 100 * line, received: 100 * line + 5, limit: 5, count: 5, clamped: true },
    ...{ cost: points, asked: points, least: points, most: points, held: points, ...given },
  });

/** Accusations of a window whose limit of 5 was enforced, where a remaining of 0 may hide any count. */
function accused(marks: readonly Mark[], given: GivenWindow = {}) {
  const { terms, ...input } = countsInput({ limit: 5, refused: "counted", marks, ...given });
  const hypothesis = { terms, against: null };
  return judgeWindow(input, [hypothesis]).get(hypothesis)?.enforced;
}

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
