// The engine over handles, where answers alone do not show it: the fast way, handles given again, bounds, idle counts.
import { describe, expect, test } from "vitest";
import { emptyCountReading } from "../../src/engine/count-reading.ts";
import { NONE_REFUSED } from "../../src/engine/policy-core.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const window = { kind: "fixed-window" as const, limit: 10, windowSeconds: 60 };
const bucket = { kind: "token-bucket" as const, capacity: 10, refill: { amount: 1, everyMs: 1_000 } };
const all = { algorithm: window, key: ["org"] };
const own = { algorithm: window, key: ["org", "user"] };
const uses = { all: 1, own: 1 };

const limiterOf = (quotas: object, operations: object): PolicyLimiter =>
  new PolicyLimiter(parsePolicy({ version: 2, name: "core", quotas, operations }));

test.each([
  ["two windows, of several callers and of one", true, { all, own }, { uses }],
  ["the own one refuses with the other", true, { all, own: { ...own, enforced: { with: "all" } } }, { uses }],
  ["one window", false, { all, own }, { uses: { own: 1 } }],
  ["a third one", false, { all, own, more: own }, { uses: { ...uses, more: 1 } }],
  ["the own one first", false, { own, all }, { uses }],
  ["both of several callers", false, { all, own: all, users: own }, { uses }],
  ["both of one caller", false, { all: own, own }, { uses }],
  ["a bucket", false, { all, own: { ...own, algorithm: bucket } }, { uses }],
  ["any that is left", false, { all: { ...all, charge: { fits: "any-left" } }, own }, { uses }],
  ["charged on completion", false, { all, own: { ...own, charge: { when: "completion" } } }, { uses }],
  ["refused calls count", false, { all, own: { ...own, charge: { refused: "counted" } } }, { uses }],
  ["each alone", false, { all, own }, { uses, relation: "each-alone" }],
  ["costs that differ", false, { all, own }, { uses: { all: 1, own: 2 } }],
  [
    "the first refuses with a third",
    false,
    { all: { ...all, enforced: { with: "more" } }, own, more: all },
    { uses },
  ],
  [
    "the own one refuses with a third",
    false,
    { all, own: { ...own, enforced: { with: "more" } }, more: all },
    { uses },
  ],
])("the way of a pair is taken: %s: %s", (_, isPair, quotas, call) => {
  const { core } = limiterOf(quotas, { call });
  expect(core.operations.map((operation) => operation.isPair)).toEqual([isPair]);
});

describe("handles", () => {
  test("of dropped callers and counts are given again, one by one", () => {
    const limiter = limiterOf({ all, own }, { call: { uses } });
    const ask = (user: string, nowMs: number) => {
      const handle = limiter.handleOf({ org: user, user }, "call");
      return [handle, limiter.core.rowOf(handle, 0), limiter.core.decide(handle, 0, 1, nowMs)];
    };
    expect(["a", "b"].map((user) => ask(user, 0))).toEqual([
      [0, 0, NONE_REFUSED],
      [1, 1, NONE_REFUSED],
    ]);
    expect(limiter.sweep(60_000)).toBe(4);
    const places = ["c", "d", "e"].map((user) => ask(user, 60_000).slice(0, 2));
    expect(places.map(([handle]) => handle).toSorted()).toEqual([0, 1, 2]);
    expect(places.map(([, row]) => row).toSorted()).toEqual([0, 1, 2]);
    expect(limiter.knownPair("a", "a")).toBeUndefined();
  });

  test.each([1, 9])("each caller has its own links, however many there are: %s shared quotas", (count) => {
    const names = Array.from({ length: count }, (_, place) => `of-org-${place}`);
    const shared = { algorithm: { ...window, limit: 1_000 }, key: ["org"] };
    const limiter = limiterOf(
      { ...Object.fromEntries(names.map((name) => [name, shared])), users: { ...shared, key: ["user"] } },
      { call: { uses: Object.fromEntries([...names, "users"].map((name) => [name, 1])) } },
    );
    const caller = (at: number) => ({ org: `org-${at % 7}`, user: `user-${at}` });
    for (let at = 0; at < 210; at++) limiter.decide({ caller: caller(at), operation: "call", cost: 1 }, 0);
    for (const at of [0, 63, 64, 127, 128, 209]) {
      const used = limiter.read(caller(at), [...names, "users"], 0).map((reading) => reading.used);
      expect(used).toEqual([...names.map(() => 30), 1]);
    }
  });

  test("a caller has no row in a quota whose key it lacks, nor in its own before it began", () => {
    const limiter = limiterOf({ all, own }, { call: { uses } });
    const reader = limiter.readerOf({ org: "acme" }, ["all"]);
    expect([limiter.core.rowOf(reader, 0), limiter.core.rowOf(reader, 1)]).toEqual([0, -1]);
  });
});

