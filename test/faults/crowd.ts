// The workload under which faults must show: bursts that overlap, users refused by their own window and by their
// organization's, status polls, GraphQL queries (one dearer than any window), three organizations of which one is
// not enforced, and short windows, so that many of them pass.
import { type ChosenFault, semanticsFor } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import {
  burst,
  defineScenario,
  exponential,
  none,
  pipelinesQuery,
  poller,
  rest,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";

const call = rest("/v2/user");

export const crowdRules: RulesInput = {
  organization: {
    rest: { limit: 70, windowSeconds: 12 },
    graphql: { limit: 450, windowSeconds: 20 },
  },
  user: { rest: { limit: 20, windowSeconds: 12 }, graphql: { limit: 260, windowSeconds: 20 } },
  organizations: {
    free: { rest: { limit: 10, enforced: false }, graphql: { limit: 100, enforced: false } },
    // Its one user is refused by his own windows alone.
    globex: { rest: { limit: 2_000 }, graphql: { limit: 20_000 } },
  },
  users: { "globex/loner-0": { rest: { limit: 8 }, graphql: { limit: 150 } } },
};

const setting = {
  name: "crowd",
  duration: "2m",
  network: { latency: { least: 2, most: 60 }, execution: { least: 5, most: 200 } },
} as const;

const populations = {
  workers: {
    clients: 6,
    user: 3,
    startWithin: "3s",
    behaviour: worker({
      calls: [{ call, weight: 3 }, { call: pipelinesQuery(20) }, { call: status() }],
      think: { least: "100ms", most: "1500ms" },
    }),
    onRefused: waitReset({ of: "both" }),
  },
  bursts: {
    clients: 2,
    behaviour: burst({ call, size: 8, every: "5s" }),
    onRefused: exponential({ first: "300ms", most: "3s", jitter: "full" }),
  },
  noisy: {
    clients: 1,
    behaviour: worker({ calls: [{ call }], think: { least: "100ms", most: "300ms" } }),
    onRefused: none(),
  },
  loner: {
    clients: 1,
    organization: "globex",
    behaviour: worker({
      calls: [{ call, weight: 2 }, { call: pipelinesQuery(40) }, { call: status() }],
      think: { least: "50ms", most: "350ms" },
    }),
    onRefused: none(),
  },
  graphs: {
    clients: 2,
    behaviour: burst({ call: pipelinesQuery(40), size: 3, every: "6s" }),
    onRefused: none(),
  },
  dear: { clients: 1, behaviour: poller({ call: pipelinesQuery(490), every: "9s" }), onRefused: none() },
  watchers: { clients: 2, behaviour: poller({ call: status(), every: "700ms" }) },
  guests: {
    clients: 2,
    organization: "free",
    behaviour: worker({
      calls: [{ call, weight: 4 }, { call: pipelinesQuery(10) }, { call: status() }],
      think: { least: "100ms", most: "600ms" },
    }),
    onRefused: none(),
  },
} as const;

export const crowd = defineScenario({ ...setting, populations });

/** The crowd beside an organization whose windows end long before they are called again, while somebody polls. */
const beside = defineScenario({
  ...setting,
  populations: {
    ...populations,
    rare: {
      clients: 1,
      organization: "quiet",
      behaviour: worker({ calls: [{ call }], think: { least: "5s", most: "16s" } }),
    },
    "rare-watcher": {
      clients: 1,
      organization: "quiet",
      behaviour: poller({ call: status(), every: "1900ms" }),
    },
  },
});

/** A world in which a fault shows: under switches with which it is one, and where windows stay idle if it is of their opening. */
export function suited({ scenario, rules }: World, chosen: ChosenFault | null): World {
  if (chosen === null) return { scenario, rules };
  const switches = Object.entries(semanticsFor(chosen.fault)).map(
    ([name, value]) => [name, { rest: value, graphql: value }] as const,
  );
  if (switches.length === 0) return { scenario, rules };
  const { network } = scenario;
  return {
    scenario: { ...beside, network },
    rules: { ...rules, semantics: { ...rules.semantics, ...Object.fromEntries(switches) } },
  };
}

/** A scenario and the rules that it is played under. */
export interface World {
  readonly scenario: typeof crowd;
  readonly rules: Rules;
}

/** The same clients under rules, and in a network, drawn by the seed: for what was tuned on the crowd itself. */
export function variedCrowd(seed: number): World {
  const random = seededRandom(seed);
  const of = <T>(values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const rules = parseRules({
    organization: {
      rest: { limit: of([50, 70, 150]), windowSeconds: of([8, 10, 15, 30, 60]) },
      graphql: { limit: of([300, 450, 480]), windowSeconds: of([15, 20, 40, 60]) },
    },
    user: {
      rest: { limit: of([12, 20, 30]), windowSeconds: of([8, 10, 15, 30]) },
      graphql: { limit: of([200, 260]), windowSeconds: of([15, 20, 40]) },
    },
    organizations: crowdRules.organizations ?? {},
    users: crowdRules.users ?? {},
    semantics: {
      graphqlCharge: of(["reserved", "prepaid"]),
      anchor: { graphql: of(["epoch", "first-request"]) },
      retryAfter: of([true, false]),
    },
  });
  const latencyMs = of([
    { least: 1, most: 5 },
    { least: 2, most: 60 },
    { least: 20, most: 300 },
  ]);
  return { rules, scenario: { ...crowd, network: { ...crowd.network, latencyMs } } };
}
