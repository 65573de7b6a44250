// A third reading of SPEC.md, beside the engine's and the oracle's: one organization's scope as plain data, one
// function a rule, as short as the rules are. It imports neither of the two. Where the rules leave a choice, the
// function returns all that are allowed. Times are the target's own, whole ms.
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  type Semantics,
  semanticsOf,
  userLimit,
} from "../../src/rules/rules.ts";

/** An open window; `end` is its `resetAt` (SPEC.md §1). */
export interface Window {
  readonly end: number;
  readonly count: number;
}

/** Whose quota: the organization's, or a user's by name. */
export type Key = "organization" | `user ${string}`;

export const keyOf = (owner: Owner, user: string): Key =>
  owner === "organization" ? "organization" : `user ${user}`;

/** A GraphQL call between its decision and its completion, with the windows that it found then. */
export interface UnderWay {
  readonly cost: number;
  /** The windows' ends; `null` where none was open. */
  readonly ends: Readonly<Record<Owner, number | null>>;
}

/** A scope's windows and the calls under way. `null`: none is open; absent: not known, the trace began later. */
export interface State {
  readonly windows: Readonly<{ [K in Key]?: Window | null }>;
  readonly underWay: Readonly<Record<number, UnderWay>>;
}

/** State before the first event. */
export const nothingYet: State = { windows: {}, underWay: {} };

export interface Reading {
  readonly limit: number;
  readonly current: number;
  readonly remaining: number;
  readonly reset: number;
  readonly resetAt: number;
}

export interface Decided {
  readonly state: State;
  readonly refusedBy: Owner | null;
}

const owners: readonly Owner[] = ["organization", "user"];
const second = 1000;
const floorTo = (step: number, now: number): number => Math.floor(now / step) * step;

/** One organization's scope. */
export class ScopeModel {
  readonly semantics: Semantics;
  readonly #rules: Rules;
  readonly #org: string;
  readonly #scope: Scope;
  readonly #enforced: boolean;
  /** §8 `graphqlCharge`; REST counts when it is decided (§1, cost). */
  readonly charging: "at-decision" | "reserved" | "postpaid";

  constructor(rules: Rules, org: string, scope: Scope) {
    this.#rules = rules;
    this.#org = org;
    this.#scope = scope;
    this.semantics = semanticsOf(rules, scope);
    this.#enforced = organizationLimit(rules, org, scope).enforced;
    const { graphqlCharge } = this.semantics;
    this.charging = scope === "rest" || graphqlCharge === "prepaid" ? "at-decision" : graphqlCharge;
  }

  get enforced(): boolean {
    return this.#enforced;
  }

  limit(key: Key): number {
    return this.#limits(key).limit;
  }

  lengthMs(key: Key): number {
    return this.#limits(key).windowSeconds * second;
  }

  #limits(key: Key) {
    return key === "organization"
      ? organizationLimit(this.#rules, this.#org, this.#scope)
      : userLimit(this.#rules, this.#org, key.slice("user ".length), this.#scope);
  }

  /** §3: the window that is open at `now`, on the epoch's grid always one. */
  #open(state: State, key: Key, now: number): Window | null {
    const window = state.windows[key] ?? null;
    if (window !== null && now < window.end) return window;
    if (this.semantics.anchor === "first-request") return null;
    return { end: floorTo(this.lengthMs(key), now) + this.lengthMs(key), count: 0 };
  }

