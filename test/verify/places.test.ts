// Counts that only grow, by the place that each answer shows: charges follow each other, in the order of time.
import { describe, expect, test } from "vitest";
import type { LawFinding } from "../../src/verify/finding.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { judgePlaces, type PlacesInput } from "../../src/verify/places.ts";
import { markOf, time } from "./marks.ts";

/** A call that asked for so many points and shows such a count; calls follow each other by their lines. */
const call = (line: number, count: number, points = 1, given: Partial<Mark> = {}): Mark =>
  markOf({
    ...{ line, count, sent: 100 * line, received: 100 * line + 5 },
    ...{ cost: points, asked: points, least: points, most: points, held: points, ...given },
  });
const status = (line: number, count: number, given: Partial<Mark> = {}): Mark =>
  call(line, count, 0, { role: "status", ...given });

function told(finding: LawFinding): unknown[] {
  switch (finding.kind) {
    case "gap":
      return ["gap", finding.from, finding.to, finding.above.line, finding.below?.line];
    case "overlap":
      return ["overlap", finding.mark.line, finding.over?.line, finding.lost];
    case "fall":
      return ["fall", finding.earlier.line, finding.later.line, finding.least];
    case "beyond":
      return ["beyond", finding.mark.line];
    default:
      return [finding.kind];
  }
}
const judged = (marks: readonly Mark[], given: Partial<PlacesInput> = {}) =>
  judgePlaces({
    ...{ marks, limit: 10, time, fromZero: true, complete: true, startedBy: 0 },
    ...{ certainFrom: Number.NEGATIVE_INFINITY, binding: false, ...given },
  });
const found = (marks: readonly Mark[], given: Partial<PlacesInput> = {}): unknown[] =>
  judged(marks, given).findings.map(told);

describe("places", () => {
  test("that follow each other are right, in whatever order they are told", () => {
    expect(found([call(2, 1), call(3, 4, 3), status(4, 4), call(5, 5), status(6, 5)])).toEqual([]);
    expect(found([status(6, 5), call(5, 5), status(4, 4), call(3, 4, 3), call(2, 1)])).toEqual([]);
    expect(found([])).toEqual([]);
  });

  test("that none took are gaps, below the answer that shows them", () => {
    expect(found([call(2, 2)])).toEqual([["gap", 0, 1, 2, undefined]]);
    expect(found([call(2, 1), status(3, 3), call(4, 6, 2)])).toEqual([
      ["gap", 1, 3, 3, 2],
      ["gap", 3, 4, 4, 3],
    ]);
    expect(found([call(2, 2), call(3, 7)], { complete: false })).toEqual([]);
  });

  test("that two took are overlaps, with the points that were lost", () => {
    expect(found([call(2, 1), call(3, 1)])).toEqual([["overlap", 3, 2, 1]]);
    // (1, 4] lies within (0, 5].
    expect(found([call(3, 5, 5), call(2, 4, 3)], { fromZero: false })).toEqual([["overlap", 3, 2, 4]]);
    expect(found([call(2, 5, 5), call(3, 6, 3)])).toEqual([["overlap", 3, 2, 2]]);
    expect(found([call(3, 5, 5), call(2, 3, 1)])).toEqual([
      ["gap", 0, 2, 2, undefined],
      ["overlap", 3, 2, 3],
    ]);
  });

  test("below 0 overlap what was before, even in a window that was open", () => {
    for (const fromZero of [true, false])
      expect(found([call(2, 1, 3)], { fromZero })).toEqual([["overlap", 2, undefined, 2]]);
    expect(found([call(2, 3, 3)], { fromZero: false })).toEqual([]);
  });

  test("of a window that was open are known from the first call since the trace began", () => {
    const marks = [call(2, 5), call(3, 8)];
    expect(found(marks, { fromZero: false, startedBy: 200 })).toEqual([["gap", 5, 7, 3, 2]]);
    expect(found(marks, { fromZero: false, startedBy: 201 })).toEqual([]);
  });

  test("beyond a limit that binds are told, if the window was seen from its start", () => {
    const marks = [call(2, 10, 10), call(3, 11)];
    expect(found(marks, { binding: true })).toEqual([["beyond", 3]]);
    expect([found(marks), found(marks, { binding: true, fromZero: false })]).toEqual([[], []]);
  });
});

