// Values that nest deeper than anything that an API answers: writing or showing one takes a call for each level, and
// ends the stack.

const depthMost = 100;

/** Tells whether parsed JSON nests deeper than 100 levels. Looks at it level by level. */
export function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= depthMost && level.length > 0; depth++)
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  return level.length > 0;
}
