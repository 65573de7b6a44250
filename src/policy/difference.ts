import { isPlainObject } from "../rules/plain-object.ts";

/** The first place at which two values of JSON differ. */
export interface Difference {
  /** Steps to it, with dots between them. */
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

/** Returns where two values of JSON differ first; `null` where they are alike. The order of members does not count. */
export function firstDifference(
  one: unknown,
  other: unknown,
  path: readonly string[] = [],
): Difference | null {
  if (Object.is(one, other)) return null;
  const isList = Array.isArray(one) && Array.isArray(other);
  if (!isList && !(isPlainObject(one) && isPlainObject(other))) return { path: path.join("."), one, other };
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const [left, right] = [one, other].map((value) => (value as Record<string, unknown>)[name]);
    const difference = firstDifference(left, right, [...path, name]);
    if (difference !== null) return difference;
  }
  return null;
}
