// The plan of a load run: whom it calls, as whom, and what is refused before anything is sent; and how late calls leave.
import { describe, expect, test } from "vitest";
import { isTooSlow, LatenessMeter } from "../../src/load/node/lateness.ts";
import { type DeployedTarget, planLoad } from "../../src/load/plan.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyToken } from "../../src/policy/tokens.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { poller } from "../../src/scenario/behaviours/poller.ts";
import { rest, status } from "../../src/scenario/calls.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";
import { defaultOrganization } from "../../src/scenario/seats.ts";

const behaviour = poller({ every: "1s", call: rest("/things") });
const scenario = defineScenario({
  ...{ name: "two", duration: "1m" },
  populations: {
    others: { clients: 2, organization: "globex", user: "each", behaviour },
    own: { clients: 2, user: "each", behaviour },
  },
});
const policyOf = (attributes: string[], isShowing = true) =>
  parsePolicy({
    version: 2,
    name: "api",
    quotas: { calls: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: attributes } },
    operations: { call: { uses: { calls: 1 } } },
    routes: [
      ...(isShowing ? [{ path: "/limits", operation: "status" }] : []),
      { path: "/**", operation: "call" },
    ],
    auth: { header: "Authorization", form: "Bearer {token}", attributes },
    wire: "github",
  });
const tokensOf = (organization: string, count: number): Token[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ token: `${organization}-${index}`, user: `user-${index}`, organization, scopes: tokenScopes },
  }));
const url = "http://127.0.0.1:4100";
const deployed = (more: Partial<DeployedTarget> = {}): DeployedTarget => ({
  ...{ url, tokens: [...tokensOf("acme", 2), ...tokensOf("globex", 2)] },
  ...more,
});
function failure(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof SpillwayError) return { code: error.code, ...error.problems[0] };
    throw error;
  }
  return null;
}

describe("a service of one's own", () => {
  test("has a token of its own for each seat, those of the default organization first", () => {
    const plan = planLoad(scenario, {}, null);
    expect(plan).toMatchObject({
      target: null,
      graphql: null,
      allowHost: null,
      policy: null,
      rules: parseRules({}),
    });
    expect(plan.tokens.map(({ organization }) => organization)).toEqual([
      defaultOrganization,
      defaultOrganization,
      "globex",
      "globex",
    ]);
    expect(new Set(plan.tokens.map(({ token }) => token)).size).toBe(4);
    for (const { token, scopes } of plan.tokens) {
      expect(token).toMatch(/^spw_[\w-]{32}$/);
      expect(scopes).toEqual(tokenScopes);
    }
    const rules = { user: { rest: { limit: 7 } } };
    expect(planLoad(scenario, { rules: parseRules(rules) }, null).rules).toEqual(parseRules(rules));
  });

  test("has callers with attributes under a policy, and no rules", () => {
    const plan = planLoad(scenario, { policy: policyOf(["organization", "user"]) }, null);
    expect(plan).toMatchObject({ rules: null, tokens: [] });
    expect(plan.policy?.tokens.map(({ attributes }) => attributes["organization"])).toEqual([
      defaultOrganization,
      defaultOrganization,
      "globex",
      "globex",
    ]);
    const seats = plan.policy?.callers.map((callers) => callers.map(({ organization }) => organization));
    expect(seats).toEqual([
      ["globex", "globex"],
      [defaultOrganization, defaultOrganization],
    ]);
  });
});

