// A deployment by a policy with a fault, in virtual time, apart from the right one, which knows nothing of faults. Each
// answer is written in the API's format, may be changed by the fault, and is read back.
import type { PolicyDecision, PolicyReservation, Reading } from "../src/engine/decision.ts";
import { type SlowQuotaStore, shownByStatus } from "../src/engine/store.ts";
import { type ChosenFault, injectQuotaFault } from "../src/faults/choice.ts";
import { sentBy } from "../src/faults/sent.ts";
import { filledQuotas } from "../src/policy/effective.ts";
import type { Policy } from "../src/policy/policy.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import { type OperationCall, policyCall } from "../src/scenario/policy-calls.ts";
import { toldOf } from "../src/scenario/policy-told.ts";
import { REFUSED } from "../src/wire/outcome.ts";
import type { AnswerToWrite } from "../src/wire/write-answer.ts";
import type { ArrivalOutcome, SimulatedCaller, SimulatedDeployment } from "./deployment.ts";
import { faultDraws } from "./fault-draws.ts";
import * as Flight from "./flight-table.ts";
import { type KeepAnswer, keepsAnswers, type QuotaAnswer } from "./quota-answer.ts";

interface Running {
  readonly asked: OperationCall;
  readonly reservation: PolicyReservation | null;
  readonly readings: readonly Reading[];
}

type Said = Pick<AnswerToWrite, "kind" | "readings"> & Partial<AnswerToWrite>;

export class FaultyQuotaDeployment implements SimulatedDeployment<Running, QuotaAnswer> {
  readonly #policy: Policy;
  readonly #store: SlowQuotaStore;
  readonly #kept: KeepAnswer;
  readonly #names: readonly string[];

  /** @throws SpillwayError `FAULT_INVALID` if the policy cannot have the fault */
  constructor(policy: Policy, fault: ChosenFault, seed: number) {
    const faulty = injectQuotaFault(fault, policy, faultDraws(seed));
    this.#policy = policy;
    this.#store = faulty.store;
    this.#kept = keepsAnswers(policy, sentBy(policy, faulty));
    this.#names = Object.keys(policy.quotas);
  }

  arrive(caller: SimulatedCaller, call: CallTemplate, nowMs: number): ArrivalOutcome<Running, QuotaAnswer> {
    const store = this.#store;
    const asked = policyCall(this.#policy, call, caller);
    const { operation } = asked;
    if (operation === "status") {
      const quotas = filledQuotas(this.#policy, asked.caller);
      const readings = shownByStatus(store, asked.caller, quotas, nowMs);
      return this.#answer(asked, call, { kind: "status", readings }, nowMs);
    }
    if (operation === "other") return this.#answer(asked, call, { kind: "admitted", readings: [] }, nowMs);
    const decided = store.decide({ ...asked, cost: call.cost }, nowMs);
    if (!("resume" in decided)) return this.#decided(asked, call, decided, nowMs);
    return {
      waitMs: decided.waitMs,
      resume: (laterMs) => this.#decided(asked, call, decided.resume(laterMs), laterMs),
    };
  }

  #decided(
    asked: OperationCall,
    call: CallTemplate,
    { refusedBy, retryAtMs, readings, reservation }: PolicyDecision,
    nowMs: number,
  ): QuotaAnswer | Running {
    if (refusedBy !== null)
      return this.#answer(asked, call, { kind: "refused", readings, refusedBy, retryAtMs }, nowMs);
    if (reservation === null && call.scope !== "graphql")
      return this.#answer(asked, call, { kind: "admitted", readings }, nowMs);
    return { asked, reservation, readings };
  }

  complete(
    _caller: SimulatedCaller,
    call: CallTemplate,
    { asked, reservation, readings }: Running,
    nowMs: number,
  ): QuotaAnswer {
    if (reservation === null) return this.#answer(asked, call, { kind: "admitted", readings }, nowMs);
    const settled = this.#store.settle(reservation, call.actual, nowMs);
    const answer = this.#answer(asked, call, { kind: "admitted", readings: settled }, nowMs);
    return { ...answer, actual: Math.min(call.actual, call.cost) };
  }

  #answer(asked: OperationCall, { cost }: CallTemplate, said: Said, nowMs: number): QuotaAnswer {
    return this.#kept(asked, { refusedBy: null, retryAtMs: null, cost, ...said }, nowMs);
  }

  /** Writes an answer into the flight: a refusal has status 429, even if the API's status differs. */
  show(answer: QuotaAnswer, flight: number, { ints, doubles }: Flight.FlightTable, nowMs: number): void {
    const isRefused = answer.outcome === "refused";
    ints[flight * Flight.INTS + Flight.STATUS] = isRefused ? REFUSED : answer.status;
    ints[flight * Flight.INTS + Flight.SHOWN] =
      (answer.operation === "other" ? Flight.UNCOUNTED : 0) |
      Flight.refusedByQuota(isRefused ? this.#names.indexOf(answer.by ?? "") : -1);
    const told = toldOf(this.#policy, answer, nowMs);
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.COST] = told.cost;
    doubles[at + Flight.USER_COST] = told.userCost;
    doubles[at + Flight.RETRY_AFTER] = told.retryAfter;
    doubles[at + Flight.LIMIT] = told.limit;
    doubles[at + Flight.REMAINING] = told.remaining;
    doubles[at + Flight.RESET] = told.reset;
    doubles[at + Flight.USER_LIMIT] = told.userLimit;
    doubles[at + Flight.USER_REMAINING] = told.userRemaining;
    doubles[at + Flight.USER_RESET] = told.userReset;
  }
}
