// The limiter over integer handles: one array a scope and kind of owner, one record of 32 bytes a window (so
// that 100,000 users fit the processor's caches), no object and no string made per decision. The simulator uses this door; `Limiter` is the door for strings. Nothing here
// knows a clock: every time is an argument in whole milliseconds since the Unix epoch.

import {
  type OrganizationLimit,
  type Owner,
  type Rules,
  type Scope,
  type Semantics,
  semanticsOf,
  type WindowLimit,
} from "../rules/rules.ts";
import type { WindowReading } from "./adapter.ts";
import {
  CURRENT,
  DOUBLES,
  INTS,
  LINK,
  RESET_AT,
  SEEN,
  type WindowState,
  WindowTable,
} from "./window-table.ts";

/** `scopes[0]` and `scopes[1]` as the core's integers. */
export const REST = 0;
export const GRAPHQL = 1;
export type ScopeIndex = typeof REST | typeof GRAPHQL;

/** Outcomes of `decide`. */
export const ADMITTED = 0;
export const REFUSED_BY_ORGANIZATION = 1;
export const REFUSED_BY_USER = 2;
export type Outcome = typeof ADMITTED | typeof REFUSED_BY_ORGANIZATION | typeof REFUSED_BY_USER;

/** `resetAtMs` of a window that is not open. No open window has it: windows end after the epoch. */
export const NOT_OPEN = 0;

/** One reading of a window, to be filled in place by `LimiterCore.readOrganization` and `readUser`. */
export type MutableReading = { -readonly [Member in keyof WindowReading]: WindowReading[Member] };

/** A reading to fill; who reads often keeps one. */
export function emptyReading(): MutableReading {
  return { limit: 0, current: 0, remaining: 0, reset: 0, resetAtMs: 0, enforced: true };
}

/** Seconds from `nowMs` to `resetAtMs` as the rules round them (SPEC.md §3, §8 `reset`). */
export function resetSeconds(resetAtMs: number, nowMs: number, rounding: Semantics["reset"]): number {
  const seconds = (resetAtMs - nowMs) / 1000;
  return rounding === "ceil"
    ? Math.ceil(seconds)
    : rounding === "floor"
      ? Math.floor(seconds)
      : Math.round(seconds);
}

