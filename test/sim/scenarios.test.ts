// The scenarios that come with spillway do what they say, under the default rules and in windows of seconds,
// whatever the seed.
import { beforeAll, describe, expect, test } from "vitest";
import { measure } from "../../sim/measure.ts";
import { type SimulateOptions, simulate } from "../../sim/simulate.ts";
import { builtInScenarios, loadScenarioFile } from "../../src/load/scenario-file.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets as policies } from "../../src/policy/presets.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { callQuery } from "../../src/scenario/calls.ts";
import { adviseScenario, type Scenario } from "../../src/scenario/index.ts";
import { executeQuery, prepareQuery } from "../../src/service/query.ts";
import { judgeExpectations } from "../../src/summary/expectations.ts";
import { summarize } from "../../src/summary/summarizer.ts";

const seeds = [1, 2, 3, 4, 5];
const shortWindows: SimulateOptions = {
  durationMs: 20_000,
  rules: parseRules({
    organization: { rest: { limit: 60, windowSeconds: 4 }, graphql: { limit: 2_000, windowSeconds: 6 } },
    user: { rest: { limit: 15, windowSeconds: 4 }, graphql: { limit: 500, windowSeconds: 6 } },
  }),
};
const conditions: [string, SimulateOptions][] = [
  ["the default rules", {}],
  ["the documented rules", { rules: parseRules(presets.documented) }],
  ["windows of a few seconds", shortWindows],
];

const names = ["ci-fleet", "herd", "lone-client", "steady"];
const scenarios = new Map<string, Scenario>();
const scenario = (name: string): Scenario => {
  const found = scenarios.get(name);
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
};
beforeAll(async () => {
  for (const name of [...names, "github"]) scenarios.set(name, (await loadScenarioFile(name)).scenario);
});

test("these are all of them, each named as its file is", async () => {
  expect(await builtInScenarios()).toEqual([...names, "github"].toSorted());
  for (const name of [...names, "github"]) expect(scenario(name).name).toBe(name);
});

describe.each(names)("%s", (name) => {
  test.each(conditions)("meets its expectations under %s", (_, options) => {
    expect(scenario(name).expect.length).toBeGreaterThan(0);
    for (const seed of seeds) {
      const { header, calls } = simulate(scenario(name), { ...options, seed });
      const expect_ = Object.fromEntries(scenario(name).expect.map(({ figure, bound }) => [figure, bound]));
      const missed = judgeExpectations(expect_, summarize(header, calls)).filter(({ held }) => !held);
      expect(missed, `seed ${seed}`).toEqual([]);
    }
  });

  test("asks for nothing that can never be admitted", () => {
    expect(adviseScenario(scenario(name), parseRules({}))).toEqual([]);
  });
});

test("github meets its expectations under GitHub's limits, and each of three quotas refuses", () => {
  const policy = parsePolicy(policies["github"]?.policy);
  for (const seed of seeds) {
    const run = adjustScenario(scenario("github"), { policy, seed });
    expect(adviseScenario(run, parseRules({}))).toEqual([]);
    const measured = measure(run);
    const bounds = Object.fromEntries(run.expect.map(({ figure, bound }) => [figure, bound]));
    const missed = judgeExpectations(bounds, measured).filter(({ held }) => !held);
    expect(missed, `seed ${seed}`).toEqual([]);
    const refusing = Object.entries(measured.refusedBy ?? {}).filter(([, refused]) => refused > 0);
    expect(refusing.map(([quota]) => quota).sort()).toEqual(["core", "rest_points", "search"]);
  }
});

test.each(conditions)("steady: nothing is refused under %s", (_, options) => {
  for (const seed of seeds) {
    const calls = [...simulate(scenario("steady"), { ...options, seed }).calls];
    expect(calls.length).toBeGreaterThan(20);
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]));
  }
});

test("lone-client: the reference deployment counts its query as it does", () => {
  const builds = scenario("lone-client").populations[0]?.behaviour.calls.find(
    ({ name }) => name === "builds",
  );
  if (builds === undefined) throw new Error("it asks for no builds");
  const prepared = prepareQuery({ query: callQuery(builds, "acme") });
  if (!("document" in prepared)) throw new Error(prepared.errors.join("\n"));
  expect(prepared.requested).toBe(builds.cost);
  expect(executeQuery(prepared, "acme", "user-0").actual).toBe(builds.actual);
});

test("ci-fleet: the noisy user starves nobody", () => {
  for (const seed of seeds) {
    const { header, calls } = simulate(scenario("ci-fleet"), { seed });
    const { populations, figures } = summarize(header, calls);
    const of = (name: string) => populations.find((population) => population.name === name)?.figures;
    expect(of("noisy")?.refused).toBeGreaterThan(1_000);
    expect(figures.refusedByOrganization).toBe(0);
    expect([of("agents")?.refused, of("exporter")?.refused]).toEqual([0, 0]);
    expect(of("agents")?.fairness).toBeGreaterThan(0.95);
  }
});

test("herd: after each reset all thirty wake within a second or so, and until then all are silent", () => {
  const windowMs = 60_000;
  const calls = [...simulate(scenario("herd")).calls];
  const windows = [1, 2, 3, 4].map((window) =>
    calls.filter(({ sent }) => Math.floor((sent - scenario("herd").startAtMs) / windowMs) === window),
  );
  for (const sent of windows) {
    const waking = sent.filter(({ attempt }) => attempt === 1);
    expect(new Set(waking.map(({ client }) => client)).size).toBe(30);
    // Whole seconds round up by less than one second, and the trip of the refusal comes on top.
    for (const call of waking)
      expect((call.sent - scenario("herd").startAtMs) % windowMs).toBeLessThan(1_016);
    const last = Math.max(...sent.map((call) => call.sent));
    expect((last - scenario("herd").startAtMs) % windowMs).toBeLessThan(5_000);
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(200);
    expect(sent.filter(({ status }) => status === 429)).toHaveLength(30);
  }
});
