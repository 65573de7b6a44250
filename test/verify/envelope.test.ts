// `bounded` of quotas whose counts are not read: right limiters that decide at any time of a call are never accused, and
// what is found is just what the sum over all spans finds.
//   ENVELOPES=20000 npx vitest run --config test/vitest.config.ts test/verify/envelope.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Envelope, envelopeOf } from "../../src/policy/envelope.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Quota } from "../../src/policy/policy.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { EnvelopeJudge } from "../../src/verify/envelope.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { name, startedAt } from "./unread-answers.ts";

const runs = Number(process.env["ENVELOPES"] ?? 500);

interface Call {
  readonly sent: number;
  readonly received: number;
  readonly points: number;
}

/** Judges calls in the order of their answers. */
function judged(calls: readonly Call[], envelope: Envelope, enforced: boolean | null = true) {
  const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
  const judge = new EnvelopeJudge(name, envelope);
  const answers = [...calls].sort((a, b) => a.received - b.received);
  for (const [at, { sent, received, points }] of answers.entries())
    judge.add({
      line: at + 2,
      from: sent,
      to: received,
      least: points,
      most: points,
      level: null,
      refused: null,
    });
  judge.addUnknown();
  judge.finish(new Enforcement(enforced), docket);
  const { violations, questions, evidence } = docket.verdict({
    records: calls.length,
    windows: 0,
    voidReason: () => null,
    inferred: null,
  });
  return { violations, questions: questions ?? [], evidence: evidence?.bounded, isTested: judge.isTested };
}

const algorithms: readonly Quota["algorithm"][] = [
  { kind: "token-bucket", capacity: 6, refill: { amount: 2, everyMs: 1000 } },
  { kind: "sliding-log", limit: 5, windowSeconds: 2 },
  { kind: "sliding-counter", limit: 5, windowSeconds: 2 },
  { kind: "fixed-window", limit: 5, windowSeconds: 2, anchor: "epoch", opens: "exact" },
];
const charge = { when: "admission", fits: "whole", refused: "nothing", refusedByOther: "nothing" } as const;
const quotaOf = (algorithm: Quota["algorithm"], changed: Partial<Quota["charge"]> = {}): Quota => ({
  ...({} as Quota),
  algorithm,
  charge: { ...charge, ...changed },
});

/** Returns a limiter, written from the algorithm's description: it tells whether a call at an instant is admitted. */
function limiterOf(algorithm: Quota["algorithm"], stepMs: number): (at: number, points: number) => boolean {
  let admitted: { readonly at: number; readonly points: number }[] = [];
  const sum = (from: number, to: number): number =>
    admitted.filter(({ at }) => at > from && at <= to).reduce((total, { points }) => total + points, 0);
  let [level, filledAt] = [algorithm.kind === "token-bucket" ? algorithm.capacity : 0, 0];
  const room = (at: number): number => {
    if (algorithm.kind === "token-bucket") {
      const { capacity, refill } = algorithm;
      level = Math.min(capacity, level + ((at - filledAt) * refill.amount) / refill.everyMs);
      filledAt = at;
      return level;
    }
    if (algorithm.kind === "concurrency") throw new TypeError("no span bounds it");
    const lengthMs = (algorithm.windowSeconds as number) * 1000;
    const opensAt = Math.floor(at / lengthMs) * lengthMs;
    if (algorithm.kind === "sliding-log") return algorithm.limit - sum(at - lengthMs, at);
    const current = sum(opensAt - 1, at);
    if (algorithm.kind === "fixed-window") return algorithm.limit - current;
    const share = 1 - (at - opensAt) / lengthMs;
    return algorithm.limit - Math.floor(share * sum(opensAt - 1 - lengthMs, opensAt - 1)) - current;
  };
  return (now, points) => {
    const at = Math.floor(now / stepMs) * stepMs;
    if (room(at) < points) return false;
    level -= points;
    admitted = [...admitted.slice(-500), { at, points }];
    return true;
  };
}

/** Calls that hammer and rest, each decided at some instant of its own. */
const plans = fc.array(
  fc.record({
    gapMs: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 4000 })),
    toMs: fc.integer({ min: 0, max: 300 }),
    backMs: fc.integer({ min: 0, max: 300 }),
    points: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 30, maxLength: 120 },
);
type Plan = typeof plans extends fc.Arbitrary<infer Plans> ? Plans : never;

