// Faults that are put around a right limiter: what it answers, changed on its way out.
import type { Readings, WindowReading } from "../engine/adapter.ts";
import { Limiter } from "../engine/limiter.ts";
import type { SlowQuotaStore, SlowStore, Store } from "../engine/store.ts";
import type { Policy } from "../policy/policy.ts";
import { policyOf } from "../policy/shorthand.ts";
import type { Rules, Scope } from "../rules/rules.ts";
import type { SwitchName, SwitchValue } from "../rules/switches.ts";
import type { Fault, FaultWorld, Faulty, QuotaFault } from "./fault.ts";
import { rulesStore } from "./rules-store.ts";

/** A store in which refusing can be switched on and off. */
interface Switched {
  setEnforced(organization: string, scope: Scope, enforced: boolean): void;
}

/** A deployment around counters, with a store of its own in front of them or not. */
export function deployed<S extends Switched & Store>(counters: S, store: SlowStore = counters): Faulty {
  return {
    store,
    setEnforced: (organization, scope, enforced) => counters.setEnforced(organization, scope, enforced),
  };
}

/** A fault that is in the counting alone: the same under rules and under any policy. */
export function counted(
  make: (policy: Policy, world: FaultWorld) => SlowQuotaStore,
  unfit?: QuotaFault["unfit"],
): Pick<Fault, "inject" | "quotas"> {
  return {
    inject: (rules, world) => ofCounters(rules, make(policyOf(rules), world)),
    quotas: {
      ...(unfit === undefined ? {} : { unfit }),
      inject: (policy, world) => ({ store: make(policy, world) }),
    },
  };
}

/** A deployment of the default API around counters by its quotas. */
export function ofCounters(rules: Rules, counters: SlowQuotaStore): Faulty {
  const store = rulesStore(rules, counters);
  return {
    store,
    setEnforced: (organization, scope, enforced) => store.setEnforced(organization, scope, enforced),
  };
}

/** The engine's limiter with some of its methods replaced. */
export function around(rules: Rules, changes: (limiter: Limiter) => Partial<Store>): Faulty {
  const limiter = new Limiter(rules);
  return deployed(limiter, {
    decide: (call, nowMs) => limiter.decide(call, nowMs),
    settle: (reservation, actual, nowMs) => limiter.settle(reservation, actual, nowMs),
    status: (organization, nowMs) => limiter.status(organization, nowMs),
    readings: (organization, user, scope, nowMs) => limiter.readings(organization, user, scope, nowMs),
    sweep: (nowMs) => limiter.sweep(nowMs),
    ...changes(limiter),
  });
}

/** Whose window. */
export interface WindowOwner {
  readonly organization: string;
  /** `null` of an organization's. */
  readonly user: string | null;
  readonly scope: Scope;
}

/** Changes one reading that leaves a limiter; it counts and decides rightly. */
export type ChangeReading = (reading: WindowReading, nowMs: number, key: WindowOwner) => WindowReading;

/** The engine's limiter, every reading of it changed. */
export const showing =
  (change: ChangeReading) =>
  (rules: Rules): Faulty =>
    around(rules, (limiter) => {
      const changed = (
        readings: Readings,
        organization: string,
        user: string,
        scope: Scope,
        nowMs: number,
      ) => ({
        organization: change(readings.organization, nowMs, { organization, user: null, scope }),
        user: change(readings.user, nowMs, { organization, user, scope }),
      });
      return {
        decide(call, nowMs) {
          const decision = limiter.decide(call, nowMs);
          return { ...decision, ...changed(decision, call.organization, call.user, call.scope, nowMs) };
        },
        settle(reservation, actual, nowMs) {
          const { organization, user } = reservation;
          return changed(limiter.settle(reservation, actual, nowMs), organization, user, "graphql", nowMs);
        },
        readings: (organization, user, scope, nowMs) =>
          changed(limiter.readings(organization, user, scope, nowMs), organization, user, scope, nowMs),
        status(organization, nowMs) {
          const { rest, graphql } = limiter.status(organization, nowMs);
          return {
            rest: change(rest, nowMs, { organization, user: null, scope: "rest" }),
            graphql: change(graphql, nowMs, { organization, user: null, scope: "graphql" }),
          };
        },
      };
    });

/** The engine under one switch that is not what the rules say. */
export const switched =
  <S extends SwitchName>(name: S, value: SwitchValue<S>) =>
  (rules: Rules): Faulty => {
    const semantics = { ...rules.semantics, [name]: { rest: value, graphql: value } };
    return deployed(new Limiter({ ...rules, semantics }));
  };
