// Writes answers by a policy: correct ones, or a fault's.
import type { WriteAnswer } from "../engine/store-limiter.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { shownAt, writeAnswer } from "../wire/write-answer.ts";
import type { FaultyQuotas } from "./fault.ts";

/**
 * Returns the writer of a deployment's answers.
 * @param faulty differences from correct answers
 */
export function sentBy(
  policy: Policy,
  { shownBy = policy, wire = wireOf(policy), tell, change }: Omit<FaultyQuotas, "store"> = {},
): WriteAnswer {
  return (right, nowMs, caller) => {
    const told = tell?.(right, caller, nowMs) ?? right;
    const answer = writeAnswer(wire, shownBy.quotas, told, shownAt(told, nowMs));
    return change?.(answer) ?? answer;
  };
}
