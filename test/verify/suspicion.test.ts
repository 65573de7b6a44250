// Findings in one window, as a verdict tells them: the law, the sentence with its arithmetic, and the lines.
import { describe, expect, test } from "vitest";
import type { LawFinding } from "../../src/verify/finding.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import { suspicionsOf } from "../../src/verify/suspicion.ts";
import { countsInput, markOf } from "./marks.ts";

const none = { points: 0, calls: 0 };
const call = (line: number, count: number, given: Partial<Mark> = {}): Mark =>
  markOf({ line, count, ...given });
const status = (line: number, count: number): Mark =>
  call(line, count, { role: "status", asked: 0, least: 0 });
const refusal = (line: number, count: number, given: Partial<Mark> = {}): Mark =>
  call(line, count, { role: "refused", refusedBy: "user", least: 0, ...given });

function told(findings: readonly LawFinding[], loose = none, name = rulesQuota("acme", "ann", "graphql")) {
  return suspicionsOf(countsInput({ name }), findings, loose).map(
    ({ law, explanation, lines, count, unexplained, tooLow }) => ({
      law,
      explanation,
      lines,
      count,
      unexplained,
      tooLow,
    }),
  );
}
const words = (findings: readonly LawFinding[], loose = none, name?: ReturnType<typeof rulesQuota>) =>
  told(findings, loose, name).map(({ law, explanation }) => [law, explanation]);

test("nothing found is nothing told", () => {
  expect(told([])).toEqual([]);
});

describe("charges in one place", () => {
  const overlap = (mark: Mark, over: Mark | null, lost: number): LawFinding => ({
    kind: "overlap",
    mark,
    over,
    lost,
  });
  const three = { least: 3 };
  test.each([
    [
      "of two calls alike",
      overlap(call(5, 4, three), call(3, 4, three), 3),
      "lines 3 and 5 were both told remaining 6 of 10, each for 3 points of its own: one update was lost",
    ],
    [
      "of calls that lost some of it",
      overlap(call(5, 4, three), call(3, 4, three), 2),
      "line 5 added 3 points and was told remaining 6 of 10, which is the place (1, 4]; line 3 was told remaining 6 of 10, " +
        "which lies in it: 2 points were lost",
    ],
    [
      "of calls that were told different counts",
      overlap(call(5, 4), call(3, 5), 1),
      "line 5 added 1 point and was told remaining 6 of 10, which is the place (3, 4]; line 3 was told remaining 5 of 10, " +
        "which lies in it: 1 point was lost",
    ],
    [
      "of a call and a status call",
      overlap(call(5, 4), status(3, 4), 1),
      "line 5 added 1 point and was told remaining 6 of 10, which is the place (3, 4]; line 3 was told count 4 of 10, " +
        "which lies in it: 1 point was lost",
    ],
    [
      "of calls that cost differently",
      overlap(call(5, 4), call(3, 4, three), 1),
      "line 5 added 1 point and was told remaining 6 of 10, which is the place (3, 4]; line 3 was told remaining 6 of 10, " +
        "which lies in it: 1 point was lost",
    ],
    [
      "of a call that is told less than its own",
      overlap(call(5, 1, three), null, 2),
      "line 5 added 3 points and was told remaining 9 of 10, a count of 1: 2 points of its own were not counted",
    ],
    [
      "of one that is told one less",
      overlap(call(5, 2, three), null, 1),
      "line 5 added 3 points and was told remaining 8 of 10, a count of 2: 1 point of its own was not counted",
    ],
  ])("%s", (_name, finding, explanation) => {
    expect(words([finding])).toEqual([["conserved", explanation]]);
  });

  test("are told by the first, with its lines in order and the number of all", () => {
    const findings = [overlap(call(5, 4), call(3, 4), 1), overlap(call(9, 6), call(8, 6), 1)];
    expect(told(findings)).toMatchObject([{ lines: [3, 5], count: 2, unexplained: null, tooLow: "charges" }]);
    expect(told([overlap(call(12, 1), null, 1)])).toMatchObject([{ lines: [12], tooLow: "charges" }]);
    expect(told([overlap(call(12, 4), status(3, 4), 1)])).toMatchObject([
      { lines: [3, 12], tooLow: "readings" },
    ]);
  });
});

