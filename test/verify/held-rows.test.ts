// Windows that hold few of their rows: the verdict is the same to the last word, since what is stopped after its rows had gone
// is judged by another reading.
//   HISTORIES=3000 npx vitest run --config test/vitest.config.ts test/verify/held-rows.test.ts
// @module-tag long
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { brokenDeployments } from "./broken.ts";
import { allFates, worlds } from "./drawn-worlds.ts";
import { judgeBoth, runs, seen } from "./held-rows.ts";
import { play } from "./history.ts";
import { workload } from "./workload.ts";

describe("the verdict does not depend on how many rows are held", () => {
  test("in random histories of the engine", async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds({ fates: allFates, anonymous: true, plansMost: 90 }),
        fc.constantFrom(2, 3, 8, 16),
        fc.constantFrom(1, 1, 7),
        (world, rowsMost, each) => judgeBoth(play(world, new Limiter(world.rules)), rowsMost, each),
      ),
      { numRuns: runs },
    );
  });

  test.each(brokenDeployments.map((broken) => [broken.fault, broken] as const))(
    "in deployments with %s",
    async (_, broken) => {
      for (let seed = 1; seed <= Math.max(3, runs / 20); seed++) {
        const graphqlCharge = (["prepaid", "reserved", "postpaid"] as const)[seed % 3] ?? "prepaid";
        const options = { calls: 160, graphqlCharge, showsRules: true, epochOnly: broken.epochOnly ?? false };
        const world = workload(seed, options);
        const { header, lines } = play(world, broken.make(world.rules));
        const changed = lines.map(({ line, call }) => ({ line, call: broken.change?.(call) ?? call }));
        await judgeBoth({ header, lines: changed }, 2 + (seed % 7));
      }
    },
  );

  test("in most of which rows went, and in many of which one reading was enough", () => {
    expect(seen.letGo).toBeGreaterThan(100);
    expect(seen.again).toBeGreaterThan(50);
    expect(seen.letGo - seen.again).toBeGreaterThan(25);
  });
});
