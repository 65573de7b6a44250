// The callers of a scenario's clients: the tokens file's entries, dealt to populations (`scenario/seats.ts`).
import type { Token } from "../rules/tokens.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";
import { seatingOf, seatsOf } from "../scenario/seats.ts";

/** Caller of a client's calls. */
export interface Caller extends Pick<Token, "organization" | "user" | "token"> {
  /** Attributes that the token stands for, under a policy. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/**
 * Returns the users of each population, in the order of populations. A population's clients take them in turn.
 * @throws SpillwayError `TOKENS_INVALID` if there are too few
 */
export function seatCallers(scenario: Scenario, tokens: readonly Token[]): Caller[][] {
  return seatsOf(scenario, seatingOf(scenario, tokens)).map((seats) =>
    seats.map(({ organization, user, token }) => ({
      organization,
      user,
      token: token?.token ?? "",
    })),
  );
}

/** Tells whether a population is one client, and no other population uses its organization. */
export function isAlone(
  scenario: Scenario,
  callers: readonly (readonly Caller[])[],
  population: Population,
  organization: string,
): boolean {
  if (population.clients !== 1) return false;
  return scenario.populations.every((other, place) => {
    const seats = callers[place] ?? [];
    // k6 shares this array between clients, and such an array lacks some methods.
    for (let n = 0; n < seats.length && other !== population; n++)
      if (seats[n]?.organization === organization) return false;
    return true;
  });
}
