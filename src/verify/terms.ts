// Terms: what a judge may take for granted of one scope, by the switches of the claimed rules. `null` always means "not
// known"; a conclusion must then hold under every value.
import { type Rules, type Scope, semanticsOf } from "../rules/rules.ts";
import {
  eachSwitch,
  type SwitchName,
  type SwitchValue,
  switches,
  switchNames,
  switchValues,
} from "../rules/switches.ts";

/**
 * Time and amount of an admitted call's charge (SPEC.md §8, `graphqlCharge`). `at-decision` (REST, `prepaid`): its cost
 * when decided. `reserved`: its cost, then its actual points once it completes. `postpaid`: its actual points then.
 */
export type Charging = "at-decision" | "reserved" | "postpaid";

/** Switches that counts and shown ends depend on. `charging` stands for `graphqlCharge` in a scope. */
type TermName = Exclude<SwitchName, "graphqlCharge" | "retryAfter">;

/** Values of one scope's switches, each `null` if unknown. */
export type Terms = { readonly [S in TermName]: SwitchValue<S> | null } & {
  readonly charging: Charging | null;
};

/** Greatest `reset` without rules: the seconds of 30 years. A higher one is a date. */
export const resetMost = 946_080_000;

/** Returns the least that `reset` may show (SPEC.md §7, `reset-agrees`). */
export const resetLeast = ({ reset }: Terms): number => (reset === "ceil" ? 1 : 0);

/** Returns the terms of a scope under the rules of a trace's header. */
export function termsOf(rules: Rules | null, scope: Scope): Terms {
  if (rules === null) {
    const charging = scope === "rest" ? "at-decision" : null;
    return { ...(eachSwitch(() => null) as Record<TermName, null>), charging };
  }
  const semantics = semanticsOf(rules, scope);
  const { graphqlCharge } = semantics;
  const charging = scope === "rest" || graphqlCharge === "prepaid" ? "at-decision" : graphqlCharge;
  return { ...semantics, charging };
}

const isShown = (name: SwitchName): boolean =>
  (switches[name] as { readonly isShown?: true }).isShown === true;

/** Switches that counts depend on, in the table's order. */
export const countSwitches = switchNames.filter((name) => !isShown(name));

/**
 * Returns all ways in which a scope's counts may be kept without rules, the defaults first. `anchor` and `reset` stay
 * open: counts do not depend on them.
 */
export function possibleTerms(scope: Scope): readonly Terms[] {
  const chargings: readonly Charging[] =
    scope === "rest" ? ["at-decision"] : ["reserved", "at-decision", "postpaid"];
  const ways = chargings.map((charging): Terms => ({ ...termsOf(null, scope), charging }));
  return countSwitches
    .filter((name) => name !== "graphqlCharge")
    .reduce<readonly Terms[]>(
      (terms, name) => terms.flatMap((one) => switchValues[name].map((value) => ({ ...one, [name]: value }))),
      ways,
    );
}
