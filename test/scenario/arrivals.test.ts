// The schedule against one that is slow and plainly right: it walks through every millisecond with exact
// fractions of integers and sees when a whole arrival has added up.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseArrivals } from "../../src/scenario/arrival-input.ts";
import { dayTimes } from "../../src/scenario/arrival-rates.ts";
import {
  type ArrivalRun,
  type ArrivalSchedule,
  arrivalTimes,
  roughArrivals,
} from "../../src/scenario/arrivals.ts";
import { cronTimes, parseCron } from "../../src/scenario/cron.ts";
import { ln } from "../../src/scenario/elementary.ts";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { next32, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import { property } from "../support/property.ts";

const common = { timeUnitMs: 1_000, preAllocatedVUs: 1, maxVUs: 1 };
const constant = (rate: number, timeUnitMs = 1_000): ArrivalSchedule => ({
  ...common,
  timeUnitMs,
  executor: "constant-arrival-rate",
  rate,
});
const ramping = (
  startRate: number,
  stages: readonly (readonly [target: number, durationMs: number])[],
  timeUnitMs = 1_000,
): ArrivalSchedule => ({
  ...common,
  timeUnitMs,
  executor: "ramping-arrival-rate",
  startRate,
  stages: stages.map(([target, durationMs]) => ({ target, durationMs })),
});
const run = (durationMs: number, seed = 1): ArrivalRun => ({ durationMs, startAtMs: 0, seed, stream: 0 });
const all = (schedule: ArrivalSchedule, durationMs = 1e9): number[] => [
  ...arrivalTimes(schedule, run(durationMs)),
];

describe("constant-arrival-rate", () => {
  test.each([
    ["two a second", constant(2), 2_000, [0, 500, 1_000, 1_500]],
    ["three a second: fractions are cut off", constant(3), 1_001, [0, 333, 666, 1_000]],
    ["one a minute", constant(1, 60_000), 120_000, [0, 60_000]],
    ["several in a millisecond", constant(3, 1), 2, [0, 0, 0, 1, 1, 1]],
  ])("%s", (_, schedule, durationMs, expected) => {
    expect(all(schedule, durationMs)).toEqual(expected);
  });

  /** In exact arithmetic. */
  const floor = (index: number, timeUnitMs: number, rate: number): number =>
    Number((BigInt(index) * BigInt(timeUnitMs)) / BigInt(rate));

  property([
    fc.integer({ min: 1, max: 1_000_000 }),
    fc.integer({ min: 1, max: 86_400_000 }),
    fc.integer({ min: 1, max: 300 }),
  ])("arrival i comes at the floor of i * timeUnit / rate", (rate, timeUnitMs, count) => {
    const times = arrivalTimes(constant(rate, timeUnitMs), run(1e12))[Symbol.iterator]();
    for (let index = 0; index < count; index++)
      expect(times.next()).toEqual({ done: false, value: floor(index, timeUnitMs, rate) });
  });

  test("far on, too, where the products are greatest", () => {
    const [rate, timeUnitMs] = [999_983, 86_400_000];
    const found = all(constant(rate, timeUnitMs), timeUnitMs);
    expect(found).toHaveLength(rate);
    for (let index = 0; index < rate; index += 9_973)
      expect(found[index]).toBe(floor(index, timeUnitMs, rate));
  });
});

describe("ramping-arrival-rate", () => {
  test.each([
    // 2 x^2 / 2 = i after x seconds of a ramp from 0 to 2 in 1 s, and so on.
    ["up from nothing: at sqrt(i) seconds", ramping(0, [[20, 10_000]]), [1_000, 1_414, 1_732, 2_000, 2_236]],
    [
      "level: the first one when a whole arrival has added up",
      ramping(2, [[2, 2_000]]),
      [500, 1_000, 1_500, 2_000],
    ],
    ["down to nothing", ramping(4, [[0, 2_000]]), [267, 585, 1_000, 2_000]],
    [
      "a stage of no length jumps",
      ramping(0, [
        [10, 0],
        [10, 300],
      ]),
      [100, 200, 300],
    ],
    [
      "nothing while the rate is 0",
      ramping(0, [
        [0, 5_000],
        [1, 0],
        [1, 1_000],
      ]),
      [6_000],
    ],
    [
      "a half arrival is carried into the next stage",
      ramping(1, [
        [1, 500],
        [1, 500],
      ]),
      [1_000],
    ],
  ])("%s", (_, schedule, expected) => {
    expect(all(schedule).slice(0, expected.length)).toEqual(expected);
  });

  // Found by a search: in doubles the first comes a millisecond too early, the others a millisecond too late.
  test.each([
    [1_812, ramping(10, [[0, 30_002_219_425]], 82_784_445), 29_817_559_650],
    [1_863, ramping(0, [[12, 26_827_200_290]], 86_400_000), 26_827_200_144],
    [544, ramping(3, [[0, 31_356_987_688]], 86_400_000), 30_515_392_859],
  ])("arrival %i of a year's ramp is exact", (place, schedule, expected) => {
    expect(all(schedule, 1e12)[place - 1]).toBe(expected);
  });

  test("the first is not a millisecond late where the rate rises by less than doubles tell", () => {
    const year = ramping(999_999, [[1_000_000, 30_000_000_000]], 999_999);
    expect(all(year, 4)).toEqual([0, 1, 2, 3]);
  });

  test("nothing comes after the last stage, nor at the run's end", () => {
    expect(all(ramping(2, [[2, 2_000]]))).toHaveLength(4);
    expect(all(ramping(2, [[2, 2_000]]), 2_000)).toHaveLength(3);
  });

  const stages = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 700 })), {
    minLength: 1,
    maxLength: 5,
  });
  property([fc.integer({ min: 0, max: 40 }), stages, fc.integer({ min: 1, max: 200 })])(
    "equals the slow schedule",
    (startRate, list, timeUnitMs) => {
      expect(all(ramping(startRate, list, timeUnitMs))).toEqual(slowTimes(startRate, list, timeUnitMs));
    },
  );

  const longStages = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 100_000_000 })),
    { minLength: 1, maxLength: 3 },
  );
  property([fc.integer({ min: 0, max: 50 }), longStages, fc.integer({ min: 1_000_000, max: 86_400_000 })])(
    "over days: each arrival is the millisecond in which the area reaches it",
    (startRate, list, timeUnitMs) => {
      const schedule = ramping(startRate, list, timeUnitMs);
      const found = all(schedule, 1e12);
      expect(found.length).toBe(Math.floor(roughArrivals(schedule, run(1e12))));
      for (const [index, ms] of found.entries()) {
        const area = (at: number): number => compareArea(startRate, list, timeUnitMs, at, index + 1);
        expect(area(ms) === 0 ? ms === 0 || area(ms - 1) < 0 : area(ms) < 0 && area(ms + 1) > 0).toBe(true);
      }
    },
  );
});

