// Places of a scenario that may be varied: which there are, in which unit, and between which bounds.
import { defineScenario, rest, worker } from "spillway/scenario";
import { expect, test } from "vitest";
import { changeScenario, findPlace, limitsPath, placesOf } from "../../src/plan/paths.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { switchValues } from "../../src/rules/switches.ts";

const scenario = defineScenario({
  name: "places",
  duration: "2m",
  network: { latency: { least: "5ms", most: "9ms" }, loss: 0.01 },
  service: { servers: 2, time: "3ms", queue: 5 },
  outages: [{ at: "1m", for: "5s", answer: 503, share: 0.5 }],
  clocks: { apart: "1s" },
  fitError: { calls: 0.1, refused: 0 },
  populations: {
    visitors: {
      arrivals: { executor: "constant-arrival-rate", rate: 5, timeUnit: "1m", preAllocatedVUs: 5 },
      behaviour: worker({ calls: [{ call: rest("/v2/user") }], jobs: 1 }),
    },
    agents: {
      clients: 3,
      startWithin: "2s",
      behaviour: worker({ calls: [{ call: rest("/v2/organizations/:org/pipelines") }] }),
    },
  },
});

/** `path unit`, with `+` where both ends of a span are meant and the choices there are. */
const words = placesOf(scenario).map(
  ({ path, unit, span, choices }) =>
    `${path} ${unit}${span ? " +" : ""}${choices === null ? "" : ` ${choices.join("|")}`}`,
);

test("are those of the populations, of the run, and of the default rules where there are none", () => {
  const limits = ["organization.rest", "organization.graphql", "user.rest", "user.graphql"].flatMap(
    (whose) => [
      ...[`rules.${whose}.limit count`, `rules.${whose}.windowSeconds count`],
      ...(whose.startsWith("user") ? [] : [`rules.${whose}.enforced choice true|false`]),
    ],
  );
  const switched = Object.entries(switchValues).flatMap(([name, values]) =>
    ["rest", "graphql"].map((scope) => `rules.semantics.${name}.${scope} choice ${values.join("|")}`),
  );
  const spans = ["latency", "execution", "lateness"].flatMap((name) => [
    ...[`network.${name} ms +`, `network.${name}.least ms`, `network.${name}.most ms`],
  ]);
  expect(words).toEqual([
    ...["visitors.user count", "visitors.arrivals.timeUnit ms", "visitors.arrivals.rate count"],
    "visitors.onRefused choice",
    ...["agents.user count", "agents.clients count", "agents.startWithin ms", "agents.onRefused choice"],
    ...["fleet count", "duration ms", ...limits, ...switched, ...spans],
    ...["network.loss share", "network.timeout ms", "service.servers count"],
    ...["service.time ms +", "service.time.least ms", "service.time.most ms", "service.queue count"],
    ...["outages.0.at ms", "outages.0.for ms", "outages.0.share share", "clocks.apart ms"],
  ]);
});

test("names of quotas and callers are no times, whatever they end in", () => {
  const algorithm = { kind: "token-bucket", capacity: 50, refill: { amount: 1, everyMs: 1_000 } };
  const policy = parsePolicy({
    ...{ version: 2, name: "names" },
    quotas: { callsMs: { algorithm, key: ["user"] } },
    operations: { call: { uses: { callsMs: 1 } } },
  });
  const told = (given: typeof scenario) =>
    placesOf(given)
      .filter(({ path, unit }) => path.includes("Ms") && unit !== "choice")
      .map(({ path, unit, span }) => `${path} ${unit}${span ? " +" : ""}`);
  const at = "policy.quotas.callsMs.algorithm";
  expect(told({ ...scenario, policy })).toEqual([
    ...[`${at}.capacity count`, `${at}.refill.amount count`, `${at}.refill.every ms`],
  ]);
  const limit = { rest: { limit: 5 } };
  const rules = parseRules({ organizations: { acmeMs: limit }, users: { "acme/annMs": limit } });
  expect(told({ ...scenario, rules })).toEqual([
    "rules.organizations.acmeMs.rest.limit count",
    "rules.users.acme/annMs.rest.limit count",
  ]);
});

