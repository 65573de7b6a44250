// Our own engine under a policy, behind the interface by which laws check any limiter.
import { PolicyLimiter } from "../../engine/policy-limiter.ts";
import type { QuotaLimiter, QuotaLimiterFactory } from "../../engine/quota-limiter.ts";
import { storeLimiter } from "../../engine/store-limiter.ts";
import type { Policy } from "../../policy/policy.ts";
import { wireOf } from "../../policy/presets.ts";
import { writeAnswer } from "../../wire/write-answer.ts";

function engineLimiter(policy: Policy, limiter: PolicyLimiter): QuotaLimiter {
  const wire = wireOf(policy);
  return {
    ...storeLimiter(policy, limiter, (told, nowMs) => writeAnswer(wire, policy.quotas, told, nowMs)),
    snapshot: () => limiter.snapshot(),
  };
}

/** The engine as a limiter that claims every law. */
export const quotaEngine: QuotaLimiterFactory = {
  name: "engine",
  limits: "any",
  claims: "all",
  isExact: true,
  create: (policy) => engineLimiter(policy, new PolicyLimiter(policy)),
  restore: (policy, snapshot) => engineLimiter(policy, PolicyLimiter.restore(policy, snapshot)),
};