type Stages = readonly (readonly [target: number, durationMs: number])[];

/**
 * The sign of (arrivals that have added up `atMs` into the schedule) - `count`, in exact fractions: x ms into a
 * stage the area is x (2 f D + (t - f) x) / 2 D T.
 */
function compareArea(
  startRate: number,
  stages: Stages,
  timeUnitMs: number,
  atMs: number,
  count: number,
): number {
  let [from, startMs] = [startRate, 0];
  const wanted = 2n * BigInt(timeUnitMs) * BigInt(count);
  // 2 T times the area of the stages that are over.
  let over = 0n;
  for (const [to, length] of stages) {
    if (atMs < startMs + length) {
      const [x, f, d, rise] = [BigInt(atMs - startMs), BigInt(from), BigInt(length), BigInt(to - from)];
      return sign(over * d + x * (2n * f * d + rise * x) - wanted * d);
    }
    over += BigInt(from + to) * BigInt(length);
    [from, startMs] = [to, startMs + length];
  }
  return sign(over - wanted);
}

const sign = (value: bigint): number => (value > 0n ? 1 : value < 0n ? -1 : 0);

/** A rate changes at whole milliseconds only, so an area that is reached between two of them is passed at the second. */
function slowTimes(startRate: number, stages: Stages, timeUnitMs: number): number[] {
  const endMs = stages.reduce((sum, [, length]) => sum + length, 0);
  const found: number[] = [];
  for (let ms = 0; ms <= endMs; ms++) {
    for (;;) {
      const area = compareArea(startRate, stages, timeUnitMs, ms, found.length + 1);
      if (area < 0) break;
      found.push(area === 0 ? ms : ms - 1);
    }
  }
  return found;
}

