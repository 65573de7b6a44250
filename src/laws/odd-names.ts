// Names that keys of counts mix up: a store may take them for members of an object, join them without a separator, or
// change their case. Scripts are drawn with plain names; some take others at the end, so that each shrinks to plain ones.
import fc from "fast-check";
import type { QuotaOp } from "./quotas/script.ts";

/** Two names for a first attribute, and two for a second: for organizations and users, say. */
export interface OddNames {
  readonly first: readonly [string, string];
  readonly second: readonly [string, string];
}

/** Two pairs that are one text if a store joins their parts: `a` and `b-c`, `a-b` and `c`. */
const joinedBy = (separator: string): OddNames => ({
  first: ["a", `a${separator}b`],
  second: [`b${separator}c`, "c"],
});

/**
 * Names that differ in their case, names of each JavaScript object's members, and names that joins make alike. No
 * organization is called `constructor` or `__proto__`: rules reserve them.
 */
const odd = fc.oneof(
  fc.constant<OddNames>({ first: ["acme", "Acme"], second: ["ann", "Ann"] }),
  fc.constant<OddNames>({ first: ["toString", "valueOf"], second: ["constructor", "__proto__"] }),
  fc.constant(joinedBy("")),
  fc.constantFrom("-", ":", "_").map(joinedBy),
);

/** Draws odd names, or `null` for plain ones. */
export const oddNames: fc.Arbitrary<OddNames | null> = fc.oneof(
  { withCrossShrink: true },
  fc.constant(null),
  odd,
);

/** Odd names by the plain ones, by attribute. */
export type Renames = Readonly<Record<string, ReadonlyMap<string, string>>>;

/** @param plain the names to change, by attribute: two of each */
export function renamesOf(
  plain: Readonly<Record<string, readonly string[]>>,
  { first, second }: OddNames,
): Renames {
  const renames = Object.entries(plain).map(([attribute, values], at) => {
    const odd = at % 2 === 0 ? first : second;
    return [
      attribute,
      new Map(values.slice(0, 2).map((value, place) => [value, odd[place] as string])),
    ] as const;
  });
  return Object.fromEntries(renames);
}

export const renamed = (renames: Renames, attribute: string, value: string): string =>
  renames[attribute]?.get(value) ?? value;

export function renamedOps(ops: readonly QuotaOp[], renames: Renames): QuotaOp[] {
  return ops.map((op) => {
    if (!("caller" in op)) return op;
    const caller = Object.entries(op.caller).map(([attribute, value]) => [
      attribute,
      renamed(renames, attribute, value),
    ]);
    return { ...op, caller: Object.fromEntries(caller) };
  });
}