describe("a count that may be higher than it shows", () => {
  const hidden = (line: number, points = 1): Mark => call(line, 10, points, { clamped: true });

  test("shows that the limit was reached", () => {
    expect(found([call(2, 8, 8), hidden(3), hidden(4)])).toEqual([["gap", 8, 10, 4, 2]]);
    expect(found([call(2, 10, 10), hidden(3)])).toEqual([]);
    expect(found([call(2, 8, 8), hidden(3)], { binding: true })).toEqual([["gap", 8, 9, 3, 2]]);
    expect(found([call(2, 9, 9), hidden(3)], { binding: true })).toEqual([]);
  });

  test("holds points of no known place, and so does a call that may be of another window or charge less", () => {
    const { loose } = judged([
      hidden(2, 3),
      call(3, 4, 4, { most: 5, held: 5 }),
      call(4, 8, 4),
      status(5, 8),
    ]);
    expect(loose).toEqual({ points: 8, calls: 2 });
    expect(judged([hidden(2, 3)], { binding: true }).loose).toEqual({ points: 0, calls: 0 });
    expect(judged([call(2, 1), call(3, 2)], { certainFrom: 201 }).loose).toEqual({ points: 1, calls: 1 });
    expect(judged([call(2, 1), call(3, 2)], { certainFrom: 200 }).loose).toEqual({ points: 0, calls: 0 });
    expect(found([call(2, 4, 4, { most: 5 })])).toEqual([["gap", 0, 4, 2, undefined]]);
  });
});

describe("time", () => {
  const at = (sent: number, received = sent): Partial<Mark> => ({ sent, received });

  test("agrees with places: what was answered before another was sent stands below it", () => {
    expect(found([call(2, 1, 1, at(100)), call(3, 2, 1, at(50, 99))])).toEqual([["fall", 3, 2, null]]);
    expect(found([call(2, 1, 1, at(100)), call(3, 2, 1, at(50, 100))])).toEqual([]);
    expect(found([call(2, 1, 1, at(100)), status(3, 2, at(50, 99)), call(4, 3, 1, at(20, 30))])).toEqual([
      ...[
        ["fall", 3, 2, null],
        ["gap", 1, 2, 3, 2],
        ["fall", 4, 2, null],
      ],
    ]);
  });

  test("is held to the latest that was sent below", () => {
    const marks = [call(2, 1, 1, at(100)), call(3, 2, 1, at(80, 120)), call(4, 3, 1, at(50, 99))];
    expect(found(marks)).toEqual([["fall", 4, 2, null]]);
    expect(found([call(2, 1, 1, at(80)), call(3, 2, 1, at(100, 120)), call(4, 3, 1, at(50, 99))])).toEqual([
      ["fall", 4, 3, null],
    ]);
  });

  test("says nothing of answers that add nothing to one count, and of each above", () => {
    expect(found([call(2, 1, 1, at(10)), status(3, 1, at(100)), status(4, 1, at(50, 60))])).toEqual([]);
    expect(found([call(2, 1, 1, at(100)), status(3, 1, at(50, 60))])).toEqual([["fall", 3, 2, null]]);
    const above = call(5, 2, 1, at(50, 60));
    expect(found([call(2, 1, 1, at(10)), status(3, 1, at(100)), above])).toEqual([["fall", 5, 3, null]]);
    expect(found([call(2, 1, 1, at(10)), status(3, 1, at(100)), status(4, 1, at(70)), above])).toEqual([
      ["fall", 5, 3, null],
    ]);
  });

  test("places an answer that hides its count above all others, and below none", () => {
    const hidden = (line: number, sent: number): Mark => call(line, 10, 1, { clamped: true, ...at(sent) });
    const full = call(2, 10, 10, at(100));
    expect(found([full, hidden(3, 50)])).toEqual([["fall", 3, 2, null]]);
    expect(found([full, hidden(3, 200), hidden(4, 150)])).toEqual([]);
  });
});
