// A scenario under other conditions: shorter, with other rules, from another start. Clients stay as they are.
import type { Policy } from "../policy/policy.ts";
import type { Rules } from "../rules/rules.ts";
import { policyUse } from "./advice.ts";
import type { CallTemplate } from "./client.ts";
import { longestMs, Mistakes } from "./mistakes.ts";
import type { Network } from "./network.ts";
import type { Population, Scenario } from "./scenario.ts";

/** Changes that a run may make to a scenario. */
export interface Adjustments {
  readonly seed?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Start of virtual time, ms since the epoch. */
  readonly startAtMs?: number | undefined;
  readonly rules?: Rules | undefined;
  /** Limits of any API. They replace the scenario's rules. */
  readonly policy?: Policy | undefined;
  readonly network?: Network | undefined;
}

/**
 * Returns the scenario with the given adjustments in place of its own values. Clients stay as they are.
 * @throws SpillwayError `SCENARIO_INVALID`, naming every field that is wrong
 */
export function adjustScenario(scenario: Scenario, adjustments: Adjustments): Scenario {
  const mistakes = new Mistakes();
  mistakes.scenario("scenario", scenario);
  if (typeof adjustments !== "object" || adjustments === null)
    mistakes.add(
      "adjustments",
      adjustments,
      "an object of seed, durationMs, startAtMs, rules, policy, network",
    );
  mistakes.finish("this scenario cannot be adjusted");
  const { seed, durationMs, startAtMs, rules, policy, network } = adjustments;
  const { policy: own, ...rest } = scenario;
  const adjusted: Scenario = {
    ...rest,
    seed: mistakes.whole("seed", seed ?? scenario.seed, 0, Number.MAX_SAFE_INTEGER),
    durationMs: mistakes.whole("durationMs", durationMs ?? scenario.durationMs, 1, longestMs),
    startAtMs: mistakes.whole("startAtMs", startAtMs ?? scenario.startAtMs, 0, 8.64e15),
    rules: rules === undefined ? scenario.rules : mistakes.rules("rules", rules),
    ...limitsOf(rules === undefined ? (policy ?? own) : undefined),
    network: network ?? scenario.network,
  };
  for (const population of adjusted.populations)
    for (const call of population.behaviour.calls)
      for (const [member, ...mistake] of costMistakes(population, call, adjusted.policy))
        mistakes.add(`populations.${population.name}.${call.name}.${member}`, ...mistake);
  mistakes.finish("this scenario cannot be adjusted");
  return adjusted;
}

/** Returns the costs of a call that the run's limits cannot count. */
function costMistakes(
  population: Population,
  call: CallTemplate,
  policy: Policy | undefined,
): [member: "cost" | "actual", got: number, allowed: string][] {
  if (policy === undefined)
    return call.scope === "rest" && call.kind === "call" && call.cost !== 1
      ? [["cost", call.cost, "1 under rules; other costs go with --policy"]]
      : [];
  return Object.entries(policyUse(population, call, policy).uses ?? {}).flatMap(([quota, cost]) =>
    typeof cost === "object" && call.actual > cost.atMost
      ? [["actual", call.actual, `at most ${cost.atMost}, which the policy says of ${quota}`]]
      : [],
  );
}

const limitsOf = (policy: Policy | undefined): Partial<Pick<Scenario, "rules" | "policy">> =>
  policy === undefined ? {} : { rules: null, policy };
