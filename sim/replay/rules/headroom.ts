// The use of a log's windows, as it would have been: shares of their limits, gathered by organization, kind of owner and
// scope in histograms of whole thousandths, so that millions of windows cost a counter each step.
import { GRAPHQL, REST, type ScopeIndex } from "../../../src/engine/core.ts";
import { type Owner, type Rules, type Scope, scopes, semanticsOf } from "../../../src/rules/rules.ts";
import {
  type Headroom,
  replayOrganizationsMost,
  type SmallestLimit,
} from "../../../src/summary/replay-result.ts";
import type { LimitedOwner, RulesCallers } from "./callers.ts";
import { DemandWindows } from "./demand.ts";

/** Steps of a share: thousandths. */
const STEPS = 1000;

/** The windows of one kind of owner and one scope, within an organization or in all. */
class Uses {
  /** Windows by use, in thousandths of the limit, rounded up: those within the limit, and the others. */
  readonly #within = new Uint32Array(STEPS + 1);
  readonly #above = new Map<number, number>();
  windows = 0;
  over = 0;
  useMax = 0;
  needed = 0;

  add(peak: number, needed: number, limit: number): void {
    const use = peak / limit;
    this.#count(Math.ceil((peak * STEPS) / limit), 1);
    this.windows += 1;
    if (needed > limit) this.over += 1;
    if (use > this.useMax) this.useMax = use;
    if (needed > this.needed) this.needed = needed;
  }

  #count(step: number, windows: number): void {
    if (step <= STEPS) this.#within[step] = (this.#within[step] as number) + windows;
    else this.#above.set(step, (this.#above.get(step) ?? 0) + windows);
  }

  merge(other: Uses): void {
    for (const [step, windows] of other.#sorted()) this.#count(step, windows);
    this.windows += other.windows;
    this.over += other.over;
    this.useMax = Math.max(this.useMax, other.useMax);
    this.needed = Math.max(this.needed, other.needed);
  }

  #sorted(): (readonly [step: number, windows: number])[] {
    const above = [...this.#above].sort(([a], [b]) => a - b);
    return [...this.#within.entries(), ...above].filter(([, windows]) => windows > 0);
  }

  describe(owner: Owner, scope: Scope, org: string | null): Headroom {
    const sorted = this.#sorted();
    const at = (share: number): number => {
      let left = Math.max(1, Math.ceil(share * this.windows - 1e-9));
      const found = sorted.find(([, windows]) => {
        left -= windows;
        return left <= 0;
      });
      // A step is rounded up, and no use is above the highest.
      return Math.min((found?.[0] ?? 0) / STEPS, this.useMax);
    };
    return {
      owner,
      scope,
      org,
      windows: this.windows,
      windowsOver: this.over,
      useMax: this.useMax,
      useP99: at(0.99),
      useP50: at(0.5),
      smallestLimit: Math.max(1, this.needed),
    };
  }
}

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

  #kind(owner: Owner, scope: ScopeIndex): Kind {
    const { anchor, graphqlCharge } = semanticsOf(this.#rules, scopes[scope] as Scope);
    const charging = {
      epoch: anchor === "epoch",
      reserved: scope === GRAPHQL && graphqlCharge === "reserved",
      postpaid: scope === GRAPHQL && graphqlCharge === "postpaid",
    };
    const owners = owner === "organization" ? this.#callers.organizations : this.#callers.users;
    const shapeOf = (handle: number) => {
      const { limits, lengthsMs } = owners[handle] as LimitedOwner;
      return { limit: limits[scope], lengthMs: lengthsMs[scope] };
    };
    const windows = new DemandWindows(charging, shapeOf, (handle, endsAtMs, peak, needed, limit) => {
      const organization = owner === "user" ? this.#callers.organizationOf(handle) : handle;
      kind.uses[organization] ??= new Uses();
      kind.uses[organization].add(peak, needed, limit);
      if (needed > (kind.neediest?.needed ?? 0)) kind.neediest = { handle, endsAtMs, needed };
    });
    const kind: Kind = { owner, scope, owners, windows, uses: [], neediest: null };
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
      return all.windows === 0 ? [] : [all.describe(owner, scopes[scope] as Scope, null)];
    });
  }

  organizations(): Headroom[] {
    return this.#organizations
      .flatMap(({ owner, scope, uses }) =>
        [...uses.entries()].flatMap(([handle, some]) => {
          const org = this.#callers.organizations[handle]?.org ?? null;
          return some === undefined ? [] : [some.describe(owner, scopes[scope] as Scope, org)];
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
