// The limiter by names: strings in, fresh plain objects out. Names are interned once; a decision looks up one
// of them and builds no key.
import { type Owner, organizationLimit, type Rules, type Scope, scopes, userLimit } from "../rules/rules.ts";
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "./adapter.ts";
import {
  ADMITTED,
  emptyReading,
  GRAPHQL,
  LimiterCore,
  NOT_OPEN,
  REFUSED_BY_ORGANIZATION,
  REST,
  type ScopeIndex,
} from "./core.ts";
import { type LimiterSnapshot, parseSnapshot } from "./snapshot.ts";
import { UserNames } from "./user-names.ts";
import type { WindowState } from "./window-table.ts";

const indexOf = (scope: Scope): ScopeIndex => (scope === "rest" ? REST : GRAPHQL);

/**
 * A pure limiter over both windows of every organization and user (SPEC.md §2, §3, §8).
 * No clock, no I/O: every time is an argument, whole milliseconds since the Unix epoch.
 *
 * @example
 * const limiter = new Limiter(parseRules({}));
 * limiter.decide({ organization: "acme", user: "agent-1", scope: "rest", cost: 1 }, 0).admitted; // true
 */
export class Limiter {
  readonly rules: Rules;
  readonly #core: LimiterCore;
  readonly #organizations = new Map<string, number>();
  readonly #users = new UserNames();
  /** `enforced` as it was last set, where that is not what the rules say. Outlives idle keys. */
  readonly #enforced = new Map<string, Record<Scope, boolean>>();

  constructor(rules: Rules) {
    this.rules = rules;
    this.#core = new LimiterCore(rules);
  }

  /**
   * Decides one call and counts it, in one step (SPEC.md §2).
   * @throws RangeError where `cost` or `nowMs` is no safe integer >= 0
   */
  decide(call: Call, nowMs: number): Decision {
    const core = this.#core;
    const scope = indexOf(call.scope);
    const user = this.#user(call.organization, call.user);
    const outcome = core.decide(user, scope, call.cost, nowMs);
    const admitted = outcome === ADMITTED;
    return {
      admitted,
      refusedBy: admitted ? null : outcome === REFUSED_BY_ORGANIZATION ? "organization" : "user",
      organization: this.#readOrganization(core.organizationOf(user), scope, nowMs),
      user: this.#readUser(user, scope, nowMs),
      reservation: admitted && scope === GRAPHQL ? this.#reserve(call, user) : null,
    };
  }

  #reserve(call: Call, user: number): Reservation {
    const window = (resetAtMs: number): number | null => (resetAtMs === NOT_OPEN ? null : resetAtMs);
    return {
      organization: call.organization,
      user: call.user,
      scope: "graphql",
      requested: call.cost,
      organizationWindow: window(this.#core.windowOf("organization", user, GRAPHQL)),
      userWindow: window(this.#core.windowOf("user", user, GRAPHQL)),
    };
  }

  /**
   * Completes an admitted GraphQL call and reads its windows (SPEC.md §5, §8 `graphqlCharge`). Once a call.
   * @param actual points charged in the end, a safe integer from 0 to `reservation.requested`
   * @throws RangeError where `actual` or `nowMs` is out of range
   */
  settle(reservation: Reservation, actual: number, nowMs: number): Readings {
    const user = this.#user(reservation.organization, reservation.user);
    const { requested, organizationWindow, userWindow } = reservation;
    this.#core.settle(user, requested, actual, organizationWindow ?? NOT_OPEN, userWindow ?? NOT_OPEN, nowMs);
    return this.#readings(user, GRAPHQL, nowMs);
  }

  /** Both scopes of an organization, free of charge; opens nothing and moves no clock (SPEC.md §2.8, §4). */
  status(organization: string, nowMs: number): Status {
    const handle = this.#organization(organization);
    return {
      rest: this.#readOrganization(handle, REST, nowMs),
      graphql: this.#readOrganization(handle, GRAPHQL, nowMs),
    };
  }

  /** Reads both windows of a scope as they stand, for the headers of an uncounted answer. */
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return this.#readings(this.#user(organization, user), indexOf(scope), nowMs);
  }

