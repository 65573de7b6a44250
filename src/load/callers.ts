// Who a scenario's clients are: the tokens file's entries, dealt to populations (`scenario/seats.ts`).
import type { Token } from "../rules/tokens.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";
import { seatingOf, seatsOf } from "../scenario/seats.ts";

/** Who a client is. */
export interface Caller {
  readonly organization: string;
  readonly user: string;
  readonly token: string;
  /** Under a policy: the attributes that the token stands for. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/**
 * The users of each population, in the order of populations; its clients take them in turn.
 * @throws SpillwayError `TOKENS_INVALID` where there are too few
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

/** Returns whether a population is one client, and no other uses its organization. */
export function isAlone(
  scenario: Scenario,
  callers: readonly (readonly Caller[])[],
  population: Population,
  organization: string,
): boolean {
  if (population.clients !== 1) return false;
  return scenario.populations.every((other, place) => {
    const seats = callers[place] ?? [];
    // An array that k6 shares between clients is no whole one.
    for (let n = 0; n < seats.length && other !== population; n++)
      if (seats[n]?.organization === organization) return false;
    return true;
  });
}
