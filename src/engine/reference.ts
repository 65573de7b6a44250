// A limiter by any policy, written to be read: POLICY.md as code, section by section. Begin here to learn what a policy
// means. `policy-core.ts` is its fast twin, with the same answers. Faults replace single methods of this one
// (`../faults/counter.ts`), and so have no other error.
import { calendarWindow } from "../policy/calendar.ts";
import { isSettled, limitOf, quotaFor } from "../policy/effective.ts";
import type { Cost, FixedWindow, Policy, Quota, TokenBucket } from "../policy/policy.ts";
import { requireEnforceable, requireOwnEnforced } from "./compiled-policy.ts";
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "./decision.ts";
import { BucketCount } from "./reference-bucket.ts";

const most = Number.MAX_SAFE_INTEGER;

/** Key of a count: a quota and its caller. */
export interface CountKey {
  readonly quota: string;
  readonly caller: PolicyCall["caller"];
}

/** A quota that a call uses. */
export interface Use {
  readonly key: CountKey;
  readonly quota: Quota;
  readonly cost: Cost;
  /** Cost of the call before its answer is known. */
  readonly asked: number;
}

/** Count of a fixed window (POLICY.md §3): at most `limit` before the window's end. */
export interface WindowCount {
  /** End of the window, ms since the epoch; 0 if none is open. */
  resetAtMs: number;
  count: number;
  /** Clock of the count: the latest time at which a call was decided (POLICY.md §2.1). */
  seenMs: number;
}

/** State of a count before a call. `resetAtMs` is 0 if no window is open, and for a bucket. */
export type CountBefore = Pick<WindowCount, "resetAtMs" | "count">;

/** States by quota's name, in the policy's order. */
export type FoundAll = ReadonlyMap<string, CountBefore>;

/** Decision of another limiter. `refusedBy` is `undefined` if unknown, `null` if no quota refused. */
interface Verdict {
  readonly isAdmitted: boolean;
  readonly refusedBy: string | null | undefined;
}

/** One count, in the state in which a call found it. */
export interface FoundCount {
  readonly quota: string;
  readonly limit: number;
  readonly used: number;
  readonly needed: number;
  /** Instant, ms, at which that room is there; `null` if it never is. */
  readonly roomAtMs: number | null;
}

/** A decision of another limiter, after its charges were made. */
export interface Followed {
  /** Counts of the call, in the policy's order. */
  readonly found: readonly FoundCount[];
  readonly decision: PolicyDecision;
}

/** Stands for a refusal by none of the call's quotas. */
const another = "";

/**
 * A limiter by any policy. No clock, no I/O: every time is an argument, whole ms since the epoch.
 * @throws SpillwayError `POLICY_UNSUPPORTED` if a quota has an algorithm that the engine does not enforce
 */
export class ReferenceLimiter {
  readonly policy: Policy;
  protected readonly windows = new Map<string, WindowCount>();
  readonly #buckets = new Map<string, BucketCount>();
  /** Latest caller of each quota, and the name of its count. */
  readonly #named = new Map<string, { readonly caller: PolicyCall["caller"]; readonly name: string }>();
  /** `enforced` as it was last set, by quota and key. */
  readonly #enforced = new Map<string, boolean>();
  protected floorMs = 0;

  constructor(policy: Policy) {
    requireEnforceable(policy);
    this.policy = policy;
  }

  /** Decides one call and charges it, in one step (POLICY.md §2). */
  decide(call: PolicyCall, nowMs: number): PolicyDecision {
    return this.decideOn(call, this.look(call, nowMs), nowMs);
  }

