// Callers that adapt their pace to refusals are fitted; those whose pauses no such pace explains are named.
// @module-tag long
import { describe, expect, test } from "vitest";
import { adaptIn, adaptingCallers } from "../../sim/fit/adapting.ts";
import { doubtsOf } from "../../sim/fit/doubts.ts";
import { fitScenario } from "../../sim/fit/fit.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { limitsOf } from "../../sim/fit/limits.ts";
import type { FittedAdapt, FittedPopulation } from "../../sim/fit/model.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Behaviour, RefusalPolicy } from "../../src/scenario/client.ts";
import { fixed, none, rest, sessions, waitReset, worker } from "../../src/scenario/index.ts";
import { logged, world } from "./recordings.ts";

/** Jobs of 10 ms with these pauses before them, ms; a negative pause is before a job that was refused once. */
function jobsOf(pauses: readonly number[]): RecordedJob[] {
  let atMs = 0;
  return pauses.map((pause) => {
    atMs += Math.abs(pause);
    const call = (status: number) => {
      const wantedMs = atMs;
      atMs += 10;
      return { wantedMs, endMs: atMs, status } as RecordedCall;
    };
    const job = new RecordedJob(call(pause < 0 ? 429 : 200));
    if (pause < 0) job.last = call(200);
    return job;
  });
}
const many = <T>(count: number, of: readonly T[]): T[] => Array.from({ length: count }, () => of).flat();

function caller(user: string, pauses: readonly number[], awayMs: readonly number[] = []): Profile {
  const jobs = jobsOf(pauses);
  const refused = pauses.filter((pause) => pause < 0).length;
  return {
    caller: { user },
    jobs,
    pace: { kind: "pause" },
    refused,
    pausesMs: [...pauses.map(Math.abs), ...awayMs],
  } as unknown as Profile;
}

/** Pauses around a refused job. No job comes before the first round, so that it is not compared. */
const round = (before: number, after: number): number[] => [
  ...many(5, [before]),
  -before,
  ...many(5, [after]),
];

describe("a caller adapts its pace", () => {
  test("if its pauses after refusals are half as long again as before, in the middle of thirty or more", () => {
    const ratios = (pauses: readonly number[]) =>
      adaptingCallers([caller("a", pauses)]).map(({ ratio }) => ratio);
    expect(ratios(many(31, round(100, 200)))).toEqual([2]);
    expect(ratios(many(31, round(100, 150)))).toEqual([1.5]);
    expect(ratios(many(31, round(100, 149)))).toEqual([]);
    expect(ratios(many(30, round(100, 200)))).toEqual([]);
    expect(ratios([...many(21, round(100, 200)), ...many(10, round(100, 300))])).toEqual([2]);
    expect(ratios([...many(20, round(100, 300)), ...many(11, round(100, 100))])).toEqual([3]);
  });

  test("by pauses alone: what lies beside an absence, or at once, is not compared", () => {
    const absent = many(31, [7_000_000, ...many(4, [100]), -100, ...many(5, [300])]);
    const away = many(40, [7_000_000]);
    expect(adaptingCallers([caller("a", absent, away)])).toEqual([]);
    expect(adaptingCallers([caller("a", many(31, [0, ...round(100, 300).slice(1)]))])).toEqual([]);
    expect(adaptingCallers([caller("a", many(31, [...round(100, 300), 7_000_000]), away)])).toHaveLength(1);
  });

  test("and is named if most refusals are of such callers, the slowest first", () => {
    const slow = caller("slow", many(31, round(100, 200)));
    const slower = caller("slower", many(40, round(100, 250)));
    const steady = (rounds: number) => caller("steady", many(rounds, round(100, 100)));
    const users = (...profiles: readonly Profile[]) => adaptingCallers(profiles).map(({ user }) => user);
    expect(users(slow, slower, steady(70))).toEqual(["slower", "slow"]);
    expect(users(slow, slower, steady(71))).toEqual([]);
  });
});

