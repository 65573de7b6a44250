// Calls at once, and pauses in an order, are told from a log that shows instants alone.
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedBehaviour, FittedLoop } from "../../sim/fit/model.ts";
import { atOnceOf } from "../../sim/fit/paces.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import { type Behaviour, rest, sessions, worker } from "../../src/scenario/index.ts";
import { logged, world } from "./recordings.ts";

const calls = [{ call: rest("/v2/organizations/:org/pipelines") }];
const network = { roundTrip: { least: 60, most: 90 } };

function fitted(behaviour: Behaviour) {
  const scenario = world({ agents: { clients: 6, behaviour } }, { duration: "12h", network });
  const recording = logged(scenario);
  const model = fitScenario(recording);
  const [population] = model.populations;
  expect(model.callers).toBe(6);
  let simulated = 0;
  simulateNumbers(fittedScenario(model), { seed: 2 }, () => (simulated += 1));
  return {
    behaviour: population?.behaviour,
    recorded: recording.calls,
    simulated,
    source: fittedSource(model),
  };
}

/** The behaviour of all six: they are one population. */
function workerIn(behaviour: FittedBehaviour | undefined): FittedLoop & { readonly kind: "worker" } {
  if (behaviour?.kind !== "sessions" || behaviour.of.kind !== "worker")
    throw new RangeError("it is a worker in sessions");
  return behaviour.of;
}

test("calls at once are volleys, and callers of volleys are alike", () => {
  const volleys = worker({ calls, think: { median: "10s", p95: "40s" }, atOnce: { least: 1, most: 6 } });
  const { behaviour, recorded, simulated, source } = fitted(
    sessions({ of: volleys, calls: { least: 60, most: 120 }, away: { median: "40m", p95: "2h" } }),
  );
  const { atOnce } = workerIn(behaviour);
  if (atOnce?.kind !== "quantiles") throw new RangeError("it makes now fewer calls at once, now more");
  expect([atOnce.quantiles[0], atOnce.quantiles.at(-1)]).toEqual([1, 6]);
  expect(source).toContain("atOnce: {");
  expect(Math.abs(simulated - recorded)).toBeLessThan(0.15 * recorded);
});

test("polls that grow further apart, and what follows them, keep their order", () => {
  const think = {
    paces: [
      { think: "2s", next: [0, 1, 0, 0, 0] },
      { think: "5s", next: [0, 0, 1, 0, 0] },
      { think: { least: "19s", most: "21s" }, next: [0, 0, 7, 1, 0] },
      { think: { least: 100, most: 300 }, next: [0, 0, 0, 5, 1] },
    ],
    first: [1, 0, 0, 0],
  };
  const { behaviour, recorded, simulated, source } = fitted(
    sessions({ of: worker({ calls, think }), away: { median: "20m", p95: "1h" } }),
  );
  const fit = workerIn(behaviour).think;
  if (fit.kind !== "paces") throw new RangeError("its pauses have paces");
  const most = (counts: readonly number[]): number => counts.indexOf(Math.max(...counts));
  const order = [most(fit.first)];
  for (let step = 0; step < 2; step++) order.push(most(fit.paces[order.at(-1) as number]?.next ?? []));
  const spreads = order.map((place) => fit.paces[place]?.think);
  expect(spreads).toMatchObject([{ ms: 2_000 }, { ms: 5_000 }, { least: 19_000, most: 21_000 }]);
  expect(source).toContain("paces: [");
  expect(Math.abs(simulated - recorded)).toBeLessThan(0.15 * recorded);
});

test("reads at a session's start are told from uploads after polls, though pauses are alike", () => {
  const short = { least: 100, most: 300 };
  const think = {
    paces: [
      { think: short, times: 2, next: [0, 1, 0, 0] },
      { think: { least: "19s", most: "21s" }, times: { least: 3, most: 8 }, next: [0, 0, 1, 0] },
      { think: short, times: { least: 1, most: 9 }, next: [0, 0, 0, 1] },
    ],
    first: [1, 0, 0],
  };
  const { behaviour, recorded, simulated } = fitted(
    sessions({ of: worker({ calls, think }), away: { median: "20m", p95: "1h" } }),
  );
  const fit = workerIn(behaviour).think;
  if (fit.kind !== "paces") throw new RangeError("its pauses have paces");
  // Reads go on with polls, polls with uploads, and uploads with the session's end: always.
  const { paces, first } = fit;
  expect(paces.map(({ think: { kind } }) => kind)).toEqual(["uniform", "uniform", "uniform"]);
  expect(paces.map(({ times }) => times)).toMatchObject([
    { kind: "constant", ms: 2 },
    { kind: "uniform", least: 1, most: 9 },
    { kind: "quantiles" },
  ]);
  const all = first[0] as number;
  expect(all).toBeGreaterThan(50);
  expect([first, ...paces.map(({ next }) => next)]).toEqual([
    [all, 0, 0, 0],
    [0, 0, all, 0],
    [0, 0, 0, all],
    [0, all, 0, 0],
  ]);
  expect(Math.abs(simulated - recorded)).toBeLessThan(0.15 * recorded);
});

test("pauses in no order, and sessions that are each of a pace of their own, have no paces", () => {
  const away = { median: "3h", p95: "4h" };
  const inAnyOrder = worker({ calls, think: { median: "5s", p95: "40s" } });
  expect(fitted(sessions({ of: inAnyOrder, calls: { least: 60, most: 120 }, away })).source).not.toContain(
    "paces",
  );
  const paces = [
    { think: { least: "4s", most: "5s" }, next: [70, 0, 1] },
    { think: { least: "30s", most: "40s" }, next: [0, 70, 1] },
  ];
  const paced = worker({ calls, think: { paces, first: [1, 1] } });
  expect(fitted(sessions({ of: paced, away })).source).not.toContain("paces");
});

test("calls at once are as many as a worker may make", () => {
  expect(atOnceOf([1, 1])).toBeNull();
  expect(atOnceOf([2, 1_001])).toEqual(atOnceOf([2, 1_000]));
});
