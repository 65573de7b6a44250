// Who calls as whom: the users that a scenario's clients are, and the tokens that they call with. Simulator
// and load take the same seats, so their traces name the same users.

import { SpillwayError } from "../rules/errors.ts";
import type { Token } from "../rules/tokens.ts";
import { counted } from "../rules/words.ts";
import { clientsMost, type Population, type Scenario } from "./scenario.ts";

/** One user of one organization. */
export interface Seat {
  readonly organization: string;
  readonly user: string;
  /** `null` where the seating was made without tokens. */
  readonly token: Token | null;
}

/** A scenario's seats, and which client sits where. */
export interface Seating {
  /** In the order of populations and, within one, of clients. */
  readonly seats: readonly Seat[];
  /**
   * The index in `seats` of a client.
   * @param population its place in `scenario.populations`
   */
  seatOf(population: number, client: number): number;
}

/** The organization of populations that name none, where there are no tokens. */
export const defaultOrganization = "acme";

/**
 * Seats a scenario's clients. Each population has users of its own (`PopulationInput.user`), and its clients
 * take them in turn. Without tokens they are called `<population>-<n>`; with tokens each takes the next entry
 * of its organization whose user has no seat yet.
 * @throws SpillwayError `TOKENS_INVALID` where there are too few, saying how many are needed
 */
export function seatingOf(scenario: Scenario, tokens: readonly Token[] | null): Seating {
  const dealers = new Map<string, Iterator<Token>>();
  return seated(scenario, (population, n) => {
    const organization = population.organization ?? tokens?.[0]?.organization ?? defaultOrganization;
    if (tokens === null) return { organization, user: `${population.name}-${n}`, token: null };
    const dealer = dealers.get(organization) ?? distinctUsers(tokens, organization);
    dealers.set(organization, dealer);
    const { value: token, done } = dealer.next();
    if (done === true) throw tooFew(scenario, tokens, organization);
    return { organization, user: token.user, token };
  });
}

/**
 * Seats a scenario's clients as they sat in an earlier run; one that was not seen there is called
 * `<population>-<n>`.
 * @param seen the users of the run's clients, by `population/index`
 */
export function seatingLike(
  scenario: Scenario,
  seen: ReadonlyMap<string, { readonly organization: string; readonly user: string }>,
): Seating {
  return seated(scenario, (population, n) => {
    const { organization, user } = seen.get(`${population.name}/${n}`) ?? {
      organization: population.organization ?? defaultOrganization,
      user: `${population.name}-${n}`,
    };
    return { organization, user, token: null };
  });
}

/** @param seatFor the n-th user of a population, asked for in order */
function seated(scenario: Scenario, seatFor: (population: Population, n: number) => Seat): Seating {
  const seats: Seat[] = [];
  const blocks = scenario.populations.map((population, place) => {
    const first = seats.length;
    const count = userCount(scenario, place);
    for (let n = 0; n < count; n++) seats.push(seatFor(population, n));
    return { first, count };
  });
  return {
    seats,
    seatOf(population, client) {
      const block = blocks[population];
      if (block === undefined) throw new RangeError(`there is no population ${population}`);
      return block.first + (block.count === 0 ? 0 : client % block.count);
    },
  };
}

/** Returns the number of users that a population's clients are. */
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
    problems: [
      {
        path: "tokens",
        got: `tokens of ${counted(found, "user")} in organization ${organization}`,
        allowed: `tokens of ${counted(needed, "user")} or more, one for each user that the scenario needs`,
      },
    ],
    hint: 'add tokens, or let clients share users: user: "shared", or a number',
  });
}
