// The extent of a fault, beside yes or no: amounts, what an owner accepts, how windows were judged, and what a verdict
// keeps of a trace that is all wrong.
import { describe, expect, test } from "vitest";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import type { JudgeOptions } from "../../src/verify/judging.ts";
import type { RulesVerdict } from "../../src/verify/verdict.ts";
import { graphql, headerOf, linesOf, refused, rest, status } from "./traces.ts";

const verdictOf = (calls: readonly TraceCall[], options: JudgeOptions = {}): Promise<RulesVerdict> =>
  judge(headerOf({ rules: { user: { rest: { limit: 200 } } } }), linesOf(calls), options);

const user = { userLimit: 200 };
const call = (at: number, count: number, changes: Partial<TraceCall> = {}): TraceCall =>
  rest({ at, count }, { ...user, userRemaining: Math.max(0, 200 - count), ...changes });

/** 200 calls fill the window, and then `extra` more are let through at remaining 0. */
const overshot = (extra: number): TraceCall[] =>
  Array.from({ length: 200 + extra }, (_, index) => call(1000 + 100 * index, Math.min(200, index + 1)));

describe("amounts", () => {
  test("nothing is off where nothing is", async () => {
    expect((await verdictOf(overshot(0))).amounts).toEqual({
      admitted: 200,
      refused: 0,
      overAdmitted: 0,
      overAdmission: 0,
      wronglyRefused: 0,
      stalenessMs: null,
      windows: [],
    });
  });

  test("what was admitted above the limit, as calls and as a share, by window", async () => {
    const { amounts } = await verdictOf(overshot(8));
    expect(amounts).toMatchObject({ admitted: 208, overAdmitted: 8, overAdmission: 8 / 208 });
    // The organization's window and the user's, which are as large: the same eight calls.
    expect(amounts?.windows).toMatchObject([
      { user: null, limit: 200, admitted: 208, overAdmitted: 8 },
      { user: "u1", limit: 200, admitted: 208, overAdmitted: 8 },
    ]);
  });

  test("calls that were refused although there was room", async () => {
    const needless = refused({ at: 2000, count: 1 }, "rest", { ...user, userRemaining: 199 });
    expect((await verdictOf([call(1000, 1), needless])).amounts).toMatchObject({
      refused: 1,
      wronglyRefused: 1,
    });
  });

  test("how long before its sending a reading last held, at least", async () => {
    const poll = status({ at: 9000, count: 3 }, 1, { ...user, userRemaining: 197 });
    const calls = [call(1000, 1), call(2000, 2), call(3000, 3), poll];
    // The count passed 1 when line 3 was answered, at 2,010 ms.
    expect((await verdictOf(calls)).amounts?.stalenessMs).toBe(9000 - 2010 - 1);
  });
});

describe("what an owner accepts", () => {
  const accept = (overAdmission: number): JudgeOptions => ({ accept: { overAdmission } });

  test("a limiter that lets a little through is no violation, and the verdict says what was accepted", async () => {
    const { verdict, violations, accepted, laws } = await verdictOf(overshot(2), accept(0.01));
    expect(violations).toEqual([]);
    expect(verdict).toBe("ok");
    expect(accepted).toMatchObject([{ expectation: "overAdmission <= 1 %" }]);
    expect(laws.conserved).toEqual({ skipped: "what broke it was accepted" });
  });

  test("more than that is", async () => {
    const { verdict, accepted } = await verdictOf(overshot(3), accept(0.01));
    expect(verdict).toBe("violated");
    expect(accepted).toBeUndefined();
  });

  test("a limiter that is exact has nothing to accept", async () => {
    expect((await verdictOf(overshot(0), accept(0.01))).accepted).toBeUndefined();
  });

  test("everything else still accuses", async () => {
    const wrong = call(50_000, 200, { reset: 400 });
    const { violations, accepted } = await verdictOf([...overshot(1), wrong], accept(0.05));
    expect(violations.map(({ law }) => law)).toEqual(["reset-agrees"]);
    expect(accepted).toHaveLength(1);
  });

  test("a reading that lags is no approximate counter where charges are exact", async () => {
    const poll = status({ at: 9000, count: 3 }, 1, { ...user, userRemaining: 197 });
    const { violations } = await verdictOf([call(1000, 1), call(2000, 2), call(3000, 3), poll], accept(0.05));
    expect(violations.map(({ law }) => law)).toEqual(["monotone"]);
  });
});

describe("methods", () => {
  test("places where the count only grows, bounds where points are given back", async () => {
    const { methods } = await verdictOf([
      call(1000, 1),
      call(2000, 2),
      graphql({ at: 3000, count: 10 }, 10, 10),
    ]);
    // Two windows each: the organization's and the user's.
    expect(methods).toEqual({ places: 2, bounds: 2, readings: 6, pinned: 6 });
  });

  test("a reading is pinned down where it could have had one value alone", async () => {
    // Under way together, either may have come first.
    const slow = graphql({ at: 3000, count: 20, took: 500 }, 10, 10);
    const quick = graphql({ at: 3100, count: 10, took: 5 }, 10, 10);
    const { methods } = await verdictOf([slow, quick]);
    expect(methods).toMatchObject({ bounds: 2, readings: 4, pinned: 0 });
  });
});

describe("a trace that is all wrong", () => {
  const wrong = Array.from({ length: 30 }, (_, index) =>
    rest({ at: 1000 * index, count: index + 1 }, { user: `u${index}`, userReset: 400 }),
  );

  test("keeps so many violations, and counts them all", async () => {
    const { violations, violationsFound, verdict, laws } = await verdictOf(wrong, { violationsMost: 5 });
    expect(violations).toHaveLength(5);
    expect(violationsFound).toBeGreaterThanOrEqual(30);
    expect(verdict).toBe("violated");
    expect(laws["limit-agrees"]).toBe("violated");
  });

  test("says nothing of it where all were kept", async () => {
    expect((await verdictOf(wrong)).violationsFound).toBeUndefined();
  });
});

describe("places", () => {
  test("the answers of the window around the breach, by place", async () => {
    const lost = [call(1000, 1), call(2000, 2), call(2005, 2), call(3000, 3)];
    const { violations } = await verdictOf(lost);
    const organization = violations.find((violation) => violation.user === null);
    expect(organization?.explanation).toBe(
      "lines 3 and 4 were both told remaining 198 of 200, each for 1 request of its own: one update was lost",
    );
    expect(organization?.places).toMatchObject({
      limit: 200,
      answers: [
        { line: 2, role: "admitted", from: 0, to: 1 },
        { line: 3, from: 1, to: 2 },
        { line: 4, from: 1, to: 2 },
        { line: 5, from: 2, to: 3 },
      ],
    });
  });

  test("at most 200 of them, with the accused among them", async () => {
    const { violations } = await verdictOf(overshot(150));
    const [first] = violations;
    expect(first?.places?.answers).toHaveLength(200);
    const shown = new Set(first?.places?.answers.map(({ line }) => line));
    expect(first?.lines.every((line) => shown.has(line))).toBe(true);
  });
});
