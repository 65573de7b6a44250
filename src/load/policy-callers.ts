// The callers of a scenario's clients under a policy: tokens with their attributes, dealt to populations.
import { isShared } from "../policy/attributes.ts";
import type { Policy } from "../policy/policy.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { ownAttributes } from "../scenario/policy-calls.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { defaultOrganization, seatingOf, seatsOf } from "../scenario/seats.ts";
import type { Caller } from "./callers.ts";

/** Callers by population, and the tokens that they call with. */
export interface PolicyCallers {
  readonly callers: readonly (readonly Caller[])[];
  readonly tokens: readonly PolicyToken[];
}

/**
 * Makes a token for each seat of a scenario, under the names that the simulator gives them. Tokens of the default
 * organization come first, so that dealing gives them to the same seats again.
 */
export function madeCallers(
  scenario: Scenario,
  newToken: () => string,
): PolicyCallers & { readonly inOrder: readonly Caller[] } {
  const { policy } = scenario;
  const callers = seated(scenario, ({ organization, user }) => ({
    ...{ organization, user, token: newToken() },
    ...(policy && { attributes: ownAttributes(policy, { organization, user }) }),
  }));
  const isDefault = ({ organization }: Caller): boolean => organization === defaultOrganization;
  const all = callers.flat();
  const inOrder = [...all.filter(isDefault), ...all.filter((caller) => !isDefault(caller))];
  const tokens = inOrder.map(({ token, attributes = {} }) => ({ token, attributes }));
  return { callers, tokens, inOrder };
}

/**
 * Deals tokens to the seats of a scenario. The tokens' shared attribute names the organization; without one, all are of
 * one organization. If no attribute tells users apart, an organization's users call with one token.
 * @throws SpillwayError `TOKENS_INVALID` if there are too few
 */
export function dealtCallers(
  scenario: Scenario,
  policy: Policy,
  tokens: readonly PolicyToken[],
): PolicyCallers {
  const { attributes: names } = policy.auth;
  const shared = names.find(isShared);
  const hasUsers = names.some((name) => !isShared(name));
  const organizationOf = ({ attributes }: PolicyToken): string =>
    (shared === undefined ? undefined : attributes[shared]) ?? defaultOrganization;
  const first = tokens[0] === undefined ? defaultOrganization : organizationOf(tokens[0]);
  const left = new Map<string, PolicyToken[]>();
  for (const token of tokens)
    left.set(organizationOf(token), [...(left.get(organizationOf(token)) ?? []), token]);
  const wantedOf = (population: number): string =>
    shared === undefined ? first : (scenario.populations[population]?.organization ?? first);
  const callers = seated(scenario, ({ organization, user }, population) => {
    const wanted = wantedOf(population);
    const own = left.get(wanted) ?? [];
    const token = hasUsers ? own.shift() : own[0];
    if (token === undefined) {
      const found = tokens.filter((each) => organizationOf(each) === wanted).length;
      const seats = seatsOf(scenario, seatingOf(scenario, null)).filter((_, at) => wantedOf(at) === wanted);
      throw tooFew(scenario, wanted, found, hasUsers ? seats.flat().length : 1);
    }
    const { attributes } = token;
    return {
      organization: shared === undefined ? organization : wanted,
      user:
        names
          .filter((name) => !isShared(name))
          .map((name) => attributes[name])
          .join("/") || user,
      token: token.token,
      attributes,
    };
  });
  return { callers, tokens };
}

type Seat = Pick<Caller, "organization" | "user">;

function seated(scenario: Scenario, callerOf: (seat: Seat, population: number) => Caller): Caller[][] {
  return seatsOf(scenario, seatingOf(scenario, null)).map((seats, population) =>
    seats.map((seat) => callerOf(seat, population)),
  );
}

function tooFew({ name }: Scenario, organization: string, found: number, needed: number): SpillwayError {
  return new SpillwayError("TOKENS_INVALID", `there are too few tokens for scenario ${name}`, {
    problem: {
      path: "tokens",
      got: `${counted(found, "token")} of ${organization}`,
      allowed: `a token for each user, ${needed} in all`,
    },
    hint: "a population's user: 'shared' or a number asks for fewer",
  });
}
