// Plays a script against a limiter by rules, and keeps its answers.

import type {
  Asked,
  Call,
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  PartialReadings,
  Seam,
  WindowReading,
} from "../engine/adapter.ts";
import { decisionMistake, httpMistake, readingsMistake, statusMistake } from "../engine/answer-form.ts";
import { answered, guarded, madeLimiter } from "../engine/asking.ts";
import type { Rules, Scope } from "../rules/rules.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import { Player, playFresh } from "./player.ts";
import type { CallOp, Op, SettleOp, StatusOp } from "./script.ts";

export type PartialReading = Partial<WindowReading>;
export type PartialStatus = { readonly [S in Scope]?: PartialReading };

export interface CallEvent {
  readonly op: CallOp;
  readonly decision: PartialDecision;
  /** HTTP answer; `null` if none was sent, absent if the limiter shows no HTTP answers. */
  readonly http?: HttpAnswer | null;
}

interface SettleEvent {
  readonly op: SettleOp;
  /** Call that was completed; `null` if it had been refused, so that nothing happened. */
  readonly call: CallOp | null;
  readonly readings: PartialReadings;
  readonly http?: HttpAnswer | null;
}

interface StatusEvent {
  readonly op: StatusOp;
  readonly status: PartialStatus;
  readonly http?: HttpAnswer | null;
}

/** One operation with the limiter's answer. */
export type HistoryEvent =
  | CallEvent
  | SettleEvent
  | StatusEvent
  | { readonly op: Exclude<Op, CallOp | SettleOp | StatusOp> };

export type History = readonly HistoryEvent[];

/** Player of a script against a limiter by rules. */
export class RulesPlayer extends Player<LimiterAdapter, Rules, CallOp> {
  async #http(asked: Asked, nowMs: number): Promise<{ http?: HttpAnswer | null }> {
    const { limiter } = this;
    if (limiter.answer === undefined) return {};
    const http = await answered<HttpAnswer | null>(
      "answer",
      [asked, nowMs],
      httpMistake,
      () => limiter.answer?.(asked, nowMs) ?? null,
    );
    return { http };
  }

  async play(op: Op): Promise<HistoryEvent> {
    await this.setNow(op.atMs);
    switch (op.do) {
      case "call":
        return this.call(op);
      case "settle":
        return this.#settle(op);
      case "status":
        return this.#status(op);
      case "enforce":
        await guarded(
          "setEnforced",
          [op.organization, op.scope, op.enforced],
          () => this.limiter.setEnforced?.(op.organization, op.scope, op.enforced) ?? undefined,
        );
        return { op };
      case "sweep":
      case "snapshot":
        await this.maintain(op);
        return { op };
    }
  }

  /** Asks for the decision of a call, perhaps while other calls are under way. */
  async call(op: CallOp): Promise<CallEvent> {
    const call = callOf(op);
    const decision = await this.decided(
      answered("decide", [call, op.atMs], decisionMistake, () => this.limiter.decide(call, op.atMs)),
    );
    if (decision.admitted) this.hold(op.id, op, decision.reservation, [call, op.atMs]);
    return { op, decision, ...(await this.#http({ kind: "call", call, said: decision }, op.atMs)) };
  }

  async #settle(op: SettleOp): Promise<HistoryEvent> {
    const held = this.release(op.id);
    if (held === null) return { op, call: null, readings: {} };
    const { call, reservation } = held;
    const readings = await answered(
      "settle",
      [reservation, op.actual, op.atMs],
      readingsMistake,
      () => this.limiter.settle?.(reservation, op.actual, op.atMs) ?? {},
    );
    const http = await this.#http({ kind: "completion", call: callOf(call), said: readings }, op.atMs);
    return { op, call, readings, ...http };
  }

  async #status(op: StatusOp): Promise<HistoryEvent> {
    const { organization, user, atMs } = op;
    const status = await answered<PartialStatus>(
      "status",
      [organization, atMs],
      statusMistake,
      () => this.limiter.status?.(organization, atMs, user) ?? {},
    );
    return { op, status, ...(await this.#http({ kind: "status", organization, user }, atMs)) };
  }
}

/** Makes the call that a limiter gets, frozen, since a change would reach the laws. */
const callOf = ({ organization, user, scope, cost }: CallOp): Call =>
  Object.freeze({ organization, user, scope, cost });

/**
 * Makes a limiter (see `madeLimiter`). It gets a copy: its changes to the rules must not reach the laws.
 * @param nowMs time at which the limiter is made, ms since the epoch
 */
export const makeLimiter = (
  factory: LimiterFactory,
  rules: Rules,
  nowMs: number,
  seam?: Seam,
): Promise<LimiterAdapter> =>
  madeLimiter(factory, "rules", rules, nowMs, () => factory.create(structuredClone(rules), seam));

/** Plays operations on a fresh limiter by rules (see `playFresh`). */
export async function play(
  factory: LimiterFactory,
  rules: Rules,
  ops: readonly Op[],
  script: readonly Op[] = ops,
): Promise<History> {
  return playFresh(
    ops,
    script,
    async (nowMs) => new RulesPlayer(factory, rules, await makeLimiter(factory, rules, nowMs)),
  );
}

/** Plays calls, as `play` does. */
export const playCalls = async (
  factory: LimiterFactory,
  rules: Rules,
  calls: readonly CallOp[],
): Promise<readonly CallEvent[]> => (await play(factory, rules, calls)) as readonly CallEvent[];
