// Who calls in a replay: rows of counts, calls in memory and which of them wait, windows that refuse, what is completed.
import { describe, expect, test } from "vitest";
import { opensAt, ReplayCallers } from "../../sim/replay/callers.ts";
import { chained, NONE, ReplayCalls, unchained } from "../../sim/replay/calls.ts";
import { Completions } from "../../sim/replay/completions.ts";
import { ReplayHeadroom } from "../../sim/replay/headroom.ts";
import { ReactionTally } from "../../sim/replay/reaction-tally.ts";
import { RefusingWindows, ReplayTally } from "../../sim/replay/tally.ts";
import { NONE_REFUSED } from "../../src/engine/policy-core.ts";
import type { LogCaller } from "../../src/logs/rows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { QuotaAlgorithm } from "../../src/policy/policy.ts";

const second = 1_000;
const minute = 60 * second;

describe("calls in memory", () => {
  const add = (calls: ReplayCalls, ...rows: [atMs: number, durationMs: number, user?: number][]) => {
    for (const [atMs, durationMs, user = 0] of rows) calls.push(atMs, durationMs, user, 0, 0, 1, 1);
    return calls;
  };

  test("take whole ms; what is not known takes none, what is too long the longest", () => {
    const calls = add(new ReplayCalls(), [5, 1.6], [6, Number.NaN], [7, -3], [8, 1e12], [9, 0]);
    expect([...calls.durationMs.subarray(0, 5)]).toEqual([2, 0, 0, 0x7fffffff, 0]);
    expect([0, 1, 2].map((call) => calls.endMs(call))).toEqual([7, 6, 7]);
    expect([calls.refused[0], calls.attempt[0], calls.wantedMs[0]]).toEqual([0, -1, -1]);
  });

  test("are as many as are allowed", () => {
    const calls = new ReplayCalls(2_000);
    for (let at = 0; at < 2_000; at++) add(calls, [at, 1]);
    expect([calls.atMs[1_999], calls.endMs(1_023), calls.endMs(1_024), calls.atMs.length]).toEqual([
      ...[1_999, 1_024, 1_025, 2_000],
    ]);
    expect(() => add(calls, [0, 0])).toThrow(
      expect.objectContaining({
        code: "USAGE",
        problems: [
          {
            path: "--on-refused",
            got: "more than 2000 calls",
            allowed: "at most 2000, which are kept in memory",
          },
        ],
      }),
    );
  });

  test("a copy is wanted when the first try was, and took what the last one did", () => {
    const rows = new ReplayCalls();
    rows.push(10, 5, 3, 4, 1, 6, 7, true);
    rows.push(100, 50, 3, 4, 1, 6, 2, false);
    const calls = new ReplayCalls();
    calls.copy(rows, 0, 1);
    const columns = [
      calls.atMs,
      calls.durationMs,
      calls.user,
      calls.handle,
      calls.operation,
      calls.cost,
      calls.actual,
    ];
    expect(columns.map((column) => column[0])).toEqual([10, 50, 3, 4, 1, 6, 2]);
    expect([calls.endMs(0), calls.refused[0], calls.count]).toEqual([150, 0, 1]);
  });

  test.each<[string, [number, number, number?][], number[]]>([
    [
      "one after the other",
      [
        [0, 10],
        [10, 10],
        [30, 10],
      ],
      [NONE, 0, 1],
    ],
    [
      "overlapping",
      [
        [0, 10],
        [9, 10],
        [19, 10],
        [20, 1],
      ],
      [NONE, NONE, 1, 1],
    ],
    [
      "two at a time",
      [
        [0, 100],
        [5, 10],
        [20, 10],
        [110, 1],
      ],
      [NONE, NONE, 1, 0],
    ],
    [
      "two users",
      [
        [0, 10, 0],
        [20, 10, 1],
        [40, 10, 0],
      ],
      [NONE, NONE, 0],
    ],
    [
      "at once",
      [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
      [NONE, 0, 1],
    ],
  ])("wait for the one that was over last: %s", (_, rows, waitsFor) => {
    const calls = add(new ReplayCalls(), ...rows);
    const { firstReleased, next, isFree } = chained(calls, new Uint8Array(calls.count));
    const found = rows.map(() => NONE);
    for (const call of rows.keys())
      for (let one = firstReleased[call] as number; one !== NONE; one = next[one] as number)
        found[one] = call;
    expect(found).toEqual(waitsFor);
    expect([...isFree]).toEqual(waitsFor.map((one) => Number(one === NONE)));
    expect([...unchained(calls).isFree]).toEqual(rows.map(() => 1));
    expect(unchained(calls).firstReleased).toHaveLength(0);
  });
});

test.each<[object, number, number | null]>([
  [{ kind: "fixed-window", windowSeconds: 60, anchor: "epoch" }, 120_000, 60_000],
  [{ kind: "fixed-window", windowSeconds: 60, anchor: { offsetMs: 5 } }, 120_005, 60_005],
  [
    { kind: "fixed-window", windowSeconds: 86_400, anchor: { calendar: "day", zone: "Europe/Berlin" } },
    Date.UTC(2026, 2, 29, 22),
    Date.UTC(2026, 2, 28, 23),
  ],
  [{ kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1 } }, 120_000, null],
])("a window of %j that ends at %s opened at %s", (algorithm, endsAt, opened) => {
  expect(opensAt(algorithm as QuotaAlgorithm, endsAt)).toBe(opened);
});

