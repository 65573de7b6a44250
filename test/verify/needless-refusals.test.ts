// `refusal-justified` of token buckets: right ones that decide at any time of a call are never accused, nor asked about.
//   REFUSALS=20000 npx vitest run --config test/vitest.config.ts test/verify/needless-refusals.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { BucketMost } from "../../src/verify/bucket-use.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { NeedlessRefusals } from "../../src/verify/needless-refusals.ts";
import { type Answer, answersOf, name, plans, right, startedAt, toldCalls } from "./unread-answers.ts";

const runs = Number(process.env["REFUSALS"] ?? 500);
/** 6 at once, and 2 each second. */
const envelope = { room: 6, perMs: 0.002, stepMs: 1000 };

/** Judges calls in the order of their answers. */
function judged(answers: readonly Answer[], enforced: boolean | null = true) {
  const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
  const judge = new NeedlessRefusals(name, envelope, new BucketMost(envelope, startedAt));
  for (const { call, isUnknown } of toldCalls(answers))
    if (isUnknown) judge.addUnknown(call.most);
    else judge.add(call);
  judge.finish(new Enforcement(enforced), docket);
  const facts = { records: answers.length, windows: 0, voidReason: () => null, inferred: null };
  const { violations, questions = [], evidence, amounts } = docket.verdict(facts);
  return {
    violations,
    questions,
    refusals: evidence?.["refusal-justified"].refusals,
    wronglyRefused: amounts?.wronglyRefused,
    isTested: judge.isTested,
  };
}

describe("a bucket of 6, and 2 each second", () => {
  test.each([
    ["full at first", right],
    ["empty at first", { ...right, used: 6 }],
    ["by a clock of whole seconds", { ...right, stepMs: 1000, used: 3 }],
  ])("%s: a right one is never accused, nor asked about", (_, bucket) => {
    let tested = 0;
    fc.assert(
      fc.property(plans, (plan) => {
        const verdict = judged(answersOf(bucket, plan));
        expect(verdict).toMatchObject({ violations: [], questions: [] });
        tested += verdict.refusals ?? 0;
      }),
      { numRuns: runs },
    );
    expect(tested).toBeGreaterThan(runs);
  });

  test.each([
    ["half the rate", { ...right, perMs: 0.001 }],
    ["a third of the room", { ...right, capacity: 2 }],
    ["refused calls that count", { ...right, countsRefused: true }],
  ])("%s is found by calls that go on and on", (_, bucket) => {
    const call = { gapMs: 100, toMs: 2, backMs: 2, points: 1, isLost: false, isNamed: true, readAfter: 0 };
    // After a rest, all that was used before has come back.
    const plan = [{ ...call, gapMs: 10_000 }, ...Array(100).fill(call)];
    const { violations } = judged(answersOf(bucket, plan));
    expect(violations.map(({ law }) => law)).toEqual(["refusal-justified"]);
    expect(judged(answersOf(right, plan))).toMatchObject({ violations: [], refusals: 75 });
  });
});

/** A call that was sent so long after the begin, and answered 10 ms later. */
const answer = (afterMs: number, fate: Answer["fate"], points = 1, tripMs = 10): Answer => ({
  sent: startedAt + afterMs,
  received: startedAt + afterMs + tripMs,
  points,
  fate,
});
const words = (line: number, used: number, requests = "1 request") =>
  `line ${line} asked for ${requests} and was refused, although at most ${used} of 6 can have been used by then`;

test("a refusal while there was room is accused if it names the quota, and asked about if it names none", () => {
  expect(judged([answer(3000, "refused")])).toEqual({
    violations: [
      {
        law: "refusal-justified",
        suspects: ["refused-counted", "double-count", "one-short"],
        quota: "bursts",
        key: { user: "ann" },
        window: null,
        count: 1,
        lines: [2],
        explanation: words(2, 1),
      },
    ],
    questions: [],
    refusals: 1,
    wronglyRefused: 1,
    isTested: true,
  });
  expect(judged([answer(3000, "unnamed"), answer(3100, "unnamed", 3)])).toMatchObject({
    violations: [],
    questions: [
      {
        quota: "bursts",
        question: `2 refusals came while there was room: ${words(2, 1)}. Does another limit, or a failure, answer so?`,
        suspects: ["refused-counted", "double-count", "one-short"],
        lines: [2],
      },
    ],
    refusals: 2,
  });
});

test("nobody knows what was used before the trace, until that has come back", () => {
  // A step's room is 2: of 6, at most 3 can be used where a call of 1 was refused needlessly.
  expect(judged([answer(1400, "refused")]).violations).toEqual([]);
  expect(judged([answer(1600, "refused")]).violations).toHaveLength(1);
  expect(judged([answer(1600, "refused", 2)]).violations).toEqual([]);
  // Only later does each refusal count as evidence.
  expect(judged([answer(2999, "refused", 6)])).toMatchObject({ refusals: 0, isTested: false });
  expect(judged([answer(3001, "refused", 6)])).toMatchObject({ refusals: 1, isTested: true });
});

test("what may have been charged by then leaves less room: answered before, under way, or unknown", () => {
  const refused = answer(10_000, "refused");
  for (const points of [2, 3]) {
    const expected = points === 2 ? 1 : 0;
    expect(judged([answer(9990, "admitted", points), refused]).violations).toHaveLength(expected);
    expect(judged([answer(9990, "failed", points), refused]).violations).toHaveLength(expected);
    expect(judged([answer(9990, "admitted", points, 60_000), refused]).violations).toHaveLength(expected);
    expect(judged([answer(5, "unknown", points), refused]).violations).toHaveLength(expected);
    expect(judged([answer(5, "unknown", points, 60_000), refused]).violations).toHaveLength(expected);
  }
  expect(judged([refused, answer(10_011, "admitted", 6)]).violations).toHaveLength(1);
  expect(judged([refused, answer(10_010, "admitted", 6)]).violations).toEqual([]);
});

test("nothing is judged while nobody knows that the limit is enforced", () => {
  for (const enforced of [false, null])
    expect(judged([answer(3000, "refused")], enforced)).toMatchObject({ violations: [], refusals: 0 });
});