function requireCount(value: number, field: string): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${field} must be a safe integer >= 0, got ${value}`);
}

/** The switches of one scope, as the decision asks for them. */
interface Switches {
  readonly epoch: boolean;
  readonly counted: boolean;
  readonly chargesOrganization: boolean;
  readonly reserved: boolean;
  readonly postpaid: boolean;
  readonly userAlways: boolean;
  readonly signed: boolean;
  readonly reset: Semantics["reset"];
}

function switchesOf(rules: Rules, scope: Scope): Switches {
  const semantics = semanticsOf(rules, scope);
  return {
    epoch: semantics.anchor === "epoch",
    counted: semantics.refused === "counted",
    chargesOrganization: semantics.refusedByUser === "charges-organization",
    reserved: scope === "graphql" && semantics.graphqlCharge === "reserved",
    postpaid: scope === "graphql" && semantics.graphqlCharge === "postpaid",
    userAlways: semantics.userEnforced === "always",
    signed: semantics.remaining === "signed",
    reset: semantics.reset,
  };
}

/** The windows of one scope. */
interface ScopeWindows {
  readonly switches: Switches;
  /** `LINK` is 1 where the organization's window is enforced. */
  readonly organizations: WindowTable;
  /** `LINK` is the organization's handle. */
  readonly users: WindowTable;
}

/**
 * The pure limiter (SPEC.md §2, §3, §8) over handles from `addOrganization` and `addUser`.
 * Times are safe integers >= 0 in milliseconds; anything else is a RangeError that names the field.
 */
export class LimiterCore {
  readonly #rest: ScopeWindows;
  readonly #graphql: ScopeWindows;
  #floorMs = 0;

  constructor(rules: Rules) {
    const windows = (scope: Scope): ScopeWindows => ({
      switches: switchesOf(rules, scope),
      organizations: new WindowTable(),
      users: new WindowTable(),
    });
    this.#rest = windows("rest");
    this.#graphql = windows("graphql");
  }

  #of(scope: ScopeIndex): ScopeWindows {
    return scope === REST ? this.#rest : this.#graphql;
  }

  #table(owner: Owner, scope: ScopeIndex): WindowTable {
    return owner === "organization" ? this.#of(scope).organizations : this.#of(scope).users;
  }

  /** Earlier times than this count as this (SPEC.md §2.8). */
  get floorMs(): number {
    return this.#floorMs;
  }

  raiseFloor(nowMs: number): void {
    requireCount(nowMs, "nowMs");
    this.#floorMs = Math.max(this.#floorMs, nowMs);
  }

  /** Returns the organization's handle, valid until it is dropped. */
  addOrganization(limits: Readonly<Record<Scope, OrganizationLimit>>): number {
    const handle = this.#rest.organizations.take(limits.rest, Number(limits.rest.enforced));
    this.#graphql.organizations.take(limits.graphql, Number(limits.graphql.enforced));
    return handle;
  }

  /** Returns the user's handle, valid until it is dropped; the user's calls are its organization's. */
  addUser(organization: number, limits: Readonly<Record<Scope, WindowLimit>>): number {
    const handle = this.#rest.users.take(limits.rest, organization);
    this.#graphql.users.take(limits.graphql, organization);
    return handle;
  }

  /** The handle of the organization that a user belongs to. */
  organizationOf(user: number): number {
    return this.#rest.users.ints[user * INTS + LINK] as number;
  }

  /** The handle may be given to another afterwards. */
  drop(owner: Owner, handle: number): void {
    this.#table(owner, REST).give(handle);
    this.#table(owner, GRAPHQL).give(handle);
  }

  setEnforced(organization: number, scope: ScopeIndex, enforced: boolean): void {
    this.#of(scope).organizations.ints[organization * INTS + LINK] = Number(enforced);
  }

  /**
   * Decides one call and charges every window it touches, or none (SPEC.md §2.1-§2.5).
   * Under `graphqlCharge` `reserved` or `postpaid` an admitted GraphQL call must be settled.
   * @param cost requests or requested points, a safe integer >= 0
   * @param nowMs milliseconds since the epoch
   */
  decide(user: number, scope: ScopeIndex, cost: number, nowMs: number): Outcome {
    requireCount(cost, "cost");
    requireCount(nowMs, "nowMs");
    const { switches, organizations, users } = this.#of(scope);
    const organization = users.ints[user * INTS + LINK] as number;
    const broadNow = advance(organizations, organization, nowMs, this.#floorMs, switches.epoch);
    const narrowNow = advance(users, user, nowMs, this.#floorMs, switches.epoch);
    const enforced = organizations.ints[organization * INTS + LINK] === 1;

    if (enforced && !hasRoom(organizations, organization, cost, switches.postpaid)) {
      if (switches.counted) charge(organizations, organization, cost, broadNow);
      return REFUSED_BY_ORGANIZATION;
    }
    if ((enforced || switches.userAlways) && !hasRoom(users, user, cost, switches.postpaid)) {
      if (switches.counted) charge(users, user, cost, narrowNow);
      if (switches.chargesOrganization) charge(organizations, organization, cost, broadNow);
      return REFUSED_BY_USER;
    }
    if (!switches.postpaid) {
      charge(organizations, organization, cost, broadNow);
      charge(users, user, cost, narrowNow);
    }
    return ADMITTED;
  }

  /**
   * Completes an admitted GraphQL call (SPEC.md §8 `graphqlCharge`): gives back `requested - actual`
   * (`reserved`), charges `actual` (`postpaid`), or does nothing (`prepaid`).
   * @param organizationWindow `resetAtMs` of the organization's window at the decision, or `NOT_OPEN`
   * @param actual points charged in the end, a safe integer from 0 to `requested`
   */
  settle(
    user: number,
    requested: number,
    actual: number,
    organizationWindow: number,
    userWindow: number,
    nowMs: number,
  ): void {
    requireCount(actual, "actual");
    requireCount(nowMs, "nowMs");
    if (actual > requested)
      throw new RangeError(`actual must be at most the ${requested} points requested, got ${actual}`);
    const { organizations, users } = this.#graphql;
    const organization = users.ints[user * INTS + LINK] as number;
    this.#complete(organizations, organization, requested, actual, organizationWindow, nowMs);
    this.#complete(users, user, requested, actual, userWindow, nowMs);
  }

  #complete(
    table: WindowTable,
    handle: number,
    requested: number,
    actual: number,
    window: number,
    nowMs: number,
  ): void {
    const { switches } = this.#graphql;
    const now = advance(table, handle, nowMs, this.#floorMs, switches.epoch);
    const same = table.doubles[handle * DOUBLES + RESET_AT] === window && now < window;
    if (switches.reserved && same) {
      const current = table.doubles[handle * DOUBLES + CURRENT] as number;
      table.doubles[handle * DOUBLES + CURRENT] = current - (requested - actual);
    }
    if (switches.postpaid && (same || window === NOT_OPEN)) charge(table, handle, actual, now);
  }

  /**
   * `resetAtMs` of the window that a call of this user found open, or left open, or `NOT_OPEN`. To be asked
   * just after the call: a window that was over has been rolled then.
   */
  windowOf(owner: Owner, user: number, scope: ScopeIndex): number {
    const { organizations, users } = this.#of(scope);
    const organization = users.ints[user * INTS + LINK] as number;
    return owner === "user"
      ? (users.doubles[user * DOUBLES + RESET_AT] as number)
      : (organizations.doubles[organization * DOUBLES + RESET_AT] as number);
  }

  /** Reads an organization's window at `nowMs` without moving its clock (SPEC.md §2.8, §3). */
  readOrganization(organization: number, scope: ScopeIndex, nowMs: number, out: MutableReading): void {
    const { switches, organizations } = this.#of(scope);
    read(organizations, organization, switches, nowMs, this.#floorMs, out);
    out.enforced = organizations.ints[organization * INTS + LINK] === 1;
  }

  /** Reads a user's window at `nowMs` without moving its clock. */
  readUser(user: number, scope: ScopeIndex, nowMs: number, out: MutableReading): void {
    const { switches, organizations, users } = this.#of(scope);
    read(users, user, switches, nowMs, this.#floorMs, out);
    const organization = users.ints[user * INTS + LINK] as number;
    out.enforced = switches.userAlways || organizations.ints[organization * INTS + LINK] === 1;
  }

  /** Tells whether nothing of this key needs remembering: its windows are over at the floor, its clocks not ahead. */
  isIdle(owner: Owner, handle: number): boolean {
    return [REST, GRAPHQL].every((scope) => {
      const { resetAtMs, seenMs } = this.exportWindow(owner, handle, scope as ScopeIndex);
      return resetAtMs <= this.#floorMs && seenMs <= this.#floorMs;
    });
  }

  exportWindow(owner: Owner, handle: number, scope: ScopeIndex): WindowState {
    return this.#table(owner, scope).read(handle);
  }

  importWindow(owner: Owner, handle: number, scope: ScopeIndex, state: WindowState): void {
    this.#table(owner, scope).write(handle, state);
  }
}

/**
 * Moves a window's own clock to `nowMs`, never back (SPEC.md §2.8), and rolls the window if it is over.
 * Returns the instant that counts. A rolled first-request window stays closed until something is charged.
 */
function advance(table: WindowTable, handle: number, nowMs: number, floorMs: number, epoch: boolean): number {
  const { doubles } = table;
  const at = handle * DOUBLES;
  const now = Math.max(nowMs, floorMs, doubles[at + SEEN] as number);
  doubles[at + SEEN] = now;
  if (now >= (doubles[at + RESET_AT] as number)) {
    const length = table.lengthMs(handle);
    doubles[at + CURRENT] = 0;
    doubles[at + RESET_AT] = epoch ? now - (now % length) + length : NOT_OPEN;
  }
  return now;
}

/** Written as a difference: `current + cost` could pass what a double counts exactly. */
function hasRoom(table: WindowTable, handle: number, cost: number, postpaid: boolean): boolean {
  const room = table.limit(handle) - (table.doubles[handle * DOUBLES + CURRENT] as number);
  return postpaid ? room > 0 : cost <= room;
}

/** Adds to a window, opening it at the whole second where none is open. Counts end at 2^53 - 1. */
function charge(table: WindowTable, handle: number, amount: number, now: number): void {
  const { doubles } = table;
  const at = handle * DOUBLES;
  if (doubles[at + RESET_AT] === NOT_OPEN)
    doubles[at + RESET_AT] = now - (now % 1000) + table.lengthMs(handle);
  doubles[at + CURRENT] = Math.min((doubles[at + CURRENT] as number) + amount, Number.MAX_SAFE_INTEGER);
}

/** An idle window reads as one that would open now (SPEC.md §3). */
function read(
  table: WindowTable,
  handle: number,
  switches: Switches,
  nowMs: number,
  floorMs: number,
  out: MutableReading,
): void {
  const { doubles } = table;
  const at = handle * DOUBLES;
  const now = Math.max(nowMs, floorMs, doubles[at + SEEN] as number);
  const limit = table.limit(handle);
  let resetAt = doubles[at + RESET_AT] as number;
  let current = doubles[at + CURRENT] as number;
  if (now >= resetAt) {
    const length = table.lengthMs(handle);
    current = 0;
    resetAt = now - (now % (switches.epoch ? length : 1000)) + length;
  }
  const left = limit - current;
  out.limit = limit;
  out.current = current;
  out.remaining = switches.signed ? left : Math.max(0, left);
  out.reset = resetSeconds(resetAt, now, switches.reset);
  out.resetAtMs = resetAt;
}
