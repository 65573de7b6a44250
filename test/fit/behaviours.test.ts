// Behaviours are found again: each is simulated, recorded and fitted.
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedPopulation } from "../../sim/fit/model.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { burst, pager, pipelinesQuery, poller, rest, status, worker } from "../../src/scenario/index.ts";
import { logged, traced, tracedNameless, world } from "./recordings.ts";

const pipelines = rest("/v2/organizations/:org/pipelines");
const seeds = [1, 2];

function only(recording: Recording): FittedPopulation {
  const { populations } = fitScenario(recording);
  expect(populations).toHaveLength(1);
  return populations[0] as FittedPopulation;
}

describe.each(seeds)("seed %i", (seed) => {
  test.each(["1s", "4s", "7s", "1m30s"])("a poller's period of %s is found to the millisecond", (every) => {
    const scenario = world({
      polls: { clients: 6, startWithin: every, behaviour: poller({ every, call: pipelines }) },
    });
    const everyMs = { "1s": 1000, "4s": 4000, "7s": 7000, "1m30s": 90_000 }[every];
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })]) {
      const { behaviour, arrivals, user, mix } = only(recording);
      expect(behaviour).toEqual({ kind: "poller", everyMs });
      expect(arrivals).toMatchObject({ kind: "closed", clients: 6 });
      expect(user).toBe("each");
      expect(mix).toMatchObject([{ operation: "rest", cost: 1 }]);
    }
  });

  test("a worker's uniform pauses are found to a hundredth", () => {
    const think = { least: "2s", most: "5s" };
    const scenario = world({
      workers: { clients: 8, behaviour: worker({ calls: [{ call: pipelines }], think }) },
    });
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })]) {
      const { behaviour } = only(recording);
      expect(behaviour).toMatchObject({ kind: "worker", jobs: null, think: { kind: "uniform" } });
      if (behaviour.kind !== "worker" || behaviour.think.kind !== "uniform") continue;
      expect(Math.abs(behaviour.think.least - 2000)).toBeLessThanOrEqual(30);
      expect(Math.abs(behaviour.think.most - 5000)).toBeLessThanOrEqual(30);
    }
  });

  test("a worker's lognormal pauses are found by median and 95%, within a tenth", () => {
    const scenario = world({
      workers: {
        clients: 10,
        behaviour: worker({ calls: [{ call: pipelines }], think: { median: "1s", p95: "6s" } }),
      },
    });
    const { behaviour } = only(traced(scenario, seed));
    expect(behaviour).toMatchObject({ kind: "worker", think: { kind: "lognormal" } });
    if (behaviour.kind !== "worker" || behaviour.think.kind !== "lognormal") return;
    expect(Math.abs(behaviour.think.median - 1000)).toBeLessThan(100);
    expect(Math.abs(behaviour.think.p95 - 6000)).toBeLessThan(600);
  });

  test("a worker's calls are found with their points, and their weights within a tenth of all", () => {
    const calls = [
      { call: pipelines, weight: 4 },
      { call: pipelinesQuery(50), weight: 3 },
      { call: status(), weight: 1 },
    ];
    const scenario = world({ workers: { clients: 10, behaviour: worker({ calls, think: "3s" }) } });
    const { mix, behaviour, unexplained } = only(traced(scenario, seed));
    expect(behaviour).toMatchObject({ kind: "worker", think: { kind: "constant", ms: 3000 } });
    const total = mix.reduce((sum, { weight }) => sum + weight, 0);
    const share = (cost: number): number => (mix.find((call) => call.cost === cost)?.weight ?? 0) / total;
    expect(Math.abs(share(1) - 4 / 8)).toBeLessThan(0.1);
    expect(Math.abs(share(53) - 3 / 8)).toBeLessThan(0.1);
    expect(Math.abs(share(0) - 1 / 8)).toBeLessThan(0.1);
    expect(mix.find(({ cost }) => cost === 53)).toMatchObject({ operation: "graphql", actual: 13 });
    expect(unexplained).toBe(0);
  });

  test.each([2, 5, 20])("volleys of %i calls are found with their period", (size) => {
    const scenario = world({
      fan: { clients: 2, startWithin: "30s", behaviour: burst({ call: pipelines, size, every: "40s" }) },
    });
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })])
      expect(only(recording).behaviour).toEqual({ kind: "burst", size, everyMs: 40_000 });
  });

  test.each([1, 3])("a list read page by page, %i at a time, is found with its period", (parallel) => {
    const scenario = world({
      reads: {
        clients: 1,
        behaviour: pager({ call: pipelines, pages: 7, parallel, every: "20s" }),
      },
    });
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })])
      expect(only(recording).behaviour).toEqual({
        kind: "pager",
        pages: 7,
        last: null,
        parallel,
        everyMs: 20_000,
      });
  });

  test("callers that come once, by chance, are arrivals of so many an hour", () => {
    const scenario = world(
      {
        visitors: {
          arrivals: { executor: "poisson-arrival-rate", rate: 30, timeUnit: "1m", preAllocatedVUs: 10 },
          user: "each",
          behaviour: worker({ calls: [{ call: pipelines }], jobs: 1 }),
        },
      },
      { duration: "20m" },
    );
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })]) {
      const { arrivals, behaviour } = only(recording);
      expect(behaviour).toMatchObject({ kind: "worker", jobs: 1 });
      expect(arrivals).toMatchObject({ kind: "steady", even: false });
      // 600 arrivals, give or take 24 for one deviation.
      if (arrivals.kind === "steady") expect(Math.abs(arrivals.perHour - 1800)).toBeLessThan(220);
    }
  });

  test("arrivals that come evenly are told from those by chance", () => {
    const scenario = world({
      builds: {
        arrivals: { executor: "constant-arrival-rate", rate: 20, timeUnit: "1m", preAllocatedVUs: 10 },
        behaviour: worker({ calls: [{ call: pipelines }], jobs: 1 }),
      },
    });
    expect(only(traced(scenario, seed)).arrivals).toMatchObject({ kind: "steady", even: true });
  });

  test("a business day's hours are found, each within what chance leaves of it", () => {
    const rates = Array.from({ length: 24 }, (_, hour) => (hour >= 8 && hour < 18 ? 120 : 6));
    const scenario = world(
      {
        people: {
          arrivals: { executor: "business-day", rates, preAllocatedVUs: 10 },
          user: 5,
          behaviour: worker({ calls: [{ call: pipelines }], jobs: 1 }),
        },
      },
      { duration: "48h" },
    );
    // A trace tells that each call is a client of its own; a log tells five callers who come and go.
    const { arrivals } = only(traced(scenario, seed));
    expect(arrivals.kind).toBe("hours");
    const perHour = arrivals.kind === "hours" ? arrivals.perHour : [];
    for (const [hour, rate] of rates.entries())
      expect(Math.abs((perHour[hour] ?? 0) - rate)).toBeLessThan(5 * Math.sqrt(rate / 2) + 1);
    const { arrivals: closed, behaviour } = only(logged(scenario, { seed }));
    expect(closed).toMatchObject({ kind: "closed", clients: 5 });
    expect(behaviour).toMatchObject({ kind: "sessions", of: { kind: "worker" } });
    const factors = (behaviour.kind === "sessions" && behaviour.rhythm?.hours) || [];
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / 24;
    // Two days of `rate` returns an hour, and one more at the mean: five deviations.
    for (const [hour, rate] of rates.entries())
      expect(Math.abs((factors[hour] ?? 0) - rate / mean)).toBeLessThan(
        (5 * Math.sqrt(2 * rate) + 2) / (2 * mean),
      );
  });

  test("jobs of cron are found with the minutes that they begin with", () => {
    const scenario = world(
      {
        nightly: {
          arrivals: {
            executor: "cron",
            schedule: "*/5 * * * *",
            clients: 4,
            spread: "3s",
            preAllocatedVUs: 4,
          },
          user: 4,
          behaviour: burst({ call: pipelines, size: 3 }),
        },
      },
      { duration: "2h" },
    );
    const { arrivals, behaviour } = only(logged(scenario, { seed }));
    expect(behaviour).toMatchObject({
      kind: "timetable",
      of: { kind: "burst", size: 3, everyMs: null },
      at: "*/5 * * * *",
      calls: null,
    });
    expect(arrivals).toEqual({ kind: "closed", clients: 4, startWithinMs: 0 });
    if (behaviour.kind === "timetable") expect(Math.abs(behaviour.withinMs - 3000)).toBeLessThan(500);
  });
});

