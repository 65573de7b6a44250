// A fault as a limiter that the laws can be run over: `check --fault`.
import type { Asked, LimiterAdapter, LimiterFactory, Reservation } from "../engine/adapter.ts";
import { answerTo } from "../engine/http-answer.ts";
import type { SlowStore } from "../engine/store.ts";
import type { Rules } from "../rules/rules.ts";
import { type ChosenFault, faultText, injectFault } from "./choice.ts";
import type { Answered, Faulty } from "./fault.ts";
import { seededRandom } from "./random.ts";

/** Decides at once: laws ask one call after the other, so that nothing comes between read and write. */
export function decideNow(store: SlowStore, ...[call, nowMs]: Parameters<SlowStore["decide"]>) {
  const decided = store.decide(call, nowMs);
  return "resume" in decided ? decided.resume(nowMs) : decided;
}

/**
 * Limiters with this fault. The same seed makes the same ones.
 * @throws SpillwayError `FAULT_INVALID` from `create`, where the rules are not such that it is a fault
 */
export function faultFactory(chosen: ChosenFault, seed: number): LimiterFactory {
  const { semantics } = chosen.fault;
  return {
    name: `a limiter with ${faultText(chosen)}`,
    algorithm: "fixed-window",
    claims: "all",
    ...(semantics === undefined ? {} : { semantics }),
    create: (rules) => faultyAdapter(rules, injectFault(chosen, rules, seededRandom(seed))),
  };
}

/** A deployment as laws see it, with the answers that it sends. It has no snapshots: faults are not kept. */
export function faultyAdapter(rules: Rules, { store, setEnforced, change }: Faulty): LimiterAdapter {
  return {
    decide: (call, nowMs) => decideNow(store, call, nowMs),
    settle: (reservation, actual, nowMs) => store.settle(reservation as Reservation, actual, nowMs),
    status: (organization, nowMs) => store.status(organization, nowMs),
    readWindows: (organization, user, scope, nowMs) => store.readings(organization, user, scope, nowMs),
    sweep: (nowMs) => store.sweep(nowMs),
    ...(setEnforced === undefined ? {} : { setEnforced }),
    answer(asked, nowMs) {
      const answer = answerTo(rules, store, asked, nowMs);
      return answer === null || change === undefined ? answer : change(answer, aboutOf(asked, nowMs));
    },
  };
}

function aboutOf(asked: Asked, nowMs: number): Answered {
  if (asked.kind === "status")
    return { kind: "status", organization: asked.organization, user: asked.user, scope: "rest", nowMs };
  const { organization, user, scope } = asked.call;
  return { kind: "call", organization, user, scope, nowMs };
}
