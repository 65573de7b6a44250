// A log under any policy, held to a plain count of a policy with three dimensions, a day of a time zone and a bucket; and
// rules as a policy, held to the same rules.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replay, replayQuotas } from "../../sim/replay/replay.ts";
import type { LogBatch, LogCaller, RoutedRows } from "../../src/logs/rows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { exponential } from "../../src/scenario/retries/exponential.ts";
import { none } from "../../src/scenario/retries/none.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import { property } from "../support/property.ts";
import { semantics } from "../support/semantics.ts";
import { logOf, noon, type Row } from "./rows.ts";

const window = (limit: number, windowSeconds: number) =>
  ({ kind: "fixed-window", limit, windowSeconds, anchor: "epoch" }) as const;

/** Of a tenant's day in Paris, a user's seconds, a model's minutes, and a bucket of units. */
const threeDimensions: Policy = parsePolicy({
  version: 2,
  name: "three-dimensions",
  quotas: {
    day: {
      algorithm: { kind: "fixed-window", limit: 9, anchor: { calendar: "day", zone: "Europe/Paris" } },
      key: ["tenant"],
    },
    seconds: { algorithm: window(3, 10), key: ["tenant", "user"] },
    models: { algorithm: window(5, 60), key: ["tenant", "user", "model"] },
    units: {
      algorithm: { kind: "token-bucket", capacity: 20, refill: { amount: 3, everyMs: 1000 } },
      key: ["tenant", "model"],
    },
  },
  operations: {
    ask: { uses: { day: 1, seconds: 1, models: 1, units: "declared" }, samples: [{ path: "/ask" }] },
  },
  routes: [{ path: "/ask", operation: "ask" }],
  auth: { header: "Authorization", form: "{token}", attributes: ["tenant", "user", "model"] },
  wire: "buildkite",
});

interface Asked {
  readonly atMs: number;
  readonly tenant: string;
  readonly user: string;
  readonly model: string;
  readonly cost: number;
  readonly status: number;
}

function logOfAsked(rows: readonly Asked[], size = 7): RoutedRows {
  const callers: LogCaller[] = [];
  const numbers = new Map<string, number>();
  const numberOf = ({ tenant, user, model }: Asked): number => {
    const name = `${tenant}/${user}/${model}`;
    const attributes = { tenant, user, model };
    const known = numbers.get(name) ?? callers.push({ organization: tenant, user, attributes }) - 1;
    numbers.set(name, known);
    return known;
  };
  async function* batches(): AsyncGenerator<LogBatch, void> {
    for (let at = 0; at < rows.length; at += size) {
      const some = rows.slice(at, at + size);
      yield {
        count: some.length,
        atMs: Float64Array.from(some, ({ atMs }) => atMs),
        durationMs: new Float64Array(some.length).fill(Number.NaN),
        caller: Int32Array.from(some, numberOf),
        kind: new Uint8Array(some.length),
        cost: Int32Array.from(some, ({ cost }) => cost),
        actual: new Int32Array(some.length).fill(-1),
        status: Int16Array.from(some, ({ status }) => status),
      };
    }
  }
  const counts = {
    read: rows.length,
    unread: 0,
    examples: [],
    unplaced: 0,
    anonymous: 0,
    notes: [],
    unrouted: 0,
    paths: [],
  };
  return { batches: batches(), callers, ...counts };
}

/** Midnight in Paris, one hour ahead of UTC in January. */
const midnight = Date.UTC(2026, 0, 5, 23);

