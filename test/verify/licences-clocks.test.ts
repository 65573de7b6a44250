// More of what a judge may not assume (licences.test.ts): clocks. Each history is a correct one that is accused where
// the oracle is made to allow less by just that (the mutation stands above each test), beside one that is not correct.
import { describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { broken, rest, start, status } from "./traces.ts";

const fine: readonly string[] = [];
const minutes = { organization: { graphql: { windowSeconds: 60 } } } as const;
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

describe("the target's clock", () => {
  /** A status call that took no time, when the target's clock was ahead by `ahead` ms: windows of a minute. */
  const looked = (at: number, ahead: number, seconds: (ms: number) => number = Math.ceil): TraceCall => {
    const now = start + at + ahead;
    const resetAt = Math.floor(now / 60_000) * 60_000 + 60_000;
    const reset = seconds((resetAt - now) / 1000);
    const part = { limit: 200, current: 0, reset, reset_at: iso(resetAt), enforced: true };
    const ceiled = { ...part, limit: 20_000, reset: Math.ceil((resetAt - now) / 1000) };
    const call = status({ at, took: 0, count: 0 });
    return { ...call, reset, userReset: reset, body: { rest: part, graphql: ceiled } };
  };

  // target-clock.ts: two bodies are compared without `apart * driftShare`.
  test("drifts between two bodies that are compared", async () => {
    // The first one just before a second ends, the other just as one begins: they leave 1 ms each.
    const first = looked(999, 0);
    expect(await broken([first, looked(500_951, 49)], { rules: minutes })).toEqual(fine);
    expect(await broken([first, looked(500_751, 249)], { rules: minutes })).toEqual([
      "reset-agrees organization 2,3",
    ]);
  });

  const hours = 36_000_000;
  const long = {
    organization: { rest: { windowSeconds: 36_000 } },
    user: { rest: { windowSeconds: 36_000 } },
  };
  const ending = (ends: number, count = 1): TraceCall => rest({ at: ends - 2000, count, ends });

  // window.ts: `shortest` and `longest` without drift.
  test.each([
    ["fast", -1],
    ["slow", 1],
  ])("drifts over a window's length: it may be %s", async (_, sign) => {
    const two = (by: number): TraceCall[] => [ending(hours), ending(2 * hours + sign * by)];
    expect(await broken(two(3400), { rules: long })).toEqual(fine);
    expect(await broken(two(9000), { rules: long })).toContain("reset-agrees organization 2,3");
  });

  // clock.ts: `round` is read as if it were `ceil`. Windows show no phase; the other scope's seconds do.
  test("rounds seconds as its scope's rules say", async () => {
    const reset = { rest: "round", graphql: "ceil" } as const;
    const two = [looked(29_600, 0, Math.round), looked(39_950, 0, Math.round)];
    expect(await broken(two, { rules: { ...minutes, semantics: { reset } } })).toEqual(fine);
    // By the wrong rounding, the scopes' windows do not lie on one grid either.
    expect(await broken(two, { rules: minutes })).toEqual([
      "reset-agrees organization 2,3",
      "reset-agrees organization 3",
    ]);
  });
});

describe("the clients' clocks", () => {
  // Both just before a second ends, and just as one begins, by a clock that is 200 ms ahead and one 200 ms behind.
  const two = (first: number, second: number): TraceCall[] => [
    rest({ at: 57_999 + first, took: 0, count: 1 }, { reset: 3, userReset: 3 }),
    rest({ at: 59_000 + second, took: 0, count: 2 }, { reset: 1, userReset: 1 }),
  ];

  // clock.ts: `within` without `2 * errorMs`.
  test("differ by errorMs where windows are told apart by their ends", async () => {
    const clock = { kind: "wall", resolutionMs: 1, errorMs: 200 } as const;
    expect(await broken(two(200, -200), { clock })).toEqual(fine);
    expect(await broken(two(200, -200))).not.toEqual(fine);
  });

  // clock.ts: `within` without `resolutionMs`.
  test("show less than the time of an answer, where they are coarse", async () => {
    const clock = { kind: "wall", resolutionMs: 10, errorMs: 0 } as const;
    expect(await broken(two(0, -9), { clock })).toEqual(fine);
    expect(await broken(two(0, -9))).not.toEqual(fine);
  });

  // judge.ts: `startedBy` without `2 * errorMs`.
  test("may have begun the trace after the window opened, that seems to have opened after it", async () => {
    const clock = { kind: "wall", resolutionMs: 1, errorMs: 200 } as const;
    // The clock that wrote `startedAt` is 200 ms behind: 100 ms of the window were over.
    const calls = [
      rest({ at: 1350, count: 41 }, { reset: 60, userReset: 60 }),
      rest({ at: 5000, count: 42 }, { reset: 55, userReset: 55 }),
    ];
    expect(await broken(calls, { clock, startedAt: start - 100 })).toEqual(fine);
    expect(await broken(calls, { clock, startedAt: start - 2000 })).toContain("conserved organization 2");
  });
});

describe("windows too short for whole seconds to tell them apart", () => {
  const seconds = (windowSeconds: number) => ({
    organization: { rest: { windowSeconds } },
    user: { rest: { windowSeconds } },
  });
  const told = (at: number, count: number, reset: number, took = 0): TraceCall =>
    rest({ at, took, count }, { reset, userReset: reset });

  // target-phase.ts: what is known of the phase does not grow older.
  test("drift away from where they were", async () => {
    const early = [told(10_999, 1, 2), told(11_000, 2, 1)];
    // By then the target's clock is 0.89 s late: a window ends at 9004.89 s.
    const late = (by: number): TraceCall[] => [told(9_002_945, 1, 2), told(9_003_840 + by, 2, 2)];
    expect(await broken([...early, ...late(0)], { rules: seconds(4) })).toEqual(fine);
    expect(await broken([...early, ...late(900)], { rules: seconds(4) })).toContain(
      "reset-agrees organization 4,5",
    );
  });

  // target-phase.ts: of two windows that an answer fits, it belongs to the first.
  test("may both be the one that an answer shows", async () => {
    const slow = [told(10_500, 1, 2), told(11_300, 1, 2, 900)];
    expect(await broken(slow, { rules: seconds(2) })).toEqual(fine);
    const pinned = [told(6_999, 1, 2), told(7_000, 2, 1), told(10_500, 1, 2), told(10_900, 1, 2)];
    expect(await broken(pinned, { rules: seconds(2) })).toContain("conserved organization 4,5");
  });
});

// places.ts: readings of one count are held to the order of their lines.
test("readings of one count are in no order, however their lines come", async () => {
  const calls = [
    rest({ at: 1000, count: 1 }),
    status({ at: 9000, count: 1 }),
    status({ at: 3000, count: 1 }),
    rest({ at: 9500, count: 2 }),
  ];
  const lawsOf = async (given: readonly TraceCall[]) => {
    const { violations } = await judge(
      {
        ...{
          format: "spillway-trace",
          version: 1,
          source: "other",
          scenario: null,
          seed: null,
          target: null,
        },
        startedAt: start - 600_000,
        clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
        rules: parseRules({}),
        complete: true,
        lost: 0,
      },
      given.map((call, index) => ({ line: index + 2, call })),
    );
    return violations.map(({ law }) => law);
  };
  expect(await lawsOf(calls)).toEqual([]);
  expect(await lawsOf([...calls, status({ at: 9800, count: 1 })])).toContain("monotone");
});
