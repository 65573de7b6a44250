// Others who call the same target meanwhile: what the probe says is less, and never wrong.
// @module-tag long
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RulesInput } from "../../src/rules/rules.ts";
import { draw, seen } from "./hard.ts";
import { anyRules, mistakes } from "./truth.ts";
import { probeVirtually, tokenOf, type VirtualOptions } from "./virtual.ts";

/** Others' calls every `everyMs`, give or take: REST, or every second one a query. */
function others(
  everyMs: number,
  seed: number,
  user = "other",
  queries = false,
): NonNullable<VirtualOptions["meanwhile"]> {
  let next = 0;
  let calls = 0;
  return async (nowMs, call) => {
    while (nowMs >= next) {
      const path = queries && calls % 2 === 0 ? "graphql" : "/v2/user";
      if (next > 0) await call(tokenOf(user).token, path);
      calls += 1;
      next = nowMs + everyMs * (0.2 + 1.6 * draw(calls, seed));
    }
  };
}

describe("others on the same organization at the same time", () => {
  const rules: RulesInput = { organization: { rest: { limit: 100_000 } } };

  /** Calls that follow each other within ms are thousands a probe: their order is drawn once. */
  const seedsOf = (everyMs: number): readonly number[] => (everyMs < 40 ? [1] : [1, 2]);

  // From a whisper to more than one between any two calls of the probe.
  test.each([7, 15, 40, 100, 300, 1000, 2500])("a call every %i ms", async (everyMs) => {
    for (const seed of seedsOf(everyMs)) {
      const report = await probeVirtually(rules, { meanwhile: others(everyMs, seed) });
      expect(mistakes(report, rules)).toEqual([]);
      expect(seen(report, "statusCounted", "rest")?.value).not.toBe(true);
      // The user's own window is nobody else's.
      for (const name of ["getCounted", "headCounted", "notFoundCounted"] as const)
        expect(seen(report, name, "rest")?.value).toBe(true);
      expect(seen(report, "headStatusCounted", "rest")?.value).toBe(false);
      expect(seen(report, "refused", "rest")?.value).toBe("uncounted");
    }
  });

  test.each([7, 15, 40, 100, 300, 1000])("the same user, a call every %i ms", async (everyMs) => {
    const wide: RulesInput = {
      organization: { rest: { limit: 100_000 } },
      user: { rest: { limit: 50_000 } },
    };
    for (const seed of seedsOf(everyMs)) {
      const report = await probeVirtually(wide, { meanwhile: others(everyMs, seed, "prober") });
      expect(mistakes(report, wide)).toEqual([]);
    }
  });

  test("anybody, under any rules", { timeout: 600_000 }, async () => {
    const noise = fc.record({
      everyMs: fc.integer({ min: 3, max: 2000 }),
      seed: fc.integer({ min: 1, max: 1_000_000 }),
      user: fc.constantFrom("other", "prober"),
      queries: fc.boolean(),
      latency: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(anyRules, noise, async (random, { everyMs, seed, user, queries, latency }) => {
        const meanwhile = others(everyMs, seed, user, queries);
        const report = await probeVirtually(
          random,
          { meanwhile, latencyMs: () => latency },
          { allowance: { waitMs: 20_000, calls: 100 } },
        );
        expect(mistakes(report, random)).toEqual([]);
      }),
      // As often as the probe looks: five looks in a row saw one call each, and no sixth was left to the user.
      {
        numRuns: Number(process.env["PROBE_RUNS"] ?? 8),
        examples: [
          [
            {
              organization: { rest: { limit: 61, enforced: false } },
              user: { rest: { limit: 5 } },
              semantics: { refused: "uncounted" },
            },
            { everyMs: 105, seed: 382_689, user: "prober", queries: true, latency: 1 },
          ],
        ],
      },
    );
  });
});
