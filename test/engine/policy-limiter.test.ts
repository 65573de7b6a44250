// The limiter by any policy: its two engines answer alike.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyDecision } from "../../src/engine/decision.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { ReferenceLimiter } from "../../src/engine/reference.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { inference } from "../policy/policies.ts";
import { property } from "../support/property.ts";
import { anyPolicy, anyScript, played } from "./policy-scripts.ts";

property([anyPolicy, anyScript], { numRuns: 400 })(
  "both engines answer alike, and a stored limiter goes on as it was",
  (policy, script) => {
    const reference = played(policy, script, new ReferenceLimiter(policy));
    const stored = (limiter: PolicyLimiter) =>
      PolicyLimiter.restore(policy, JSON.parse(JSON.stringify(limiter.snapshot())));
    expect(played(policy, script, new PolicyLimiter(policy), stored)).toEqual(reference);
  },
);

property([anyPolicy, anyScript], { numRuns: 200 })(
  "a limiter that is never swept answers as one that is",
  (policy, script) => {
    // After a sweep earlier times count as its own, so that only scripts that never go back are compared.
    const forth = script.map((step) => ({ ...step, byMs: Math.max(0, step.byMs) }));
    const swept = forth.flatMap((step) => [step, { do: "sweep" as const, byMs: 0 }]);
    const answers = played(policy, swept, new PolicyLimiter(policy)).filter((_, place) => place % 2 === 0);
    expect(answers).toEqual(played(policy, forth, new PolicyLimiter(policy)));
  },
);

test("an operation of two quotas counts in its own, whichever a caller's other operations have before it", () => {
  const fixed = (limit: number, ...key: string[]) => ({
    algorithm: { kind: "fixed-window", limit, windowSeconds: 60, anchor: "epoch" },
    key,
  });
  const policy = parsePolicy({
    version: 2,
    name: "pairs",
    quotas: {
      all: fixed(9, "org"),
      reads: fixed(4, "org", "user"),
      writes: fixed(2, "org", "user"),
    },
    operations: {
      both: { uses: { all: 1, reads: 1, writes: 1 } },
      write: { uses: { all: 1, writes: 1 } },
    },
  });
  const limiter = new PolicyLimiter(policy);
  const usedBy = (operation: string) => {
    const { refusedBy, readings } = limiter.decide(
      { caller: { org: "a", user: "b" }, operation, cost: 1 },
      0,
    );
    return [refusedBy, ...readings.map(({ quota, used }) => `${quota} ${used}`)];
  };
  expect(usedBy("write")).toEqual([null, "all 1", "writes 1"]);
  expect(usedBy("both")).toEqual([null, "all 2", "reads 1", "writes 2"]);
  expect(usedBy("write")).toEqual(["writes", "all 2", "writes 2"]);
});

describe("what a refusal says", () => {
  property([anyPolicy, anyScript], { numRuns: 200 })(
    "a caller who waits alone until then is refused by that quota no more, and refused 1 ms earlier",
    (policy, script) => {
      const limiter = new PolicyLimiter(policy);
      const refusals = played(policy, script, limiter).flatMap((answer, place) => {
        const step = script[place];
        return step?.do === "call" ? [{ step, decision: answer as PolicyDecision }] : [];
      });
      const last = refusals.at(-1);
      const retryAtMs = last?.decision.retryAtMs ?? null;
      if (last === undefined || retryAtMs === null) return;
      const operation = Object.keys(policy.operations)[
        last.step.operation % Object.keys(policy.operations).length
      ];
      const call = { caller: last.step.caller, operation: operation ?? "", cost: last.step.cost };
      const refused = last.decision.refusedBy;
      const refusedAt = (atMs: number) => {
        const same = PolicyLimiter.restore(policy, limiter.snapshot());
        return same.decide(call, atMs).refusedBy;
      };
      const isLast = script.at(-1)?.do === "call";
      if (!isLast) return;
      expect(refusedAt(retryAtMs)).not.toBe(refused);
      // Perhaps by a quota before it, which the refused call was charged to.
      expect(refusedAt(retryAtMs - 1)).not.toBeNull();
    },
  );
});