  /** Makes the charges of another limiter's decision, and tells in which state the call found its counts. */
  follow(call: PolicyCall, { isAdmitted, refusedBy }: Verdict, nowMs: number): Followed {
    const all = this.look(call, nowMs);
    const uses = this.usesOf(call);
    const found = uses.map((use) => ({
      quota: use.key.quota,
      limit: this.limitOf(use.key),
      used: foundOf(all, use).count,
      needed: needed(use),
      roomAtMs: this.#retryAt(use, nowMs),
    }));
    const isKnown = uses.some(({ key }) => key.quota === refusedBy);
    const named = isKnown ? refusedBy : refusedBy === undefined ? this.refuserOf(call, all) : null;
    return { found, decision: this.#carryOut(call, all, isAdmitted ? null : (named ?? another), nowMs) };
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
    return this.#carryOut(call, found, this.refuserOf(call, found), nowMs);
  }

  /** Charges a call that a quota refuses, that something else refuses (`another`), or that is admitted. */
  #carryOut(call: PolicyCall, found: FoundAll, refuser: string | null, nowMs: number): PolicyDecision {
    const uses = this.usesOf(call);
    for (const use of uses) {
      const amount = this.amount(call, use, refuser, found);
      if (amount !== null) this.charge(use.key, amount, nowMs, foundOf(found, use));
    }
    const refusing = uses.find(({ key }) => key.quota === refuser);
    const isHeld = refuser === null && isSettled(this.policy, call.operation);
    return {
      refusedBy: refusing?.key.quota ?? null,
      retryAtMs: refusing === undefined ? null : this.#retryAt(refusing, nowMs),
      readings: uses.map(({ key }) => this.readOne(key, nowMs)),
      reservation: isHeld ? { ...call, windows: uses.map(({ key }) => this.#held(key, nowMs)) } : null,
    };
  }

  #held(key: CountKey, nowMs: number): number | null {
    if (!this.isWindow(key)) return null;
    const window = this.window(key, nowMs);
    return window.resetAtMs === 0 ? null : this.numberOf(window);
  }

  /** Returns the number by which reservations know a window. */
  protected numberOf({ resetAtMs }: WindowCount): number {
    return resetAtMs;
  }

  #retryAt(use: Use, nowMs: number): number | null {
    if (needed(use) > this.limitOf(use.key)) return null;
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
    return needed(use) <= this.limitOf(use.key) - count;
  }

  /** Returns the amount that a decision adds to one of its counts; `null` if it counts nothing there. */
  amount({ operation }: PolicyCall, use: Use, refuser: string | null, found: FoundAll): number | null {
    const { relation } = this.#operation(operation);
    const { charge } = use.quota;
    const quotas = [...found.keys()];
    const refusing = refuser === null ? -1 : quotas.indexOf(refuser);
    const isAfter = refusing >= 0 && quotas.indexOf(use.key.quota) > refusing;
    if (relation === "first-refusal-stops" && isAfter) return null;
    const isOwn =
      use.key.quota === refuser || (relation === "each-alone" && this.isRefusing(use, foundOf(found, use)));
    if (isOwn) return charge.refused === "counted" ? use.asked : null;
    if (refuser !== null && relation === "all-or-nothing")
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
    window.count = Math.min(found.count + amount, most);
  }

