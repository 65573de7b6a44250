// Values that nest deeper than any API's answer: writing or showing one takes a call for each level, and overflows the
// stack.

const depthMost = 100;

/** Tells whether parsed JSON nests deeper than 100 levels. Checks it level by level. */
export function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= depthMost && level.length > 0; depth++)
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  return level.length > 0;
}
