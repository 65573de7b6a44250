// Answers as they go over the wire (SPEC.md §4-§6), for whoever has a limiter and no server.
import { type Owner, type Rules, type Scope, semanticsOf } from "../rules/rules.ts";
import type { Asked, HttpAnswer, Readings, Status } from "./adapter.ts";
import { headers, refusalBody, statusBody } from "./answers.ts";
import type { Store } from "./store.ts";

/** To a call that was let through; what the resource itself says is nobody's business here. */
export const callAnswer = (scope: Scope, readings: Readings): HttpAnswer => ({
  status: 200,
  headers: headers(scope, readings),
});

export const statusAnswer = (readings: Readings, status: Status): HttpAnswer => ({
  status: 200,
  headers: headers("rest", readings),
  body: statusBody(status),
});

/** @param retryAfter true if the rules send `Retry-After` */
export function refusalAnswer(
  scope: Scope,
  refusedBy: Owner,
  readings: Readings,
  retryAfter: boolean,
): HttpAnswer {
  const advice = retryAfter ? { "Retry-After": readings[refusedBy].reset } : {};
  return {
    status: 429,
    headers: { ...headers(scope, readings), ...advice },
    body: refusalBody(scope, refusedBy, readings),
  };
}

/**
 * The answer to what was asked, made from what was said, so that a limiter that says something wrong also sends
 * it. A query's headers are those of its completion, unless prepaid.
 * @returns `null` where nothing is sent yet, and where a limiter shows too little to send
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
