// A stranger's limiter in virtual time: the adapter that the laws check it by, in the simulator's place of a
// deployment. Answers show what the limiter says. What it does not say is `null`, and nobody judges it.

import type {
  Asked,
  Call,
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  PartialReadings,
} from "../../src/engine/adapter.ts";
import {
  decisionMistake,
  httpMistake,
  readingsMistake,
  statusMistake,
} from "../../src/engine/answer-form.ts";
import { after, type Eventually, throughJson } from "../../src/engine/asking.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import { pointsMost } from "../../src/scenario/calls.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";
import type { AnswerParts, ArrivalOutcome, SimulatedCaller, SimulatedDeployment } from "../deployment.ts";
import { showAnswer } from "../object-deployment.ts";
import { sentAnswer } from "../sent-answer.ts";
import { type AdapterStatus, PartialAnswers } from "./answers.ts";
import { LimiterAsker, type LimiterClock } from "./asker.ts";

interface RunningQuery {
  readonly reservation: unknown;
  readonly decided: PartialDecision;
}

export class AdapterDeployment implements SimulatedDeployment<RunningQuery> {
  readonly #limiter: LimiterAdapter;
  readonly #scopes: readonly Scope[] | undefined;
  readonly #isPrepaid: boolean;
  readonly #ask: LimiterAsker;
  readonly #answers: PartialAnswers;
  readonly show = showAnswer;

  /** @param rules the rules as far as the limiter follows them, which `limiter` was made with */
  constructor(
    factory: LimiterFactory,
    limiter: LimiterAdapter,
    rules: Rules,
    clock: LimiterClock | undefined,
  ) {
    this.#limiter = limiter;
    this.#scopes = factory.scopes;
    this.#isPrepaid = rules.semantics.graphqlCharge.graphql === "prepaid";
    this.#ask = new LimiterAsker(factory, limiter, clock);
    this.#answers = new PartialAnswers(rules, factory.keyed === true);
  }

  arrive(
    caller: SimulatedCaller,
    call: CallTemplate,
    nowMs: number,
  ): Eventually<ArrivalOutcome<RunningQuery>> {
    return after(this.#ask.tellTime(nowMs), (): Eventually<ArrivalOutcome<RunningQuery>> => {
      if (call.kind === "status") return this.#status(caller, call, nowMs);
      if (this.#scopes?.includes(call.scope) === false) return this.#answers.untouched(caller, call, 200);
      if (call.scope === "graphql" && call.cost > pointsMost) return this.#oversized(caller, call, nowMs);
      return this.#decide(caller, call, nowMs);
    });
  }

  #decide(
    caller: SimulatedCaller,
    call: CallTemplate,
    nowMs: number,
  ): Eventually<ArrivalOutcome<RunningQuery>> {
    const asked = askedCall(caller, call);
    const decision = this.#ask.answered<PartialDecision>("decide", [asked, nowMs], decisionMistake, () =>
      this.#limiter.decide(asked, nowMs),
    );
    return after(decision, (said): Eventually<ArrivalOutcome<RunningQuery>> => {
      if (said.admitted && call.scope === "graphql") {
        const reservation = throughJson("the reservation", "decide(...)", said.reservation);
        return { reservation, decided: said };
      }
      return this.#sent({ kind: "call", call: asked, said }, nowMs, caller, call, () =>
        this.#answers.ofDecision(caller, call, said, nowMs),
      );
    });
  }

  complete(
    caller: SimulatedCaller,
    call: CallTemplate,
    { reservation, decided }: RunningQuery,
    nowMs: number,
  ): Eventually<AnswerParts> {
    return after(this.#ask.tellTime(nowMs), () => {
      const settled = this.#settled(reservation, decided, call.actual, nowMs);
      return after(settled, (readings) => {
        // Under `prepaid` the answer shows the windows of the decision (SPEC.md §5).
        const asked = askedCall(caller, call);
        const said: Asked = this.#isPrepaid
          ? { kind: "call", call: asked, said: decided }
          : { kind: "completion", call: asked, said: readings };
        const shown = this.#isPrepaid ? decided : readings;
        const sent = this.#sent(said, nowMs, caller, call, () =>
          this.#answers.ofAdmitted(caller, call, shown, nowMs),
        );
        return after(sent, (answer) => ({ ...answer, actual: call.actual }));
      });
    });
  }

  /** Completes a query. A limiter that is not told of completions shows the same as at its decision. */
  #settled(
    reservation: unknown,
    decided: PartialDecision,
    actual: number,
    nowMs: number,
  ): Eventually<PartialReadings> {
    const limiter = this.#limiter;
    if (limiter.settle === undefined || reservation === null) return decided;
    return this.#ask.answered<PartialReadings>(
      "settle",
      [reservation, actual, nowMs],
      readingsMistake,
      () => limiter.settle?.(reservation, actual, nowMs) ?? {},
    );
  }

  #status(caller: SimulatedCaller, call: CallTemplate, nowMs: number): Eventually<AnswerParts> {
    const { organization, user } = caller;
    const limiter = this.#limiter;
    if (limiter.status === undefined) return this.#answers.untouched(caller, call, 404);
    const status = this.#ask.answered<AdapterStatus>(
      "status",
      [organization, nowMs, user],
      statusMistake,
      () => limiter.status?.(organization, nowMs, user) ?? {},
    );
    return after(status, (shown) =>
      this.#sent({ kind: "status", organization, user }, nowMs, caller, call, () =>
        this.#answers.ofStatus(caller, call, shown, nowMs),
      ),
    );
  }

  /** Answers a query of too many points: refused with a 200 before any window is asked (SPEC.md §6). */
  #oversized(caller: SimulatedCaller, call: CallTemplate, nowMs: number): Eventually<AnswerParts> {
    const { organization, user } = caller;
    const limiter = this.#limiter;
    // A bare 404 says nothing of any window, and owes nothing.
    if (limiter.readWindows === undefined) return this.#answers.untouched(caller, call, 404);
    const readings = this.#ask.answered<PartialReadings>(
      "readWindows",
      [organization, user, call.scope, nowMs],
      readingsMistake,
      () => limiter.readWindows?.(organization, user, call.scope, nowMs) ?? {},
    );
    return after(readings, (shown) => ({
      ...this.#answers.ofAdmitted(caller, call, shown, nowMs),
      kind: "other" as const,
      cost: null,
      actual: 0,
    }));
  }

  /** Returns the answer that the limiter sends, or else one made of what it said. */
  #sent(
    asked: Asked,
    nowMs: number,
    { organization, user }: SimulatedCaller,
    { scope, kind, cost }: CallTemplate,
    otherwise: () => AnswerParts,
  ): Eventually<AnswerParts> {
    const limiter = this.#limiter;
    if (limiter.answer === undefined) return otherwise();
    const http = this.#ask.answered<HttpAnswer | null>(
      "answer",
      [asked, nowMs],
      httpMistake,
      () => limiter.answer?.(asked, nowMs) ?? null,
    );
    return after(http, (answer) => {
      if (answer === null) return otherwise();
      const isStatus = kind === "status";
      const ownCost = isStatus ? null : cost;
      return { org: organization, user, scope, kind, cost: ownCost, ...sentAnswer(answer, isStatus) };
    });
  }
}

/** Returns the call that a limiter gets. The limiter may keep it, but not change it. */
const askedCall = ({ organization, user }: SimulatedCaller, { scope, cost }: CallTemplate): Call =>
  Object.freeze({ organization, user, scope, cost });
