// Sessions end after so many calls, or after a time: the recording tells which, and what that does under heavier load.
// @module-tag long
import { describe, expect, test } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../sim/fit/days.ts";
import { fitScenario, fitTo } from "../../sim/fit/fit.ts";
import type { FittedBehaviour } from "../../sim/fit/model.ts";
import { absencesIn } from "../../sim/fit/sessions.ts";
import { fittedScenario } from "../../sim/fit/source.ts";
import { measure } from "../../sim/measure.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { SpreadInput } from "../../src/scenario/index.ts";
import { rest, sessions, waitReset, worker } from "../../src/scenario/index.ts";
import { queries } from "../worlds/queries.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { play } from "../worlds/world.ts";
import { logged, world } from "./recordings.ts";

const call = rest("/v2/organizations/:org/pipelines");

/** The behaviour of callers of several paces whose sessions are bounded so. */
function fitted(
  bounds: { readonly calls?: SpreadInput; readonly length?: SpreadInput },
  paces: readonly (readonly [least: number, most: number])[],
): readonly FittedBehaviour[] {
  const populations = paces.map(([least, most], index) => {
    const of = worker({ calls: [{ call }], think: { least, most } });
    return [
      `pace-${index}`,
      { clients: 4, behaviour: sessions({ of, ...bounds, away: { least: "5m", most: "20m" } }) },
    ] as const;
  });
  const scenario = world(Object.fromEntries(populations), { duration: "12h", seed: 7 });
  return fitScenario(logged(scenario)).populations.map(({ behaviour }) => behaviour);
}

test("many sessions of one call and a few of hundreds make as many calls as were recorded", () => {
  // The rare sessions are a third of all calls: no one size, and no one length, stands for all sessions.
  const look = worker({ calls: [{ call }], think: { least: 4_750, most: 5_250 } });
  const scenario = world(
    {
      monitors: {
        clients: 6,
        behaviour: sessions({
          of: look,
          calls: { quantiles: [1, 1, 200, 600], shares: [0, 0.9985, 0.9986, 1] },
          away: { least: "25s", most: "35s" },
        }),
      },
    },
    { duration: "48h", seed: 3 },
  );
  const callsOf = (of: typeof scenario, seed: number): number => measure(of, { seed }).records;
  const fitted = fittedScenario(fitScenario(logged(scenario, { seed: 3 })));
  const again = [1, 2, 3].map((seed) => callsOf(fitted, seed)).sort((a, b) => a - b);
  expect(Math.abs((again[1] ?? 0) / callsOf(scenario, 3) - 1)).toBeLessThan(0.08);
});

test("a board that makes three calls at once each half a minute is there for hours, and away", () => {
  const boards = {
    clients: 6,
    behaviour: sessions({
      of: worker({ calls: [{ call }], think: { least: 29_900, most: 30_100 }, atOnce: 3 }),
      ...{ length: { least: "2h", most: "4h" }, away: { least: "3h", most: "6h" } },
    }),
  };
  const scenario = world(
    { boards },
    { duration: "48h", seed: 3, network: { roundTrip: { least: "40ms", most: "400ms" } } },
  );
  const { populations } = fitScenario(logged(scenario, { seed: 3 }));
  expect(populations).toHaveLength(1);
  expect(populations[0]).toMatchObject({
    arrivals: { kind: "closed", clients: 6 },
    behaviour: { kind: "sessions", of: { kind: "worker", atOnce: { kind: "constant", ms: 3 } } },
  });
}, 20_000);

describe("sessions end", () => {
  // One pace is 1.3 times the other: alike enough to be one population.
  const paces = [
    [3_000, 6_000],
    [4_000, 8_000],
  ] as const;

  test("after a time, where they end in waits for a reset, which fill nearly all of it", () => {
    const of = worker({ calls: [{ call }], think: { least: 5, most: 30 } });
    const away = { least: "30m", most: "2h" } as const;
    const behaviourOf = (bounds: {
      calls?: SpreadInput;
      length?: SpreadInput;
    }): FittedBehaviour | undefined => {
      const mirror = {
        clients: 1,
        onRefused: waitReset({ of: "both" }),
        behaviour: sessions({ of, ...bounds, away }),
      };
      const rules = { user: { rest: { limit: 50, windowSeconds: 60 } } };
      const scenario = world({ mirror }, { duration: "24h", seed: 7, rules });
      return fitScenario(logged(scenario)).populations[0]?.behaviour;
    };
    expect(behaviourOf({ length: { least: "10m", most: "30m" } })).toMatchObject({ calls: null });
    expect(behaviourOf({ calls: { least: 500, most: 1_500 } })).toMatchObject({ length: null });
  });

  test("after a time, where their lengths are more alike than their numbers of calls", () => {
    for (const behaviour of fitted({ length: { least: "3m", most: "9m" } }, paces)) {
      expect(behaviour).toMatchObject({ kind: "sessions", calls: null, length: { kind: "uniform" } });
      const { length } = behaviour as FittedBehaviour & { kind: "sessions" };
      const { least = 0, most = 0 } = length as { least?: number; most?: number };
      expect(Math.abs(least - 180_000)).toBeLessThan(8_000);
      expect(Math.abs(most - 540_000)).toBeLessThan(15_000);
    }
  });

  test("after so many calls, where these are more alike", () => {
    for (const behaviour of fitted({ calls: { least: 20, most: 80 } }, paces))
      expect(behaviour).toMatchObject({
        kind: "sessions",
        calls: { kind: "uniform", least: 20, most: 80 },
        length: null,
      });
  });

  test("after a time, where nothing tells and the pace is even", () => {
    const [behaviour] = fitted({ length: "4m" }, [[4_990, 5_010]]);
    expect(behaviour).toMatchObject({ kind: "sessions", calls: null });
  });
});