describe("a token bucket", () => {
  const bucketOf = (capacity: number, amount: number, everyMs: number) =>
    parsePolicy({
      version: 2,
      name: "bucket",
      quotas: {
        tokens: { algorithm: { kind: "token-bucket", capacity, refill: { amount, everyMs } }, key: ["user"] },
      },
      operations: { call: { uses: { tokens: "declared" } } },
    });
  const call = (cost: number) => ({ caller: { user: "ann" }, operation: "call", cost });

  test("comes back by its rate, and is full again when it says", () => {
    const limiter = new PolicyLimiter(bucketOf(10, 2, 1_000));
    expect(limiter.decide(call(10), 5_000)).toMatchObject({
      refusedBy: null,
      readings: [{ limit: 10, remaining: 0, used: 10, resetAtMs: 10_000 }],
    });
    expect(limiter.decide(call(3), 6_499)).toMatchObject({ refusedBy: "tokens", retryAtMs: 6_500 });
    expect(limiter.decide(call(3), 6_500).refusedBy).toBeNull();
    expect(limiter.read({ user: "ann" }, ["tokens"], 11_499)[0]).toMatchObject({ remaining: 9 });
    expect(limiter.read({ user: "ann" }, ["tokens"], 11_500)[0]).toMatchObject({
      remaining: 10,
      resetAtMs: 11_500,
    });
    expect(limiter.decide(call(11), 20_000)).toMatchObject({ refusedBy: "tokens", retryAtMs: null });
  });

  property([
    fc.constantFrom([999_983, 60_000], [7, 13], [1, 5_000_000], [2_000_000, 60_000], [1_000_003, 999_983]),
    fc.array(fc.tuple(fc.nat({ max: 900_000 }), fc.nat({ max: 40_000 })), { minLength: 1, maxLength: 30 }),
  ])("is exact at any time, whatever its rate", ([amount = 1, everyMs = 1], calls) => {
    const capacity = 50_000;
    const policy = bucketOf(capacity, amount, everyMs);
    const limiters = [new PolicyLimiter(policy), new ReferenceLimiter(policy)];
    let now = 1_900_000_000_000;
    // The level in fractions of a unit, as a big integer over `everyMs`.
    let lacking = 0n;
    for (const [byMs, cost] of calls) {
      now += byMs;
      lacking -= BigInt(byMs) * BigInt(amount);
      if (lacking < 0n) lacking = 0n;
      const fits = BigInt(cost) * BigInt(everyMs) + lacking <= BigInt(capacity) * BigInt(everyMs);
      for (const limiter of limiters)
        expect(limiter.decide(call(cost), now).refusedBy).toBe(fits ? null : "tokens");
      if (fits) lacking += BigInt(cost) * BigInt(everyMs);
    }
  });
});

