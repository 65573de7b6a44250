// The names that headers and refusals give the four windows of a call (SPEC.md §1, §5), and what is no name at all.
import type { Owner, Scope } from "../rules/rules.ts";

/** The name of each owner's window. */
export const windowNames = {
  rest: { organization: "rest", user: "rest_user" },
  graphql: { organization: "graphql", user: "graphql_user" },
} as const satisfies Readonly<Record<Scope, Readonly<Record<Owner, string>>>>;

const owners = new Map<unknown, Owner>(
  Object.values(windowNames).flatMap((names) =>
    (Object.keys(names) as Owner[]).map((owner) => [names[owner], owner]),
  ),
);

/** Returns the owner of the window of a name; `null` if it is none of the four. */
export const ownerNamed = (name: unknown): Owner | null => owners.get(name) ?? null;

/** One token of RFC 9110. A list, as a doubled header makes one, is none. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Returns whether a scope header names a quota that is none of the four: nothing is known of that one (SPEC.md §5).
 * One of the four in other letters is no other quota, and what is not one token is no name.
 */
export function namesOtherQuota(name: string | number): boolean {
  const text = String(name);
  return token.test(text) && !owners.has(text.toLowerCase());
}
