// Worlds made of drawn ones: with shorter windows, with more calls.
import type { Rules, Scope } from "../../src/rules/rules.ts";
import { between, type RandomState } from "../../src/scenario/random.ts";
import type { Plan } from "./history.ts";

/** The same rules over windows of 1 and 2 s. */
export function short({ organization, user, ...rules }: Rules, random: RandomState): Rules {
  const of = <T extends { readonly windowSeconds: number }>(limits: Readonly<Record<Scope, T>>) => ({
    rest: { ...limits.rest, windowSeconds: between(random, 1, 2) },
    graphql: { ...limits.graphql, windowSeconds: between(random, 1, 2) },
  });
  return { ...rules, organization: of(organization), user: of(user) };
}

/**
 * A longer history of the same kind: each call takes its members from drawn ones, each member from another.
 * @param hurry by how much the pauses are shorter than the drawn ones
 */
export function woven(drawn: readonly Plan[], most: number, hurry: number, random: RandomState): Plan[] {
  const pick = (): Plan => {
    const plan = drawn[between(random, 0, drawn.length - 1)];
    if (plan === undefined) throw new RangeError("no calls to weave");
    return plan;
  };
  const gaps = drawn.map(({ sentMs }, index) => sentMs - (drawn[index - 1]?.sentMs ?? 0));
  const plans: Plan[] = [];
  let sentMs = drawn[0]?.sentMs ?? 0;
  const count = between(random, Math.ceil(most / 2), most);
  for (let index = 0; index < count; index++) {
    const { toDecisionMs } = pick();
    const { workMs } = pick();
    const { backMs, lateMs } = pick();
    const { client, instance } = pick();
    plans.push({ ...pick(), sentMs, toDecisionMs, workMs, backMs, lateMs, client, instance });
    sentMs += Math.floor((gaps[between(random, 0, gaps.length - 1)] ?? 0) / hurry);
  }
  return plans;
}
