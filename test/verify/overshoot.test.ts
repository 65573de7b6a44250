// The error of one window: calls and points that surely belong to it, and the age of a reading that lags.
import { describe, expect, test } from "vitest";
import type { LawFinding } from "../../src/verify/finding.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { overshootOf } from "../../src/verify/overshoot.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import { countsInput, type GivenWindow, markOf } from "./marks.ts";

const name = rulesQuota("acme", "ann", "graphql");

const overshoot = (marks: readonly Mark[], findings: readonly LawFinding[] = [], given: GivenWindow = {}) =>
  overshootOf(countsInput({ name, marks, certainFrom: 100, ...given }), findings);

const call = (sent: number, points: number, given: Partial<Mark> = {}): Mark =>
  markOf({ sent, received: sent + 5, asked: points, least: points, most: points, held: points, ...given });
const status = (sent: number, count: number): Mark =>
  markOf({ role: "status", sent, received: sent + 5, count, asked: 0, least: 0, most: 0, held: 0 });
const refusal = (sent: number, given: Partial<Mark> = {}): Mark =>
  markOf({
    role: "refused",
    refusedBy: "user",
    sent,
    received: sent + 5,
    least: 0,
    most: 0,
    held: 0,
    ...given,
  });

test("calls that were let through and refused are counted; status calls, and those of other kinds, are not", () => {
  const marks = [
    call(100, 3),
    call(101, 4),
    refusal(102),
    status(103, 7),
    call(104, 2, { role: "other" }),
    refusal(105, { asked: 0 }),
  ];
  expect(overshoot(marks)).toEqual({
    admitted: 2,
    refused: 1,
    points: 7,
    overAdmitted: 0,
    wronglyRefused: 0,
    stalenessMs: null,
  });
});

test("points count from when a call surely belongs to the window, that instant included", () => {
  expect(overshoot([call(99, 3), call(100, 4), call(101, 5)])).toMatchObject({ admitted: 3, points: 9 });
});

test.each([
  ["12 of 10 points", "at-decision", 12, 2],
  ["10 of 10", "at-decision", 10, 0],
  ["9 of 10", "at-decision", 9, 0],
  ["12 of 10, where the last call may pass the limit", "postpaid", 12, 0],
  ["12 of 10, where points are reserved", "reserved", 12, 2],
] as const)("above the limit: %s", (_name, charging, points, expected) => {
  expect(overshoot([call(100, points)], [], { charging }).overAdmitted).toBe(expected);
});

describe("refused although there was room", () => {
  const above = status(300, 9);
  const gap: LawFinding = { kind: "gap", from: 4, to: 9, above, below: null };
  const [fits, one] = [call(100, 8), refusal(200, { asked: 2 })];
  test.each([
    ["one that would have fitted exactly", [fits, one], {}, 1],
    ["one that needed a point more", [fits, refusal(200, { asked: 3 })], {}, 0],
    ["two of them", [fits, one, refusal(201, { asked: 1 })], {}, 2],
    ["one that another window refused", [fits, refusal(200, { asked: 2, refusedBy: "organization" })], {}, 0],
    ["one in a window whose start was not seen", [fits, one], { fromZero: false }, 0],
    ["one where calls are missing", [fits, one], { complete: false }, 0],
    ["one before the calls that filled the window", [call(300, 8), refusal(200, { asked: 8 })], {}, 1],
  ] as const)("%s", (_name, marks, given, expected) => {
    expect(overshoot(marks, [gap], given).wronglyRefused).toBe(expected);
    expect(overshoot(marks, [{ kind: "excess", mark: above, most: 4 }], given).wronglyRefused).toBe(expected);
  });

  test("is said only where something is charged that no call explains", () => {
    expect(overshoot([fits, one], []).wronglyRefused).toBe(0);
    expect(overshoot([fits, one], [{ kind: "beyond", mark: above }]).wronglyRefused).toBe(0);
  });
});

describe("the age of a reading that lags", () => {
  const grown = [call(100, 1), call(200, 1, { count: 2 }), call(300, 1, { count: 3 })];
  const late = status(900, 1);
  const fall: LawFinding = { kind: "fall", earlier: grown[2] as Mark, later: late, least: null };
  // The count passed 1 by 205, or a millisecond later: clients' clocks show whole ones.
  const age = 900 - 206;
  test.each([
    ["by a count that fell", [fall], age],
    ["by one that is short", [{ kind: "short", mark: late, least: 3, by: [] }], age],
    ["by one that a charge took", [{ kind: "overlap", mark: grown[0] as Mark, over: late, lost: 1 }], age],
    [
      "the oldest of several",
      [fall, { ...fall, later: status(950, 1) }, { ...fall, later: status(920, 1) }],
      age + 50,
    ],
    ["of charges, which are no readings", [{ ...fall, later: call(900, 1) }], null],
    ["of none", [{ kind: "overlap", mark: grown[0] as Mark, over: null, lost: 1 }], null],
    ["of one that nothing passed", [{ ...fall, later: status(900, 3) }], null],
    ["of one sent as the count passed it", [{ ...fall, later: status(206, 1) }], null],
    ["of one sent a millisecond after", [{ ...fall, later: status(207, 1) }], 1],
    ["where a gap shows none", [{ kind: "gap", from: 0, to: 1, above: late, below: null }], null],
  ] as const)("%s", (_name, findings, expected) => {
    expect(overshoot(grown, findings).stalenessMs).toBe(expected);
  });

  test.each([
    [
      "at the first answer of those that had left more",
      [call(300, 2), call(100, 1), call(200, 1)],
      900 - 206,
    ],
    ["not by as many points", [call(100, 1)], null],
    ["not by calls of the window before", [call(50, 5), call(100, 1)], null],
    ["not by calls that left nothing", [call(100, 1), status(300, 9)], null],
  ])("where points are given back: %s", (_name, marks, expected) => {
    expect(overshoot(marks, [fall], { charging: "reserved" }).stalenessMs).toBe(expected);
  });

  test("is told of a hundred readings", () => {
    const falls = Array.from(
      { length: 101 },
      (_, at): LawFinding => ({ ...fall, later: status(900 + at, 1) }),
    );
    expect(overshoot(grown, falls).stalenessMs).toBe(age + 99);
  });
});
