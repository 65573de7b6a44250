// Tokens of a policy, made for a scenario's clients or dealt to them.
import { describe, expect, test } from "vitest";
import { dealtCallers, madeCallers } from "../../src/load/policy-callers.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyToken } from "../../src/policy/tokens.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { poller } from "../../src/scenario/behaviours/poller.ts";
import { rest } from "../../src/scenario/calls.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";
import { codedError } from "../support/coded-error.ts";

const policyOf = (attributes: readonly string[]) =>
  parsePolicy({
    version: 2,
    name: "own",
    quotas: { q: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: attributes } },
    operations: { read: { uses: { q: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "read" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes },
  } as never);
const behaviour = poller({ every: "1s", call: rest("/") });
type Populations = Record<string, Omit<PopulationInput, "behaviour">>;
const scenarioOf = (populations: Populations, attributes: readonly string[]) => {
  const all = Object.entries(populations).map(([name, more]) => [name, { ...more, behaviour }]);
  const scenario = defineScenario({
    ...{ name: "seats", duration: "1m" },
    populations: Object.fromEntries(all) as Record<string, PopulationInput>,
  });
  return adjustScenario(scenario, { policy: policyOf(attributes) });
};
const tokensOf = (...all: readonly Readonly<Record<string, string>>[]): PolicyToken[] =>
  all.map((attributes, index) => ({ token: `token-${index}`, attributes }));

const two: Populations = {
  others: { clients: 1, organization: "globex", user: "each" },
  own: { clients: 2, user: "each" },
};

test("made tokens are one a seat, those of the default organization first", () => {
  let made = 0;
  const scenario = scenarioOf(two, ["organization", "user"]);
  const { callers, tokens, inOrder } = madeCallers(scenario, () => `made-${made++}`);
  const others = { organization: "globex", user: "others-0" };
  const own = [0, 1].map((seat) => ({ organization: "acme", user: `own-${seat}` }));
  expect(callers).toEqual([
    [{ ...others, token: "made-0", attributes: others }],
    own.map((attributes, seat) => ({ ...attributes, token: `made-${seat + 1}`, attributes })),
  ]);
  expect(inOrder.map(({ token }) => token)).toEqual(["made-1", "made-2", "made-0"]);
  expect(tokens).toEqual(inOrder.map(({ token, attributes }) => ({ token, attributes })));
  // The same seats have the same tokens if they are dealt.
  const dealt = dealtCallers(scenario, policyOf(["organization", "user"]), tokens);
  expect(dealt).toEqual({ callers, tokens });
});

describe("tokens are dealt", () => {
  const dealt = (attributes: readonly string[], populations: Populations, tokens: readonly PolicyToken[]) =>
    dealtCallers(scenarioOf(populations, attributes), policyOf(attributes), tokens).callers.map((seats) =>
      seats.map(({ organization, user, token }) => [organization, user, token]),
    );

  test("to populations of their organization; of the first one's to those that name none", () => {
    const tokens = tokensOf(
      ...[
        { organization: "first", user: "ann" },
        { organization: "globex", user: "gil" },
        { organization: "first", user: "bob" },
      ],
    );
    expect(dealt(["organization", "user"], two, tokens)).toEqual([
      [["globex", "gil", "token-1"]],
      [
        ["first", "ann", "token-0"],
        ["first", "bob", "token-2"],
      ],
    ]);
  });

  test("by all attributes that tell users apart", () => {
    const tokens = tokensOf({ user: "ann", seat: "1" }, { user: "ann", seat: "2" }, { user: "bob" });
    expect(dealt(["user", "seat"], { own: { clients: 3, user: "each" } }, tokens)).toEqual([
      [
        ["acme", "ann/1", "token-0"],
        ["acme", "ann/2", "token-1"],
        ["acme", "bob/", "token-2"],
      ],
    ]);
  });

  test("once an organization if no attribute tells users apart", () => {
    const tokens = tokensOf({ organization: "globex" }, { organization: "first" });
    expect(
      dealt(["organization"], { ...two, own: { ...two["own"], organization: "first" } as never }, tokens),
    ).toEqual([
      [["globex", "others-0", "token-0"]],
      [
        ["first", "own-0", "token-1"],
        ["first", "own-1", "token-1"],
      ],
    ]);
  });

  const lacks = (attributes: readonly string[], tokens: readonly PolicyToken[]) => {
    const { code, problems } = codedError(() => dealt(attributes, two, tokens));
    return [code, problems?.map(({ got, allowed }) => `${got}: ${allowed}`)];
  };
  test("or there are too few, of one organization", () => {
    const few = tokensOf({ organization: "first", user: "ann" }, { organization: "globex", user: "gil" });
    expect(lacks(["organization", "user"], few)).toEqual([
      "TOKENS_INVALID",
      ["1 token of first: a token for each user, 2 in all"],
    ]);
    expect(lacks(["organization"], tokensOf({ organization: "first" }))).toEqual([
      "TOKENS_INVALID",
      ["0 tokens of globex: a token for each user, 1 in all"],
    ]);
    expect(lacks(["user"], tokensOf({ user: "ann" }, { user: "bob" }))).toEqual([
      "TOKENS_INVALID",
      ["2 tokens of acme: a token for each user, 3 in all"],
    ]);
    expect(lacks(["user"], [])).toEqual([
      "TOKENS_INVALID",
      ["0 tokens of acme: a token for each user, 3 in all"],
    ]);
  });
});
