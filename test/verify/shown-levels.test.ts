// `conserved` of token buckets: right ones that decide at any time of a call are never accused by the levels that they
// show; wrong ones are.
//   LEVELS=20000 npx vitest run --config test/vitest.config.ts test/verify/shown-levels.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { defineScenario, rest, worker } from "../../src/scenario/index.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { BucketLeast, BucketMost } from "../../src/verify/bucket-use.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { ShownLevels } from "../../src/verify/shown-levels.ts";
import { type Answer, answersOf, name, plans, right, startedAt, toldCalls } from "./unread-answers.ts";

const runs = Number(process.env["LEVELS"] ?? 300);
/** 6 at once, and 2 each second. */
const envelope = { room: 6, perMs: 0.002, stepMs: 1000 };

interface Showing {
  /** Rounds what is used to a whole number; up, if not given. */
  readonly rounded?: (used: number) => number;
  readonly limit?: number;
  readonly isComplete?: boolean;
  readonly enforced?: boolean | null;
}

/** Judges calls in the order of their answers. */
function judged(answers: readonly Answer[], showing: Showing = {}) {
  const { rounded = Math.ceil, limit = 6, isComplete = true, enforced = true } = showing;
  const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
  const most = isComplete ? new BucketMost(envelope, startedAt) : null;
  const judge = new ShownLevels(name, envelope, new BucketLeast(envelope), most);
  for (const { call, isUnknown } of toldCalls(answers, { rounded, limit }))
    if (isUnknown) judge.addUnknown(call.most);
    else judge.add(call);
  judge.finish(new Enforcement(enforced), docket);
  const facts = { records: answers.length, windows: 0, voidReason: () => null, inferred: null };
  const { violations, questions = [], evidence } = docket.verdict(facts);
  return { violations, questions, readings: evidence?.conserved.readings, isTested: judge.isTested };
}

