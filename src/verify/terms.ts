// Terms that a judge may take for granted about one scope: the switches of the rules that the target claims, or
// nothing at all. `null` always means "not known", and whoever reads it must hold under every value.
import { type Rules, type Scope, type Semantics, semanticsOf, switchValues } from "../rules/rules.ts";

/**
 * When and what an admitted call adds to its windows (SPEC.md §8, `graphqlCharge`): its cost when it is decided
 * (REST, `prepaid`); its cost, and back to its actual points when it completes; its actual points then.
 */
export type Charging = "at-decision" | "reserved" | "postpaid";

/** The switches of one scope, each `null` where it is not known. */
export interface Terms {
  readonly anchor: Semantics["anchor"] | null;
  readonly refused: Semantics["refused"] | null;
  readonly refusedByUser: Semantics["refusedByUser"] | null;
  readonly charging: Charging | null;
  readonly remaining: Semantics["remaining"] | null;
  readonly reset: Semantics["reset"] | null;
  readonly userEnforced: Semantics["userEnforced"] | null;
}

/** The terms of a scope under the rules of a trace's header. */
export function termsOf(rules: Rules | null, scope: Scope): Terms {
  if (rules === null)
    return {
      anchor: null,
      refused: null,
      refusedByUser: null,
      charging: scope === "rest" ? "at-decision" : null,
      remaining: null,
      reset: null,
      userEnforced: null,
    };
  const { anchor, refused, refusedByUser, graphqlCharge, remaining, reset, userEnforced } = semanticsOf(
    rules,
    scope,
  );
  const charging = scope === "rest" || graphqlCharge === "prepaid" ? "at-decision" : graphqlCharge;
  return { anchor, refused, refusedByUser, charging, remaining, reset, userEnforced };
}

/**
 * Every way in which a scope's counts may be kept where no rules say it, the defaults first. How window ends are
 * shown, `anchor` and `reset`, is left open in all of them: counts do not depend on it.
 */
export function possibleTerms(scope: Scope): readonly Terms[] {
  const open = termsOf(null, scope);
  const chargings: readonly Charging[] =
    scope === "rest" ? ["at-decision"] : ["reserved", "at-decision", "postpaid"];
  return chargings.flatMap((charging) =>
    switchValues.refused.flatMap((refused) =>
      switchValues.refusedByUser.flatMap((refusedByUser) =>
        switchValues.remaining.flatMap((remaining) =>
          switchValues.userEnforced.map((userEnforced) => ({
            ...open,
            charging,
            refused,
            refusedByUser,
            remaining,
            userEnforced,
          })),
        ),
      ),
    ),
  );
}
