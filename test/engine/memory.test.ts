// Memory of a limiter: snapshots go on as if nothing had happened, sweeps forget what no answer needs.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Call } from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { property } from "../support/property.ts";

const rules = parseRules({
  organization: { rest: { limit: 4, windowSeconds: 2 }, graphql: { limit: 9, windowSeconds: 3 } },
  user: { rest: { limit: 2, windowSeconds: 2 }, graphql: { limit: 5, windowSeconds: 3 } },
  semantics: { anchor: { rest: "epoch", graphql: "first-request" } },
});
const call = fc.record({
  organization: fc.constantFrom("acme", "globex"),
  user: fc.constantFrom("a", "b", "c"),
  scope: fc.constantFrom("rest" as const, "graphql" as const),
  cost: fc.nat({ max: 4 }),
});
const step = fc.record({ call, nowMs: fc.nat({ max: 12_000 }) });
type Step = { call: Call; nowMs: number };
const run = (limiter: Limiter, steps: readonly Step[]) =>
  steps.map(({ call, nowMs }) => limiter.decide(call, nowMs));

describe("snapshots", () => {
  property([fc.array(step), fc.array(step)])(
    "a restored limiter gives the answers of one that never stopped",
    (before, after) => {
      const limiter = new Limiter(rules);
      run(limiter, before);
      limiter.setEnforced("globex", "rest", false);
      const restored = Limiter.restore(rules, JSON.parse(JSON.stringify(limiter.snapshot())));
      expect(restored.snapshot()).toEqual(limiter.snapshot());
      expect(run(restored, after)).toEqual(run(limiter, after));
    },
  );

  test("a broken snapshot is a coded error that names the field", () => {
    const snapshot = { ...new Limiter(rules).snapshot(), floorMs: -1 };
    expect(() => Limiter.restore(rules, snapshot)).toThrow(SpillwayError);
    expect(() => Limiter.restore(rules, snapshot)).toThrow(/floorMs: got -1/);
    expect(() => Limiter.restore(rules, null)).toThrow(/snapshot: got null/);
  });

  test("a window that stands twice is refused", () => {
    const limiter = new Limiter(rules);
    limiter.status("acme", 0);
    const { counts, ...others } = limiter.snapshot();
    expect(() => Limiter.restore(rules, { ...others, counts: [...counts, ...counts] })).toThrow(
      /each count once/,
    );
  });
});

describe("sweep (SPEC.md §2.8)", () => {
  property([fc.array(step), fc.nat({ max: 12_000 }), fc.array(step)])(
    "changes no later answer but by the floor it sets under time",
    (before, sweptMs, after) => {
      const swept = new Limiter(rules);
      const kept = new Limiter(rules);
      run(swept, before);
      run(kept, before);
      swept.sweep(sweptMs);
      const clamped = after.map(({ call, nowMs }) => ({ call, nowMs: Math.max(nowMs, sweptMs) }));
      expect(run(swept, after)).toEqual(run(kept, clamped));
    },
  );

  test("drops the keys whose windows are over, and remembers `enforced`", () => {
    const limiter = new Limiter(rules);
    limiter.setEnforced("acme", "rest", false);
    limiter.decide({ organization: "acme", user: "a", scope: "rest", cost: 1 }, 0);
    expect(limiter.sweep(1_999)).toBe(0);
    // Both windows of the organization, and both of the user.
    expect(limiter.sweep(2_000)).toBe(4);
    expect(limiter.snapshot().counts).toEqual([]);
    expect(limiter.status("acme", 5_000).rest.enforced).toBe(false);
  });

  test("freed handles serve other keys, from zero", () => {
    const limiter = new Limiter(rules);
    const of = (organization: string): Call => ({ organization, user: "a", scope: "rest", cost: 1 });
    limiter.decide(of("acme"), 0);
    limiter.sweep(10_000);
    limiter.setEnforced("globex", "rest", true);
    expect(limiter.decide(of("globex"), 10_000)).toMatchObject({
      organization: { current: 1 },
      user: { current: 1 },
    });
  });

  property([fc.array(step), fc.array(step)])(
    "the same name in two organizations is two users",
    (steps, others) => {
      const alone = new Limiter(rules);
      const mixed = new Limiter(rules);
      const globex = others.map(({ call, nowMs }) => ({ call: { ...call, organization: "globex" }, nowMs }));
      const acme = steps.map(({ call, nowMs }) => ({ call: { ...call, organization: "acme" }, nowMs }));
      run(mixed, globex);
      expect(run(mixed, acme)).toEqual(run(alone, acme));
    },
  );

  test("many keys: the arrays grow, no count is lost", () => {
    const limiter = new Limiter(rules);
    for (let round = 0; round < 2; round++)
      for (let index = 0; index < 1_000; index++)
        limiter.decide(
          { organization: `org-${index % 50}`, user: `user-${index}`, scope: "graphql", cost: round },
          100,
        );
    const { counts } = limiter.snapshot();
    expect(counts.filter(({ quota }) => quota === "graphql_user")).toHaveLength(1_000);
    expect(limiter.readings("org-7", "user-7", "graphql", 100).user.current).toBe(1);
    expect(limiter.status("org-7", 100).graphql.current).toBe(9);
  });
});
