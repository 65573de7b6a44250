// Our own engine, under rules and under a policy, behind the interfaces by which laws check any limiter.
import type { LimiterAdapter, LimiterFactory } from "../engine/adapter.ts";
import { storeAdapter } from "../engine/http-answer.ts";
import { Limiter } from "../engine/limiter.ts";
import { PolicyLimiter } from "../engine/policy-limiter.ts";
import type { QuotaLimiter, QuotaLimiterFactory } from "../engine/quota-limiter.ts";
import { storeLimiter } from "../engine/store-limiter.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { Rules } from "../rules/rules.ts";
import { writeAnswer } from "../wire/write-answer.ts";

/**
 * Makes an adapter of the engine's limiter, with the HTTP answers that a service would send.
 * @param rules rules that `limiter` was made with
 */
export function engineAdapter(rules: Rules, limiter: Limiter): LimiterAdapter {
  return { ...storeAdapter(rules, limiter), snapshot: () => limiter.snapshot() };
}

/** The engine as a limiter that claims every law. */
export const engineFactory: LimiterFactory = {
  name: "engine",
  algorithm: "fixed-window",
  claims: "all",
  create: (rules) => engineAdapter(rules, new Limiter(rules)),
  restore: (rules, snapshot) => engineAdapter(rules, Limiter.restore(rules, snapshot)),
};

function engineLimiter(policy: Policy, limiter: PolicyLimiter): QuotaLimiter {
  const wire = wireOf(policy);
  return {
    ...storeLimiter(policy, limiter, (told, nowMs) => writeAnswer(wire, policy.quotas, told, nowMs)),
    snapshot: () => limiter.snapshot(),
  };
}

/** The engine by a policy, as a limiter that claims every law. */
export const quotaEngine: QuotaLimiterFactory = {
  name: "engine",
  limits: "any",
  claims: "all",
  isExact: true,
  create: (policy) => engineLimiter(policy, new PolicyLimiter(policy)),
  restore: (policy, snapshot) => engineLimiter(policy, PolicyLimiter.restore(policy, snapshot)),
};