test("every limit times a factor changes no quota whose name is that of a limit", () => {
  const algorithm = { kind: "fixed-window", limit: 50, windowSeconds: 60 };
  const policy = parsePolicy({
    ...{ version: 2, name: "names" },
    quotas: { limit: { algorithm, key: ["user"] } },
    operations: { call: { uses: { limit: 1 } } },
  });
  const changed = changeScenario({ ...scenario, policy }, [{ path: limitsPath, value: 1.1 }]);
  expect(changed.policy?.quotas["limit"]).toMatchObject({ algorithm: { limit: 55 } });
});

/** Returns what is allowed in place of a value that is none; `null` where it is one. */
function allowed(path: string, value: string | number): string | null {
  try {
    changeScenario(scenario, [{ path, value }]);
    return null;
  } catch (error) {
    if (error instanceof SpillwayError) return error.problems[0]?.allowed ?? "";
    throw error;
  }
}

test.each<[string, string | number, string | number, string]>([
  ["agents.clients", 1, 0, "a whole number from 1 to 1000000"],
  ["agents.clients", 1_000_000, 1_000_001, "a whole number from 1 to 1000000"],
  ["fleet", 1, 0, "a whole number from 1 to 1000000"],
  ["agents.user", 1, 0, "a whole number from 1 to 1000000"],
  ["agents.startWithin", 0, -1, "a whole number of ms from 0 to 31622400000"],
  ["duration", 1, 0, "a whole number of ms from 1 to 31622400000"],
  ["network.latency", 1, 0, "a whole number of ms from 1 to 86400000"],
  ["network.latency.least", 9, 10, "a whole number of ms from 1 to 9"],
  ["network.latency.most", 5, 4, "a whole number of ms from 5 to 86400000"],
  ["network.execution", 0, -1, "a whole number of ms from 0 to 86400000"],
  ["network.timeout", 1, 0, "a whole number of ms from 1 to 31622400000"],
  ["service.servers", 10_000, 0, "a whole number from 1 to 10000"],
  ["service.queue", 0, 10_000_001, "a whole number from 0 to 10000000"],
  ["service.time", 0, 86_400_001, "a whole number of ms from 0 to 86400000"],
  ["outages.0.share", 1, 1.01, "a share from 0% to 100%"],
  ["clocks.apart", 0, 60_001, "a whole number of ms from 0 to 60000"],
  ["visitors.arrivals.rate", 1, 0, "a whole number from 1 to 1000000"],
  ["visitors.arrivals.timeUnit", 86_400_000, 86_400_001, "a whole number of ms from 1 to 86400000"],
  ["network.loss", 0.99, 0.991, "a share from 0% to 99%"],
  ["network.loss", 0, -0.01, "a share from 0% to 99%"],
  ["rules.organization.rest.limit", 1, 0, "a whole number from 1 to 9007199254740991"],
  ["rules.semantics.anchor.rest", "first-request", "often", "one of epoch, first-request"],
  ["rules.organization.rest.enforced", "false", "maybe", "one of true, false"],
])("%s may be %j, and not %j", (path, value, other, words) => {
  expect([allowed(path, value), allowed(path, other)]).toEqual([null, words]);
});

test("a path that is none is told which was meant, or eight that there are, limits among them", () => {
  expect(findPlace(scenario, "populations.agents.clients")).toMatchObject({ path: "agents.clients" });
  expect(findPlace(scenario, "durationMs")).toMatchObject({ path: "duration", unit: "ms" });
  expect(findPlace(scenario, "agents.client")).toMatchObject({
    allowed: '"agents.clients", if that was meant',
  });
  expect(findPlace(scenario, "agents.zzzzzzzzzz")).toEqual({
    ...{ path: "agents.zzzzzzzzzz", got: "no such path in this scenario" },
    allowed: "a path such as agents.user, agents.clients, agents.startWithin, agents.onRefused",
  });
  const others = words.map((word) => word.split(" ")[0]).slice(0, 5);
  const limits = ["organization.rest", "organization.graphql", "user.rest"].map((of) => `rules.${of}.limit`);
  expect(findPlace(scenario, "zzzzzzzzzzzz")).toMatchObject({
    allowed: `a path such as ${[...others, ...limits].join(", ")}`,
  });
  const { policy } = presets["nginx"] ?? {};
  expect(findPlace({ ...scenario, policy: parsePolicy(policy) }, "requests.limit")).toMatchObject({
    allowed: expect.stringMatching(/, policy\.quotas\.requests\.algorithm\.capacity$/),
  });
});