describe("a limiter refuses what it cannot do", () => {
  const policy = parsePolicy(inference);
  const limiter = new PolicyLimiter(policy);
  const caller = { tenant: "t", user: "u", model: "m" };
  test.each([
    [
      "an unknown operation",
      () => limiter.decide({ caller, operation: "lst", cost: 1 }, 0),
      "operation must be one of",
    ],
    [
      "an attribute that is missing",
      () => limiter.decide({ caller: { tenant: "t" }, operation: "look", cost: 1 }, 0),
      "caller.user must be text",
    ],
    [
      "a cost that is no integer",
      () => limiter.decide({ caller, operation: "look", cost: 1.5 }, 0),
      "cost must be a safe integer",
    ],
    ["an unknown quota", () => limiter.read(caller, ["tenants"], 0), "quota must be one of"],
    [
      "a switch that is another's",
      () => limiter.setEnforced("burst", caller, false),
      "burst refuses with anybody",
    ],
    [
      "more than was asked for",
      () => {
        const { reservation } = limiter.decide({ caller, operation: "complete", cost: 5 }, 0);
        if (reservation !== null) limiter.settle(reservation, 6, 0);
      },
      "actual must be at most the 5",
    ],
  ])("%s", (_, act, message) => {
    expect(act).toThrow(RangeError);
    expect(act).toThrow(message);
  });

  test("an algorithm that is described alone", () => {
    const { anybody, ...quotas } = inference.quotas;
    const log = { algorithm: { kind: "sliding-log", limit: 5, windowSeconds: 60 } };
    const described = parsePolicy({ ...inference, quotas: { ...quotas, anybody: log } });
    expect(anybody).toBeDefined();
    for (const make of [() => new PolicyLimiter(described), () => new ReferenceLimiter(described)])
      expect(make).toThrow(
        expect.objectContaining({
          code: "POLICY_UNSUPPORTED",
          problems: [
            expect.objectContaining({ path: "quotas.anybody.algorithm.kind", got: '"sliding-log"' }),
          ],
        }),
      );
  });

  test("a snapshot of other quotas", () => {
    const stored = limiter.snapshot();
    expect(() =>
      PolicyLimiter.restore(policy, {
        ...stored,
        counts: [{ quota: "rest", key: {}, state: { endsAt: 0, count: 0, seenMs: 0 } }],
      }),
    ).toThrow(
      expect.objectContaining({
        code: "SNAPSHOT_INVALID",
        problems: [expect.objectContaining({ path: "counts.0.quota" })],
      }),
    );
  });

  const state = { endsAt: 0, count: 0, seenMs: 0 };
  test.each<[string, object, readonly object[]]>([
    [
      "keys of another form",
      { counts: [{ quota: "user", key: { user: "ann" }, state }] },
      [{ path: "counts.0.key", got: '{"user":"ann"}', allowed: "an object of tenant, user" }],
    ],
    [
      "a key of too much",
      { enforced: [{ quota: "tenant", key: { tenant: "acme", user: "ann" }, enforced: true }] },
      [{ path: "enforced.0.key", got: '{"tenant":"acme","user":"ann"}', allowed: "an object of tenant" }],
    ],
    [
      "a count twice",
      { counts: [0, 1].map(() => ({ quota: "tenant", key: { tenant: "acme" }, state })) },
      [{ path: "counts.1", got: '{"tenant":"acme"}', allowed: "each count once" }],
    ],
    [
      "a switch that follows another",
      { enforced: [{ quota: "burst", key: { user: "ann", model: "m" }, enforced: true }] },
      [{ path: "enforced.0.quota", got: '"burst"', allowed: "anybody, which it follows" }],
    ],
    ["no snapshot", { counts: 3 }, [{ path: "counts", got: "3" }]],
  ])("a snapshot with %s", (_, change, problems) => {
    expect(() => PolicyLimiter.restore(policy, { ...limiter.snapshot(), ...change } as never)).toThrow(
      expect.objectContaining({
        ...{ code: "SNAPSHOT_INVALID" },
        problems: problems.map((problem) => expect.objectContaining(problem)),
      }),
    );
  });
});

test("a caller who is known lacks an attribute of another operation all the same", () => {
  const algorithm = { kind: "fixed-window", limit: 2, windowSeconds: 60 };
  const limiter = new PolicyLimiter(
    parsePolicy({
      ...{ version: 2, name: "two", auth: { attributes: ["org", "user"] } },
      quotas: { all: { algorithm, key: ["org"] }, own: { algorithm, key: ["org", "user"] } },
      operations: { list: { uses: { all: 1 } }, write: { uses: { own: 1 } } },
    }),
  );
  const caller = { org: "acme" };
  expect(limiter.decide({ caller, operation: "list", cost: 1 }, 0).refusedBy).toBeNull();
  expect(() => limiter.decide({ caller, operation: "write", cost: 1 }, 0)).toThrow(
    "caller.user must be text",
  );
});

test("a limiter that is swept forgets what says nothing, and nothing else", () => {
  const limiter = new PolicyLimiter(parsePolicy(inference));
  for (const user of ["a", "b", "c"])
    limiter.decide({ caller: { tenant: "t", user, model: "m" }, operation: "list", cost: 0 }, 10_000);
  const quotas = () => limiter.snapshot().counts.map(({ quota }) => quota);
  expect(quotas()).toHaveLength(10);
  limiter.sweep(10_500);
  // The bucket for anybody is full again; the users' windows and the model's day last.
  expect(quotas().sort()).toEqual(["model_day", "user", "user", "user"]);
  limiter.sweep(20_000);
  expect(quotas()).toEqual(["model_day"]);
  limiter.sweep(86_400_000);
  expect(quotas()).toEqual([]);
});
