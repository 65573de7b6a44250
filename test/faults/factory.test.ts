// Factories of limiters with a fault: what they say of themselves, and the same limiters for a seed.
import { expect, test } from "vitest";
import { parseFault } from "../../src/faults/choice.ts";
import { faultFactory, quotaFaultFactory } from "../../src/faults/factory.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";

const rules = parseRules({ user: { rest: { limit: 9 } } });
const call = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;

test("a factory by rules names its fault, its rate and the semantics that it needs", () => {
  const { create, ...said } = faultFactory(parseFault("double-count=0.5"), 1);
  expect(said).toEqual({ name: "a limiter with double-count=0.5", algorithm: "fixed-window", claims: "all" });
  const { create: other, ...strict } = faultFactory(parseFault("reset-zero"), 1);
  expect(strict).toEqual({
    ...{ name: "a limiter with reset-zero", algorithm: "fixed-window", claims: "all" },
    semantics: { reset: ["ceil"] },
  });
  expect([typeof create, typeof other]).toEqual(["function", "function"]);
});

test("the same seed makes the same limiters, and another one others", () => {
  const used = (seed: number) => {
    const limiter = faultFactory(parseFault("double-count=0.5"), seed).create(rules) as unknown as {
      decide(asked: typeof call, nowMs: number): { user: { current: number } };
    };
    return Array.from({ length: 6 }, () => limiter.decide(call, 0).user.current).join();
  };
  expect(used(1)).toBe(used(1));
  expect(new Set([1, 2, 3, 4].map(used)).size).toBeGreaterThan(1);
});

test("a limiter answers calls and statuses by its fault, and nothing where nothing is sent", () => {
  const { answer } = faultFactory(parseFault("wrong-scope-header"), 1).create(rules) as unknown as {
    answer(asked: object, nowMs: number): { headers: Readonly<Record<string, unknown>> } | null;
  };
  const scopeIn = (asked: object) => answer(asked, 0)?.headers["RateLimit-User-Scope"];
  expect(scopeIn({ kind: "status", organization: "acme", user: "ann" })).toBe("rest");
});

test("a factory by a policy claims all laws but those of snapshots", () => {
  const { create, ...said } = quotaFaultFactory(parseFault("one-extra"), 1);
  expect(said).toEqual({
    name: "a limiter with one-extra",
    limits: "any",
    claims: limiterLawNames.filter((law) => law !== "snapshot-equals"),
    isExact: true,
  });
  const policy = parsePolicy({
    version: 2,
    name: "small",
    quotas: { calls: { algorithm: { kind: "fixed-window", limit: 2, windowSeconds: 60 }, key: ["user"] } },
    operations: { list: { uses: { calls: 1 } } },
  });
  const limiter = create(policy) as unknown as {
    decide(asked: object, nowMs: number): { admitted: boolean };
  };
  const admitted = () => limiter.decide({ caller: { user: "ann" }, operation: "list", cost: 1 }, 0).admitted;
  expect([admitted(), admitted(), admitted(), admitted()]).toEqual([true, true, true, false]);
});
