// Whose window it is: in a trace of version 1 by organization, user and scope, in one of version 2 by quota and key.
import type { Shape } from "../policy/forms.ts";
import type { quotaOwner, rulesOwner } from "./shapes.ts";

export type RulesOwner = Shape<typeof rulesOwner>;
export type QuotaOwner = Shape<typeof quotaOwner>;

/** Whose window it is. */
export type Whose = RulesOwner | QuotaOwner;

/** Returns the members of a violation, or of another record, that say whose window it is. */
export function whoseOf(record: Whose): Whose {
  if ("quota" in record) return { quota: record.quota, key: record.key };
  return { org: record.org, user: record.user, scope: record.scope };
}