describe("callers", () => {
  const window = (limit: number) => ({ kind: "fixed-window" as const, limit, windowSeconds: 60 });
  const policy = parsePolicy({
    version: 2,
    name: "replayed",
    quotas: {
      all: { algorithm: window(10), key: ["organization"] },
      own: { algorithm: window(4), key: ["organization", "user"] },
      burst: {
        algorithm: { kind: "token-bucket", capacity: 2, refill: { amount: 1, everyMs: 1_000 } },
        key: ["organization", "user"],
      },
      idle: { algorithm: window(3), key: ["organization"], enforced: false },
    },
    operations: {
      call: { uses: { all: "declared", own: "declared", idle: "declared" } },
      small: { uses: { burst: 1 } },
    },
    overrides: [{ match: { organization: "big" }, quotas: { all: { limit: 100 }, own: { limit: 100 } } }],
  });
  const log: LogCaller[] = [
    ["acme", "ann"],
    ["acme", "bob"],
    ["big", "ann"],
  ].map(([organization = "", user = ""]) => ({ organization, user }) as LogCaller);
  const made = () => new ReplayCallers(policy, log);

  test("have a row in each quota, that of the organization in common, and its terms", () => {
    const callers = made();
    const handles = log.map((_, caller) => callers.handle(caller, 0));
    expect(new Set(handles).size).toBe(3);
    expect(callers.handle(1, 0)).toBe(handles[1]);
    const rows = handles.map((handle) => [0, 1].map((quota) => callers.rowOf(handle, quota)));
    expect(rows[0]?.[0]).toBe(rows[1]?.[0]);
    expect(rows[0]?.[1]).not.toBe(rows[1]?.[1]);
    expect(callers.count(0, rows[2]?.[0] ?? -1)).toMatchObject({ key: { organization: "big" }, limit: 100 });
    expect(callers.count(1, rows[1]?.[1] ?? -1)).toMatchObject({
      key: { organization: "acme", user: "bob" },
      limit: 4,
    });
    expect(callers.users.map(({ org, user, handles: own }) => [org, user, own.length])).toEqual([
      ["acme", "ann", 1],
      ["acme", "bob", 1],
      ["big", "ann", 1],
    ]);
    expect([0, 1, 2].map((caller) => callers.user(caller))).toEqual([0, 1, 2]);
    expect(() => callers.count(0, 9)).toThrow(new RangeError("there is no count 9 of all"));
    expect(() => callers.handle(3, 0)).toThrow(new RangeError("the log has no caller 3"));
  });

  test.each([
    [0, 0, 4, false],
    [0, 0, 5, true],
    [2, 0, 5, false],
    [2, 0, 100, false],
    [2, 0, 101, true],
    [0, 1, 1, false],
    [0, 1, 999, false],
  ])("caller %s's call of operation %s for %s is hopeless: %s", (caller, operation, cost, isHopeless) => {
    const callers = made();
    expect(callers.isHopeless(callers.handle(caller, operation), operation, cost)).toBe(isHopeless);
  });

  test("windows that refused are told with their count, the most refusing first; a bucket's until it is full", () => {
    const callers = made();
    const windows = new RefusingWindows(callers);
    const [ann, bob] = [callers.handle(0, 0), callers.handle(1, 0)];
    const { core } = callers;
    // Nothing is open yet: no window refused.
    windows.add(ann, 1, 0);
    const decide = (handle: number, operation: number, cost: number, nowMs: number) => {
      const refusing = core.decide(handle, operation, cost, nowMs);
      if (refusing >= 0) windows.add(handle, refusing, nowMs);
      return refusing;
    };
    expect(decide(ann, 0, 3, 10)).toBe(-1);
    expect(decide(ann, 0, 2, 20)).toBe(1);
    expect(decide(ann, 0, 2, 30)).toBe(1);
    expect(decide(ann, 0, 4, minute + 5)).toBe(-1);
    expect(decide(ann, 0, 1, minute + 6)).toBe(1);
    expect([decide(bob, 1, 1, minute), decide(bob, 1, 1, minute), decide(bob, 1, 1, minute)]).toEqual([
      -1, -1, 2,
    ]);
    expect(decide(bob, 1, 1, minute + 500)).toBe(2);
    expect([decide(bob, 1, 1, minute + 1_000), decide(bob, 1, 1, minute + 1_001)]).toEqual([-1, 2]);
    expect([4_000, 4_000, 4_000].map((atMs) => decide(bob, 1, 1, minute + atMs))).toEqual([-1, -1, 2]);
    const key = { organization: "acme", user: "ann" };
    const other = { organization: "acme", user: "bob" };
    const row = (
      quota: string,
      whose: object,
      opened: number,
      endsAt: number,
      refused: number,
      since: number,
    ) => ({
      ...{
        quota,
        key: whose,
        opensAt: opened,
        endsAt,
        limit: quota === "own" ? 4 : 2,
        refused,
        firstRefusedAt: since,
      },
    });
    expect(windows.finish()).toEqual({
      seen: 4,
      windows: [
        row("burst", other, minute, minute + 3_000, 3, minute),
        row("own", key, 0, minute, 2, 20),
        row("own", key, minute, 2 * minute, 1, minute + 6),
        row("burst", other, minute + 4_000, minute + 6_000, 1, minute + 4_000),
      ],
    });
  });

  test("a tally counts each user's calls, whom each quota refused, and when", () => {
    const callers = made();
    for (const caller of log.keys()) callers.handle(caller, 0);
    const tally = new ReplayTally(callers);
    tally.add(0, -1, 200, 10);
    tally.add(0, 1, 429, 20);
    tally.add(0, 0, 0, 30);
    tally.add(2, 2, 200, 40);
    tally.charge(0, 5);
    tally.charge(0, 2);
    tally.refuse(callers.handle(0, 0), 0, 5, 1, 20);
    tally.refuse(callers.handle(0, 0), 0, 4, 1, 20);
    tally.refuse(callers.handle(0, 0), 0, 1, 1, 20);
    expect(tally.totals()).toEqual({
      ...{
        calls: 4,
        admitted: 1,
        refused: 3,
        refusedBy: [1, 1, 1, 0],
        hopeless: 1,
        costs: { call: 7, small: 0 },
      },
      ...{ users: 2, usersRefused: 2, organizations: 2 },
    });
    const headroom = new ReplayHeadroom(callers);
    headroom.decide(callers.handle(0, 0), 0, 3, 10);
    headroom.finish();
    expect(tally.users(headroom)).toEqual([
      {
        ...{ org: "acme", user: "ann", calls: 3, refused: 2, refusedBy: [1, 1, 0, 0] },
        ...{ firstRefusedAt: 20, lastRefusedAt: 30, useMax: [0.3, 0.75, null, 1] },
      },
      {
        ...{ org: "big", user: "ann", calls: 1, refused: 1, refusedBy: [0, 0, 1, 0] },
        ...{ firstRefusedAt: 40, lastRefusedAt: 40, useMax: [null, null, null, null] },
      },
    ]);
    expect(tally.recorded.finish(false)).toMatchObject({ calls: 3, refused: 1, both: 1, onlyInReplay: 1 });
    expect(
      headroom
        .smallestLimits()
        .map(({ quota, limit, smallest, windowEndsAt }) => [quota, limit, smallest, windowEndsAt]),
    ).toEqual([
      ...[
        ["all", 10, 3, minute],
        ["own", 4, 3, minute],
        ["idle", 3, 3, minute],
      ],
    ]);
    expect(headroom.counts().map(({ quota, key, useMax }) => [quota, key, useMax])).toEqual([
      ["idle", { organization: "acme" }, 1],
      ["all", { organization: "acme" }, 0.3],
    ]);
  });

  test("a tally has room for however many users", () => {
    const users = Array.from({ length: 1_000 }, (_, user) => ({ organization: "acme", user: `u${user}` }));
    const callers = new ReplayCallers(policy, users as LogCaller[]);
    for (const caller of users.keys()) callers.handle(caller, 0);
    const tally = new ReplayTally(callers);
    for (const user of users.keys()) tally.add(user, NONE_REFUSED, 200, user);
    tally.add(63, 1, 429, 2_000);
    tally.add(64, 0, 429, 3_000);
    expect(tally.totals()).toMatchObject({ users: 1_000, admitted: 1_000, usersRefused: 2 });
    expect(tally.users(new ReplayHeadroom(callers)).slice(0, 3)).toMatchObject([
      { user: "u63", calls: 2, refusedBy: [0, 1, 0, 0], firstRefusedAt: 2_000 },
      { user: "u64", calls: 2, refusedBy: [1, 0, 0, 0], firstRefusedAt: 3_000 },
      { user: "u0", calls: 1, refused: 0 },
    ]);
  });

  test("callers that react: tries, waits, and who never got through", () => {
    const callers = made();
    for (const caller of log.keys()) callers.handle(caller, 0);
    const calls = new ReplayCalls();
    for (const [user, atMs] of [
      [0, 100],
      [0, 200],
      [1, 300],
      [1, 400],
      [2, 500],
    ] as const)
      calls.push(atMs, 50, user, user, 0, 1, 1);
    const tally = new ReactionTally(callers, calls);
    const admit = (call: number, atMs: number, waitMs: number, wasRefused: boolean): void => {
      tally.attempt(calls.user[call] as number, -1, atMs);
      tally.admitted(call, atMs, atMs - waitMs, wasRefused);
      tally.over(call, atMs + 50);
    };
    admit(0, 100, 0, false);
    tally.attempt(0, 1, 200);
    admit(1, 1_300, 1_100, true);
    tally.attempt(1, 0, 300);
    tally.gaveUp(1);
    tally.attempt(1, 0, 400);
    admit(4, 500, 0, true);
    expect(tally.settled).toBe(4);
    const user = (org: string, name: string, numbers: readonly number[]) => {
      const [own, refusals, gaveUp, unfinished, waitMaxMs, endsLaterMs] = numbers;
      return { org, user: name, calls: own, refusals, gaveUp, unfinished, waitMaxMs, endsLaterMs };
    };
    expect(tally.finish()).toMatchObject({
      ...{ calls: 5, attempts: 6, refusals: 3, refusedBy: [2, 1, 0, 0], admittedAtOnce: 1, admittedLater: 2 },
      ...{ gaveUp: 1, unfinished: 1, waitedMs: 1_100, endsLaterMs: 800, slotMs: second },
      waits: { p50: 0, p95: 1_100, p99: 1_100, max: 1_100 },
      waitsOfRefused: { p50: 0, p95: 1_100, p99: 1_100, max: 1_100 },
      slots: [
        { atMs: 0, calls: 5, refusedBy: [2, 1, 0, 0] },
        { atMs: 1_000, calls: 1, refusedBy: [0, 0, 0, 0] },
      ],
      users: [
        user("acme", "ann", [2, 1, 0, 0, 1_100, 1_100]),
        user("acme", "bob", [2, 2, 1, 1, 0, 0]),
        user("big", "ann", [1, 0, 0, 0, 0, 0]),
      ],
    });
  });
});

