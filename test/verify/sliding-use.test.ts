// Sliding logs and counters by what they let through and refuse, and the levels that they show: right ones that decide at
// any time of a call are never accused; wrong ones are.
//   SLIDING=20000 npx vitest run --config test/vitest.config.ts test/verify/sliding-use.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { LogExcess } from "../../src/verify/log-excess.ts";
import { NeedlessRefusals } from "../../src/verify/needless-refusals.ts";
import { ShownLevels } from "../../src/verify/shown-levels.ts";
import { SlidingLeast, SlidingMost } from "../../src/verify/sliding-use.ts";
import {
  type Answer,
  answersBy,
  name,
  plans,
  type Sliding,
  slidingCount,
  startedAt,
  toldCalls,
} from "./unread-answers.ts";

const runs = Number(process.env["SLIDING"] ?? 300);
const terms = { room: 6, perMs: 0, stepMs: 0 };
const log: Sliding = {
  ...{ kind: "sliding-log", limit: 6, lengthMs: 8000, stepMs: 1 },
  ...{ countsRefused: false, phaseMs: 0, used: 0 },
};
const counter: Sliding = { ...log, kind: "sliding-counter" };

/** Judges calls, as if each count were of the given kind and length. */
function judged(answers: readonly Answer[], { kind, lengthMs }: Sliding, stepMs = 0, isComplete = true) {
  const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
  const shape = { kind, lengthMs, stepMs };
  const most = () => new SlidingMost(shape, startedAt);
  const judges = [
    ...(kind === "sliding-log" ? [new LogExcess(name, 6, shape)] : []),
    new ShownLevels(name, terms, new SlidingLeast(shape), isComplete ? most() : null),
    ...(isComplete ? [new NeedlessRefusals(name, terms, most())] : []),
  ];
  for (const judge of judges) {
    for (const { call, isUnknown } of toldCalls(answers))
      if (isUnknown) judge.addUnknown(call.most);
      else judge.add(call);
    judge.finish(new Enforcement(true), docket);
  }
  const facts = { records: answers.length, windows: 0, voidReason: () => null, inferred: null };
  const { violations, questions = [], evidence } = docket.verdict(facts);
  const laws = violations.map(({ law }) => law);
  return { laws, violations, questions, refusals: evidence?.["refusal-justified"].refusals ?? 0 };
}

describe.each([
  ["a log", log],
  ["a counter", counter],
])("%s of 6 in 8 s", (_, right) => {
  test.each([
    ["empty at first", right, 0],
    ["full at first", { ...right, used: 6 }, 0],
    ["by a clock of whole seconds", { ...right, stepMs: 1000 }, 1000],
  ] as const)("%s: a right one is never accused", (_, sliding, stepMs) => {
    let refusals = 0;
    fc.assert(
      fc.property(plans, fc.nat(7999), (plan, phaseMs) => {
        const verdict = judged(answersBy(slidingCount({ ...sliding, phaseMs }), plan), sliding, stepMs);
        // A log of a clock with steps may let one more through, as it is asked about.
        expect(verdict).toMatchObject(stepMs > 0 ? { violations: [] } : { violations: [], questions: [] });
        refusals += verdict.refusals;
      }),
      { numRuns: runs },
    );
    expect(refusals).toBeGreaterThan(runs);
  });

  const call = { gapMs: 300, toMs: 2, backMs: 2, points: 1, isLost: false, isNamed: true, readAfter: 0 };
  // After a rest, all that was used before is forgotten.
  const plan = [{ ...call, gapMs: 30_000 }, ...Array(200).fill(call)];
  const played = (sliding: Sliding, shown = (used: number) => used) =>
    answersBy(slidingCount(sliding), plan).map((answer) => ({ ...answer, used: shown(answer.used ?? 0) }));

  test.each([
    ["refused calls that count", { countsRefused: true }, undefined, "refusal-justified"],
    ["a third of the room", { limit: 2 }, undefined, "refusal-justified"],
    ["windows of three times the length", { lengthMs: 24_000 }, undefined, "refusal-justified"],
    ["a third of the length", { lengthMs: 2700 }, undefined, "conserved"],
    ["charges that are shown twice", { limit: 100 }, (used: number) => 2 * used, "conserved"],
    ["charges that are forgotten", {}, (used: number) => used / 6, "conserved"],
  ] as const)("%s are found by calls that go on and on", (_, change, shown, law) => {
    expect(judged(played({ ...right, ...change }, shown), right, 1000).laws).toContain(law);
  });

  test("calls that go on and on are right", () => {
    expect(judged(played(right), right)).toMatchObject({ violations: [], questions: [] });
  });
});

test("a log lets no length have more than its limit, by whatever clock; one more is asked about within a step", () => {
  const call = { gapMs: 1100, toMs: 2, backMs: 2, points: 1, isLost: false, isNamed: true, readAfter: 0 };
  const played = (limit: number) => answersBy(slidingCount({ ...log, limit }), Array(40).fill(call));
  const silent = (limit: number) => played(limit).map(({ used, ...answer }) => answer);
  expect(judged(silent(6), log, 1000)).toMatchObject({ violations: [], questions: [] });
  const { violations } = judged(silent(100), log, 1000);
  expect(violations).toMatchObject([
    {
      law: "bounded",
      lines: [8],
      explanation: "by line 8, 7 requests were admitted within 8 s, which is above 6",
      suspects: ["one-extra", "per-instance-counters", "race-read-then-write", "cost-ignored"],
    },
  ]);
  expect(judged(silent(100), log, 2000)).toMatchObject({
    violations: [],
    questions: [
      {
        quota: "bursts",
        question:
          "By line 8, 7 requests were admitted within 8 s, which is above 6. " +
          "It fits if the limiter's clock has steps of 2 s. Is that meant?",
        suspects: ["one-extra"],
      },
    ],
  });
});

test("the least needs no complete trace, and the most does", () => {
  const call = (afterMs: number, used: number, fate: Answer["fate"] = "admitted", points = 1): Answer => ({
    ...{ sent: startedAt + afterMs, received: startedAt + afterMs + 10 },
    ...{ points, fate, used },
  });
  const low = [call(20_000, 4, "admitted", 4), call(20_500, 1)];
  const high = [call(20_000, 4)];
  const refused = [call(20_000, 0, "refused")];
  const explanations = (answers: readonly Answer[], isComplete: boolean) =>
    judged(answers, log, 0, isComplete).violations.map(({ explanation }) => explanation);
  expect(explanations(low, false)).toEqual([
    "line 3 shows 1 request of 6 as used, although at least 5 must be used by then",
  ]);
  expect(explanations(high, true)).toEqual([
    "line 2 shows 4 requests of 6 as used, although at most 1 can have been used by then",
  ]);
  expect(explanations(refused, true)).toEqual([
    "line 2 asked for 1 request and was refused, although at most 0 of 6 can have been used by then",
  ]);
  expect([explanations(high, false), explanations(refused, false)]).toEqual([[], []]);
  // Nobody knows what was charged before the trace.
  expect(explanations([call(7_000, 4), call(7_100, 4, "refused")], true)).toEqual([]);
});
