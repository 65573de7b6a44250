// Turns random intents ("a call of exactly what is left, 1 ms before the window ends") into a concrete script.
// fast-check drops or simplifies intents, and the rest are planned anew. So a shrunk script still stands at its
// window's edge.
//
// The planner guesses the limiter's answers: under a policy by the readable reference, under rules by `RoughLimiter`. A
// wrong guess only makes a script less pointed: this file does not decide what a limiter should answer.
import type { PolicyReservation } from "../engine/decision.ts";
import { ReferenceLimiter } from "../engine/reference.ts";
import { filledQuotas, quotaFor, windowMsOf } from "../policy/effective.ts";
import type { Cost, Policy } from "../policy/policy.ts";
import type { CallerAttributes, QuotaCallOp, QuotaEnforceOp, QuotaOp, QuotaScript } from "./quotas/script.ts";
import { type Guess, type GuessedReading, RoughLimiter } from "./rough-limiter.ts";
import type { LedgerTerms } from "./script.ts";

/**
 * Time of an operation, relative to the previous operation and to the windows or buckets that it uses. A `place` is one
 * of these, counted from 0.
 */
export type Move =
  | { readonly to: "stay" }
  | { readonly to: "later"; readonly ms: number }
  | { readonly to: "second" }
  | { readonly to: "half"; readonly place: number }
  /** Move to the end of the open window, or 1 ms before or after it. */
  | { readonly to: "edge"; readonly place: number; readonly offsetMs: number }
  /** Move by the whole seconds that a client would wait for the window's end, if `reset` is rounded up. */
  | { readonly to: "wait"; readonly place: number }
  | { readonly to: "beyond"; readonly place: number; readonly windows: number }
  | { readonly to: "back"; readonly ms: number }
  /** Move back to the instant at which the open window opened, or 1 ms before or after it. */
  | { readonly to: "reopen"; readonly place: number; readonly offsetMs: number }
  /** Move to the instant at which the call refused last fits, or 1 ms before or after it. */
  | { readonly to: "room"; readonly offsetMs: number };

/** Part of its cost that a completed call uses. */
type Part = "all" | "most" | "half" | "none";

/** Cost of a call that declares its cost, or else number of calls at one instant. */
export interface Amount {
  /** Measure: points alone, the room left, the least limit of a call, or the limit in one place. */
  readonly of: "points" | "room" | "limit" | number;
  readonly points: number;
  /** Points added to the limit or the room that `of` names. */
  readonly plus: number;
}

export type Act =
  | {
      readonly do: "call";
      readonly caller: CallerAttributes;
      readonly operation: string;
      readonly amount: Amount;
    }
  /** `which` picks among the calls under way when this is planned. */
  | { readonly do: "settle"; readonly which: number; readonly actual: Part }
  | { readonly do: "status"; readonly caller: CallerAttributes }
  | {
      readonly do: "enforce";
      /** Quota that refuses or not from now on, for all that share its count with this caller. */
      readonly of: Pick<QuotaEnforceOp, "quota" | "caller">;
      readonly enforced: boolean;
    }
  | { readonly do: "sweep" }
  | { readonly do: "snapshot" };

export interface Intent {
  readonly move: Move;
  readonly act: Act;
}

/** Caller and operation to whose windows an operation's time is relative. */
type Target = Pick<QuotaCallOp, "caller" | "operation">;

/** A call that has not completed. */
interface UnderWay {
  readonly call: QuotaCallOp;
  readonly reservation: PolicyReservation;
}

/** The start of a script, with the caller and the operation to which its first move is relative. */
interface Start extends Pick<QuotaScript, "policy" | "terms" | "startMs"> {
  readonly first: Target;
}

/** Greatest number of calls in a script, even if its bursts aim at large limits. */
const callsMost = 400;

export const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** Returns the greatest cost of a call to a quota, points; a declared cost counts as 1. */
export const costMost = (cost: Cost): number =>
  typeof cost === "number" ? cost : cost === "declared" ? 1 : cost.atMost;