describe("charges that no call made", () => {
  const gap = (from: number, to: number, above: Mark, below: Mark | null = null): LawFinding => ({
    kind: "gap",
    from,
    to,
    above,
    below,
  });
  test.each([
    [
      "one point",
      [gap(3, 4, call(5, 5))],
      "line 5 was told remaining 5 of 10, but no call took (3, 4]: 1 point of this window is charged that no call explains",
    ],
    [
      "two points",
      [gap(3, 5, call(5, 6))],
      "line 5 was told remaining 4 of 10, but no call took (3, 5]: 2 points of this window are charged that no call explains",
    ],
    [
      "of two gaps",
      [gap(3, 4, call(5, 5)), gap(6, 8, call(7, 9))],
      "line 5 was told remaining 5 of 10, but no call took (3, 4]: 3 points of this window are charged that no call explains",
    ],
    [
      "above the limit",
      [gap(10, 11, call(5, 12))],
      "line 5 was told count 12 of 10, but no call took (10, 11]: 1 point of this window is charged that no call explains",
    ],
  ])("%s", (_name, findings, explanation) => {
    expect(words(findings)).toEqual([["conserved", explanation]]);
  });

  test("count as unexplained but for what may lie anywhere; what that explains is not told", () => {
    const findings = [gap(3, 4, call(5, 5), call(2, 3)), gap(6, 8, call(7, 9))];
    expect(told(findings)).toMatchObject([
      { lines: [2, 5], unexplained: { points: 3, calls: 2 }, tooLow: null },
    ]);
    expect(told(findings, { points: 1, calls: 1 })).toMatchObject([{ unexplained: { points: 2, calls: 1 } }]);
    expect(told(findings, { points: 5, calls: 1 })).toMatchObject([{ unexplained: { points: 0, calls: 1 } }]);
    expect(told(findings, { points: 1, calls: 5 })).toMatchObject([{ unexplained: { points: 2, calls: 0 } }]);
    expect(told(findings, { points: 3, calls: 2 })).toEqual([]);
  });

  const fresh =
    "line 5 was refused, told remaining 0 of 10, although no call had been charged to this window yet";
  const conserved = expect.stringContaining("that no call explains");
  test.each([
    ["its own", gap(0, 10, refusal(5, 10)), "recovers", fresh],
    ["its own, of a call as large as the limit", gap(0, 10, refusal(5, 10, { cost: 10 })), "recovers", fresh],
    ["its own, of one that is larger", gap(0, 10, refusal(5, 10, { cost: 11 })), "conserved", conserved],
    ["its own, of one of no known cost", gap(0, 10, refusal(5, 10, { cost: null })), "conserved", conserved],
    ["another window's", gap(0, 10, refusal(5, 10, { refusedBy: "organization" })), "conserved", conserved],
    ["its own, where calls were charged before", gap(1, 10, refusal(5, 10)), "conserved", conserved],
    ["none, but a call that was let through", gap(0, 10, call(5, 10)), "conserved", conserved],
  ])("from the window's start, shown by a refusal of %s", (_name, finding, law, explanation) => {
    expect(words([finding])).toEqual([[law, explanation]]);
  });
});

test("a count that fell is told with the time between", () => {
  const earlier = call(3, 7, { sent: 100, received: 110 });
  const fall = (later: Mark): LawFinding => ({ kind: "fall", earlier, later, least: null });
  expect(told([fall(call(5, 4, { sent: 150 })), fall(call(6, 4, { sent: 160 }))])).toEqual([
    {
      law: "monotone",
      explanation:
        "line 3 was told remaining 3 of 10, and 40 ms after that answer line 5 was sent and told remaining 6 of 10: " +
        "the count fell within the window",
      lines: [3, 5],
      count: 2,
      unexplained: null,
      tooLow: "charges",
    },
  ]);
  expect(told([fall(status(5, 4))])).toMatchObject([{ tooLow: "readings" }]);
});

