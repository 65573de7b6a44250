// Answers as they go over the wire (SPEC.md §4-§6), before a fault changes them.
import type { HttpAnswer, Readings, Status } from "../engine/adapter.ts";
import { headers, refusalBody, statusBody } from "../engine/answers.ts";
import type { Owner, Scope } from "../rules/rules.ts";

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

/** @param retryAfter whether the rules send `Retry-After` */
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
