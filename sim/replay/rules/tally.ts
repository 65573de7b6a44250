// The counts of a replay, of each call that it decides: by user, over time, and by the window that refused.
import {
  ADMITTED,
  GRAPHQL,
  type Outcome,
  REFUSED_BY_ORGANIZATION,
  type ScopeIndex,
} from "../../../src/engine/core.ts";
import { type Scope, scopes } from "../../../src/rules/rules.ts";
import {
  type RefusingWindow,
  type ReplayTotals,
  type ReplayUser,
  replayUsersMost,
  replayWindowsMost,
} from "../../../src/summary/replay-result.ts";
import { RecordedTally } from "../recorded-tally.ts";
import { ReplaySlots } from "../slots.ts";
import type { LimitedOwner, RulesCallers } from "./callers.ts";
import type { RulesHeadroom } from "./headroom.ts";

/** Of each user, in a line of the processor's cache: calls by outcome, and when the first and the last was refused. */
const NUMBERS = 8;
const FIRST = 3;
const LAST = 4;

/** Of each window that is open and has refused: its end, how often, and when first. */
const REFUSALS = 3;
const END = 0;
const COUNT = 1;
const SINCE = 2;

export class RulesTally {
  /** Calls over time; those refused by the place of an outcome behind `ADMITTED`. */
  readonly slots = new ReplaySlots(2);
  readonly #callers: RulesCallers;
  #users = new Float64Array(64 * NUMBERS);
  #points = 0;
  #hopeless = 0;
  readonly #refusing: readonly [RefusingOwners, RefusingOwners];
  readonly #list = new RefusingList();
  /** Of rows with a status. */
  readonly recorded = new RecordedTally();

