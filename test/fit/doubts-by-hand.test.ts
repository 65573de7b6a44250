// Doubts of what refusals and days off do not tell, by populations and calls that are set: at both sides of each bound.
import { describe, expect, test } from "vitest";
import { hourMs } from "../../sim/fit/days.ts";
import { doubtsOf } from "../../sim/fit/doubts.ts";
import { limitsOf } from "../../sim/fit/limits.ts";
import type { FittedPopulation } from "../../sim/fit/model.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { associationOf, type Calendar } from "../../sim/fit/rhythm.ts";
import { parseRules } from "../../src/rules/parse.ts";

const limits = limitsOf({ rules: parseRules({}) });
const startedAtMs = Date.UTC(2026, 0, 5);

interface Given {
  /** Statuses of recorded calls, and number of all calls. */
  readonly statuses?: readonly number[];
  readonly calls?: number;
  readonly profiles?: readonly Profile[];
  readonly calendars?: readonly Calendar[];
  readonly populations?: readonly FittedPopulation[];
  /** Length of the recording. */
  readonly hours?: number;
}

/** Doubts of four hours, which tell of no days. */
function doubts({ statuses = [], calls = statuses.length, profiles = [], hours = 4, ...given }: Given) {
  const kind = { cost: 1, actual: 1, operation: "rest" };
  const own = statuses.map((status) => ({ atMs: startedAtMs, endMs: startedAtMs, status, kind }));
  const callers = [{ organization: "acme", user: "ann", calls: own }];
  const recording = { startedAtMs, endedAtMs: startedAtMs + hours * hourMs, callers, calls };
  return doubtsOf(profiles, recording as unknown as Recording, 0, limits, given.calendars, given.populations);
}
const refusedOf = (count: number): number[] => Array.from({ length: count }, () => 429);

describe("demand", () => {
  test("is a lower bound if a twentieth of all calls is refused", () => {
    const text =
      "5% of the calls were refused: the limits held callers back, who may have wanted more than they sent. Demand is a lower bound.";
    expect(doubts({ statuses: refusedOf(1), calls: 20 })).toEqual([{ text, about: "demand" }]);
    expect(doubts({ statuses: refusedOf(1), calls: 21 })).toEqual([]);
    expect(doubts({ statuses: [200, 404, 0], calls: 3 })).toEqual([]);
  });
});

test("callers who joined on a later day are named: the first of them, and how many others", () => {
  // Each calls once in two hours, from Wednesday on.
  const joined = (user: string, hour = 48): Profile => {
    const jobs = Array.from({ length: 60 }, (_, job) => {
      const startMs = startedAtMs + (hour + 2 * job) * hourMs;
      const first = { atMs: startMs, endMs: startMs + 50, status: 200 };
      return { startMs, endMs: startMs + 50, jobs: 1, attempts: 1, key: "rest", first, last: first };
    });
    const own = {
      jobs,
      pausesMs: [],
      mix: new Map(),
      pace: { kind: "pause" },
      apart: null,
      refused: 0,
      retries: [],
    };
    return { caller: { organization: "acme", user }, ...own } as unknown as Profile;
  };
  const said = (...users: readonly string[]) =>
    doubts({ hours: 168, profiles: users.map((user) => joined(user)) }).flatMap(
      ({ text }) => /^.* joined/.exec(text) ?? [],
    );
  expect([said("ann"), said("ann", "bob"), said("bob", "ann", "cyd")]).toEqual([
    ["ann joined"],
    ["ann and 1 other joined"],
    ["bob and 2 others joined"],
  ]);
  const early = doubts({ hours: 168, profiles: [joined("ann", 0)] }).map(({ text }) => text);
  expect(early.join("\n")).not.toContain("joined");
});

