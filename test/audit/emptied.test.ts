// Quotas that are emptied: which one is, what comes back in a time, and what is more than that.
import { describe, expect, test } from "vitest";
import {
  burstCalls,
  callsIn,
  type EmptiedQuota,
  emptiedOf,
  emptyingCalls,
  isIts,
  lacksCounts,
  lacksEmptied,
  lacksLevel,
  msFor,
  overRate,
  restMs,
  spanOf,
  unitsIn,
} from "../../src/audit/emptied.ts";
import { Lab } from "../../src/audit/lab.ts";
import type { Answer, AuditCallers, Subject } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const callers = [{ index: 0, name: "ann", attributes: { user: "ann" } }] as const satisfies AuditCallers;
const bucketOf = (capacity: number, more: object = {}) => ({
  algorithm: { kind: "token-bucket", capacity, refill: { amount: 2, everyMs: 1_000 } },
  ...{ key: ["user"], ...more },
});
const windowOf = (limit: number, anchor: unknown = "epoch", more: object = {}) => ({
  algorithm: { kind: "fixed-window", limit, windowSeconds: 10, anchor },
  ...{ key: ["user"], ...more },
});

interface Made {
  readonly quotas: object;
  readonly uses: object;
  readonly cost?: number;
  readonly spend?: number;
  readonly alone?: boolean;
  readonly shown?: readonly string[];
}
function made({ quotas, uses, cost = 1, spend = 1, alone = true, shown = [] }: Made) {
  const policy = parsePolicy({
    version: 2,
    name: "own",
    quotas,
    operations: { call: { uses, samples: [{ path: "/", cost }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: {
      revision: "2026",
      readings: shown.map((quota) => ({ quotas: [quota], headers: { [`X-${quota}`]: "{used}" } })),
    },
  });
  const lab = new Lab({ policy, callers, alone, spend, isTls: false, beganMs: 0, untilMs: 60_000 });
  return { lab, subject: lab.subjects[0] as Subject };
}
function emptied(given: Made): EmptiedQuota | null {
  const { lab, subject } = made(given);
  return emptiedOf(lab, subject);
}
const emptiedBy = (quotas: object, uses: object, more: Partial<Made> = {}): EmptiedQuota =>
  emptied({ quotas, uses, ...more }) as EmptiedQuota;
const bucket = emptiedBy({ b: bucketOf(20) }, { b: 3 });
const grid = emptiedBy({ w: windowOf(9) }, { w: 2 });
const own = emptiedBy({ w: windowOf(9, "first-request") }, { w: 2 });

describe("the quota that is emptied", () => {
  test("is the one with room for the fewest calls", () => {
    const quotas = { w: windowOf(9), b: bucketOf(20) };
    expect(emptied({ quotas, uses: { w: 1, b: 2 } })).toMatchObject({ name: "w", cost: 1, windowMs: 10_000 });
    expect(emptied({ quotas, uses: { w: 1, b: 3 } })).toMatchObject({
      name: "b",
      cost: 3,
      windowMs: 0,
      begunMs: 0,
    });
    expect(emptied({ quotas, uses: { w: 1, b: "declared" }, cost: 3 })).toMatchObject({ name: "b", cost: 3 });
  });

  test("is none if its count is shown, or if nobody knows its charge", () => {
    const quotas = { w: windowOf(9), b: bucketOf(20) };
    expect(emptied({ quotas, uses: { w: 1, b: 2 }, shown: ["w"] })).toBeNull();
    expect(emptied({ quotas, uses: { w: 1, b: 3 }, shown: ["w"] })?.name).toBe("b");
    for (const more of [{ enforced: "unknown" }, { enforced: false }, { charge: { when: "reserve-settle" } }])
      expect(emptied({ quotas: { w: windowOf(9), b: bucketOf(20, more) }, uses: { w: 1, b: 1 } })).toBeNull();
    // Also beside one that no call fits.
    const unknown = { w: windowOf(9), b: bucketOf(20, { enforced: "unknown" }) };
    expect(emptied({ quotas: unknown, uses: { w: 18, b: 1 } })).toBeNull();
    const calendar = { kind: "fixed-window", limit: 9, anchor: { calendar: "day", zone: "UTC" } };
    expect(emptied({ quotas: { w: { algorithm: calendar, key: [] } }, uses: { w: 1 } })).toBeNull();
  });

  test("has begun before its first call at most as long as the search for its begin leaves open", () => {
    // A sixtieth of ten seconds is 167 ms; a window has begun for all servers after one second, three times.
    expect([grid.begunMs, own.begunMs]).toEqual([167 + 3 * 1_000, 0]);
    const short = {
      ...windowOf(9),
      algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 2, anchor: "epoch" },
    };
    expect(emptiedBy({ w: short }, { w: 1 }).begunMs).toBe(34 + 3 * 200);
  });
});

describe("an emptied quota", () => {
  test("has room for whole calls, and lacks it for a dozen more", () => {
    expect([bucket, grid, own].map(callsIn)).toEqual([6, 4, 4]);
    expect([bucket, grid].map(burstCalls)).toEqual([18, 16]);
    const { lab, subject } = made({ quotas: { b: bucketOf(20) }, uses: { b: 3 } });
    // 6 and 4.8 calls, and a dozen.
    expect(emptyingCalls(lab, subject)).toBe(11 + 12);
    const shown = made({ quotas: { w: windowOf(9) }, uses: { w: 2 }, shown: ["w"] });
    expect(emptyingCalls(shown.lab, shown.subject)).toBe(0);
  });

  test("has units back: a bucket evenly, a window all at once", () => {
    expect([bucket, grid, own].map((quota) => msFor(quota, 5))).toEqual([2_500, 10_000, 10_000]);
    for (const units of [0, 1, 7]) expect(unitsIn(bucket, msFor(bucket, units))).toBe(units);
    for (const quota of [grid, own])
      for (const ms of [0, 1, 6_832, 6_833, 9_999, 10_000, 26_833, 30_000]) {
        let begun = 0;
        for (let at = 10_000 - quota.begunMs; at <= ms; at += 10_000) begun += 1;
        expect([ms, unitsIn(quota, ms)]).toEqual([ms, 9 * begun]);
      }
  });

  test("rests until all its room has surely come back", () => {
    expect([bucket, own, null].map(restMs)).toEqual([11_000, 11_000, 0]);
  });

  const answersOf = (outcomes: readonly string[], spanMs: number, by?: string): Answer[] =>
    outcomes.map((outcome, place) => {
      const at = place === outcomes.length - 1 ? spanMs : 0;
      return { call: { outcome, sent: 1_000, received: 1_000 + at, by } } as unknown as Answer;
    });
  const many = (count: number, spanMs: number) => answersOf(Array(count).fill("admitted"), spanMs);

  test("admits no more than its room and what comes back meanwhile", () => {
    // Room for 20 units, and two a second: 21 are seven calls of three.
    expect(overRate(bucket, many(7, 499), 0)).toMatchObject({
      expected: "6 calls of b at most within 499 ms",
      got: "7 admitted",
      law: undefined,
    });
    expect(overRate(bucket, many(7, 500), 0)).toBeNull();
    expect(overRate(bucket, many(7, 400), 100)).toBeNull();
    expect(overRate(bucket, many(7, 400), 99)).not.toBeNull();
    const refused = answersOf([...Array(6).fill("admitted"), "refused"], 100);
    expect(overRate(bucket, refused, 0)).toBeNull();
    const five = many(5, 6_832);
    expect(overRate(grid, five, 0)).toMatchObject({ law: "bounded", got: "5 admitted", answers: five });
    expect(overRate(grid, many(5, 6_833), 0)).toBeNull();
    expect(spanOf(five)).toBe(6_832);
  });

  test("has refused if the refusal names it, or if there is no other one", () => {
    const [answer] = answersOf(["refused"], 0, "other") as [Answer];
    const subject = (...quotas: string[]) => ({ quotas }) as unknown as Subject;
    expect(isIts(answer, bucket, subject("b"))).toBe(true);
    expect(isIts(answer, bucket, subject("b", "other"))).toBe(false);
    expect(isIts(answer, { ...bucket, name: "other" }, subject("b", "other"))).toBe(true);
  });
});

const nothing = "no bucket, and no window without counts, that plain calls empty first";
const large = "the bucket is too large to empty in the time";
const spend = "--spend leaves no window to be emptied";
const alone = "only who promises to be alone knows what a quota has left: --alone";
const uncounted = "answers show no count of a window, and no quota without one is emptied first";
const window = { quotas: { w: windowOf(9) }, uses: { w: 1 } };
const later = bucketOf(9, { charge: { when: "reserve-settle" } });
test.each<[string, Made, emptied: string | null, level: string | null, counts: string | null]>([
  ["a bucket", { quotas: { b: bucketOf(500) }, uses: { b: 1 } }, null, null, null],
  ["a large bucket", { quotas: { b: bucketOf(501) }, uses: { b: 1 } }, large, large, large],
  ["a part of a window", { ...window, spend: 0.5 }, spend, spend, spend],
  [
    "a bucket of others, too",
    { quotas: { b: bucketOf(9) }, uses: { b: 1 }, alone: false },
    null,
    alone,
    alone,
  ],
  ["a window of others, too", { ...window, alone: false }, alone, alone, alone],
  ["a count that is shown", { ...window, shown: ["w"] }, nothing, nothing, null],
  ["a later charge", { quotas: { b: later }, uses: { b: { atMost: 2 } } }, nothing, nothing, uncounted],
])("%s: what its audit lacks", (_, given, ...lacks) => {
  const { lab, subject } = made(given);
  expect([lacksEmptied(lab, subject), lacksLevel(lab, subject), lacksCounts(lab, subject)]).toEqual(lacks);
});