describe("a deployment that is there", () => {
  test("is called by its tokens, on loopback or on the one host that is allowed", () => {
    expect(planLoad(scenario, {}, deployed())).toMatchObject({
      ...{ rules: null, policy: null, allowHost: null, graphql: null, target: { base: url } },
      tokens: deployed().tokens,
    });
    const far = { url: "https://api.example.com", allowHost: "api.example.com" };
    const plan = planLoad(scenario, {}, deployed({ ...far, graphqlUrl: "https://api.example.com/graphql" }));
    expect(plan).toMatchObject({
      allowHost: "api.example.com",
      graphql: { base: "https://api.example.com/graphql" },
    });
    expect(failure(() => planLoad(scenario, {}, deployed({ url: far.url })))).toMatchObject({
      code: "TARGET_NOT_ALLOWED",
      path: "--target",
    });
    expect(failure(() => planLoad(scenario, {}, deployed({ graphqlUrl: far.url })))).toMatchObject({
      code: "TARGET_NOT_ALLOWED",
      path: "--graphql-url",
    });
    expect(failure(() => planLoad(scenario, {}, deployed({ tokens: tokensOf("acme", 4) })))).toMatchObject({
      code: "TOKENS_INVALID",
    });
  });

  const attributed = (...of: Record<string, string>[]): PolicyToken[] =>
    of.map((attributes, at) => ({ token: `token-${at}`, attributes }));
  const seated = (attributes: string[], tokens: PolicyToken[]) =>
    planLoad(scenario, { policy: policyOf(attributes) }, deployed({ tokens })).policy?.callers.map(
      (callers) => callers.map(({ organization, user, token }) => [organization, user, token]),
    );

  test("under a policy deals tokens to seats by the organization that they stand for", () => {
    const tokens = attributed(
      { organization: "initech", user: "ann" },
      { organization: "globex", user: "bob" },
      { organization: "initech", user: "eve" },
      { organization: "globex", user: "kim" },
    );
    expect(seated(["organization", "user"], tokens)).toEqual([
      [
        ["globex", "bob", "token-1"],
        ["globex", "kim", "token-3"],
      ],
      [
        ["initech", "ann", "token-0"],
        ["initech", "eve", "token-2"],
      ],
    ]);
    expect(failure(() => seated(["organization", "user"], tokens.slice(0, 3)))).toMatchObject({
      ...{
        code: "TOKENS_INVALID",
        got: "1 token of globex",
        allowed: "a token for each user, 2 in all",
      },
    });
    expect(
      failure(() =>
        seated(
          ["organization", "user"],
          tokens.filter((_, at) => at !== 2),
        ),
      ),
    ).toMatchObject({
      ...{ got: "1 token of initech", allowed: "a token for each user, 2 in all" },
    });
    expect(failure(() => seated(["organization"], tokens.slice(0, 1)))).toMatchObject({
      ...{ got: "0 tokens of globex", allowed: "a token for each user, 1 in all" },
    });
  });

  test("without a shared attribute, all tokens are of one; without a user's, an organization has one", () => {
    const users = attributed(
      { user: "ann", team: "x" },
      { user: "bob", team: "x" },
      { user: "eve", team: "y" },
      { user: "kim", team: "y" },
    );
    expect(
      seated(["user"], users)
        ?.flat()
        .map(([, user, token]) => [user, token]),
    ).toEqual([
      ["ann", "token-0"],
      ["bob", "token-1"],
      ["eve", "token-2"],
      ["kim", "token-3"],
    ]);
    const one = attributed({ organization: "initech" }, { organization: "globex" });
    expect(
      seated(["organization"], one)?.map((callers) =>
        callers.map(([organization, , token]) => [organization, token]),
      ),
    ).toEqual([
      [
        ["globex", "token-1"],
        ["globex", "token-1"],
      ],
      [
        ["initech", "token-0"],
        ["initech", "token-0"],
      ],
    ]);
  });
});

test("clients that ask for a status need a route that shows it", () => {
  const asking = defineScenario({
    ...{ name: "asking", duration: "1m" },
    populations: {
      quiet: { clients: 1, behaviour },
      curious: { clients: 1, behaviour: poller({ every: "1s", call: status() }) } as PopulationInput,
    },
  });
  const bare = policyOf(["user"], false);
  expect(failure(() => planLoad(asking, { policy: bare }, null))).toMatchObject({
    ...{ code: "SCENARIO_INVALID", path: "populations.curious", got: "a status call" },
    allowed: "other calls, or a route of the policy api whose operation is status",
  });
  expect(failure(() => planLoad(asking, { policy: policyOf(["user"]) }, null))).toBeNull();
  expect(failure(() => planLoad(asking, {}, null))).toBeNull();
  expect(failure(() => planLoad(scenario, { policy: bare }, null))).toBeNull();
});

test("a call's lateness is from when it was due to when it left; none is early", () => {
  const meter = new LatenessMeter();
  expect(meter.read()).toEqual({ calls: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 });
  for (let late = 0; late < 100; late++) meter.left(1_000, 1_000 + late);
  meter.left(1_000, 900);
  const { calls, p50Ms, p99Ms, maxMs } = meter.read();
  expect([calls, maxMs]).toEqual([101, 99]);
  expect([p50Ms, p99Ms]).toEqual([49, 98]);
  const slow = (p99: number): boolean => isTooSlow({ calls: 1, p50Ms: 0, p99Ms: p99, maxMs: p99 });
  expect([99, 100, 101].map(slow)).toEqual([false, true, true]);
});
