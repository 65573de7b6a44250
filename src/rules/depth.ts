// Values that nest deeper than any API's answer: writing or showing one takes a call for each level, and overflows the
// stack.

const levelsMost = 100;

/** Tells whether parsed JSON nests deeper than 100 levels. @param levels those that are left */
export function isDeep(value: unknown, levels = levelsMost): boolean {
  if (typeof value !== "object" || value === null) return false;
  const within = Object.values(value);
  return levels === 0 ? within.length > 0 : within.some((one) => isDeep(one, levels - 1));
}
