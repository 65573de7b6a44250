// Our own engine behind the interface that laws check any limiter by.
import type { LimiterAdapter, LimiterFactory, Reservation } from "../engine/adapter.ts";
import { answerTo } from "../engine/http-answer.ts";
import { Limiter } from "../engine/limiter.ts";
import type { Rules } from "../rules/rules.ts";

/**
 * A limiter of the engine as an adapter, with the HTTP answers that a service would send.
 * @param rules the rules that `limiter` was made with
 */
export function engineAdapter(rules: Rules, limiter: Limiter): LimiterAdapter {
  return {
    decide: (call, nowMs) => limiter.decide(call, nowMs),
    settle: (reservation, actual, nowMs) => limiter.settle(reservation as Reservation, actual, nowMs),
    status: (organization, nowMs) => limiter.status(organization, nowMs),
    readWindows: (organization, user, scope, nowMs) => limiter.readings(organization, user, scope, nowMs),
    snapshot: () => limiter.snapshot(),
    sweep: (nowMs) => limiter.sweep(nowMs),
    setEnforced: (organization, scope, enforced) => limiter.setEnforced(organization, scope, enforced),
    answer: (asked, nowMs) => answerTo(rules, limiter, asked, nowMs),
  };
}

/** The engine; it promises every law. */
export const engineFactory: LimiterFactory = {
  name: "engine",
  algorithm: "fixed-window",
  claims: "all",
  create: (rules) => engineAdapter(rules, new Limiter(rules)),
  restore: (rules, snapshot) => engineAdapter(rules, Limiter.restore(rules, snapshot)),
};
