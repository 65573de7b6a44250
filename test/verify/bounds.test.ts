// Counts between bounds, in a window that was seen from its start: what must have been charged by an answer, and what may.
import { describe, expect, test } from "vitest";
import { type BoundsTask, judgeBounds } from "../../src/verify/bounds.ts";
import type { LawFinding } from "../../src/verify/finding.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { markOf, time } from "./marks.ts";

/** A call that held so many points, and left so many; calls follow each other by their lines. */
const call = (line: number, count: number, held = 1, left = held, given: Partial<Mark> = {}): Mark =>
  markOf({
    ...{ line, count, sent: 100 * line, received: 100 * line + 5 },
    ...{ cost: held, asked: held, least: left, most: left, held, ...given },
  });
const status = (line: number, count: number, given: Partial<Mark> = {}): Mark =>
  call(line, count, 0, 0, given);

function told(finding: LawFinding): unknown[] {
  switch (finding.kind) {
    case "short":
      return ["short", finding.mark.line, finding.least, finding.by.map(({ line }) => line)];
    case "excess":
    case "needless":
      return [finding.kind, finding.mark.line, finding.most];
    case "beyond":
      return ["beyond", finding.mark.line];
    default:
      return [finding.kind];
  }
}
function judged(marks: readonly Mark[], given: Partial<BoundsTask> = {}) {
  const { findings, pinned } = judgeBounds({
    ...{ marks, others: [], limit: 10, time, fromZero: true, complete: true, startedBy: 0 },
    ...{ keptFrom: Number.NEGATIVE_INFINITY, certainFrom: 0, binding: false, countsOwn: null, ...given },
  });
  return { found: findings.map(told), pinned };
}
const found = (marks: readonly Mark[], given: Partial<BoundsTask> = {}): unknown[] =>
  judged(marks, given).found;
const under = (sent: number, received: number): Partial<Mark> => ({ sent, received });

describe("a count", () => {
  test("of calls one after the other can have one value alone", () => {
    const marks = [call(2, 1), call(3, 3, 4, 2), status(4, 3), call(5, 4)];
    expect(judged(marks)).toEqual({ found: [], pinned: 4 });
    expect(judged(marks.toReversed())).toEqual({ found: [], pinned: 4 });
    expect(judged(marks, { complete: false }).pinned).toBe(0);
  });

  test("is none less than what was charged before it, and by its own call", () => {
    expect(found([call(2, 3, 3), call(3, 5, 3), status(4, 6)])).toEqual([["short", 3, 6, [2]]]);
    expect(found([call(2, 3, 3), call(3, 4, 1), call(4, 9, 5), status(5, 2)])).toEqual([
      ["short", 5, 9, [4]],
    ]);
    expect(found([call(2, 3, 3), call(3, 4, 1), call(4, 9, 5), status(5, 5)])).toEqual([
      ["short", 5, 9, [4, 2]],
    ]);
    expect(found([call(2, 0, 3)])).toEqual([["short", 2, 3, []]]);
  });

  test("is none more than what calls may hold that were sent before its answer", () => {
    expect(found([call(2, 2)])).toEqual([["excess", 2, 1]]);
    expect(found([call(2, 1), call(3, 3)])).toEqual([["excess", 3, 2]]);
    expect(found([call(2, 2)], { complete: false })).toEqual([]);
    // A call under way may hold all of its points, and one that is over holds what it left.
    const long = call(2, 1, 5, 1, under(200, 900));
    expect(judged([long, status(3, 5)])).toEqual({ found: [], pinned: 1 });
    expect(found([long, status(3, 6)])).toEqual([["excess", 3, 5]]);
    expect(found([long, status(3, 6, under(901, 910))])).toEqual([["excess", 3, 1]]);
    expect(found([long, status(3, 2, under(900, 910))])).toEqual([]);
  });

  test("of a call that was sent as another was answered is not surely after it", () => {
    const first = call(2, 1, 1, 1, under(100, 110));
    const second = (sent: number): Mark => call(3, 1, 1, 1, under(sent, 120));
    expect([found([first, second(110)]), found([first, second(111)])]).toEqual([[], [["short", 3, 2, [2]]]]);
    expect(found([first, second(90)])).toEqual([]);
  });

  test("lacks calls that were sent before the window surely was open, and those of a later one", () => {
    const early = [call(2, 1), call(3, 1)];
    expect([found(early), found(early, { certainFrom: 201 })]).toEqual([[["short", 3, 2, [2]]], []]);
    expect(found(early, { certainFrom: 200 })).toEqual([["short", 3, 2, [2]]]);
    const other = call(9, 0, 3, 3, under(100, 110));
    expect(judged([call(2, 4)], { others: [other] })).toEqual({ found: [], pinned: 0 });
    expect(found([call(2, 5)], { others: [other] })).toEqual([["excess", 2, 4]]);
    expect(found([call(2, 1)], { others: [other] })).toEqual([]);
  });

  test("that may be higher than it shows is none too low, unless the limit binds", () => {
    const marks = [call(2, 9, 9), call(3, 10, 3, 3, { clamped: true })];
    expect(judged(marks)).toEqual({ found: [], pinned: 1 });
    expect(found(marks, { binding: true })).toEqual([["short", 3, 12, [2]]]);
  });

  test("beyond a limit that binds is told", () => {
    const marks = [call(2, 10, 10), call(3, 11)];
    expect([found(marks), found(marks, { binding: true })]).toEqual([[], [["beyond", 3]]]);
    expect(found(marks, { binding: true, fromZero: false, complete: false })).toEqual([]);
  });
});

describe("a refusal that is counted", () => {
  const counted = { countsOwn: "user" } as const;
  const refused = (count: number, given: Partial<Mark> = {}): Mark =>
    call(3, count, 2, 2, { role: "refused", refusedBy: "user", ...given });

  test("is needless where all points by then fit, its own among them", () => {
    expect(found([call(2, 8, 8), refused(10)], counted)).toEqual([["needless", 3, 10]]);
    expect(found([call(2, 9, 9), refused(11)], counted)).toEqual([]);
    expect(found([call(2, 8, 8), refused(10)])).toEqual([]);
    expect(found([call(2, 8, 8), refused(10, { refusedBy: null })], counted)).toEqual([]);
    expect(found([call(2, 8, 8), refused(10)], { countsOwn: "organization" })).toEqual([]);
    expect(found([call(2, 8, 8), refused(10)], { ...counted, complete: false })).toEqual([]);
  });

  test("is not where its count is below the limit, or where it may be of another window", () => {
    expect(found([call(2, 7, 7), refused(9)], counted)).toEqual([]);
    expect(found([call(2, 10, 10), refused(10, { held: 0, least: 0, most: 0 })], counted)).toEqual([]);
  });

  test("is explained by what explains a count in excess", () => {
    expect(found([call(2, 8, 8), refused(10), status(4, 11)], counted)).toEqual([["excess", 4, 10]]);
  });
});