describe("bounds", () => {
  const settled = limiterOf(
    { all, own },
    { call: { uses: { all: "declared", own: 1 } }, late: { uses: { all: 1 } } },
  );
  const { core } = settled;
  const handle = settled.handleOf({ org: "acme", user: "ann" }, "call");

  test.each([
    ["cost -1", () => core.decide(handle, 0, -1, 0), "cost must be a safe integer >= 0, got -1"],
    ["cost 0.5", () => core.decide(handle, 0, 0.5, 0), "cost must be a safe integer >= 0, got 0.5"],
    ["now -1", () => core.decide(handle, 0, 1, -1), "nowMs must be a safe integer >= 0, got -1"],
    ["floor NaN", () => core.raiseFloor(Number.NaN), "nowMs must be a safe integer >= 0, got NaN"],
    [
      "actual -1",
      () => core.settle(handle, 0, 1, -1, [0, 0], 0),
      "actual must be a safe integer >= 0, got -1",
    ],
    [
      "settled at -1",
      () => core.settle(handle, 0, 1, 0, [0, 0], -1),
      "nowMs must be a safe integer >= 0, got -1",
    ],
    [
      "actual above the cost",
      () => core.settle(handle, 0, 3, 4, [0, 0], 0),
      "actual must be at most the 3 that were asked for, got 4",
    ],
  ])("%s is refused", (_, run, message) => {
    expect(run).toThrow(new RangeError(message));
  });

  test("0 is taken, and all that was asked for", () => {
    expect(core.decide(handle, 0, 0, 0)).toBe(NONE_REFUSED);
    expect(() => core.settle(handle, 0, 3, 3, [0, 0], 0)).not.toThrow();
    expect(() => core.raiseFloor(0)).not.toThrow();
  });

  test("room for a cost comes where it is no more than the limit, at the window's end", () => {
    const limiter = limiterOf({ own }, { call: { uses: { own: "declared" } } });
    const caller = limiter.handleOf({ org: "acme", user: "ann" }, "call");
    limiter.core.decide(caller, 0, 10, 1_000);
    expect([0, 10, 11].map((cost) => limiter.core.roomAt(0, caller, cost))).toEqual([60_000, 60_000, null]);
  });
});

test("all readings of an operation at once are those one by one, before the floor, in a window and after it", () => {
  const signed = { shown: { remaining: "signed" } };
  const slow = { ...bucket, refill: { amount: 3, everyMs: 7_000 } };
  const quotas = {
    all: { ...all, ...signed, enforced: false },
    free: { ...all, enforced: false },
    own: { ...own, algorithm: { ...window, anchor: "first-request" } },
    bucket: { ...own, algorithm: slow },
  };
  const names = Object.keys(quotas);
  const limiter = limiterOf(quotas, {
    call: { uses: { all: "declared", free: "declared", own: 1, bucket: 2 } },
  });
  const { core } = limiter;
  const handle = limiter.handleOf({ org: "acme", user: "ann" }, "call");
  core.raiseFloor(5_000);
  core.decide(handle, 0, 13, 7_000);
  for (const nowMs of [0, 6_999, 7_001, 59_999, 60_000, 67_000, 200_000]) {
    const each = new Float64Array(6 * names.length);
    core.readEach(handle, 0, nowMs, each);
    const one = names.flatMap((_, quota) => {
      const reading = emptyCountReading();
      core.read(quota, core.rowOf(handle, quota), nowMs, reading);
      const { limit, remaining, used, resetAtMs, clockMs } = reading;
      return [limit, remaining, used, resetAtMs, clockMs, Number(core.isEnforced(handle, quota))];
    });
    expect([...each]).toEqual(one);
    const clock = Math.max(7_000, nowMs);
    const [over, left] = nowMs < 60_000 ? [13, -3] : [0, 10];
    const end = nowMs < 60_000 ? 60_000 : 60_000 * Math.floor(nowMs / 60_000 + 1);
    expect(one.slice(0, 5)).toEqual([10, left, over, end, clock]);
    expect(one.slice(6, 8)).toEqual([10, Math.max(0, left)]);
  }
});

test.each([
  ["its window is open", 1, 59_999, 0],
  ["its window has just ended", 1, 60_000, 2],
  ["nothing was charged, and its clock is the floor", 11, 70_000, 2],
  ["its clock is ahead of the floor", 11, 69_999, 0],
])("a sweep forgets what would answer alike: %s", (_, cost, sweptMs, dropped) => {
  const first = { ...window, anchor: "first-request", opens: "exact" };
  const limiter = limiterOf(
    { all: { ...all, algorithm: first }, own: { ...own, algorithm: first } },
    { call: { uses: { all: "declared", own: "declared" } } },
  );
  const nowMs = cost > 10 ? 70_000 : 0;
  limiter.decide({ caller: { org: "acme", user: "ann" }, operation: "call", cost }, nowMs);
  expect(limiter.sweep(sweptMs)).toBe(dropped);
});
