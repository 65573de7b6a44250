// On how much each law rests: what it was tested by is counted, and what was tested on nothing is not called held.
import { describe, expect, test } from "vitest";
import type { LawName } from "../../src/rules/laws.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { graphql, judged, refused, rest, start, status, type TraceOptions, unanswered } from "./traces.ts";

type Counts = readonly [readings: number, refusals: number, windows: number, resets: number];

const countsOf = ({ evidence }: Verdict, law: LawName): Counts | undefined => {
  const tested = evidence?.[law];
  return tested === undefined ? undefined : [tested.readings, tested.refusals, tested.windows, tested.resets];
};

const nothing: Counts = [0, 0, 0, 0];
const limits = { organization: { rest: { limit: 200 } }, user: { rest: { limit: 50 } } };

/** Fifty calls of a user, whose window is full then. */
const full = (from = 1000, ends = 60_000): TraceCall[] =>
  Array.from({ length: 50 }, (_, index) => rest({ at: from + index * 100, count: index + 1, ends }));
const later = (at: number, changes: Partial<TraceCall> = {}): TraceCall =>
  rest({ at, count: 1, ends: 120_000 }, changes);
const beside = { user: "u2", client: "clients/1", userRemaining: 49, userReset: 55 };

describe("two windows, one of them full", () => {
  // Two users; a refusal by the first one's window; a status call; then the next window.
  const calls = [
    ...full(),
    refused({ at: 6500, count: 50 }, "rest_user"),
    rest({ at: 7000, count: 51 }, { ...beside, userReset: 53 }),
    status({ at: 8000, count: 51, userCount: 50 }),
    later(61_000),
    later(62_000, { remaining: 198, user: "u2", client: "clients/1" }),
  ];

  test.each<[LawName, Counts]>([
    // 55 answers, the limits and resets of a body's two scopes.
    ["headers-present", [110, 1, 0, 0]],
    ["limit-agrees", [112, 1, 0, 0]],
    ["remaining-agrees", [110, 1, 0, 0]],
    // The organization's windows of both scopes, and each user's.
    ["reset-agrees", [112, 1, 7, 3]],
    // All 55 answers twice, and the body; the organization's window of GraphQL among them.
    ["conserved", [112, 2, 7, 3]],
    ["bounded", [112, 2, 7, 3]],
    // But for windows that show one count, and followed none.
    ["monotone", [110, 2, 5, 3]],
    ["status-free", [4, 0, 3, 0]],
    ["all-or-nothing", [2, 2, 2, 0]],
    ["isolated", [112, 2, 7, 3]],
    ["recovers", [4, 0, 3, 3]],
    ["refusal-justified", [2, 1, 0, 0]],
    ["refusal-agrees", [1, 1, 0, 0]],
    ["twice-at-most", [106, 0, 6, 3]],
    ["unenforced-never-refuses", nothing],
    ["snapshot-equals", nothing],
  ])("%s", async (law, counts) => {
    const verdict = await judged(calls, { rules: limits });
    expect(verdict.violations).toEqual([]);
    expect(countsOf(verdict, law)).toEqual(counts);
    expect(verdict.laws[law]).toEqual(counts === nothing ? { skipped: expect.any(String) } : "held");
  });
});

