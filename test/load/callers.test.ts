// Who a scenario's clients are, and whether one of them has its organization for itself.
import { describe, expect, test } from "vitest";
import { isAlone, seatCallers } from "../../src/load/callers.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { poller } from "../../src/scenario/behaviours/poller.ts";
import { rest } from "../../src/scenario/calls.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";

const behaviour = poller({ every: "1s", call: rest("/v2/user") });
const scenarioOf = (populations: Record<string, Omit<PopulationInput, "behaviour">>) =>
  defineScenario({
    ...{ name: "seats", duration: "1m" },
    populations: Object.fromEntries(
      Object.entries(populations).map(([name, more]) => [name, { ...more, behaviour }]),
    ) as Record<string, PopulationInput>,
  });
const tokensOf = (organization: string, count: number): Token[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ token: `${organization}-${index}`, user: `user-${index}`, organization, scopes: tokenScopes },
  }));
const both = [...tokensOf("acme", 3), ...tokensOf("globex", 3)];

test("tokens are dealt to populations, of each its organization's", () => {
  const scenario = scenarioOf({
    one: { clients: 1, organization: "acme", user: "each" },
    other: { clients: 2, organization: "globex", user: "each" },
  });
  const callers = seatCallers(scenario, both);
  expect(callers.map((seats) => seats.map(({ token }) => token))).toEqual([
    ["acme-0"],
    ["globex-0", "globex-1"],
  ]);
  expect(callers[1]?.[1]).toEqual({ organization: "globex", user: "user-1", token: "globex-1" });
  expect(() => seatCallers(scenario, tokensOf("acme", 3))).toThrow(SpillwayError);
});

describe("a population has its organization for itself", () => {
  const isSo = (populations: Record<string, Omit<PopulationInput, "behaviour">>): boolean => {
    const scenario = scenarioOf(populations);
    const [first] = scenario.populations;
    if (first === undefined) throw new RangeError("no population");
    return isAlone(scenario, seatCallers(scenario, both), first, "acme");
  };

  test.each<[string, Record<string, Omit<PopulationInput, "behaviour">>, boolean]>([
    ["one client alone", { one: { clients: 1, organization: "acme" } }, true],
    ["two clients", { one: { clients: 2, organization: "acme" } }, false],
    [
      "beside another organization's",
      { one: { clients: 1, organization: "acme" }, other: { clients: 2, organization: "globex" } },
      true,
    ],
    [
      "beside another client of it",
      {
        one: { clients: 1, organization: "acme", user: "each" },
        other: { clients: 1, organization: "acme", user: "each" },
      },
      false,
    ],
    [
      "beside several, one of which is of it",
      {
        one: { clients: 1, organization: "acme" },
        other: { clients: 2, organization: "globex" },
        last: { clients: 1, organization: "acme" },
      },
      false,
    ],
  ])("%s: %s", (_name, populations, alone) => {
    expect(isSo(populations)).toBe(alone);
  });
});
