// A policy in the form that decisions need: names resolved to places, algorithms to integers, once.
import { unenforceable } from "../policy/as-window.ts";
import { costAsked, isSettled, usedQuotas } from "../policy/effective.ts";
import type { Cost, FixedWindow, Policy, Quota, Relation } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { type Grid, gridOf, windowProfile } from "./algorithms/fixed-window.ts";
import { bucketProfile } from "./algorithms/token-bucket.ts";
import type { CountProfile } from "./count-table.ts";

export interface CompiledQuota {
  readonly name: string;
  readonly place: number;
  readonly quota: Quota;
  /** Ends of its windows; `null` for a bucket. */
  readonly grid: Grid | null;
  readonly isWhole: boolean;
  readonly countsRefused: boolean;
  readonly chargedWithOthers: boolean;
  readonly isHeld: boolean;
  readonly isLate: boolean;
  readonly isSigned: boolean;
  /** Place of the quota whose `enforced` also holds for this one; its own place by default. */
  readonly enforcedBy: number;
  /** True if its key has every attribute. Each caller then has a count of its own, whose row is the caller. */
  readonly isOwn: boolean;
  /** Index among the quotas with the same value of `isOwn`. */
  readonly turn: number;
}

export interface CompiledOperation {
  readonly name: string;
  /** Places of its quotas, in the policy's order. */
  readonly quotas: readonly number[];
  /** Cost in each quota before the answer is known; `DECLARED` if the call declares it. */
  readonly costs: readonly number[];
  /** For each quota: true if the final cost is known beforehand. */
  readonly isFixed: readonly boolean[];
  readonly relation: Relation;
  /** True if all quotas are charged, or none: `all-or-nothing`. */
  readonly isTogether: boolean;
  /** True if a refused call is charged nowhere. */
  readonly isFree: boolean;
  readonly isSettled: boolean;
}

const DECLARED = -1;

/** @throws SpillwayError `POLICY_UNSUPPORTED` if a quota has an algorithm that the engine does not enforce */
export function requireEnforceable(policy: Policy): void {
  const { quotas, name } = policy;
  const problems = unenforceable(policy).map((quota) => ({
    path: `quotas.${quota}.algorithm.kind`,
    got: quote(quotas[quota]?.algorithm.kind),
    allowed: "fixed-window or token-bucket",
  }));
  if (problems.length > 0)
    throw new SpillwayError("POLICY_UNSUPPORTED", `the engine does not enforce all of ${quote(name)}`, {
      problems,
    });
}

/** @throws RangeError if the quota follows another quota's `enforced`, so that the other one must be set */
export function requireOwnEnforced({ quotas }: Policy, name: string): void {
  const enforced = quotas[name]?.enforced;
  if (typeof enforced === "object")
    throw new RangeError(`${name} refuses with ${enforced.with}: set that one`);
}

export function compiledQuotas(policy: Policy): CompiledQuota[] {
  const { quotas } = policy;
  const names = Object.keys(quotas);
  const turns = { own: 0, shared: 0 };
  return Object.entries(quotas).map(([name, quota], place) => {
    const { algorithm, charge, enforced, shown } = quota;
    const own = isOwn(policy, quota);
    return {
      name,
      place,
      quota,
      grid: algorithm.kind === "token-bucket" ? null : gridOf(algorithm as FixedWindow),
      isWhole: charge.fits === "whole",
      countsRefused: charge.refused === "counted",
      chargedWithOthers: charge.refusedByOther === "charged",
      isHeld: charge.when === "reserve-settle",
      isLate: charge.when === "completion",
      isSigned: shown.remaining === "signed",
      enforcedBy: typeof enforced === "object" ? names.indexOf(enforced.with) : place,
      isOwn: own,
      turn: turns[own ? "own" : "shared"]++,
    };
  });
}

/** Returns every attribute that a key names. */
export const attributesOf = ({ quotas }: Policy): string[] => [
  ...new Set(Object.values(quotas).flatMap(({ key }) => key)),
];

const isOwn = (policy: Policy, { key }: Quota): boolean => key.length === attributesOf(policy).length;

function isFreeWhenRefused({ quotas }: Policy, name: string): boolean {
  const { refused, refusedByOther } = (quotas[name] as Quota).charge;
  return refused === "nothing" && refusedByOther === "nothing";
}

export function compiledOperations(policy: Policy): CompiledOperation[] {
  const names = Object.keys(policy.quotas);
  return Object.entries(policy.operations).map(([name, { uses, relation }]) => {
    const used = usedQuotas(policy, name, {});
    const costs = used.map((quota) => uses[quota] as Cost);
    return {
      name,
      quotas: used.map((quota) => names.indexOf(quota)),
      costs: costs.map((cost) => costAsked(cost, DECLARED)),
      isFixed: costs.map((cost) => typeof cost === "number"),
      relation,
      isTogether: relation === "all-or-nothing",
      isFree: relation === "all-or-nothing" && used.every((quota) => isFreeWhenRefused(policy, quota)),
      isSettled: isSettled(policy, name),
    };
  });
}

/** Returns the numbers of a quota's algorithm. */
export const profileOf = ({ algorithm }: Quota): CountProfile =>
  algorithm.kind === "token-bucket" ? bucketProfile(algorithm) : windowProfile(algorithm as FixedWindow);
