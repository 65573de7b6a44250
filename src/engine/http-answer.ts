// The HTTP answer to what a limiter was asked, for limiters without a server.
import { type Rules, semanticsOf } from "../rules/rules.ts";
import { callAnswer, type HttpAnswer, refusalAnswer, statusAnswer } from "../wire/answer.ts";
import type { Asked, Readings } from "./adapter.ts";
import type { Store } from "./store.ts";

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
