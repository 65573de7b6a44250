// Arrivals that k6 has no word for: their instants where they are certain, their statistics where they are drawn, each
// by so many draws that a wrong formula shows.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseArrivals } from "../../src/scenario/arrival-input.ts";
import {
  type ArrivalRun,
  type ArrivalSchedule,
  arrivalStays,
  arrivalTimes,
  roughArrivals,
} from "../../src/scenario/arrivals.ts";
import { cronTimes, parseCron } from "../../src/scenario/cron.ts";
import { fleetStays, mostAtOnce } from "../../src/scenario/fleet.ts";
import { defineScenario, poller, rest } from "../../src/scenario/index.ts";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { clientsMost, possibleStays, staysOf } from "../../src/scenario/scenario.ts";
import { seatingOf, seatsOf } from "../../src/scenario/seats.ts";
import { property } from "../support/property.ts";

const hourMs = 3_600_000;
const schedule = (input: object): ArrivalSchedule => {
  const mistakes = new Mistakes();
  const parsed = parseArrivals("arrivals", { preAllocatedVUs: 1, ...input }, mistakes);
  mistakes.finish("wrong");
  if (parsed === null) throw new Error("no schedule");
  return parsed;
};
const run = (durationMs: number, seed = 1, startAtMs = Date.UTC(2026, 0, 1)): ArrivalRun => ({
  durationMs,
  startAtMs,
  seed,
  stream: 3,
});
const times = (input: object, of: ArrivalRun): number[] => [...arrivalTimes(schedule(input), of)];
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

describe("poisson-arrival-rate", () => {
  const arrivals = { executor: "poisson-arrival-rate", rate: 5 };
  const hours = times(arrivals, run(10 * hourMs));

  test("as many as the rate says", () => {
    // 180,000, with a standard deviation of 424.
    expect(Math.abs(hours.length - 180_000)).toBeLessThan(1_700);
    expect(roughArrivals(schedule(arrivals), run(10 * hourMs))).toBe(180_000);
  });

  test("gaps are exponential: 63.2 % within the mean, 5 % beyond three means", () => {
    const gaps = hours.map((ms, index) => ms - (hours[index - 1] ?? 0));
    expect(Math.abs(mean(gaps) - 200)).toBeLessThan(2);
    const within = (ms: number): number => gaps.filter((gap) => gap < ms).length / gaps.length;
    expect(Math.abs(within(200) - 0.6321)).toBeLessThan(0.006);
    expect(Math.abs(within(600) - 0.9502)).toBeLessThan(0.003);
  });

  test("counts are as scattered as they are many, unlike even arrivals", () => {
    const counts = new Map<number, number>();
    for (const ms of hours)
      counts.set(Math.floor(ms / 10_000), (counts.get(Math.floor(ms / 10_000)) ?? 0) + 1);
    const each = Array.from({ length: 3_600 }, (_, index) => counts.get(index) ?? 0);
    const average = mean(each);
    const variance = mean(each.map((count) => (count - average) ** 2));
    expect(variance / average).toBeGreaterThan(0.9);
    expect(variance / average).toBeLessThan(1.1);
  });

  test("one seed, one run; another seed or population, another one", () => {
    expect(times(arrivals, run(60_000))).toEqual(times(arrivals, run(60_000)));
    expect(times(arrivals, run(60_000, 2))).not.toEqual(times(arrivals, run(60_000)));
    expect(times(arrivals, { ...run(60_000), stream: 4 })).not.toEqual(times(arrivals, run(60_000)));
  });

  test("a shorter run is the beginning of a longer one", () => {
    const short = times(arrivals, run(60_000));
    expect(times(arrivals, run(hourMs)).slice(0, short.length)).toEqual(short);
  });
});

