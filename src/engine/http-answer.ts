// A store by rules as a limiter that laws can check: its decisions, and the HTTP answers that a deployment would send.
import { type Rules, semanticsOf } from "../rules/rules.ts";
import { callAnswer, type HttpAnswer, refusalAnswer, statusAnswer } from "../wire/answer.ts";
import type { Asked, LimiterAdapter, Readings, Reservation } from "./adapter.ts";
import { decideNow, type EnforcementSwitch, type SlowStore, type Store } from "./store.ts";

/** @param rules rules that `store` was made with */
export function storeAdapter(rules: Rules, store: SlowStore & EnforcementSwitch): LimiterAdapter {
  return {
    decide: (call, nowMs) => decideNow(store, call, nowMs),
    settle: (reservation, actual, nowMs) => store.settle(reservation as Reservation, actual, nowMs),
    status: (organization, nowMs) => store.status(organization, nowMs),
    readWindows: (organization, user, scope, nowMs) => store.readings(organization, user, scope, nowMs),
    sweep: (nowMs) => store.sweep(nowMs),
    setEnforced: (organization, scope, enforced) => store.setEnforced(organization, scope, enforced),
    answer: (asked, nowMs) => answerTo(rules, store, asked, nowMs),
  };
}

/**
 * Returns the HTTP answer to a question, made from what the limiter said, so that a wrong limiter also sends wrong
 * answers. A query's headers are those of its completion, unless prepaid.
 * @returns `null` if nothing is sent yet, or if a limiter shows too little to send
 */
export function answerTo(
  rules: Rules,
  store: Pick<Store, "readings" | "status">,
  asked: Asked,
  nowMs: number,
): HttpAnswer | null {
  if (asked.kind === "status") {
    const { organization, user } = asked;
    return statusAnswer(store.readings(organization, user, "rest", nowMs), store.status(organization, nowMs));
  }
  const { scope } = asked.call;
  const { graphqlCharge, retryAfter } = semanticsOf(rules, scope);
  const isPrepaid = graphqlCharge === "prepaid";
  if (asked.said.organization === undefined || asked.said.user === undefined) return null;
  const readings = asked.said as Readings;
  if (asked.kind === "completion") return isPrepaid ? null : callAnswer(scope, readings);
  const { admitted, refusedBy } = asked.said;
  if (!admitted) return refusalAnswer(scope, refusedBy ?? "organization", readings, retryAfter);
  return scope === "graphql" && !isPrepaid ? null : callAnswer(scope, readings);
}
