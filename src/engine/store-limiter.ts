// A store by a policy as a limiter that laws can check: its decisions, and the answers that a deployment would send.
import { filledQuotas } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import type { AnswerToWrite } from "../wire/write-answer.ts";
import type { PolicyCall, PolicyReservation } from "./decision.ts";
import type { QuotaLimiter, QuotaSaid } from "./quota-limiter.ts";
import { decideNow, type SlowQuotaStore, shownByStatus } from "./store.ts";

/** Writes an answer in the form in which it is sent. */
export type WriteAnswer = (told: AnswerToWrite, nowMs: number, caller: PolicyCall["caller"]) => HttpAnswer;

export function storeLimiter(policy: Policy, store: SlowQuotaStore, write: WriteAnswer): QuotaLimiter {
  const answered = (told: AnswerToWrite, nowMs: number, caller: PolicyCall["caller"]): QuotaSaid => ({
    readings: told.readings,
    http: write(told, nowMs, caller),
  });
  return {
    decide(call, nowMs) {
      const { refusedBy, retryAtMs, readings, reservation } = decideNow(store, call, nowMs);
      const kind = refusedBy === null ? "admitted" : "refused";
      const told: AnswerToWrite = { kind, readings, refusedBy, retryAtMs, cost: call.cost };
      const said = reservation === null ? answered(told, nowMs, call.caller) : { readings };
      return { admitted: refusedBy === null, refusedBy, retryAtMs, reservation, ...said };
    },
    settle(reservation, actual, nowMs) {
      const held = reservation as PolicyReservation;
      const readings = store.settle(held, actual, nowMs);
      const { cost, caller } = held;
      return answered({ kind: "admitted", readings, refusedBy: null, retryAtMs: null, cost }, nowMs, caller);
    },
    status(caller, nowMs) {
      const readings = shownByStatus(store, caller, filledQuotas(policy, caller), nowMs);
      return answered({ kind: "status", readings, refusedBy: null, retryAtMs: null, cost: 0 }, nowMs, caller);
    },
    sweep: (nowMs) => store.sweep(nowMs),
    setEnforced: (quota, caller, enforced) => store.setEnforced(quota, caller, enforced),
  };
}