  constructor(callers: RulesCallers) {
    this.#callers = callers;
    this.#refusing = [
      new RefusingOwners((...refused) => this.#list.add(callers.organizations, ...refused)),
      new RefusingOwners((...refused) => this.#list.add(callers.users, ...refused)),
    ];
  }

  /** @param status the log's, 0 where it has none */
  add(user: number, scope: ScopeIndex, cost: number, outcome: Outcome, status: number, nowMs: number): void {
    if ((user + 1) * NUMBERS > this.#users.length) this.#grow(user);
    const at = user * NUMBERS;
    this.#users[at + outcome] = (this.#users[at + outcome] as number) + 1;
    this.slots.add(nowMs, outcome - 1);
    if (status > 0) this.recorded.add(status, outcome !== ADMITTED);
    if (outcome !== ADMITTED) this.#refuse(user, scope, cost, outcome, nowMs);
    else if (scope === GRAPHQL) this.#points += cost;
  }

  #refuse(user: number, scope: ScopeIndex, cost: number, outcome: Outcome, nowMs: number): void {
    const at = user * NUMBERS;
    if (this.#users[at + FIRST] === 0) this.#users[at + FIRST] = nowMs;
    this.#users[at + LAST] = nowMs;
    if (scope === GRAPHQL && this.#callers.isHopeless(user, scope, cost)) this.#hopeless += 1;
    const { core } = this.#callers;
    if (outcome === REFUSED_BY_ORGANIZATION) {
      const organization = this.#callers.organizationOf(user);
      this.#refusing[0].add(organization, scope, core.windowOf("organization", user, scope), nowMs);
    } else this.#refusing[1].add(user, scope, core.windowOf("user", user, scope), nowMs);
  }

  #grow(user: number): void {
    const larger = new Float64Array(2 * (user + 1) * NUMBERS);
    larger.set(this.#users);
    this.#users = larger;
  }

  totals(): ReplayTotals {
    const sums = [0, 0, 0];
    const organizations = new Set<number>();
    let users = 0;
    let usersRefused = 0;
    for (const [user, calls, refused] of this.#seen()) {
      for (const outcome of [0, 1, 2]) sums[outcome] = (sums[outcome] ?? 0) + this.#number(user, outcome);
      if (calls > 0) users += 1;
      if (refused > 0) usersRefused += 1;
      organizations.add(this.#callers.organizationOf(user));
    }
    const [admitted = 0, refusedByOrganization = 0, refusedByUser = 0] = sums;
    const refused = refusedByOrganization + refusedByUser;
    return {
      calls: admitted + refused,
      admitted,
      refused,
      refusedByOrganization,
      refusedByUser,
      hopeless: this.#hopeless,
      points: this.#points,
      users,
      usersRefused,
      organizations: organizations.size,
    };
  }

  users(headroom: RulesHeadroom): ReplayUser[] {
    return [...this.#seen()]
      .sort(
        ([a, callsOfA, refusedOfA], [b, callsOfB, refusedOfB]) =>
          refusedOfB - refusedOfA || callsOfB - callsOfA || a - b,
      )
      .slice(0, replayUsersMost)
      .map(([handle, calls, refused]) => {
        const { org, user } = this.#callers.users[handle] as LimitedOwner;
        return {
          org,
          user: user ?? "",
          calls,
          refused,
          refusedByOrganization: this.#number(handle, 1),
          refusedByUser: this.#number(handle, 2),
          firstRefusedAt: refused === 0 ? null : this.#number(handle, FIRST),
          lastRefusedAt: refused === 0 ? null : this.#number(handle, LAST),
          restUseMax: headroom.useMax(handle, 0),
          graphqlUseMax: headroom.useMax(handle, GRAPHQL),
        };
      });
  }

  /** Users that made a call. */
  *#seen(): Generator<readonly [user: number, calls: number, refused: number], void> {
    for (const user of this.#callers.users.keys()) {
      const refused = this.#number(user, 1) + this.#number(user, 2);
      const calls = this.#number(user, ADMITTED) + refused;
      if (calls > 0) yield [user, calls, refused];
    }
  }

  #number(user: number, member: number): number {
    return this.#users[user * NUMBERS + member] ?? 0;
  }

  /** The windows that refused most, and how many there are. */
  refusingWindows(): { readonly windows: readonly RefusingWindow[]; readonly seen: number } {
    for (const owners of this.#refusing) owners.finish();
    return this.#list.finish();
  }
}

type OnRefusing = (
  handle: number,
  scope: ScopeIndex,
  endsAtMs: number,
  refused: number,
  sinceMs: number,
) => void;

/** Counts refusals of each owner's open window. */
class RefusingOwners {
  #numbers = new Float64Array(128 * REFUSALS);
  readonly #onWindow: OnRefusing;

  constructor(onWindow: OnRefusing) {
    this.#onWindow = onWindow;
  }

  /** A window that is not open (its first call is refused) is none: nothing but its limit refused. */
  add(handle: number, scope: ScopeIndex, endsAtMs: number, nowMs: number): void {
    if (endsAtMs === 0) return;
    const at = (2 * handle + scope) * REFUSALS;
    if (at >= this.#numbers.length) this.#grow(at);
    if (this.#numbers[at + END] !== endsAtMs) {
      this.#flush(handle, scope);
      this.#numbers[at + END] = endsAtMs;
      this.#numbers[at + COUNT] = 0;
      this.#numbers[at + SINCE] = nowMs;
    }
    this.#numbers[at + COUNT] = (this.#numbers[at + COUNT] as number) + 1;
  }

  finish(): void {
    for (let handle = 0; 2 * handle * REFUSALS < this.#numbers.length; handle++)
      for (const scope of [0, 1] as const) this.#flush(handle, scope);
  }

  #flush(handle: number, scope: ScopeIndex): void {
    const at = (2 * handle + scope) * REFUSALS;
    const refused = this.#numbers[at + COUNT] ?? 0;
    if (refused === 0) return;
    this.#onWindow(
      handle,
      scope,
      this.#numbers[at + END] as number,
      refused,
      this.#numbers[at + SINCE] as number,
    );
    this.#numbers[at + COUNT] = 0;
  }

  #grow(at: number): void {
    const larger = new Float64Array(2 * (at + 2 * REFUSALS));
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}

/** The windows that refused most, of any number. */
class RefusingList {
  #windows: RefusingWindow[] = [];
  #seen = 0;

  add(
    owners: readonly LimitedOwner[],
    handle: number,
    scope: ScopeIndex,
    endsAt: number,
    refused: number,
    firstRefusedAt: number,
  ): void {
    const { org, user, limits, lengthsMs } = owners[handle] as LimitedOwner;
    this.#seen += 1;
    this.#windows.push({
      org,
      user,
      scope: scopes[scope] as Scope,
      opensAt: endsAt - lengthsMs[scope],
      endsAt,
      limit: limits[scope],
      refused,
      firstRefusedAt,
    });
    if (this.#windows.length >= 4 * replayWindowsMost) this.#cut();
  }

  #cut(): void {
    this.#windows.sort((a, b) => b.refused - a.refused || a.firstRefusedAt - b.firstRefusedAt);
    this.#windows = this.#windows.slice(0, replayWindowsMost);
  }

  finish(): { readonly windows: readonly RefusingWindow[]; readonly seen: number } {
    this.#cut();
    return { windows: this.#windows, seen: this.#seen };
  }
}
