// The rules that a limiter of somebody else's can follow: its own semantics, and for one by key no window but its
// users'.
import { type Rules, type SwitchName, scopes } from "../rules/rules.ts";
import type { LimiterFactory } from "./adapter.ts";

/** The rules of a limiter by key: an organization's windows refuse nothing, and every user has the same. */
export function keyedRules({ organization, user, semantics }: Rules): Rules {
  const always = { rest: "always", graphql: "always" } as const;
  return {
    organization: {
      rest: { ...organization.rest, enforced: false },
      graphql: { ...organization.graphql, enforced: false },
    },
    user,
    semantics: { ...semantics, userEnforced: always },
    organizations: {},
    users: {},
  };
}

/**
 * Rules as near to these as a limiter can follow: a switch whose value it does not understand has the first that it
 * does.
 */
export function followedRules(
  { keyed, semantics = {} }: Pick<LimiterFactory, "keyed" | "semantics">,
  rules: Rules,
): Rules {
  const near = keyed === true ? keyedRules(rules) : rules;
  const switches = (Object.keys(near.semantics) as SwitchName[]).map((name) => {
    const known: readonly unknown[] | undefined = semantics[name];
    const values = scopes.map((scope): readonly [string, unknown] => {
      const value = near.semantics[name][scope];
      return [scope, known === undefined || known.includes(value) ? value : known[0]];
    });
    return [name, Object.fromEntries(values)] as const;
  });
  return { ...near, semantics: Object.fromEntries(switches) as Rules["semantics"] };
}
