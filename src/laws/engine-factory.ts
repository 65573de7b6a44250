// Our own engine under rules, behind the interface by which laws check any limiter.
import type { LimiterAdapter, LimiterFactory } from "../engine/adapter.ts";
import { storeAdapter } from "../engine/http-answer.ts";
import { Limiter } from "../engine/limiter.ts";
import type { Rules } from "../rules/rules.ts";

/**
 * Makes an adapter of the engine's limiter, with the HTTP answers that a service would send.
 * @param rules rules that `limiter` was made with
 */
export function engineAdapter(rules: Rules, limiter: Limiter): LimiterAdapter {
  return { ...storeAdapter(rules, limiter), snapshot: () => limiter.snapshot() };
}

/** The engine as a limiter that claims every law. */
export const engineFactory: LimiterFactory = {
  name: "engine",
  algorithm: "fixed-window",
  claims: "all",
  create: (rules) => engineAdapter(rules, new Limiter(rules)),
  restore: (rules, snapshot) => engineAdapter(rules, Limiter.restore(rules, snapshot)),
};
