// A right deployment whose limits change, always at a window's edge: two engines, of which one has the even windows
// and the other the odd ones. Both windows of a call must change together, so they have one length each scope, on the
// epoch's grid.
import type { Call, Decision, Readings, Reservation, Status } from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import type { Target } from "./history.ts";

/** Rules under which limits can change: epoch's windows, the user's as long as the organization's. */
export function changeable(rules: Rules): Rules {
  const { organization, semantics } = rules;
  const user = (scope: Scope) => ({
    ...rules.user[scope],
    windowSeconds: organization[scope].windowSeconds,
  });
  return {
    ...rules,
    user: { rest: user("rest"), graphql: user("graphql") },
    semantics: { ...semantics, anchor: { rest: "epoch", graphql: "epoch" } },
  };
}

export class ChangingLimits implements Target {
  readonly #rules: Rules;
  readonly #limiters: readonly [Limiter, Limiter];
  readonly #owners = new WeakMap<Reservation, Limiter>();
  /** The latest instant seen by an organization's scope: no window of it rolls back. */
  readonly #latest = new Map<string, number>();

  constructor(rules: Rules) {
    this.#rules = rules;
    const raised = (scope: Scope) => ({
      ...rules.organization[scope],
      limit: rules.organization[scope].limit + 3,
    });
    const other = { ...rules, organization: { rest: raised("rest"), graphql: raised("graphql") } };
    this.#limiters = [new Limiter(rules), new Limiter(other)];
  }

  #at(org: string, scope: Scope, nowMs: number): { readonly limiter: Limiter; readonly now: number } {
    const now = Math.max(nowMs, this.#latest.get(`${org} ${scope}`) ?? 0);
    const window = Math.floor(now / (this.#rules.organization[scope].windowSeconds * 1000));
    return { limiter: this.#limiters[window % 2 === 0 ? 0 : 1], now };
  }

  decide(call: Call, nowMs: number): Decision {
    const { limiter, now } = this.#at(call.organization, call.scope, nowMs);
    this.#latest.set(`${call.organization} ${call.scope}`, now);
    const decision = limiter.decide(call, now);
    if (decision.reservation !== null) this.#owners.set(decision.reservation, limiter);
    return decision;
  }

  settle(reservation: Reservation, actual: number, nowMs: number): Readings {
    const { organization, user } = reservation;
    const { limiter, now } = this.#at(organization, "graphql", nowMs);
    this.#latest.set(`${organization} graphql`, now);
    const owner = this.#owners.get(reservation) ?? limiter;
    const readings = owner.settle(reservation, actual, now);
    return owner === limiter ? readings : limiter.readings(organization, user, "graphql", now);
  }

  status(organization: string, nowMs: number): Status {
    const of = (scope: Scope) => {
      const { limiter, now } = this.#at(organization, scope, nowMs);
      return limiter.status(organization, now)[scope];
    };
    return { rest: of("rest"), graphql: of("graphql") };
  }

  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    const { limiter, now } = this.#at(organization, scope, nowMs);
    return limiter.readings(organization, user, scope, now);
  }

  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    for (const limiter of this.#limiters) limiter.setEnforced(organization, scope, enforced);
  }
}
