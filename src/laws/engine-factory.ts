// Our own engine behind the interface that laws check any limiter by.
import type {
  Asked,
  HttpAnswer,
  LimiterAdapter,
  LimiterFactory,
  Readings,
  Reservation,
} from "../engine/adapter.ts";
import { headers, refusalBody } from "../engine/answers.ts";
import { Limiter } from "../engine/limiter.ts";
import { type Rules, type Scope, semanticsOf } from "../rules/rules.ts";

/**
 * A limiter of the engine as an adapter, with the HTTP answers that a service would send.
 * @param rules the rules that `limiter` was made with
 */
export function engineAdapter(rules: Rules, limiter: Limiter): LimiterAdapter {
  return {
    decide: (call, nowMs) => limiter.decide(call, nowMs),
    settle: (reservation, actual, nowMs) => limiter.settle(reservation as Reservation, actual, nowMs),
    status: (organization, nowMs) => limiter.status(organization, nowMs),
    snapshot: () => limiter.snapshot(),
    sweep: (nowMs) => limiter.sweep(nowMs),
    setEnforced: (organization, scope, enforced) => limiter.setEnforced(organization, scope, enforced),
    answer: (asked, nowMs) => answerOf(rules, limiter, asked, nowMs),
  };
}

/** What the service sends (SPEC.md §5, §6). Headers of a GraphQL call are those of its completion, unless prepaid. */
function answerOf(rules: Rules, limiter: Limiter, asked: Asked, nowMs: number): HttpAnswer | null {
  if (asked.kind === "status")
    return {
      status: 200,
      headers: headers("rest", limiter.readings(asked.organization, asked.user, "rest", nowMs)),
    };
  const { scope } = asked.call;
  const { graphqlCharge, retryAfter } = semanticsOf(rules, scope);
  // A limiter that is wrapped around this one may show less; what it does not show it does not send.
  if (asked.said.organization === undefined || asked.said.user === undefined) return null;
  const readings = asked.said as Readings;
  const sent: HttpAnswer = { status: 200, headers: headers(scope, readings) };
  if (asked.kind === "completion") return graphqlCharge === "prepaid" ? null : sent;
  const { admitted, refusedBy } = asked.said;
  if (admitted) return scope === "graphql" && graphqlCharge !== "prepaid" ? null : sent;
  return refusal(scope, refusedBy ?? "organization", readings, retryAfter);
}

function refusal(
  scope: Scope,
  refusedBy: "organization" | "user",
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

/** The engine; it promises every law. */
export const engineFactory: LimiterFactory = {
  name: "engine",
  claims: "all",
  create: (rules) => engineAdapter(rules, new Limiter(rules)),
  restore: (rules, snapshot) => engineAdapter(rules, Limiter.restore(rules, snapshot)),
};
