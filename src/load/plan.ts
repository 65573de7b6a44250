// The plan of a load run, made and checked before anything is built, started or sent.
import { randomBytes } from "node:crypto";
import { parseTarget, requireAllowed, type Target } from "../connect/target.ts";
import { statusRequest } from "../policy/match.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { type Token, tokenScopes } from "../rules/tokens.ts";
import { type Adjustments, adjustScenario } from "../scenario/adjust.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { seatingOf } from "../scenario/seats.ts";
import { dealtCallers, madeCallers, type PolicyCallers } from "./policy-callers.ts";

/** A deployment that is already there. */
export interface DeployedTarget {
  readonly url: string;
  /** URL of GraphQL. Default: `url`/v1/graphql. */
  readonly graphqlUrl?: string | undefined;
  /** The one host beside loopback that may be loaded. */
  readonly allowHost?: string | undefined;
  /** Tokens of the default API, or of a policy, whose tokens stand for attributes. */
  readonly tokens: readonly Token[] | readonly PolicyToken[];
}

/** A run's target, its claims, and the callers. */
export interface LoadPlan {
  /** Scenario as it is run. */
  readonly scenario: Scenario;
  /** Rules that the target claims to follow; `null` if nobody said. */
  readonly rules: Rules | null;
  /** `null` for a service of the run's own, which is not started yet. */
  readonly target: Target | null;
  readonly graphql: Target | null;
  readonly allowHost: string | null;
  /** Tokens, at least one for each user that the scenario has; none under a policy. */
  readonly tokens: readonly Token[];
  /** Callers under a policy; `null` under rules. */
  readonly policy: PolicyCallers | null;
}

/** Changes that a run may make to its scenario. `rules` are those that the target claims. */
export type LoadAdjustments = Pick<Adjustments, "seed" | "durationMs" | "rules" | "policy">;

/**
 * @param deployed `null` for a service of the run's own, which follows the scenario's rules, or the default ones
 * @throws SpillwayError `TARGET_NOT_ALLOWED`, `TOKENS_INVALID`
 */
export function planLoad(
  written: Scenario,
  adjustments: LoadAdjustments & Pick<Adjustments, "startAtMs">,
  deployed: DeployedTarget | null,
): LoadPlan {
  const scenario = adjustScenario(written, adjustments);
  requireStatus(scenario);
  if (deployed === null) {
    const own = { scenario, target: null, graphql: null, allowHost: null };
    const made = madeCallers(scenario, newToken);
    if (scenario.policy !== undefined) return { ...own, rules: null, tokens: [], policy: made };
    const tokens = made.inOrder.map(({ organization, user, token }) => ({
      ...{ token, user, organization },
      scopes: tokenScopes,
    }));
    return { ...own, rules: scenario.rules ?? parseRules({}), tokens, policy: null };
  }
  const allowHost = deployed.allowHost ?? null;
  const allowed = (field: string, url: string): Target => {
    const target = parseTarget(field, url);
    requireAllowed(field, target, allowHost);
    return target;
  };
  const { graphqlUrl, tokens } = deployed;
  const plan = {
    scenario,
    rules: scenario.rules,
    target: allowed("--target", deployed.url),
    graphql: graphqlUrl === undefined ? null : allowed("--graphql-url", graphqlUrl),
    allowHost,
  };
  if (scenario.policy !== undefined) {
    const policy = dealtCallers(scenario, scenario.policy, tokens as readonly PolicyToken[]);
    return { ...plan, rules: null, tokens: [], policy };
  }
  seatingOf(scenario, tokens as readonly Token[]);
  return { ...plan, tokens: tokens as readonly Token[], policy: null };
}

/** @throws SpillwayError `SCENARIO_INVALID` if clients ask for a status that the policy does not have */
function requireStatus({ name, populations, policy }: Scenario): void {
  if (policy === undefined || statusRequest(policy, {}) !== null) return;
  const asking = populations.find(({ behaviour }) => behaviour.calls.some(({ kind }) => kind === "status"));
  if (asking === undefined) return;
  throw new SpillwayError(
    "SCENARIO_INVALID",
    `scenario ${name} asks for a status that this API does not have`,
    {
      problem: {
        path: `populations.${asking.name}`,
        got: "a status call",
        allowed: `other calls, or a route of the policy ${policy.name} whose operation is status`,
      },
      hint: "npx spillway init --policy NAME|FILE writes a scenario of a policy's own calls",
    },
  );
}

const newToken = (): string => `spw_${randomBytes(24).toString("base64url")}`;
