// A policy that the engine can enforce as a whole: windows stand in for the kinds of quota that it lacks.
import type { Policy, Quota } from "./policy.ts";
import type { WireData } from "./wire-data.ts";

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
  for (const [name, quota] of Object.entries(quotas)) {
    const { enforced } = quota;
    // What refused while a limit did that is left out follows that limit's own switch.
    if (typeof enforced === "object" && !Object.hasOwn(quotas, enforced.with))
      quotas[name] = { ...quota, enforced: policy.quotas[enforced.with]?.enforced ?? true };
  }
  const kept = <T>(named: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(named).filter(([name]) => Object.hasOwn(quotas, name)));
  const operations = Object.fromEntries(
    Object.entries(policy.operations)
      .map(([name, one]) => [name, { ...one, uses: kept(one.uses) }] as const)
      .filter(([, { uses }]) => Object.keys(uses).length > 0),
  );
  const overrides = policy.overrides.map((each) => ({ ...each, quotas: kept(each.quotas) }));
  const routes = policy.routes.map((route) =>
    Object.hasOwn(operations, route.operation) || route.operation === "status"
      ? route
      : { ...route, operation: "other" },
  );
  const wire = typeof policy.wire === "string" ? policy.wire : wireOfNames(policy.wire, Object.keys(quotas));
  return { policy: { ...policy, quotas, operations, overrides, routes, wire }, changes };
}

/** Returns a wire format whose rows name these quotas alone, without rows that name none of them. */
const wireOfNames = (wire: WireData, names: readonly string[]): WireData => ({
  ...wire,
  readings: wire.readings.flatMap(({ quotas, ...row }) => {
    const left = quotas?.filter((name) => names.includes(name));
    return left === undefined ? [row] : left.length === 0 ? [] : [{ ...row, quotas: left }];
  }),
});
