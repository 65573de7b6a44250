// Figures of a fit's check, at both sides of each bound: recorded calls that are set, against simulations that are
// all alike.
import { describe, expect, test } from "vitest";
import { checkSteps, type SimulationsDone, whyOf } from "../../sim/fit/check.ts";
import type { CheckedFigure, FitCheck } from "../../sim/fit/check-result.ts";
import { dayMs } from "../../sim/fit/days.ts";
import { type Fit, fitTo } from "../../sim/fit/fit.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import { fittedScenario } from "../../sim/fit/source.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { poller, rest, worker } from "../../src/scenario/index.ts";
import { resultOf } from "../support/result-of.ts";
import { traced, world } from "./recordings.ts";

/** Clients that call twelve times in each of ten minutes; each call takes 100 ms. */
const network = { roundTrip: { least: 100, most: 100 } };
const fitOf = (clients: number): Fit => {
  const polls = { clients, behaviour: poller({ every: "5s", call: rest("/v2/user") }) };
  return fitTo(traced(world({ polls }, { network })));
};
const [one, four] = [fitOf(1), fitOf(4)];
const startMs = one.recording.startedAtMs;

interface Call {
  /** From the start, ms. */
  readonly atMs: number;
  readonly waitMs?: number;
  readonly refused?: boolean;
}

/** The fit as if these were the recorded calls of each population. */
function recordedAs(fit: Fit, ...populations: readonly (readonly Call[])[]): Fit {
  const members = populations.map((calls) => {
    const own = calls.map(({ atMs, waitMs = 100, refused = false }) => ({
      ...{ atMs: startMs + atMs, endMs: startMs + atMs + waitMs, status: refused ? 429 : 200 },
    }));
    const jobs = own.map((last) => ({ startMs: last.atMs, last }));
    return [{ caller: { calls: own }, jobs } as unknown as Profile];
  });
  return { ...fit, members };
}

const checked = (fit: Fit): FitCheck => resultOf(checkSteps(fit, 2));

/** As many calls as are simulated, at the same times. */
const usual = (clients = 1): Call[] =>
  Array.from({ length: 120 * clients }, (_, call) => ({ atMs: Math.floor(call / clients) * 5_000 }));
/** The same with more calls in the first minute. */
const more = (count: number, refused = false, clients = 1): Call[] => [
  ...usual(clients),
  ...Array.from({ length: count }, () => ({ atMs: 30_000, refused })),
];
const offIn = (fit: Fit): CheckedFigure[] =>
  checked(fit).rows.flatMap(({ population, figure, off }) => (population === null && off ? [figure] : []));

test("all figures of each population, and of all together, are told", () => {
  const calls = [
    ...usual().map((call, place) => ({ ...call, waitMs: 10 * (place + 1) })),
    ...more(2, true).slice(120),
  ];
  const figures: readonly [CheckedFigure, number, number][] = [
    ["calls", 122, 120],
    ["refused", 2, 0],
    ["admittedP50", 12, 12],
    ["admittedP95", 12, 12],
    ["admittedMost", 12, 12],
    ["waitP50Ms", 600, 100],
    ["waitP95Ms", 1_140, 100],
    ["waitP99Ms", 1_190, 100],
    ["busiest", 14, 12],
  ];
  const check = checked(recordedAs(one, calls));
  expect(check).toEqual({
    seeds: 2,
    rows: ["polls", null].flatMap((population) =>
      figures.map(([figure, recorded, of]) => ({
        ...{ population, figure, recorded, least: of, middle: of, most: of },
        off: ["waitP50Ms", "waitP95Ms", "waitP99Ms"].includes(figure),
      })),
    ),
    error: { calls: 0.016, refused: 1, waitP95Ms: 0.912 },
    why: null,
    findings: [
      "all: median wait: 600ms recorded, 100ms simulated",
      "all: p95 wait: 1140ms recorded, 100ms simulated",
      "all: p99 wait: 1190ms recorded, 100ms simulated",
      "polls: median wait: 600ms recorded, 100ms simulated",
      "polls: p95 wait: 1140ms recorded, 100ms simulated",
      "polls: p99 wait: 1190ms recorded, 100ms simulated",
    ],
  });
});

