// A log under rules: what would have been refused, how full windows would have been, and which limits would have
// refused nobody.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replay } from "../../sim/replay/replay.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import { property } from "../support/property.ts";
import { semantics } from "../support/semantics.ts";
import { naiveReplay } from "./naive.ts";
import { logOf, noon, type Row } from "./rows.ts";

const minute = 60_000;
const many = (count: number, row: Row): Row[] => Array.from({ length: count }, () => row);

test.each([{ nosuch: "<1%" }, { refusedShare: "a little" }])(
  "%j is refused before a row is read",
  async (bounds) => {
    const log = { ...logOf([]), batches: unread() };
    await expect(replay(log, parseRules({}), { expect: bounds as never })).rejects.toMatchObject({
      code: "SCENARIO_INVALID",
    });
  },
);

// biome-ignore lint/correctness/useYield: nobody may read it
async function* unread(): AsyncGenerator<never, void> {
  throw new Error("a row was read");
}

describe("what would have been refused", () => {
  test("the 51st call of a user's minute, not the first of the next", async () => {
    const rows = [...many(51, { atMs: noon + 59_999, user: "ann" }), { atMs: noon + minute, user: "ann" }];
    const { totals, users, refusingWindows } = await replay(logOf(rows), parseRules({}));
    expect(totals).toMatchObject({ calls: 52, admitted: 51, refused: 1, refusedByUser: 1, usersRefused: 1 });
    expect(users).toEqual([
      {
        org: "acme",
        user: "ann",
        calls: 52,
        refused: 1,
        refusedByOrganization: 0,
        refusedByUser: 1,
        firstRefusedAt: noon + 59_999,
        lastRefusedAt: noon + 59_999,
        restUseMax: 51 / 50,
        graphqlUseMax: null,
      },
    ]);
    expect(refusingWindows).toEqual([
      {
        org: "acme",
        user: "ann",
        scope: "rest",
        opensAt: noon,
        endsAt: noon + minute,
        limit: 50,
        refused: 1,
        firstRefusedAt: noon + 59_999,
      },
    ]);
  });

  test("each window by itself, the most refusing first", async () => {
    const rows = [
      ...many(52, { atMs: noon, user: "ann" }),
      ...many(55, { atMs: noon + minute, user: "ann" }),
      ...many(51, { atMs: noon + minute, user: "bob" }),
    ];
    const { refusingWindows, refusingWindowsSeen, users } = await replay(logOf(rows), parseRules({}));
    expect(refusingWindows.map(({ user, opensAt, refused }) => [user, opensAt - noon, refused])).toEqual([
      ["ann", minute, 5],
      ["ann", 0, 2],
      ["bob", minute, 1],
    ]);
    expect(refusingWindowsSeen).toBe(3);
    expect(
      users.map(({ user, firstRefusedAt, lastRefusedAt }) => [user, firstRefusedAt, lastRefusedAt]),
    ).toEqual([
      ["ann", noon, noon + minute],
      ["bob", noon + minute, noon + minute],
    ]);
  });

  test("status calls are free, and what no quota counts is passed over", async () => {
    const rows = [
      ...many(60, { atMs: noon, user: "ann", kind: "status" }),
      ...many(60, { atMs: noon, user: "ann", kind: "other" }),
      ...many(50, { atMs: noon, user: "ann" }),
    ];
    const { log, totals } = await replay(logOf(rows), parseRules({}));
    expect(log).toMatchObject({ rows: 170, rest: 50, graphql: 0, status: 60, other: 60 });
    expect(totals).toMatchObject({ calls: 50, refused: 0, users: 1 });
  });

  test("a query of more than 50,000 points counts nothing (SPEC.md §6)", async () => {
    const rows: Row[] = [{ atMs: noon, user: "ann", kind: "graphql", cost: 50_001 }];
    const { log, totals } = await replay(logOf(rows), parseRules({}));
    expect(log).toMatchObject({ graphql: 0, other: 1 });
    expect(totals.calls).toBe(0);
  });

  test("a cost above a limit is refused whatever one waits for", async () => {
    const rows: Row[] = [{ atMs: noon, user: "ann", kind: "graphql", cost: 5_001 }];
    expect((await replay(logOf(rows), parseRules({}))).totals).toMatchObject({ refused: 1, hopeless: 1 });
  });

  test("a query's points are given back when the log says it was over, not before", async () => {
    const query = { user: "ann", kind: "graphql", cost: 3_000, actual: 10, durationMs: 100 } as const;
    // The second finds 2,000 points left; the third comes when the first is over, so just after it.
    const statuses = [200, 429, 200, 429];
    const rows = [0, 99, 100, 101].map((ms, place) => ({
      ...query,
      atMs: noon + ms,
      status: statuses[place] ?? 0,
    }));
    const { recorded } = await replay(logOf(rows), parseRules({}));
    expect(recorded).toMatchObject({ refused: 2, both: 2, onlyInReplay: 0 });
  });

  test("users of two organizations are two users", async () => {
    const rows = [
      ...many(50, { atMs: noon, user: "ann" }),
      ...many(50, { atMs: noon, user: "ann", org: "b" }),
    ];
    const { totals } = await replay(logOf(rows), parseRules({}));
    expect(totals).toMatchObject({ refused: 0, users: 2, organizations: 2 });
  });

  test("what the log says was refused stands beside what would have been", async () => {
    const rows = [
      ...many(50, { atMs: noon, user: "ann", status: 200 }),
      { atMs: noon + 1, user: "ann", status: 429 },
      { atMs: noon + 2, user: "ann", status: 200 },
      { atMs: noon + 3, user: "bob", status: 429 },
      { atMs: noon + 4, user: "ann" },
    ];
    const { recorded } = await replay(logOf(rows), parseRules({}));
    expect(recorded).toEqual({
      calls: 53,
      refused: 2,
      both: 1,
      onlyInLog: 1,
      onlyInReplay: 1,
      seemsFiltered: false,
    });
  });

  test("an empty log has nothing to tell, and says so with empty lists", async () => {
    const result = await replay(logOf([]), parseRules({}));
    expect(result.log).toMatchObject({ rows: 0, firstAt: null, lastAt: null });
    expect(result.totals).toMatchObject({ calls: 0, refused: 0, users: 0 });
    for (const list of [result.slots, result.users, result.headroom, result.smallestLimits])
      expect(list).toEqual([]);
    expect(result.recorded).toBeNull();
  });

  test("rows that go back in time are the reader's mistake", async () => {
    const rows = [
      { atMs: noon + 1, user: "ann" },
      { atMs: noon, user: "ann" },
    ];
    await expect(replay(logOf(rows), parseRules({}))).rejects.toThrow(RangeError);
  });

  test("an interrupted replay tells what was read until then", async () => {
    const signal = { aborted: false };
    const rows = Array.from({ length: 100 }, (_, second) => ({ atMs: noon + second, user: "ann" }));
    const onProgress = ({ rows: read }: { rows: number }) => {
      signal.aborted = read >= 20;
    };
    const { interrupted, log, totals } = await replay(logOf(rows, 10), parseRules({}), {
      signal,
      onProgress,
    });
    expect(interrupted).toBe(true);
    expect(totals.calls).toBe(20);
    expect(log.lastAt).toBe(noon + 19);
  });
});

