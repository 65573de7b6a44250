// A policy that builds on another one and holds only the differences (POLICY.md §9).
import { isPlainObject } from "../rules/plain-object.ts";
import { presets } from "./presets.ts";

/**
 * Returns a document completed by its base. Objects are merged member by member. A list or a value replaces the base's,
 * and `null` removes a member. A wire format that the base names is its data, where the document changes some of it.
 * @param base value parsed from JSON
 */
export function onBase(base: unknown, { base: _, ...own }: Readonly<Record<string, unknown>>): unknown {
  return merged(isPlainObject(own["wire"]) ? withItsWire(base) : base, own);
}

function withItsWire(base: unknown): unknown {
  if (!isPlainObject(base) || typeof base["wire"] !== "string") return base;
  return { ...base, wire: presets[base["wire"]]?.wire ?? base["wire"] };
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
