// The counts of a policy, written to be read: windows and buckets by the values of their keys, each with a clock of its
// own (POLICY.md §2.1, §3, §5). `reference.ts` decides calls by them.
import { calendarWindow } from "../policy/calendar.ts";
import { limitOf, quotaFor } from "../policy/effective.ts";
import type { FixedWindow, Policy, Quota, TokenBucket } from "../policy/policy.ts";
import { requireEnforceable, requireOwnEnforced } from "./compiled-policy.ts";
import type { PolicyCall, Reading } from "./decision.ts";
import { BucketCount } from "./reference-bucket.ts";

const most = Number.MAX_SAFE_INTEGER;

/** Key of a count: a quota and its caller. */
export interface CountKey {
  readonly quota: string;
  readonly caller: PolicyCall["caller"];
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

/**
 * The counts of all callers.
 * @throws SpillwayError `POLICY_UNSUPPORTED` if a quota has an algorithm that the engine does not enforce
 */
export class ReferenceCounts {
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

  found(key: CountKey, nowMs: number): CountBefore {
    const bucket = this.bucket(key);
    if (bucket === null) return { ...this.window(key, nowMs) };
    bucket.advance(this.clock(bucket, nowMs));
    return { count: bucket.usedAt(bucket.seenMs), resetAtMs: 0 };
  }

  /** Adds to a count as it was found, and opens a window if none is open. */
  charge(key: CountKey, amount: number, nowMs: number, found: CountBefore): void {
    const bucket = this.bucket(key);
    if (bucket !== null) {
      bucket.charge(amount);
      return;
    }
    const window = this.window(key, nowMs);
    if (window.resetAtMs === 0) window.resetAtMs = this.openedAt(key, window.seenMs);
    window.count = Math.min(found.count + amount, most);
  }

  /** Returns the number by which reservations know a window. */
  protected numberOf({ resetAtMs }: WindowCount): number {
    return resetAtMs;
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
    const bucket = this.bucket(key);
    const now = this.clockOf(key, nowMs);
    if (bucket !== null) return { count: bucket.usedAt(now), resetAtMs: bucket.resetAt(now) };
    const window = this.windows.get(this.nameOf(key, nowMs)) ?? this.fresh();
    const { count, resetAtMs } = this.isOver(key, window, now) ? this.next(key, window, now) : window;
    return { count, resetAtMs: resetAtMs === 0 ? this.openedAt(key, now) : resetAtMs };
  }

  /** Returns the time of a count's clock. */
  protected clockOf(key: CountKey, nowMs: number): number {
    const count = this.bucket(key) ?? this.windows.get(this.nameOf(key, nowMs));
    return this.clock(count ?? { seenMs: 0 }, nowMs);
  }

  /** Returns the remaining number of a count, as answers show it. */
  remaining(key: CountKey, count: number): number {
    const left = this.limitOf(key) - count;
    return this.quota(key.quota).shown.remaining === "signed" ? left : Math.max(0, left);
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
    const values = this.quota(quota).key.map((attribute) => {
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
    return this.quota(quota).algorithm.kind === "fixed-window";
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

  protected quota(name: string): Quota {
    const quota = this.policy.quotas[name];
    if (quota === undefined) throw new RangeError(`no quota ${name}`);
    return quota;
  }

  /** Returns the count of a bucket, which only time refills; `null` for a window. */
  protected bucket(key: CountKey): BucketCount | null {
    if (this.isWindow(key)) return null;
    const name = this.nameOf(key, 0);
    const rule = quotaFor(this.policy, key.quota, key.caller).algorithm as TokenBucket;
    const bucket = this.#buckets.get(name) ?? new BucketCount(rule);
    this.#buckets.set(name, bucket);
    return bucket;
  }
}