/** Who refuses each row, by a plain Map of counts. */
function plainCount(rows: readonly Asked[]): (string | null)[] {
  const counts = new Map<string, number>();
  const buckets = new Map<string, { level: number; atMs: number }>();
  return rows.map(({ atMs, tenant, user, model, cost }) => {
    const day = atMs < midnight ? "before" : "after";
    const keys = [
      ["day", `day ${tenant} ${day}`, 9],
      ["seconds", `seconds ${tenant} ${user} ${Math.floor(atMs / 10_000)}`, 3],
      ["models", `models ${tenant} ${user} ${model} ${Math.floor(atMs / 60_000)}`, 5],
    ] as const;
    const bucketKey = `${tenant} ${model}`;
    const bucket = buckets.get(bucketKey) ?? { level: 20_000, atMs };
    const level = Math.min(20_000, bucket.level + 3 * (atMs - bucket.atMs));
    buckets.set(bucketKey, { level, atMs });
    const full = keys.find(([, key, limit]) => (counts.get(key) ?? 0) + 1 > limit);
    if (full !== undefined) return full[0];
    if (cost * 1000 > level) return "units";
    for (const [, key] of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    buckets.set(bucketKey, { level: level - cost * 1000, atMs });
    return null;
  });
}

const asked: fc.Arbitrary<Asked[]> = fc
  .array(
    fc.record({
      atMs: fc.nat(400).map((step) => midnight - 100_000 + 500 * step),
      tenant: fc.constantFrom("acme", "b"),
      user: fc.constantFrom("ann", "bob"),
      model: fc.constantFrom("small", "large"),
      cost: fc.nat(22),
      status: fc.constant(200),
    }),
    { maxLength: 100 },
  )
  .map((rows) => rows.sort((a, b) => a.atMs - b.atMs));

describe("a policy of three dimensions", () => {
  property([asked], { numRuns: 200 })("refuses what a plain count refuses, call by call", async (rows) => {
    const expected = plainCount(rows);
    const marked = rows.map((row, place) => ({ ...row, status: expected[place] === null ? 200 : 429 }));
    const { totals, recorded } = await replayQuotas(logOfAsked(marked), threeDimensions);
    const of = (quota: string): number => expected.filter((by) => by === quota).length;
    expect(totals.refusedBy).toEqual(Object.keys(threeDimensions.quotas).map(of));
    expect(recorded ?? { onlyInLog: 0, onlyInReplay: 0 }).toMatchObject({ onlyInLog: 0, onlyInReplay: 0 });
  });

  property([asked], { numRuns: 100 })(
    "the smallest limits refuse no row, and one less refuses one",
    async (rows) => {
      const { smallestLimits } = await replayQuotas(logOfAsked(rows), threeDimensions);
      const limited = async (limits: Readonly<Record<string, number>>): Promise<number> => {
        const quotas = Object.fromEntries(
          Object.entries(threeDimensions.quotas).map(([name, quota]) => {
            const limit = limits[name] ?? 1_000;
            const algorithm =
              quota.algorithm.kind === "token-bucket"
                ? { ...quota.algorithm, capacity: limit }
                : { ...quota.algorithm, limit };
            return [name, { ...quota, algorithm } as Policy["quotas"][string]];
          }),
        );
        return (await replayQuotas(logOfAsked(rows), { ...threeDimensions, quotas })).totals.refused;
      };
      const least = Object.fromEntries(smallestLimits.map(({ quota, smallest }) => [quota, smallest]));
      expect(await limited(least)).toBe(0);
      for (const [quota, smallest] of Object.entries(least))
        if (smallest > 1) expect(await limited({ ...least, [quota]: smallest - 1 })).toBeGreaterThan(0);
    },
  );

  test("names the quota and the key whose windows refused, a bucket's among them", async () => {
    const row = { tenant: "acme", user: "ann", model: "small", status: 0 };
    const rows = [
      { ...row, atMs: noon, cost: 20 },
      { ...row, atMs: noon + 1_000, cost: 4 },
      { ...row, atMs: noon + 1_000, cost: 3 },
    ];
    const { refusingWindows, users, headroom } = await replayQuotas(logOfAsked(rows), threeDimensions);
    expect(refusingWindows).toMatchObject([
      {
        quota: "units",
        key: { tenant: "acme", model: "small" },
        limit: 20,
        refused: 1,
        opensAt: noon + 1_000,
      },
    ]);
    expect(users).toMatchObject([{ user: "ann", calls: 3, refused: 1, refusedBy: [0, 0, 0, 1] }]);
    expect(headroom.find(({ quota }) => quota === "units")).toMatchObject({ windows: 1, windowsOver: 1 });
  });

  test("callers that try again get through", async () => {
    const row = { tenant: "acme", user: "ann", model: "small", status: 0, cost: 20 };
    const rows = [
      { ...row, atMs: noon },
      { ...row, atMs: noon + 500 },
    ];
    const reaction = { onRefused: exponential({ first: "8s", most: "8s", attempts: 3 }) };
    const result = await replayQuotas(logOfAsked(rows), threeDimensions, { reaction });
    expect(result.reaction).toMatchObject({ calls: 2, admittedLater: 1, gaveUp: 0, refusedBy: [0, 0, 0, 1] });
  });

  test.each<[PolicyInput["quotas"][string]["algorithm"], number, number]>([
    // Neither a minute of 12 nor a bucket of 12 has room for three calls of 5 points. An answer takes 1 ms.
    [window(12, 60), 5, 57_001],
    [{ kind: "token-bucket", capacity: 12, refill: { amount: 1, everyMs: 1000 } }, 5, 8_001],
    [window(2, 60), 1, 57_001],
  ])("callers wait for the quota that lacks room: %j, %i a call", async (algorithm, cost, waitMs) => {
    const { quotas, operations, ...rest } = threeDimensions;
    const policy = parsePolicy({
      ...rest,
      quotas: {
        points: { algorithm, key: ["tenant"] },
        hour: { algorithm: window(100, 3600), key: ["tenant"] },
      },
      operations: { ask: { ...operations["ask"], uses: { points: cost, hour: 1 } } },
      wire: {
        revision: "1",
        readings: ["points", "hour"].map((quota) => ({
          quotas: [quota],
          headers: { [`X-${quota}`]: "{limit} {remaining} {reset}" },
          reset: { form: "delta-s", means: "window-end" },
        })),
      },
    });
    const row = { tenant: "acme", user: "ann", model: "small", status: 0, cost: 1 };
    const rows = [1_000, 2_000, 3_000].map((ms) => ({ ...row, atMs: noon + ms }));
    const reaction = { onRefused: waitReset({ of: "both" }) };
    const result = await replayQuotas(logOfAsked(rows), policy, { reaction });
    expect(result.reaction).toMatchObject({ admittedLater: 1, waitsOfRefused: { max: waitMs } });
  });
});

const rows: fc.Arbitrary<Row[]> = fc
  .array(
    fc.record({
      atMs: fc.nat(180).map((step) => noon + 50 * step),
      user: fc.constantFrom("ann", "bob"),
      org: fc.constantFrom("acme", "b"),
      kind: fc.constantFrom("rest" as const, "graphql" as const),
      cost: fc.integer({ min: 1, max: 12 }),
      durationMs: fc.constantFrom(0, 50, 700),
    }),
    { maxLength: 80 },
  )
  .map((some) =>
    some
      .map(({ cost, ...row }) => (row.kind === "rest" ? row : { ...row, cost, actual: Math.floor(cost / 2) }))
      .sort((a, b) => a.atMs - b.atMs),
  );

describe("rules as a policy", () => {
  property([rows, semantics], { numRuns: 150 })(
    "come to the figures of these rules, by two engines",
    async (some, switches) => {
      const limits = { rest: { limit: 4, windowSeconds: 2 }, graphql: { limit: 20, windowSeconds: 3 } };
      const rules = parseRules({ organization: limits, user: limits, semantics: switches });
      const byRules = await replay(logOf(some), rules);
      const log = { ...logOf(some), unrouted: 0, paths: [] };
      const { totals, headroom, recorded } = await replayQuotas(log, policyOf(rules));
      const [rest = 0, restUser = 0, graphql = 0, graphqlUser = 0] = totals.refusedBy;
      expect([rest + graphql, restUser + graphqlUser, totals.admitted, totals.hopeless]).toEqual([
        byRules.totals.refusedByOrganization,
        byRules.totals.refusedByUser,
        byRules.totals.admitted,
        byRules.totals.hopeless,
      ]);
      expect(recorded).toEqual(byRules.recorded);
      expect(headroom.map(({ useMax }) => useMax).sort()).toEqual(
        byRules.headroom.map(({ useMax }) => useMax).sort(),
      );
    },
  );
});

describe("large numbers", () => {
  const asked = (count: number, status = 200): Asked[] =>
    Array.from({ length: count }, (_, second) => ({
      ...{ atMs: noon + second * 1000, tenant: "acme", user: "ann", model: "m", cost: 1, status },
    }));
  const policyOfOne = (quotas: PolicyInput["quotas"], uses: PolicyInput["operations"][string]["uses"]) =>
    parsePolicy({
      version: 2,
      name: "large",
      quotas,
      operations: { ask: { uses } },
      auth: { attributes: ["tenant"] },
    });

  test("of units that a call may use at the most are charged in full: the third of 3 billion passes 8 billion", async () => {
    const charge = { when: "completion", fits: "any-left" } as const;
    const bytes = { algorithm: window(8_000_000_000, 60), key: ["tenant"], charge };
    const policy = policyOfOne({ bytes }, { bytes: { atMost: 3_000_000_000 } });
    const rows = [...asked(5), { ...asked(1, 429)[0], atMs: noon + 6_000 } as Asked];
    const reaction = { onRefused: none(), keepRefused: true };
    const result = await replayQuotas(logOfAsked(rows), policy, { reaction });
    expect(result.totals).toMatchObject({ calls: 6, admitted: 3, refused: 3 });
    expect(result.headroom[0]?.useMax).toBe(18 / 8);
    expect(result.demand?.limits).toMatchObject([{ quota: "bytes", low: 12_000_000_001 }]);
    expect(result.reaction).toMatchObject({ gaveUp: 3 });
  });

  test("of quotas keep their refusals", async () => {
    const one = { algorithm: window(1, 60), key: ["tenant"] };
    const quotas = Object.fromEntries(Array.from({ length: 200 }, (_, place) => [`q${place}`, one]));
    const policy = policyOfOne(quotas, { q199: 1 });
    const { totals, refusingWindows } = await replayQuotas(logOfAsked(asked(3)), policy);
    expect(totals).toMatchObject({ calls: 3, admitted: 1, refused: 2 });
    expect(refusingWindows).toMatchObject([{ quota: "q199", refused: 2 }]);
  });
});
