// Whose window it is: in a trace of version 1 by organization, user and scope, in one of version 2 by quota and key.
import type { Scope } from "../rules/rules.ts";

/** A window's quota by the rules of version 1. */
export interface RulesOwner {
  readonly org: string;
  /** The user whose window it is; `null` for an organization's. */
  readonly user: string | null;
  readonly scope: Scope;
}

/** A window's quota by a policy: its name, and the values of its key. */
export interface QuotaOwner {
  readonly quota: string;
  readonly key: Readonly<Record<string, string>>;
}

/** Whose window it is. */
export type Whose = RulesOwner | QuotaOwner;

/** Returns the members of a violation, or of another record, that say whose window it is. */
export function whoseOf(record: Whose): Whose {
  if ("quota" in record) return { quota: record.quota, key: record.key };
  return { org: record.org, user: record.user, scope: record.scope };
}
