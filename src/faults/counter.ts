// A fixed-window counter written plainly from SPEC.md §2 and §3, for the faults that are in the counting itself:
// each replaces one of its methods. Left alone it answers as the engine does, under every switch; a test holds
// it to that, so that a fault made of it is the only one it has.
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "../engine/adapter.ts";
import { resetSeconds } from "../engine/core.ts";
import type { Store } from "../engine/store.ts";
import {
  type Owner,
  organizationLimit,
  owners,
  type Rules,
  type Scope,
  type Semantics,
  semanticsOf,
  userLimit,
} from "../rules/rules.ts";

/** Whose window: an organization's (`user` null), or one user's. */
export interface WindowKey {
  readonly organization: string;
  readonly user: string | null;
  readonly scope: Scope;
}

/** The memory of a window. */
export interface CounterWindow {
  /** ms since the epoch; 0 where none is open. */
  resetAtMs: number;
  count: number;
  /** The latest time that a call of this window was decided at (SPEC.md §2.8). */
  seenMs: number;
  /** No other window of this counter has this number. */
  number: number;
  /** True if a fault strikes this window: a right counter never asks. */
  struck: boolean;
}

/** A window as it begins. */
export type NextWindow = Omit<CounterWindow, "seenMs" | "number">;

const fresh = (): CounterWindow => ({ resetAtMs: 0, count: 0, seenMs: 0, number: 0, struck: false });

/** The state in which a call found a window. */
export interface Found {
  readonly count: number;
  readonly resetAtMs: number;
}

export interface WindowSize {
  readonly limit: number;
  readonly lengthMs: number;
}

export const keyOf = ({ organization, user, scope }: Omit<Call, "cost">, owner: Owner): WindowKey => ({
  organization,
  user: owner === "user" ? user : null,
  scope,
});

export class Counter implements Store {
  readonly rules: Rules;
  readonly windows = new Map<string, CounterWindow>();
  readonly #semantics: Readonly<Record<Scope, Semantics>>;
  readonly #enforced = new Map<string, boolean>();
  #floorMs = 0;
  #opened = 0;

  constructor(rules: Rules) {
    this.rules = rules;
    this.#semantics = { rest: semanticsOf(rules, "rest"), graphql: semanticsOf(rules, "graphql") };
  }

  decide(call: Call, nowMs: number): Decision {
    return this.decideOn(call, this.look(call, nowMs), nowMs);
  }

  /** Returns the states in which a call finds its windows. */
  look(call: Call, nowMs: number): Readonly<Record<Owner, Found>> {
    const found = (owner: Owner): Found => ({ ...this.window(keyOf(call, owner), nowMs) });
    return { organization: found("organization"), user: found("user") };
  }

  /** Decides by what was found, and writes what follows from that. */
  decideOn(call: Call, found: Readonly<Record<Owner, Found>>, nowMs: number): Decision {
    const refusedBy = this.refuserOf(call, found);
    for (const owner of owners) {
      const amount = this.amount(call, owner, refusedBy);
      if (amount !== null) this.charge(keyOf(call, owner), amount, nowMs, found[owner]);
    }
    const readings = this.readings(call.organization, call.user, call.scope, nowMs);
    const reserved = refusedBy === null && call.scope === "graphql";
    const reservation = reserved ? this.#reservation(call, nowMs) : null;
    return { admitted: refusedBy === null, refusedBy, ...readings, reservation };
  }

