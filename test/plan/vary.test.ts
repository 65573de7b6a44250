// Members that may be varied, and their values: paths, ranges, choices, and what is said of those that are none.
import fc from "fast-check";
import { defineScenario, rest, worker } from "spillway/scenario";
import { describe, expect, test } from "vitest";
import { fleetOf } from "../../src/plan/fleet.ts";
import { changeScenario, limitsPath, placesOf } from "../../src/plan/paths.ts";
import { parsePolicy, policyMeaning } from "../../src/plan/policies.ts";
import { parseVary } from "../../src/plan/vary.ts";
import { codedError } from "../support/coded-error.ts";
import { crowd, herd, steady } from "./worlds.ts";

describe("ranges", () => {
  const values = (text: string) => parseVary(text, crowd()).candidates;

  test.each([
    ["crowd.clients=3..6", [3, 4, 5, 6]],
    ["crowd.clients=10..25:5", [10, 15, 20, 25]],
    ["crowd.clients=10..24:5", [10, 15, 20, 24]],
    ["crowd.clients=10..100x2", [10, 20, 40, 80, 100]],
    ["crowd.clients=40, 10,20,10", [10, 20, 40]],
    ["crowd.startWithin=0..200ms:100ms", [0, 100, 200]],
    ["duration=10s,1m", [10_000, 60_000]],
    ["network.loss=0%..2%:1%", [0, 0.01, 0.02]],
    ["network.latency=5ms,50ms", [5, 50]],
    ["rules.organization.rest.enforced=true,false", ["true", "false"]],
    ["crowd.onRefused=own,none,waitReset+0..5s", ["own", "none", "waitReset+0..5s"]],
  ])("%s", (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  test("rise, without doubles, from one end to the other, whatever the step", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 99 }),
        (from, span, step) => {
          const found = values(`crowd.clients=${from}..${from + span}:${step}`).map(Number);
          expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
          expect([found[0], found.at(-1)]).toEqual([from, from + span]);
        },
      ),
    );
  });

  test("durations without a step have steps that people would take, 200 at most", () => {
    const { candidates } = parseVary("crowd.startWithin=1s..2m", crowd());
    expect(candidates.slice(0, 3)).toEqual([1000, 2000, 3000]);
    expect(candidates).toHaveLength(120);
  });

  test("shares without a step have a hundred steps", () => {
    const found = values("network.loss=0%..1%");
    expect([found.length, found[1], found[50], found.at(-1)]).toEqual([101, 0.0001, 0.005, 0.01]);
  });

  test.each([
    ["crowd.clients", "no range"],
    ["crowd.clients=", "no range"],
    ["crowd.clients=many", '"many"'],
    ["crowd.clients=9..5", '"9..5"'],
    ["crowd.clients=1..5:0", '"1..5:0"'],
    ["crowd.clients=1.5..5", '"1.5..5"'],
    ["crowd.clients=1..1000000x1.0000000001", '"1..1000000x1.0000000001"'],
  ])("%s is no range", (text, got) => {
    const { code, problems } = codedError(() => values(text));
    expect(code).toBe("USAGE");
    expect(problems[0]).toMatchObject({ path: "crowd.clients", got });
    expect(problems[0]?.allowed).toContain("10..500");
  });

  test("ends and choices that the scenario cannot have are refused before anything runs", () => {
    expect(codedError(() => values("crowd.clients=0..5")).problems[0]?.allowed).toBe(
      "a whole number from 1 to 1000000",
    );
    expect(codedError(() => values("network.latency=0..5ms")).problems[0]?.allowed).toContain("from 1");
    expect(codedError(() => values("crowd.onRefused=none,waitRest")).problems[0]?.allowed).toBe(
      '"waitReset", if that was meant',
    );
    expect(codedError(() => values("rules.semantics.reset.rest=ceil,up")).problems[0]?.allowed).toBe(
      "one of ceil, floor, round",
    );
    expect(
      codedError(() => values("rules.organization.rest.limit=1..1000000000")).problems[0]?.allowed,
    ).toContain("give a step");
  });
});

