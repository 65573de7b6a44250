// Verdicts on right deployments under each value of each switch: see verdicts.ts.
import { test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { switches, switchNames } from "../../src/rules/switches.ts";
import { play } from "./history.ts";
import { expectTold, judged, limits, options } from "./verdicts.ts";
import { workload } from "./workload.ts";

test("right deployments, under every switch", async () => {
  const texts: string[] = [];
  const values = switchNames.flatMap((name) => switches[name].values.map((value) => ({ [name]: value })));
  for (const [seed, semantics] of values.entries()) {
    const world = {
      ...workload(seed, { ...options, epochOnly: true }),
      rules: parseRules({ ...limits, semantics }),
    };
    texts.push(
      await judged(`right, ${JSON.stringify(semantics)}`, world, play(world, new Limiter(world.rules))),
    );
  }
  await expectTold("by-switch", texts);
});
