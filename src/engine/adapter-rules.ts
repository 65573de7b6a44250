// The rules that a foreign limiter can follow: its own semantics; and for one by key, no windows but its users'.
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import { type Rules, type RulesInput, scopes } from "../rules/rules.ts";
import type { SwitchName } from "../rules/switches.ts";
import type { LimiterFactory } from "./adapter.ts";

/** Returns the rules of a limiter by key: organizations' windows refuse nothing, and all users have the same window. */
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
 * Returns the rules nearest to the given ones that a limiter can follow. A switch whose value the limiter does not
 * understand takes the first value that it does.
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

/** Switches about the windows of an organization and its user together. */
const ofBoth: readonly SwitchName[] = ["userEnforced", "refusedByUser"];

type SaysSemantics = Pick<LimiterFactory, "name" | "algorithm" | "keyed" | "semantics" | "scopes">;

/**
 * Returns the rules given for a limiter, completed by what it declares.
 * @throws SpillwayError `RULES_INVALID` if they are no rules, or contradict the limiter; it names both
 */
export function agreedRules(factory: SaysSemantics, given: RulesInput): Rules {
  const problems = contradictions(factory, given);
  if (problems.length > 0)
    throw new SpillwayError(
      "RULES_INVALID",
      `the rules contradict what ${quote(factory.name)} says of itself`,
      {
        problems,
        hint: "let the limiter declare these switches, or leave them out: write rules of limits alone in place of a preset",
      },
    );
  const own = Object.entries(factory.semantics ?? {}).map(([name, values]) => [name, values?.[0]]);
  const rules = parseRules({ ...given, semantics: { ...Object.fromEntries(own), ...given.semantics } });
  return factory.keyed === true ? keyedRules(rules) : rules;
}

function contradictions(
  { algorithm, keyed, semantics, scopes: known = scopes }: SaysSemantics,
  given: RulesInput,
) {
  const { semantics: said } = parseRules(given);
  return (Object.keys(given.semantics ?? {}) as SwitchName[]).flatMap((name): Problem[] => {
    const path = `semantics.${name}`;
    const values = [...new Set(known.map((scope) => said[name][scope]))];
    if (name === "anchor" && algorithm !== "fixed-window")
      return [
        {
          path,
          got: `${quote(values[0])} in the rules`,
          allowed: `none: what the limiter counts is ${quote(algorithm)}, which has no windows`,
        },
      ];
    const allowed: readonly unknown[] | undefined = semantics?.[name];
    // Who refuses an organization's calls does not matter to a limiter by key, nor a query's charge where there are none.
    const isMeaningless =
      name === "graphqlCharge" ? !known.includes("graphql") : keyed === true && ofBoth.includes(name);
    if (allowed === undefined || isMeaningless) return [];
    const wrong = values.filter((value) => !allowed.includes(value));
    const told = allowed.map(quote).join(" or ");
    return wrong.map((value) => ({
      path,
      got: `${quote(value)} in the rules`,
      allowed: `${told}, as the limiter says`,
    }));
  });
}