describe("cron", () => {
  const at = (line: string, from: string, hours: number): string[] => {
    const mistakes = new Mistakes();
    const cron = parseCron("schedule", line, mistakes);
    mistakes.finish("wrong");
    const fromMs = Date.parse(from);
    return cron === null
      ? []
      : Array.from(cronTimes(cron, fromMs, fromMs + hours * hourMs), (ms) =>
          new Date(ms).toISOString().slice(0, 16),
        );
  };

  test.each([
    [
      "everyone at :00",
      "0 * * * *",
      "2026-03-01T09:30:00Z",
      2.6,
      ["2026-03-01T10:00", "2026-03-01T11:00", "2026-03-01T12:00"],
    ],
    [
      "every twenty minutes, the first one at once",
      "*/20 * * * *",
      "2026-03-01T10:00:00Z",
      1,
      ["2026-03-01T10:00", "2026-03-01T10:20", "2026-03-01T10:40"],
    ],
    [
      "a second after a tick, the next one",
      "*/20 * * * *",
      "2026-03-01T10:00:01Z",
      0.5,
      ["2026-03-01T10:20"],
    ],
    [
      "a step from a number on",
      "50/5 10 * * *",
      "2026-03-01T00:00:00Z",
      24,
      ["2026-03-01T10:50", "2026-03-01T10:55"],
    ],
    [
      "lists and ranges",
      "5,1 8-9 * * *",
      "2026-03-01T00:00:00Z",
      24,
      ["2026-03-01T08:01", "2026-03-01T08:05", "2026-03-01T09:01", "2026-03-01T09:05"],
    ],
    ["workdays: 2 March 2026 is a Monday", "0 6 * * 1-5", "2026-03-01T00:00:00Z", 48, ["2026-03-02T06:00"]],
    ["Sunday is 0 and 7", "0 6 * * 7", "2026-03-01T00:00:00Z", 48, ["2026-03-01T06:00"]],
    [
      "a day or a weekday, as cron has it",
      "0 6 3 * 1",
      "2026-03-01T00:00:00Z",
      96,
      ["2026-03-02T06:00", "2026-03-03T06:00"],
    ],
    ["the leap day", "0 0 29 2 *", "2028-01-01T00:00:00Z", 24 * 90, ["2028-02-29T00:00"]],
  ])("%s", (_, line, from, hours, expected) => {
    expect(at(line, from, hours)).toEqual(expected);
  });

  property([
    fc.tuple(
      fc.subarray([0, 7, 20, 59], { minLength: 1 }),
      fc.subarray([0, 3, 12, 23], { minLength: 1 }),
      fc.constantFrom("*", "1", "1-15", "*/7"),
      fc.constantFrom("*", "1,2", "*/3"),
      fc.constantFrom("*", "0", "1-5"),
    ),
    fc.integer({ min: 0, max: 60 * 24 * 60 }),
  ])("equals looking at every minute", ([minutes, hours, days, months, weekdays], offset) => {
    const line = [minutes.join(","), hours.join(","), days, months, weekdays].join(" ");
    const fromMs = Date.UTC(2026, 0, 1) + offset * 60_000;
    const mistakes = new Mistakes();
    const cron = parseCron("schedule", line, mistakes);
    if (cron === null) throw new Error(line);
    const found = [...cronTimes(cron, fromMs, fromMs + 9 * 24 * hourMs)];
    const slow: number[] = [];
    for (let ms = fromMs; ms < fromMs + 9 * 24 * hourMs; ms += 60_000) {
      const when = new Date(ms);
      const day = when.getUTCDate();
      const isDay = days === "*" || (days === "1" ? day === 1 : days === "1-15" ? day <= 15 : day % 7 === 1);
      const month = when.getUTCMonth() + 1;
      const isMonth = months === "*" || (months === "1,2" ? month <= 2 : month % 3 === 1);
      const weekday = when.getUTCDay();
      const isWeekday = weekdays === "*" || (weekdays === "0" ? weekday === 0 : weekday >= 1 && weekday <= 5);
      const either = !days.startsWith("*") && weekdays !== "*";
      const named = either ? isDay || isWeekday : isDay && isWeekday;
      if (
        !named ||
        !isMonth ||
        !minutes.includes(when.getUTCMinutes()) ||
        !hours.includes(when.getUTCHours())
      )
        continue;
      slow.push(ms);
    }
    expect(found).toEqual(slow);
  });

  test("so many come at each tick, at once or within the spread, in order", () => {
    const arrivals = { executor: "cron", schedule: "*/5 * * * *", clients: 3 };
    expect(times(arrivals, run(600_000))).toEqual([0, 0, 0, 300_000, 300_000, 300_000]);
    const spread = times({ ...arrivals, clients: 4_000, spread: "7m" }, run(600_000));
    expect(spread).toEqual([...spread].sort((a, b) => a - b));
    // Of the first tick all come, of the second those of its first five minutes in seven: 4,000 and 2,857.
    expect(Math.abs(spread.length - 6_857)).toBeLessThan(130);
    const first = spread.filter((ms) => ms < 300_000);
    expect(Math.abs(mean(first) - 150_000)).toBeLessThan(7_000);
    expect(roughArrivals(schedule({ ...arrivals, clients: 10 }), run(600_000))).toBe(20);
  });
});

