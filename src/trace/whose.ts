// The owner of a window: organization, user and scope in a trace of version 1; quota and key in one of version 2.
import type { Shape } from "../policy/forms.ts";
import type { quotaOwner, rulesOwner } from "./shapes.ts";

export type RulesOwner = Shape<typeof rulesOwner>;
export type QuotaOwner = Shape<typeof quotaOwner>;

/** Owner of a window. */
export type Whose = RulesOwner | QuotaOwner;

/** Returns the members of a violation, or of another record, that name the window's owner. */
export function whoseOf(record: Whose): Whose {
  if ("quota" in record) return { quota: record.quota, key: record.key };
  return { org: record.org, user: record.user, scope: record.scope };
}
