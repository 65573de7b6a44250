// A scenario under other conditions: shorter, with other rules, from another start. Clients stay as they are.
import type { Policy } from "../policy/policy.ts";
import type { Rules } from "../rules/rules.ts";
import { longestMs, Mistakes } from "./mistakes.ts";
import type { Network } from "./network.ts";
import type { Scenario } from "./scenario.ts";

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
  if (adjusted.policy === undefined)
    for (const { name, behaviour } of adjusted.populations)
      for (const call of behaviour.calls)
        if (call.scope === "rest" && call.kind === "call" && call.cost !== 1)
          mistakes.add(
            `populations.${name}.${call.name}.cost`,
            call.cost,
            "1 under rules; other costs go with --policy",
          );
  mistakes.finish("this scenario cannot be adjusted");
  return adjusted;
}

const limitsOf = (policy: Policy | undefined): Partial<Pick<Scenario, "rules" | "policy">> =>
  policy === undefined ? {} : { rules: null, policy };
