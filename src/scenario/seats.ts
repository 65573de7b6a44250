// The users that a scenario's clients call as, and the tokens that they call with. Simulator and load take the same
// seats, so their traces name the same users.

import { SpillwayError } from "../rules/errors.ts";
import type { Token } from "../rules/tokens.ts";
import { counted } from "../rules/words.ts";
import { clientsMost, type Population, type Scenario } from "./scenario.ts";

/** One user of one organization. */
export interface Seat {
  readonly organization: string;
  readonly user: string;
  /** `null` if the seating was made without tokens. */
  readonly token: Token | null;
}

/** A scenario's seats. The clients of a population take its seats in turn. */
export interface Seating {
  /** Returns the number of seats of a population, by its place in `scenario.populations`. */
  count(population: number): number;
  /** Returns a seat of a population, from 0 on. It is made on demand: a million clients have a million names. */
  seat(population: number, n: number): Seat;
  /** True if no two seats are the same user of the same organization. */
  readonly isDistinct: boolean;
}

/** Makes all seats of a scenario, by population. */
export const seatsOf = ({ populations }: Scenario, seating: Seating): Seat[][] =>
  populations.map((_, place) =>
    Array.from({ length: seating.count(place) }, (_seat, n) => seating.seat(place, n)),
  );

/** Organization of populations that name none, if there are no tokens. */
export const defaultOrganization = "acme";

/**
 * Seats a scenario's clients. Each population has users of its own (`PopulationInput.user`), and its clients take them
 * in turn. Without tokens they are called `<population>-<n>`. With tokens each takes the next entry of its organization
 * whose user has no seat yet.
 * @throws SpillwayError `TOKENS_INVALID` if there are too few, saying how many are needed
 */
export function seatingOf(scenario: Scenario, tokens: readonly Token[] | null): Seating {
  const organizationOf = ({ organization }: Population): string =>
    organization ?? tokens?.[0]?.organization ?? defaultOrganization;
  const named = seated(scenario, true, (population, n) => ({
    organization: organizationOf(population),
    user: `${population.name}-${n}`,
    token: null,
  }));
  if (tokens === null) return named;
  const dealers = new Map<string, Iterator<Token>>();
  const dealt = scenario.populations.map((population, place) =>
    Array.from({ length: named.count(place) }, (): Seat => {
      const organization = organizationOf(population);
      const dealer = dealers.get(organization) ?? distinctUsers(tokens, organization);
      dealers.set(organization, dealer);
      const { value: token, done } = dealer.next();
      if (done === true) throw tooFew(scenario, tokens, organization);
      return { organization, user: token.user, token };
    }),
  );
  return { ...named, seat: (population, n) => dealt[population]?.[n] as Seat };
}

/**
 * Seats a scenario's clients as they sat in an earlier run. A client that was not seen there is called
 * `<population>-<n>`.
 * @param seen the users of the run's clients, by `population/index`
 */
export function seatingLike(
  scenario: Scenario,
  seen: ReadonlyMap<string, { readonly organization: string; readonly user: string }>,
): Seating {
  return seated(scenario, false, (population, n) => {
    const { organization, user } = seen.get(`${population.name}/${n}`) ?? {
      organization: population.organization ?? defaultOrganization,
      user: `${population.name}-${n}`,
    };
    return { organization, user, token: null };
  });
}

/** @param seatFor returns the n-th user of a population */
function seated(
  scenario: Scenario,
  isDistinct: boolean,
  seatFor: (population: Population, n: number) => Seat,
): Seating {
  const counts = scenario.populations.map((_, place) => userCount(scenario, place));
  return {
    isDistinct,
    count: (population) => counts[population] as number,
    seat: (population, n) => seatFor(scenario.populations[population] as Population, n),
  };
}

/** Returns the place of a client's user among those of its population, from 0. */
export function userPlace({ user }: Population, index: number): number {
  if (user === "each") return index;
  return user === "shared" ? 0 : index % user;
}

/** Returns the number of users that a population's clients call as. */
function userCount(scenario: Scenario, place: number): number {
  const user = scenario.populations[place]?.user ?? "shared";
  if (user === "shared") return 1;
  const clients = clientsMost(scenario, place);
  return user === "each" ? clients : Math.min(clients, user);
}

function* distinctUsers(tokens: readonly Token[], organization: string): Generator<Token, void> {
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.organization !== organization || seen.has(token.user)) continue;
    seen.add(token.user);
    yield token;
  }
}

function tooFew(scenario: Scenario, tokens: readonly Token[], organization: string): SpillwayError {
  const fallback = tokens[0]?.organization;
  let needed = 0;
  for (const [place, population] of scenario.populations.entries())
    if ((population.organization ?? fallback) === organization) needed += userCount(scenario, place);
  const found = [...distinctUsers(tokens, organization)].length;
  return new SpillwayError("TOKENS_INVALID", `there are too few tokens for scenario ${scenario.name}`, {
    problem: {
      path: "tokens",
      got: `tokens of ${counted(found, "user")} in organization ${organization}`,
      allowed: `tokens of ${counted(needed, "user")} or more, one for each user that the scenario needs`,
    },
    hint: 'add tokens, or let clients share users: user: "shared", or a number',
  });
}