describe("reactions to refusals", () => {
  const population = (refused: number, kind: string, attempts: number | null = null) =>
    ({
      refused,
      attempts,
      onRefused: { kind },
      behaviour: { kind: "poller" },
      users: [],
    }) as unknown as FittedPopulation;
  const told = (populations: readonly FittedPopulation[], statuses: readonly number[] = [200]) =>
    doubts({ statuses, populations }).map(({ text, about }) => `${about}: ${text}`);
  const unknown = "what callers do when they are refused is not known, and";
  const none = "the scenario tries none again.";

  test.each<[readonly FittedPopulation[], readonly number[], string]>([
    [[population(0, "unknown")], [200], `No call was refused: ${unknown} ${none}`],
    [[population(0, "none")], [0, 404], `No call was refused: ${unknown} ${none}`],
    [[population(0, "none")], [0, 0], `No status tells which calls were refused: ${unknown} ${none}`],
    [
      [population(0, "none"), population(0, "waitReset")],
      [200],
      `No call was refused: ${unknown} what the scenario does then is assumed.`,
    ],
  ])("are unknown where nothing was refused: %#", (populations, statuses, text) => {
    expect(told(populations, statuses)).toEqual([`reactions: ${text}`]);
  });

  test("could not be told if those of half of all refusals could not", () => {
    const of = (unknowns: number, refused: number) =>
      told([population(unknowns, "unknown"), population(refused - unknowns, "fixed", 3)]);
    const text = (which: string) =>
      `reactions: What callers do after ${which} could not be told: the scenario tries none of those calls again.`;
    expect(of(50, 100)).toEqual([text("50 of 100 refusals")]);
    expect(of(49, 100)).toEqual([]);
    expect(of(100, 100)).toEqual([text("100 refusals")]);
    expect(of(1, 1)).toEqual([text("1 refusal")]);
  });

  test("are hardly told by less than thirty refusals", () => {
    const of = (refused: number) => told([population(refused, "fixed", 3)]);
    const text = (which: string) => `reactions: ${which} refused: so few hardly tell what callers do then.`;
    expect([1, 29, 30].map(of)).toEqual([[text("1 call was")], [text("29 calls were")], []]);
  });

  test("never end where nobody gave up", () => {
    const endless = ["attempts: No call was given up after refusals: in the scenario none ever is."];
    expect(told([population(30, "fixed")])).toEqual(endless);
    expect(told([population(30, "fixed"), population(0, "fixed", 2)])).toEqual(endless);
    expect(told([population(29, "fixed"), population(1, "fixed", 2)])).toEqual([]);
    expect(told([population(30, "none")])).toEqual([]);
    expect(told([])).toEqual([]);
  });
});

test("days off are named with all callers who had them", () => {
  const calendar = (callers: number, ...days: readonly number[]) =>
    ({ callers, daysOff: new Set(days) }) as unknown as Calendar;
  const texts = doubts({ calendars: [calendar(7, 20_458, 20_459), calendar(5, 20_458), calendar(9)] });
  const text = (callers: number, date: string) =>
    `Next to none of ${callers} callers came on ${date}, though they did on other days of the week: it is taken for a day off, which the scenario has not.`;
  expect(texts.map((each) => each.text)).toEqual([text(12, "2026-01-05"), text(7, "2026-01-06")]);
});

describe("calls of one kind", () => {
  type Hours = readonly (readonly [hour: number, count: number, long: number])[];
  const association = (hours: Hours): number =>
    associationOf(
      hours.flatMap(([hour, count, long]) =>
        Array.from({ length: count }, (_, place) => ({ hour, isLong: place < long })),
      ),
    );

  test("keep hours of their own as far as they stand in other hours than all calls do", () => {
    // By chance, the sum is its number of hours, less one.
    const slow = (hours: Hours): number => {
      const [all, long] = [1, 2].map((at) => hours.reduce((sum, hour) => sum + (hour[at] as number), 0)) as [
        number,
        number,
      ];
      const cells = hours.filter(([, count]) => count >= 10);
      const sum = cells.reduce((total, [, count, own]) => {
        const expected = (count * long) / all;
        return total + (own - expected) ** 2 / (expected * (1 - long / all));
      }, 0);
      return (sum - cells.length + 1) / all;
    };
    const hours: Hours = [
      [0, 20, 18],
      [5, 30, 3],
      [40, 10, 9],
      [9, 9, 9],
    ];
    expect(association(hours)).toBeCloseTo(slow(hours), 9);
    expect(association(hours)).toBeGreaterThan(0.3);
    expect(association([[0, 20, 0]])).toBe(0);
    expect(association([[0, 20, 20]])).toBe(0);
    // Nine calls of an hour tell nothing.
    expect(
      [9, 10].map(
        (count) =>
          association([
            [0, count, count],
            [1, 90, 9],
          ]) > 0.3,
      ),
    ).toEqual([false, true]);
  });
});
