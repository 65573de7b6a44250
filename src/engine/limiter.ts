// The limiter by names: strings in, fresh plain objects out. Names are interned once, per organization and
// then per user, so that a decision costs two Map look-ups and builds no key.
import { quote, SpillwayError } from "../rules/errors.ts";
import { organizationLimit, type Rules, type Scope, scopes, userLimit } from "../rules/rules.ts";
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "./adapter.ts";
import {
  ADMITTED,
  GRAPHQL,
  LimiterCore,
  NOT_OPEN,
  REFUSED_BY_ORGANIZATION,
  REST,
  ReadingRecord,
  type ScopeIndex,
} from "./core.ts";
import { type LimiterSnapshot, parseSnapshot } from "./snapshot.ts";

interface OrganizationEntry {
  readonly handle: number;
  readonly users: Map<string, number>;
}

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
  readonly #organizations = new Map<string, OrganizationEntry>();
  /** `enforced` as it was last set, where that is not what the rules say. Outlives idle keys. */
  readonly #enforced = new Map<string, Record<Scope, boolean>>();
  readonly #record = new ReadingRecord();

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
    const organization = this.#organization(call.organization);
    const user = this.#user(call.organization, organization, call.user);
    const outcome = core.decide(user, scope, call.cost, nowMs);
    const admitted = outcome === ADMITTED;
    return {
      admitted,
      refusedBy: admitted ? null : outcome === REFUSED_BY_ORGANIZATION ? "organization" : "user",
      organization: this.#readOrganization(organization.handle, scope, nowMs),
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
    const organization = this.#organization(reservation.organization);
    const user = this.#user(reservation.organization, organization, reservation.user);
    const { requested, organizationWindow, userWindow } = reservation;
    this.#core.settle(user, requested, actual, organizationWindow ?? NOT_OPEN, userWindow ?? NOT_OPEN, nowMs);
    return {
      organization: this.#readOrganization(organization.handle, GRAPHQL, nowMs),
      user: this.#readUser(user, GRAPHQL, nowMs),
    };
  }

  /** Both scopes of an organization, free of charge; opens nothing and moves no clock (SPEC.md §2.8, §4). */
  status(organization: string, nowMs: number): Status {
    const { handle } = this.#organization(organization);
    return {
      rest: this.#readOrganization(handle, REST, nowMs),
      graphql: this.#readOrganization(handle, GRAPHQL, nowMs),
    };
  }

  /** What the headers of an uncounted answer show: both windows of a scope as they stand. */
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    const entry = this.#organization(organization);
    return {
      organization: this.#readOrganization(entry.handle, indexOf(scope), nowMs),
      user: this.#readUser(this.#user(organization, entry, user), indexOf(scope), nowMs),
    };
  }

  /** Switches refusing on or off for one organization and scope, now (SPEC.md §2.5). Counting goes on. */
  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    const known = this.#enforced.get(organization) ?? this.#enforcedByRules(organization);
    this.#enforced.set(organization, { ...known, [scope]: enforced });
    const entry = this.#organizations.get(organization);
    if (entry !== undefined) this.#core.setEnforced(entry.handle, indexOf(scope), enforced);
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
   * @returns how many organizations and users were dropped
   */
  sweep(nowMs: number): number {
    const core = this.#core;
    core.raiseFloor(nowMs);
    let dropped = 0;
    for (const [slug, { handle, users }] of this.#organizations) {
      for (const [name, user] of users) {
        if (!core.isIdle("user", user)) continue;
        core.drop("user", user);
        users.delete(name);
        dropped += 1;
      }
      if (users.size > 0 || !core.isIdle("organization", handle)) continue;
      core.drop("organization", handle);
      this.#organizations.delete(slug);
      dropped += 1;
    }
    return dropped;
  }

  /** Everything this limiter remembers, as plain JSON; `Limiter.restore` goes on from it. */
  snapshot(): LimiterSnapshot {
    const windows = (owner: "organization" | "user", handle: number) => ({
      rest: this.#core.exportWindow(owner, handle, REST),
      graphql: this.#core.exportWindow(owner, handle, GRAPHQL),
    });
    return {
      format: "spillway-limiter",
      version: 1,
      floorMs: this.#core.floorMs,
      enforced: [...this.#enforced].map(([organization, value]) => ({ organization, ...value })),
      organizations: [...this.#organizations].map(([organization, { handle, users }]) => ({
        organization,
        windows: windows("organization", handle),
        users: [...users].map(([user, key]) => ({ user, windows: windows("user", key) })),
      })),
    };
  }

  /**
   * A limiter that goes on where `snapshot` was taken.
   * @param snapshot untrusted JSON
   * @throws SpillwayError `SNAPSHOT_INVALID`, naming every field that is wrong
   */
  static restore(rules: Rules, snapshot: unknown): Limiter {
    const { floorMs, enforced, organizations } = parseSnapshot(snapshot);
    const limiter = new Limiter(rules);
    limiter.#core.raiseFloor(floorMs);
    for (const { organization, rest, graphql } of enforced) {
      limiter.setEnforced(organization, "rest", rest);
      limiter.setEnforced(organization, "graphql", graphql);
    }
    for (const { organization, windows, users } of organizations) {
      if (limiter.#organizations.has(organization))
        throw new SpillwayError("SNAPSHOT_INVALID", "this snapshot names an organization twice", {
          problems: [{ path: "organizations", got: quote(organization), allowed: "each name once" }],
        });
      const entry = limiter.#organization(organization);
      for (const scope of scopes)
        limiter.#core.importWindow("organization", entry.handle, indexOf(scope), windows[scope]);
      for (const { user, windows } of users) {
        const handle = limiter.#user(organization, entry, user);
        for (const scope of scopes)
          limiter.#core.importWindow("user", handle, indexOf(scope), windows[scope]);
      }
    }
    return limiter;
  }

  #organization(slug: string): OrganizationEntry {
    const known = this.#organizations.get(slug);
    if (known !== undefined) return known;
    const limits = {
      rest: organizationLimit(this.rules, slug, "rest"),
      graphql: organizationLimit(this.rules, slug, "graphql"),
    };
    const handle = this.#core.addOrganization(limits);
    const set = this.#enforced.get(slug);
    if (set !== undefined)
      for (const scope of scopes) this.#core.setEnforced(handle, indexOf(scope), set[scope]);
    const entry = { handle, users: new Map<string, number>() };
    this.#organizations.set(slug, entry);
    return entry;
  }

  #user(slug: string, organization: OrganizationEntry, user: string): number {
    const known = organization.users.get(user);
    if (known !== undefined) return known;
    const handle = this.#core.addUser(organization.handle, {
      rest: userLimit(this.rules, slug, user, "rest"),
      graphql: userLimit(this.rules, slug, user, "graphql"),
    });
    organization.users.set(user, handle);
    return handle;
  }

  #readOrganization(handle: number, scope: ScopeIndex, nowMs: number): WindowReading {
    this.#core.readOrganization(handle, scope, nowMs, this.#record);
    return this.#copy();
  }

  #readUser(handle: number, scope: ScopeIndex, nowMs: number): WindowReading {
    this.#core.readUser(handle, scope, nowMs, this.#record);
    return this.#copy();
  }

  #copy(): WindowReading {
    const { limit, current, remaining, reset, resetAtMs, enforced } = this.#record;
    return { limit, current, remaining, reset, resetAtMs, enforced };
  }
}
