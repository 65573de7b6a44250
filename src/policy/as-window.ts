// A policy that the engine can enforce as a whole: windows stand in for the kinds of quota that it lacks.
import type { Policy, Quota } from "./policy.ts";

/** Tells whether the engine enforces a quota's kind. */
const isEnforceable = ({ algorithm: { kind } }: Quota): boolean =>
  kind === "fixed-window" || kind === "token-bucket";

/** Returns the names of the quotas that the engine does not enforce. */
export const unenforceable = ({ quotas }: Pick<Policy, "quotas">): string[] =>
  Object.keys(quotas).filter((name) => !isEnforceable(quotas[name] as Quota));

/** A policy with its changes, in words. */
export interface Approximated {
  readonly policy: Policy;
  readonly changes: readonly string[];
}

/**
 * Replaces sliding logs and counters by windows that open with their first call, and leaves out limits of concurrent
 * calls.
 */
export function asWindows(policy: Policy): Approximated {
  const changes: string[] = [];
  const quotas: Record<string, Quota> = {};
  for (const [name, quota] of Object.entries(policy.quotas)) {
    const { algorithm } = quota;
    if (isEnforceable(quota)) quotas[name] = quota;
    else if (algorithm.kind === "concurrency") changes.push(`${name} (concurrent calls) is left out`);
    else if (algorithm.kind === "sliding-log" || algorithm.kind === "sliding-counter") {
      const { limit, windowSeconds } = algorithm;
      changes.push(`a window stands in for ${name} (${algorithm.kind})`);
      quotas[name] = {
        ...quota,
        algorithm: { kind: "fixed-window", limit, windowSeconds, anchor: "first-request", opens: "exact" },
      };
    }
  }
  const kept = (uses: Policy["operations"][string]["uses"]) =>
    Object.fromEntries(Object.entries(uses).filter(([name]) => Object.hasOwn(quotas, name)));
  const operations = Object.fromEntries(
    Object.entries(policy.operations)
      .map(([name, one]) => [name, { ...one, uses: kept(one.uses) }] as const)
      .filter(([, { uses }]) => Object.keys(uses).length > 0),
  );
  const routes = policy.routes.map((route) =>
    Object.hasOwn(operations, route.operation) || route.operation === "status"
      ? route
      : { ...route, operation: "other" },
  );
  return { policy: { ...policy, quotas, operations, routes }, changes };
}
