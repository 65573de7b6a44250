// Plays a script under a policy against a limiter, and keeps the answers. HTTP answers are read by the policy's wire,
// so that a limiter is judged by what its callers see.

import { type Seam, stillSeam } from "../../engine/adapter.ts";
import { httpMistake, isObject, type Mistake } from "../../engine/answer-form.ts";
import { answered, guarded, madeLimiter } from "../../engine/asking.ts";
import type {
  QuotaDecision,
  QuotaLimiter,
  QuotaLimiterFactory,
  QuotaSaid,
} from "../../engine/quota-limiter.ts";
import { filledQuotas } from "../../policy/effective.ts";
import type { Policy } from "../../policy/policy.ts";
import { wireOf } from "../../policy/presets.ts";
import { type ReadAnswer, readAnswer } from "../../wire/read-answer.ts";
import { Player, playFresh } from "../player.ts";
import type { SettleOp } from "../script.ts";
import type { QuotaCallEvent, QuotaCallOp, QuotaEvent, QuotaHistory, QuotaOp } from "./script.ts";

const numbers = ["limit", "remaining", "used", "resetAtMs"] as const;

/** Returns the first mistake in what a limiter said; `null` if there is none. */
const saidMistake: Mistake = (value) => {
  if (!isObject(value)) return ["the answer", value, "an object"];
  const { readings, http } = value;
  if (httpMistake(http ?? null) !== null)
    return ["http", http, "an answer: a status, headers by name, a body or none"];
  if (readings === undefined) return null;
  if (!Array.isArray(readings)) return ["readings", readings, "a list, or nothing"];
  for (const [at, reading] of (readings as unknown[]).entries()) {
    if (!isObject(reading) || typeof reading["quota"] !== "string")
      return [`readings[${at}]`, reading, "an object with `quota`, a name"];
    for (const name of numbers) {
      const number = reading[name] ?? null;
      if (number !== null && !Number.isSafeInteger(number))
        return [`readings[${at}].${name}`, number, "a safe integer, or nothing"];
    }
  }
  return null;
};

const verdictMistake: Mistake = (value) => {
  if (!isObject(value)) return ["the decision", value, "an object with `admitted`, or an answer: `http`"];
  const { admitted, refusedBy = null, retryAtMs = null, http = null } = value;
  if (typeof admitted !== "boolean" && !(admitted === undefined && http !== null))
    return ["admitted", admitted, "true or false, or an answer: `http`"];
  if (refusedBy !== null && typeof refusedBy !== "string")
    return ["refusedBy", refusedBy, "a quota's name, null or nothing"];
  if (retryAtMs !== null && !Number.isFinite(retryAtMs))
    return ["retryAtMs", retryAtMs, "ms since the epoch, or nothing"];
  return saidMistake(value);
};

/** Copies an answer, since the limiter may change its own object later. */
function kept(said: Readonly<Record<string, unknown>>): unknown {
  const { readings } = said;
  if (!Array.isArray(readings)) return { ...said };
  return { ...said, readings: readings.map((each: unknown) => (isObject(each) ? { ...each } : each)) };
}

/** Player of a script against a limiter by a policy. */
export class QuotaPlayer extends Player<QuotaLimiter, Policy, QuotaCallOp> {
  async play(op: QuotaOp): Promise<QuotaEvent> {
    await this.setNow(op.atMs);
    const { limiter } = this;
    switch (op.do) {
      case "call":
        return this.call(op);
      case "settle":
        return this.#settle(op);
      case "status": {
        const { caller, atMs } = op;
        const said = await answered<QuotaSaid>(
          "status",
          [caller, atMs],
          saidMistake,
          () => limiter.status?.(caller, atMs) ?? {},
          kept,
        );
        return { op, said, read: this.#read(said, filledQuotas(this.description, caller), true) };
      }
      case "enforce": {
        const { quota, caller, enforced } = op;
        await guarded("setEnforced", [quota, caller, enforced], () =>
          limiter.setEnforced?.(quota, caller, enforced),
        );
        return { op };
      }
      case "sweep":
      case "snapshot":
        await this.maintain(op);
        return { op };
    }
  }

  /** Asks for the decision of a call, perhaps while other calls are under way. */
  async call(op: QuotaCallOp): Promise<QuotaCallEvent> {
    const { caller, operation, cost, atMs } = op;
    const call = Object.freeze({ caller: Object.freeze({ ...caller }), operation, cost });
    const said = await this.decided(
      answered<QuotaDecision>(
        "decide",
        [call, atMs],
        verdictMistake,
        () => this.limiter.decide(call, atMs),
        kept,
      ),
    );
    const read = this.#read(said, Object.keys(this.description.operations[operation]?.uses ?? {}), false);
    const isRefused = read?.outcome === "refused";
    const admitted = said.admitted ?? !isRefused;
    if (admitted) this.hold(op.id, op, said.reservation, [call, atMs]);
    return {
      op,
      admitted,
      refusedBy: said.refusedBy === undefined && !admitted ? (read?.by ?? undefined) : said.refusedBy,
      retryAtMs: said.retryAtMs ?? null,
      isAtOdds: read !== null && said.admitted !== undefined && said.admitted === isRefused,
      said,
      read,
    };
  }

  async #settle(op: SettleOp): Promise<QuotaEvent> {
    const held = this.release(op.id);
    if (held === null) return { op, call: null, said: {}, read: null };
    const { call, reservation } = held;
    const said = await answered<QuotaSaid>(
      "settle",
      [reservation, op.actual, op.atMs],
      saidMistake,
      () => this.limiter.settle?.(reservation, op.actual, op.atMs) ?? {},
      kept,
    );
    const used = Object.keys(this.description.operations[call.operation]?.uses ?? {});
    return { op, call, said, read: this.#read(said, used, false) };
  }

  #read({ http }: QuotaSaid, quotas: readonly string[], isStatus: boolean): ReadAnswer | null {
    if (http === undefined || http === null) return null;
    return readAnswer(wireOf(this.description), http, { quotas, isStatus });
  }
}

/** Makes a limiter by a policy, as `makeLimiter` does by rules. */
export const makeQuotaLimiter = (
  factory: QuotaLimiterFactory,
  policy: Policy,
  nowMs: number,
  seam: Seam = stillSeam,
): Promise<QuotaLimiter> =>
  madeLimiter(factory, "policy", policy.name, nowMs, () => factory.create(structuredClone(policy), seam));

/** Plays operations on a fresh limiter by a policy (see `playFresh`). */
export async function playQuotas(
  factory: QuotaLimiterFactory,
  policy: Policy,
  ops: readonly QuotaOp[],
  script: readonly QuotaOp[] = ops,
): Promise<QuotaHistory> {
  return playFresh(
    ops,
    script,
    async (nowMs) => new QuotaPlayer(factory, policy, await makeQuotaLimiter(factory, policy, nowMs)),
  );
}
