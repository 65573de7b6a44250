// A limiter by any policy, written to be read: POLICY.md as code, section by section. Begin here to learn what a policy
// means. `policy-core.ts` is its fast twin, with the same answers.
import { calendarWindow } from "../policy/calendar.ts";
import { lowestTerms } from "../policy/checks.ts";
import { isSettled, quotaFor } from "../policy/effective.ts";
import type { Cost, FixedWindow, Policy, Quota, TokenBucket } from "../policy/policy.ts";
import { requireEnforceable, requireOwnEnforced } from "./compiled-policy.ts";
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "./decision.ts";

const most = Number.MAX_SAFE_INTEGER;

/** One count of one quota. Each has its own clock, which never goes back (POLICY.md §2.1). */
abstract class Count {
  seenMs = 0;
  abstract readonly limit: number;

  /** Moves the clock, and applies the passed time to the count. */
  advance(nowMs: number): void {
    const now = Math.max(nowMs, this.seenMs);
    this.pass(now);
    this.seenMs = now;
  }

  protected abstract pass(now: number): void;
  /** Returns the used units, rounded up, at an instant that the clock has not passed. */
  abstract usedAt(nowMs: number): number;
  abstract resetAt(nowMs: number): number;
  abstract charge(cost: number): void;
  abstract giveBack(cost: number, window: number | null): void;
  abstract chargeLater(cost: number, window: number | null): void;
  /** Returns the end of the open window; `null` if none is open. */
  abstract window(): number | null;
  /** Returns the instant at which the count has this much room. */
  abstract roomAt(room: number): number;
  /** Tells whether a fresh count would give the same answers from then on. */
  abstract isIdle(floorMs: number): boolean;

  get room(): number {
    return this.limit - this.usedAt(this.seenMs);
  }
}

/** Count of a fixed window (POLICY.md §3): at most `limit` in a window `[..., endsAt)`. */
class WindowCount extends Count {
  readonly #rule: FixedWindow;
  #endsAt: number | null = null;
  #used = 0;

  constructor(rule: FixedWindow) {
    super();
    this.#rule = rule;
  }

  get limit(): number {
    return this.#rule.limit;
  }