describe("completions", () => {
  const compiled = (quotas: object, uses: object) => {
    const policy = parsePolicy({ version: 2, name: "completed", quotas, operations: { call: { uses } } });
    return new Completions(new ReplayCallers(policy, []).core);
  };
  const all = { algorithm: { kind: "fixed-window", limit: 50, windowSeconds: 60 } };
  const held = { ...all, charge: { when: "reserve-settle" } };
  const late = { ...all, charge: { when: "completion", fits: "any-left" } };

  test.each<
    [string, object, object, boolean, [cost: number, known: number, actual: number, matters: boolean][]]
  >([
    [
      "a fixed cost",
      { all },
      { all: 1 },
      false,
      [
        [9, 5, 9, false],
        [9, -1, 9, false],
      ],
    ],
    [
      "what was held",
      { held },
      { held: "declared" },
      true,
      [
        [9, 5, 5, true],
        [9, 9, 9, false],
        [9, -1, 9, false],
        [9, 12, 9, false],
      ],
    ],
    [
      "a bound",
      { held },
      { held: { atMost: 7 } },
      true,
      [
        [0, 5, 5, true],
        [0, -1, 7, false],
        [0, 9, 7, false],
      ],
    ],
    [
      "the least of two bounds",
      { held, more: held },
      { held: { atMost: 7 }, more: "declared" },
      true,
      [
        [6, -1, 6, true],
        [9, -1, 7, true],
      ],
    ],
    ["what is late", { late }, { late: 3 }, true, [[3, -1, 3, true]]],
  ])("of %s", (_, quotas, uses, any, calls) => {
    const completions = compiled(quotas, uses);
    expect([completions.any, completions.changes, completions.width]).toEqual([
      any,
      [any],
      Object.keys(quotas).length,
    ]);
    for (const [cost, known, actual, matters] of calls) {
      expect(completions.actual(0, cost, known)).toBe(actual);
      expect(completions.matters(0, cost, actual)).toBe(matters);
    }
  });
});