test("a count above the limit", () => {
  expect(told([{ kind: "beyond", mark: call(5, 11) }])).toMatchObject([
    {
      law: "bounded",
      explanation: "line 5 was told a count of 11, which is above the limit of 10 that is enforced",
      lines: [5],
      tooLow: "charges",
    },
  ]);
});

describe("a count below what calls had left", () => {
  const short = (by: readonly Mark[], mark = call(9, 2)): LawFinding => ({
    kind: "short",
    mark,
    least: 6,
    by,
  });
  const lines = (...all: number[]): Mark[] => all.map((line) => call(line, 1));
  test.each([
    ["five calls are named", lines(2, 3, 4, 5, 6), "then (2, 3, 4, 5, 6) had"],
    ["six are not", lines(2, 3, 4, 5, 6, 7), "then had"],
    ["none are not", [], "then had"],
  ])("%s", (_name, by, named) => {
    expect(words([short(by)])).toEqual([
      [
        "conserved",
        `line 9 was told remaining 8 of 10, a count of 2, but calls that were surely charged to this window by ${named} left 6 points there`,
      ],
    ]);
  });

  test("is told with the lines of all of them", () => {
    expect(told([short(lines(6, 3))])).toMatchObject([{ lines: [3, 6, 9], tooLow: "charges" }]);
    expect(told([short([], status(9, 2))])).toMatchObject([{ tooLow: "readings" }]);
  });
});

test("more let through than fits is told with a hundred lines at most", () => {
  const overrun = (count: number): LawFinding => ({
    kind: "overrun",
    after: null,
    marks: Array.from({ length: count }, (_, at) => call(at + 2, 1)),
    sum: count,
  });
  expect(told([overrun(11)])).toMatchObject([
    {
      law: "refusal-justified",
      explanation:
        "11 calls of this window, one a line, were let through with 11 points in all, more than its limit of 10 that is " +
        "enforced: the last of them found no room",
      lines: Array.from({ length: 11 }, (_, at) => at + 2),
      tooLow: "charges",
    },
  ]);
  expect(told([overrun(100)])[0]?.explanation).toContain("100 calls of this window, one a line,");
  const [many] = told([overrun(101)]);
  expect(many?.explanation).toContain("101 calls of this window, among them those of the lines below,");
  expect(many?.lines).toHaveLength(100);
});

describe("a count above all that calls can have charged", () => {
  const excess = (mark: Mark, most: number): LawFinding => ({ kind: "excess", mark, most });
  test("is told by the worst", () => {
    expect(told([excess(call(5, 6), 4), excess(call(7, 9), 5), excess(call(8, 9), 6)])).toEqual([
      {
        law: "conserved",
        explanation:
          "line 7 was told remaining 1 of 10, a count of 9, but all calls that can have been charged to this window by then " +
          "come to at most 5 points",
        lines: [7],
        count: 3,
        unexplained: { points: 4, calls: 1 },
        tooLow: null,
      },
    ]);
  });

  test.each([
    ["refused though nothing can have been charged", excess(refusal(5, 10), 0), "recovers"],
    ["refused though little can", excess(refusal(5, 10), 1), "conserved"],
    ["let through", excess(call(5, 10), 0), "conserved"],
  ])("%s", (_name, finding, law) => {
    expect(words([finding]).map(([first]) => first)).toEqual([law]);
  });
});

test("units are the quota's, and each kind of finding is told by itself", () => {
  const findings: LawFinding[] = [
    { kind: "beyond", mark: call(5, 11) },
    { kind: "gap", from: 3, to: 4, above: call(5, 5), below: null },
  ];
  const all = words(findings, none, rulesQuota("acme", "ann", "rest"));
  expect(all.map(([law]) => law)).toEqual(["conserved", "bounded"]);
  expect(all[0]?.[1]).toContain("1 request of this window is charged");
});
