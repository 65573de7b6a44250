// The times at which clients of an open population come and go in a run.
import { expect, test } from "vitest";
import { plannedStays, stayInRun } from "../../src/load/stays.ts";
import { rest } from "../../src/scenario/calls.ts";
import { defineScenario, poller } from "../../src/scenario/index.ts";
import type { ScenarioInput } from "../../src/scenario/scenario.ts";

const behaviour = poller({ every: "1s", call: rest("/v2/user") });
const startMs = Date.UTC(2026, 0, 1, 8, 59, 30);
const scenarioOf = (population: object) =>
  defineScenario({
    name: "some",
    duration: "2m",
    startAt: "2026-01-01T08:59:30Z",
    populations: { some: { ...population, behaviour } },
  } as ScenarioInput);
const ramp = scenarioOf({
  arrivals: {
    executor: "ramping-vus",
    startVUs: 1,
    stages: [
      { target: 3, duration: "100s" },
      { target: 0, duration: "0s" },
    ],
  },
});
const hourly = scenarioOf({
  arrivals: { executor: "cron", schedule: "0,1 * * * *", clients: 1, preAllocatedVUs: 1 },
});

test("are planned since the start, or by the clock", () => {
  expect([...plannedStays(ramp, 0)]).toEqual([
    { startMs: 0, endMs: 100_000 },
    { startMs: 50_000, endMs: 100_000 },
  ]);
  expect([...plannedStays(hourly, 0)]).toEqual([
    { startMs: startMs + 30_000, endMs: startMs + 180_000 },
    { startMs: startMs + 90_000, endMs: startMs + 180_000 },
  ]);
});

test.each<[string, "ramp" | "hourly", readonly [number, number], readonly [number, number] | null]>([
  ["since the start", "ramp", [5, 60], [105, 160]],
  ["to the run's end at most", "ramp", [5, 5000], [105, 1100]],
  ["at the start", "ramp", [0, 60], [100, 160]],
  ["at the end", "ramp", [1000, 1060], null],
  ["a ms before it", "ramp", [999, 1060], [1099, 1100]],
  ["by the clock", "hourly", [105, 160], [105, 160]],
  ["when the run begins", "hourly", [100, 160], [100, 160]],
  ["before it", "hourly", [99, 160], null],
])("of a run from 100 to 1100: %s", (_, kind, [start, end], expected) => {
  const arrivals = (kind === "ramp" ? ramp : hourly).populations[0]?.arrivals;
  if (arrivals == null) throw new RangeError("an open population");
  const stay = stayInRun(arrivals, { startMs: start, endMs: end }, 100, 1100);
  expect(stay && [stay.startMs, stay.endMs]).toEqual(expected);
});
