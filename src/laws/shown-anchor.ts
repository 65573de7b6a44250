// Finds the anchor of fixed windows if a limiter does not say it, by calls that tell the two anchors apart.
import type { LimiterFactory } from "../engine/adapter.ts";
import { agreedRules } from "../engine/adapter-rules.ts";
import { LimiterFailure } from "../engine/limiter-failure.ts";
import { type RulesInput, userLimit } from "../rules/rules.ts";
import { play } from "./history.ts";
import type { CallOp } from "./script.ts";

/** Greatest limit, calls, of a window that is filled to see where it ends. */
const filledMost = 200;
/** Part of a window before the grid's edge at which it is filled. It is no simple fraction, as wrong lengths may be. */
const before = 0.37;

const small: RulesInput = {
  user: { rest: { limit: 2, windowSeconds: 10 }, graphql: { limit: 2, windowSeconds: 10 } },
};

/** Returns the factory; if it did not say its anchor and its windows lie on the grid, it says so now. */
export async function anchored(factory: LimiterFactory, given: RulesInput | undefined, startMs: number) {
  if (factory.anchorUnsaid !== true || !(await liesOnGrid(factory, given ?? small, startMs))) return factory;
  const semantics: LimiterFactory["semantics"] = { ...factory.semantics, anchor: ["epoch"] };
  return Object.assign(Object.create(factory) as LimiterFactory, { semantics });
}

/** Tells whether a window that is filled shortly before an edge of the epoch's grid ends at that edge. */
async function liesOnGrid(factory: LimiterFactory, given: RulesInput, startMs: number): Promise<boolean> {
  const { semantics: _, ...limits } = given;
  const rules = agreedRules(factory, limits);
  const [scope = "rest"] = factory.scopes ?? [];
  const [organization, user] = ["acme", "ann"];
  const { limit, windowSeconds } = userLimit(rules, organization, user, scope);
  if (limit > filledMost) return false;
  const lengthMs = windowSeconds * 1000;
  const edgeMs = Math.ceil(startMs / lengthMs + 1) * lengthMs + (factory.endsLate === true ? 1 : 0);
  const call = (id: number, atMs: number): CallOp => ({
    do: "call",
    id,
    atMs,
    organization,
    user,
    scope,
    cost: 1,
  });
  const filled = Array.from({ length: limit + 1 }, (_, id) =>
    call(id, Math.round(edgeMs - before * lengthMs)),
  );
  try {
    const history = await play(factory, rules, [...filled, call(limit + 1, edgeMs)]);
    const admitted = history.map((event) => "decision" in event && event.decision.admitted);
    return admitted.every((is, at) => is === (at !== limit));
  } catch (error) {
    // The laws report this failure.
    if (error instanceof LimiterFailure) return false;
    throw error;
  }
}
