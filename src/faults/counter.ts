// A counter by any policy, written plainly from POLICY.md §2 to §5, for faults in the counting itself. Each such fault
// replaces one of its methods. Unchanged it answers as the engine does, and tests require this under policies and
// rules. A fault made of it thus has no other error.
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import { BucketCount } from "../engine/reference.ts";
import type { QuotaStore } from "../engine/store.ts";
import { calendarWindow } from "../policy/calendar.ts";
import { isSettled, limitOf, quotaFor } from "../policy/effective.ts";
import type { Cost, FixedWindow, Policy, Quota } from "../policy/policy.ts";

export type CountedCaller = PolicyCall["caller"];

/** Key of a count: a quota and its caller. */
export interface CountKey {
  readonly quota: string;
  readonly caller: CountedCaller;
}

/** State of a window. */
export interface CounterWindow {
  /** End of the window, ms since the epoch; 0 if none is open. */
  resetAtMs: number;
  count: number;
  /** Latest time at which a call of this window was decided (POLICY.md §2.1). */
  seenMs: number;
  /** Number that no other window of this counter has. */
  number: number;
  /** True if a fault strikes this window. A correct counter never reads it. */
  struck: boolean;
}

/** State of a window at its beginning. */
export type NextWindow = Omit<CounterWindow, "seenMs" | "number">;

const fresh = (): CounterWindow => ({ resetAtMs: 0, count: 0, seenMs: 0, number: 0, struck: false });

/** State of a count before a call. */
export interface CountBefore {
  readonly count: number;
  /** End of the window, ms since the epoch; 0 if none is open, and for a bucket. */
  readonly resetAtMs: number;
}

/** States by quota's name. */
export type FoundAll = ReadonlyMap<string, CountBefore>;

export interface WindowSize {
  readonly limit: number;
  /** Length of the window, ms; 0 for a bucket. */
  readonly lengthMs: number;
}

/** A quota that a call uses. */
export interface Use {
  readonly key: CountKey;
  readonly quota: Quota;
  readonly cost: Cost;
  /** Cost of the call before its answer is known. */
  readonly asked: number;
}

export class Counter implements QuotaStore {
  readonly policy: Policy;
  readonly windows = new Map<string, CounterWindow>();
  readonly #buckets = new Map<string, BucketCount>();
  readonly #enforced = new Map<string, boolean>();
  #floorMs = 0;
  #opened = 0;

  constructor(policy: Policy) {
    this.policy = policy;
  }

  decide(call: PolicyCall, nowMs: number): PolicyDecision {
    return this.decideOn(call, this.look(call, nowMs), nowMs);
  }

  /** Returns the states in which a call finds its counts. */
  look(call: PolicyCall, nowMs: number): FoundAll {
    return new Map(this.usesOf(call).map(({ key }) => [key.quota, this.found(key, nowMs)]));
  }

  found(key: CountKey, nowMs: number): CountBefore {
    const bucket = this.#bucket(key);
    if (bucket === null) return { ...this.window(key, nowMs) };
    bucket.advance(this.clock(bucket, nowMs));
    return { count: bucket.usedAt(bucket.seenMs), resetAtMs: 0 };
  }

