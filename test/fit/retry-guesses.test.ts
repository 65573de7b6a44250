// Spans of attempts after refusals, and which policy they are likeliest under: by waits that are set, not simulated.
import { describe, expect, test } from "vitest";
import type { RetrySample } from "../../sim/fit/jobs.ts";
import { announcedWaitMs, expectedSpan, type FittedRetry } from "../../sim/fit/policies.ts";
import { explainedBy, guessRetry, UsualPauses } from "../../sim/fit/retries.ts";
import { ABSENT } from "../../src/scenario/client.ts";
import { ln } from "../../src/scenario/elementary.ts";

const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** A refusal that shows nothing, and the wait after it. */
const refusal = (waitMs: number, more: Partial<RetrySample> = {}): RetrySample => ({
  ...{ waitMs, nowMs: 0, attempt: 0, beforeMs: 0, cost: 1, userCost: 1 },
  ...{ remaining: ABSENT, reset: ABSENT, userRemaining: ABSENT, userReset: ABSENT, retryAfter: ABSENT },
  ...more,
});

describe("a refusal asks for", () => {
  const both = { kind: "waitReset", of: "both", from: "answer" } as const;
  const own = { kind: "waitReset", of: "organization", from: "answer" } as const;
  const shown = { reset: 3, userReset: 5, remaining: 0, userRemaining: 0 };
  test.each<[string, Parameters<typeof announcedWaitMs>[0], Partial<RetrySample>, number | null]>([
    ["its Retry-After", { kind: "retryAfter" }, { retryAfter: 7 }, 7000],
    ["a Retry-After of 0", { kind: "retryAfter" }, { retryAfter: 0 }, 0],
    ["nothing without one", { kind: "retryAfter" }, shown, null],
    ["the later reset where both windows lack room", both, shown, 5000],
    ["the later reset where neither does", both, { ...shown, remaining: 1, userRemaining: 1 }, 5000],
    ["the organization's where that lacks room", both, { ...shown, userRemaining: 1 }, 3000],
    ["the user's where that lacks room", both, { ...shown, remaining: 1 }, 5000],
    [
      "the user's, though the other is later",
      both,
      { reset: 7, userReset: 5, remaining: 1, userRemaining: 0 },
      5000,
    ],
    [
      "room is for the whole cost",
      both,
      { ...shown, remaining: 1, userRemaining: 2, cost: 2, userCost: 2 },
      3000,
    ],
    [
      "room in each is for what is asked of that one",
      both,
      { ...shown, remaining: 1, userRemaining: 4, userCost: 5 },
      5000,
    ],
    ["the organization's alone", own, shown, 3000],
    ["nothing without a reset", own, {}, null],
    ["the reset since the second began", { ...own, from: "second" }, { ...shown, nowMs: 4_250 }, 2750],
    ["no time before now", { ...own, from: "second" }, { reset: 0, nowMs: 4_250 }, 0],
  ])("%s", (_, policy, more, waitMs) => {
    expect(announcedWaitMs(policy, refusal(1, more))).toBe(waitMs);
  });
});

