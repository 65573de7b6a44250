// The clock that a caller's starts keep to, by starts that are set: missed ticks, retries, absences and several clients.
import { describe, expect, test } from "vitest";
import type { Spell } from "../../sim/fit/runs.ts";
import { clockOf, clockOfSeveral } from "../../sim/fit/ticks.ts";

const [s, min] = [1_000, 60_000];
const times = (count: number, value: number): number[] => new Array(count).fill(value);
const runsAt = (starts: readonly number[]): Spell[] =>
  starts.map((startMs) => ({ startMs, endMs: startMs, jobs: 1 }));
/** Runs that begin these gaps apart. */
const apart = (...gaps: readonly number[]): Spell[] => {
  const starts = [7 * min];
  for (const gap of gaps) starts.push((starts.at(-1) as number) + gap);
  return runsAt(starts);
};

/** The period and the distance from its ticks, of runs that begin these gaps apart. */
function clock(gaps: readonly number[], slackMs = 0): number[] | null {
  const found = clockOf(apart(...gaps), slackMs);
  return found && [found.everyMs, found.offMs];
}

/** Nine starts, each second of which is early or late by so much. */
const off = (ms: number): number[] => {
  const starts = [0, ms, 0, -ms, 0, ms, 0, -ms, 0].map((early, tick) => tick * min + early);
  return starts.slice(1).map((start, at) => start - (starts[at] as number));
};

describe("a clock", () => {
  test.each<[string, number[], number[] | null]>([
    ["of three gaps alike", times(3, min), [min, 0]],
    ["of two gaps alike", times(2, min), null],
    ["of which two ticks of seven are missed, one at a time", [min, 2 * min, min, 2 * min, min], [min, 0]],
    ["of which each third is missed", [min, 2 * min, min, 2 * min, min, 2 * min], null],
    ["of which two ticks of three are missed", [...times(6, min), ...times(4, 6 * min)], [min, 0]],
    ["of which one more is missed", [...times(6, min), ...times(3, 6 * min), 7 * min], null],
    [
      "with a retry within a quarter of its period",
      [...times(4, min), 14_999, 45_001, ...times(4, min)],
      [min, 0],
    ],
    ["with a call at a quarter of its period", [...times(4, min), 15 * s, 45 * s, ...times(4, min)], null],
    ["whose first and last starts are off", [64 * s, ...times(19, min), 56 * s], [min, 0]],
    [
      "of starts early and late in turn",
      [63 * s, ...times(4, 0).flatMap(() => [54 * s, 66 * s]), 57 * s],
      [min, 3_000],
    ],
    [
      "with one start of ten far off",
      [...times(9, min), 67 * s, 53 * s, ...times(5, min), 67 * s, 53 * s, min],
      [min, 0],
    ],
    [
      "with two starts of ten far off",
      [...times(3, min), 67 * s, 53 * s, ...times(3, min), 67 * s, 53 * s, min],
      null,
    ],
    ["with starts as far off as a twentieth of its period", off(3_000), [min, 3_000]],
    ["with starts further off", off(3_001), null],
  ])("%s", (_, gaps, found) => {
    expect(clock(gaps)).toEqual(found);
  });

  test("is slower than twice the slack, and as exact", () => {
    expect([clock(times(5, min), 29_999), clock(times(5, min), 30_000)]).toEqual([[min, 0], null]);
    expect([clock(off(4_000), 2_000), clock(off(4_001), 2_000)]).toEqual([[min, 4_000], null]);
  });
});

describe("an absence", () => {
  const around = (everyMs: number, ticks: number, gapMs: number) =>
    clock([...times(ticks / 2, everyMs), gapMs, ...times(ticks / 2, everyMs)]);

  test("lasts over an hour, and the clock may begin anew after it", () => {
    expect(around(5 * min, 60, 63 * min)).toEqual([5 * min, 0]);
    expect(around(5 * min, 60, 53 * min)).toBeNull();
    expect(around(330 * s, 60, 60 * min + 1)).toEqual([330 * s, 0]);
    expect(around(330 * s, 60, 60 * min)).not.toEqual([330 * s, 0]);
  });

  test("lasts over ten periods: a shorter one is of missed ticks", () => {
    expect(around(400 * s, 20, 4_000 * s)).toEqual([400 * s, 0]);
    expect(around(400 * s, 20, 4_001 * s)).toBeNull();
  });

  test("takes a fifth of the time at most", () => {
    expect(around(10 * min, 48, 120 * min)).toEqual([10 * min, 0]);
    expect(around(10 * min, 46, 120 * min)).toBeNull();
  });
});

describe("clients of one period under one name", () => {
  const phases = [
    0, 7_100, 11_300, 19_000, 23_900, 31_700, 36_100, 41_000, 44_400, 49_900, 53_300, 57_700, 58_900,
  ];
  const several = (offsets: readonly number[], runs: number, slackMs = 0) => {
    const starts = Array.from(
      { length: runs },
      (_, at) => (7 + Math.floor(at / offsets.length)) * min + (offsets[at % offsets.length] as number),
    );
    return clockOfSeveral(runsAt(starts), slackMs);
  };
  const of = (clients: number) => ({ clients, pace: { kind: "ticks", everyMs: min, offMs: 0 } });

  test.each([1, 2, 3, 5, 8, 11, 12])("are %d, by six calls of each", (clients) => {
    expect(several(phases.slice(0, clients), 6 * clients)).toEqual(of(clients));
    expect(several(phases.slice(0, clients), 6 * clients - 1)).toBeNull();
  });

  test("are twelve at most", () => {
    expect(several(phases, 13 * 8)).toBeNull();
  });

  test("begin apart, by a tenth of their share of the period", () => {
    expect(several([0, 3_000], 12)).toEqual(of(2));
    expect(several([0, 2_999], 12)).toBeNull();
  });

  test("keep to their clock by a five-hundredth beyond the slack, which is small", () => {
    const one = (ms: number, slackMs = 0) => clockOfSeveral(apart(...off(ms)), slackMs)?.pace.offMs ?? null;
    expect([one(120), one(121), one(130, 10), one(131, 10)]).toEqual([120, null, 130, null]);
    expect([several([0], 9, 1_200), several([0], 9, 1_201)]).toEqual([of(1), null]);
  });
});