describe("who is alike", () => {
  const fleet = world({
    quick: { clients: 5, startWithin: "2s", behaviour: poller({ every: "2s", call: pipelines }) },
    slow: { clients: 5, startWithin: "10s", behaviour: poller({ every: "10s", call: pipelines }) },
    graphs: { clients: 5, startWithin: "10s", behaviour: poller({ every: "10s", call: pipelinesQuery(20) }) },
    workers: {
      clients: 5,
      behaviour: worker({ calls: [{ call: pipelines }], think: { least: "8s", most: "14s" } }),
    },
    screens: {
      clients: 3,
      user: "shared",
      startWithin: "5s",
      behaviour: poller({ every: "5s", call: status() }),
    },
  });

  test("is found without any name of a population", () => {
    const { populations, unexplained } = fitScenario(tracedNameless(fleet));
    const found = populations.map(({ name, callers, user }) => ({ name, callers, user }));
    expect(found.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: "poller-10s", callers: 5, user: "each" },
      { name: "poller-10s-2", callers: 5, user: "each" },
      { name: "poller-2s", callers: 5, user: "each" },
      { name: "status-poller-5s", callers: 3, user: "shared" },
      { name: "workers", callers: 5, user: "each" },
    ]);
    expect(unexplained).toBe(0);
  });

  test("is named as the trace names it", () => {
    const names = fitScenario(traced(fleet)).populations.map(({ name }) => name);
    expect(names.sort()).toEqual(["graphs", "quick", "screens", "slow", "workers"]);
  });

  test("is found in a log, where three clients of one user are one caller", () => {
    const { populations } = fitScenario(logged(fleet));
    expect(populations.find(({ name }) => name === "status-poller-5s")).toMatchObject({
      callers: 1,
      user: "shared",
      arrivals: { kind: "closed", clients: 3 },
    });
  });

  test("belongs to one organization", () => {
    const behaviour = poller({ every: "3s", call: pipelines });
    const { populations } = fitScenario(
      traced(
        world({
          a: { clients: 3, organization: "acme", behaviour },
          b: { clients: 3, organization: "globex", behaviour },
        }),
      ),
    );
    expect(populations.map(({ organization, callers }) => `${organization} ${callers}`).sort()).toEqual([
      "acme 3",
      "globex 3",
    ]);
  });

  test("a log of whole seconds still tells periods of many seconds", () => {
    const { populations } = fitScenario(logged(fleet, { resolutionMs: 1000 }));
    const periods = populations.flatMap(({ behaviour }) =>
      behaviour.kind === "poller" ? [behaviour.everyMs] : [],
    );
    expect(periods).toEqual([10_000, 10_000]);
  });
});