test("a check's simulations are those of the seeds 1, 2 and so on", () => {
  const rules = parseRules({});
  const works = {
    clients: 3,
    behaviour: worker({ calls: [{ call: rest("/v2/user") }], think: { least: "1s", most: "9s" } }),
  };
  const fit = fitTo(traced(world({ works }, { network })), { rules });
  const { startedAtMs, endedAtMs } = fit.recording;
  const scenario = adjustScenario(fittedScenario(fit.model), {
    ...{ startAtMs: startedAtMs, durationMs: Math.ceil(endedAtMs - startedAtMs), policy: fit.model.policy },
  });
  const callsOf = (seed: number): number => {
    let calls = 0;
    simulateNumbers(scenario, { seed }, ({ sentMs }) => {
      if (sentMs < endedAtMs) calls += 1;
    });
    return calls;
  };
  const seeds = [1, 2, 3, 4].map(callsOf);
  expect(new Set(seeds).size).toBeGreaterThan(2);
  for (const count of [1, 2, 4]) {
    const row = resultOf(checkSteps(fit, count)).rows.find(({ figure }) => figure === "calls");
    const own = seeds.slice(0, count);
    expect([row?.least, row?.most]).toEqual([Math.min(...own), Math.max(...own)]);
  }
});

describe("a figure is off", () => {
  const late = (count: number, waitMs: number): Call[] =>
    usual().map((call, place) => (place < count ? { ...call, waitMs } : call));
  // As many calls of one client differ by the least number of calls or ms that counts, and by the next one.
  test.each<[string, readonly Call[], readonly Call[], readonly CheckedFigure[]]>([
    ["calls", spread(5), spread(6), ["calls"]],
    ["refusals", spread(3, true), spread(4, true), ["refused"]],
    ["calls in one minute", more(3), more(4), ["admittedMost", "busiest", "admittedP95"]],
    ["calls in each minute", each(1), each(2), ["admittedP50", "calls", "admittedP95"]],
    ["half of all waits", late(60, 119), late(61, 121), ["waitP50Ms"]],
    ["most waits", late(7, 200), late(7, 201), ["waitP95Ms"]],
    ["long waits", late(2, 1_100), late(2, 1_101), ["waitP99Ms"]],
  ])("by more than a few %s", (_, within, beyond, figures) => {
    expect(offIn(recordedAs(one, within))).not.toContain(figures[0]);
    expect(new Set(offIn(recordedAs(one, beyond)))).toEqual(new Set(figures));
  });

  test("by more than three in a hundred", () => {
    expect(offIn(recordedAs(four, spread(14, false, 4)))).not.toContain("calls");
    expect(offIn(recordedAs(four, spread(15, false, 4)))).toContain("calls");
    expect(offIn(recordedAs(four, usual(4).slice(0, -14)))).not.toContain("calls");
    expect(offIn(recordedAs(four, usual(4).slice(0, -15)))).toContain("calls");
  });
});

/** More calls, each in a minute of its own as far as there are minutes. */
function spread(count: number, refused = false, clients = 1): Call[] {
  const extra = Array.from({ length: count }, (_, call) => ({ atMs: (call % 10) * 60_000 + 1_000, refused }));
  return [...usual(clients), ...extra];
}

function each(count: number): Call[] {
  const extra = Array.from({ length: 10 * count }, (_, call) => ({ atMs: (call % 10) * 60_000 + 1_000 }));
  return [...usual(), ...extra];
}

