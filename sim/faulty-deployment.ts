// A deployment with a fault, in virtual time, apart from the right one, which knows nothing of faults. The fault has
// the counters, and may change each answer, as HTTP, before the trace gets it.
import type { Call, Decision, Readings } from "../src/engine/adapter.ts";
import { answerTo } from "../src/engine/http-answer.ts";
import { type ChosenFault, injectFault } from "../src/faults/choice.ts";
import type { Answered, Faulty } from "../src/faults/fault.ts";
import type { Rules } from "../src/rules/rules.ts";
import { pointsMost } from "../src/scenario/calls.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import { callAnswer, type HttpAnswer } from "../src/wire/answer.ts";
import type { AnswerParts, ArrivalOutcome, SimulatedCaller, SimulatedDeployment } from "./deployment.ts";
import { faultDraws } from "./fault-draws.ts";
import { showAnswer } from "./object-deployment.ts";
import { sentAnswer } from "./sent-answer.ts";

interface HeldQuery {
  readonly asked: Call;
  readonly decided: Decision;
}

export class FaultyDeployment implements SimulatedDeployment<HeldQuery> {
  readonly #rules: Rules;
  readonly #faulty: Faulty;
  readonly show = showAnswer;

  /** @throws SpillwayError `FAULT_INVALID` if the fault does not fit the rules */
  constructor(rules: Rules, fault: ChosenFault, seed: number) {
    this.#rules = rules;
    this.#faulty = injectFault(fault, rules, faultDraws(seed));
  }

  arrive(
    { organization, user }: SimulatedCaller,
    { kind, scope, cost }: CallTemplate,
    nowMs: number,
  ): ArrivalOutcome<HeldQuery> {
    const { store } = this.#faulty;
    const asked = { organization, user, scope, cost };
    if (kind === "status") {
      const right = answerTo(this.#rules, store, { kind, organization, user }, nowMs);
      return this.#sent(asked, kind, right as HttpAnswer, nowMs);
    }
    // A call with too many points is refused with a 200, before any window is read (SPEC.md §6).
    if (scope === "graphql" && cost > pointsMost) {
      const right = callAnswer(scope, store.readings(organization, user, scope, nowMs));
      return { ...this.#sent(asked, "other", right, nowMs), actual: 0 };
    }
    const decided = store.decide(asked, nowMs);
    if (!("resume" in decided)) return this.#decided(asked, decided, nowMs);
    return {
      waitMs: decided.waitMs,
      resume: (laterMs) => this.#decided(asked, decided.resume(laterMs), laterMs),
    };
  }

  #decided(asked: Call, decided: Decision, nowMs: number): AnswerParts | HeldQuery {
    if (decided.admitted && asked.scope === "graphql") return { asked, decided };
    const right = answerTo(
      this.#rules,
      this.#faulty.store,
      { kind: "call", call: asked, said: decided },
      nowMs,
    );
    return this.#sent(asked, "call", right as HttpAnswer, nowMs);
  }

  complete(
    _caller: SimulatedCaller,
    { actual }: CallTemplate,
    { asked, decided }: HeldQuery,
    nowMs: number,
  ): AnswerParts {
    const { reservation } = decided;
    const settled: Readings =
      reservation === null ? decided : this.#faulty.store.settle(reservation, actual, nowMs);
    // Under `prepaid` the answer shows the windows at the decision (SPEC.md §5).
    const isPrepaid = this.#rules.semantics.graphqlCharge.graphql === "prepaid";
    const right = callAnswer("graphql", isPrepaid ? decided : settled);
    return Object.assign(this.#sent(asked, "call", right, nowMs), { actual });
  }

  /** Returns the trace's form of the answer that leaves the deployment. */
  #sent(asked: Call, kind: Answered["kind"], right: HttpAnswer, nowMs: number): AnswerParts {
    const { organization, user, scope, cost } = asked;
    const answer = this.#faulty.change?.(right, { kind, organization, user, scope, nowMs }) ?? right;
    const ownCost = kind === "call" ? cost : null;
    return { org: organization, user, scope, kind, cost: ownCost, ...sentAnswer(answer, kind === "status") };
  }
}
