// Several behaviours of one token are taken apart: what keeps to a timetable, what polls, and loops that overlap.
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedPart } from "../../sim/fit/model.ts";
import type { FittedSpread } from "../../sim/fit/spread.ts";
import type { Behaviour } from "../../src/scenario/client.ts";
import { pipelinesQuery, poller, rest, sessions, together, worker } from "../../src/scenario/index.ts";
import { logged, loggedCalls, world } from "./recordings.ts";

const call = rest("/v2/organizations/:org/pipelines");
const query = pipelinesQuery(20);
const isRest = { operation: "rest", free: false, cost: 1, actual: 1 };
const isQuery = { operation: "graphql", free: false, cost: 23, actual: 13 };

/** Returns the behaviours that one token's calls are taken apart into. */
function partsOf(behaviours: readonly Behaviour[], duration: string, seed = 3): readonly FittedPart[] {
  const scenario = world({ one: { clients: 1, behaviour: together(behaviours) } }, { duration });
  const { populations } = fitScenario(logged(scenario, { seed }));
  expect(populations).toHaveLength(1);
  const behaviour = populations[0]?.behaviour;
  return behaviour?.kind === "together" ? behaviour.parts : [];
}

describe("jobs by the clock beside a loop", () => {
  const uniform = (least: number, most: number): FittedSpread => ({ kind: "uniform", least, most });
  const lognormal = (median: number, p95: number): FittedSpread => ({ kind: "lognormal", median, p95 });
  const minutes = 60_000;

  // Of each period that a timetable may have. Where a call of the loop comes in the same minute it is taken for one by
  // the clock, too, and the loop's pauses around it are one.
  test.each<[string, string, string, string, FittedSpread]>([
    ["2h", "*/5 * * * *", "2m", "5m", lognormal(206_370, 342_151)],
    ["3h", "3/10 * * * *", "2m", "6m", uniform(2 * minutes, 6 * minutes)],
    ["4h", "*/15 * * * *", "3m", "9m", lognormal(332_395, 589_509)],
    ["5h", "7/20 * * * *", "3m", "9m", lognormal(348_503, 582_326)],
    ["7h", "*/30 * * * *", "4m", "12m", uniform(4 * minutes, 12 * minutes)],
    ["9h", "40 * * * *", "4m", "16m", uniform(3 * minutes, 16 * minutes)],
    ["192h", "20 3 * * *", "2h", "9h", uniform(120 * minutes, 540 * minutes)],
  ])("over %s, %s", (duration, at, least, most, think) => {
    const job = worker({ calls: [{ call: query }], think: "2s" });
    const clock = sessions({ of: job, calls: 3, at, within: "6s" });
    const [jobs, loop, ...others] = partsOf(
      [clock, worker({ calls: [{ call }], think: { least, most } })],
      duration,
    );
    expect(jobs).toMatchObject({
      behaviour: {
        kind: "timetable",
        of: { kind: "worker", jobs: null },
        at,
        withinMs: expect.toBeOneOf([5000, 6000]),
      },
    });
    expect(jobs?.mix[0]).toMatchObject(isQuery);
    expect(loop).toEqual({
      behaviour: { kind: "worker", think, atOnce: null, jobs: null },
      mix: [{ ...isRest, weight: 1 }],
    });
    expect(others).toEqual([]);
  });

  test("are as long as they were, and their calls as far apart", () => {
    const job = worker({ calls: [{ call: query }], think: "2s" });
    const clock = sessions({ of: job, calls: 3, at: "40 * * * *", within: "6s" });
    const [jobs] = partsOf([clock, worker({ calls: [{ call }], think: { least: "4m", most: "16m" } })], "9h");
    expect(jobs).toEqual({
      behaviour: {
        kind: "timetable",
        of: { kind: "worker", think: { kind: "constant", ms: 2000 }, atOnce: null, jobs: null },
        at: "40 * * * *",
        withinMs: 6000,
        calls: { kind: "constant", ms: 3 },
        length: null,
      },
      mix: [{ ...isQuery, weight: 1 }],
    });
  });

  test("are none where fewer than four periods were seen, or most of them had none", () => {
    const job = worker({ calls: [{ call: query }], think: "2s" });
    const loop = worker({ calls: [{ call }], think: { least: "4m", most: "16m" } });
    const kinds = (at: string, duration: string): string[] =>
      partsOf([sessions({ of: job, calls: 3, at, within: "6s" }), loop], duration).map(
        ({ behaviour }) => behaviour.kind,
      );
    expect(kinds("40 * * * *", "4h20m")).toContain("timetable");
    expect(kinds("40 * * * *", "3h50m")).not.toContain("timetable");
    expect(kinds("40 0-5 * * *", "9h")).not.toContain("timetable");
    expect(kinds("40 0-7 * * *", "9h")).toContain("timetable");
  });
});

test("loops that overlap are as many as there were", () => {
  const loop = worker({ calls: [{ call: query }], think: { least: "1s", most: "3s" } });
  for (const count of [2, 3]) {
    const parts = partsOf(new Array<Behaviour>(count).fill(loop), "20m");
    expect(parts.filter(({ behaviour }) => behaviour.kind === "worker").length).toBeGreaterThanOrEqual(2);
    expect(parts.length).toBeLessThanOrEqual(count);
  }
  expect(partsOf([loop], "20m")).toEqual([]);
  // A clock of its own is nothing to take apart.
  expect(partsOf([poller({ every: "40s", call })], "20m")).toEqual([]);
});

test("calls that follow late retries at once make no second loop, though rounded times overlap", () => {
  const calls: [number, number, number][] = [];
  let atMs = Date.UTC(2026, 0, 5);
  for (let poll = 0; poll < 4_000; poll++) {
    const begunMs = atMs;
    if (poll % 100 === 0)
      for (const waitMs of [1_000, 2_000, 4_000, 8_000]) {
        calls.push([atMs, 50, 429]);
        atMs += 50 + waitMs;
      }
    calls.push([atMs, 50, 200]);
    atMs = Math.max(atMs + 49, begunMs + 9_500 + ((poll * 7_919) % 1_000));
  }
  expect(fitScenario(loggedCalls(calls)).populations).toMatchObject([
    { behaviour: { kind: "worker" }, onRefused: { kind: "exponential", first: 1_000, factor: 2 } },
  ]);
});