describe("business-day", () => {
  const rates = Array.from({ length: 24 }, (_, hour) => (hour < 8 ? 0 : hour < 18 ? 600 * (hour - 7) : 60.5));
  const counts = (shape: string, days: number, startAtMs?: number): number[] => {
    const found = times({ executor: "business-day", rates, shape }, run(days * 24 * hourMs, 1, startAtMs));
    const each = Array<number>(24).fill(0);
    for (const ms of found) {
      const hour = Math.floor(ms / hourMs) % 24;
      each[hour] = (each[hour] ?? 0) + 1 / days;
    }
    return each;
  };

  test("steps: each hour has its rate", () => {
    for (const [hour, count] of counts("steps", 20).entries()) {
      const rate = rates[hour] ?? Number.NaN;
      if (rate === 0) expect(count).toBe(0);
      else expect(Math.abs(count - rate)).toBeLessThan(4 * Math.sqrt(rate / 20));
    }
  });

  test("lines: each hour has what lies between its rate and the next one", () => {
    for (const [hour, count] of counts("lines", 20).entries()) {
      const rate = ((rates[hour] ?? 0) + (rates[(hour + 1) % 24] ?? 0)) / 2;
      if (rate === 0) expect(count).toBe(0);
      else expect(Math.abs(count - rate)).toBeLessThan(4 * Math.sqrt(rate / 20));
    }
  });

  test("lines: within an hour that goes from nothing to r, three quarters come in its second half", () => {
    const only = rates.map((_, hour) => (hour === 9 ? 8_000 : 0));
    const found = times({ executor: "business-day", rates: only, shape: "lines" }, run(48 * hourMs));
    const rising = found.filter((ms) => Math.floor(ms / hourMs) % 24 === 8);
    const late = rising.filter((ms) => ms % hourMs >= hourMs / 2);
    expect(rising.length).toBeGreaterThan(7_500);
    expect(Math.abs(late.length / rising.length - 0.75)).toBeLessThan(0.02);
  });

  test("it goes by the clock: a run that starts at half past eight begins in the middle of that hour", () => {
    const startAtMs = Date.UTC(2026, 5, 1, 8, 30);
    for (const shape of ["steps", "lines"]) {
      const found = times({ executor: "business-day", rates, shape }, run(hourMs, 1, startAtMs));
      const [before, after] = [found.filter((ms) => ms < hourMs / 2), found.filter((ms) => ms >= hourMs / 2)];
      // Steps: 300 and 600. Lines: the rate goes from 900 at half past eight by 1,200 at nine to 1,500.
      const expected = shape === "steps" ? [300, 600] : [525, 675];
      expect(Math.abs(before.length - (expected[0] ?? 0))).toBeLessThan(90);
      expect(Math.abs(after.length - (expected[1] ?? 0))).toBeLessThan(105);
    }
  });

  test("a day without anybody has nobody", () => {
    const nobody = Array<number>(24).fill(0);
    expect(times({ executor: "business-day", rates: nobody }, run(48 * hourMs))).toEqual([]);
  });
});