/** People of four paces: calls of a page come at once, pages after some seconds, and visits after half an hour or so. */
function readers(bounds: { readonly calls?: SpreadInput; readonly length?: SpreadInput }) {
  const reader = (pageMs: number) => ({
    clients: 3,
    behaviour: sessions({
      of: worker({
        calls: [{ call }],
        think: { quantiles: [50, 300, pageMs, 3 * pageMs], shares: [0, 0.8, 0.800001, 1] },
      }),
      ...bounds,
      away: { least: "10m", most: "1h" },
    }),
  });
  const paces = Object.fromEntries([10_000, 14_000, 20_000, 28_000].map((ms) => [`reads-${ms}`, reader(ms)]));
  const { populations } = fitScenario(logged(world(paces, { duration: "36h", seed: 5 })));
  return populations.map(({ behaviour, reasons }) => ({ ...behaviour, why: reasons.behaviour }));
}
const untilTime = "they end after a time, however many calls that were";

test("visits of many pages end after a time, where all readers' are alike, whatever their pace", () => {
  const [fit, ...others] = readers({ length: { least: "15m", most: "25m" } });
  expect(others).toEqual([]);
  expect(fit).toMatchObject({ kind: "sessions", calls: null, why: expect.stringContaining(untilTime) });
  const { length } = fit as FittedBehaviour & { kind: "sessions" };
  const { least, most } = length as { least: number; most: number };
  expect(Math.abs(least / 60_000 - 15)).toBeLessThan(1);
  expect(Math.abs(most / 60_000 - 25)).toBeLessThan(1);
});

test("visits of many pages do not surely end after a time, where all readers' have as many", () => {
  const fits = readers({ calls: { least: 150, most: 250 } });
  expect(fits.length).toBeGreaterThan(0);
  for (const fit of fits)
    expect(fit).toMatchObject({ length: null, why: expect.not.stringContaining(untilTime) });
});

test("sessions of questions, each of some calls in a row, end after a time, and are not the questions", () => {
  const { rows } = play(queries, { firstDay: 0, days: 7, seed: 2 });
  const [agents] = fitScenario(recordingOf(rows), { rules: parseRules(worldRules) }).populations;
  expect(agents?.users.length).toBeGreaterThan(35);
  expect(agents?.behaviour).toMatchObject({ kind: "sessions", calls: null, of: { atOnce: null } });
});

test("an outer absence is beyond the longest of several kinds of shorter pauses", () => {
  const kind = (ms: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => ms * (1 + index / count));
  const [quick, pages, visits] = [kind(100, 10_000), kind(20_000, 200), kind(7_200_000, 20)];
  const { outerMs: cut } = absencesIn([...quick, ...pages, ...visits]);
  expect(cut).toBeGreaterThan(40_000);
  expect(cut).toBeLessThan(7_200_000);
  expect(absencesIn([...quick, ...pages]).outerMs).toBe(0);
  expect(absencesIn(quick).outerMs).toBe(0);
  // The outermost valley is the deepest.
  expect(absencesIn([...kind(100, 1_000), ...pages, ...visits]).outerMs).toBe(0);
});

test("callers who call by day, and stay away on some days, have no sessions that hold a night", () => {
  const rows = Array.from({ length: 6 * 7 }, (_, place) => {
    const [caller, day] = [Math.floor(place / 7), place % 7];
    if ((day + caller) % 4 === 3) return [];
    const midnight = Date.parse("2026-01-05T00:00:00Z") + day * dayMs;
    const calls: { atMs: number; durationMs: number; user: string; status: number }[] = [];
    let atMs = midnight + (7 + ((2 * day + 3 * caller) % 5)) * hourMs + (7 * day + 11 * caller) * minuteMs;
    for (let call = 0; atMs < midnight + 22 * hourMs; call++) {
      calls.push({ atMs, durationMs: 100, user: `user-${caller}`, status: 200 });
      atMs += 2 * minuteMs + ((call * 37 + caller * 11) % 97) * 2_000;
    }
    return calls;
  }).flat();
  const { populations } = fitTo(recordingOf(rows.sort((a, b) => a.atMs - b.atMs)), {
    name: "days",
    rules: parseRules(worldRules),
  }).model;
  expect(populations).toHaveLength(1);
  const { behaviour } = populations[0] as (typeof populations)[number];
  if (behaviour.kind !== "sessions") throw new RangeError(`${behaviour.kind} is no session`);
  expect(behaviour.of).toMatchObject({ jobs: 1 });
  expect([3, 12].map((hour) => (behaviour.rhythm?.hours[hour] ?? 0) > 1)).toEqual([false, true]);
});
