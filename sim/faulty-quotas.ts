// A deployment by a policy that has a fault, in virtual time. It stands beside the right one, which knows nothing of
// faults: every answer is written in the API's format, goes through the fault's hands, and is read back.
import type { PolicyDecision, PolicyReservation, Reading } from "../src/engine/decision.ts";
import type { Pending } from "../src/engine/store.ts";
import { type ChosenFault, injectQuotaFault } from "../src/faults/choice.ts";
import type { FaultyQuotas } from "../src/faults/fault.ts";
import { filledQuotas } from "../src/policy/effective.ts";
import type { Policy } from "../src/policy/policy.ts";
import { wireOf } from "../src/policy/presets.ts";
import type { WireData } from "../src/policy/wire-data.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import { type OperationCall, policyCall } from "../src/scenario/policy-calls.ts";
import { toldOf } from "../src/scenario/policy-told.ts";
import { answerMembers, noAnswer } from "../src/trace/quota-answer.ts";
import { REFUSED } from "../src/wire/outcome.ts";
import { readAnswer } from "../src/wire/read-answer.ts";
import { type AnswerToWrite, shownAt, writeAnswer } from "../src/wire/write-answer.ts";
import { ANSWERED, type AnswerParts, type Fate, RUNS } from "./deployment.ts";
import { faultDraws } from "./fault-draws.ts";
import * as Flight from "./flight-table.ts";
import { costOf, type QuotaAnswer, type QuotaDeployment } from "./policy-deployment.ts";

interface Seated {
  readonly organization: string;
  readonly user: string;
}

/** A call on its way. */
interface Running {
  readonly asked: OperationCall;
  readonly call: CallTemplate;
  readonly pending: Pending<PolicyDecision> | null;
  readonly reservation: PolicyReservation | null;
  readonly readings: readonly Reading[];
}

export class FaultyQuotaDeployment implements QuotaDeployment {
  readonly #policy: Policy;
  readonly #faulty: FaultyQuotas;
  readonly #wire: WireData;
  readonly #flights: Flight.FlightTable;
  readonly #names: readonly string[];
  readonly #quotas: ReadonlySet<string>;
  readonly #handles = new Map<string, number>();
  readonly #seats: Seated[] = [];
  readonly #running: Running[] = [];
  readonly #answers: QuotaAnswer[] = [];

  /** @throws SpillwayError `FAULT_INVALID` where the policy cannot have the fault */
  constructor(policy: Policy, fault: ChosenFault, seed: number, flights: Flight.FlightTable) {
    this.#policy = policy;
    this.#faulty = injectQuotaFault(fault, policy, faultDraws(seed));
    this.#wire = this.#faulty.wire ?? wireOf(policy);
    this.#flights = flights;
    this.#names = Object.keys(policy.quotas);
    this.#quotas = new Set(this.#names);
  }

  caller(organization: string, user: string): number {
    const name = JSON.stringify([organization, user]);
    const known = this.#handles.get(name);
    if (known !== undefined) return known;
    const handle = this.#seats.push({ organization, user }) - 1;
    this.#handles.set(name, handle);
    return handle;
  }