  /** Decides by the states found, and updates the counts accordingly. */
  decideOn(call: PolicyCall, found: FoundAll, nowMs: number): PolicyDecision {
    const refusedBy = this.refuserOf(call, found);
    const uses = this.usesOf(call);
    for (const use of uses) {
      const amount = this.amount(call, use, refusedBy, found);
      if (amount !== null) this.charge(use.key, amount, nowMs, foundOf(found, use));
    }
    const refusing = uses.find(({ key }) => key.quota === refusedBy);
    const isHeld = refusedBy === null && isSettled(this.policy, call.operation);
    return {
      refusedBy,
      retryAtMs: refusing === undefined ? null : this.#retryAt(refusing, nowMs),
      readings: uses.map(({ key }) => this.readOne(key, nowMs)),
      // Windows are held by number, because a fault may move a window's end.
      reservation: isHeld ? { ...call, windows: uses.map(({ key }) => this.#held(key, nowMs)) } : null,
    };
  }

  #held(key: CountKey, nowMs: number): number | null {
    if (this.#bucket(key) !== null) return null;
    const { resetAtMs, number } = this.window(key, nowMs);
    return resetAtMs === 0 ? null : number;
  }

  #retryAt(use: Use, nowMs: number): number | null {
    if (needed(use) > this.limitOf(use.key).limit) return null;
    return this.#bucket(use.key)?.roomAt(needed(use)) ?? this.readOne(use.key, nowMs).resetAtMs;
  }

  /** Returns the quota that refuses, the first in the policy's order (POLICY.md §2.3). */
  refuserOf(call: PolicyCall, found: FoundAll): string | null {
    return this.usesOf(call).find((use) => this.isRefusing(use, foundOf(found, use)))?.key.quota ?? null;
  }

  isRefusing(use: Use, found: CountBefore): boolean {
    return this.mayRefuse(use.key) && !this.hasRoom(use, found);
  }

  mayRefuse(key: CountKey): boolean {
    return this.isEnforced(key);
  }

  hasRoom(use: Use, { count }: CountBefore): boolean {
    return needed(use) <= this.limitOf(use.key).limit - count;
  }

  /** Returns the amount that a decision adds to one of its counts; `null` if it counts nothing there. */
  amount(call: PolicyCall, use: Use, refusedBy: string | null, found: FoundAll): number | null {
    const { relation } = this.#operation(call.operation);
    const { charge } = use.quota;
    const uses = this.usesOf(call).map(({ key }) => key.quota);
    const isAfter = refusedBy !== null && uses.indexOf(use.key.quota) > uses.indexOf(refusedBy);
    if (relation === "first-refusal-stops" && isAfter) return null;
    const isOwn =
      use.key.quota === refusedBy || (relation === "each-alone" && this.isRefusing(use, foundOf(found, use)));
    if (isOwn) return charge.refused === "counted" ? use.asked : null;
    if (refusedBy !== null && relation === "all-or-nothing")
      return charge.refusedByOther === "charged" ? use.asked : null;
    return charge.when === "completion" ? null : use.asked;
  }

  /** Adds to a count as it was found, and opens a window if none is open. */
  charge(key: CountKey, amount: number, nowMs: number, found: CountBefore): void {
    const bucket = this.#bucket(key);
    if (bucket !== null) {
      bucket.charge(amount);
      return;
    }
    const window = this.window(key, nowMs);
    if (window.resetAtMs === 0) window.resetAtMs = this.openedAt(key, window.seenMs);
    window.count = Math.min(found.count + amount, Number.MAX_SAFE_INTEGER);
  }

  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    const uses = this.usesOf(reservation);
    for (const [place, use] of uses.entries())
      this.#complete(
        use,
        typeof use.cost === "number" ? use.cost : actual,
        reservation.windows[place] ?? null,
        nowMs,
      );
    return uses.map(({ key }) => this.readOne(key, nowMs));
  }

  #complete({ key, quota, asked }: Use, used: number, held: number | null, nowMs: number): void {
    const { when } = quota.charge;
    const bucket = this.#bucket(key);
    if (bucket !== null) {
      bucket.advance(this.clock(bucket, nowMs));
      if (when === "reserve-settle") bucket.giveBack(asked - used);
      if (when === "completion") bucket.chargeLater(used);
      return;
    }
    const window = this.window(key, nowMs);
    const same = window.number === held;
    // At least 0, because a fault may have lost the points that are given back here.
    if (when === "reserve-settle" && same) window.count = Math.max(0, window.count - (asked - used));
    if (when === "completion" && (same || held === null)) this.charge(key, used, nowMs, window);
  }

  /** Returns the readings that a status shows. */
  status(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return this.read(caller, quotas, nowMs);
  }

  read(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return quotas.map((quota) => this.readOne({ quota, caller }, nowMs));
  }

  /** Reads a count without moving its clock. An idle window reads as one that would open now. */
  readOne(key: CountKey, nowMs: number): Reading {
    const bucket = this.#bucket(key);
    const known = bucket ?? this.windows.get(this.nameOf(key, nowMs)) ?? fresh();
    const now = this.clock(known, nowMs);
    const { count: used, resetAtMs } =
      bucket === null
        ? this.#windowAt(key, known as CounterWindow, now)
        : { count: bucket.usedAt(now), resetAtMs: bucket.resetAt(now) };
    const { limit } = this.limitOf(key);
    return {
      quota: key.quota,
      limit,
      remaining: this.remaining(key, used),
      used,
      resetAtMs,
      enforced: this.isEnforced(key),
      clockMs: now,
    };
  }

  #windowAt(key: CountKey, known: CounterWindow, now: number): CountBefore {
    const { count, resetAtMs } = this.isOver(key, known, now) ? this.next(key, known, now) : known;
    return { count, resetAtMs: resetAtMs === 0 ? this.openedAt(key, now) : resetAtMs };
  }

  /** Returns the remaining number of a count, as answers show it. */
  remaining(key: CountKey, count: number): number {
    const left = this.limitOf(key).limit - count;
    return this.#quota(key).shown.remaining === "signed" ? left : Math.max(0, left);
  }

  /** Returns the window of a call, rolled if it has ended. */
  window(key: CountKey, nowMs: number): CounterWindow {
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

  /** Empties a window before its end, without giving back what its calls hold. A correct counter never does. */
  empty(window: CounterWindow): void {
    window.count = 0;
    window.number = ++this.#opened;
  }

  /** Returns the time that counts for a window: it never goes back (POLICY.md §2.1). */
  clock({ seenMs }: { readonly seenMs: number }, nowMs: number): number {
    return Math.max(nowMs, seenMs, this.#floorMs);
  }

  isOver(_key: CountKey, { resetAtMs }: CounterWindow, nowMs: number): boolean {
    return nowMs >= resetAtMs;
  }

  /** Returns the window after one that ended. A first-request window opens only with a charge. */
  next(key: CountKey, _window: CounterWindow, nowMs: number): NextWindow {
    return { count: 0, resetAtMs: this.endOf(key, nowMs), struck: false };
  }

  /** Returns the end of this instant's window; 0 if no charge has decided it yet. */
  endOf(key: CountKey, nowMs: number): number {
    const { anchor } = this.rule(key);
    const { lengthMs } = this.limitOf(key);
    if (anchor === "first-request") return 0;
    if (typeof anchor === "object" && "calendar" in anchor)
      return calendarWindow(anchor.calendar, anchor.zone, nowMs).endsAt;
    const offset = anchor === "epoch" ? 0 : anchor.offsetMs;
    return nowMs - ((nowMs - offset + lengthMs) % lengthMs) + lengthMs;
  }

  /** Returns the end of a window that opens with a charge at this instant. */
  openedAt(key: CountKey, nowMs: number): number {
    const end = this.endOf(key, nowMs);
    if (end !== 0) return end;
    const from = this.rule(key).opens === "exact" ? nowMs : nowMs - (nowMs % 1000);
    return from + this.limitOf(key).lengthMs;
  }

  nameOf(key: CountKey, _nowMs: number): string {
    return nameOf(key.quota, this.#quota(key).key, key.caller);
  }

  limitOf({ quota, caller }: CountKey): WindowSize {
    const { algorithm } = quotaFor(this.policy, quota, caller);
    const lengthMs = algorithm.kind === "fixed-window" ? algorithm.windowSeconds * 1000 : 0;
    return { limit: limitOf(algorithm), lengthMs };
  }

  /** Returns the rule of a window. Callers never ask for a bucket's. */
  rule({ quota, caller }: CountKey): FixedWindow {
    return quotaFor(this.policy, quota, caller).algorithm as FixedWindow;
  }

  isWindow({ quota }: CountKey): boolean {
    return this.policy.quotas[quota]?.algorithm.kind === "fixed-window";
  }

  /** Returns the quotas that a call uses, in the policy's order. */
  usesOf({ caller, operation, cost: declared }: PolicyCall): readonly Use[] {
    const { uses } = this.#operation(operation);
    return Object.entries(this.policy.quotas).flatMap(([name, quota]) => {
      const cost = uses[name];
      if (cost === undefined) return [];
      const asked = typeof cost === "number" ? cost : cost === "declared" ? declared : cost.atMost;
      return [{ key: { quota: name, caller }, quota, cost, asked }];
    });
  }

  isEnforced({ quota, caller }: CountKey): boolean {
    const set = this.#enforced.get(nameOf(quota, this.policy.quotas[quota]?.key ?? [], caller));
    if (set !== undefined) return set;
    const { enforced } = quotaFor(this.policy, quota, caller);
    return typeof enforced === "object"
      ? this.isEnforced({ quota: enforced.with, caller })
      : enforced !== false;
  }

  setEnforced(quota: string, caller: CountedCaller, enforced: boolean): void {
    this.#enforced.set(nameOf(quota, this.policy.quotas[quota]?.key ?? [], caller), enforced);
  }

  /** Moves the clock, but keeps all keys: a fault may lie in what the counter remembers. */
  sweep(nowMs: number): void {
    this.#floorMs = Math.max(this.#floorMs, nowMs);
  }

  #operation(name: string) {
    const operation = this.policy.operations[name];
    if (operation === undefined) throw new RangeError(`no operation ${name}`);
    return operation;
  }

  #quota({ quota: name }: CountKey): Quota {
    const quota = this.policy.quotas[name];
    if (quota === undefined) throw new RangeError(`no quota ${name}`);
    return quota;
  }

  /** Returns the count of a bucket, which only time refills; `null` for a window. */
  #bucket(key: CountKey): BucketCount | null {
    if (this.isWindow(key)) return null;
    const name = this.nameOf(key, 0);
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const { algorithm } = quotaFor(this.policy, key.quota, key.caller);
    if (algorithm.kind !== "token-bucket") throw new RangeError(`${key.quota} is described alone`);
    const bucket = new BucketCount(algorithm);
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

const nameOf = (quota: string, key: readonly string[], caller: CountedCaller): string =>
  JSON.stringify([quota, ...key.map((attribute) => caller[attribute])]);

function foundOf(found: FoundAll, { key }: Use): CountBefore {
  const one = found.get(key.quota);
  if (one === undefined) throw new RangeError(`nothing was found of ${key.quota}`);
  return one;
}

/** Returns the room that a call needs: for its whole cost, or for any (POLICY.md §2.2). */
const needed = ({ quota, asked }: Use): number => (quota.charge.fits === "whole" ? asked : 1);
