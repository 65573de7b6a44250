// Quotas by name: as a verdict tells them, and as their laws speak of them.
import type { Owner, Scope } from "../rules/rules.ts";
import type { Whose } from "../trace/whose.ts";

export interface QuotaName {
  /** As a verdict names it. */
  readonly told: Whose;
  /** `rest` where each call costs 1. */
  readonly scope: Scope;
  /** `organization` where refusals of other quotas may be charged to it. */
  readonly owner: Owner;
  /** Unit of its counts, one of them: `request`. */
  readonly unit: string;
}

const units: Readonly<Record<Scope, string>> = { rest: "request", graphql: "point" };

/** Name of a quota by the rules of version 1. @param user `null` for the organization's */
export const rulesQuota = (org: string, user: string | null, scope: Scope): QuotaName => ({
  told: { org, user, scope },
  scope,
  owner: user === null ? "organization" : "user",
  unit: units[scope],
});
