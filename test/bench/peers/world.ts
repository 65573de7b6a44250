// The world that simulators are compared in: organizations of pollers and workers that wait for the reset when they are
// refused, a few in a hundred calls. `world.go` is the same world by hand; both must count the same.
import { defineScenario, poller, rest, waitReset, worker } from "../../../src/scenario/index.ts";
import type { PopulationInput, Scenario } from "../../../src/scenario/scenario.ts";

const organizations = 20;

/** @param clients a multiple of 40 */
export function worldOf(clients: number, seconds: number): Scenario {
  const populations: Record<string, PopulationInput> = {};
  const each = clients / organizations / 2;
  const call = rest("/v2/organizations/:org/pipelines");
  const onRefused = waitReset({ of: "both", jitter: { least: 0, most: "5s" } });
  for (let index = 0; index < organizations; index++) {
    const common = { clients: each, organization: `org-${index}`, onRefused };
    const watch = poller({ every: "30s", call });
    const work = worker({ calls: [{ call }], think: { least: "5s", most: "15s" } });
    populations[`pollers-${index}`] = { ...common, startWithin: "30s", behaviour: watch };
    populations[`workers-${index}`] = { ...common, startWithin: "10s", behaviour: work };
  }
  return defineScenario({
    name: "simulator-bench",
    description: "Pollers and workers under a limit that is a little too low",
    seed: 1,
    duration: `${seconds}s`,
    // A poller calls twice and a worker some six times a minute.
    rules: { organization: { rest: { limit: Math.floor(each * 7.8) } } },
    populations,
  });
}