  /** Switches refusing on or off for one organization and scope, now (SPEC.md §2.5). Counting goes on. */
  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    const known = this.#enforced.get(organization) ?? this.#enforcedByRules(organization);
    this.#enforced.set(organization, { ...known, [scope]: enforced });
    const handle = this.#organizations.get(organization);
    if (handle !== undefined) this.#core.setEnforced(handle, indexOf(scope), enforced);
  }

  #enforcedByRules(organization: string): Record<Scope, boolean> {
    return {
      rest: organizationLimit(this.rules, organization, "rest").enforced,
      graphql: organizationLimit(this.rules, organization, "graphql").enforced,
    };
  }

  /**
   * Forgets the keys whose windows are over. Earlier times count as `nowMs` from then on (SPEC.md §2.8), so
   * no answer differs from one without the sweep at that time.
   * @returns the number of organizations and users that were dropped
   */
  sweep(nowMs: number): number {
    const core = this.#core;
    core.raiseFloor(nowMs);
    const kept = new Set<string>();
    let dropped = 0;
    for (const [organization, user, handle] of this.#users) {
      if (!core.isIdle("user", handle)) {
        kept.add(organization);
        continue;
      }
      core.drop("user", handle);
      this.#users.delete(organization, user);
      dropped += 1;
    }
    for (const [organization, handle] of this.#organizations) {
      if (kept.has(organization) || !core.isIdle("organization", handle)) continue;
      core.drop("organization", handle);
      this.#organizations.delete(organization);
      dropped += 1;
    }
    return dropped;
  }

  /** Everything this limiter remembers, as plain JSON; `Limiter.restore` goes on from it. */
  snapshot(): LimiterSnapshot {
    const windows = (owner: Owner, handle: number) => ({
      rest: this.#core.exportWindow(owner, handle, REST),
      graphql: this.#core.exportWindow(owner, handle, GRAPHQL),
    });
    return {
      format: "spillway-limiter",
      version: 1,
      floorMs: this.#core.floorMs,
      enforced: [...this.#enforced].map(([organization, value]) => ({ organization, ...value })),
      organizations: [...this.#organizations].map(([organization, handle]) => ({
        organization,
        windows: windows("organization", handle),
      })),
      users: [...this.#users].map(([organization, user, handle]) => ({
        organization,
        user,
        windows: windows("user", handle),
      })),
    };
  }

  /**
   * A limiter that goes on where `snapshot` was taken.
   * @param snapshot untrusted JSON
   * @throws SpillwayError `SNAPSHOT_INVALID`, naming every field that is wrong
   */
  static restore(rules: Rules, snapshot: unknown): Limiter {
    const { floorMs, enforced, organizations, users } = parseSnapshot(snapshot);
    const limiter = new Limiter(rules);
    limiter.#core.raiseFloor(floorMs);
    for (const { organization, rest, graphql } of enforced) {
      limiter.setEnforced(organization, "rest", rest);
      limiter.setEnforced(organization, "graphql", graphql);
    }
    for (const { organization, windows } of organizations)
      limiter.#import("organization", limiter.#organization(organization), windows);
    for (const { organization, user, windows } of users)
      limiter.#import("user", limiter.#user(organization, user), windows);
    return limiter;
  }

  #import(owner: Owner, handle: number, windows: Readonly<Record<Scope, WindowState>>): void {
    this.#core.importWindow(owner, handle, REST, windows.rest);
    this.#core.importWindow(owner, handle, GRAPHQL, windows.graphql);
  }

  #organization(name: string): number {
    const known = this.#organizations.get(name);
    if (known !== undefined) return known;
    const handle = this.#core.addOrganization({
      rest: organizationLimit(this.rules, name, "rest"),
      graphql: organizationLimit(this.rules, name, "graphql"),
    });
    const set = this.#enforced.get(name);
    if (set !== undefined)
      for (const scope of scopes) this.#core.setEnforced(handle, indexOf(scope), set[scope]);
    this.#organizations.set(name, handle);
    return handle;
  }

  #user(organization: string, name: string): number {
    const known = this.#users.find(organization, name);
    if (known !== undefined) return known;
    const handle = this.#core.addUser(this.#organization(organization), {
      rest: userLimit(this.rules, organization, name, "rest"),
      graphql: userLimit(this.rules, organization, name, "graphql"),
    });
    this.#users.add(organization, name, handle);
    return handle;
  }

  #readings(user: number, scope: ScopeIndex, nowMs: number): Readings {
    return {
      organization: this.#readOrganization(this.#core.organizationOf(user), scope, nowMs),
      user: this.#readUser(user, scope, nowMs),
    };
  }

  #readOrganization(handle: number, scope: ScopeIndex, nowMs: number): WindowReading {
    const reading = emptyReading();
    this.#core.readOrganization(handle, scope, nowMs, reading);
    return reading;
  }

  #readUser(handle: number, scope: ScopeIndex, nowMs: number): WindowReading {
    const reading = emptyReading();
    this.#core.readUser(handle, scope, nowMs, reading);
    return reading;
  }
}
