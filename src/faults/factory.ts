// Makes limiters with a fault, for the laws: `check --fault`.
import type { Asked, LimiterAdapter, LimiterFactory } from "../engine/adapter.ts";
import { answerTo, storeAdapter } from "../engine/http-answer.ts";
import type { QuotaLimiterFactory } from "../engine/quota-limiter.ts";
import { storeLimiter } from "../engine/store-limiter.ts";
import { limiterLawNames } from "../rules/laws.ts";
import type { Rules } from "../rules/rules.ts";
import { type ChosenFault, faultText, injectFault, injectQuotaFault } from "./choice.ts";
import type { Answered, Faulty } from "./fault.ts";
import { seededRandom } from "./random.ts";
import { sentBy } from "./sent.ts";

/**
 * Returns a factory of limiters with this fault. The same seed makes the same limiters.
 * @throws SpillwayError `FAULT_INVALID` from `create`, if the rules do not suit the fault
 */
export function faultFactory(chosen: ChosenFault, seed: number): LimiterFactory {
  const { semantics } = chosen.fault;
  return {
    name: `a limiter with ${faultText(chosen)}`,
    algorithm: "fixed-window",
    claims: "all",
    ...(semantics === undefined ? {} : { semantics }),
    create: (rules) => faultyAdapter(rules, injectFault(chosen, rules, seededRandom(seed))),
  };
}

/**
 * Returns a factory of limiters by a policy with this fault. The same seed makes the same limiters.
 * @throws SpillwayError `FAULT_INVALID` from `create`, if the policy cannot have it
 */
export function quotaFaultFactory(chosen: ChosenFault, seed: number): QuotaLimiterFactory {
  return {
    name: `a limiter with ${faultText(chosen)}`,
    limits: "any",
    // The limiter takes no snapshots.
    claims: limiterLawNames.filter((law) => law !== "snapshot-equals"),
    isExact: true,
    create(policy) {
      const faulty = injectQuotaFault(chosen, policy, seededRandom(seed));
      return storeLimiter(policy, faulty.store, sentBy(policy, faulty));
    },
  };
}

/** Returns a deployment as the laws see it, with its answers. It takes no snapshots: they would lose the fault. */
export function faultyAdapter(rules: Rules, { store, change }: Faulty): LimiterAdapter {
  return {
    ...storeAdapter(rules, store),
    answer(asked, nowMs) {
      const answer = answerTo(rules, store, asked, nowMs);
      return answer === null || change === undefined ? answer : change(answer, aboutOf(asked, nowMs));
    },
  };
}

function aboutOf(asked: Asked, nowMs: number): Answered {
  if (asked.kind === "status")
    return { kind: "status", organization: asked.organization, user: asked.user, scope: "rest", nowMs };
  const { organization, user, scope } = asked.call;
  return { kind: "call", organization, user, scope, nowMs };
}
