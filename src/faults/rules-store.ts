// Counters by the four quotas of the default API, as a store of its rules: the shapes of SPEC.md around a policy's.
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "../engine/adapter.ts";
import type { PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import { resetSeconds } from "../engine/limiter.ts";
import type { Pending, QuotaStore, SlowQuotaStore, SlowStore, Store } from "../engine/store.ts";
import { quotaNames } from "../policy/names.ts";
import { type Owner, owners, type Rules, type Scope, scopes, semanticsOf } from "../rules/rules.ts";

/** A store of rules in which refusing can be switched on and off. */
export type Switched<S> = S & {
  setEnforced(organization: string, scope: Scope, enforced: boolean): void;
};

/** A reservation that knows the counters' own; plain JSON, as it must be. */
interface Held extends Reservation {
  readonly held?: PolicyReservation;
}

export function rulesStore(rules: Rules, counters: QuotaStore): Switched<Store>;
export function rulesStore(rules: Rules, counters: SlowQuotaStore): Switched<SlowStore>;
export function rulesStore(rules: Rules, counters: SlowQuotaStore): Switched<SlowStore> {
  const windowOf = (scope: Scope, reading: Reading, nowMs: number): WindowReading => {
    const { limit, used, remaining, resetAtMs, enforced, clockMs = nowMs } = reading;
    const reset = resetSeconds(resetAtMs, clockMs, semanticsOf(rules, scope).reset);
    return { limit, current: used, remaining, reset, resetAtMs, enforced };
  };
  const windowsOf = (scope: Scope, readings: readonly Reading[], nowMs: number): Readings => {
    const of = (owner: Owner): WindowReading => {
      const reading = readings.find(({ quota }) => quota === quotaNames[scope][owner]);
      if (reading === undefined) throw new RangeError(`no reading of ${quotaNames[scope][owner]}`);
      return windowOf(scope, reading, nowMs);
    };
    return { organization: of("organization"), user: of("user") };
  };
  const decided = (
    { organization, user, scope, cost }: Call,
    decision: PolicyDecision,
    nowMs: number,
  ): Decision => {
    const { refusedBy: quota, reservation } = decision;
    const refusedBy = owners.find((owner) => quotaNames[scope][owner] === quota) ?? null;
    const [organizationWindow = null, userWindow = null] = reservation?.windows ?? [];
    const held = (policys: PolicyReservation): Held => ({
      ...{ organization, user, scope: "graphql", requested: cost, organizationWindow, userWindow },
      held: policys,
    });
    return {
      admitted: refusedBy === null,
      refusedBy,
      ...windowsOf(scope, decision.readings, nowMs),
      reservation: reservation === null ? null : held(reservation),
    };
  };
  const names = (scope: Scope): string[] => owners.map((owner) => quotaNames[scope][owner]);
  return {
    decide(call, nowMs): Decision | Pending<Decision> {
      const { organization, user, scope, cost } = call;
      const made = counters.decide({ caller: { organization, user }, operation: scope, cost }, nowMs);
      if (!("resume" in made)) return decided(call, made, nowMs);
      const { waitMs, resume } = made;
      return { waitMs, resume: (laterMs) => decided(call, resume(laterMs), laterMs) };
    },
    settle(reservation, actual, nowMs) {
      const { held, organization, user } = reservation as Held;
      const readings =
        held === undefined
          ? counters.read({ organization, user }, names("graphql"), nowMs)
          : counters.settle(held, actual, nowMs);
      return windowsOf("graphql", readings, nowMs);
    },
    status(organization, nowMs): Status {
      const quotas = scopes.map((scope) => quotaNames[scope].organization);
      const readings = (counters.status ?? counters.read).call(counters, { organization }, quotas, nowMs);
      const [rest, graphql] = scopes.map((scope, place) =>
        windowOf(scope, readings[place] as Reading, nowMs),
      );
      return { rest, graphql } as Status;
    },
    readings: (organization, user, scope, nowMs) =>
      windowsOf(scope, counters.read({ organization, user }, names(scope), nowMs), nowMs),
    setEnforced: (organization, scope, enforced) =>
      counters.setEnforced(quotaNames[scope].organization, { organization }, enforced),
    sweep: (nowMs) => counters.sweep(nowMs),
  };
}
