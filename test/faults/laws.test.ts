// The laws catch every fault that they are named for, whatever the seed; and the same deployments without a
// fault they do not accuse.
// @module-tag long
import { describe, expect, test } from "vitest";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { faultFactory, faultyAdapter } from "../../src/faults/factory.ts";
import { faultyRules } from "../../src/faults/rules-store.ts";
import { checkLaws, type LimiterLawName, limiterLawNames } from "../../src/laws/index.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { expectKept } from "../laws/expectations.ts";
import { controls, waitingControl } from "./controls.ts";

/**
 * The law that finds a counterexample in 100 runs, and in which run. A few runs of each law are tried before many: most
 * faults show in the first run of some law. What is found is not made smaller.
 */
async function caughtBy(name: string, seed: number): Promise<{ law: LimiterLawName; run: number } | null> {
  const factory = faultFactory(parseFault(name), seed);
  for (const runs of [2, 10, 100])
    for (const law of limiterLawNames) {
      const found = new AbortController();
      const { ok, laws } = await checkLaws(factory, {
        seed,
        runs,
        laws: [law],
        signal: found.signal,
        onProgress({ shrinking }) {
          if (shrinking) found.abort();
        },
      });
      if (!ok) return { law, run: laws[0]?.runs ?? 0 };
    }
  return null;
}

const checked = faults.filter(({ nets }) => nets.includes("P"));

test.each(checked.map(({ name }, index) => [name, index % 2 === 0 ? 1 : -7] as const))(
  "the laws catch %s in 100 runs of seed %i",
  async (name, seed) => {
    expect(await caughtBy(name, seed)).not.toBeNull();
  },
);

describe.each([...controls, waitingControl])("the laws accuse nothing of $name", ({ make }) => {
  // Every fault above shows in at most 6 runs of some law, most in the first.
  test("in 8 runs of seed 88", async () => {
    const factory = {
      name: "a control",
      algorithm: "fixed-window" as const,
      claims: "all" as const,
      create: (rules: Rules) => {
        const policy = policyOf(rules);
        return faultyAdapter(rules, faultyRules(policy, make(policy)));
      },
    };
    expectKept(
      await checkLaws(factory, {
        seed: 88,
        runs: 8,
        laws: limiterLawNames.filter((law) => law !== "snapshot-equals"),
      }),
    );
  });
});

const measured = Number(process.env["MEASURE"] ?? 0);

if (measured > 0)
  test("which law finds which fault, over the seeds", { timeout: 3_600_000 }, async () => {
    const rows: Record<string, Record<string, string | number>> = {};
    for (const { name } of faults) {
      const found = new Map<string, number>();
      for (let seed = 1; seed <= measured; seed++) {
        const law = (await caughtBy(name, seed))?.law ?? "none";
        found.set(law, (found.get(law) ?? 0) + 1);
      }
      rows[name] = { laws: [...found].map(([law, count]) => `${law} ${count}`).join(", ") };
    }
    console.table(rows);
  });