test("calls together are the reason if one minute is too full, and refuses, but the usual one is not", () => {
  const why =
    "in some windows callers called together, more than each for itself does; what made them (a release, an outage, a schedule) is not in the recording";
  expect(checked(recordedAs(one, more(4, true))).why).toBe(why);
  expect(checked(recordedAs(one, more(3, true))).why).toBeNull();
  expect(checked(recordedAs(one, more(4))).why).toBeNull();
  expect(checked(recordedAs(one, [...each(2), ...more(9, true).slice(120)])).why).toBeNull();
});

test("times within hours are the reason if busy minutes are too full, but neither the usual nor the fullest one is", () => {
  const why =
    "busy windows are fuller than simulated, but the usual and the fullest ones are not: callers gather at times within hours, as at bells or shifts, and the scenario's rhythm tells hours alone";
  const check = checked(recordedAs(one, more(4)));
  const rows = (fuller: boolean, calls: boolean) =>
    check.rows.map((row) =>
      row.figure === "busiest"
        ? { ...row, off: fuller }
        : row.figure === "calls"
          ? { ...row, off: calls }
          : row,
    );
  expect(whyOf(rows(false, false), dayMs)).toBe(why);
  expect(whyOf(rows(true, false), dayMs)).toBeNull();
  expect(whyOf(rows(false, true), dayMs)).toBeNull();
  expect(whyOf(rows(false, false), dayMs - 1)).toBeNull();
  // Fewer calls than simulated are no gathering.
  const fewer = rows(false, false).map((row) =>
    row.figure === "admittedP95" ? { ...row, recorded: 1 } : row,
  );
  expect(whyOf(fewer, dayMs)).toBeNull();
});

test("errors are shares of the greater figure, to a thousandth", () => {
  expect(checked(recordedAs(one, more(80))).error.calls).toBe(0.4);
  expect(checked(recordedAs(one, usual().slice(0, 80))).error.calls).toBe(-0.333);
  expect(checked(recordedAs(one, usual())).error).toEqual({ calls: 0, refused: 0, waitP95Ms: 0 });
});

test("errors are those of all populations together", () => {
  const [population] = one.model.populations as [Fit["model"]["populations"][number]];
  const populations = [population, { ...population, name: "others" }];
  const both = { ...one, model: { ...one.model, populations } };
  expect(checked(recordedAs(both, more(80), usual())).error.calls).toBe(0.25);
  expect(checked(recordedAs(both, more(80), usual().slice(0, 40))).error.calls).toBe(0);
});

test("a fit tells how many callers and calls a population rests on", () => {
  const told = ({ model }: Fit) => model.populations.map(({ reasons }) => reasons.population);
  expect(told(one)).toEqual(["1 client, 1 user, 120 calls, none refused"]);
  expect(told(four)).toEqual(["4 clients, 4 users, 480 calls, none refused"]);
});

test("a check has twenty simulations, if nobody asks for another number", () => {
  expect(checkSteps(one).next().value).toEqual({ done: 0, of: 20 });
});

test("a check begins when the last caller joined, if a tenth of the recording follows", () => {
  const { durationMs, startAtMs } = one.model;
  const recordedFrom = (settledMs: number) =>
    checked(recordedAs({ ...one, model: { ...one.model, settledAtMs: startAtMs + settledMs } }, usual()))
      .rows[0];
  const lengthMs = one.recording.endedAtMs - startAtMs;
  expect(durationMs).toBe(600_000);
  expect(recordedFrom(300_000)).toMatchObject({ figure: "calls", recorded: 60 });
  expect(recordedFrom(Math.floor(0.9 * lengthMs))).toMatchObject({ recorded: 12 });
  expect(recordedFrom(Math.ceil(0.9 * lengthMs) + 1)).toMatchObject({ recorded: 120 });
});

test("each simulation is told before it begins", () => {
  expect([...checkSteps(one, 3)]).toEqual([0, 1, 2].map((done): SimulationsDone => ({ done, of: 3 })));
});
