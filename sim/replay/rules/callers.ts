// Who calls in a log, as handles of a limiter under some rules: found by the log's number of a caller, so that no name
// is looked up per row.
import { LimiterCore, type ScopeIndex } from "../../../src/engine/core.ts";
import type { LogCaller } from "../../../src/logs/rows.ts";
import { organizationLimit, type Rules, userLimit, type WindowLimit } from "../../../src/rules/rules.ts";

/** An organization or a user; limits and lengths of windows by `ScopeIndex`. */
export interface LimitedOwner {
  readonly org: string;
  /** `null`: the organization. */
  readonly user: string | null;
  readonly limits: readonly [rest: number, graphql: number];
  readonly lengthsMs: readonly [rest: number, graphql: number];
}

interface Organization {
  readonly handle: number;
  /** Handles by name. */
  readonly users: Map<string, number>;
}

export class RulesCallers {
  readonly core: LimiterCore;
  /** By handle, from 0. */
  readonly organizations: LimitedOwner[] = [];
  readonly users: LimitedOwner[] = [];
  readonly #rules: Rules;
  readonly #log: readonly LogCaller[];
  /** By the log's number; -1 where it is not asked for yet. */
  #handles = new Int32Array(0);
  readonly #byName = new Map<string, Organization>();

  /** @param log callers by their numbers; it may grow */
  constructor(rules: Rules, log: readonly LogCaller[]) {
    this.core = new LimiterCore(rules);
    this.#rules = rules;
    this.#log = log;
  }

  /** The handle of a caller's user. */
  user(caller: number): number {
    const handle = this.#handles[caller] ?? -1;
    return handle < 0 ? this.#add(caller) : handle;
  }

  /** The organization of a user, both by handle. */
  organizationOf(user: number): number {
    return this.core.organizationOf(user);
  }

  /** Tells whether a cost is above a limit that it would have to keep (SPEC.md §2.7). */
  isHopeless(user: number, scope: ScopeIndex, cost: number): boolean {
    const broad = this.organizations[this.organizationOf(user)] as LimitedOwner;
    const narrow = this.users[user] as LimitedOwner;
    return cost > broad.limits[scope] || cost > narrow.limits[scope];
  }

  #add(caller: number): number {
    const named = this.#log[caller];
    if (named === undefined) throw new RangeError(`the log has no caller ${caller}`);
    const { organization: org, user } = named;
    const organization = this.#byName.get(org) ?? this.#addOrganization(org);
    const handle = organization.users.get(user) ?? this.#addUser(org, user, organization);
    if (caller >= this.#handles.length) this.#grow(caller);
    this.#handles[caller] = handle;
    return handle;
  }

  #grow(caller: number): void {
    const larger = new Int32Array(2 * (caller + 1)).fill(-1);
    larger.set(this.#handles);
    this.#handles = larger;
  }

  #addOrganization(org: string): Organization {
    const rest = organizationLimit(this.#rules, org, "rest");
    const graphql = organizationLimit(this.#rules, org, "graphql");
    const handle = this.core.addOrganization({ rest, graphql });
    this.organizations[handle] = owner(org, null, rest, graphql);
    const organization = { handle, users: new Map<string, number>() };
    this.#byName.set(org, organization);
    return organization;
  }

  #addUser(org: string, user: string, { handle: organization, users }: Organization): number {
    const rest = userLimit(this.#rules, org, user, "rest");
    const graphql = userLimit(this.#rules, org, user, "graphql");
    const handle = this.core.addUser(organization, { rest, graphql });
    this.users[handle] = owner(org, user, rest, graphql);
    users.set(user, handle);
    return handle;
  }
}

function owner(org: string, user: string | null, rest: WindowLimit, graphql: WindowLimit): LimitedOwner {
  return {
    org,
    user,
    limits: [rest.limit, graphql.limit],
    lengthsMs: [rest.windowSeconds * 1000, graphql.windowSeconds * 1000],
  };
}