function admittedBy(decide: (at: number, points: number) => boolean, plan: Plan): readonly Call[] {
  let clock = startedAt;
  const calls = plan.map(({ gapMs, toMs, backMs, points }) => {
    clock += gapMs;
    return { sent: clock, decided: clock + toMs, received: clock + toMs + backMs, points };
  });
  return calls.sort((a, b) => a.decided - b.decided).filter(({ decided, points }) => decide(decided, points));
}

describe.each(algorithms)("$kind", (algorithm) => {
  const envelope = envelopeOf(quotaOf(algorithm), 2000) as Envelope;

  test("a right limiter is never accused, nor asked about", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const calls = admittedBy(limiterOf(algorithm, 1), plan);
        expect(judged(calls, envelope)).toMatchObject({ violations: [], questions: [] });
      }),
      { numRuns: runs },
    );
  });

  test("one that reads a clock of whole seconds is not accused", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const calls = admittedBy(limiterOf(algorithm, 1000), plan);
        expect(judged(calls, envelope).violations).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  test("one that lets everything through is accused once it is called enough", () => {
    const calls = Array.from({ length: 40 }, (_, at) => {
      const sent = startedAt + 10 * at;
      return { sent, received: sent + 5, points: 1 };
    });
    expect(judged(calls, envelope).violations.map(({ law }) => law)).toEqual(["bounded"]);
  });
});

/** Returns the most that any span holds above its bound. A span begins with a sending, and ends with the last answer. */
function worstOf(calls: readonly Call[], { room, perMs }: Envelope): number {
  const answers = [...calls].sort((a, b) => a.received - b.received);
  let worst = Number.NEGATIVE_INFINITY;
  for (const [last, { received: to }] of answers.entries())
    for (const { sent: from } of answers.slice(0, last + 1)) {
      const held = answers.slice(0, last + 1).filter(({ sent }) => sent >= from);
      const points = held.reduce((sum, call) => sum + call.points, 0);
      worst = Math.max(worst, points - room - perMs * ((to - from) * (1 + 1e-4) + 2));
    }
  return worst;
}

test("it finds what the sum over all spans finds, but for calls that overtook others", () => {
  const envelope = { room: 6, perMs: 0.002, stepMs: 1000 };
  let [found, missed] = [0, 0];
  fc.assert(
    fc.property(plans, fc.integer({ min: 5, max: 12 }), (plan, capacity) => {
      const algorithm = { kind: "token-bucket", capacity, refill: { amount: 3, everyMs: 1000 } } as const;
      const calls = admittedBy(limiterOf(algorithm, 1), plan);
      const worst = worstOf(calls, envelope);
      const { violations, questions } = judged(calls, envelope);
      // A second's room is 2.
      if (violations.length > 0) expect(worst).toBeGreaterThan(2);
      if (violations.length + questions.length > 0) expect(worst).toBeGreaterThan(0);
      if (worst > 2 && violations.length === 0) missed += 1;
      found += violations.length;
      const inOrder = calls.map((call) => ({ ...call, received: call.sent }));
      const isOver = worstOf(inOrder, envelope) > 2;
      expect(judged(inOrder, envelope).violations.length > 0).toBe(isOver);
    }),
    { numRuns: runs },
  );
  expect(found).toBeGreaterThan(20);
  expect(missed).toBeLessThan(found / 20);
});