describe("an attempt is expected", () => {
  const of = (retry: FittedRetry, more: Partial<RetrySample> = {}) => expectedSpan(retry, refusal(1, more));
  const growing = (jitter: "none" | "full" | "equal" | "half" | "decorrelated") =>
    ({ kind: "exponential", first: 100, factor: 3, most: 500, jitter }) as const;

  test("where its policy says", () => {
    const jitter = { least: 20, most: 50 };
    expect(of({ kind: "retryAfter", jitter }, { retryAfter: 2 })).toEqual({ least: 2020, most: 2050 });
    expect(of({ kind: "retryAfter", jitter })).toBeNull();
    expect(of({ kind: "fixed", wait: jitter })).toEqual(jitter);
    expect(of({ kind: "none" })).toBeNull();
    expect(of({ kind: "unknown" })).toBeNull();
  });

  test.each([
    ["none", [100, 100], [300, 300], [500, 500]],
    ["full", [0, 100], [0, 300], [0, 500]],
    ["equal", [50, 100], [150, 300], [250, 500]],
    ["half", [50, 150], [150, 450], [250, 500]],
  ] as const)("with jitter %s, after waits that grow up to a cap", (jitter, ...spans) => {
    for (const [attempt, [least, most]] of spans.entries())
      expect(of(growing(jitter), { attempt })).toEqual({ least, most });
    expect(of(growing(jitter), { attempt: 9 })).toEqual(of(growing(jitter), { attempt: 2 }));
  });

  test("within three times the wait before, where jitter is decorrelated", () => {
    expect(of(growing("decorrelated"))).toEqual({ least: 100, most: 100 });
    expect(of(growing("decorrelated"), { beforeMs: 120 })).toEqual({ least: 100, most: 360 });
    expect(of(growing("decorrelated"), { beforeMs: 400 })).toEqual({ least: 100, most: 500 });
  });
});

/** An attempt that came elsewhere costs as one at any instant of ten minutes, once in a hundred times. */
const stray = ln(600_000) + ln(100);

describe("usual pauses", () => {
  test("have the cost of any length between equal shares of them", () => {
    // Twenty pauses from 0 to 190 ms: four parts, whose ends are 0, 40, 90, 140 and 200.
    const usual = new UsualPauses(
      many(20, (index) => 10 * index),
      0,
    );
    expect(usual.cost(20)).toBeCloseTo(ln(4 * 41), 9);
    expect(usual.cost(60)).toBeCloseTo(ln(4 * 51), 9);
    expect(usual.cost(200)).toBeCloseTo(ln(4 * 61), 9);
    // An end is of both parts.
    expect(usual.cost(40)).toBeCloseTo(-ln(1 / (4 * 41) + 1 / (4 * 51)), 9);
    expect([usual.cost(201), usual.cost(-1)]).toEqual([stray, stray]);
  });

  test("of nothing may have any length up to ten minutes; slack widens them", () => {
    const none = new UsualPauses([], 5);
    expect(none.cost(300_000)).toBeCloseTo(ln(600_011), 9);
    expect(none.cost(600_005)).toBeCloseTo(ln(600_011), 9);
    expect([none.cost(600_006), none.cost(-6)]).toEqual([stray, stray]);
    expect(none.cost(-5)).toBeCloseTo(ln(600_011), 9);
  });

  test("have twenty parts at most, and one at least", () => {
    const hundred = new UsualPauses(
      many(400, (index) => 10 * index),
      0,
    );
    // A part of twenty pauses is 200 ms long.
    expect(hundred.cost(300)).toBeCloseTo(ln(20 * 201), 9);
    expect(new UsualPauses([100, 100, 100, 100], 0).cost(100)).toBeCloseTo(0, 9);
  });
});

