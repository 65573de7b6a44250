// Who calls as whom: the users that a scenario's clients are, and the tokens that they call with. Simulator
// and load take the same seats, so their traces name the same users.
import { SpillwayError } from "../rules/errors.ts";
import type { Token } from "../rules/tokens.ts";
import { clientCount, type Scenario } from "./scenario.ts";

/** One user of one organization. */
export interface Seat {
  readonly organization: string;
  readonly user: string;
  /** `null` where the seating was made without tokens. */
  readonly token: Token | null;
}

/** A scenario's seats, and which client sits where. */
export interface Seating {
  /** Distinct users, in the order of populations and, within one, of clients. */
  readonly seats: readonly Seat[];
  /**
   * The index in `seats` of a client.
   * @param population its place in `scenario.populations`
   */
  seatOf(population: number, client: number): number;
}

/** The organization of populations that name none, where there are no tokens. */
export const defaultOrganization = "acme";

interface Block {
  readonly first: number;
  readonly count: number;
}

/**
 * Seats a scenario's clients. Each population has users of its own (`PopulationInput.user`), and its clients
 * take them in turn. Without tokens they are called `<population>-<n>`; with tokens each takes the next entry
 * of its organization whose user has no seat yet.
 * @throws SpillwayError `TOKENS_INVALID` where there are too few, saying how many are needed
 */
export function seatingOf(scenario: Scenario, tokens: readonly Token[] | null): Seating {
  const seats: Seat[] = [];
  const blocks: Block[] = [];
  const dealers = new Map<string, Iterator<Token>>();
  for (const [index, population] of scenario.populations.entries()) {
    const organization = population.organization ?? tokens?.[0]?.organization ?? defaultOrganization;
    const count = userCount(scenario, index);
    blocks.push({ first: seats.length, count });
    for (let n = 0; n < count; n++) {
      if (tokens === null) {
        seats.push({ organization, user: `${population.name}-${n}`, token: null });
        continue;
      }
      const dealer = dealers.get(organization) ?? distinctUsers(tokens, organization);
      dealers.set(organization, dealer);
      const { value: token, done } = dealer.next();
      if (done === true) throw tooFew(scenario, tokens, organization);
      seats.push({ organization, user: token.user, token });
    }
  }
  return {
    seats,
    seatOf(population, client) {
      const block = blocks[population];
      if (block === undefined) throw new RangeError(`there is no population ${population}`);
      return block.first + (client % block.count);
    },
  };
}

/** How many users a population's clients are. */
function userCount(scenario: Scenario, index: number): number {
  const population = scenario.populations[index];
  if (population === undefined || population.user === "shared") return 1;
  const clients = clientCount(population, scenario.durationMs);
  return population.user === "each" ? clients : Math.min(clients, population.user);
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
  for (const [index, population] of scenario.populations.entries())
    if ((population.organization ?? fallback) === organization) needed += userCount(scenario, index);
  const found = [...distinctUsers(tokens, organization)].length;
  return new SpillwayError("TOKENS_INVALID", `there are too few tokens for scenario ${scenario.name}`, {
    problems: [
      {
        path: "tokens",
        got: `tokens of ${found} users in organization ${organization}`,
        allowed: `tokens of ${needed} users or more, one for each user that the scenario needs`,
      },
    ],
    hint: 'add tokens, or let clients share users: user: "shared", or a number',
  });
}