describe("a pace that adapts is found again", () => {
  const numbers = { decrease: 0.6, increase: 0.05, least: 0.1 };
  const paced = worker({ calls: [rest("/v2/user")], think: { least: 900, most: 1_100 }, adapt: numbers });
  const inSessions = sessions({
    of: paced,
    calls: { least: 100, most: 300 },
    away: { least: "1m", most: "1h" },
  });
  const rules = { organization: { rest: { limit: 260 } }, user: { rest: { limit: 200 } } };
  const fitted = (clients: number, behaviour: Behaviour, onRefused: RefusalPolicy) => {
    const scenario = world({ syncs: { clients, behaviour, onRefused } }, { rules, duration: "3h" });
    const { populations, doubts } = fitScenario(logged(scenario), { rules: parseRules(rules) });
    expect(doubts.filter((text) => text.includes("adapt"))).toEqual([]);
    return populations[0] as FittedPopulation;
  };
  const mustBeNear = (found: FittedAdapt | undefined) => {
    for (const name of ["decrease", "increase"] as const)
      expect(Math.abs((found?.[name] ?? 0) / numbers[name] - 1)).toBeLessThan(0.15);
  };

  test.each([
    ["always at work", 8, paced],
    ["in sessions", 40, inSessions],
  ])("by callers %s, who make refused calls again at their pace", (_, clients, behaviour) => {
    const { onRefused, reasons, ...population } = fitted(clients, behaviour, none());
    const adapt = adaptIn(population.behaviour);
    mustBeNear(adapt);
    expect(adapt?.least).toBeGreaterThan(0.08);
    expect(adapt?.least).toBeLessThan(0.15);
    expect(adapt?.waits).toBe(true);
    expect(onRefused).toEqual({ kind: "none" });
    expect(reasons.onRefused).toBe("refused calls are made again after the longer pause");
    expect(reasons.behaviour).toMatch(
      /pauses that adapt: a refusal leaves \d\d% of the pace, at least \d+% of the full one, and each minute of pauses adds 5%$/,
    );
    expect(JSON.stringify(population.behaviour)).toMatch(/"(least|quantiles)":\[?(8|9)\d\d,/);
  });

  test("by callers whose refused calls wait for the reset", () => {
    const { behaviour, onRefused } = fitted(
      8,
      paced,
      waitReset({ of: "both", jitter: { least: 0, most: "5s" } }),
    );
    mustBeNear(adaptIn(behaviour));
    // None was slower than after two refusals.
    expect(adaptIn(behaviour)).toMatchObject({ least: 0.36, waits: false });
    expect(onRefused.kind).toBe("waitReset");
  });

  test("and not by callers whose pauses follow something else", () => {
    const steady = worker({ calls: [rest("/v2/user")], think: { least: 900, most: 1_100 } });
    const { behaviour, refused } = fitted(8, steady, fixed({ wait: "20s" }));
    expect(refused).toBeGreaterThan(100);
    expect(adaptIn(behaviour)).toBeUndefined();
  });
});

test("a fit says what the scenario does not do", () => {
  const recording = { startedAtMs: 0, endedAtMs: 14 * 86_400_000, calls: [], callers: [] };
  const said = (...profiles: readonly Profile[]) =>
    doubtsOf(profiles, recording as unknown as Recording, 0, limitsOf({ rules: parseRules({}) }))
      .filter(({ text }) => text.includes("adapt"))
      .map(({ text, about }) => [text, about]);
  const one = caller("ann", many(31, round(100, 200)));
  const slower = caller("bob", many(31, round(100, 320)));
  const rest = "they adapt their pace, which the scenario does not, so it refuses them more often.";
  expect(said(one)).toEqual([
    [`ann leaves longer pauses after refusals than before (2.0 times): ${rest}`, "reactions"],
  ]);
  expect(said(one, slower)).toEqual([
    [`bob and 1 other leave longer pauses after refusals than before (3.2 times): ${rest}`, "reactions"],
  ]);
  expect(said(caller("ann", many(31, round(100, 100))))).toEqual([]);
});