describe("what was tested on nothing is skipped", () => {
  test.each<[string, LawName, readonly TraceCall[], TraceOptions, RegExp]>([
    ["no refusal", "refusal-justified", [rest({ at: 1000, count: 1 })], {}, /nothing was refused/],
    ["no refusal", "all-or-nothing", full(), {}, /no refusal that is not charged/],
    ["one user", "isolated", full(), {}, /beside another user's/],
    ["one window", "recovers", full(), {}, /followed another/],
    ["no status call", "status-free", full(), {}, /no status call/],
    [
      "not complete",
      "status-free",
      [rest({ at: 1000, count: 1 }), status({ at: 2000, count: 1 })],
      { complete: false },
      /charges were all known/,
    ],
    ["not enforced", "bounded", full(), { rules: unenforced() }, /known to bind/],
    [
      "enforced, as far as is known until a body says it is not",
      "bounded",
      [...full(), status({ at: 9000, count: 50 }, 50, { body: offBody(50) })],
      {},
      /known to bind/,
    ],
    [
      "never full",
      "unenforced-never-refuses",
      [rest({ at: 1000, count: 1 })],
      { rules: unenforced() },
      /came to its limit/,
    ],
    [
      "one count alone, of a window open before",
      "conserved",
      [rest({ at: 1000, count: 7 })],
      { startedAt: start + 500 },
      /two counts/,
    ],
    ["nothing answered", "headers-present", [unanswered(1000)], {}, /no answer owed/],
  ])("%s: %s", async (_, law, calls, options, reason) => {
    const verdict = await judged(calls, options);
    expect(verdict.violations).toEqual([]);
    expect(countsOf(verdict, law)).toEqual(nothing);
    expect(verdict.laws[law]).toEqual({ skipped: expect.stringMatching(reason) });
  });

  test("limits are tested once they bind: in windows that two bodies enclose", async () => {
    const calls = [
      status({ at: 500, count: 0 }),
      ...full(),
      status({ at: 59_000, count: 50 }),
      later(61_000),
    ];
    const { laws, evidence } = await judged([...calls, status({ at: 130_000, count: 0, ends: 180_000 })]);
    expect(laws.bounded).toBe("held");
    expect(evidence?.bounded.windows).toBeGreaterThanOrEqual(4);
  });

  test("that nothing is refused while limits are off, in windows that came to their limit", async () => {
    const over = rest({ at: 7000, count: 51 }, { userRemaining: 0 });
    const verdict = await judged([...full(), over], { rules: unenforced() });
    expect(verdict.laws["unenforced-never-refuses"]).toBe("held");
    expect(countsOf(verdict, "unenforced-never-refuses")).toEqual([51, 0, 1, 0]);
  });

  test("refusals test all-or-nothing in the windows that they do not charge", async () => {
    const counted = { refused: "counted" as const };
    const drained = { ...counted, refusedByUser: "charges-organization" as const };
    const calls = (count: number): TraceCall[] => [
      ...full(),
      refused({ at: 7000, count, userCount: 51 }, "rest_user"),
    ];
    const spared = await judged(calls(50), { rules: { semantics: counted } });
    expect(countsOf(spared, "all-or-nothing")).toEqual([1, 1, 1, 0]);
    const charged = await judged(calls(51), { rules: { semantics: drained } });
    expect(charged.violations).toEqual([]);
    expect(charged.laws["all-or-nothing"]).toEqual({ skipped: expect.any(String) });
  });

  test("without rules, a limit is tested where a window shows it twice", async () => {
    const once = await judged([rest({ at: 1000, count: 1 })], { rules: null });
    expect(once.laws["limit-agrees"]).toEqual({ skipped: expect.any(String) });
    const twice = await judged([rest({ at: 1000, count: 1 }), rest({ at: 2000, count: 2 })], { rules: null });
    expect(twice.laws["limit-agrees"]).toBe("held");
    expect(countsOf(twice, "limit-agrees")).toEqual([4, 0, 2, 0]);
  });

  test("a law that is broken has its evidence, too", async () => {
    const verdict = await judged([
      graphql({ at: 1000, count: 7 }, 5, 5),
      graphql({ at: 2000, count: 30 }, 5, 5),
    ]);
    expect(verdict.laws.conserved).toBe("violated");
    expect(verdict.evidence?.conserved.readings).toBe(4);
  });
});

function unenforced() {
  return { organization: { rest: { enforced: false }, graphql: { enforced: false } } };
}

function offBody(current: number) {
  const of = (limit: number, count: number, seconds: number) => ({
    limit,
    current: count,
    reset: seconds,
    reset_at: seconds === 51 ? "2026-01-02T03:01:00Z" : "2026-01-02T03:05:00Z",
    enforced: false,
  });
  return { rest: of(200, current, 51), graphql: of(20_000, 0, 291) };
}
