// The anchor of fixed windows, where a limiter does not say it: it is asked, by the calls that tell the two apart.
import type { LimiterFactory } from "../engine/adapter.ts";
import { agreedRules } from "../engine/adapter-rules.ts";
import { type RulesInput, userLimit } from "../rules/rules.ts";
import { play } from "./history.ts";
import { AdapterFailure } from "./player.ts";
import type { CallOp } from "./script.ts";

/** No window of more calls than this is filled to see where it ends. */
const filledMost = 200;
/** Part of a window before the grid's edge, at which it is filled: no simple part of it, as wrong lengths may be. */
const before = 0.37;

const small: RulesInput = {
  user: { rest: { limit: 2, windowSeconds: 10 }, graphql: { limit: 2, windowSeconds: 10 } },
};

/** The same limiter, which says where its windows lie, if it did not. */
export async function anchored(factory: LimiterFactory, given: RulesInput | undefined, startMs: number) {
  if (factory.anchorUnsaid !== true || !(await liesOnGrid(factory, given ?? small, startMs))) return factory;
  const semantics: LimiterFactory["semantics"] = { ...factory.semantics, anchor: ["epoch"] };
  return Object.assign(Object.create(factory) as LimiterFactory, { semantics });
}

/** Tells whether a window that was filled late ends at the edge of the epoch's grid. */
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
    // The laws say how it fails.
    if (error instanceof AdapterFailure) return false;
    throw error;
  }
}
