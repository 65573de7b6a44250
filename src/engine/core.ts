// The limiter over integer handles: two Float64Arrays, one record of 64 bytes a window, no object and no
// string made per decision. The simulator uses this door; `Limiter` is the door for strings. Nothing here
// knows a clock: every time is an argument in whole milliseconds since the Unix epoch.
import { type Rules, type Scope, type Semantics, scopes, semanticsOf } from "../rules/rules.ts";

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

// Fields of a window's record. A record is a cache line; the organization's handle sits in its users'.
const RESET_AT = 0;
const CURRENT = 1;
const SEEN = 2;
const LIMIT = 3;
const LENGTH = 4;
const ENFORCED = 5;
const ORGANIZATION = 6;
const RECORD = 8;
const KEY = RECORD * 2;

const MOST = Number.MAX_SAFE_INTEGER;

/** One reading of a window, filled in place by `LimiterCore.read`. */
export class ReadingRecord {
  limit = 0;
  current = 0;
  remaining = 0;
  reset = 0;
  resetAtMs = 0;
  enforced = true;
}

/** The windows of one kind of owner, and which of its records are free. */
class Table {
  records = new Float64Array(KEY * 16);
  used = 0;
  readonly free: number[] = [];

  take(): number {
    const freed = this.free.pop();
    if (freed !== undefined) {
      this.records.fill(0, freed * KEY, (freed + 1) * KEY);
      return freed;
    }
    if ((this.used + 1) * KEY > this.records.length) {
      const larger = new Float64Array(this.records.length * 2);
      larger.set(this.records);
      this.records = larger;
    }
    return this.used++;
  }
}

/** What a window remembers, for snapshots. */
export interface WindowState {
  resetAtMs: number;
  current: number;
  seenMs: number;
}

/** Seconds from `nowMs` to `resetAtMs` as the rules round them (SPEC.md §3, `reset`). */
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

/**
 * The pure limiter (SPEC.md §2, §3, §8) over handles from `addOrganization` and `addUser`.
 * Times are safe integers >= 0 in milliseconds; anything else is a RangeError that names the field.
 */
export class LimiterCore {
  readonly #semantics: readonly [Semantics, Semantics];
  readonly #organizations = new Table();
  readonly #users = new Table();
  #floorMs = 0;

  constructor(rules: Rules) {
    this.#semantics = [semanticsOf(rules, "rest"), semanticsOf(rules, "graphql")];
  }

  /** Earlier times than this count as this (SPEC.md §2.8). */
  get floorMs(): number {
    return this.#floorMs;
  }

  raiseFloor(nowMs: number): void {
    requireCount(nowMs, "nowMs");
    if (nowMs > this.#floorMs) this.#floorMs = nowMs;
  }

  addOrganization(
    limits: Readonly<Record<Scope, { limit: number; windowSeconds: number; enforced: boolean }>>,
  ): number {
    const handle = this.#organizations.take();
    for (const [index, scope] of scopes.entries()) {
      const { limit, windowSeconds, enforced } = limits[scope];
      this.#describe(this.#organizations, handle * KEY + index * RECORD, limit, windowSeconds);
      this.setEnforced(handle, index as ScopeIndex, enforced);
    }
    return handle;
  }

  addUser(
    organization: number,
    limits: Readonly<Record<Scope, { limit: number; windowSeconds: number }>>,
  ): number {
    const handle = this.#users.take();
    for (const [index, scope] of scopes.entries()) {
      const at = handle * KEY + index * RECORD;
      this.#describe(this.#users, at, limits[scope].limit, limits[scope].windowSeconds);
      this.#users.records[at + ORGANIZATION] = organization;
    }
    return handle;
  }

  #describe(table: Table, at: number, limit: number, windowSeconds: number): void {
    table.records[at + LIMIT] = limit;
    table.records[at + LENGTH] = windowSeconds * 1000;
  }

  /** The handle is free for another organization afterwards. */
  dropOrganization(handle: number): void {
    this.#organizations.free.push(handle);
  }

