// Plans, word for word, with a digest of the whole result: one axis and two, an end of each kind, storms, retry policies
// side by side, and what cannot be said. `npm test -- test/plan/pinned.test.ts -u` writes the files of `pinned/` anew; read
// the difference.
// @module-tag long
import { expect, test } from "vitest";
import ciFleet from "../../scenarios/ci-fleet.ts";
import herdOfTheDay from "../../scenarios/herd.ts";
import { type PlanOptions, plan } from "../../src/plan/plan.ts";
import { renderPlanMarkdown } from "../../src/report/plan-documents.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { digestOf } from "../support/digest.ts";
import { crowd, hammering, steady } from "./worlds.ts";

const minutes = (scenario: Scenario, count: number): Scenario =>
  adjustScenario(scenario, { durationMs: count * 60_000 });

const plans: Readonly<Record<string, readonly [Scenario, PlanOptions]>> = {
  "largest crowd": [crowd(), { vary: ["crowd.clients=1..60"], until: ["refused==0"] }],
  "smallest limit": [
    crowd({ clients: 25 }),
    { vary: ["rules.organization.rest.limit=1..100"], until: ["refused==0"] },
  ],
  "two axes": [
    minutes(herdOfTheDay, 2),
    {
      vary: ["herd.clients=5..40", "rules.organization.rest.limit=100..300"],
      until: ["refusedShare<10%"],
      replications: 8,
    },
  ],
  "fleet by its waits": [
    minutes(ciFleet, 4),
    {
      vary: ["agents.clients=5..60"],
      until: ["agents.refusedShare<2%", "agents.waitP95Ms<30000"],
      replications: 8,
      inRuns: 0.5,
    },
  ],
  "fleet, policies side by side": [
    minutes(ciFleet, 3),
    {
      vary: ["agents.clients=20,40"],
      until: ["refusedShare<20%"],
      compare: true,
      replications: 6,
      inRuns: 0.5,
    },
  ],
  "storm of steady calls": [steady(), { storm: "burst", replications: 6 }],
  "storm of those who hammer": [hammering(), { storm: "outage", replications: 6 }],
};

test.each(Object.entries(plans))("%s", async (name, [scenario, options]) => {
  const result = plan(scenario, options);
  const digest = digestOf(result, 16);
  await expect(`${digest}\n\n${renderPlanMarkdown(result)}`).toMatchFileSnapshot(
    `./pinned/${name.replaceAll(/\W+/g, "-")}.md`,
  );
});