describe("refusals over time", () => {
  test("few spans of seconds for a short log, and no more than the most for one of years", async () => {
    const spread = (stepMs: number) =>
      Array.from({ length: 900 }, (_, place) => ({ atMs: noon + place * stepMs, user: "ann" }));
    const short = await replay(logOf(spread(100)), parseRules({}));
    expect(short.slotMs).toBe(1000);
    expect(short.slots).toHaveLength(90);
    expect(short.slots[6]).toEqual({
      atMs: noon + 6000,
      calls: 10,
      refusedByOrganization: 0,
      refusedByUser: 10,
    });
    const long = await replay(logOf(spread(7 * 24 * 3_600_000)), parseRules({}));
    expect(long.slots.length).toBeLessThanOrEqual(400);
    for (const { slots, slotMs } of [short, long]) {
      expect(slots.reduce((sum, { calls }) => sum + calls, 0)).toBe(900);
      for (const [place, { atMs }] of slots.entries())
        expect(atMs).toBe((slots[0]?.atMs ?? 0) + place * slotMs);
    }
  });
});

describe("headroom", () => {
  test("of the windows that had a call: the fullest, and those that 99% and half stay within", async () => {
    // The fullest but one holds just what the user's limit allows.
    const used = (window: number) => (window === 99 ? 75 : window === 98 ? 50 : window < 50 ? 5 : 10);
    const rows = Array.from({ length: 100 }, (_, window) =>
      many(used(window), { atMs: noon + 2 * window * minute, user: "ann" }),
    ).flat();
    const { headroom } = await replay(logOf(rows), parseRules({}));
    expect(headroom).toEqual([
      {
        owner: "organization",
        scope: "rest",
        org: null,
        windows: 100,
        windowsOver: 0,
        windowsFull: 0,
        useMax: 75 / 200,
        useP99: 0.25,
        useP50: 0.025,
        smallestLimit: 75,
      },
      {
        owner: "user",
        scope: "rest",
        org: null,
        windows: 100,
        windowsOver: 1,
        windowsFull: 1,
        useMax: 1.5,
        useP99: 1,
        useP50: 0.1,
        smallestLimit: 75,
      },
    ]);
  });

  test("the limit that would have refused nobody names the window that needs it", async () => {
    const rows = [
      ...many(60, { atMs: noon, user: "ann" }),
      ...many(61, { atMs: noon + minute, user: "bob" }),
      ...many(200, { atMs: noon + 2 * minute, user: "cat", org: "b" }),
    ];
    const { smallestLimits } = await replay(logOf(rows), parseRules({}));
    expect(
      smallestLimits.map(({ owner, smallest, user, windowEndsAt }) => [owner, smallest, user, windowEndsAt]),
    ).toEqual([
      ["organization", 200, null, noon + 3 * minute],
      ["user", 200, "cat", noon + 3 * minute],
    ]);
  });

  test("owners with a limit of their own are told apart from those under the rules' limit", async () => {
    const users = { "acme/bob": { rest: { limit: 20 } }, "acme/cat": { rest: { limit: 20 } } };
    const rules = parseRules({ user: { rest: { limit: 50 } }, users });
    const rows = [
      ...many(40, { atMs: noon, user: "ann" }),
      ...many(30, { atMs: noon, user: "bob" }),
      ...many(25, { atMs: noon + minute, user: "cat" }),
    ];
    const { smallestLimits } = await replay(logOf(rows), rules);
    expect(
      smallestLimits.flatMap(({ user, limit, smallest }) => (user === null ? [] : [[user, limit, smallest]])),
    ).toEqual([
      ["ann", 50, 40],
      ["bob", 20, 30],
    ]);
  });
});

