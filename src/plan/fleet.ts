// A fleet of another size: the clients of all populations together, in the shares that they have now.
import type { ClosedPopulation, Scenario } from "../scenario/scenario.ts";

/** Path of the number of all clients together. */
export const fleetPath = "fleet";

/** Returns the number of clients that are there for the whole run. Those that arrive are none of a fleet. */
export const fleetOf = ({ populations }: Scenario): number =>
  populations.reduce((sum, { clients }) => sum + (clients ?? 0), 0);

/**
 * Returns the scenario with so many clients in all. Populations keep their shares, to whole clients, and as many users a
 * client as before. A population that is left with none is there without clients.
 */
export function withFleet(scenario: Scenario, size: number): Scenario {
  const now = fleetOf(scenario);
  const exact = scenario.populations.map(({ clients }) => ((clients ?? 0) * size) / now);
  const whole = exact.map(Math.floor);
  const missing = size - whole.reduce((sum, clients) => sum + clients, 0);
  const byRest = exact
    .map((clients, place) => ({ place, rest: clients - (whole[place] as number) }))
    .sort((a, b) => b.rest - a.rest || a.place - b.place);
  const more = new Set(byRest.slice(0, missing).map(({ place }) => place));
  const populations = scenario.populations.map((population, place) =>
    population.clients === null
      ? population
      : grown(population, (whole[place] as number) + Number(more.has(place))),
  );
  return { ...scenario, populations };
}

function grown(population: ClosedPopulation, clients: number): ClosedPopulation {
  const { user } = population;
  if (user === "each") return { ...population, clients };
  const users = Math.round(((user === "shared" ? 1 : user) * clients) / population.clients);
  return { ...population, clients, user: users > 1 ? users : "shared" };
}
