import { describe, expect, test } from "vitest";
import type { Token } from "../../src/rules/tokens.ts";
import { defineScenario, poller, rest } from "../../src/scenario/index.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";
import { seatingOf, userPlace } from "../../src/scenario/seats.ts";

const behaviour = poller({ every: "1s", call: rest("/v2/user") });
const scenarioOf = (populations: Record<string, Omit<PopulationInput, "behaviour">>) =>
  defineScenario({
    name: "seats",
    duration: "10s",
    populations: Object.fromEntries(
      Object.entries(populations).map(([name, population]) => [name, { ...population, behaviour }]),
    ),
  });
const token = (user: string, organization = "acme"): Token => ({
  token: `secret-${organization}-${user}`,
  user,
  organization,
  scopes: [],
});

/** Each client's user, population by population. */
function usersOf(
  scenario: ReturnType<typeof scenarioOf>,
  tokens: Token[] | null,
  clients: number[],
): string[][] {
  const seating = seatingOf(scenario, tokens);
  return clients.map((count, place) =>
    Array.from({ length: count }, (_, index) => {
      const { organization, user } = seating.seat(place, index % seating.count(place));
      return `${organization}/${user}`;
    }),
  );
}

describe("without tokens users are named after their populations", () => {
  test("each, shared, and so many in turn", () => {
    const scenario = scenarioOf({
      agents: { clients: 2, user: "each" },
      bots: { clients: 3, user: "shared", organization: "globex" },
      staff: { clients: 5, user: 2 },
    });
    expect(usersOf(scenario, null, [2, 3, 5])).toEqual([
      ["acme/agents-0", "acme/agents-1"],
      ["globex/bots-0", "globex/bots-0", "globex/bots-0"],
      ["acme/staff-0", "acme/staff-1", "acme/staff-0", "acme/staff-1", "acme/staff-0"],
    ]);
    expect([0, 1, 2].map((place) => seatingOf(scenario, null).count(place))).toEqual([2, 1, 2]);
  });

  test("a client's user has a place among those of its population", () => {
    const scenario = scenarioOf({
      agents: { clients: 5, user: "each" },
      bots: { clients: 5, user: "shared" },
      staff: { clients: 5, user: 2 },
    });
    const places = scenario.populations.map((population) =>
      [0, 1, 2, 3, 4].map((index) => userPlace(population, index)),
    );
    expect(places).toEqual([
      [0, 1, 2, 3, 4],
      [0, 0, 0, 0, 0],
      [0, 1, 0, 1, 0],
    ]);
  });

  test("no more users than clients", () => {
    expect(seatingOf(scenarioOf({ few: { clients: 2, user: 9 } }), null).count(0)).toBe(2);
  });

  test("arrivals take users in turn, a user each only if asked for", () => {
    const arrivals = { executor: "constant-arrival-rate", rate: 2, preAllocatedVUs: 1 } as const;
    const seats = (user?: "each") =>
      seatingOf(scenarioOf({ open: { arrivals, ...(user && { user }) } }), null).count(0);
    expect([seats(), seats("each")]).toEqual([1, 20]);
  });
});

describe("tokens are taken in turn", () => {
  const scenario = scenarioOf({
    agents: { clients: 2 },
    bots: { clients: 1, organization: "globex" },
    more: { clients: 1 },
  });

  test("each of its organization; the first token's where a population names none", () => {
    const tokens = [token("ann"), token("zoe", "globex"), token("bob"), token("cyd"), token("dan")];
    expect(usersOf(scenario, tokens, [2, 1, 1])).toEqual([
      ["acme/ann", "acme/bob"],
      ["globex/zoe"],
      ["acme/cyd"],
    ]);
  });

  test("a second token of a user is no second user", () => {
    const tokens = [
      token("ann"),
      { ...token("ann"), token: "other" },
      token("bob"),
      token("cyd"),
      token("z", "globex"),
    ];
    expect(usersOf(scenario, tokens, [2])).toEqual([["acme/ann", "acme/bob"]]);
  });

  test("too few is an error that says how many are needed, and shows none", () => {
    const act = () => seatingOf(scenario, [token("ann"), token("bob"), token("z", "globex")]);
    expect(act).toThrow(expect.objectContaining({ code: "TOKENS_INVALID" }));
    expect(act).toThrow(/got tokens of 2 users in organization acme, allowed: tokens of 3 users or more/);
    expect(act).not.toThrow(/secret/);
  });
});
