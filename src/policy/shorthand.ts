// Rules of version 1 as a policy, and back: the API of SPEC.md is one policy among others (POLICY.md §7).
import { quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import {
  type Owner,
  owners,
  type Rules,
  type Scope,
  type Semantics,
  scopes,
  semanticsOf,
  userKeyParts,
} from "../rules/rules.ts";
import { eachSwitch, type SwitchName, switchValues } from "../rules/switches.ts";
import { quotaNames } from "./names.ts";
import type { Charge, Override, Policy, Quota, QuotaOverride } from "./policy.ts";
import { buildkiteRequests } from "./presets/buildkite.ts";

const keys = { organization: ["organization"], user: ["organization", "user"] } as const;
const units = { rest: "requests", graphql: "points" } as const;
const chargedWhen = { reserved: "reserve-settle", prepaid: "admission", postpaid: "completion" } as const;

/** Returns rules as a policy. The switch `graphqlCharge` means nothing for REST, and is left out. */
export function policyOf(rules: Rules): Policy {
  const quotas = scopes.flatMap((scope) =>
    owners.map((owner) => [quotaNames[scope][owner], quotaOf(rules, scope, owner)] as const),
  );
  return {
    version: 2,
    name: "buildkite",
    quotas: Object.fromEntries(quotas),
    ...buildkiteRequests,
    wire: "buildkite",
    overrides: overridesOf(rules),
  };
}

function quotaOf(rules: Rules, scope: Scope, owner: Owner): Quota {
  const { anchor, remaining, reset, retryAfter, userEnforced } = semanticsOf(rules, scope);
  const { limit, windowSeconds } = rules[owner][scope];
  const enforced =
    owner === "organization"
      ? rules.organization[scope].enforced
      : userEnforced === "always" || { with: quotaNames[scope].organization };
  const opens = anchor === "first-request" ? "whole-second" : "exact";
  return {
    algorithm: { kind: "fixed-window", limit, windowSeconds, anchor, opens },
    key: keys[owner],
    unit: units[scope],
    charge: chargeOf(rules, scope, owner),
    enforced,
    shown: { remaining, reset, retryAfter },
  };
}

function chargeOf(rules: Rules, scope: Scope, owner: Owner): Charge {
  const { refused, refusedByUser, graphqlCharge } = semanticsOf(rules, scope);
  const when = scope === "rest" ? "admission" : chargedWhen[graphqlCharge];
  return {
    when,
    fits: when === "completion" ? "any-left" : "whole",
    refused: refused === "counted" ? "counted" : "nothing",
    refusedByOther:
      owner === "organization" && refusedByUser === "charges-organization" ? "charged" : "nothing",
  };
}

function overridesOf(rules: Rules): Override[] {
  const quotasOf = (owner: Owner, changed: { readonly [S in Scope]?: QuotaOverride }) =>
    Object.fromEntries(
      scopes.flatMap((scope) =>
        changed[scope] === undefined ? [] : [[quotaNames[scope][owner], changed[scope]]],
      ),
    );
  return [
    ...Object.entries(rules.organizations).map(([organization, changed]) => ({
      match: { organization },
      quotas: quotasOf("organization", changed),
    })),
    ...Object.entries(rules.users).map(([name, changed]) => {
      const [organization, user] = userKeyParts(name);
      return { match: { organization, user }, quotas: quotasOf("user", changed) };
    }),
  ];
}

/**
 * Returns a policy of the API of SPEC.md as rules of version 1, of which `policyOf` makes this policy again. Its
 * samples and provoking requests may differ.
 * @throws SpillwayError `POLICY_UNSUPPORTED`, naming the first member that rules cannot express
 */
export function rulesOf(policy: Policy): Rules {
  const rules = closestRules(policy);
  const difference = firstDifference(comparable(policy), comparable(policyOf(rules)));
  if (difference === null) return rules;
  const { path, one, other } = difference;
  const known = scopes.flatMap((scope) => Object.values(quotaNames[scope])).join(", ");
  throw new SpillwayError(
    "POLICY_UNSUPPORTED",
    `only policies of the quotas ${known} can be run yet; ${quote(policy.name)} is another`,
    { problem: { path, got: quote(one), allowed: other === undefined ? "nothing" : quote(other) } },
  );
}

/** Returns a policy as rules of version 1; `null` if rules cannot express it. */
export function asRules(policy: Policy): Rules | null {
  const rules = closestRules(policy);
  return firstDifference(comparable(policy), comparable(policyOf(rules))) === null ? rules : null;
}

/** Returns the part of a policy that rules can express. The order of quotas matters: refusals follow it. */
function comparable({ quotas, operations, routes, wire, auth, overrides }: Policy): unknown {
  const bare = Object.entries(operations).map(([name, { uses, relation }]) => [name, { uses, relation }]);
  const ofUsers = overrides.filter(({ match }) => match["user"] !== undefined);
  const others = overrides.filter(({ match }) => match["user"] === undefined);
  return {
    quotas,
    order: Object.keys(quotas),
    operations: Object.fromEntries(bare),
    routes,
    wire,
    auth,
    overrides: [...others, ...ofUsers],
  };
}

const perScope = <T>(of: (scope: Scope) => T) => ({ rest: of("rest"), graphql: of("graphql") });

/** Returns the rules nearest to the four quotas, with defaults for what rules cannot express. */
function closestRules({ quotas, overrides }: Policy): Rules {
  const of = (scope: Scope, owner: Owner): Quota | undefined => quotas[quotaNames[scope][owner]];
  const rules = parseRules({
    organization: perScope((scope) => limitsOf(of(scope, "organization"), true)),
    user: perScope((scope) => limitsOf(of(scope, "user"), false)),
    semantics: eachSwitch((name) =>
      perScope((scope) => switchIn(name, scope, of(scope, "organization"), of(scope, "user"))),
    ),
  });
  try {
    return parseRules({ ...rules, ...overridesIn(overrides) });
  } catch (error) {
    // Rules have no such override, as that of a bucket's capacity.
    if (error instanceof SpillwayError) return rules;
    throw error;
  }
}

function limitsOf(quota: Quota | undefined, isOrganization: boolean) {
  if (quota?.algorithm.kind !== "fixed-window") return {};
  const { limit, windowSeconds } = quota.algorithm;
  return { limit, windowSeconds, ...(isOrganization ? { enforced: quota.enforced !== false } : {}) };
}

/** Returns the value of a switch that describes the quotas of an organization and of a user. */
function switchIn(name: SwitchName, scope: Scope, broad: Quota | undefined, narrow: Quota | undefined) {
  if (broad === undefined || narrow === undefined) return undefined;
  const { algorithm, charge, shown } = broad;
  const isFirst = algorithm.kind === "fixed-window" && algorithm.anchor === "first-request";
  const values: Omit<Semantics, "graphqlCharge"> = {
    anchor: isFirst ? "first-request" : "epoch",
    refused: charge.refused === "counted" ? "counted" : "uncounted",
    refusedByUser: charge.refusedByOther === "charged" ? "charges-organization" : "charges-nothing",
    remaining: shown.remaining,
    reset: shown.reset,
    userEnforced: narrow.enforced === true ? "always" : "with-organization",
    retryAfter: shown.retryAfter,
  };
  if (name !== "graphqlCharge") return values[name];
  return scope === "graphql"
    ? switchValues.graphqlCharge.find((value) => chargedWhen[value] === charge.when)
    : undefined;
}

/** Returns those overrides that rules of version 1 can have. */
function overridesIn(overrides: readonly Override[]): Pick<Rules, "organizations" | "users"> {
  const organizations: Record<string, Record<string, QuotaOverride>> = {};
  const users: Record<string, Record<string, QuotaOverride>> = {};
  for (const { match, quotas } of overrides) {
    const { organization, user } = match;
    if (organization === undefined) continue;
    const owner: Owner = user === undefined ? "organization" : "user";
    const changed = scopes.flatMap((scope) => {
      const of = quotas[quotaNames[scope][owner]];
      return of === undefined ? [] : [[scope, of] as const];
    });
    if (user === undefined) organizations[organization] = Object.fromEntries(changed);
    else users[`${organization}/${user}`] = Object.fromEntries(changed);
  }
  return { organizations, users } as Pick<Rules, "organizations" | "users">;
}

/** First place at which two JSON values differ. */
interface Difference {
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