describe("a bucket of 6, and 2 each second", () => {
  const envelope = { room: 6, perMs: 0.002, stepMs: 1000 };
  const burst = (size: number, at = 0): readonly Call[] =>
    Array.from({ length: size }, () => ({ sent: startedAt + at, received: startedAt + at + 100, points: 1 }));

  test("a burst of its room is held; what may come of a step is asked about; more is accused", () => {
    expect(judged(burst(6), envelope)).toMatchObject({ violations: [], questions: [], isTested: true });
    const [question] = judged(burst(8), envelope).questions;
    expect(question).toEqual({
      quota: "bursts",
      question:
        "Within 100 ms, from line 2 to line 8, 7 were admitted, which is above 6: room for 6, and what comes back in that " +
        "time. It fits if room comes back in steps of 1 s. Is that meant?",
      suspects: ["one-extra"],
      lines: [2, 8],
    });
    const { violations, questions, evidence } = judged(burst(9), envelope);
    expect(questions).toEqual([]);
    expect(evidence).toEqual({ readings: 9, refusals: 0, windows: 0, resets: 0 });
    expect(violations).toEqual([
      {
        law: "bounded",
        suspects: ["per-instance-counters", "race-read-then-write", "cost-ignored", "one-extra"],
        quota: "bursts",
        key: { user: "ann" },
        window: null,
        count: 1,
        lines: [2, 10],
        explanation:
          "within 100 ms, from line 2 to line 10, 9 were admitted, which is above 8: room for 6, and what comes back in that " +
          "time and 1 s more",
      },
    ]);
  });

  test("spans that are too full are counted one by one", () => {
    const calls = [...burst(20), ...burst(9, 60_000)];
    expect(judged(calls, envelope).violations.map(({ count, lines }) => [count, lines])).toEqual([
      [3, [2, 10]],
    ]);
  });

  test("nothing is judged while nobody knows that it is enforced, or nothing was let through", () => {
    const nothing = { readings: 0, refusals: 0, windows: 0, resets: 0 };
    for (const enforced of [false, null])
      expect(judged(burst(20), envelope, enforced)).toMatchObject({ violations: [], evidence: nothing });
    expect(judged([], envelope)).toMatchObject({ evidence: nothing, isTested: false });
  });

  test("a call that overtook others for long counts in the spans that it lies in", () => {
    const slow = { sent: startedAt - 60_000, received: startedAt + 200, points: 9 };
    expect(judged([...burst(6), slow], envelope).violations).toEqual([]);
    const within = { sent: startedAt, received: startedAt + 200, points: 9 };
    expect(judged([...burst(6), within], envelope).violations).toHaveLength(1);
  });
});

test("a quota has an envelope if its charge is made at admission, and needs its whole room", () => {
  const [bucket, log, counter, window] = algorithms as [Quota["algorithm"], ...Quota["algorithm"][]];
  expect(envelopeOf(quotaOf(bucket), null)).toEqual({ room: 6, perMs: 0.002, stepMs: 1000 });
  const slow = { kind: "token-bucket", capacity: 60, refill: { amount: 60, everyMs: 60_000 } } as const;
  expect(envelopeOf(quotaOf(slow), null)).toEqual({ room: 60, perMs: 0.001, stepMs: 60_000 });
  const quick = { kind: "token-bucket", capacity: 60, refill: { amount: 1, everyMs: 10 } } as const;
  expect(envelopeOf(quotaOf(quick), null)).toEqual({ room: 60, perMs: 0.1, stepMs: 1000 });
  expect(envelopeOf(quotaOf(log as never), null)).toEqual({ room: 5, perMs: 0.0025, stepMs: 1000 });
  expect(envelopeOf(quotaOf(counter as never), null)).toEqual({ room: 10, perMs: 0.0025, stepMs: 1000 });
  expect(envelopeOf(quotaOf(window as never), 2000)).toEqual({ room: 10, perMs: 0.0025, stepMs: 1000 });
  expect(envelopeOf(quotaOf(window as never), null)).toBeNull();
  expect(envelopeOf(quotaOf({ kind: "concurrency", limit: 3 }), null)).toBeNull();
  for (const when of ["completion", "reserve-settle"] as const)
    expect(envelopeOf(quotaOf(bucket, { when }), null)).toBeNull();
  expect(envelopeOf(quotaOf(bucket, { fits: "any-left" }), null)).toBeNull();
});

