// Simulates a scenario under any policy to a trace of version 2, with calls and readings by the policy's quotas.
import type { Scenario } from "../src/scenario/scenario.ts";
import type { QuotaCall, QuotaTraceHeader } from "../src/trace/quota-record.ts";
import type { AnsweredCall } from "./answered-call.ts";
import { callsOf, headerOf, policyDeployment, type SimulateOptions, worldOf } from "./simulate.ts";
import { undecidedByPolicy } from "./undecided-answer.ts";

/** Simulated run under a policy. */
export interface QuotaSimulation {
  readonly header: QuotaTraceHeader;
  /** All sent calls, like `Simulation.calls`. */
  readonly calls: Iterable<QuotaCall>;
}

/**
 * Simulates a scenario that names a policy.
 * @throws the errors of `simulate` and of reading its `calls`; SpillwayError `POLICY_UNSUPPORTED` if a quota's
 *   algorithm can be described but not simulated
 */
export function simulateQuotas(scenario: Scenario, options: SimulateOptions = {}): QuotaSimulation {
  const world = worldOf(scenario, options);
  const { policy } = world.scenario;
  if (policy === undefined) throw new RangeError("this scenario names no policy: ask simulate");
  const { format, source, scenario: name, seed, target, startedAt, clock } = headerOf(world);
  const header: QuotaTraceHeader = {
    ...{ format, version: 2, source, scenario: name, seed, target, startedAt, clock },
    ...{ policy, complete: true, lost: 0 },
  };
  const undecided = (view: AnsweredCall) => undecidedByPolicy(policy, view);
  const calls = () => callsOf(world, (flights) => policyDeployment(world, policy, flights, true), undecided);
  return { header, calls: { [Symbol.iterator]: calls } };
}
