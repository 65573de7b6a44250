// Windows that hold something no mark explains (bounds.ts): what they hold is unknown, and readings of it are held to each other.
import { describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judgeBounds } from "../../src/verify/bounds.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { markOf, time } from "./marks.ts";
import { graphql, headerOf, linesOf, rest, start, unanswered } from "./traces.ts";

/** A call of one point that was under way for 5 ms, and its count. */
const call = (line: number, count: number, facts: Partial<Mark> = {}): Mark =>
  markOf({ line, sent: 100 * line, received: 100 * line + 5, count, limit: 1000, ...facts });

const never = Number.POSITIVE_INFINITY;
const always = Number.NEGATIVE_INFINITY;

function found(marks: readonly Mark[], facts: Partial<Parameters<typeof judgeBounds>[0]> = {}) {
  const window = { fromZero: false, complete: true, startedBy: 0, keptFrom: always, certainFrom: 0 };
  const task = { marks, others: [], limit: 1000, time, binding: false, countsOwn: null, ...window, ...facts };
  return judgeBounds(task).findings;
}

describe("a window that was open when the trace began", () => {
  const lost = [call(2, 51), call(3, 52), call(4, 52), call(5, 53)];

  test("keeps what calls charged to it: a reading is at least an earlier one, and the calls since", () => {
    expect(found(lost)).toEqual([{ kind: "fall", earlier: lost[1], later: lost[2], least: 53 }]);
    expect(found([call(2, 51), call(3, 52), call(4, 53)])).toEqual([]);
  });

  test("is told the greatest loss", () => {
    const marks = [call(2, 51), call(3, 51), call(4, 49), call(5, 51)];
    expect(found(marks, { complete: false })).toEqual([
      { kind: "fall", earlier: marks[0], later: marks[2], least: null },
    ]);
    expect(found([call(2, 51), call(3, 51), call(4, 51)])).toMatchObject([
      { kind: "fall", earlier: { line: 2 }, later: { line: 4 }, least: 53 },
    ]);
  });

  test("says nothing of calls that overlap, or of unknown ones that may have been in the earlier count", () => {
    const overlapping = [call(2, 52, { received: 305 }), call(3, 52)];
    expect(found(overlapping)).toEqual([]);
    const unsure = (facts: Partial<Mark>): Mark[] => [
      call(2, 51, { least: 0, received: 210, ...facts }),
      call(3, 51),
    ];
    expect(found(unsure({}))).toEqual([]);
    expect(found(unsure({ count: 52 }))).toMatchObject([{ kind: "fall", later: { line: 3 }, least: null }]);
  });

  test("takes a hidden count for the least that it can have been, and says nothing of a later one", () => {
    expect(found([call(2, 60, { clamped: true }), call(3, 52)])).toMatchObject([
      { kind: "fall", least: null },
    ]);
    expect(found([call(2, 60), call(3, 52, { clamped: true })])).toEqual([]);
  });

  test("may give back what unknown calls held, until none can be under way", () => {
    const given = [call(2, 60), call(3, 52)];
    expect(found(given, { keptFrom: never })).toEqual([]);
    expect(found(given, { keptFrom: 201 })).toEqual([]);
    expect(found(given, { keptFrom: 200 })).toMatchObject([{ kind: "fall", least: 61 }]);
  });

  test("may grow by others' calls where not all are known, and cannot lose what is charged", () => {
    const grown = [call(2, 51), call(3, 90), call(4, 91)];
    expect(found(grown, { complete: false })).toEqual([]);
    expect(found(grown)).toMatchObject([{ kind: "gap", from: 52, to: 90 }]);
    for (const fromZero of [false, true])
      expect(found(lost, { complete: false, fromZero })).toMatchObject([{ kind: "fall", least: 53 }]);
  });
});

describe("a window that gives points back", () => {
  const rules = parseRules({ semantics: { graphqlCharge: { graphql: "reserved" } } });
  /** The lines of a count of 102 and a later one of 100, where they are accused: by rules, and by quotas. */
  const judged = async (...others: readonly TraceCall[]) => {
    const calls = [
      graphql({ at: 200_000, count: 100 }, 1, 0),
      graphql({ at: 200_100, count: 102 }, 2, 2),
      graphql({ at: 200_400, count: 100 }, 1, 0),
      ...others,
    ];
    const lines = linesOf(calls);
    const header = { ...headerOf(), startedAt: start + 100_000, complete: true };
    const { violations } = await judge({ ...header, rules }, lines);
    const byQuotas = await judgeQuotas(
      headerByQuotas(header, rules),
      lines.map(({ line, call }) => ({ line, call: callByQuotas(call) })),
    );
    return [
      violations.filter(({ user }) => user === null).map((each) => [each.law, ...each.lines]),
      byQuotas.violations.filter(({ quota }) => quota === "graphql").map((each) => [each.law, ...each.lines]),
    ];
  };

  test("has lost what no call held", async () => {
    const lost = [["conserved", 3, 4]];
    expect(await judged()).toEqual([lost, lost]);
    expect(await judged(unanswered(200_050, { scope: "graphql", cost: 1 }))).toEqual([lost, lost]);
  });

  test("may have given back what a call without an answer held", async () => {
    expect(await judged(unanswered(200_050, { scope: "graphql", cost: 2 }))).toEqual([[], []]);
  });
});

describe("a trace of version 2 that begins within its windows", () => {
  const rules = parseRules({});
  const judged = async (counts: readonly number[], complete: boolean) => {
    const calls = counts.map((count, index) => ({
      line: index + 2,
      call: callByQuotas(rest({ at: 30_000 + 100 * index, count, userCount: count - 30 })),
    }));
    const given = { ...headerOf(), startedAt: start + 29_000, complete };
    return await judgeQuotas(headerByQuotas(given, rules), calls);
  };

  test.each([true, false])("is accused where an update was lost, complete or not: %s", async (complete) => {
    const { verdict, violations } = await judged([51, 52, 52, 53], complete);
    expect(verdict).toBe("violated");
    expect(violations.filter(({ quota }) => quota === "rest")).toMatchObject([
      {
        law: "conserved",
        lines: [3, 4],
        explanation:
          "line 3 was told remaining 148 of 200, and 90 ms after that answer line 4 was sent and told remaining 148 of 200, " +
          "a count of 52: by line 3 and the calls since then it was at least 53, so that 1 request was lost",
      },
    ]);
    expect(violations[0]?.suspects[0]).toBe("race-read-then-write");
  });

  test("is accused where a count fell, and not where it grew as calls came", async () => {
    const { violations } = await judged([51, 52, 40], true);
    expect(violations.find(({ quota }) => quota === "rest")).toMatchObject({
      law: "monotone",
      lines: [3, 4],
    });
    expect(await judged([51, 52, 53], true)).toMatchObject({ verdict: "ok" });
  });
});