describe("ramping-vus", () => {
  const stays = (startVUs: number, stages: readonly (readonly [number, number])[], durationMs = 1e9) =>
    fleetStays(
      startVUs,
      stages.map(([target, length]) => ({ target, durationMs: length })),
      durationMs,
    ).map(({ startMs, endMs }) => [startMs, endMs]);

  test("comes in a line, and goes in a line, the last one first", () => {
    expect(
      stays(1, [
        [4, 3_000],
        [2, 1_000],
        [2, 500],
      ]),
    ).toEqual([
      [0, 4_500],
      [1_000, 4_500],
      [2_000, 4_000],
      [3_000, 3_500],
    ]);
  });

  test("a stage of no length jumps", () => {
    expect(
      stays(0, [
        [3, 0],
        [3, 100],
      ]),
    ).toEqual([
      [0, 100],
      [0, 100],
      [0, 100],
    ]);
  });

  test("who would come after the run's end never comes, who is there then ends with it", () => {
    expect(stays(0, [[4, 4_000]], 2_500)).toEqual([
      [1_000, 2_500],
      [2_000, 2_500],
    ]);
  });

  // Times are cut off to whole milliseconds: at one of them, all are there that the line has until it is over.
  property(
    [
      fc.nat(20),
      fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 0, max: 5_000 })), { minLength: 1, maxLength: 6 }),
      fc.nat(20_000),
    ],
    { examples: [[0, [[3, 1]], 0]] },
  )(
    "as many are there as the line says, give or take the one that comes or goes",
    (startVUs, stages, atMs) => {
      const found = stays(startVUs, stages);
      const there = found.filter(([from = 0, to = 0]) => from <= atMs && atMs < to).length;
      let [count, begin] = [startVUs, 0];
      for (const [target, length] of stages) {
        if (atMs < begin + length) {
          const line = count + ((target - count) * (atMs + 1 - begin)) / length;
          expect(Math.abs(there - line)).toBeLessThanOrEqual(1);
          return;
        }
        [count, begin] = [target, begin + length];
      }
      expect(there).toBe(0);
    },
  );

  test("the most at once, with or without those that take their leave", () => {
    const fleet = [
      { startMs: 0, endMs: 10 },
      { startMs: 5, endMs: 10 },
      { startMs: 12, endMs: 20 },
    ];
    expect(mostAtOnce(fleet, 0)).toBe(2);
    expect(mostAtOnce(fleet, 3)).toBe(3);
    expect(mostAtOnce([], 5)).toBe(0);
  });

  test("each of its clients is a user unless it is said otherwise", () => {
    const behaviour = poller({ every: "1s", call: rest("/v2/user") });
    const arrivals = { executor: "ramping-vus", stages: [{ target: 3, duration: "2s" }] } as const;
    const scenario = defineScenario({
      name: "x",
      duration: "1m",
      populations: { fleet: { arrivals, behaviour } },
    });
    expect(scenario.populations[0]?.user).toBe("each");
    expect(clientsMost(scenario, 0)).toBe(2);
    expect([...staysOf(scenario, 0)]).toEqual([
      { startMs: 0, endMs: 2_000 },
      { startMs: 1_000, endMs: 2_000 },
    ]);
  });
});

