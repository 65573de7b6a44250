// What decides the calls of a log: the engine of policies, or that of rules, which takes half the time of it.
import { ADMITTED, GRAPHQL, LimiterCore, type ScopeIndex } from "../../src/engine/core.ts";
import { NONE_REFUSED, type PolicyCore } from "../../src/engine/policy-core.ts";
import { organizationLimit, type Rules, userLimit } from "../../src/rules/rules.ts";

export type Decider = Pick<PolicyCore, "decide" | "settle" | "windowOf">;

/** Decides by rules, and names the quotas of `policyOf(rules)`. Users are added in the order of their handles. */
export class RulesDecider implements Decider {
  readonly #core: LimiterCore;
  readonly #rules: Rules;
  readonly #organizations = new Map<string, number>();

  constructor(rules: Rules) {
    this.#core = new LimiterCore(rules);
    this.#rules = rules;
  }

  /** @throws RangeError where the handle is another than the next one */
  add(handle: number, org: string, user: string): void {
    const rest = userLimit(this.#rules, org, user, "rest");
    const graphql = userLimit(this.#rules, org, user, "graphql");
    const added = this.#core.addUser(this.#organization(org), { rest, graphql });
    if (added !== handle) throw new RangeError(`the caller ${handle} is the user ${added}`);
  }

  #organization(org: string): number {
    const known = this.#organizations.get(org);
    if (known !== undefined) return known;
    const rest = organizationLimit(this.#rules, org, "rest");
    const graphql = organizationLimit(this.#rules, org, "graphql");
    const added = this.#core.addOrganization({ rest, graphql });
    this.#organizations.set(org, added);
    return added;
  }

  decide(handle: number, operation: number, cost: number, nowMs: number): number {
    const outcome = this.#core.decide(handle, operation as ScopeIndex, cost, nowMs);
    return outcome === ADMITTED ? NONE_REFUSED : 2 * operation + outcome - 1;
  }

  settle(
    handle: number,
    operation: number,
    cost: number,
    actual: number,
    windows: ArrayLike<number>,
    nowMs: number,
  ): void {
    if (operation !== GRAPHQL) return;
    this.#core.settle(handle, cost, actual, windows[0] as number, windows[1] as number, nowMs);
  }

  windowOf(handle: number, quota: number): number {
    const owner = quota % 2 === 0 ? "organization" : "user";
    return this.#core.windowOf(owner, handle, (quota >> 1) as ScopeIndex);
  }
}