describe("points and the windows they belong to", () => {
  // Three seconds before the end of a window of five minutes, over one second after it.
  const late = { atMs: noon - 3_000, user: "ann", kind: "graphql", cost: 1_000, durationMs: 4_000 } as const;
  const next = { atMs: noon + 2_000, user: "ann", kind: "graphql", cost: 700 } as const;
  const neededUnder = async (rows: readonly Row[], rules: RulesInput) => {
    const { smallestLimits } = await replay(logOf(rows), parseRules(rules));
    return smallestLimits.find(({ owner }) => owner === "user");
  };

  test("nothing is given back in a later window", async () => {
    const rows: Row[] = [{ ...late, cost: 600, actual: 0 }, { ...next, atMs: noon }, next];
    expect(await neededUnder(rows, {})).toMatchObject({ smallest: 1_400, windowEndsAt: noon + 5 * minute });
  });

  test("a query that is charged on completion is charged nowhere where its window is over", async () => {
    const postpaid: RulesInput = { semantics: { graphqlCharge: "postpaid" } };
    const rows: Row[] = [late, { ...next, atMs: noon }, next, next];
    // At its decision the last one finds 1,400 points charged, and needs room for one.
    expect(await neededUnder(rows, postpaid)).toMatchObject({ smallest: 1_401 });
  });

  test("a query that no window was open for needs room in the one that its completion opens", async () => {
    const rules: RulesInput = { semantics: { graphqlCharge: "postpaid", anchor: "first-request" } };
    // It is over 1,000 ms after noon. So is the window after the one that it opened: by then nobody else had asked.
    expect(await neededUnder([late], rules)).toMatchObject({
      smallest: 1,
      windowEndsAt: noon + 1_000 + 5 * minute,
    });
    const second = { ...next, atMs: noon + 6 * minute, durationMs: 1_500 };
    expect(await neededUnder([late, second, { ...second, atMs: noon + 7 * minute }], rules)).toMatchObject({
      smallest: 701,
      windowEndsAt: noon + 11 * minute + 1_000,
    });
  });
});

// Short windows, small limits, few users, instants on a grid: so every switch and every tie matters within a few
// dozen rows.
const arbitraryRows: fc.Arbitrary<Row[]> = fc
  .array(
    fc.record(
      {
        atMs: fc.nat(180).map((step) => noon + 50 * step),
        user: fc.constantFrom("ann", "bob", "cat"),
        org: fc.constantFrom("acme", "b"),
        kind: fc.constantFrom("rest", "rest", "graphql", "graphql", "status", "other"),
        cost: fc.nat(12),
        actual: fc.nat(12),
        durationMs: fc.constantFrom(0, 1, 50, 700, 2_500),
      },
      { requiredKeys: ["atMs", "user", "org", "kind", "cost"] },
    ),
    { maxLength: 120 },
  )
  .map((rows) =>
    rows
      .map((row): Row => {
        const kind = row.kind as NonNullable<Row["kind"]>;
        const { cost, actual, ...rest } = row;
        if (kind !== "graphql") return { ...rest, kind };
        return actual === undefined
          ? { ...rest, kind, cost }
          : { ...rest, kind, cost, actual: Math.min(cost, actual) };
      })
      .sort((a, b) => a.atMs - b.atMs),
  );

