// A limiter by any policy, written to be read: POLICY.md as code, section by section. Begin here to learn what a policy
// means; `reference-counts.ts` has the counts that it decides by. `policy-core.ts` is its fast twin, with the same
// answers. Faults replace single methods of this one (`../faults/counter.ts`), and so have no other error.
import { isSettled } from "../policy/effective.ts";
import type { Cost, Quota } from "../policy/policy.ts";
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "./decision.ts";
import { type CountBefore, type CountKey, ReferenceCounts } from "./reference-counts.ts";

/** A quota that a call uses. */
export interface Use {
  readonly key: CountKey;
  readonly quota: Quota;
  readonly cost: Cost;
  /** Cost of the call before its answer is known. */
  readonly asked: number;
}

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
export class ReferenceLimiter extends ReferenceCounts {
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

  #retryAt(use: Use, nowMs: number): number | null {
    if (needed(use) > this.limitOf(use.key)) return null;
    return this.bucket(use.key)?.roomAt(needed(use)) ?? this.readOne(use.key, nowMs).resetAtMs;
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
    const bucket = this.bucket(key);
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

  /** Returns the quotas that a call uses, in the policy's order. */
  usesOf({ caller, operation, cost: declared }: PolicyCall): readonly Use[] {
    const { uses } = this.#operation(operation);
    const used: Use[] = [];
    for (const name in this.policy.quotas) {
      const cost = uses[name];
      if (cost === undefined) continue;
      const asked = typeof cost === "number" ? cost : cost === "declared" ? declared : cost.atMost;
      used.push({ key: { quota: name, caller }, quota: this.quota(name), cost, asked });
    }
    return used;
  }

  #operation(name: string) {
    const operation = this.policy.operations[name];
    if (operation === undefined) throw new RangeError(`no operation ${name}`);
    return operation;
  }
}

function foundOf(found: FoundAll, { key }: Use): CountBefore {
  const one = found.get(key.quota);
  if (one === undefined) throw new RangeError(`nothing was found of ${key.quota}`);
  return one;
}

/** Returns the room that a call needs: for its whole cost, or for one unit (POLICY.md §2.2). */
const needed = ({ quota, asked }: Use): number => (quota.charge.fits === "whole" ? asked : 1);