describe("a bucket of 6, and 2 each second", () => {
  test.each([
    ["full at first", right, Math.ceil],
    ["that shows levels rounded down", right, Math.floor],
    ["empty at first", { ...right, used: 6 }, Math.round],
  ] as const)("%s: a right one is never accused, nor asked about", (_, bucket, rounded) => {
    let tested = 0;
    fc.assert(
      fc.property(plans, (plan) => {
        const verdict = judged(answersOf(bucket, plan), { rounded });
        expect(verdict).toMatchObject({ violations: [], questions: [] });
        tested += verdict.readings ?? 0;
      }),
      { numRuns: runs },
    );
    expect(tested).toBeGreaterThan(runs);
  });

  test("by a clock of whole seconds: a right one is never accused", () => {
    const bucket = { ...right, stepMs: 1000, used: 3 };
    fc.assert(
      fc.property(plans, (plan) => {
        expect(judged(answersOf(bucket, plan)).violations).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  test.each([
    ["half the rate", { ...right, perMs: 0.001 }, (used: number) => used],
    ["charges that are shown twice", right, (used: number) => Math.min(6, 2 * used)],
    ["charges that are forgotten", right, (used: number) => used / 4],
  ])("%s is found by calls that go on and on", (_, bucket, shown) => {
    const call = { gapMs: 400, toMs: 2, backMs: 2, points: 1, isLost: false, isNamed: true, readAfter: 0 };
    const plan = [{ ...call, gapMs: 10_000 }, ...Array(100).fill(call)];
    const answers = answersOf(bucket, plan).map((answer) => ({ ...answer, used: shown(answer.used ?? 0) }));
    const { violations } = judged(answers);
    expect(violations.map(({ law }) => law)).toEqual(["conserved"]);
    expect(judged(answersOf(right, plan))).toMatchObject({ violations: [], questions: [], readings: 101 });
  });
});

/** A call that was sent so long after the begin, and answered 10 ms later. */
const answer = (afterMs: number, used: number, fate: Answer["fate"] = "admitted", points = 1): Answer => ({
  sent: startedAt + afterMs,
  received: startedAt + afterMs + 10,
  points,
  fate,
  used,
});

test("what is shown below the least that is used is accused, in a trace that lacks calls, too", () => {
  // 4 are used at 3,000 ms. 200 ms later at least 3.6 are, and a step of a second takes 2 off.
  const answers = [answer(3000, 4, "admitted", 4), answer(3200, 0, "admitted", 1)];
  for (const isComplete of [true, false])
    expect(judged(answers, { isComplete })).toEqual({
      violations: [
        {
          law: "conserved",
          quota: "bursts",
          key: { user: "ann" },
          window: null,
          lines: [3],
          explanation: "line 3 shows 0 requests of 6 as used, although at least 2 must be used by then",
          count: 1,
          suspects: ["per-instance-counters", "race-read-then-write", "cost-ignored", "stale-replica-read"],
        },
      ],
      questions: [],
      readings: 2,
      isTested: true,
    });
});

/** After 4 s, nothing is left of what was used at the begin. A call of 1 point can leave 2 as used, and a step 2 more. */
const high = (used: number, fate: Answer["fate"] = "admitted"): readonly Answer[] => [
  answer(4000, 1),
  answer(9000, used, fate),
];

test("what is shown above the most that can be used is accused in a complete trace alone", () => {
  expect(judged(high(5)).violations).toMatchObject([
    {
      law: "conserved",
      lines: [3],
      explanation: "line 3 shows 5 requests of 6 as used, although at most 4 can have been used by then",
      suspects: ["double-count", "refused-counted", "status-charged"],
    },
  ]);
  expect(judged(high(5), { isComplete: false })).toMatchObject({
    violations: [],
    questions: [],
    readings: 2,
  });
});

test("a level that fits if room comes back in steps is asked about", () => {
  expect(judged(high(4))).toMatchObject({
    violations: [],
    questions: [
      {
        quota: "bursts",
        question:
          "Line 3 shows 4 requests of 6 as used, although at most 2 can have been used by then. " +
          "It fits if room comes back in steps of 1 s. Is that meant?",
        lines: [3],
        suspects: ["double-count", "refused-counted", "status-charged"],
      },
    ],
  });
  expect(judged(high(2))).toMatchObject({ violations: [], questions: [] });
  const low = [answer(3000, 4, "admitted", 4), answer(3200, 3, "admitted", 1)];
  expect(judged(low).questions).toMatchObject([
    {
      question:
        "Line 3 shows 3 requests of 6 as used, although at least 4 must be used by then. " +
        "It fits if room comes back in steps of 1 s. Is that meant?",
      suspects: ["per-instance-counters", "race-read-then-write", "cost-ignored", "stale-replica-read"],
    },
  ]);
});

test("a level that is surely wrong leaves no question about others", () => {
  expect(judged([...high(4), answer(20_000, 6)])).toMatchObject({
    violations: [{ lines: [4] }],
    questions: [],
  });
});

test("a refusal may show nothing left, whatever is", () => {
  expect(judged(high(6, "refused"))).toMatchObject({ violations: [], questions: [], readings: 2 });
  const low = [answer(3000, 6, "admitted", 6), answer(3200, 0, "refused", 6)];
  expect(judged(low).violations).toMatchObject([{ lines: [3] }]);
});

test("calls under way, and those of unknown outcome, may have been charged", () => {
  const slow = { ...answer(8990, 0, "admitted", 4), received: startedAt + 9500 };
  expect(judged([...high(5), slow])).toMatchObject({ violations: [], questions: [] });
  const later = { ...answer(9020, 1, "admitted", 4), received: startedAt + 9500 };
  expect(judged([...high(5), later]).violations).toMatchObject([{ lines: [3] }]);
  const lost = answer(5000, 0, "unknown", 4);
  expect(judged([...high(5), lost])).toMatchObject({ violations: [], questions: [] });
});

test("levels of another limit, and of one that is not enforced, tell nothing", () => {
  expect(judged(high(5), { limit: 10 })).toMatchObject({ violations: [], readings: 0, isTested: false });
  expect(judged(high(5), { enforced: false })).toMatchObject({ violations: [], readings: 0, isTested: true });
  expect(judged(high(5), { enforced: null })).toMatchObject({ violations: [], readings: 0 });
});

test.each([
  ["none", null, []],
  ["double-count", "conserved", ["double-count", "refused-counted", "status-charged"]],
  [
    "per-instance-counters=2",
    "conserved",
    ["per-instance-counters", "race-read-then-write", "cost-ignored", "stale-replica-read"],
  ],
] as const)(
  "a simulated bucket whose answers show its level; its fault: %s",
  async (fault, law, suspects) => {
    const policy = parsePolicy({
      version: 2,
      name: "orders",
      wire: "fastify",
      auth: { attributes: ["user"] },
      quotas: {
        bursts: {
          unit: "requests",
          key: [],
          algorithm: { kind: "token-bucket", capacity: 40, refill: { amount: 2, everyMs: 1000 } },
        },
      },
      operations: { call: { uses: { bursts: 1 } } },
      routes: [{ path: "/**", operation: "call" }],
    });
    const scenario = defineScenario({
      name: "orders",
      seed: 7,
      duration: "60s",
      populations: {
        workers: { clients: 6, behaviour: worker({ calls: [{ call: rest("/x") }], think: "1s" }) },
      },
    });
    const chosen = fault === "none" ? {} : { fault: parseFault(fault) };
    const { header, calls } = simulateQuotas(adjustScenario(scenario, { policy }), chosen);
    const lines = [...calls].map((call, at) => ({ line: at + 2, call }));
    const { violations, evidence } = await judgeQuotas(header, lines);
    expect(evidence?.conserved.readings).toBe(lines.length);
    const conserved = violations.find((violation) => violation.law === "conserved");
    expect([conserved?.law ?? null, conserved?.suspects ?? []]).toEqual([law, suspects]);
  },
);
