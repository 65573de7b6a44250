// Terms that a judge may take for granted about one scope: the switches of the rules that the target claims, or
// nothing at all. `null` always means "not known", and whoever reads it must hold under every value.
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
 * When and what an admitted call adds to its windows (SPEC.md §8, `graphqlCharge`): its cost when it is decided
 * (REST, `prepaid`); its cost, and back to its actual points when it completes; its actual points then.
 */
export type Charging = "at-decision" | "reserved" | "postpaid";

/** The switches that counts and shown ends depend on. `charging` says what `graphqlCharge` comes to in a scope. */
type TermName = Exclude<SwitchName, "graphqlCharge" | "retryAfter">;

/** The switches of one scope, each `null` where it is not known. */
export type Terms = { readonly [S in TermName]: SwitchValue<S> | null } & {
  readonly charging: Charging | null;
};

/** Without rules, the seconds of 30 years: a `reset` above is a date. */
export const resetMost = 946_080_000;

/** The least that `reset` may show (SPEC.md §7, `reset-agrees`). */
export const resetLeast = ({ reset }: Terms): number => (reset === "ceil" ? 1 : 0);

/** The terms of a scope under the rules of a trace's header. */
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

/** The switches that counts depend on, in the table's order. */
export const countSwitches = switchNames.filter((name) => !("isShown" in switches[name]));

/**
 * Every way in which a scope's counts may be kept where no rules say it, the defaults first. How window ends are
 * shown, `anchor` and `reset`, is left open in all of them: counts do not depend on it.
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
