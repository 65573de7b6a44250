// A deployment with a fault, in virtual time. It stands beside the right one, which knows nothing of faults: the
// counters are the fault's, and an answer goes through its hands, as HTTP, before it becomes a trace's.

import type { Decision, Readings, Reservation } from "../src/engine/adapter.ts";
import type { Pending } from "../src/engine/store.ts";
import { type ChosenFault, injectFault } from "../src/faults/choice.ts";
import type { Faulty } from "../src/faults/fault.ts";
import { type Rules, semanticsOf } from "../src/rules/rules.ts";
import { pointsMost } from "../src/scenario/calls.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import { callAnswer, type HttpAnswer, refusalAnswer, statusAnswer } from "../src/wire/answer.ts";
import type { AnswerParts, ArrivalOutcome, SimulatedCaller, SimulatedDeployment } from "./deployment.ts";
import { faultDraws } from "./fault-draws.ts";
import { NamedCallers } from "./named-callers.ts";
import { sentAnswer } from "./sent-answer.ts";

/** A query that runs. */
export interface HeldQuery {
  readonly reservation: Reservation | null;
  /** Under `prepaid` the answer shows the windows of the decision (SPEC.md §5). */
  readonly decided: Readings;
}

export class FaultyDeployment implements SimulatedDeployment<HeldQuery> {
  readonly #rules: Rules;
  readonly #faulty: Faulty;
  readonly #callers = new NamedCallers();

  /** @throws SpillwayError `FAULT_INVALID` where the fault does not go with the rules */
  constructor(rules: Rules, fault: ChosenFault, seed: number) {
    this.#rules = rules;
    this.#faulty = injectFault(fault, rules, faultDraws(seed));
  }

  caller(organization: string, user: string): SimulatedCaller {
    return this.#callers.of(organization, user);
  }

  arrive(caller: SimulatedCaller, call: CallTemplate, nowMs: number): ArrivalOutcome<HeldQuery> {
    const { store } = this.#faulty;
    const { scope, cost } = call;
    const { organization } = caller;
    const user = this.#userOf(caller);
    if (call.kind === "status") {
      const readings = store.readings(organization, user, "rest", nowMs);
      const answer = statusAnswer(readings, store.status(organization, nowMs));
      return { ...this.#sent(caller, call, answer, "status", nowMs), cost: null };
    }
    // Too many points: refused before any window is asked, with a 200 (SPEC.md §6).
    if (scope === "graphql" && cost > pointsMost) {
      const answer = callAnswer(scope, store.readings(organization, user, scope, nowMs));
      return { ...this.#sent(caller, call, answer, "other", nowMs), kind: "other", cost: null, actual: 0 };
    }
    const decided = store.decide({ organization, user, scope, cost }, nowMs);
    return "resume" in decided
      ? this.#later(caller, call, decided)
      : this.#decided(caller, call, decided, nowMs);
  }

  #later(
    caller: SimulatedCaller,
    call: CallTemplate,
    { waitMs, resume }: Pending<Decision>,
  ): Pending<AnswerParts | HeldQuery> {
    return { waitMs, resume: (nowMs) => this.#decided(caller, call, resume(nowMs), nowMs) };
  }

  #decided(
    caller: SimulatedCaller,
    call: CallTemplate,
    decision: Decision,
    nowMs: number,
  ): AnswerParts | HeldQuery {
    const { scope } = call;
    const { refusedBy, reservation } = decision;
    if (refusedBy !== null) {
      const { retryAfter } = semanticsOf(this.#rules, scope);
      const refusal = refusalAnswer(scope, refusedBy, decision, retryAfter);
      return this.#sent(caller, call, refusal, "call", nowMs);
    }
    if (scope === "graphql") return { reservation, decided: decision };
    return this.#sent(caller, call, callAnswer(scope, decision), "call", nowMs);
  }

  complete(
    caller: SimulatedCaller,
    call: CallTemplate,
    { reservation, decided }: HeldQuery,
    nowMs: number,
  ): AnswerParts {
    const settled =
      reservation === null ? decided : this.#faulty.store.settle(reservation, call.actual, nowMs);
    const isPrepaid = this.#rules.semantics.graphqlCharge.graphql === "prepaid";
    const answer = callAnswer("graphql", isPrepaid ? decided : settled);
    return { ...this.#sent(caller, call, answer, "call", nowMs), actual: call.actual };
  }

  /** Whose quota it is: a simulated request has no headers to go by. */
  #userOf({ user }: SimulatedCaller): string {
    return this.#faulty.userOf?.(user, {}) ?? user;
  }

  /** The answer as it leaves the deployment, and as the trace has it. */
  #sent(
    caller: SimulatedCaller,
    call: CallTemplate,
    right: HttpAnswer,
    kind: "call" | "status" | "other",
    nowMs: number,
  ): AnswerParts {
    const { organization, user } = caller;
    const { scope, cost } = call;
    const answer = this.#faulty.change?.(right, { kind, organization, user, scope, nowMs }) ?? right;
    return {
      org: organization,
      user,
      scope,
      kind: call.kind,
      cost,
      ...sentAnswer(answer, kind === "status"),
    };
  }
}