describe("paths", () => {
  test.each([
    ["crowd.clinets=1..5", '"crowd.clients", if that was meant'],
    ["rules.organisation.rest.limit=1..5", '"rules.organization.rest.limit", if that was meant'],
    ["crowd.behaviour.think=1s..5s", "crowd.clients, crowd.startWithin"],
    ["nobody=1..2", "a path such as"],
  ])("%s does not exist: %s", (text, allowed) => {
    const { code, problems } = codedError(() => parseVary(text, crowd()));
    expect(code).toBe("USAGE");
    expect(problems[0]?.got).toBe("no such path in this scenario");
    expect(problems[0]?.allowed).toContain(allowed);
  });

  test("populations. before a population's name is allowed", () => {
    expect(parseVary("populations.crowd.clients=1..5", crowd()).axis.path).toBe("crowd.clients");
  });

  test("every place takes the value that it has, and the scenario is the same then", () => {
    let same = 0;
    for (const scenario of [crowd(), steady(), herd()])
      for (const { path, keys, span } of placesOf(scenario)) {
        const value = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | null)?.[key], {
          ...scenario,
          fleet: fleetOf(scenario),
          rules: changeScenario(scenario, [{ path: limitsPath, value: 1 }]).rules,
        });
        if (span || typeof value === "object" || value === "each" || value === "shared") continue;
        const changed = changeScenario(scenario, [{ path, value: value as number | string }]);
        expect(changed.populations).toEqual(scenario.populations);
        expect(changed.network).toEqual(scenario.network);
        same += 1;
      }
    expect(same).toBeGreaterThanOrEqual(10);
  });
});

describe("changes", () => {
  test("change what they name and nothing else; the scenario given stays as it is", () => {
    const before = Object.freeze(herd());
    const after = changeScenario(before, [
      { path: "herd.clients", value: 7 },
      { path: "rules.user.rest.limit", value: 9 },
      { path: "quiet.onRefused", value: "exponential" },
      { path: "network.latency", value: 40 },
    ]);
    expect(after.populations.map(({ clients }) => clients)).toEqual([7, 2]);
    expect(after.rules?.user.rest).toEqual({ limit: 9, windowSeconds: 60 });
    expect(after.rules?.organization.rest.limit).toBe(200);
    expect(after.populations[1]?.onRefused.name).toBe("exponential");
    expect(after.network.latencyMs).toEqual({ least: 40, most: 40 });
    expect(before.populations.map(({ clients }) => clients)).toEqual([30, 2]);
    expect([before.rules, before.network]).toEqual([herd().rules, herd().network]);
  });

  test("limits scales every limit, overrides too, and no window's length", () => {
    const scenario = defineScenario({
      name: "overrides",
      duration: "1m",
      rules: {
        organizations: { acme: { rest: { limit: 3 } } },
        users: { "acme/ada": { graphql: { limit: 11 } } },
      },
      populations: {
        all: { clients: 1, behaviour: worker({ calls: [{ call: rest("/v2/user") }], think: "1s" }) },
      },
    });
    const { rules } = changeScenario(scenario, [{ path: limitsPath, value: 1.5 }]);
    expect(rules).toMatchObject({
      organization: {
        rest: { limit: 300, windowSeconds: 60 },
        graphql: { limit: 30_000, windowSeconds: 300 },
      },
      user: { rest: { limit: 75 } },
      organizations: { acme: { rest: { limit: 5 } } },
      users: { "acme/ada": { graphql: { limit: 17 } } },
    });
  });
});

describe("policies in words", () => {
  const own = { name: "mine", retryAt: () => -1 };
  test.each([
    ["own", "mine"],
    ["none", "none"],
    ["waitReset", "wait-reset-both"],
    ["waitReset+0..5s", "wait-reset-both"],
    ["waitOrganizationReset+2s", "wait-reset-organization"],
    ["retryAfter+500ms", "retry-after"],
    ["exponential", "exponential"],
    ["immediate", "fixed"],
    ["fixed+2s", "fixed"],
  ])("%s is %s", (word, name) => {
    expect(parsePolicy("", word, own)).toMatchObject({ name });
  });

  const words =
    "one of own, none, waitReset, waitOrganizationReset, retryAfter, exponential, immediate, fixed";
  test.each([
    ["none+2s", "none alone"],
    ["exponential+1s", "exponential alone"],
    ["waitReset+5s..1s", "waitReset+0..5s or waitReset+2s"],
    ["waitReset+5", '"waitReset", if that was meant'],
    ["immediate+400d", "immediate+0..5s or immediate+2s"],
    ["waitReset+", '"waitReset", if that was meant'],
    ["waitRest", '"waitReset", if that was meant'],
    ["", words],
    ["+2s", words],
    ["constructor", words],
  ])("%s is none: %s", (word, allowed) => {
    const got = JSON.stringify(word);
    expect(parsePolicy("here", word, own)).toEqual({ path: "here", got, allowed });
  });

  test("are said as what clients do", () => {
    expect(policyMeaning("waitReset")).toBe("waiting for the reset alone");
    expect(policyMeaning("waitReset+0..5s")).toBe("waiting for the reset with 0-5 s jitter");
    expect(policyMeaning("fixed+2s")).toBe("waiting 2 s");
    expect(policyMeaning("retryAfter+1s..1m30s")).toBe(
      "waiting as Retry-After says with 1 s-1 m 30 s jitter",
    );
    expect(policyMeaning("mine")).toBe("mine");
  });
});
