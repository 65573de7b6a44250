import { type Owner, type Scope, scopes } from "../rules/rules.ts";

/** Names of the quotas of the API of SPEC.md by scope and owner, in the order in which refusals name them. */
export const quotaNames = {
  rest: { organization: "rest", user: "rest_user" },
  graphql: { organization: "graphql", user: "graphql_user" },
} as const satisfies Record<Scope, Record<Owner, string>>;

/** Returns the scope of a quota of the API of SPEC.md. */
export const scopeOf = (quota: string): Scope =>
  scopes.find((scope) => Object.values<string>(quotaNames[scope]).includes(quota)) ?? "rest";
