// A scenario as k6's options: who runs when, and how long k6 waits before it cuts anybody off.
import { describe, expect, test } from "vitest";
import { k6Options } from "../../src/load/k6/options.ts";
import type { Settings } from "../../src/load/k6/settings.ts";
import { defineScenario, poller, rest } from "../../src/scenario/index.ts";
import { type PopulationInput, staysOf } from "../../src/scenario/scenario.ts";

const behaviour = poller({ every: "1s", call: rest("/v2/user") });

function optionsOf(population: Omit<PopulationInput, "behaviour">, settings: Partial<Settings> = {}) {
  const scenario = defineScenario({
    name: "x",
    duration: "2m",
    populations: { agents: { ...population, behaviour } },
  });
  return k6Options({
    scenario,
    book: null,
    base: "http://127.0.0.1:1",
    graphqlUrl: "http://127.0.0.1:1/v1/graphql",
    timeoutMs: 30_000,
    keepAlive: false,
    certificate: null,
    shared: false,
    trace: true,
    measured: null,
    callers: [],
    stays: scenario.populations.map((_, place) => [...staysOf(scenario, place)]),
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

describe("what k6 has no word for: each iteration sleeps until its client is due", () => {
  const toTheEnd = { exec: "client", maxDuration: "155000ms", gracefulStop: "0s" };
  const shared = (vus: number, iterations: number) => ({
    agents: { ...toTheEnd, executor: "shared-iterations", vus, iterations },
  });

  test("cron: one iteration for each client of each tick", () => {
    const arrivals = { executor: "cron", schedule: "* * * * *", clients: 7, preAllocatedVUs: 5 } as const;
    expect(optionsOf({ arrivals }).scenarios).toEqual(shared(5, 14));
  });

  test("never more VUs than iterations, and one of each at least: k6 knows no scenario of none", () => {
    const arrivals = { executor: "cron", schedule: "30 12 * * *", clients: 7, preAllocatedVUs: 5 } as const;
    expect(optionsOf({ arrivals }).scenarios).toEqual(shared(1, 1));
  });

  test("at random, by rate or by the hour", () => {
    const arrivals = { executor: "poisson-arrival-rate", rate: 1, preAllocatedVUs: 9 } as const;
    const { agents } = optionsOf({ arrivals }).scenarios as Record<
      string,
      { iterations: number; vus: number }
    >;
    expect(agents).toMatchObject({ executor: "shared-iterations", vus: 9 });
    expect(agents?.iterations).toBeGreaterThan(90);
    expect(agents?.iterations).toBeLessThan(150);
  });

  test("a fleet: as many VUs as clients may be there at once, late answers included", () => {
    const stages = [
      { target: 10, duration: "30s" },
      { target: 4, duration: 0 },
      { target: 8, duration: "60s" },
    ];
    const arrivals = { executor: "ramping-vus", startVUs: 0, stages } as const;
    // Nine come, at 3 s to 27 s (a tenth goes as it comes), five go at 30 s, three come at 45 s, 60 s and 75 s: the
    // first of them may meet those five.
    expect(optionsOf({ arrivals }, { timeoutMs: 30_000 }).scenarios).toEqual(shared(10, 12));
    expect(optionsOf({ arrivals }, { timeoutMs: 1 }).scenarios).toMatchObject({
      agents: { vus: 9, iterations: 12, maxDuration: "125001ms" },
    });
  });
});

test("each call has a connection of its own, and no redirect is followed", () => {
  expect(optionsOf({ clients: 1 })).toMatchObject({ noConnectionReuse: true, maxRedirects: 0 });
  expect(optionsOf({ clients: 1 }, { keepAlive: true })).toMatchObject({ noConnectionReuse: false });
});
