// The limiter of rules: strings in, fresh plain objects out, in the shapes of SPEC.md. It is the limiter of the policy
// that the rules are. It remembers counts by organization and user.
import { quotaNames } from "../policy/names.ts";
import { policyOf } from "../policy/shorthand.ts";
import { type Rules, type Scope, type Semantics, scopes, semanticsOf } from "../rules/rules.ts";
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "./adapter.ts";
import { CLOCK, ENFORCED, LIMIT, REMAINING, RESET_AT, USED, whole } from "./count-reading.ts";
import { NOT_OPEN } from "./count-table.ts";
import { NONE_REFUSED, type PolicyCore } from "./policy-core.ts";
import { PolicyLimiter } from "./policy-limiter.ts";
import type { PolicySnapshot } from "./policy-snapshot.ts";

/** Operations of a policy of rules, in this order. Each has the organization's quota before the user's. */
const REST = 0;
const GRAPHQL = 1;
const broadOf = (operation: number): number => 2 * operation;
const narrowOf = (operation: number): number => 2 * operation + 1;

/** Places of the organization's reading and of the user's. */
export const BROAD = 0;
export const NARROW = 6;
/** Number of numbers in both. */
export const READINGS = 12;

/** Returns the seconds from `nowMs` to `resetAtMs`, rounded as the rules say (SPEC.md §3, §8 `reset`). */
export function resetSeconds(resetAtMs: number, nowMs: number, rounding: Semantics["reset"]): number {
  const seconds = (resetAtMs - nowMs) / 1000;
  return rounding === "ceil"
    ? Math.ceil(seconds)
    : rounding === "floor"
      ? Math.floor(seconds)
      : Math.round(seconds);
}

/** Returns one of the readings that `PolicyCore.readEach` filled in, in the shape of SPEC.md. */
export function windowAt(readings: Float64Array, from: number, rounding: Semantics["reset"]): WindowReading {
  const resetAtMs = readings[from + RESET_AT] as number;
  return {
    limit: whole(readings[from + LIMIT] as number),
    current: whole(readings[from + USED] as number),
    remaining: whole(readings[from + REMAINING] as number),
    reset: whole(resetSeconds(resetAtMs, readings[from + CLOCK] as number, rounding)),
    resetAtMs,
    enforced: readings[from + ENFORCED] === 1,
  };
}

/**
 * A pure limiter over both windows of every organization and user (SPEC.md §2, §3, §8).
 * No clock, no I/O: every time is an argument, whole milliseconds since the Unix epoch.
 *
 * @example
 * const limiter = new Limiter(parseRules({}));
 * limiter.decide({ organization: "acme", user: "agent-1", scope: "rest", cost: 1 }, 0).admitted; // true
 */
export class Limiter {
  readonly rules: Rules;
  readonly #limiter: PolicyLimiter;
  readonly #core: PolicyCore;
  readonly #rounding: readonly Semantics["reset"][];
  readonly #readings = new Float64Array(READINGS);

  constructor(rules: Rules, limiter = new PolicyLimiter(policyOf(rules))) {
    this.rules = rules;
    this.#limiter = limiter;
    this.#core = limiter.core;
    this.#rounding = scopes.map((scope) => semanticsOf(rules, scope).reset);
  }

  /**
   * Decides one call and counts it, in one step (SPEC.md §2).
   * @throws RangeError if `cost` or `nowMs` is no safe integer >= 0
   */
  decide(call: Call, nowMs: number): Decision {
    const operation = call.scope === "rest" ? REST : GRAPHQL;
    const caller = this.#caller(call.organization, call.user);
    const refusing = this.#core.decide(caller, operation, call.cost, nowMs);
    const admitted = refusing === NONE_REFUSED;
    this.#core.readEach(caller, operation, nowMs, this.#readings);
    return {
      admitted,
      refusedBy: admitted ? null : refusing === broadOf(operation) ? "organization" : "user",
      organization: this.#window(operation, BROAD),
      user: this.#window(operation, NARROW),
      reservation: admitted && operation === GRAPHQL ? this.#reserve(call, caller) : null,
    };
  }

  #reserve({ organization, user, cost }: Call, caller: number): Reservation {
    const window = (quota: number): number | null => {
      const endsAt = this.#core.windowOf(caller, quota);
      return endsAt === NOT_OPEN ? null : endsAt;
    };
    return {
      organization,
      user,
      scope: "graphql",
      requested: cost,
      organizationWindow: window(broadOf(GRAPHQL)),
      userWindow: window(narrowOf(GRAPHQL)),
    };
  }

  /**
   * Completes an admitted GraphQL call, once, and reads its windows (SPEC.md §5, §8 `graphqlCharge`).
   * @param actual points charged in the end, a safe integer from 0 to `reservation.requested`
   * @throws RangeError if `actual` or `nowMs` is out of range
   */
  settle(reservation: Reservation, actual: number, nowMs: number): Readings {
    const { organization, user, requested, organizationWindow, userWindow } = reservation;
    const caller = this.#caller(organization, user);
    const windows = [organizationWindow ?? NOT_OPEN, userWindow ?? NOT_OPEN];
    this.#core.settle(caller, GRAPHQL, requested, actual, windows, nowMs);
    return this.#both(caller, GRAPHQL, nowMs);
  }

  /** Reads both scopes of an organization, free of charge. Opens no window and moves no clock (SPEC.md §2.8, §4). */
  status(organization: string, nowMs: number): Status {
    const quotas = scopes.map((scope) => quotaNames[scope].organization);
    const caller = this.#limiter.readerOf({ organization }, quotas);
    const of = (operation: number): WindowReading => {
      this.#core.readEach(caller, operation, nowMs, this.#readings);
      return this.#window(operation, BROAD);
    };
    return { rest: of(REST), graphql: of(GRAPHQL) };
  }

  /** Reads both windows of a scope as they are, for the headers of an uncounted answer. */
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return this.#both(this.#caller(organization, user), scope === "rest" ? REST : GRAPHQL, nowMs);
  }

  /** Switches refusing on or off for one organization and scope, now (SPEC.md §2.5). Counting goes on. */
  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    this.#limiter.setEnforced(quotaNames[scope].organization, { organization }, enforced);
  }

  /**
   * Forgets the windows that are over. Earlier times count as `nowMs` from then on (SPEC.md §2.8), so that no answer
   * differs from one without the sweep at that time.
   * @returns the number of windows that were dropped
   */
  sweep(nowMs: number): number {
    return this.#limiter.sweep(nowMs);
  }

  /** Returns everything that this limiter remembers, as plain JSON; `Limiter.restore` goes on from it. */
  snapshot(): PolicySnapshot {
    return this.#limiter.snapshot();
  }

  /**
   * Returns a limiter that goes on where `snapshot` was taken.
   * @param snapshot untrusted JSON
   * @throws SpillwayError `SNAPSHOT_INVALID`, naming every field that is wrong
   */
  static restore(rules: Rules, snapshot: unknown): Limiter {
    return new Limiter(rules, PolicyLimiter.restore(policyOf(rules), snapshot));
  }

  #caller(organization: string, user: string): number {
    return (
      this.#limiter.knownPair(organization, user) ?? this.#limiter.handleOf({ organization, user }, "rest")
    );
  }

  #both(caller: number, operation: number, nowMs: number): Readings {
    this.#core.readEach(caller, operation, nowMs, this.#readings);
    return { organization: this.#window(operation, BROAD), user: this.#window(operation, NARROW) };
  }

  #window(operation: number, from: number): WindowReading {
    return windowAt(this.#readings, from, this.#rounding[operation] as Semantics["reset"]);
  }
}
