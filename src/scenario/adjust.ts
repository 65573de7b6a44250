// A scenario under other conditions: shorter, with other rules, from another start. Clients stay as they are.
import type { Rules } from "../rules/rules.ts";
import { longestMs } from "./mistakes.ts";
import type { Network } from "./network.ts";
import type { Scenario } from "./scenario.ts";

/** What a run may change of a scenario. */
export interface Adjustments {
  readonly seed?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Ms since the epoch. */
  readonly startAtMs?: number | undefined;
  readonly rules?: Rules | undefined;
  readonly network?: Network | undefined;
}

/**
 * The same scenario with what is given in place of its own.
 * @throws RangeError where a number is no whole number in its range; it names the field
 */
export function adjustScenario(scenario: Scenario, adjustments: Adjustments): Scenario {
  const { seed, durationMs, startAtMs, rules, network } = adjustments;
  const whole = (field: string, value: number, least: number, most: number): number => {
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    throw new RangeError(`${field} must be a whole number from ${least} to ${most}, got ${value}`);
  };
  return {
    ...scenario,
    seed: whole("seed", seed ?? scenario.seed, 0, Number.MAX_SAFE_INTEGER),
    durationMs: whole("durationMs", durationMs ?? scenario.durationMs, 1, longestMs),
    startAtMs: whole("startAtMs", startAtMs ?? scenario.startAtMs, 0, 8.64e15),
    rules: rules ?? scenario.rules,
    network: network ?? scenario.network,
  };
}