  /** Returns the end of the window that is open at an instant, or opens then. */
  #end(now: number): number {
    const { anchor, opens, windowSeconds } = this.#rule;
    const length = windowSeconds * 1000;
    if (anchor === "first-request") return (opens === "exact" ? now : now - (now % 1000)) + length;
    if (typeof anchor === "object" && "calendar" in anchor)
      return calendarWindow(anchor.calendar, anchor.zone, now).endsAt;
    const offset = anchor === "epoch" ? 0 : anchor.offsetMs;
    return now - ((now - offset + length) % length) + length;
  }

  #isOver(now: number): boolean {
    return this.#endsAt === null || now >= this.#endsAt;
  }

  protected pass(now: number): void {
    if (!this.#isOver(now)) return;
    this.#used = 0;
    this.#endsAt = this.#rule.anchor === "first-request" ? null : this.#end(now);
  }

  usedAt(now: number): number {
    return this.#isOver(now) ? 0 : this.#used;
  }

  resetAt(now: number): number {
    return this.#endsAt === null || this.#isOver(now) ? this.#end(now) : this.#endsAt;
  }

  charge(cost: number): void {
    this.#endsAt ??= this.#end(this.seenMs);
    this.#used = Math.min(this.#used + cost, most);
  }

  giveBack(cost: number, window: number | null): void {
    if (window !== null && window === this.#endsAt) this.#used -= cost;
  }

  chargeLater(cost: number, window: number | null): void {
    if (window === null || window === this.#endsAt) this.charge(cost);
  }

  window(): number | null {
    return this.#endsAt;
  }

  roomAt(): number {
    return this.resetAt(this.seenMs);
  }

  isIdle(floorMs: number): boolean {
    return (this.#endsAt ?? 0) <= floorMs && this.seenMs <= floorMs;
  }
}

/** Count of a bucket (POLICY.md §3): charges that have not come back, in parts of `1 / everyMs`, without rounding. */
export class BucketCount extends Count {
  readonly limit: number;
  readonly #amount: number;
  readonly #everyMs: number;
  #parts = 0;

  constructor({ capacity, refill }: TokenBucket) {
    super();
    this.limit = capacity;
    const { amount, everyMs } = lowestTerms(refill);
    this.#amount = amount;
    this.#everyMs = everyMs;
  }

  /** Returns the parts that have not come back. A product too large to be exact is greater than any count. */
  #partsAt(now: number): number {
    return Math.max(0, this.#parts - Math.max(0, now - this.seenMs) * this.#amount);
  }

  protected pass(now: number): void {
    this.#parts = this.#partsAt(now);
  }

  usedAt(now: number): number {
    return Math.ceil(this.#partsAt(now) / this.#everyMs);
  }

  resetAt(now: number): number {
    return Math.max(now, this.seenMs) + Math.ceil(this.#partsAt(now) / this.#amount);
  }

  charge(cost: number): void {
    this.#parts = Math.min(this.#parts + cost * this.#everyMs, most);
  }

  giveBack(cost: number): void {
    this.#parts = Math.max(0, this.#parts - cost * this.#everyMs);
  }

  chargeLater(cost: number): void {
    this.charge(cost);
  }

  window(): null {
    return null;
  }

  roomAt(room: number): number {
    const tooMany = this.#parts - (this.limit - room) * this.#everyMs;
    return this.seenMs + Math.max(0, Math.ceil(tooMany / this.#amount));
  }

  isIdle(floorMs: number): boolean {
    return this.seenMs <= floorMs && this.#partsAt(floorMs) === 0;
  }
}

/** A quota that a call uses. */
interface Use {
  readonly name: string;
  readonly quota: Quota;
  readonly count: Count;
  readonly cost: Cost;
  /** Cost of the call before its answer is known. */
  readonly asked: number;
}

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
  /** End of the open window, ms; `null` if none is open, and for a bucket. */
  readonly windowMs: number | null;
  readonly isEnforced: boolean;
  /** Time of the count's clock, ms, which never goes back. */
  readonly clockMs: number;
}

/** A decision of another limiter, after its charges were made. */
export interface Followed {
  /** Counts of the call, in the policy's order. */
  readonly found: readonly FoundCount[];
  readonly decision: PolicyDecision;
}

/**
 * A limiter by any policy. No clock, no I/O: every time is an argument, whole ms since the epoch.
 * @throws SpillwayError `POLICY_UNSUPPORTED` if a quota has an algorithm that the engine does not enforce
 */
export class ReferenceLimiter {
  readonly policy: Policy;
  readonly #counts = new Map<string, Count>();
  /** `enforced` as it was last set, by quota and key. */
  readonly #enforced = new Map<string, boolean>();
  #floorMs = 0;

  constructor(policy: Policy) {
    requireEnforceable(policy);
    this.policy = policy;
  }

  /** Decides one call and charges it, in one step (POLICY.md §2). */
  decide(call: PolicyCall, nowMs: number): PolicyDecision {
    const uses = this.#moved(call, nowMs);
    return this.#carryOut(call, uses, uses.find((use) => this.#isRefusing(use, call.caller)) ?? null, nowMs);
  }

  /** Makes the charges of another limiter's decision, and tells in which state the call found its counts. */
  follow(call: PolicyCall, { isAdmitted, refusedBy }: Verdict, nowMs: number): Followed {
    const uses = this.#moved(call, nowMs);
    const found = uses.map((use) => this.#found(use, call.caller));
    const own = uses.find((use) => this.#isRefusing(use, call.caller)) ?? null;
    const named = uses.find(({ name }) => name === refusedBy) ?? (refusedBy === undefined ? own : null);
    const refusing = isAdmitted ? null : (named ?? "another");
    return { found, decision: this.#carryOut(call, uses, refusing, nowMs) };
  }

  #moved(call: PolicyCall, nowMs: number): readonly Use[] {
    const uses = this.#uses(call);
    for (const { count } of uses) count.advance(Math.max(nowMs, this.#floorMs));
    return uses;
  }

  #isRefusing(use: Use, caller: PolicyCall["caller"]): boolean {
    return this.#isEnforced(use.name, caller) && !hasRoom(use);
  }

  #found(use: Use, caller: PolicyCall["caller"]): FoundCount {
    const { name, count } = use;
    return {
      quota: name,
      limit: count.limit,
      used: count.usedAt(count.seenMs),
      needed: needed(use),
      roomAtMs: retryAt(use),
      windowMs: count.window(),
      isEnforced: this.#isEnforced(name, caller),
      clockMs: count.seenMs,
    };
  }

  /** Charges a call that a quota refuses, that something else refuses (`another`), or that is admitted. */
  #carryOut(
    call: PolicyCall,
    uses: readonly Use[],
    refusing: Use | "another" | null,
    nowMs: number,
  ): PolicyDecision {
    const { relation } = this.#operation(call.operation);
    const named = typeof refusing === "object" ? refusing : null;
    for (const use of uses) {
      const { charge } = use.quota;
      const isAfter = named !== null && uses.indexOf(use) > uses.indexOf(named);
      if (relation === "first-refusal-stops" && isAfter) break;
      if (use === named || (relation === "each-alone" && this.#isRefusing(use, call.caller))) {
        if (charge.refused === "counted") use.count.charge(use.asked);
      } else if (refusing !== null && relation === "all-or-nothing") {
        if (charge.refusedByOther === "charged") use.count.charge(use.asked);
      } else if (charge.when !== "completion") use.count.charge(use.asked);
    }

    const isHeld = refusing === null && isSettled(this.policy, call.operation);
    return {
      refusedBy: named?.name ?? null,
      retryAtMs: named === null ? null : retryAt(named),
      readings: this.#readings(call.caller, uses, nowMs),
      reservation: isHeld ? { ...call, windows: uses.map(({ count }) => count.window()) } : null,
    };
  }

  /** Completes an admitted call, once, with the units that it used (POLICY.md §4). */
  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    const uses = this.#uses(reservation);
    for (const [place, { quota, count, cost, asked }] of uses.entries()) {
      count.advance(Math.max(nowMs, this.#floorMs));
      const window = reservation.windows[place] ?? null;
      const used = typeof cost === "number" ? cost : actual;
      if (quota.charge.when === "reserve-settle") count.giveBack(asked - used, window);
      if (quota.charge.when === "completion") count.chargeLater(used, window);
    }
    return this.#readings(reservation.caller, uses, nowMs);
  }

  /** Reads quotas of a caller, free of charge (POLICY.md §5). */
  read(caller: PolicyCall["caller"], quotas: readonly string[], nowMs: number): readonly Reading[] {
    return quotas.map((name) => this.#reading(caller, name, this.#count(name, caller), nowMs));
  }

  /** Switches a quota's refusing on or off, for all that share its count with a caller. */
  setEnforced(quota: string, caller: PolicyCall["caller"], enforced: boolean): void {
    requireOwnEnforced(this.policy, quota);
    this.#enforced.set(this.#key(quota, caller), enforced);
  }

  /** Forgets counts that no longer change an answer. Earlier times count as `nowMs` from then on. */
  sweep(nowMs: number): void {
    this.#floorMs = Math.max(this.#floorMs, nowMs);
    for (const [key, count] of this.#counts) if (count.isIdle(this.#floorMs)) this.#counts.delete(key);
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

  /** Returns the quotas that a call uses, in the policy's order. */
  #uses({ caller, operation, cost: declared }: PolicyCall): Use[] {
    const { uses } = this.#operation(operation);
    return Object.keys(this.policy.quotas).flatMap((name) => {
      const cost = uses[name];
      if (cost === undefined) return [];
      const asked = typeof cost === "number" ? cost : cost === "declared" ? declared : cost.atMost;
      return [{ name, quota: this.#quota(name), count: this.#count(name, caller), cost, asked }];
    });
  }

  #key(name: string, caller: PolicyCall["caller"]): string {
    const values = this.#quota(name).key.map((attribute) => {
      const value = caller[attribute];
      if (value === undefined) throw new RangeError(`a caller of ${name} needs ${attribute}`);
      return value;
    });
    return JSON.stringify([name, ...values]);
  }

  #count(name: string, caller: PolicyCall["caller"]): Count {
    const key = this.#key(name, caller);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const rule = quotaFor(this.policy, name, caller).algorithm;
    const count = rule.kind === "token-bucket" ? new BucketCount(rule) : new WindowCount(rule as FixedWindow);
    this.#counts.set(key, count);
    return count;
  }

  #isEnforced(name: string, caller: PolicyCall["caller"]): boolean {
    const set = this.#enforced.get(this.#key(name, caller));
    if (set !== undefined) return set;
    const { enforced } = quotaFor(this.policy, name, caller);
    return typeof enforced === "object" ? this.#isEnforced(enforced.with, caller) : enforced !== false;
  }

  #readings(caller: PolicyCall["caller"], uses: readonly Use[], nowMs: number): Reading[] {
    return uses.map(({ name, count }) => this.#reading(caller, name, count, nowMs));
  }

  #reading(caller: PolicyCall["caller"], name: string, count: Count, nowMs: number): Reading {
    const now = Math.max(nowMs, this.#floorMs, count.seenMs);
    const used = count.usedAt(now);
    const left = count.limit - used;
    const { shown } = this.#quota(name);
    return {
      quota: name,
      limit: count.limit,
      remaining: shown.remaining === "signed" ? left : Math.max(0, left),
      used,
      resetAtMs: count.resetAt(now),
      enforced: this.#isEnforced(name, caller),
    };
  }
}

/** Returns the room that a call needs: for its whole cost, or for one unit (POLICY.md §2.2). */
const needed = ({ quota, asked }: Use): number => (quota.charge.fits === "whole" ? asked : 1);

const hasRoom = (use: Use): boolean => needed(use) <= use.count.room;

const retryAt = (use: Use): number | null =>
  needed(use) > use.count.limit ? null : use.count.roomAt(needed(use));
