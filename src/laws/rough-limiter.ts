// Guesses the answers of a limiter by rules, for the planner. It keeps limits and windows, and nothing else: not that a
// limit may be unenforced, nor that points are given back.
import type { PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import { isSettled, limitOf, quotaFor, windowMsOf } from "../policy/effective.ts";
import type { Policy, Quota } from "../policy/policy.ts";
import type { CallerAttributes, QuotaCallOp } from "./quotas/script.ts";
import { algorithmOf, type LedgerTerms } from "./script.ts";
import { gridOf, nameOfCount } from "./sight.ts";

/** Guess of the limiter's counts and answers. */
export interface Guess {
  read(caller: CallerAttributes, quotas: readonly string[], nowMs: number): readonly GuessedReading[];
  decide(call: QuotaCallOp, nowMs: number): Omit<PolicyDecision, "readings">;
  settle?(reservation: PolicyReservation, actual: number, nowMs: number): unknown;
  setEnforced?(quota: string, caller: CallerAttributes, enforced: boolean): void;
  sweep?(nowMs: number): void;
}

export type GuessedReading = Pick<Reading, "quota" | "limit" | "used" | "resetAtMs">;

interface Count {
  untilMs: number | null;
  used: number;
}

/** A reading, with the count that it shows. */
interface Found extends GuessedReading {
  readonly rule: Quota;
  readonly count: Count;
}

export class RoughLimiter implements Guess {
  readonly #policy: Policy;
  readonly #terms: LedgerTerms;
  readonly #madeMs: number;
  readonly #counts = new Map<string, Count>();

  /** @param madeMs time at which the limiter is made, ms */
  constructor(policy: Policy, terms: LedgerTerms, madeMs: number) {
    this.#policy = policy;
    this.#terms = terms;
    this.#madeMs = madeMs;
  }

  /** Reads the counts that the limiter has: by key it has those of users alone. */
  read(caller: CallerAttributes, quotas: readonly string[], nowMs: number): readonly Found[] {
    return quotas.flatMap((quota) => {
      const rule = quotaFor(this.#policy, quota, caller);
      if (this.#terms.keyed === true && !rule.key.includes("user")) return [];
      const own = rule.key.map((name) => [name, caller[name] ?? ""]);
      const count = this.#count(nameOfCount({ quota, key: Object.fromEntries(own) }), nowMs);
      const { used, untilMs } = count;
      const resetAtMs = untilMs ?? this.#endMs(rule, nowMs);
      return { quota, limit: limitOf(rule.algorithm), used, resetAtMs, rule, count };
    });
  }

  decide({ caller, operation, cost }: QuotaCallOp, nowMs: number): ReturnType<Guess["decide"]> {
    const uses = Object.keys(this.#policy.operations[operation]?.uses ?? {});
    const all = this.read(caller, uses, nowMs);
    const refuser = all.find(
      ({ rule, limit, used }) => (rule.charge.fits === "whole" ? cost : 1) > limit - used,
    );
    if (refuser === undefined)
      for (const { count, resetAtMs } of all) {
        count.used += cost;
        count.untilMs = resetAtMs;
      }
    // A limiter of calls under way is told of the end of every call that it may have admitted.
    const isAtOnce = algorithmOf(this.#terms) === "concurrency";
    const isHeld = isAtOnce || (refuser === undefined && isSettled(this.#policy, operation));
    const reservation = isHeld ? { caller, operation, cost, windows: [] } : null;
    return { refusedBy: refuser?.quota ?? null, retryAtMs: null, reservation };
  }

  #count(name: string, nowMs: number): Count {
    const known = this.#counts.get(name);
    if (known !== undefined && (known.untilMs === null || known.untilMs > nowMs)) return known;
    const fresh = { untilMs: null, used: 0 };
    this.#counts.set(name, fresh);
    return fresh;
  }

  /** Returns the end of a window that would open now, ms. */
  #endMs(rule: Quota, nowMs: number): number {
    const { fromStart = false, opensToMs = 1000 } = this.#terms;
    const gridMs = fromStart ? this.#madeMs : gridOf(rule);
    const lengthMs = windowMsOf(rule);
    return nowMs + lengthMs - (gridMs === null ? nowMs % opensToMs : (nowMs - gridMs) % lengthMs);
  }
}