describe("the likeliest policy", () => {
  const best = (samples: readonly RetrySample[], slackMs = 0) => guessRetry(samples, slackMs, null);
  const score = (parameters: number, count: number, widths: number): number =>
    (parameters * (1.5 + ln(count + 1) / 2)) / count + ln(widths);

  test("of no attempt is none", () => {
    expect(best([])).toBeNull();
  });

  test("is a wait of one length, or a span of them", () => {
    const fixed = best(many(20, () => refusal(1000)));
    expect(fixed).toMatchObject({
      retry: { kind: "fixed", wait: { least: 1000, most: 1000 } },
      ...{ explained: 1, alike: [] },
    });
    expect(fixed?.score).toBeCloseTo(score(1, 20, 1), 9);
    const spread = best(many(100, (index) => refusal(1000 + 10 * index)));
    expect(spread?.retry).toEqual({ kind: "fixed", wait: { least: 1000, most: 2000 } });
    expect(spread?.score).toBeCloseTo(score(2, 100, 1001), 9);
  });

  test("is what the refusal asked for, where that is narrower", () => {
    const asked = many(40, (index) =>
      refusal(1000 * (1 + (index % 4)) + (index % 3), { retryAfter: 1 + (index % 4) }),
    );
    const guess = best(asked, 2);
    expect(guess?.retry).toEqual({ kind: "retryAfter", jitter: { least: 0, most: 0 } });
    // Nothing was chosen; each wait is one of five ms, by a slack of two.
    expect(guess?.score).toBeCloseTo(ln(5), 9);
    const jittered = many(40, (index) =>
      refusal(1000 * (1 + (index % 4)) + 25 * index, { retryAfter: 1 + (index % 4) }),
    );
    expect(best(jittered)?.retry).toEqual({ kind: "retryAfter", jitter: { least: 0, most: 1000 } });
    // The start of jitter is no choice: of up to a second it is one, from half a second on they are two.
    expect(best(jittered)?.score).toBeCloseTo(score(1, 40, 1001), 9);
    const late = best(jittered.map((one) => ({ ...one, waitMs: one.waitMs + 500 })));
    expect(late?.retry).toEqual({ kind: "retryAfter", jitter: { least: 500, most: 1500 } });
    expect(late?.score).toBeCloseTo(score(2, 40, 1001), 9);
    // Nine in ten have to say it.
    const some = (silent: number) =>
      best(
        asked.map((one, index) => (index < silent ? { ...one, retryAfter: ABSENT } : one)),
        1,
      );
    expect(some(4)?.retry.kind).toBe("retryAfter");
    expect(some(5)?.retry.kind).toBe("fixed");
  });

  test("is a reset's where it says so, of the windows that lack room, by its second or its answer", () => {
    const window = (index: number) => ({
      remaining: 0,
      userRemaining: 5,
      reset: 1 + (index % 5),
      userReset: 30,
    });
    const answer = many(40, (index) =>
      refusal(1000 * (1 + (index % 5)), { ...window(index), nowMs: 137 * index }),
    );
    const { retry, alike } = best(answer) ?? { retry: null, alike: null };
    expect(retry).toEqual({ kind: "waitReset", of: "both", from: "answer", jitter: { least: 0, most: 0 } });
    expect(alike).toEqual([]);
    const second = answer.map((one) => ({ ...one, waitMs: one.waitMs - (one.nowMs % 1000) }));
    expect(best(second)?.retry).toMatchObject({ kind: "waitReset", of: "both", from: "second" });
    const both = many(40, (index) =>
      refusal(1000 * (1 + (index % 5)), { ...window(index), userRemaining: 0 }),
    );
    expect(best(both)?.retry).toMatchObject({ kind: "waitReset", of: "organization", from: "answer" });
    // Retry-After that says the same is alike.
    const same = answer.map((one) => ({ ...one, retryAfter: one.reset }));
    expect(best(same)?.alike).toEqual(["retryAfter"]);
  });

  test("is that of every so many, of more than 4,000", () => {
    const two = many(8000, (index) => refusal(index % 2 === 0 ? 1000 : 2000 + index));
    expect(best(two)).toMatchObject({
      retry: { kind: "fixed", wait: { least: 1000, most: 1000 } },
      explained: 1,
    });
    expect(best(two.slice(0, 4000))?.retry).toMatchObject({ wait: { least: 1000, most: 6000 } });
  });

  test("is one whose waits grow", () => {
    const attempts = (waits: readonly number[]) =>
      many(10, () => waits.map((ms, attempt) => refusal(ms, { attempt }))).flat();
    expect(best(attempts([100, 200, 400, 400]))?.retry).toEqual({
      ...{ kind: "exponential", first: 100, factor: 2, most: 400, jitter: "none" },
    });
    // Three parameters were chosen, and each wait is the one that is said.
    expect(best(attempts([100, 200, 400, 400]))?.score).toBeCloseTo(score(3, 40, 1), 9);
    expect(best(attempts([100, 300, 900, 900, 900]))?.retry).toMatchObject({ factor: 3, most: 900 });
    expect(best(attempts([100, 150, 225, 225]))?.retry).toMatchObject({ factor: 1.5, most: 225 });
    expect(best(attempts([100, 170, 289, 289]))?.retry).toMatchObject({ factor: 1.7, most: 289 });
    // No cap was met: two more waits grow.
    expect(best(attempts([100, 200, 400]))?.retry).toMatchObject({ factor: 2, most: 1600 });
    // Scenarios allow a factor of a hundred at most.
    expect(best(attempts([10, 1_000, 1_000, 1_000]))?.retry).toMatchObject({ factor: 100, most: 1_000 });
    expect(best(attempts([10, 1_010, 1_010, 1_010]))?.retry).not.toMatchObject({ factor: 101 });
  });

  test.each([
    ["full", 0, 1],
    ["equal", 0.5, 1],
    ["half", 0.5, 1.5],
  ])("is one with jitter %s, by even draws of its spans", (jitter, least, most) => {
    const waits = [1000, 2000, 4000, 8000, 8000, 8000];
    const samples = waits.flatMap((wait, attempt) =>
      many(60, (index) =>
        refusal(Math.min(8000, Math.round(wait * (least + ((most - least) * (index + 0.5)) / 60))), {
          attempt,
          beforeMs: wait,
        }),
      ),
    );
    const retry = best(samples)?.retry;
    expect(retry).toMatchObject({ kind: "exponential", factor: 2, jitter });
    expect(Math.abs((retry as { first: number }).first - 1000)).toBeLessThanOrEqual(50);
  });

  test("is none where usual pauses are as likely", () => {
    const pauses = many(100, (index) => 1000 + 10 * index);
    const usual = new UsualPauses(pauses, 0);
    const asUsual = guessRetry(
      pauses.map((ms) => refusal(ms)),
      0,
      usual,
    );
    expect(asUsual).toMatchObject({ retry: { kind: "none" }, explained: 1, alike: [] });
    expect(
      guessRetry(
        many(100, () => refusal(300)),
        0,
        usual,
      )?.retry.kind,
    ).toBe("fixed");
  });

  test("is a wait for the reset though one of a few attempts is a stray", () => {
    const usual = new UsualPauses(
      many(100, (index) => 60_000 * index),
      0,
    );
    const atResets = (count: number, strays: number, latest = 1_800_000, lateMs = 0) =>
      guessRetry(
        many(count, (index) =>
          refusal(10_000 + lateMs + (index < strays ? latest * (index + 1) : 70 * index), { reset: 10 }),
        ),
        0,
        usual,
      );
    const jitter = { least: 0, most: 500 };
    expect(atResets(8, 1)).toMatchObject({ retry: { kind: "waitReset", jitter }, explained: 7 / 8 });
    expect(atResets(8, 2)?.retry).not.toMatchObject({ jitter });
    expect(atResets(8, 1, 20_000, 5_000)).toMatchObject({
      ...{ retry: { kind: "waitReset", jitter: { least: 5_000, most: 5_500 } }, explained: 7 / 8 },
    });
    // One that comes a little later than the others is none.
    expect(atResets(40, 1, 6_000)).toMatchObject({ retry: { kind: "waitReset" }, explained: 1 });
  });

  test("explains a share of the attempts, with slack", () => {
    const fixed = { kind: "fixed", wait: { least: 100, most: 200 } } as const;
    const samples = [94, 95, 100, 205, 206].map((ms) => refusal(ms));
    expect(explainedBy(fixed, samples, 5)).toBe(0.6);
    expect(explainedBy(fixed, samples, 6)).toBe(1);
    expect(explainedBy({ kind: "none" }, samples, 5)).toBe(0);
  });
});
