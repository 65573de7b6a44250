// Verdicts on right deployments whose calls come to nothing: see verdicts.ts.
import { test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Fate, play, type World } from "./history.ts";
import { expectTold, judged, limits, options } from "./verdicts.ts";
import { workload } from "./workload.ts";

const fates: readonly Fate[] = ["timeout", "timeout-undecided", "bad-gateway", "failed", "lost", "unseen"];

test("clients give up, answers fail, lines are missing, users are unknown, limits are switched off and on", async () => {
  const texts: string[] = [];
  for (const [index, fate] of fates.entries()) {
    const drawn = workload(100 + index, { ...options, epochOnly: index % 2 === 0 });
    const world: World = {
      ...{ ...drawn, rules: parseRules({ ...limits, semantics: drawn.rules.semantics }), errorMs: index % 3 },
      flips: index % 2 === 0 ? [] : [{ atMs: 4000, org: "acme", scope: "rest", lookMs: 50 }],
      plans: drawn.plans.map((plan, at) =>
        at % 9 === 4 ? { ...plan, fate, anonymous: at % 2 === 0 } : plan,
      ),
    };
    texts.push(await judged(`right, ${fate}`, world, play(world, new Limiter(world.rules))));
  }
  await expectTold("by-fate", texts);
});
