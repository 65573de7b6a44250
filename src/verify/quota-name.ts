// Names of quotas, in the forms that verdicts and laws need.
import type { Owner, Scope } from "../rules/rules.ts";
import type { Whose } from "../trace/whose.ts";

export interface QuotaName {
  /** Name in a verdict. */
  readonly told: Whose;
  /** `rest` if each call costs 1. */
  readonly scope: Scope;
  /** `organization` if refusals of other quotas may be charged to it. */
  readonly owner: Owner;
  /** True if no other quota of its calls keeps callers further apart: callers that share a count by mistake show here. */
  readonly isNarrowest: boolean;
  /** True if calls that do not use it may be charged to it by mistake: some use other quotas alone. */
  readonly isMixable: boolean;
  /** Unit of its counts, singular: `request`. */
  readonly unit: string;
}

const units: Readonly<Record<Scope, string>> = { rest: "request", graphql: "point" };

/** Returns the name of a quota by the rules of version 1. @param user `null` for the organization's quota */
export const rulesQuota = (org: string, user: string | null, scope: Scope): QuotaName => ({
  told: { org, user, scope },
  scope,
  owner: user === null ? "organization" : "user",
  isNarrowest: user !== null,
  isMixable: true,
  unit: units[scope],
});
