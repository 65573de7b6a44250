// Refusals where the limits have room show that the calls met other limits than the fit was given.
import { describe, expect, test } from "vitest";
import { limitsOf } from "../../sim/fit/limits.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { RecordedCaller, Recording } from "../../sim/fit/recording.ts";
import { roomDoubts } from "../../sim/fit/room.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { ABSENT } from "../../src/scenario/client.ts";

const startedAtMs = Date.UTC(2026, 0, 5);

/** A minute of one user: these calls at these seconds, then refused ones. */
interface Minute {
  readonly admitted: number;
  readonly refused: number;
  readonly at?: number;
  readonly refusedAt?: number;
}

const callsOf = (minutes: readonly Minute[], { operation = "rest", cost = 1, free = false } = {}) =>
  minutes.flatMap(({ admitted, refused, at = 10, refusedAt = 30 }, minute) =>
    Array.from({ length: admitted + refused }, (_, index) => {
      const atMs = startedAtMs + minute * 60_000 + (index < admitted ? at : refusedAt) * 1_000;
      return new RecordedCall({
        ...{ atMs, endMs: atMs, wantedMs: atMs, attempt: ABSENT, said: null },
        status: index < admitted ? 200 : 429,
        kind: { operation, free, cost, actual: cost, key: "" },
      });
    }),
  );

const caller = (user: string, calls: RecordedCall[], organization = "acme"): RecordedCaller => ({
  ...{ organization, user, group: null, calls },
});

const doubtsOf = (
  callers: readonly RecordedCaller[],
  organization: number,
  user: number,
  more: object = {},
  lastsMs = 3_600_000,
): readonly string[] =>
  roomDoubts(
    { startedAtMs, endedAtMs: startedAtMs + lastsMs, callers } as unknown as Recording,
    limitsOf({
      rules: parseRules({
        organization: { rest: { limit: organization }, graphql: { limit: 2_000 } },
        user: { rest: { limit: user }, graphql: { limit: 1_000 } },
        ...more,
      }),
    }),
  );

const hour = (minute: Minute): Minute[] => Array.from({ length: 60 }, () => minute);

describe("a fit says that the calls met other limits", () => {
  const two = [
    caller("ann", callsOf(hour({ admitted: 30, refused: 1 }))),
    caller("bob", callsOf(hour({ admitted: 20, refused: 1 }))),
  ];

  test("if most refusals came where the limits have room, and what was admitted at most", () => {
    expect(doubtsOf(two, 51, 31)).toEqual([
      "120 of 120 refusals came where the limits have room: the calls met other limits, or some are missing here. acme had at most 50 in 60 s admitted, and one user at most 30 in 60 s.",
    ]);
  });

  test("whenever the recording ends after them, on a window's end or within it", () => {
    const lengths = Array.from({ length: 13 }, (_, part) => 3_600_000 + 5_000 * part);
    const told = lengths.map((lastsMs) => doubtsOf(two, 51, 31, {}, lastsMs));
    expect(told).toEqual(lengths.map(() => doubtsOf(two, 51, 31)));
  });

  test("but not if the organization's window may have been full, or the user's", () => {
    expect(doubtsOf(two, 50, 31)).toEqual([]);
    expect(doubtsOf([two[0] as RecordedCaller], 51, 30)).toEqual([]);
    // Half of the refusals are those of bob, whose window had room.
    expect(doubtsOf(two, 51, 30)).toEqual([]);
  });

  test("nor for a few refusals, or calls that no window counts", () => {
    const few = (minutes: number) => [
      caller("ann", callsOf(hour({ admitted: 1, refused: 1 }).slice(0, minutes))),
    ];
    expect(doubtsOf(few(9), 51, 31)).toEqual([]);
    expect(doubtsOf(few(10), 51, 31)).toHaveLength(1);
    const free = caller("ann", callsOf(hour({ admitted: 1, refused: 1 }), { free: true }));
    expect(doubtsOf([free], 51, 31)).toEqual([]);
  });

  test("by the costs of calls", () => {
    const minutes = hour({ admitted: 0, refused: 0 }).map((none, minute) =>
      minute % 5 === 0 ? { admitted: 10, refused: 1 } : none,
    );
    const queries = [caller("ann", callsOf(minutes, { operation: "graphql", cost: 100 }))];
    const user = { rest: { limit: 31 }, graphql: { limit: 1_100 } };
    expect(doubtsOf(queries, 51, 31, { user })).toEqual([
      "12 of 12 refusals came where the limits have room: the calls met other limits, or some are missing here. acme had at most 1,000 in 300 s admitted, and one user at most 1,000 in 300 s.",
    ]);
    expect(doubtsOf(queries, 51, 31)).toEqual([]);
  });

  test("by each organization's own limits", () => {
    const organizations = { other: { rest: { limit: 40 } } };
    const other = two.map(({ user, calls }) => caller(user, [...calls], "other"));
    expect(doubtsOf(other, 51, 31, { organizations })).toEqual([]);
    expect(doubtsOf(other, 51, 31)).toHaveLength(1);
    expect(doubtsOf([...two, ...other.slice(0, 1)], 51, 31)[0]).toContain("180 of 180 refusals");
  });

  test("with clocks a twelfth of a window apart: calls shortly before a window's start and after a refusal count", () => {
    const late = (at: number, refusedAt: number) => [
      caller("ann", callsOf(hour({ admitted: 30, refused: 1, at, refusedAt }))),
    ];
    expect(doubtsOf(late(56, 2), 100, 30)).toEqual([]);
    expect(doubtsOf(late(50, 2), 100, 30)).toHaveLength(1);
    expect(doubtsOf(late(8, 2), 100, 30)).toEqual([]);
    expect(doubtsOf(late(12, 2), 100, 30)).toHaveLength(1);
  });

  test("of windows off the grid of Unix time by all that came a window's length before", () => {
    const semantics = { anchor: "first-request" };
    const late = [caller("ann", callsOf(hour({ admitted: 30, refused: 1, at: 40, refusedAt: 20 })))];
    expect(doubtsOf(late, 100, 30)).toHaveLength(1);
    expect(doubtsOf(late, 100, 30, { semantics })).toEqual([]);
  });
});
