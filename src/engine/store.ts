// The counters that a deployment needs: the pure limiter in its own process, a wrong one in its place, or counters that
// others share.
import type { Scope } from "../rules/rules.ts";
import type { Call, Decision, Readings, Reservation, Status } from "./adapter.ts";
import type { Eventually } from "./asking.ts";
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "./decision.ts";

/**
 * The rest of a step that is not atomic, for the owner of the clock to resume after `waitMs`. Plain data and a
 * function, so that virtual time and real time can both wait for it.
 */
export interface Pending<T> {
  /** Time to wait, whole ms >= 0. */
  readonly waitMs: number;
  resume(nowMs: number): T;
}

/** The counters behind a deployment, such as `Limiter`. Every time is in ms since the Unix epoch. */
export interface Store {
  decide(call: Call, nowMs: number): Decision;
  settle(reservation: Reservation, actual: number, nowMs: number): Readings;
  status(organization: string, nowMs: number): Status;
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings;
  /** Drops idle keys (SPEC.md §2.8). */
  sweep(nowMs: number): unknown;
}

/** Counters whose decision takes time, in which other calls can run. */
export interface SlowStore extends Omit<Store, "decide"> {
  decide(call: Call, nowMs: number): Decision | Pending<Decision>;
}

/** Switches refusing on or off for one organization and scope while it runs (SPEC.md §2.5). */
export interface EnforcementSwitch {
  setEnforced(organization: string, scope: Scope, enforced: boolean): void;
}

/** Counters that are elsewhere: in another process, or on another machine. */
export interface RemoteStore {
  decide(call: Call, nowMs: number): Eventually<Decision>;
  settle(reservation: Reservation, actual: number, nowMs: number): Eventually<Readings>;
  status(organization: string, nowMs: number): Eventually<Status>;
  readings(organization: string, user: string, scope: Scope, nowMs: number): Eventually<Readings>;
  sweep(nowMs: number): unknown;
}

/** Counters by a policy's quotas, such as `PolicyLimiter`. Every time is in ms since the Unix epoch. */
export interface QuotaStore {
  decide(call: PolicyCall, nowMs: number): PolicyDecision;
  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[];
  read(caller: PolicyCall["caller"], quotas: readonly string[], nowMs: number): readonly Reading[];
  /** Reads the values that a status shows. Default: those of `read`. */
  status?(caller: PolicyCall["caller"], quotas: readonly string[], nowMs: number): readonly Reading[];
  setEnforced(quota: string, caller: PolicyCall["caller"], enforced: boolean): void;
  sweep(nowMs: number): unknown;
}

/** Counters by quotas whose decision takes time, in which other calls can run. */
export interface SlowQuotaStore extends Omit<QuotaStore, "decide"> {
  decide(call: PolicyCall, nowMs: number): PolicyDecision | Pending<PolicyDecision>;
}

/** Returns the readings that a status shows a caller. */
export const shownByStatus = (
  store: SlowQuotaStore,
  ...asked: Parameters<SlowQuotaStore["read"]>
): readonly Reading[] => (store.status ?? store.read).apply(store, asked);

/** Decides at once: laws ask one call after the other, so that no call runs between read and write. */
export function decideNow<C, D extends object>(
  store: { decide(call: C, nowMs: number): D | Pending<D> },
  call: C,
  nowMs: number,
): D {
  const decided = store.decide(call, nowMs);
  return "resume" in decided ? decided.resume(nowMs) : decided;
}
