// Finds the anchor of fixed windows if a limiter does not say it, by calls that tell the two anchors apart.
import type { LimiterFactory } from "../engine/adapter.ts";
import { agreedRules } from "../engine/adapter-rules.ts";
import { failureIn } from "../engine/limiter-failure.ts";
import { type RulesInput, userLimit } from "../rules/rules.ts";
import { playCalls } from "./history.ts";
import type { CallOp } from "./script.ts";

/** Greatest limit, calls, of a window that is filled to see where it ends. */
const filledMost = 200;
/** Part of a window before the grid's edge at which it is filled. It is no simple fraction, as wrong lengths may be. */
const before = 0.37;
/** Part of a window by which a grid of the limiter's own lies off the epoch's. */
const shift = 0.29;

const small: RulesInput = {
  user: { rest: { limit: 2, windowSeconds: 10 }, graphql: { limit: 2, windowSeconds: 10 } },
};

/**
 * Returns the factory. If it did not say its anchor, and its windows lie on a grid of the epoch or of its own start, it
 * says so now.
 */
export async function anchored(
  factory: LimiterFactory,
  given: RulesInput | undefined,
  startMs: number,
): Promise<LimiterFactory> {
  if (factory.anchorUnsaid !== true) return factory;
  const ask = (isFromStart: boolean) => liesOnGrid(factory, given ?? small, startMs, isFromStart);
  const said = (facts: Partial<LimiterFactory>) =>
    Object.assign(Object.create(factory) as LimiterFactory, facts);
  if (await ask(false)) return said({ semantics: { ...factory.semantics, anchor: ["epoch"] } });
  return (await ask(true)) ? said({ fromStart: true }) : factory;
}

/**
 * Tells whether a window that is filled shortly before an edge of a grid ends at that edge.
 * @param isFromStart true for the grid that begins when the limiter is made, with another caller's call
 */
async function liesOnGrid(
  factory: LimiterFactory,
  given: RulesInput,
  startMs: number,
  isFromStart: boolean,
): Promise<boolean> {
  const { semantics: _, ...limits } = given;
  const rules = agreedRules(factory, limits);
  const [scope = "rest"] = factory.scopes ?? [];
  const organization = "acme";
  const { limit, windowSeconds } = userLimit(rules, organization, "ann", scope);
  if (limit > filledMost) return false;
  const lengthMs = windowSeconds * 1000;
  const lateMs = factory.endsLate === true ? 1 : 0;
  const edgeMs = Math.ceil(startMs / lengthMs + 1) * lengthMs + lateMs;
  const shiftMs = isFromStart ? Math.round(shift * lengthMs) : 0;
  const call = (id: number, user: string, atMs: number): CallOp => ({
    do: "call",
    ...{ id, atMs: atMs + shiftMs, organization, user, scope, cost: 1 },
  });
  const made = isFromStart ? [call(limit + 2, "bob", edgeMs - lateMs - lengthMs)] : [];
  const filled = Array.from({ length: limit + 1 }, (_, id) =>
    call(id, "ann", Math.round(edgeMs - before * lengthMs)),
  );
  try {
    const answers = await playCalls(factory, rules, [...made, ...filled, call(limit + 1, "ann", edgeMs)]);
    return answers.slice(made.length).every(({ decision }, at) => decision.admitted === (at !== limit));
  } catch (error) {
    // The laws report this failure.
    failureIn(error);
    return false;
  }
}