const arbitraryRules: fc.Arbitrary<Rules> = fc
  .record({
    semantics,
    limits: fc.tuple(...[1, 2, 3, 4].map(() => fc.integer({ min: 1, max: 14 }))),
    seconds: fc.tuple(...[1, 2, 3, 4].map(() => fc.integer({ min: 1, max: 4 }))),
    enforced: fc.tuple(fc.boolean(), fc.boolean()),
  })
  .map(({ semantics, limits, seconds, enforced }) => {
    const window = (place: number) => ({ limit: limits[place], windowSeconds: seconds[place] });
    return parseRules({
      organization: {
        rest: { ...window(0), enforced: enforced[0] },
        graphql: { ...window(1), enforced: enforced[1] },
      },
      user: { rest: window(2), graphql: window(3) },
      semantics,
      organizations: { b: { rest: { limit: 3 } } },
      users: { "acme/cat": { graphql: { limit: 2 } } },
    });
  });

describe("an independent count", () => {
  property([arbitraryRows, arbitraryRules], { numRuns: 300 })(
    "refuses the same calls, under every switch",
    async (rows, rules) => {
      const expected = naiveReplay(rows, rules);
      const marked = rows.map((row) => ({ ...row, status: 200 }));
      const refused = new Map(expected.map(({ row, refusedBy }) => [row, refusedBy]));
      for (const [place, row] of rows.entries())
        if ((refused.get(row) ?? null) !== null) (marked[place] as { status: number }).status = 429;
      // The log says of each call what the naive model decided: so agreement is call by call.
      const { recorded, totals } = await replay(logOf(marked), rules);
      const count = (owner: string | null) => expected.filter(({ refusedBy }) => refusedBy === owner).length;
      expect(totals).toMatchObject({
        calls: expected.length,
        admitted: count(null),
        refusedByOrganization: count("organization"),
        refusedByUser: count("user"),
      });
      expect(recorded ?? { onlyInLog: 0, onlyInReplay: 0 }).toMatchObject({ onlyInLog: 0, onlyInReplay: 0 });
    },
  );
});

/** The same rules with other limits for everybody, all enforced. */
function withLimits(rules: Rules, limits: ReadonlyMap<string, number>): Rules {
  const { semantics, organization, user } = rules;
  const limit = (owner: string, scope: string) => limits.get(`${owner} ${scope}`) ?? 1_000;
  const input: RulesInput = {
    semantics,
    organization: {
      rest: { ...organization.rest, enforced: true, limit: limit("organization", "rest") },
      graphql: { ...organization.graphql, enforced: true, limit: limit("organization", "graphql") },
    },
    user: {
      rest: { ...user.rest, limit: limit("user", "rest") },
      graphql: { ...user.graphql, limit: limit("user", "graphql") },
    },
  };
  return parseRules(input);
}

describe("the smallest limits that refuse nobody", () => {
  property([arbitraryRows, arbitraryRules], { numRuns: 300 })(
    "refuse nobody, and one less refuses somebody",
    async (rows, rules) => {
      const { smallestLimits } = await replay(logOf(rows), withLimits(rules, new Map()));
      const limits = new Map(
        smallestLimits.map(({ owner, scope, smallest }) => [`${owner} ${scope}`, smallest]),
      );
      const refusedUnder = (some: ReadonlyMap<string, number>) =>
        naiveReplay(rows, withLimits(rules, some)).filter(({ refusedBy }) => refusedBy !== null).length;
      expect(refusedUnder(limits)).toBe(0);
      for (const [kind, smallest] of limits)
        if (smallest > 1) expect(refusedUnder(new Map([...limits, [kind, smallest - 1]]))).toBeGreaterThan(0);
    },
  );

  test("do not depend on the limits that the log is replayed under", async () => {
    const rows = [...many(300, { atMs: noon, user: "ann" }), { atMs: noon, user: "bob" }];
    const of = async (rules: Rules) =>
      (await replay(logOf(rows), rules)).smallestLimits.map(({ smallest }) => smallest);
    expect(await of(parseRules({}))).toEqual([301, 300]);
    expect(await of(parseRules({ user: { rest: { limit: 1 } } }))).toEqual([301, 300]);
    expect(await of(parseRules(presets.documented))).toEqual([301, 300]);
  });
});
