// Counters by the default API's four quotas, as a store of its rules: SPEC.md's shapes around those of a policy.
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "../engine/adapter.ts";
import type { PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import { resetSeconds } from "../engine/limiter.ts";
import type { EnforcementSwitch, Pending, QuotaStore, SlowQuotaStore, Store } from "../engine/store.ts";
import { quotaNames } from "../policy/names.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { type AnswerKind, mayShow } from "../policy/wire-data.ts";
import { owners, type Scope, scopes } from "../rules/rules.ts";
import type { CountedCaller } from "./counter.ts";
import type { ChangedReading, Faulty, FaultyQuotas } from "./fault.ts";

/** A reservation that contains the counters' own, as plain JSON. */
interface Held extends Reservation {
  readonly held?: PolicyReservation;
}

type Telling = Pick<FaultyQuotas, "shownBy" | "wire" | "tell">;

/** Returns the reset that a reading tells, in the form of the API or of a fault. It may lie in the past. */
function resetOf(
  { shownBy, wire = wireOf(shownBy) }: Telling & { readonly shownBy: Policy },
  { quota, resetAtMs }: ChangedReading,
  nowMs: number,
): number {
  const row = wire.readings.find((one) => one.reset !== undefined && mayShow(one, quota));
  if (row?.reset?.form === "delta-ms") return resetAtMs - nowMs;
  if (row?.reset?.form === "epoch-s") return resetAtMs / 1000;
  return resetSeconds(resetAtMs, nowMs, shownBy.quotas[quota]?.shown.reset ?? "ceil");
}

/**
 * Makes a store of rules from counters.
 * @param policy the rules' own policy
 * @param telling differences between what answers tell and what the counters count
 */
export function rulesStore(
  policy: Policy,
  counters: QuotaStore,
  telling?: Telling,
): Store & EnforcementSwitch;
export function rulesStore(policy: Policy, counters: SlowQuotaStore, telling?: Telling): Faulty["store"];
export function rulesStore(policy: Policy, counters: SlowQuotaStore, telling: Telling = {}): Faulty["store"] {
  const shown = { shownBy: policy, ...telling };
  const windowsOf = (
    caller: CountedCaller,
    readings: readonly Reading[],
    nowMs: number,
    kind: AnswerKind = "admitted",
    refusedBy: string | null = null,
  ): WindowReading[] => {
    const said = { kind, readings, refusedBy, retryAtMs: null, cost: 0 };
    const told = telling.tell?.(said, caller, nowMs).readings ?? readings;
    return told.map((one: ChangedReading, place) => {
      const { resetAtMs, enforced, clockMs = nowMs } = readings[place] as Reading;
      const { limit, used, remaining, endsAtMs = resetAtMs } = one;
      const reset = resetOf(shown, one, clockMs);
      return { limit, current: used, remaining, reset, resetAtMs: endsAtMs, enforced };
    });
  };
  const decided = (call: Call, caller: CountedCaller, decision: PolicyDecision, nowMs: number): Decision => {
    const { organization, user, scope, cost } = call;
    const { refusedBy: quota, readings, reservation } = decision;
    const refusedBy = owners.find((owner) => quotaNames[scope][owner] === quota) ?? null;
    const [organizationWindow = null, userWindow = null] = reservation?.windows ?? [];
    const held = (policys: PolicyReservation): Held => ({
      ...{ organization, user, scope: "graphql", requested: cost, organizationWindow, userWindow },
      held: policys,
    });
    const kind = refusedBy === null ? "admitted" : "refused";
    return {
      admitted: refusedBy === null,
      refusedBy,
      ...pair(windowsOf(caller, readings, nowMs, kind, quota)),
      reservation: reservation === null ? null : held(reservation),
    };
  };
  const read = (organization: string, user: string, scope: Scope, nowMs: number): Readings => {
    const caller = { organization, user };
    const names = owners.map((owner) => quotaNames[scope][owner]);
    return pair(windowsOf(caller, counters.read(caller, names, nowMs), nowMs));
  };
  return {
    decide(call, nowMs): Decision | Pending<Decision> {
      const { organization, user, scope, cost } = call;
      const caller = { organization, user };
      const made = counters.decide({ caller, operation: scope, cost }, nowMs);
      if (!("resume" in made)) return decided(call, caller, made, nowMs);
      const { waitMs, resume } = made;
      return { waitMs, resume: (laterMs) => decided(call, caller, resume(laterMs), laterMs) };
    },
    settle(reservation, actual, nowMs) {
      const { held, organization, user } = reservation as Held;
      return held === undefined
        ? read(organization, user, "graphql", nowMs)
        : pair(windowsOf(held.caller, counters.settle(held, actual, nowMs), nowMs));
    },
    status(organization, nowMs): Status {
      const quotas = scopes.map((scope) => quotaNames[scope].organization);
      const readings = (counters.status ?? counters.read).call(counters, { organization }, quotas, nowMs);
      const [rest, graphql] = windowsOf({ organization }, readings, nowMs, "status");
      return { rest, graphql } as Status;
    },
    readings: read,
    setEnforced: (organization, scope, enforced) =>
      counters.setEnforced(quotaNames[scope].organization, { organization }, enforced),
    sweep: (nowMs) => counters.sweep(nowMs),
  };
}

/** Returns the readings of a scope's two windows, which come in the policy's order. */
const pair = ([organization, user]: readonly WindowReading[]): Readings =>
  ({ organization, user }) as Readings;

/** Makes a deployment of the default API from one by its rules' policy. */
export function faultyRules(policy: Policy, faulty: FaultyQuotas): Faulty {
  const { store: counters, change, changeOwn = change, userOf } = faulty;
  const store = rulesStore(policy, counters, faulty.changeOwn === undefined ? faulty : {});
  return { store, ...(changeOwn && { change: changeOwn }), ...(userOf && { userOf }) };
}