test("a real run begins late: by the clock others may come in it, and have their seats", () => {
  const behaviour = poller({ every: "1s", call: rest("/v2/user") });
  const cron = { executor: "cron", schedule: "* * * * *", clients: 2, preAllocatedVUs: 2 } as const;
  const poisson = { executor: "poisson-arrival-rate", rate: 1, preAllocatedVUs: 2 } as const;
  const scenario = defineScenario({
    name: "x",
    duration: "1m",
    populations: {
      cron: { arrivals: cron, behaviour, user: "each" },
      rate: { arrivals: poisson, behaviour, user: "each" },
    },
  });
  const starts = (stays: Iterable<{ startMs: number }>): number[] =>
    Array.from(stays, ({ startMs }) => startMs);
  expect(starts(staysOf(scenario, 0))).toEqual([0, 0]);
  expect(starts(possibleStays(scenario, 0))).toEqual([0, 0, 60_000, 60_000]);
  expect(starts(possibleStays(scenario, 1))).toEqual(starts(staysOf(scenario, 1)));
  expect(seatsOf(scenario, seatingOf(scenario, null))[0]?.map(({ user }) => user)).toEqual([
    "cron-0",
    "cron-1",
    "cron-2",
    "cron-3",
  ]);
});

test("clients of a rate stay to the run's end", () => {
  const constant = schedule({ executor: "constant-arrival-rate", rate: 1 });
  expect([...arrivalStays(constant, run(2_000))]).toEqual([
    { startMs: 0, endMs: 2_000 },
    { startMs: 1_000, endMs: 2_000 },
  ]);
});

describe("mistakes are told by their path", () => {
  const mistakesOf = (value: unknown): string[] => {
    const mistakes = new Mistakes();
    parseArrivals("arrivals", value, mistakes);
    try {
      mistakes.finish("wrong");
      return [];
    } catch (error) {
      return (error as { problems: { path: string }[] }).problems.map(({ path }) => path);
    }
  };
  const poisson = { executor: "poisson-arrival-rate", rate: 0.5, preAllocatedVUs: 1 };
  const cron = { executor: "cron", schedule: "*/5 * * * *", clients: 1, preAllocatedVUs: 1 };
  const day = { executor: "business-day", rates: Array(24).fill(1), preAllocatedVUs: 1 };

  test.each([
    ["a right rate", poisson, []],
    ["right cron", cron, []],
    ["a right day", day, []],
    ["a rate of nothing", { ...poisson, rate: 0 }, ["arrivals.rate"]],
    ["a rate of NaN", { ...poisson, rate: Number.NaN }, ["arrivals.rate"]],
    ["a negative rate", { ...poisson, rate: -1 }, ["arrivals.rate"]],
    ["maxVUs, which only k6's own rates have", { ...poisson, maxVUs: 5 }, ["arrivals.maxVUs"]],
    ["four fields", { ...cron, schedule: "0 * * *" }, ["arrivals.schedule"]],
    ["minute 60", { ...cron, schedule: "60 * * * *" }, ["arrivals.schedule"]],
    ["a range that falls", { ...cron, schedule: "9-3 * * * *" }, ["arrivals.schedule"]],
    ["a step of 0", { ...cron, schedule: "*/0 * * * *" }, ["arrivals.schedule"]],
    ["day 0", { ...cron, schedule: "0 0 0 * *" }, ["arrivals.schedule"]],
    ["a word", { ...cron, schedule: "hourly" }, ["arrivals.schedule"]],
    ["no clients", { ...cron, clients: 0 }, ["arrivals.clients"]],
    ["a negative spread", { ...cron, spread: -1 }, ["arrivals.spread"]],
    ["23 rates", { ...day, rates: Array(23).fill(1) }, ["arrivals.rates"]],
    ["a rate that is none", { ...day, rates: [...Array(23).fill(1), "5"] }, ["arrivals.rates.23"]],
    ["a shape nobody knows", { ...day, shape: "curve" }, ["arrivals.shape"]],
    ["a fleet without stages", { executor: "ramping-vus" }, ["arrivals.stages"]],
    [
      "a fleet of minus one",
      { executor: "ramping-vus", startVUs: -1, stages: [{ target: 1, duration: 5 }] },
      ["arrivals.startVUs"],
    ],
  ])("%s", (_, value, expected) => {
    expect(mistakesOf(value)).toEqual(expected);
  });
});
