// Advice on parts of a scenario that are legal but surely a mistake.
import { costAsked, limitOf, quotaFor } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import { organizationLimit, type Rules, semanticsOf, userLimit } from "../rules/rules.ts";
import { pointsMost } from "./calls.ts";
import type { CallTemplate } from "./client.ts";
import { Mistakes } from "./mistakes.ts";
import { policyCall } from "./policy-calls.ts";
import { type Population, type Scenario, staysOf } from "./scenario.ts";
import { defaultOrganization } from "./seats.ts";

/**
 * Returns the parts of a scenario that are surely a mistake, one sentence each. These are calls that are never admitted
 * (SPEC.md §2.7), populations without clients in this run, and outages after its end.
 * @param scenario the scenario as it is run
 * @param rules the rules of the run
 * @throws SpillwayError `SCENARIO_INVALID` if `scenario` is no scenario or `rules` are no rules
 */
export function adviseScenario(scenario: Scenario, rules: Rules): string[] {
  const mistakes = new Mistakes();
  mistakes.scenario("scenario", scenario);
  const complete = mistakes.rules("rules", rules) ?? rules;
  mistakes.finish("there is nothing to advise on");
  const { populations, outages, durationMs, policy } = scenario;
  const hopeless = populations.flatMap((population) =>
    population.behaviour.calls.flatMap((call) => {
      if (policy !== undefined) return policyAdvice(population, call, policy);
      const reason = neverAdmitted(population, call, complete);
      return reason === null ? [] : [`${population.name}: ${call.name} costs ${call.cost}, ${reason}`];
    }),
  );
  const nobody = populations.flatMap(({ name }, place) =>
    isEmpty(scenario, place) ? [`${name}: nobody comes in this run`] : [],
  );
  const late = outages.flatMap(({ atMs }, index) =>
    atMs < durationMs
      ? []
      : [`outages.${index} begins ${atMs} ms into a run of ${durationMs} ms: it never happens`],
  );
  // One sentence for all: a fitted scenario of a week has many outages, and a plan may run a day of it.
  const outside =
    late.length <= 1 ? late : [`${late.length} outages begin after the run's end: they never happen`];
  return [...hopeless, ...nobody, ...outside, ...withoutLimits(scenario)];
}

/** Returns the next step for a scenario whose calls are all counted by no quota of its policy. */
function withoutLimits({ populations, policy }: Scenario): string[] {
  if (policy === undefined) return [];
  const uses = populations.flatMap((population) =>
    population.behaviour.calls
      .filter(({ kind }) => kind !== "status")
      .map((call) => policyUse(population, call, policy).uses),
  );
  if (uses.length === 0 || uses.some((use) => use !== undefined)) return [];
  return [
    `${policy.name} limits no call of this scenario: npx spillway init --policy NAME|FILE writes one of a policy's own calls`,
  ];
}

function isEmpty(scenario: Scenario, place: number): boolean {
  if (scenario.populations[place]?.arrivals === null) return false;
  for (const _ of staysOf(scenario, place)) return false;
  return true;
}

/** Returns what a call of a population uses of a policy's quotas (`undefined`: none of them counts it), and its caller. */
export function policyUse({ organization }: Population, call: CallTemplate, policy: Policy) {
  const seat = { organization: organization ?? defaultOrganization, user: "", token: null };
  const { operation, caller } = policyCall(policy, call, seat);
  return { caller, uses: policy.operations[operation]?.uses };
}

/** Returns a sentence for a call that no quota counts, and one for each quota that cannot hold it. */
function policyAdvice(population: Population, call: CallTemplate, policy: Policy): string[] {
  if (call.kind === "status") return [];
  const { name } = population;
  const { caller, uses } = policyUse(population, call, policy);
  if (uses === undefined) return [`${name}: ${call.name} is limited by no quota of ${policy.name}`];
  return Object.entries(uses).flatMap(([quota, cost]) => {
    const { algorithm, charge, enforced } = quotaFor(policy, quota, caller);
    const limit = limitOf(algorithm);
    const asked = costAsked(cost, call.cost);
    return asked > limit && charge.fits === "whole" && enforced !== false
      ? [
          `${name}: ${call.name} costs ${asked} of ${quota}, above its limit of ${limit}: it is refused for ever`,
        ]
      : [];
  });
}

function neverAdmitted(population: Population, call: CallTemplate, rules: Rules): string | null {
  if (call.kind === "status") return null;
  const { scope, cost } = call;
  if (scope === "graphql" && cost > pointsMost)
    return `above the ${pointsMost} points of one query: it is answered with errors and never executed`;
  // Under postpaid, any cost is admitted while some of the limit is left (SPEC.md §8).
  const semantics = semanticsOf(rules, scope);
  if (scope === "graphql" && semantics.graphqlCharge === "postpaid") return null;
  const organization = population.organization ?? defaultOrganization;
  const broad = organizationLimit(rules, organization, scope);
  if (broad.enforced && cost > broad.limit)
    return `above the organization's limit of ${broad.limit}: it is refused for ever`;
  const narrow = userLimit(rules, organization, "", scope);
  if ((broad.enforced || semantics.userEnforced === "always") && cost > narrow.limit)
    return `above a user's limit of ${narrow.limit}: it is refused for ever`;
  return null;
}