describe("a policy whose quota shows no count", () => {
  const policyOf = (algorithm: object, changed: object = {}): PolicyInput =>
    ({
      version: 2,
      name: "parcels",
      wire: "nginx",
      auth: { attributes: ["user"] },
      quotas: { bursts: { unit: "requests", key: ["user"], algorithm, ...changed } },
      operations: { look: { uses: { bursts: 1 } } },
      routes: [{ path: "/**", operation: "look" }],
    }) as PolicyInput;

  const judgedBy = (policy: PolicyInput, calls: readonly Partial<QuotaCall>[], changed: object = {}) =>
    judgeQuotas(
      {
        version: 2,
        complete: true,
        lost: 0,
        startedAt,
        clock: { kind: "host", resolutionMs: 1, errorMs: 0 },
        policy: parsePolicy(policy),
        ...changed,
      } as never,
      calls.map((call, at) => ({
        line: at + 2,
        call: {
          sent: startedAt + 10 * at,
          received: startedAt + 10 * at + 5,
          client: "c",
          call: at,
          caller: { user: "ann" },
          operation: "look",
          cost: 1,
          status: 200,
          outcome: "admitted",
          readings: [],
          ...call,
        } as QuotaCall,
      })),
    );
  const admitted = (size: number) => Array.from({ length: size }, () => ({}));
  const refused = { status: 503, outcome: "refused" } as const;

  test.each([
    [algorithms[0], /^a token bucket's resets are not judged$/],
    [algorithms[1], /^a sliding log's resets are not judged$/],
    [algorithms[2], /^a sliding counter's resets are not judged$/],
  ] as const)("$0.kind: what it lets through is held to it", async (algorithm, why) => {
    const policy = policyOf(algorithm as object);
    const right = await judgedBy(policy, [...admitted(5), refused]);
    expect(right).toMatchObject({ verdict: "ok", violations: [], laws: { bounded: "held" } });
    expect(right.notJudged?.[0]?.why).toMatch(why);
    expect(right.laws.conserved).toEqual({ skipped: "no quota of this policy has counts that are judged" });
    const wrong = await judgedBy(policy, admitted(40));
    expect(wrong).toMatchObject({ verdict: "violated", laws: { bounded: "violated" } });
    expect(wrong.violations).toMatchObject([{ quota: "bursts", key: { user: "ann" } }]);
  });

  test("a bucket's refusals are held to what can be used, if all its calls were seen", async () => {
    const policy = policyOf(algorithms[0] as object);
    const late = {
      sent: startedAt + 10_000,
      received: startedAt + 10_005,
      status: 429,
      outcome: "refused",
    } as const;
    const named = await judgedBy(policy, [{ ...late, by: "bursts" }]);
    expect(named).toMatchObject({ verdict: "violated", laws: { "refusal-justified": "violated" } });
    expect(named.violations.map(({ lines }) => lines)).toEqual([[2]]);
    for (const call of [late, { ...late, by: "bursts", status: 503 }]) {
      const nameless = await judgedBy(policy, [call]);
      expect(nameless).toMatchObject({ violations: [], laws: { "refusal-justified": "held" } });
      expect(nameless.questions).toMatchObject([{ quota: "bursts", lines: [2] }]);
    }
    const { violations, questions } = await judgedBy(policy, [{ ...late, by: "secondary" }]);
    expect({ violations, questions }).toEqual({ violations: [], questions: undefined });
    for (const trouble of [{ complete: false }, { lost: 1 }]) {
      const { laws } = await judgedBy(policy, [{ ...late, by: "bursts" }], trouble);
      expect(laws["refusal-justified"]).toEqual({
        skipped: "no quota of this policy has counts that are judged",
      });
    }
    const refusal = { ...late, by: "bursts" };
    for (const charge of [{ refused: "counted" }, { refusedByOther: "charged" }]) {
      const counting = policyOf(algorithms[0] as object, { charge });
      expect((await judgedBy(counting, [refusal])).violations).toEqual([]);
    }
    for (const other of [{ caller: {} }, { outcome: "unknown", status: 0 }] as const) {
      const others = Array(5).fill(other);
      expect((await judgedBy(policy, [...others, refusal])).violations).toEqual([]);
      expect((await judgedBy(policy, [refusal, ...others])).violations).toEqual([]);
    }
  });

  test("another caller, a cached answer, an error and an unknown end are not added", async () => {
    const policy = policyOf(algorithms[0] as object);
    const others = ["ben", "cem", "dan"].flatMap((user) => admitted(6).map(() => ({ caller: { user } })));
    expect((await judgedBy(policy, others)).violations).toEqual([]);
    for (const call of [{ via: "cache" }, { status: 500 }, { status: 0, outcome: "unknown" }] as const)
      expect((await judgedBy(policy, Array(20).fill(call))).violations).toEqual([]);
  });

  test("a quota that is charged later has no bound, and is not judged at all", async () => {
    const policy = policyOf(algorithms[0] as object, { charge: { when: "reserve-settle" } });
    const { verdict, laws, notJudged } = await judgedBy(policy, admitted(40));
    expect(verdict).not.toBe("violated");
    expect(laws.bounded).toEqual({ skipped: "no quota of this policy has counts that are judged" });
    expect(notJudged).toEqual([{ quota: "bursts", why: "a token bucket's level is not judged" }]);
  });

  test("a caller's own limit is held to", async () => {
    const overrides = [{ match: { user: "ann" }, quotas: { bursts: { capacity: 60 } } }];
    const policy = { ...policyOf(algorithms[0] as object), overrides } as PolicyInput;
    expect((await judgedBy(policy, admitted(60))).violations).toEqual([]);
    expect((await judgedBy(policy, admitted(70))).violations).toHaveLength(1);
  });
});
