// Drawn worlds: all of them can be run, and written down as files that run alike; together they have everything that
// a scenario may have, and each feature is missing in many of them.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { features } from "../../sim/swarm/features.ts";
import { drawWorld } from "../../sim/swarm/world.ts";
import {
  isRecipe,
  type Plain,
  type PlainObject,
  type Recipe,
  scenarioOf,
  sourceOf,
} from "../../sim/swarm/world-recipe.ts";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { property } from "../support/property.ts";

const many = Array.from({ length: 400 }, (_, index) => drawWorld(77, index));

property([fc.nat(), fc.nat({ max: 1_000_000 })], { numRuns: 60 })(
  "any seed and number make a scenario, and the same one again",
  (seed, index) => {
    const { recipe } = drawWorld(seed, index);
    expect(drawWorld(seed, index).recipe).toEqual(recipe);
    const scenario = scenarioOf(recipe);
    expect(scenario.name).toBe(`world-${seed}-${index}`);
    expect(scenario.populations.length).toBeGreaterThan(0);
  },
);

describe("400 worlds of seed 77", () => {
  test.each(features)("%s is in some and missing in others", (feature) => {
    const having = many.filter((world) => world.features.has(feature)).length;
    expect(having).toBeGreaterThan(100);
    expect(having).toBeLessThan(330);
  });

  const switches = Object.entries(switchValues).flatMap(([name, values]) =>
    values.map((value) => [name as SwitchName, value] as const),
  );
  test.each(switches)("some have %s = %s", (name, value) => {
    const rules = many.map(({ recipe }) => scenarioOf(recipe).rules);
    expect(rules.some((each) => each?.semantics[name].graphql === value)).toBe(true);
  });

  test("they call every function that a scenario's file may call, and all kinds of arrivals", () => {
    const made = new Set(many.flatMap(({ recipe }) => namesIn(recipe)));
    for (const name of ["worker", "poller", "burst", "pager", "queue", "paced", "aimd", "looker"])
      expect(made).toContain(name);
    for (const name of ["waitReset", "retryAfter", "fixed", "exponential", "rest", "graphql", "status"])
      expect(made).toContain(name);
    for (const name of ["herd", "bkBuildWatch", "bkJobList", "logFetcher", "terraformApply", "agentStackK8s"])
      expect(made).toContain(name);
    const executors = many.flatMap(({ recipe }) =>
      scenarioOf(recipe).populations.map(({ arrivals }) => arrivals?.executor ?? "closed"),
    );
    expect([...new Set(executors)].sort()).toEqual([
      "business-day",
      "closed",
      "constant-arrival-rate",
      "cron",
      "poisson-arrival-rate",
      "ramping-arrival-rate",
      "ramping-vus",
    ]);
  });

  test("clients have policies, but for one in four, and those that watch the quota themselves", () => {
    const drawn = many.flatMap(({ recipe }) => Object.values(recipe["populations"] as PlainObject));
    const having = (isWatching: boolean): boolean[] =>
      drawn.flatMap((population) => {
        const { behaviour, onRefused } = population as PlainObject;
        if (behaviour === undefined || ((behaviour as Recipe).make === "aimd") !== isWatching) return [];
        return [onRefused !== undefined];
      });
    const share = (some: readonly boolean[]): number => some.filter(Boolean).length / some.length;
    expect(having(true).length).toBeGreaterThan(20);
    expect(share(having(true))).toBe(0);
    // Three in four of those worlds that have a policy: all but one in sixteen.
    expect(having(false).length).toBeGreaterThan(400);
    expect(Math.abs(share(having(false)) - (3 / 4) * (15 / 16))).toBeLessThan(0.05);
  });

  test("what is not to be drawn is not", () => {
    const constraints = {
      switches: { reset: ["floor"] as const, retryAfter: [false] as const },
      without: ["graphql"] as const,
    };
    for (let index = 0; index < 60; index++) {
      const world = drawWorld(3, index, constraints);
      expect(world.features.has("graphql")).toBe(false);
      expect(scenarioOf(world.recipe).rules?.semantics).toMatchObject({
        reset: { rest: "floor", graphql: "floor" },
        retryAfter: { rest: false, graphql: false },
      });
    }
  });
});

function namesIn(value: Plain): string[] {
  if (typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (isRecipe(value)) return [value.make, ...value.with.flatMap(namesIn)];
  return Object.values(value).flatMap(namesIn);
}

describe("a world as a file", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-worlds-")));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([1, 4, 9, 16, 25, 36])("number %i runs as it was drawn, byte for byte", async (index) => {
    const { recipe } = drawWorld(77, index);
    const file = join(folder, `${index}.ts`);
    await writeFile(file, sourceOf(recipe, "A world."));
    const { scenario } = await loadScenarioFile(file);
    const lines = (of: typeof scenario): string[] => [...simulate(of).calls].map(encodeCall);
    expect(lines(scenario)).toEqual(lines(scenarioOf(recipe)));
  });

  test("reads as one would write it", () => {
    const source = sourceOf(
      {
        name: "tiny",
        seed: 3,
        duration: 2_000,
        populations: {
          one: { clients: 1, preset: { make: "herd", with: [] } },
          two: {
            clients: 2,
            behaviour: { make: "poller", with: [{ every: 100, call: { make: "rest", with: ["/v2/user"] } }] },
          },
        },
      },
      "A tiny world.",
    );
    expect(source).toBe(`// A tiny world.
import { defineScenario, herd, poller, rest } from "spillway/scenario";

export default defineScenario({
  name: "tiny",
  seed: 3,
  duration: 2000,
  populations: {
    one: { clients: 1, ...herd() },
    two: { clients: 2, behaviour: poller({ every: 100, call: rest("/v2/user") }) },
  },
});
`);
  });
});