  #reservation({ organization, user, cost }: Call, nowMs: number): Reservation {
    const scope = "graphql";
    // By number: a fault may move a window's end.
    const held = (owner: Owner): number | null => {
      const { resetAtMs, number } = this.window(keyOf({ organization, user, scope }, owner), nowMs);
      return resetAtMs === 0 ? null : number;
    };
    return {
      organization,
      user,
      scope,
      requested: cost,
      organizationWindow: held("organization"),
      userWindow: held("user"),
    };
  }

  /** Whose window refuses, the organization's first (SPEC.md §2.4). */
  refuserOf(call: Call, found: Readonly<Record<Owner, Found>>): Owner | null {
    return (
      owners.find(
        (owner) => this.mayRefuse(call, owner) && !this.hasRoom(keyOf(call, owner), call.cost, found[owner]),
      ) ?? null
    );
  }

  mayRefuse({ organization, scope }: Call, owner: Owner): boolean {
    return this.isEnforced({ organization, user: owner === "user" ? "" : null, scope });
  }

  hasRoom(key: WindowKey, cost: number, { count }: Found): boolean {
    const room = this.limitOf(key).limit - count;
    return this.isPostpaid(key.scope) ? room > 0 : cost <= room;
  }

  /** Returns the amount that a decision adds to one of its windows; `null` where it counts nothing there. */
  amount({ scope, cost }: Call, owner: Owner, refusedBy: Owner | null): number | null {
    if (refusedBy === null) return this.isPostpaid(scope) ? null : cost;
    const { refused, refusedByUser } = this.#semantics[scope];
    const named = refused === "counted" && refusedBy === owner;
    const broad =
      refusedByUser === "charges-organization" && refusedBy === "user" && owner === "organization";
    return named || broad ? cost : null;
  }

  /** Adds to a window's count, as it was found, and opens the window where none is open. */
  charge(key: WindowKey, amount: number, nowMs: number, found: Found): void {
    const window = this.window(key, nowMs);
    if (window.resetAtMs === 0)
      window.resetAtMs = window.seenMs - (window.seenMs % 1000) + this.limitOf(key).lengthMs;
    window.count = Math.min(found.count + amount, Number.MAX_SAFE_INTEGER);
  }

  settle(reservation: Reservation, actual: number, nowMs: number): Readings {
    const { organization, user, requested, organizationWindow, userWindow } = reservation;
    this.#complete(
      { organization, user: null, scope: "graphql" },
      requested,
      actual,
      organizationWindow,
      nowMs,
    );
    this.#complete({ organization, user, scope: "graphql" }, requested, actual, userWindow, nowMs);
    return this.readings(organization, user, "graphql", nowMs);
  }

  #complete(key: WindowKey, requested: number, actual: number, held: number | null, nowMs: number): void {
    const window = this.window(key, nowMs);
    const { graphqlCharge } = this.#semantics.graphql;
    const same = window.number === held;
    // Not below 0: a fault may have lost what is given back here.
    if (graphqlCharge === "reserved" && same) window.count = Math.max(0, window.count - (requested - actual));
    if (graphqlCharge === "postpaid" && (same || held === null)) this.charge(key, actual, nowMs, window);
  }

  status(organization: string, nowMs: number): Status {
    return {
      rest: this.read({ organization, user: null, scope: "rest" }, nowMs),
      graphql: this.read({ organization, user: null, scope: "graphql" }, nowMs),
    };
  }

  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return {
      organization: this.read({ organization, user: null, scope }, nowMs),
      user: this.read({ organization, user, scope }, nowMs),
    };
  }

  /** Reads a window without moving its clock. An idle one reads as one that would open now. */
  read(key: WindowKey, nowMs: number): WindowReading {
    const known = this.windows.get(this.nameOf(key, nowMs)) ?? fresh();
    const { limit, lengthMs } = this.limitOf(key);
    const now = this.clock(known, nowMs);
    const { count, resetAtMs } = this.isOver(key, known, now) ? this.next(key, known, now) : known;
    const until = resetAtMs === 0 ? now - (now % 1000) + lengthMs : resetAtMs;
    return {
      limit,
      current: count,
      remaining: this.remaining(key, count),
      reset: resetSeconds(until, now, this.#semantics[key.scope].reset),
      resetAtMs: until,
      enforced: this.isEnforced(key),
    };
  }

  /** Returns the rest of a window with this count, as it is shown. */
  remaining(key: WindowKey, count: number): number {
    const left = this.limitOf(key).limit - count;
    return this.#semantics[key.scope].remaining === "signed" ? left : Math.max(0, left);
  }

  /** The window of a call, rolled if it is over. */
  window(key: WindowKey, nowMs: number): CounterWindow {
    const name = this.nameOf(key, nowMs);
    let window = this.windows.get(name);
    if (window === undefined) {
      window = fresh();
      this.windows.set(name, window);
    }
    window.seenMs = this.clock(window, nowMs);
    if (this.isOver(key, window, window.seenMs))
      Object.assign(window, this.next(key, window, window.seenMs), { number: ++this.#opened });
    return window;
  }

  /** Empties a window before its end: what its calls hold is not given back. A right counter never does. */
  empty(window: CounterWindow): void {
    window.count = 0;
    window.number = ++this.#opened;
  }

  /** The time that counts for a window: it never steps back (SPEC.md §2.8). */
  clock(window: CounterWindow, nowMs: number): number {
    return Math.max(nowMs, window.seenMs, this.#floorMs);
  }

  isOver(_key: WindowKey, { resetAtMs }: CounterWindow, nowMs: number): boolean {
    return nowMs >= resetAtMs;
  }

  /** The window after one that is over; a first-request window opens only when something is charged. */
  next(key: WindowKey, _window: CounterWindow, nowMs: number): NextWindow {
    return { count: 0, resetAtMs: this.endOf(key, nowMs), struck: false };
  }

  /** Returns the end of this instant's window; 0 where nothing says it yet. */
  endOf(key: WindowKey, nowMs: number): number {
    const { lengthMs } = this.limitOf(key);
    return this.isEpoch(key.scope) ? nowMs - (nowMs % lengthMs) + lengthMs : 0;
  }

  nameOf({ organization, user, scope }: WindowKey, _nowMs: number): string {
    return JSON.stringify([scope, organization, user]);
  }

  limitOf({ organization, user, scope }: WindowKey): WindowSize {
    const { limit, windowSeconds } =
      user === null
        ? organizationLimit(this.rules, organization, scope)
        : userLimit(this.rules, organization, user, scope);
    return { limit, lengthMs: windowSeconds * 1000 };
  }

  isEpoch(scope: Scope): boolean {
    return this.#semantics[scope].anchor === "epoch";
  }

  isPostpaid(scope: Scope): boolean {
    return scope === "graphql" && this.#semantics.graphql.graphqlCharge === "postpaid";
  }

  isEnforced({ organization, user, scope }: WindowKey): boolean {
    if (user !== null && this.#semantics[scope].userEnforced === "always") return true;
    const set = this.#enforced.get(JSON.stringify([scope, organization]));
    return set ?? organizationLimit(this.rules, organization, scope).enforced;
  }

  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    this.#enforced.set(JSON.stringify([scope, organization]), enforced);
  }

  /** Keeps its keys: what is wrong with a faulty counter may be in what it remembers. */
  sweep(nowMs: number): void {
    this.#floorMs = Math.max(this.#floorMs, nowMs);
  }
}
