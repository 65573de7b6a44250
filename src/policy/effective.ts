// A policy applied to one caller and one operation.
import type { Cost, Policy, Quota, QuotaAlgorithm } from "./policy.ts";

/** Returns a quota with the overrides of a caller; later overrides win (POLICY.md §1). */
export function quotaFor(policy: Policy, name: string, caller: Readonly<Record<string, string>>): Quota {
  const own = policy.quotas[name];
  if (own === undefined) throw new RangeError(`no quota ${name}`);
  let quota: Quota = own;
  for (const { match, quotas } of policy.overrides) {
    const changed = quotas[name];
    if (changed === undefined || Object.entries(match).some(([of, value]) => caller[of] !== value)) continue;
    const { enforced = quota.enforced, ...limits } = changed;
    quota = { ...quota, enforced, algorithm: { ...quota.algorithm, ...limits } as Quota["algorithm"] };
  }
  return quota;
}

/** Returns the quotas whose keys a caller fills. */
export const filledQuotas = ({ quotas }: Policy, caller: Readonly<Record<string, string>>): string[] =>
  Object.keys(quotas).filter((name) =>
    quotas[name]?.key.every((attribute) => caller[attribute] !== undefined),
  );

/** Returns the quotas that a call of an operation uses, or that a status may show, in the policy's order. */
export function usedQuotas(
  policy: Policy,
  operation: string,
  caller: Readonly<Record<string, string>>,
): string[] {
  if (operation === "status") return filledQuotas(policy, caller);
  const uses = policy.operations[operation]?.uses ?? {};
  return Object.keys(policy.quotas).filter((name) => uses[name] !== undefined);
}

/** Returns the most that a quota can ever have room for. */
export const limitOf = (algorithm: QuotaAlgorithm): number =>
  algorithm.kind === "token-bucket" ? algorithm.capacity : algorithm.limit;

/** Returns the length of a window, or the time to fill an empty bucket, ms; 0 for calls at the same time. */
export function windowMsOf({ algorithm }: Pick<Quota, "algorithm">): number {
  if (algorithm.kind === "token-bucket")
    return Math.ceil((algorithm.capacity * algorithm.refill.everyMs) / algorithm.refill.amount);
  return "windowSeconds" in algorithm ? algorithm.windowSeconds * 1000 : 0;
}

/** Returns what a call asks of a quota before its answer is known. @param declared cost that the call declares */
export const costAsked = <Declared>(cost: Cost, declared: Declared): number | Declared =>
  cost === "declared" ? declared : typeof cost === "number" ? cost : cost.atMost;

/** Facts of a call by which a refusal that names no quota tells which one refused. */
export interface RefusalFacts {
  /** Room that the call needs in each quota that may refuse it; `null` where nobody knows it. */
  readonly needs: Readonly<Record<string, number | null>>;
  /** True if a quota may charge the call though it is refused, so that it shows less than before. */
  readonly isCharged: boolean;
}

/** Returns the facts of a call's refusal. @param declared cost that the call declares; `null` if it is not known */
export function refusalFacts(
  policy: Policy,
  operation: string,
  caller: Readonly<Record<string, string>>,
  declared: number | null,
): RefusalFacts {
  const { uses = {}, relation } = policy.operations[operation] ?? {};
  const needs: Record<string, number | null> = {};
  let isCharged = relation !== "all-or-nothing";
  for (const [name, cost] of Object.entries(uses)) {
    const { charge, enforced } = quotaFor(policy, name, caller);
    isCharged ||= charge.refused === "counted" || charge.refusedByOther === "charged";
    if (enforced !== false) needs[name] = charge.fits === "any-left" ? 1 : costAsked(cost, declared);
  }
  return { needs, isCharged };
}

/** Tells whether an admitted call of an operation is completed later (POLICY.md §4). */
export function isSettled({ operations, quotas }: Policy, operation: string): boolean {
  return Object.entries(operations[operation]?.uses ?? {}).some(
    ([quota, cost]) => typeof cost !== "number" || quotas[quota]?.charge.when === "completion",
  );
}
