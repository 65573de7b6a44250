// A policy that builds on another one: it says what differs (POLICY.md §9).
import { isPlainObject } from "../rules/plain-object.ts";

/**
 * Returns a document with all that its base says and it does not. Objects are taken member by member; a list or a value
 * stands in place of the base's, and `null` takes a member out.
 * @param base as parsed from JSON
 */
export function onBase(base: unknown, { base: _, ...own }: Readonly<Record<string, unknown>>): unknown {
  return merged(base, own);
}

function merged(base: unknown, own: unknown): unknown {
  if (!isPlainObject(base) || !isPlainObject(own)) return own;
  const members = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(own)) {
    if (value === null) members.delete(name);
    else members.set(name, members.has(name) ? merged(members.get(name), value) : value);
  }
  return Object.fromEntries(members);
}
