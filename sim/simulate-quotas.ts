// A scenario under any policy, in virtual time, as a trace of version 2: calls and readings by the policy's quotas.
import type { Policy } from "../src/policy/policy.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import type { QuotaCall, QuotaTraceHeader } from "../src/trace/quota-record.ts";
import { AnsweredCall } from "./answered-call.ts";
import { FaultyQuotaDeployment } from "./faulty-quotas.ts";
import { FlightTable } from "./flight-table.ts";
import { PolicyDeployment } from "./policy-deployment.ts";
import { headerOf, type SimulateOptions, simulatorOf, type World, worldOf } from "./simulate.ts";

/** A simulated run under a policy. */
export interface QuotaSimulation {
  readonly header: QuotaTraceHeader;
  /** As those of `Simulation`. */
  readonly calls: Iterable<QuotaCall>;
}

/**
 * Simulates a scenario that names a policy.
 * @throws what `simulate` and reading its `calls` throw; SpillwayError `POLICY_UNSUPPORTED` where a quota has an
 *   algorithm that is described alone
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
  return { header, calls: { [Symbol.iterator]: () => callsOf(world, policy) } };
}

function* callsOf(world: World, policy: Policy): Generator<QuotaCall, void> {
  const flights = new FlightTable();
  const { fault, scenario } = world;
  const deployment =
    fault === undefined
      ? new PolicyDeployment(policy, flights, true)
      : new FaultyQuotaDeployment(policy, fault, scenario.seed, flights);
  const simulator = simulatorOf(world, flights, deployment);
  const view = new AnsweredCall(simulator, flights);
  for (let flight = simulator.next(); flight >= 0; flight = simulator.next()) {
    view.show(flight);
    const { organization, user } = view.seat;
    const caller = deployment.caller(organization, user);
    yield {
      sent: view.sentMs,
      received: view.receivedMs,
      client: view.client,
      call: view.number,
      ...deployment.quotaAnswer(flight, caller, view.call, view.isDecided, view.status),
      wanted: view.wantedMs,
      attempt: view.attempt,
    };
  }
}
