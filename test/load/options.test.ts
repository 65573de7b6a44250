// A scenario as k6's options: who runs when, and how long k6 waits before it cuts anybody off.
import { describe, expect, test } from "vitest";
import { k6Options } from "../../src/load/k6/options.ts";
import type { Settings } from "../../src/load/k6/settings.ts";
import { defineScenario, poller, rest } from "../../src/scenario/index.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";

const behaviour = poller({ every: "1s", call: rest("/v2/user") });

function optionsOf(population: Omit<PopulationInput, "behaviour">, settings: Partial<Settings> = {}) {
  const scenario = defineScenario({
    name: "x",
    duration: "2m",
    populations: { agents: { ...population, behaviour } },
  });
  return k6Options({
    scenario,
    base: "http://127.0.0.1:1",
    graphqlUrl: "http://127.0.0.1:1/v1/graphql",
    timeoutMs: 30_000,
    keepAlive: false,
    shared: false,
    trace: true,
    measured: null,
    callers: [],
    ...settings,
  });
}

describe("a population is a k6 scenario", () => {
  test("closed: each client one iteration, with time for its last call to time out", () => {
    expect(optionsOf({ clients: 30 }).scenarios).toEqual({
      agents: {
        executor: "per-vu-iterations",
        exec: "client",
        vus: 30,
        iterations: 1,
        maxDuration: "155000ms",
        gracefulStop: "0s",
      },
    });
  });

  test("arrivals at a constant rate, for the whole scenario", () => {
    const arrivals = {
      executor: "constant-arrival-rate",
      rate: 5,
      timeUnit: "2s",
      preAllocatedVUs: 10,
      maxVUs: 40,
    } as const;
    expect(optionsOf({ arrivals }, { timeoutMs: 1_000 }).scenarios).toEqual({
      agents: {
        executor: "constant-arrival-rate",
        exec: "client",
        rate: 5,
        timeUnit: "2000ms",
        duration: "120000ms",
        preAllocatedVUs: 10,
        maxVUs: 40,
        gracefulStop: "6000ms",
      },
    });
  });

  test("arrivals on a ramp", () => {
    const stages = [
      { target: 10, duration: "1m" },
      { target: 0, duration: "30s" },
    ];
    const arrivals = { executor: "ramping-arrival-rate", startRate: 1, stages, preAllocatedVUs: 10 } as const;
    expect(optionsOf({ arrivals }).scenarios).toEqual({
      agents: {
        executor: "ramping-arrival-rate",
        exec: "client",
        startRate: 1,
        timeUnit: "1000ms",
        stages: [
          { target: 10, duration: "60000ms" },
          { target: 0, duration: "30000ms" },
        ],
        preAllocatedVUs: 10,
        maxVUs: 10,
        gracefulStop: "35000ms",
      },
    });
  });
});

test("each call has a connection of its own, and no redirect is followed", () => {
  expect(optionsOf({ clients: 1 })).toMatchObject({ noConnectionReuse: true, maxRedirects: 0 });
  expect(optionsOf({ clients: 1 }, { keepAlive: true })).toMatchObject({ noConnectionReuse: false });
});
