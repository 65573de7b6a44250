// A replay by quotas as pages read it: rows by operation, names and units, and who was refused by which quota.
import { expect, test } from "vitest";
import { replayView } from "../../src/report/replay-view.ts";
import { replayedByQuotas } from "./results.ts";

const result = await replayedByQuotas();

test("rows are counted by operation, if there are any, and what no quota counts stands beside them", () => {
  const log = { ...result.log, operations: { rest: 1, graphql: 0, other: 2_000 }, status: 3, other: 4 };
  const { rows, apart } = replayView({ ...result, log });
  expect(rows).toEqual([
    ["Calls: rest", "1"],
    ["Calls: other", "2,000"],
    ["Status calls, which are free", "3"],
    ["What no quota counts", "4"],
    ["Of these, without a route", "3"],
  ]);
  expect(apart).toBe("3 rows match no route, and no quota counts them: /{id}/parts, /health.");
  const one = replayView({ ...result, log: { ...log, unrouted: 1, paths: [] } });
  expect(one.apart).toBe("1 row matches no route, and no quota counts them.");
  const none = replayView({ ...result, log: { ...log, unrouted: 0 } });
  expect([none.apart, none.rows.length]).toEqual(["", 4]);
});

test("refusals are told by quota, of all calls, of a user and of a span of time", () => {
  const { hits, users, slots, callers, under } = replayView(result);
  expect(hits).toEqual([
    [result.totals.refusedBy[0], "by rest"],
    [0, "by rest_user"],
    [result.totals.refusedBy[2], "by graphql"],
    [0, "by graphql_user"],
  ]);
  expect([callers, under]).toEqual(["7 callers", "policy"]);
  const [user] = users;
  expect(user).toMatchObject({ refusedByOrganization: 0, refusedByUser: 0 });
  expect(user?.refusedByQuota).toBe(result.users[0]?.refused);
  const refused = slots.reduce((sum, { refusedByQuota }) => sum + refusedByQuota, 0);
  expect(refused).toBe(result.totals.refused);
  expect(refused).toBeGreaterThan(400);
});

test("a quota that nobody used has no column, and a user of the default organization no organization's name", () => {
  const [first, ...others] = result.users.map((user) => ({ ...user, useMax: [0.5, null, null, null] }));
  if (first === undefined) throw new Error("no user");
  const view = replayView({ ...result, users: [{ ...first, org: "default" }, ...others] });
  expect(view.useTitles).toEqual(["Fullest: rest"]);
  expect(view.users.slice(0, 2).map(({ name, uses }) => [name, uses])).toEqual([
    ["agent-0", [0.5]],
    [`acme/${others[0]?.user}`, [0.5]],
  ]);
  const nobody = result.users.map((user) => ({ ...user, useMax: [] }));
  expect(replayView({ ...result, users: nobody }).useTitles).toEqual([]);
});

test("limits are in the unit of their quota, and whose count needed them", () => {
  const { smallest, headroom, counts, hasSeveralCounts, windows } = replayView(result);
  const [limit] = result.smallestLimits;
  expect(smallest[0]).toMatchObject({
    name: "rest",
    neededBy: "acme",
    unit: "requests",
    words: "requests of rest",
  });
  expect(headroom[0]).toMatchObject({
    name: "rest",
    unit: "requests",
    limit: 40,
    smallest: limit?.smallest,
  });
  expect(headroom.map(({ unit }) => unit)).toContain("points");
  expect(hasSeveralCounts).toBe(false);
  expect(counts[0]?.name).toBe("rest, acme");
  expect(counts).toHaveLength(result.counts.length);
  expect(windows[0]?.name).toMatch(/^(?:rest|graphql), acme$/);
  const [count] = result.counts;
  if (count === undefined) throw new Error("no count");
  const several = (length: number) => ({ ...result, counts: Array.from({ length }, () => count) });
  expect([4, 5].map((length) => replayView(several(length)).hasSeveralCounts)).toEqual([false, true]);
  const view = replayView({ ...result, smallestLimits: [] });
  expect([view.headroom[0]?.limit, view.headroom[0]?.smallest]).toEqual([null, null]);
  const all = replayView({
    ...result,
    smallestLimits: [{ ...(limit as NonNullable<typeof limit>), key: {} }],
  });
  expect(all.smallest[0]?.neededBy).toBe("all callers");
  const { rest } = result.policy.quotas;
  const quotas = { ...result.policy.quotas, rest: { ...(rest as NonNullable<typeof rest>), unit: "rest" } };
  const ofItsName = replayView({ ...result, policy: { ...result.policy, quotas } });
  expect(ofItsName.smallest[0]?.words).toBe("rest");
});