class Planner {
  readonly ops: QuotaOp[] = [];
  readonly #policy: Policy;
  readonly #terms: LedgerTerms | undefined;
  readonly #underWay: UnderWay[] = [];
  #guess: Guess;
  #calls = 0;
  #nowMs: number;
  /** Latest time so far, ms, by which windows are guessed. */
  #clockMs: number;
  #last: Target;
  #roomAtMs: number | null = null;

  constructor({ policy, terms, first, startMs }: Start) {
    this.#policy = policy;
    this.#terms = terms;
    this.#nowMs = startMs;
    this.#clockMs = startMs;
    this.#last = first;
    this.#guess = this.#fresh();
  }

  take({ move, act }: Intent): void {
    const settled =
      act.do === "settle" ? this.#underWay[act.which % Math.max(1, this.#underWay.length)] : undefined;
    if (act.do === "settle" && settled === undefined) return;
    this.#last = settled?.call ?? this.#targetOf(act);
    this.#nowMs = this.#movedMs(move);
    this.#clockMs = Math.max(this.#clockMs, this.#nowMs);
    // The limiter is made at the time of the first operation.
    if (this.ops.length === 0) this.#guess = this.#fresh();
    this.#plan(act, settled);
  }

  #fresh(): Guess {
    const terms = this.#terms;
    return terms === undefined
      ? new ReferenceLimiter(this.#policy)
      : new RoughLimiter(this.#policy, terms, this.#clockMs);
  }

  #targetOf(act: Act): Target {
    const { caller, operation } = this.#last;
    if (act.do === "call") return { caller: act.caller, operation: act.operation };
    if (act.do === "status") return { caller: act.caller, operation };
    if (act.do !== "enforce") return this.#last;
    const isUsing = (name: string) => this.#uses(name)[act.of.quota] !== undefined;
    const using = [operation, ...Object.keys(this.#policy.operations)].find(isUsing);
    return { caller: { ...caller, ...act.of.caller }, operation: using ?? operation };
  }

  /** Returns the time of an operation after a move, ms, 0 or later. */
  #movedMs(move: Move): number {
    const now = this.#nowMs;
    // The first operation has no earlier one to step back from.
    if (this.ops.length === 0 && (move.to === "back" || move.to === "reopen")) return now;
    switch (move.to) {
      case "stay":
        return now;
      case "later":
        return now + move.ms;
      case "second":
        return now - (now % 1000) + 1000;
      case "half":
        return now + Math.floor(this.#lengthMs(move.place) / 2);
      case "edge":
        return Math.max(now, this.#endMs(move.place) + move.offsetMs);
      case "wait":
        return now + Math.max(0, Math.ceil((this.#endMs(move.place) - now) / 1000) * 1000);
      case "beyond":
        return now + this.#lengthMs(move.place) * move.windows;
      case "back":
        return Math.max(0, now - move.ms);
      case "reopen": {
        const opened = this.#endMs(move.place) - this.#lengthMs(move.place);
        return Math.max(0, Math.min(now, opened + move.offsetMs));
      }
      case "room":
        return Math.max(now, (this.#roomAtMs ?? now) + move.offsetMs);
    }
  }

  #readings(): readonly GuessedReading[] {
    const { caller, operation } = this.#last;
    return this.#guess.read(caller, Object.keys(this.#uses(operation)), this.#clockMs);
  }

  #uses(operation: string): Readonly<Record<string, Cost>> {
    return this.#policy.operations[operation]?.uses ?? {};
  }

  /** Returns the instant at which a window ends or a bucket is full, ms. */
  #endMs(place: number): number {
    return pick(this.#readings(), place).resetAtMs;
  }

  #lengthMs(place: number): number {
    const { quota } = pick(this.#readings(), place);
    return windowMsOf(quotaFor(this.#policy, quota, this.#last.caller));
  }

  #plan(act: Act, settled: UnderWay | undefined): void {
    const atMs = this.#nowMs;
    switch (act.do) {
      case "call":
        this.#call(act.amount);
        return;
      case "settle":
        if (settled !== undefined) this.#settle(settled, act.actual);
        return;
      case "status": {
        const { caller } = act;
        if (filledQuotas(this.#policy, caller).length > 0) this.ops.push({ do: "status", atMs, caller });
        return;
      }
      case "enforce": {
        const { quota, caller } = act.of;
        if (typeof this.#policy.quotas[quota]?.enforced === "object") return;
        this.#guess.setEnforced?.(quota, caller, act.enforced);
        this.ops.push({ do: "enforce", atMs, quota, caller, enforced: act.enforced });
        return;
      }
      case "sweep":
        this.#guess.sweep?.(atMs);
        this.ops.push({ do: "sweep", atMs });
        return;
      case "snapshot":
        this.ops.push({ do: "snapshot", atMs });
    }
  }

  #call(amount: Amount): void {
    const { caller, operation } = this.#last;
    const uses = Object.values(this.#uses(operation));
    const isDeclared = uses.includes("declared");
    const points = this.#points(amount, isDeclared);
    const cost = isDeclared ? Math.max(this.#costLeast(), points) : 1;
    const times = isDeclared ? 1 : Math.max(1, points);
    for (let n = 0; n < times && this.#calls < callsMost; n += 1) {
      const call: QuotaCallOp = { do: "call", atMs: this.#nowMs, id: this.#calls, caller, operation, cost };
      this.#calls += 1;
      this.ops.push(call);
      const { retryAtMs, refusedBy, reservation } = this.#guess.decide(call, this.#clockMs);
      if (refusedBy !== null) this.#roomAtMs = retryAtMs;
      if (reservation === null) continue;
      const held = { call, reservation };
      this.#underWay.push(held);
      // If only completed calls count, most complete at once; else no window would fill.
      if (amount.plus <= 0 && this.#isChargedLate()) this.#settle(held, "all");
    }
  }

  #isChargedLate(): boolean {
    return Object.keys(this.#uses(this.#last.operation)).every(
      (quota) => this.#policy.quotas[quota]?.charge.when === "completion",
    );
  }

  /** Returns the points that an amount stands for; if no cost is declared, the number of calls that take as many. */
  #points({ of, points, plus }: Amount, isDeclared: boolean): number {
    if (of === "points") return points;
    const uses = this.#uses(this.#last.operation);
    const calls = this.#readings().flatMap(({ quota, limit, used }) => {
      const cost = uses[quota] ?? 0;
      if (isDeclared && cost !== "declared") return [];
      return Math.floor((of === "room" ? limit - used : limit) / Math.max(1, costMost(cost)));
    });
    return (typeof of === "number" ? pick(calls, of) : Math.min(...calls)) + plus;
  }

  /** Returns the least cost to declare. By a policy and by key, it is left open whether a charge of 0 opens a window. */
  #costLeast(): number {
    if (this.#terms !== undefined) return this.#terms.keyed === true ? 1 : 0;
    return this.#readings().some(({ used }) => used === 0) ? 1 : 0;
  }

  #settle(held: UnderWay, part: Part): void {
    this.#underWay.splice(this.#underWay.indexOf(held), 1);
    const { call, reservation } = held;
    const open = Object.values(this.#uses(call.operation)).filter((use) => typeof use !== "number");
    const most = open.map((use) => (use === "declared" ? call.cost : costMost(use)));
    const asked = most.length === 0 ? call.cost : Math.min(...most);
    const actual = { all: asked, most: Math.max(0, asked - 1), half: Math.floor(asked / 2), none: 0 }[part];
    this.ops.push({ do: "settle", atMs: this.#nowMs, id: call.id, actual });
    this.#guess.settle?.(reservation, actual, this.#nowMs);
  }
}

/** Plans a sequence of intents. The same start and intents give the same operations. */
export function planned(start: Start, intents: readonly Intent[]): QuotaOp[] {
  const planner = new Planner(start);
  for (const intent of intents) planner.take(intent);
  return planner.ops;
}
