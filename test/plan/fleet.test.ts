// A fleet of another size: whose clients there are more or fewer of, and how many users they have.
import { defineScenario, poller, rest } from "spillway/scenario";
import { expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { fleetOf, withFleet } from "../../src/plan/fleet.ts";
import { findPlace } from "../../src/plan/paths.ts";

const behaviour = poller({ every: "10s", call: rest("/v2/user") });
const arrivals = {
  executor: "poisson-arrival-rate",
  ...{ rate: 2, timeUnit: "1m", preAllocatedVUs: 1 },
} as const;
const visitors = { arrivals, behaviour };
const scenario = defineScenario({
  name: "fleet",
  duration: "1m",
  populations: {
    own: { clients: 7, behaviour },
    pool: { clients: 6, user: 2, behaviour },
    visitors,
    one: { clients: 3, user: "shared", behaviour },
  },
});

const sizes = (size: number) =>
  withFleet(scenario, size).populations.map(({ clients, user }) => [clients, user]);
const arriving = [null, "shared"];

test.each([
  [16, [[7, "each"], [6, 2], arriving, [3, "shared"]]],
  [32, [[14, "each"], [12, 4], arriving, [6, 2]]],
  [24, [[11, "each"], [9, 3], arriving, [4, "shared"]]],
  [1, [[1, "each"], [0, "shared"], arriving, [0, "shared"]]],
])("of %d keeps the shares of its populations, and their users a client", (size, expected) => {
  expect(sizes(size)).toEqual(expected);
});

test("has so many clients in all, whatever the size", () => {
  for (let size = 1; size < 100; size++) expect(fleetOf(withFleet(scenario, size))).toBe(size);
});

test("calls by its clients alone, and by those who arrive", () => {
  const clients = new Set<string | undefined>();
  for (const { client } of simulate(withFleet(scenario, 1)).calls) clients.add(client.split("/")[0]);
  expect(clients).toEqual(new Set(["own", "visitors"]));
});

test("is none where all clients arrive", () => {
  const open = defineScenario({ name: "open", duration: "1m", populations: { visitors } });
  expect(findPlace(open, "fleet")).toMatchObject({ got: "no such path in this scenario" });
});