  lookAt(caller: number): number {
    return caller;
  }

  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    const asked = policyCall(this.#policy, call, this.#seats[caller] as Seated);
    const { operation } = asked;
    const { store } = this.#faulty;
    if (operation === "status") {
      const look = store.status ?? store.read;
      const readings = look.call(store, asked.caller, filledQuotas(this.#policy, asked.caller), nowMs);
      return this.#reply(flight, asked, call, { kind: "status", readings }, nowMs);
    }
    if (operation === "other")
      return this.#reply(flight, asked, call, { kind: "admitted", readings: [] }, nowMs);
    const decided = store.decide({ ...asked, cost: call.cost }, nowMs);
    if (!("resume" in decided)) return this.#decided(flight, asked, call, decided, nowMs);
    this.#running[flight] = { asked, call, pending: decided, reservation: null, readings: [] };
    return decided.waitMs;
  }

  resume(flight: number, nowMs: number): Fate {
    const { asked, call, pending } = this.#running[flight] as Running;
    if (pending === null) throw new RangeError("this call was decided");
    return this.#decided(flight, asked, call, pending.resume(nowMs), nowMs);
  }

  complete(flight: number, _caller: number, _call: CallTemplate, nowMs: number): Fate {
    const { asked, call, reservation, readings } = this.#running[flight] as Running;
    if (reservation === null) return this.#reply(flight, asked, call, { kind: "admitted", readings }, nowMs);
    const settled = this.#faulty.store.settle(reservation, call.actual, nowMs);
    const fate = this.#reply(flight, asked, call, { kind: "admitted", readings: settled }, nowMs);
    this.#answers[flight] = {
      ...(this.#answers[flight] as QuotaAnswer),
      actual: Math.min(call.actual, call.cost),
    };
    return fate;
  }

  answer(): AnswerParts {
    throw new RangeError("a trace of version 1 holds no quotas of a policy");
  }

  quotaAnswer(
    flight: number,
    caller: number,
    call: CallTemplate,
    isDecided: boolean,
    status: number,
  ): QuotaAnswer {
    if (isDecided) return this.#answers[flight] as QuotaAnswer;
    const asked = policyCall(this.#policy, call, this.#seats[caller] as Seated);
    const error = status === 0 ? "timeout" : undefined;
    return { ...asked, cost: costOf(asked, call), status, ...noAnswer, error };
  }

  #decided(
    flight: number,
    asked: OperationCall,
    call: CallTemplate,
    decision: PolicyDecision,
    nowMs: number,
  ): Fate {
    const { refusedBy, retryAtMs, readings, reservation } = decision;
    if (refusedBy !== null)
      return this.#reply(flight, asked, call, { kind: "refused", readings, refusedBy, retryAtMs }, nowMs);
    if (reservation === null && call.scope !== "graphql")
      return this.#reply(flight, asked, call, { kind: "admitted", readings }, nowMs);
    this.#running[flight] = { asked, call, pending: null, reservation, readings };
    return RUNS;
  }

  #reply(
    flight: number,
    asked: OperationCall,
    call: CallTemplate,
    said: Pick<AnswerToWrite, "kind" | "readings"> & Partial<AnswerToWrite>,
    nowMs: number,
  ): Fate {
    const { shownBy = this.#policy, tell, change } = this.#faulty;
    const right: AnswerToWrite = { refusedBy: null, retryAtMs: null, cost: call.cost, ...said };
    const told = tell?.(right, asked.caller, nowMs) ?? right;
    const written = writeAnswer(this.#wire, shownBy.quotas, told, shownAt(told, nowMs));
    const answer = change?.(written) ?? written;
    const isStatus = told.kind === "status";
    const quotas = isStatus
      ? filledQuotas(this.#policy, asked.caller)
      : told.readings.map(({ quota }) => quota);
    const read = answerMembers(readAnswer(wireOf(this.#policy), answer, { quotas, isStatus }), this.#quotas);
    this.#answers[flight] = { ...asked, cost: costOf(asked, call), status: answer.status, ...read };
    this.#show(flight, asked, read, answer.status, nowMs);
    return ANSWERED;
  }

  /** Writes what the client is told into the flight. The status tells the outcome alone. */
  #show(
    flight: number,
    { caller, operation }: OperationCall,
    read: ReturnType<typeof answerMembers>,
    status: number,
    nowMs: number,
  ): void {
    const { ints, doubles } = this.#flights;
    const isRefused = read.outcome === "refused";
    ints[flight * Flight.INTS + Flight.STATUS] = isRefused ? REFUSED : status;
    ints[flight * Flight.INTS + Flight.SHOWN] = operation === "other" ? Flight.UNCOUNTED : 0;
    const told = toldOf(this.#policy, caller, read, nowMs);
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.REFUSING] = isRefused ? this.#names.indexOf(read.by ?? "") : -1;
    doubles[at + Flight.RETRY_AFTER] = told.retryAfter;
    doubles[at + Flight.LIMIT] = told.limit;
    doubles[at + Flight.REMAINING] = told.remaining;
    doubles[at + Flight.RESET] = told.reset;
    doubles[at + Flight.USER_LIMIT] = told.userLimit;
    doubles[at + Flight.USER_REMAINING] = told.userRemaining;
    doubles[at + Flight.USER_RESET] = told.userReset;
  }
}