  /** §3: what is charged goes to the open window, and opens one at the whole second where none is. */
  #charge(state: State, key: Key, amount: number, now: number): State {
    const open = this.#open(state, key, now) ?? { end: floorTo(second, now) + this.lengthMs(key), count: 0 };
    const window = { end: open.end, count: open.count + amount };
    return { ...state, windows: { ...state.windows, [key]: window } };
  }

  /** §7 `refusal-justified`. */
  #hasRoom(state: State, key: Key, cost: number, now: number): boolean {
    const count = this.#open(state, key, now)?.count ?? 0;
    return this.charging === "postpaid" ? count < this.limit(key) : count + cost <= this.limit(key);
  }

  /** §2.4, §2.5: whose window refuses; the organization's is named first. */
  #refusedBy(state: State, user: string, cost: number, now: number): Owner | null {
    if (this.#enforced && !this.#hasRoom(state, "organization", cost, now)) return "organization";
    const userIsEnforced = this.#enforced || this.semantics.userEnforced === "always";
    return userIsEnforced && !this.#hasRoom(state, keyOf("user", user), cost, now) ? "user" : null;
  }

  /** §2.1-§2.3: one call is decided, and charges both windows or, refused, none but what §8 says. */
  decide(state: State, id: number, user: string, cost: number, now: number): Decided {
    const refusedBy = this.#refusedBy(state, user, cost, now);
    const { refused, refusedByUser } = this.semantics;
    if (refusedBy !== null) {
      let after = state;
      if (refused === "counted") after = this.#charge(after, keyOf(refusedBy, user), cost, now);
      if (refusedBy === "user" && refusedByUser === "charges-organization")
        after = this.#charge(after, "organization", cost, now);
      return { state: after, refusedBy };
    }
    let after = state;
    if (this.charging !== "postpaid")
      for (const owner of owners) after = this.#charge(after, keyOf(owner, user), cost, now);
    if (this.charging === "at-decision") return { state: after, refusedBy };
    const end = (owner: Owner): number | null => this.#open(after, keyOf(owner, user), now)?.end ?? null;
    const ends = { organization: end("organization"), user: end("user") };
    return { state: { ...after, underWay: { ...after.underWay, [id]: { cost, ends } } }, refusedBy };
  }

  /** §8 `graphqlCharge`, §9: what may become of the windows when an admitted GraphQL call completes. */
  complete(state: State, id: number, user: string, actual: number, now: number): readonly State[] {
    const call = state.underWay[id];
    if (call === undefined) throw new RangeError(`call ${id} is not under way`);
    const { [id]: _, ...underWay } = state.underWay;
    let after: readonly State[] = [{ ...state, underWay }];
    for (const owner of owners)
      after = after.flatMap((each) =>
        this.#settle(each, keyOf(owner, user), call.ends[owner], call.cost - actual, actual, now),
      );
    return after;
  }

  #settle(
    state: State,
    key: Key,
    end: number | null,
    unused: number,
    actual: number,
    now: number,
  ): readonly State[] {
    const open = this.#open(state, key, now);
    const same = open !== null && open.end === end;
    if (this.charging === "reserved") return [same ? this.#charge(state, key, -unused, now) : state];
    const charged = this.#charge(state, key, actual, now);
    // To the window of its decision, nowhere if that is over; a judge accepts the one open at completion too.
    return same || end === null ? [charged] : [state, charged];
  }

  /** §3, §5: what a window shows. An idle first-request window reads as one that would open now. */
  read(state: State, key: Key, now: number): Reading {
    const open = this.#open(state, key, now) ?? { end: floorTo(second, now) + this.lengthMs(key), count: 0 };
    const limit = this.limit(key);
    const left = limit - open.count;
    return {
      limit,
      current: open.count,
      remaining: this.semantics.remaining === "signed" ? left : Math.max(0, left),
      reset: this.#seconds(open.end - now),
      resetAt: open.end,
    };
  }

  /** §3, §8 `reset`. */
  #seconds(ms: number): number {
    const { reset } = this.semantics;
    if (reset === "ceil") return Math.ceil(ms / second);
    return reset === "floor" ? Math.floor(ms / second) : Math.round(ms / second);
  }

  /**
   * The ms of a second at which anything here may change: windows open and end at whole seconds, and seconds are
   * rounded there, just after (`floor`), or just after the half (`round`).
   */
  get edges(): readonly number[] {
    const { reset } = this.semantics;
    return reset === "ceil" ? [0] : reset === "floor" ? [0, 1] : [0, 501];
  }

  /**
   * Counts that a quota may hold at `now` if no event has touched it yet: a window that opened before `beganBy` may hold
   * anything up to `most` (FORMAT.md, "Windows open when the trace began"); one that opened later is empty.
   */
  beginnings(key: Key, now: number, beganBy: number, most: number): readonly (Window | null)[] {
    const length = this.lengthMs(key);
    const filled = (end: number): Window[] =>
      end - length < beganBy ? Array.from({ length: most + 1 }, (_, count) => ({ end, count })) : [];
    if (this.semantics.anchor === "epoch") {
      const end = floorTo(length, now) + length;
      return end - length < beganBy ? filled(end) : [{ end, count: 0 }];
    }
    const begun: (Window | null)[] = [null];
    for (let end = floorTo(second, now) + second; end <= now + length; end += second)
      begun.push(...filled(end));
    return begun;
  }
}
