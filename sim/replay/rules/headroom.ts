// The use of a log's windows, as it would have been, gathered by organization, kind of owner and scope.
import { compiledQuotas } from "../../../src/engine/compiled-policy.ts";
import { GRAPHQL, REST, type ScopeIndex } from "../../../src/engine/core.ts";
import { quotaNames } from "../../../src/policy/names.ts";
import { policyOf } from "../../../src/policy/shorthand.ts";
import { type Owner, type Rules, type Scope, scopes } from "../../../src/rules/rules.ts";
import {
  type Headroom,
  replayOrganizationsMost,
  type SmallestLimit,
} from "../../../src/summary/replay-result.ts";
import { DemandWindows } from "../demand.ts";
import { Uses } from "../uses.ts";
import type { LimitedOwner, RulesCallers } from "./callers.ts";

/** The window that needs the highest limit of its kind. */
interface Neediest {
  readonly handle: number;
  readonly endsAtMs: number;
  readonly needed: number;
}

/** One kind of owner and one scope. */
interface Kind {
  readonly owner: Owner;
  readonly scope: ScopeIndex;
  /** By handle. */
  readonly owners: readonly LimitedOwner[];
  readonly windows: DemandWindows;
  /** By the organization's handle. */
  readonly uses: (Uses | undefined)[];
  neediest: Neediest | null;
}

/** Every window of a log, in a world that refuses nobody. */
export class RulesHeadroom {
  readonly #rules: Rules;
  readonly #callers: RulesCallers;
  readonly #organizations: readonly [rest: Kind, graphql: Kind];
  readonly #users: readonly [rest: Kind, graphql: Kind];

  constructor(rules: Rules, callers: RulesCallers) {
    this.#rules = rules;
    this.#callers = callers;
    this.#organizations = [this.#kind("organization", REST), this.#kind("organization", GRAPHQL)];
    this.#users = [this.#kind("user", REST), this.#kind("user", GRAPHQL)];
  }

  #kind(owner: Owner, index: ScopeIndex): Kind {
    const scope = scopes[index] as Scope;
    const quota = compiledQuotas(policyOf(this.#rules)).find(({ name }) => name === quotaNames[scope][owner]);
    if (quota === undefined || quota.grid === null) throw new RangeError("rules have four quotas of windows");
    const owners = owner === "organization" ? this.#callers.organizations : this.#callers.users;
    const shapeOf = (handle: number) => {
      const { limits, lengthsMs } = owners[handle] as LimitedOwner;
      return { limit: limits[index], lengthMs: lengthsMs[index] };
    };
    const windows = new DemandWindows(quota, quota.grid, shapeOf, (handle, endsAtMs, peak, needed, limit) => {
      const organization = owner === "user" ? this.#callers.organizationOf(handle) : handle;
      kind.uses[organization] ??= new Uses();
      kind.uses[organization].add(peak, needed, limit);
      if (needed > (kind.neediest?.needed ?? 0)) kind.neediest = { handle, endsAtMs, needed };
    });
    const kind: Kind = { owner, scope: index, owners, windows, uses: [], neediest: null };
    return kind;
  }

  decide(user: number, organization: number, scope: ScopeIndex, cost: number, nowMs: number): void {
    this.#organizations[scope].windows.decide(organization, cost, nowMs);
    this.#users[scope].windows.decide(user, cost, nowMs);
  }

  /** The window that a query which was just decided belongs to, as `DemandWindows.windowOf` has it. */
  windowOf(owner: Owner, handle: number): number {
    const kinds = owner === "organization" ? this.#organizations : this.#users;
    return kinds[GRAPHQL].windows.windowOf(handle);
  }

  /** A query is over; the windows are those of its decision. */
  settle(
    user: number,
    requested: number,
    actual: number,
    organizationWindow: number,
    userWindow: number,
    nowMs: number,
  ): void {
    const organization = this.#callers.organizationOf(user);
    this.#organizations[GRAPHQL].windows.settle(organization, requested, actual, organizationWindow, nowMs);
    this.#users[GRAPHQL].windows.settle(user, requested, actual, userWindow, nowMs);
  }

  /** The fullest of a user's windows, as a share of the limit; `null` where it made no such call. */
  useMax(user: number, scope: ScopeIndex): number | null {
    return this.#users[scope].windows.useMax(user);
  }

  get #kinds(): readonly Kind[] {
    return [...this.#organizations, ...this.#users];
  }

  /** Closes every window; what is asked for below is complete then. */
  finish(): void {
    for (const { windows } of this.#kinds) windows.finish();
  }

  headroom(): Headroom[] {
    return this.#kinds.flatMap(({ owner, scope, uses }) => {
      const all = new Uses();
      for (const some of uses) if (some !== undefined) all.merge(some);
      return all.windows === 0
        ? []
        : [{ owner, scope: scopes[scope] as Scope, org: null, ...all.describe() }];
    });
  }

  organizations(): Headroom[] {
    return this.#organizations
      .flatMap(({ owner, scope, uses }) =>
        [...uses.entries()].flatMap(([handle, some]) => {
          const org = this.#callers.organizations[handle]?.org ?? null;
          return some === undefined
            ? []
            : [{ owner, scope: scopes[scope] as Scope, org, ...some.describe() }];
        }),
      )
      .sort((a, b) => b.useMax - a.useMax)
      .slice(0, replayOrganizationsMost);
  }

  smallestLimits(): SmallestLimit[] {
    return this.#kinds.flatMap(({ owner, scope: index, owners, neediest }) => {
      if (neediest === null) return [];
      const scope = scopes[index] as Scope;
      const { limit } = this.#rules[owner][scope];
      const { org, user } = owners[neediest.handle] as LimitedOwner;
      const { needed: smallest, endsAtMs: windowEndsAt } = neediest;
      return [{ owner, scope, limit, smallest, org, user, windowEndsAt }];
    });
  }
}