  /** Completes an admitted call, once, with the units that it used (POLICY.md §4). */
  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    const uses = this.usesOf(reservation);
    for (const [place, use] of uses.entries()) {
      const used = typeof use.cost === "number" ? use.cost : actual;
      this.#complete(use, used, reservation.windows[place] ?? null, nowMs);
    }
    return uses.map(({ key }) => this.readOne(key, nowMs));
  }

  #complete({ key, quota, asked }: Use, used: number, held: number | null, nowMs: number): void {
    const { when } = quota.charge;
    const bucket = this.#bucket(key);
    if (bucket !== null) {
      bucket.advance(this.clock(bucket, nowMs));
      if (when === "reserve-settle") bucket.giveBack(asked - used);
      if (when === "completion") bucket.charge(used);
      return;
    }
    const window = this.window(key, nowMs);
    const same = this.numberOf(window) === held;
    // At least 0, because a fault may have lost the points that are given back here.
    if (when === "reserve-settle" && same) window.count = Math.max(0, window.count - (asked - used));
    if (when === "completion" && (same || held === null)) this.charge(key, used, nowMs, window);
  }

  /** Reads quotas of a caller, free of charge (POLICY.md §5). */
  read(caller: PolicyCall["caller"], quotas: readonly string[], nowMs: number): readonly Reading[] {
    return quotas.map((quota) => this.readOne({ quota, caller }, nowMs));
  }

  /** Reads a count without moving its clock. An idle window reads as one that would open now. */
  readOne(key: CountKey, nowMs: number): Reading {
    const { count: used, resetAtMs } = this.#countAt(key, nowMs);
    return {
      quota: key.quota,
      limit: this.limitOf(key),
      remaining: this.remaining(key, used),
      used,
      resetAtMs,
      enforced: this.isEnforced(key),
    };
  }

  #countAt(key: CountKey, nowMs: number): CountBefore {
    const bucket = this.#bucket(key);
    const now = this.clockOf(key, nowMs);
    if (bucket !== null) return { count: bucket.usedAt(now), resetAtMs: bucket.resetAt(now) };
    const window = this.windows.get(this.nameOf(key, nowMs)) ?? this.fresh();
    const { count, resetAtMs } = this.isOver(key, window, now) ? this.next(key, window, now) : window;
    return { count, resetAtMs: resetAtMs === 0 ? this.openedAt(key, now) : resetAtMs };
  }

  /** Returns the time of a count's clock. */
  protected clockOf(key: CountKey, nowMs: number): number {
    const count = this.#bucket(key) ?? this.windows.get(this.nameOf(key, nowMs));
    return this.clock(count ?? { seenMs: 0 }, nowMs);
  }

  /** Returns the remaining number of a count, as answers show it. */
  remaining(key: CountKey, count: number): number {
    const left = this.limitOf(key) - count;
    return this.#quota(key.quota).shown.remaining === "signed" ? left : Math.max(0, left);
  }

  /** Returns the window of a call, rolled if it has ended. */
  window(key: CountKey, nowMs: number): WindowCount {
    const name = this.nameOf(key, nowMs);
    const window = this.windows.get(name) ?? this.fresh();
    this.windows.set(name, window);
    window.seenMs = this.clock(window, nowMs);
    if (this.isOver(key, window, window.seenMs)) this.roll(key, window);
    return window;
  }

  protected fresh(): WindowCount {
    return { resetAtMs: 0, count: 0, seenMs: 0 };
  }

  protected roll(key: CountKey, window: WindowCount): void {
    Object.assign(window, this.next(key, window, window.seenMs));
  }

  /** Returns the time that counts for a count: it never goes back (POLICY.md §2.1). */
  clock({ seenMs }: { readonly seenMs: number }, nowMs: number): number {
    return Math.max(nowMs, seenMs, this.floorMs);
  }

  isOver(_key: CountKey, { resetAtMs }: WindowCount, nowMs: number): boolean {
    return nowMs >= resetAtMs;
  }

  /** Returns the window after one that ended. A first-request window opens only with a charge. */
  next(key: CountKey, _window: WindowCount, nowMs: number): CountBefore {
    return { count: 0, resetAtMs: this.endOf(key, nowMs) };
  }

  /** Returns the end of this instant's window; 0 if no charge has decided it yet. */
  endOf(key: CountKey, nowMs: number): number {
    const { anchor } = this.rule(key);
    const lengthMs = this.lengthOf(key);
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
    return (this.rule(key).opens === "exact" ? nowMs : nowMs - (nowMs % 1000)) + this.lengthOf(key);
  }

  nameOf(key: CountKey, _nowMs: number): string {
    return this.#nameOf(key);
  }

  /** Returns the name of a count: its quota, and the values of its key. One call asks for it several times. */
  #nameOf({ quota, caller }: CountKey): string {
    const last = this.#named.get(quota);
    if (last?.caller === caller) return last.name;
    const name = this.#newName({ quota, caller });
    this.#named.set(quota, { caller, name });
    return name;
  }

  #newName({ quota, caller }: CountKey): string {
    const values = this.#quota(quota).key.map((attribute) => {
      const value = caller[attribute];
      if (value === undefined) throw new RangeError(`a caller of ${quota} needs ${attribute}`);
      return value;
    });
    return JSON.stringify([quota, ...values]);
  }

  limitOf({ quota, caller }: CountKey): number {
    return limitOf(quotaFor(this.policy, quota, caller).algorithm);
  }

  /** Returns the rule of a window. Callers never ask for a bucket's. */
  rule({ quota, caller }: CountKey): FixedWindow {
    return quotaFor(this.policy, quota, caller).algorithm as FixedWindow;
  }

  /** Returns the length of a window, ms. */
  lengthOf(key: CountKey): number {
    return this.rule(key).windowSeconds * 1000;
  }

  isWindow({ quota }: CountKey): boolean {
    return this.#quota(quota).algorithm.kind === "fixed-window";
  }

  /** Returns the quotas that a call uses, in the policy's order. */
  usesOf({ caller, operation, cost: declared }: PolicyCall): readonly Use[] {
    const { uses } = this.#operation(operation);
    const used: Use[] = [];
    for (const name in this.policy.quotas) {
      const cost = uses[name];
      if (cost === undefined) continue;
      const asked = typeof cost === "number" ? cost : cost === "declared" ? declared : cost.atMost;
      used.push({ key: { quota: name, caller }, quota: this.#quota(name), cost, asked });
    }
    return used;
  }

  isEnforced(key: CountKey): boolean {
    const set = this.#enforced.get(this.#nameOf(key));
    if (set !== undefined) return set;
    const { enforced } = quotaFor(this.policy, key.quota, key.caller);
    return typeof enforced === "object"
      ? this.isEnforced({ ...key, quota: enforced.with })
      : enforced !== false;
  }

  /** Switches a quota's refusing on or off, for all that share its count with a caller. */
  setEnforced(quota: string, caller: PolicyCall["caller"], enforced: boolean): void {
    requireOwnEnforced(this.policy, quota);
    this.#enforced.set(this.#nameOf({ quota, caller }), enforced);
  }

  /** Forgets counts that no longer change an answer. Earlier times count as `nowMs` from then on. */
  sweep(nowMs: number): void {
    this.floorMs = Math.max(this.floorMs, nowMs);
    for (const [name, { resetAtMs, seenMs }] of this.windows)
      if (Math.max(resetAtMs, seenMs) <= this.floorMs) this.windows.delete(name);
    for (const [name, bucket] of this.#buckets) if (bucket.isIdle(this.floorMs)) this.#buckets.delete(name);
  }

  #operation(name: string) {
    const operation = this.policy.operations[name];
    if (operation === undefined) throw new RangeError(`no operation ${name}`);
    return operation;
  }

  #quota(name: string): Quota {
    const quota = this.policy.quotas[name];
    if (quota === undefined) throw new RangeError(`no quota ${name}`);
    return quota;
  }

  /** Returns the count of a bucket, which only time refills; `null` for a window. */
  #bucket(key: CountKey): BucketCount | null {
    if (this.isWindow(key)) return null;
    const name = this.nameOf(key, 0);
    const rule = quotaFor(this.policy, key.quota, key.caller).algorithm as TokenBucket;
    const bucket = this.#buckets.get(name) ?? new BucketCount(rule);
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

function foundOf(found: FoundAll, { key }: Use): CountBefore {
  const one = found.get(key.quota);
  if (one === undefined) throw new RangeError(`nothing was found of ${key.quota}`);
  return one;
}

/** Returns the room that a call needs: for its whole cost, or for one unit (POLICY.md §2.2). */
const needed = ({ quota, asked }: Use): number => (quota.charge.fits === "whole" ? asked : 1);
