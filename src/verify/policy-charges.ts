// What a call of a trace of version 2 asks of a quota, and what it may have charged there.
import type { Cost } from "../policy/policy.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import type { CallRole, Counted } from "./mark.ts";
import type { Used } from "./policy-answers.ts";
import type { PolicyQuotaJudge } from "./policy-quotas.ts";
import type { Terms } from "./terms.ts";
import type { UnreadCall } from "./unread.ts";

/** Returns the units that a call asks of a quota, and those charged in the end if known. */
export function askedOf(
  { cost, actual, outcome }: QuotaCall,
  of: Cost,
  { quota }: PolicyQuotaJudge,
): Pick<Used, "asked" | "cost" | "actual"> {
  if (typeof of === "number") return { asked: of, cost: of, actual: of };
  const asked = of === "declared" ? cost : of.atMost;
  const known = quota.charge.when === "admission" ? asked : outcome === "admitted" ? (actual ?? null) : null;
  return { asked: asked ?? Number.POSITIVE_INFINITY, cost: asked, actual: known };
}

/**
 * Returns the terms of a call's charge if another quota refused it. Under `each-alone`, it is unknown whether this
 * quota had room. Under `first-refusal-stops`, quotas before the refusing one were charged, later ones not; where no
 * quota is named, it is unknown. Under both, a quota that charges at completion was not charged, as nothing completed.
 */
export function termsOf(
  { operation, outcome, by }: QuotaCall,
  judge: PolicyQuotaJudge,
  used: readonly Used[],
): Terms {
  const { terms } = judge;
  const relation = judge.relationOf(operation);
  if (outcome !== "refused" || by === judge.name || relation === "all-or-nothing") return terms;
  if (judge.quota.charge.when === "completion") return { ...terms, refusedByUser: "charges-nothing" };
  if (by === undefined || relation === "each-alone") return { ...terms, refusedByUser: null };
  const place = (name: string): number => used.findIndex((each) => each.judge.name === name);
  return {
    ...terms,
    refusedByUser: place(judge.name) < place(by) ? "charges-organization" : "charges-nothing",
  };
}

/**
 * Reads from an answered call the facts that tell its charge to a quota.
 * @param quotas quotas of the policy, by name
 */
export function countedBy(
  { operation, outcome, status, by, via }: QuotaCall,
  { asked, cost, actual, judge }: Used,
  quotas: ReadonlyMap<string, unknown>,
): Counted & { readonly isVague: boolean } {
  const isCall = operation !== "status" && operation !== "other" && outcome !== "exempt";
  const role: CallRole =
    operation === "status" ? "status" : !isCall ? "other" : outcome === "refused" ? "refused" : "admitted";
  const isRefused = role === "refused";
  const other = judge.owner === "user" ? "organization" : "user";
  const refusedBy = !isRefused || by === undefined ? null : by === judge.name ? judge.owner : other;
  return {
    role,
    refusedBy,
    cost,
    asked: isCall ? asked : 0,
    actual,
    // No policy says yet what a 4xx costs.
    sure: isCall && !isRefused && status < 400 && via === undefined,
    // A refusal by something other than a quota may come after a charge, or before it.
    isVague: isCall && (via !== undefined || (isRefused && by !== undefined && !quotas.has(by))),
  };
}

/**
 * Returns what a refusal refused if it is this quota's own: it names it, or its call uses no other; otherwise `null`. A
 * status of 500 or more names nothing: a failure may answer alike.
 */
export function refusalOf(
  { by, via, status }: QuotaCall,
  judge: PolicyQuotaJudge,
  used: readonly Used[],
  { role, cost }: Counted,
): UnreadCall["refused"] {
  const isOwn = by === judge.name || (by === undefined && used.length === 1);
  return role === "refused" && isOwn && via === undefined && cost !== null
    ? { cost, isNamed: by !== undefined && status < 500 }
    : null;
}
