// The promises of a deployment, as plain data (SPEC.md §1, §8). `Rules` is complete: every default is filled
// in, and a complete `Rules` read again gives itself. `RulesInput` is what people write.

import { eachSwitch, type SwitchName, type SwitchValue } from "./switches.ts";

/** `rest` counts requests, `graphql` counts complexity points (SPEC.md §1). */
export type Scope = "rest" | "graphql";

export const scopes: readonly Scope[] = ["rest", "graphql"];

/** Who owns a window: the organization, or one user within it. */
export type Owner = "organization" | "user";

export const owners: readonly Owner[] = ["organization", "user"];

/** A user's fixed window: at most `limit` in any `[opened, opened + windowSeconds)`. */
export interface WindowLimit {
  /** Requests or complexity points; a safe integer >= 1. */
  readonly limit: number;
  /** Length of the window in seconds; an integer >= 1. */
  readonly windowSeconds: number;
}

/** An organization's window, which may be switched to counting without refusing (SPEC.md §2.5). */
export interface OrganizationLimit extends WindowLimit {
  readonly enforced: boolean;
}

/** The semantics of one scope. `graphqlCharge` is meaningless for REST, whose calls cost 1 when decided. */
export type Semantics = { readonly [S in SwitchName]: SwitchValue<S> };

/** Complete rules: plain JSON, the same in a file, a scenario and a trace's header. */
export interface Rules {
  readonly organization: Readonly<Record<Scope, OrganizationLimit>>;
  readonly user: Readonly<Record<Scope, WindowLimit>>;
  /** Each switch, for each scope. */
  readonly semantics: { readonly [S in SwitchName]: Readonly<Record<Scope, SwitchValue<S>>> };
  /** Overrides by organization slug. */
  readonly organizations: Readonly<Record<string, { readonly [S in Scope]?: Partial<OrganizationLimit> }>>;
  /** Overrides by `organization/user`. */
  readonly users: Readonly<Record<string, { readonly [S in Scope]?: Partial<WindowLimit> }>>;
}

/** Rules as people write them: whatever is left out is the default. */
export interface RulesInput {
  readonly organization?: { readonly [S in Scope]?: Partial<OrganizationLimit> };
  readonly user?: { readonly [S in Scope]?: Partial<WindowLimit> };
  readonly semantics?: {
    readonly [S in SwitchName]?: SwitchValue<S> | { readonly [K in Scope]?: SwitchValue<S> };
  };
  readonly organizations?: Rules["organizations"];
  readonly users?: Rules["users"];
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** The organization's limit of a scope, its override applied. */
export function organizationLimit(rules: Rules, organization: string, scope: Scope): OrganizationLimit {
  const override = own(rules.organizations, organization)?.[scope];
  return override === undefined ? rules.organization[scope] : { ...rules.organization[scope], ...override };
}

/** The user's limit of a scope, its override applied. */
export function userLimit(rules: Rules, organization: string, user: string, scope: Scope): WindowLimit {
  const override = own(rules.users, `${organization}/${user}`)?.[scope];
  return override === undefined ? rules.user[scope] : { ...rules.user[scope], ...override };
}

/** Semantics by scope of rules that were asked for before: they are asked for at each call. */
const known = new WeakMap<Rules["semantics"], Readonly<Record<Scope, Semantics>>>();

/** The semantics of one scope. */
export function semanticsOf({ semantics }: Rules, scope: Scope): Semantics {
  let both = known.get(semantics);
  if (both === undefined) {
    const of = (one: Scope): Semantics => eachSwitch((name) => semantics[name][one]) as Semantics;
    both = { rest: of("rest"), graphql: of("graphql") };
    known.set(semantics, both);
  }
  return both[scope];
}