describe("a day's rates", () => {
  const hourMs = 3_600_000;
  const rates = fc.array(fc.constantFrom(0, 0.1, 0.5, 1, 3), { minLength: 24, maxLength: 24 });
  const whole = (most: number) => fc.integer({ min: 1, max: most });
  property([rates, fc.constantFrom("steps", "lines"), whole(hourMs), whole(2 * 24 * hourMs), fc.nat()])(
    "bring an arrival when the area under them has grown by its gap",
    (rates, shape, timeUnitMs, startAtMs, seed) => {
      const state = (): RandomState => {
        const made = { random0: 0, random1: 0, random2: 0, random3: 0 };
        seedRandom(made, seed, 0, 0);
        return made;
      };
      const rateOf = (hour: number): number => rates[hour % 24] as number;
      /** The area from the epoch on, by whole hours and a part of one. */
      const areaAt = (ms: number): number => {
        let area = 0;
        for (let hour = 0; hour * hourMs < ms; hour++) {
          const part = Math.min(1, ms / hourMs - hour);
          const rise = shape === "lines" ? rateOf(hour + 1) - rateOf(hour) : 0;
          area += hourMs * part * (rateOf(hour) + (rise * part) / 2);
        }
        return area;
      };
      const random = state();
      const draw = (): number => -ln((next32(random) + 0.5) / 4_294_967_296) * timeUnitMs;
      let due = areaAt(startAtMs) + draw();
      const times = dayTimes({ rates, timeUnitMs, shape }, startAtMs, 5 * hourMs, state());
      let left = 60;
      for (const ms of times) {
        if (left-- === 0) break;
        const slack = 1e-9 * due + 1e-3;
        expect(areaAt(startAtMs + ms)).toBeLessThanOrEqual(due + slack);
        expect(areaAt(startAtMs + ms + 1)).toBeGreaterThanOrEqual(due - slack);
        due += draw();
      }
    },
  );
});

describe("k6's words are checked", () => {
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
  const right = { executor: "constant-arrival-rate", rate: 5, timeUnit: "1m", preAllocatedVUs: 3 };

  test.each([
    ["a right one", right, []],
    [
      "an executor of k6's that is no arrival rate",
      { ...right, executor: "constant-vus" },
      ["arrivals.executor"],
    ],
    ["rate 0", { ...right, rate: 0 }, ["arrivals.rate"]],
    ["rate 1.5", { ...right, rate: 1.5 }, ["arrivals.rate"]],
    ["no preAllocatedVUs", { executor: "constant-arrival-rate", rate: 1 }, ["arrivals.preAllocatedVUs"]],
    ["stages beside a constant rate", { ...right, stages: [] }, ["arrivals.stages"]],
    ["fewer maxVUs than preAllocatedVUs", { ...right, maxVUs: 2 }, ["arrivals.maxVUs"]],
    ["no stages", { executor: "ramping-arrival-rate", preAllocatedVUs: 1 }, ["arrivals.stages"]],
    [
      "stages that are none",
      { executor: "ramping-arrival-rate", preAllocatedVUs: 1, stages: [{ target: -1, duration: "soon" }, 5] },
      ["arrivals.stages.0.target", "arrivals.stages.0.duration", "arrivals.stages.1"],
    ],
  ])("%s", (_, value, expected) => {
    expect(mistakesOf(value)).toEqual(expected);
  });
});

test("a line of cron lists its minutes and hours in any order", () => {
  const cron = parseCron("at", "40,5,20 13,2 * * *", new Mistakes());
  const times = cron === null ? [] : [...cronTimes(cron, 0, 24 * 3_600_000)];
  expect(times.map((ms) => ms / 60_000)).toEqual([125, 140, 160, 785, 800, 820]);
});
