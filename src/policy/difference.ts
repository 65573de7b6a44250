import { isPlainObject } from "../rules/plain-object.ts";

/** First place at which two JSON values differ. */
export interface Difference {
  /** Steps to the place, separated by dots. */
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

/** Returns where two JSON values differ first; `null` if they are equal. The order of members does not matter. */
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