  dropUser(handle: number): void {
    this.#users.free.push(handle);
  }

  setEnforced(organization: number, scope: ScopeIndex, enforced: boolean): void {
    this.#organizations.records[organization * KEY + scope * RECORD + ENFORCED] = enforced ? 1 : 0;
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
    const semantics = this.#semantics[scope];
    const users = this.#users.records;
    const narrow = user * KEY + scope * RECORD;
    const organizations = this.#organizations.records;
    const broad = (users[narrow + ORGANIZATION] as number) * KEY + scope * RECORD;
    const epoch = semantics.anchor === "epoch";
    const broadNow = this.#advance(organizations, broad, nowMs, epoch);
    const narrowNow = this.#advance(users, narrow, nowMs, epoch);
    const postpaid = scope === GRAPHQL && semantics.graphqlCharge === "postpaid";
    const enforced = organizations[broad + ENFORCED] === 1;

    if (enforced && !hasRoom(organizations, broad, cost, postpaid)) {
      if (semantics.refused === "counted") charge(organizations, broad, cost, broadNow);
      return REFUSED_BY_ORGANIZATION;
    }
    if ((enforced || semantics.userEnforced === "always") && !hasRoom(users, narrow, cost, postpaid)) {
      if (semantics.refused === "counted") charge(users, narrow, cost, narrowNow);
      if (semantics.refusedByUser === "charges-organization") charge(organizations, broad, cost, broadNow);
      return REFUSED_BY_USER;
    }
    if (!postpaid) {
      charge(organizations, broad, cost, broadNow);
      charge(users, narrow, cost, narrowNow);
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
    const narrow = user * KEY + RECORD;
    const broad = (this.#users.records[narrow + ORGANIZATION] as number) * KEY + RECORD;
    this.#complete(this.#organizations.records, broad, requested, actual, organizationWindow, nowMs);
    this.#complete(this.#users.records, narrow, requested, actual, userWindow, nowMs);
  }

  #complete(
    records: Float64Array,
    at: number,
    requested: number,
    actual: number,
    window: number,
    nowMs: number,
  ): void {
    const semantics = this.#semantics[GRAPHQL];
    const now = this.#advance(records, at, nowMs, semantics.anchor === "epoch");
    const same = records[at + RESET_AT] === window && now < window;
    if (semantics.graphqlCharge === "reserved") {
      if (same) records[at + CURRENT] = (records[at + CURRENT] as number) - (requested - actual);
    } else if (semantics.graphqlCharge === "postpaid") {
      if (same || window === NOT_OPEN) charge(records, at, actual, now);
    }
  }

  /** `resetAtMs` of the window that is open for this user's calls just after a call, or `NOT_OPEN`. */
  organizationWindow(user: number, scope: ScopeIndex): number {
    const organization = this.#users.records[user * KEY + scope * RECORD + ORGANIZATION] as number;
    return openWindow(this.#organizations.records, organization * KEY + scope * RECORD);
  }

  userWindow(user: number, scope: ScopeIndex): number {
    return openWindow(this.#users.records, user * KEY + scope * RECORD);
  }

  /** Reads an organization's window at `nowMs` without moving its clock (SPEC.md §2.8, §3). */
  readOrganization(organization: number, scope: ScopeIndex, nowMs: number, out: ReadingRecord): void {
    const at = organization * KEY + scope * RECORD;
    this.#read(this.#organizations.records, at, scope, nowMs, out);
    out.enforced = this.#organizations.records[at + ENFORCED] === 1;
  }

  /** Reads a user's window at `nowMs` without moving its clock. */
  readUser(user: number, scope: ScopeIndex, nowMs: number, out: ReadingRecord): void {
    const at = user * KEY + scope * RECORD;
    this.#read(this.#users.records, at, scope, nowMs, out);
    const organization = this.#users.records[at + ORGANIZATION] as number;
    out.enforced =
      this.#semantics[scope].userEnforced === "always" ||
      this.#organizations.records[organization * KEY + scope * RECORD + ENFORCED] === 1;
  }

  #read(records: Float64Array, at: number, scope: ScopeIndex, nowMs: number, out: ReadingRecord): void {
    const semantics = this.#semantics[scope];
    const now = Math.max(nowMs, this.#floorMs, records[at + SEEN] as number);
    const resetAt = records[at + RESET_AT] as number;
    const length = records[at + LENGTH] as number;
    const open = now < resetAt;
    const limit = records[at + LIMIT] as number;
    const current = open ? (records[at + CURRENT] as number) : 0;
    // An idle window reads as one that would open now (SPEC.md §3).
    const opening = semantics.anchor === "epoch" ? now - (now % length) : now - (now % 1000);
    out.resetAtMs = open ? resetAt : opening + length;
    out.limit = limit;
    out.current = current;
    out.remaining = semantics.remaining === "signed" ? limit - current : Math.max(0, limit - current);
    out.reset = resetSeconds(out.resetAtMs, now, semantics.reset);
  }

  /** Whether nothing of this key needs remembering at the floor: its windows are over and its clock is not ahead. */
  isIdle(owner: "organization" | "user", handle: number): boolean {
    const { records } = owner === "user" ? this.#users : this.#organizations;
    for (let at = handle * KEY; at < (handle + 1) * KEY; at += RECORD) {
      if ((records[at + RESET_AT] as number) > this.#floorMs) return false;
      if ((records[at + SEEN] as number) > this.#floorMs) return false;
    }
    return true;
  }

  exportWindow(owner: "organization" | "user", handle: number, scope: ScopeIndex): WindowState {
    const { records } = owner === "user" ? this.#users : this.#organizations;
    const at = handle * KEY + scope * RECORD;
    return {
      resetAtMs: records[at + RESET_AT] as number,
      current: records[at + CURRENT] as number,
      seenMs: records[at + SEEN] as number,
    };
  }

  importWindow(owner: "organization" | "user", handle: number, scope: ScopeIndex, state: WindowState): void {
    const { records } = owner === "user" ? this.#users : this.#organizations;
    const at = handle * KEY + scope * RECORD;
    records[at + RESET_AT] = state.resetAtMs;
    records[at + CURRENT] = state.current;
    records[at + SEEN] = state.seenMs;
  }

  /**
   * Moves a window's own clock to `nowMs`, never back (SPEC.md §2.8), and rolls the window if it is over.
   * Returns the instant that counts. A rolled first-request window stays closed until something is charged.
   */
  #advance(records: Float64Array, at: number, nowMs: number, epoch: boolean): number {
    let now = Math.max(nowMs, this.#floorMs);
    const seen = records[at + SEEN] as number;
    if (seen > now) now = seen;
    else records[at + SEEN] = now;
    if (now >= (records[at + RESET_AT] as number)) {
      const length = records[at + LENGTH] as number;
      records[at + CURRENT] = 0;
      records[at + RESET_AT] = epoch ? now - (now % length) + length : NOT_OPEN;
    }
    return now;
  }
}

/** Written as a difference: `current + cost` could pass what a double counts exactly. */
function hasRoom(records: Float64Array, at: number, cost: number, postpaid: boolean): boolean {
  const room = (records[at + LIMIT] as number) - (records[at + CURRENT] as number);
  return postpaid ? room > 0 : cost <= room;
}

/** Adds to a window, opening it at the whole second where none is open. Counts end at 2^53 - 1. */
function charge(records: Float64Array, at: number, amount: number, now: number): void {
  if (records[at + RESET_AT] === NOT_OPEN)
    records[at + RESET_AT] = now - (now % 1000) + (records[at + LENGTH] as number);
  const current = (records[at + CURRENT] as number) + amount;
  records[at + CURRENT] = Math.min(current, MOST);
}

/** Valid just after `#advance`: a window that is over has been rolled by then. */
function openWindow(records: Float64Array, at: number): number {
  return records[at + RESET_AT] as number;
}
