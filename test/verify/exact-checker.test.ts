// The exact checker itself, on histories whose verdict a reader can see.
import { describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { hasOrder } from "./exact.ts";
import { NotKnown } from "./exact-search.ts";
import { graphql, refused, rest, start, status, unanswered } from "./traces.ts";

const unlocked = {
  organization: { graphql: { windowSeconds: 60 } },
  user: { graphql: { windowSeconds: 60 } },
};

function order(
  calls: readonly TraceCall[],
  rules: RulesInput = {},
  header: Partial<TraceHeader> = {},
): boolean {
  const known: TraceHeader = {
    format: "spillway-trace",
    version: 1,
    source: "other",
    scenario: null,
    seed: null,
    target: null,
    startedAt: start - 600_000,
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    rules: parseRules(rules),
    complete: true,
    lost: 0,
    ...header,
  };
  const lines = calls.map((call, index) => ({ line: index + 2, call }));
  return hasOrder(known, lines);
}

describe("an order exists", () => {
  test("for no calls at all", () => {
    expect(order([])).toBe(true);
  });

  test("where calls that overlap show each other's places", () => {
    const two = [rest({ at: 1000, took: 30, count: 2 }), rest({ at: 1010, took: 30, count: 1 })];
    expect(order(two)).toBe(true);
    expect(order([rest({ at: 1000, took: 9, count: 2 }), rest({ at: 1010, took: 30, count: 1 })])).toBe(
      false,
    );
  });

  test("where a reading of 0 ms is enough to be in between, on an exact clock too", () => {
    const clock = { kind: "virtual", resolutionMs: 0, errorMs: 0 } as const;
    const touching = [rest({ at: 1000, took: 10, count: 2 }), rest({ at: 1010, took: 10, count: 1 })];
    expect(order(touching, {}, { clock })).toBe(true);
    // With a resolution of 1 ms the answer may have come after the other was sent.
    expect(order(touching)).toBe(true);
  });

  test("under the offset of the target's clock that all ends of windows agree on, and no other", () => {
    const ends = (first: number, second: number) => [
      rest({ at: 1000, count: 1 }, { reset: first, userReset: first }),
      rest({ at: 21_000, count: 2 }, { reset: second, userReset: second }),
    ];
    expect(order(ends(59, 39))).toBe(true);
    expect(order(ends(50, 30))).toBe(true);
    expect(order(ends(59, 40))).toBe(true);
    expect(order(ends(59, 41))).toBe(false);
    // 20 s before, 10 s after the edge: of the next window, which opens empty.
    const across = ends(20, 60);
    expect(order(across)).toBe(false);
    const [first, second] = across;
    if (first === undefined || second === undefined) throw new RangeError("two calls");
    expect(order([first, { ...second, remaining: 199, userRemaining: 49 }])).toBe(true);
  });

  test("only if the time of day that a status body shows is the same for both scopes", () => {
    expect(order([status({ at: 1000, count: 0 })])).toBe(true);
    const { rest: own, graphql: other } = status({ at: 1000, count: 0 }).body as Record<string, object>;
    const later = { rest: own, graphql: { ...other, reset_at: "2026-01-02T03:06:00Z" } };
    expect(order([status({ at: 1000, count: 0 }, 0, { body: later })])).toBe(false);
  });

  test("where both windows were charged at one instant, and not where each had its own", () => {
    // Each window alone has an order, the one the reverse of the other.
    const crossed = [
      rest({ at: 1000, took: 30, count: 1, userCount: 2 }),
      rest({ at: 1000, took: 30, count: 2, userCount: 1 }),
    ];
    expect(order(crossed)).toBe(false);
  });

  test("where unknown and lost calls make up for what is missing, and only so many", () => {
    const gap = [rest({ at: 1000, count: 1 }), rest({ at: 3000, count: 3 })];
    expect(order(gap)).toBe(false);
    expect(order([...gap, unanswered(1500)])).toBe(true);
    expect(order([...gap, unanswered(3500)])).toBe(false);
    expect(order(gap, {}, { lost: [{ org: "acme", scope: "rest", count: 1 }] })).toBe(true);
    expect(order([...gap, unanswered(1500, { user: "u2" })])).toBe(false);
  });

  test("where windows were open when the trace began", () => {
    const rules = { organization: { rest: { limit: 20 } }, user: { rest: { limit: 20 } } };
    const shown = (at: number, count: number): TraceCall =>
      rest({ at, count }, { limit: 20, remaining: 20 - count, userLimit: 20, userRemaining: 20 - count });
    const header = { startedAt: start + 29_000 };
    const calls = [shown(30_000, 7), shown(31_000, 8)];
    expect(order(calls, rules, header)).toBe(true);
    expect(order(calls, rules)).toBe(false);
    expect(order([...calls, shown(32_000, 10)], rules, header)).toBe(false);
  });
});

describe("a refusal", () => {
  const limit = { organization: { rest: { limit: 3 } }, user: { rest: { limit: 2 } } };
  const shown = (at: number, count: number, userCount: number): TraceCall =>
    rest(
      { at, count },
      {
        limit: 3,
        remaining: Math.max(0, 3 - count),
        userLimit: 2,
        userRemaining: Math.max(0, 2 - userCount),
      },
    );
  const refusal = { scope: "rest_user", limit: 2, current: 2, reset: 57 };
  const no = (changes: Partial<TraceCall>): TraceCall => ({
    ...refused({ at: 3000, count: 2 }, "rest_user"),
    ...{ limit: 3, remaining: 1, userLimit: 2, userRemaining: 0, reset: 57, userReset: 57, refusal },
    ...changes,
  });
  const full = [shown(1000, 1, 1), shown(2000, 2, 2)];

  test("is due where the window it names lacks room, and charges nothing", () => {
    expect(order([...full, no({})], limit)).toBe(true);
    expect(order([shown(1000, 1, 1), no({ remaining: 2, userRemaining: 1 })], limit)).toBe(false);
    expect(order([...full, shown(3000, 3, 3)], limit)).toBe(false);
    expect(order([...full, no({ refusal: { ...refusal, scope: "rest", limit: 3 } })], limit)).toBe(false);
    expect(
      order([...full, no({}), status({ at: 4000, count: 3 }, 3, { limit: 3, remaining: 0 })], limit),
    ).toBe(false);
  });

  test("is charged where the rules say so", () => {
    const counted = { ...limit, semantics: { refused: "counted" } } as const;
    expect(order([...full, no({})], counted)).toBe(false);
    expect(order([...full, no({ refusal: { ...refusal, current: 3 } })], counted)).toBe(true);
    const drained = { ...limit, semantics: { refusedByUser: "charges-organization" } } as const;
    expect(order([...full, no({})], drained)).toBe(false);
    expect(order([...full, no({ remaining: 0 })], drained)).toBe(true);
  });

  test("does not come while limits are off", () => {
    const off = { ...limit, organization: { rest: { limit: 3, enforced: false } } };
    expect(order([...full, no({})], off)).toBe(false);
    expect(order([...full, shown(3000, 3, 3)], off)).toBe(true);
    const always = { ...off, semantics: { userEnforced: "always" } } as const;
    expect(order([...full, no({})], always)).toBe(true);
  });
});

describe("a GraphQL call", () => {
  test("reserved, holds its points from its decision to its completion", () => {
    const long = graphql({ at: 1000, took: 3000, count: 20 }, 100, 10);
    for (const [count, has] of [
      [110, true],
      [20, true],
      [10, true],
      [60, false],
    ] as const)
      expect(order([long, graphql({ at: 2000, count }, 10, 10)])).toBe(has);
  });

  test("whose points are not told may have been charged any", () => {
    const silent = graphql({ at: 1000, count: 3 }, 5, 3);
    delete silent.actual;
    expect(order([silent, graphql({ at: 2000, count: 4 }, 1, 1)])).toBe(true);
    expect(order([silent, graphql({ at: 2000, count: 7 }, 1, 1)])).toBe(false);
  });

  test("prepaid, shows what it was charged", () => {
    const prepaid = { ...unlocked, semantics: { graphqlCharge: "prepaid" } } as const;
    expect(order([graphql({ at: 1000, count: 100, ends: 60_000 }, 100, 10)], prepaid)).toBe(true);
    expect(order([graphql({ at: 1000, count: 10, ends: 60_000 }, 100, 10)], prepaid)).toBe(false);
  });

  test("postpaid, is charged to the window of its decision, of its completion, or nowhere", () => {
    const postpaid = { ...unlocked, semantics: { graphqlCharge: "postpaid" } } as const;
    const across = (count: number): TraceCall =>
      graphql({ at: 59_900, took: 200, count, ends: 120_000 }, 50, 40, { reset: 60, userReset: 60 });
    expect(order([across(0)], postpaid)).toBe(true);
    expect(order([across(40)], postpaid)).toBe(true);
    expect(order([across(50)], postpaid)).toBe(false);
    const next = (count: number): TraceCall => graphql({ at: 70_000, count, ends: 120_000 }, 10, 10);
    expect(order([across(0), next(10)], postpaid)).toBe(true);
    expect(order([across(0), next(50)], postpaid)).toBe(false);
  });
});

describe("a first-request window", () => {
  const anchored = { semantics: { anchor: { rest: "first-request" } } } as const;

  test("opens at the whole second of its first call, and is idle before", () => {
    const idle = status({ at: 1000, count: 0, ends: 61_000 });
    const opened = rest({ at: 30_200, count: 1, ends: 90_000 });
    expect(order([idle, opened, rest({ at: 40_500, count: 2, ends: 90_000 })], anchored)).toBe(true);
    expect(order([idle, opened, rest({ at: 40_500, count: 2, ends: 91_000 })], anchored)).toBe(false);
    expect(order([idle, opened, rest({ at: 40_500, count: 1, ends: 100_000 })], anchored)).toBe(false);
    expect(order([idle, opened, rest({ at: 95_500, count: 1, ends: 155_000 })], anchored)).toBe(true);
  });
});

test("what it does not know it says", () => {
  expect(() => order([rest({ at: 1000, count: 1 }, { user: null })])).toThrow(NotKnown);
  expect(() => order([rest({ at: 1000, count: 1 })], {}, { complete: false })).toThrow(NotKnown);
  expect(() => order([rest({ at: 1000, count: 1 })], {}, { rules: null })).toThrow(NotKnown);
});
