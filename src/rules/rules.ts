// The promises of a deployment, as plain data (SPEC.md §1, §8). `Rules` are complete: every default is filled in, and
// reading them again gives the same rules. `RulesInput` is what people write.

import { eachSwitch, type SwitchName, type SwitchValue } from "./switches.ts";

/** Scope of a call: `rest` counts requests, `graphql` counts complexity points (SPEC.md §1). */
export type Scope = "rest" | "graphql";

export const scopes: readonly Scope[] = ["rest", "graphql"];

/** Owner of a window: the organization, or one user within it. */
export type Owner = "organization" | "user";

export const owners: readonly Owner[] = ["organization", "user"];

/** A user's fixed window: at most `limit` in any `[opened, opened + windowSeconds)`. */
export interface WindowLimit {
  /** Limit in requests or complexity points; a safe integer >= 1. */
  readonly limit: number;
  /** Length of the window, s; an integer >= 1. */
  readonly windowSeconds: number;
}

/** An organization's window, which may be switched to counting without refusing (SPEC.md §2.5). */
export interface OrganizationLimit extends WindowLimit {
  readonly enforced: boolean;
}

/** Semantics of one scope. `graphqlCharge` means nothing for REST, whose calls cost 1 when decided. */
export type Semantics = { readonly [S in SwitchName]: SwitchValue<S> };

/** Complete rules: plain JSON, the same in a file, a scenario and a trace's header. */
export interface Rules {
  readonly organization: Readonly<Record<Scope, OrganizationLimit>>;
  readonly user: Readonly<Record<Scope, WindowLimit>>;
  /** Values of each switch, by scope. */
  readonly semantics: { readonly [S in SwitchName]: Readonly<Record<Scope, SwitchValue<S>>> };
  /** Overrides by organization slug. */
  readonly organizations: Readonly<Record<string, { readonly [S in Scope]?: Partial<OrganizationLimit> }>>;
  /** Overrides by `organization/user`. */
  readonly users: Readonly<Record<string, { readonly [S in Scope]?: Partial<WindowLimit> }>>;
}

/** Rules as people write them; absent members have their defaults. */
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

/** Returns the organization's limit of a scope, with its override. */
export function organizationLimit(rules: Rules, organization: string, scope: Scope): OrganizationLimit {
  const override = own(rules.organizations, organization)?.[scope];
  return override === undefined ? rules.organization[scope] : { ...rules.organization[scope], ...override };
}

/** Returns the user's limit of a scope, with its override. */
export function userLimit(rules: Rules, organization: string, user: string, scope: Scope): WindowLimit {
  const override = own(rules.users, `${organization}/${user}`)?.[scope];
  return override === undefined ? rules.user[scope] : { ...rules.user[scope], ...override };
}

/** Returns organization and user of a key of `users`, `acme/ann`: the first slash parts them. */
export function userKeyParts(key: string): readonly [organization: string, user: string] {
  const slash = key.indexOf("/");
  return [key.slice(0, slash), key.slice(slash + 1)];
}

/** Semantics by scope of rules that were read before: every call needs them. */
const known = new WeakMap<Rules["semantics"], Readonly<Record<Scope, Semantics>>>();

export function semanticsOf({ semantics }: Rules, scope: Scope): Semantics {
  let both = known.get(semantics);
  if (both === undefined) {
    const of = (one: Scope): Semantics => eachSwitch((name) => semantics[name][one]) as Semantics;
    both = { rest: of("rest"), graphql: of("graphql") };
    known.set(semantics, both);
  }
  return both[scope];
}
