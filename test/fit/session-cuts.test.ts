// Parts that a caller's jobs are cut into: sessions, volleys, paces of pauses. Values are worked out by hand, at both sides of
// each bound.
import { describe, expect, test } from "vitest";
import { bySessions, bySize, type ComingsFit } from "../../sim/fit/comings.ts";
import { cutOf, isInBursts } from "../../sim/fit/cuts.ts";
import { dayMs } from "../../sim/fit/days.ts";
import { surelyEndByTime } from "../../sim/fit/ends.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { FittedComings } from "../../sim/fit/model.ts";
import { atOnceOf, pacesOf, withoutEnds } from "../../sim/fit/paces.ts";
import { type Profile, profileOfJobs } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import type { Spell } from "../../sim/fit/runs.ts";
import {
  absenceOf,
  joined,
  joinedMs,
  longAmong,
  rareAbsence,
  type Sessions,
  sessionsOf,
  tickOf,
} from "../../sim/fit/sessions.ts";

const hourMs = 3_600_000;
/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
const spell = (startMs: number, endMs: number, jobs = 1): Spell => ({ startMs, endMs, jobs });
/** A recording of so many days, by a clock of a millisecond. */
const recordingOver = (days: number): Recording =>
  ({ startedAtMs: monday, endedAtMs: monday + days * dayMs, resolutionMs: 1 }) as unknown as Recording;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

describe("sessions", () => {
  test("end with an absence, which is longer than that", () => {
    const spells = [spell(0, 10), spell(110, 300, 3), spell(250, 260), spell(401, 500), spell(600, 610, 2)];
    expect(sessionsOf(spells, 100)).toEqual({
      sessions: [
        { startMs: 0, endMs: 300, lastMs: 250, jobs: 5, spells: 3 },
        { startMs: 401, endMs: 610, lastMs: 600, jobs: 3, spells: 2 },
      ],
      pausesMs: [100, 0, 100],
      sizes: [1, 3, 1, 1, 2],
      gapsMs: [110, 140, 199],
    });
    const doubled = sessionsOf(spells, 100, (fromMs, untilMs) => 2 * (untilMs - fromMs));
    expect(doubled.sessions.map(({ jobs }) => jobs)).toEqual([1, 4, 1, 2]);
    expect(joined([doubled, doubled]).sizes).toEqual([1, 3, 1, 1, 2, 1, 3, 1, 1, 2]);
  });

  test("are long above twice the usual number of calls, and two", () => {
    const of = (jobs: number) => ({ startMs: 0, endMs: 0, lastMs: 0, jobs, spells: 1 });
    expect(longAmong([3, 3, 8, 9].map(of)).map(({ jobs }) => jobs)).toEqual([9]);
    expect(longAmong([])).toEqual([]);
  });
});

describe("sessions surely end by time", () => {
  /** A caller with one session of an hour of so many calls, evenly. */
  const caller = (spells: number, lastMs = hourMs): Sessions => ({
    sessions: [{ startMs: 0, endMs: lastMs, lastMs, jobs: spells, spells }],
    ...{ pausesMs: [], sizes: [], gapsMs: many(99, () => hourMs / 99) },
  });

  // One of n callers differs by a share: its logarithm's square, divided by n, is the variance, beside 1e-4 at least.
  // The odds are (5 / 2) ln(1 + 0.2 ln(1.06)² / 1e-4) = 5.1 and, for 1.05, 4.4. A hundred to one is 4.6.
  test("if five callers' numbers of calls differ, but their lengths do not", () => {
    const of = (...spells: readonly number[]) => surelyEndByTime(spells.map((count) => caller(count)));
    expect(of(100, 100, 100, 100, 106)).toBe(true);
    expect(of(100, 100, 100, 100, 105)).toBe(false);
    expect(of(100, 100, 100, 200)).toBe(false);
    expect(of(100, 100, 100, 100)).toBe(false);
  });

  test("but not if lengths differ as well, or nobody has a long session", () => {
    expect(surelyEndByTime([50, 80, 100, 120, 150].map((count) => caller(count, count * 36_000)))).toBe(
      false,
    );
    expect(surelyEndByTime([1, 1, 1, 1, 2].map((count) => caller(count, 0)))).toBe(false);
  });
});

describe("sessions of a caller that looks for work all day", () => {
  /** Two weeks of sessions, one each second hour: of twenty calls from ten to sixteen on weekdays, else of two. */
  const starts = many(14 * 12, (place) => monday + 2 * place * hourMs);
  const isLong = (ms: number): boolean => {
    const day = Math.floor((ms - monday) / dayMs) % 7;
    const hour = (ms % dayMs) / hourMs;
    return day < 5 && hour >= 10 && hour <= 16;
  };
  const recording = recordingOver(14);
  const parted = (from: readonly number[], long = isLong) => {
    const jobs = from.flatMap((ms) =>
      many(long(ms) ? 20 : 2, (call) => spell(ms + 10_000 * call, ms + 10_000 * call + 100)),
    );
    const profile = { shape: { kind: "call" }, runs: jobs, jobs, life: jobs } as unknown as Profile;
    const found = bySize([profile], recording);
    return found === null ? null : [found.short, found.long].map((each) => each.map(({ length }) => length));
  };

  test("are taken apart by size if long ones keep hours of their own", () => {
    const long = starts.filter(isLong).length;
    expect(long).toBe(40);
    expect(parted(starts)).toEqual([[2 * (168 - long)], [20 * long]]);
  });

  test("of less than twelve a day, or of sizes without hours, are of one kind", () => {
    expect(parted(starts.slice(0, -1))).toBeNull();
    expect(parted(starts, (ms) => ((ms - monday) / hourMs) % 14 === 0)).toBeNull();
  });
});

test("callers whose calls end sessions at random are a plain loop, unless they are away for long or a time ends them", () => {
  const recording = recordingOver(14);
  /** @param slower how much slower every other session is, of as long a time */
  const kindOf = (awayMs: number, slower = 1): string | undefined => {
    const count = Math.floor((14 * dayMs) / (awayMs + 20_000));
    let ms = monday;
    const jobs = many(count, (place) => place).flatMap((place) => {
      const gapMs = place % 2 === 0 ? 1_000 : 1_000 * slower;
      const lengthMs = -40_000 * Math.log((((17 * place) % count) + 0.5) / count);
      const calls = Math.ceil(lengthMs / gapMs);
      const fromMs = ms;
      ms += gapMs * calls + awayMs;
      return many(calls, (call) => {
        const startMs = fromMs + gapMs * call + 90 * (call % 7);
        return { ...spell(startMs, startMs + 300), first: { status: 200 }, last: { status: 200 } };
      });
    });
    const profile = {
      ...{ caller: { calls: [] }, shape: { kind: "call" }, pace: { kind: "pause" }, retries: [], refused: 0 },
      ...{ pausesMs: [], jobs, life: jobs, runs: jobs, mix: new Map([["rest 1", jobs.length]]) },
    } as unknown as Profile;
    return bySessions([profile], recording)?.behaviour.kind;
  };
  expect(kindOf(5 * hourMs)).toBeUndefined();
  expect(kindOf(7 * hourMs)).toBe("sessions");
  expect(kindOf(5 * hourMs, 3)).toBe("sessions");
});

describe("callers who work in shifts, two a day, of which they miss some", () => {
  const recording = recordingOver(14);
  /** @param gapMs pause between two calls of a shift */
  const cut = (gapMs: number) => {
    const profiles = many(8, (caller) => {
      const jobs = many(28, (shift) => shift)
        .filter((shift) => (shift * 7 + caller * 5) % 11 > 3)
        .flatMap((shift) => {
          const fromMs = monday + Math.floor(shift / 2) * dayMs + (shift % 2 === 0 ? 11 : 17.5) * hourMs;
          return many(Math.floor((3.5 * hourMs) / gapMs), (call) =>
            spell(fromMs + call * gapMs, fromMs + call * gapMs + 100),
          );
        });
      return { shape: { kind: "call" }, runs: jobs, jobs, life: jobs } as unknown as Profile;
    });
    const { awayMs, cut } = cutOf(profiles, recording);
    const hours = cut.flatMap(({ sessions }) =>
      sessions.map(({ startMs, endMs }) => (endMs - startMs) / hourMs),
    );
    return { awayHours: awayMs / hourMs, count: hours.length, longest: Math.max(...hours) };
  };

  test("have a session for each, though no other caller is there between them", () => {
    const { awayHours, count, longest } = cut(40_000);
    expect(count).toBe(
      8 * 28 -
        many(8, (caller) => many(28, (shift) => (shift * 7 + caller * 5) % 11))
          .flat()
          .filter((rest) => rest <= 3).length,
    );
    expect(awayHours).toBeGreaterThan(10 / 60);
    expect(awayHours).toBeLessThan(3);
    expect(longest).toBeLessThan(3.51);
  });

  test("of fewer than twenty calls have sessions of several, as any loop of quiet hours", () => {
    expect(cut((3.5 * hourMs) / 20).longest).toBeLessThan(3.51);
    expect(cut((3.5 * hourMs) / 19).longest).toBeGreaterThan(10);
  });
});

test("calls that begin together, now and then, are made at once by one loop in sessions", () => {
  // Ten times a day: two calls at once and one soon after them, four times within a minute.
  const jobs = many(70, (session) => monday + (session * dayMs) / 10).flatMap((ms) =>
    [0, 1, 2, 3].flatMap((place) => {
      const startMs = ms + 15_000 * place + (((ms / 1_000) * 7 + place * 3_331) % 5_003);
      return [
        [startMs, 80],
        [startMs, 90],
        [startMs + 340, 80],
      ].map(([atMs = 0, lastMs = 0]) => {
        const answered = { status: 200, endMs: atMs + lastMs };
        return {
          ...spell(atMs, answered.endMs),
          key: "rest 1",
          first: answered,
          last: answered,
          open: 1,
          together: 1,
        };
      });
    }),
  ) as unknown as RecordedJob[];
  const caller = { caller: { calls: [] }, life: jobs } as unknown as Profile;
  const profile = profileOfJobs(caller, jobs, 5);
  expect(profile.pace.kind).toBe("chance");
  const atOnceOf = (runs: readonly Spell[]) => {
    const { behaviour } = bySessions([{ ...profile, runs }], recordingOver(7)) as ComingsFit;
    return (behaviour.of as { atOnce: unknown }).atOnce;
  };
  expect(atOnceOf(profile.runs)).toMatchObject({ quantiles: [1, 1, 2, 2] });
  expect(atOnceOf(jobs)).toBeNull();
});

test("callers who each came once are away twice as long as they were watched, at most", () => {
  const recording = recordingOver(4);
  const profiles = many(40, (index) => {
    const ms = monday + (index % 4) * dayMs + 9 * hourMs + index * 60_000;
    const jobs = [spell(ms, ms + 100)];
    const mix = new Map([["rest 1", 1]]);
    return { shape: { kind: "call" }, jobs, life: jobs, runs: jobs, mix } as unknown as Profile;
  });
  const { away, rhythm } = (bySessions(profiles, recording) as ComingsFit).behaviour as FittedComings & {
    kind: "sessions";
  };
  expect(rhythm?.hours[9]).toBeGreaterThan(10);
  expect(away).toMatchObject({ kind: "uniform", least: 0 });
  // By a rhythm whose mean is about 1, four days of absence for each return.
  expect((away as { most: number }).most / (8 * dayMs)).toBeCloseTo(1, 1);
});

describe("a caller joined", () => {
  const startedAtMs = monday;
  /** Jobs of a second, an hour apart, from so many days on. */
  const jobs = (days: number, count = 20, gapMs = hourMs) =>
    many(count, (index) =>
      spell(monday + days * dayMs + index * gapMs, monday + days * dayMs + index * gapMs + 1000),
    );
  test.each<[string, Spell[], number]>([
    ["no call at all", [], 0],
    ["less than a day", jobs(0.999), 0],
    ["a day", jobs(1), 1],
    ["of fewer than twenty calls", jobs(1, 19), 0],
    // The silence before is more than three times the longest pause since: 8 hours, less a second.
    ["after three times the longest pause", jobs(1, 20, 8 * hourMs + 1000), 0],
    ["after a little more than that", jobs(1, 20, 8 * hourMs + 999), 1],
    ["on a Saturday, when there was none before", jobs(5), 0],
    ["on a Sunday, after a Saturday", jobs(6), 6],
    ["on a Monday, after a week", jobs(7), 7],
  ])("%s", (_, own, day) => {
    const endedAtMs = own.at(-1)?.endMs ?? startedAtMs;
    expect(joinedMs(own, { startedAtMs, endedAtMs })).toBe(monday + day * dayMs);
  });

  test("unless it has been silent since for longer than it called", () => {
    const own = jobs(3);
    const endMs = (own.at(-1) as Spell).endMs;
    const calledMs = endMs - (own[0] as Spell).startMs;
    expect(joinedMs(own, { startedAtMs, endedAtMs: endMs + calledMs })).toBe(monday + 3 * dayMs);
    expect(joinedMs(own, { startedAtMs, endedAtMs: endMs + calledMs + 1 })).toBe(startedAtMs);
  });

  test("on a Monday, where only a weekend came before, it was there all the time", () => {
    const saturday = monday - 2 * dayMs;
    expect(joinedMs(jobs(0), { startedAtMs: saturday, endedAtMs: monday + dayMs })).toBe(saturday);
  });
});

describe("callers who come too rarely to show a hill of absences", () => {
  const week = { startedAtMs: monday, endedAtMs: monday + 7 * dayMs };
  /** A burst of a hundred calls from so many days on, with so long a pause before each. */
  const burst = (days: number, pauseMs = 60_000, count = 100): Spell[] =>
    many(count, (index) => {
      const startMs = monday + days * dayMs + index * pauseMs;
      return spell(startMs, startMs);
    });
  test.each<[string, readonly Spell[][], number]>([
    ["once", [burst(3)], 1],
    ["once each, two callers", [burst(3), burst(5)], 2],
    ["four times", [[0.1, 2, 4, 6].flatMap((days) => burst(days))], 4],
    ["at the start and at the end", [[...burst(0), ...burst(6.93)]], 2],
    ["twice on one day", [[...burst(1), ...burst(1.6)]], 2],
    ["once, with a break of twenty minutes", [[...burst(1), ...burst(1.0838)]], 1],
  ])("are away after each: %s", (_, lives, sessions) => {
    const awayMs = rareAbsence(lives, week);
    expect(awayMs).toBeGreaterThanOrEqual(20 * 60_000);
    expect(lives.flatMap((spells) => sessionsOf(spells, awayMs).sessions)).toHaveLength(sessions);
  });

  test.each<[string, readonly Spell[][]]>([
    ["by calls that are no burst", [burst(0, 100 * 60_000)]],
    ["five times", [[0.1, 1, 2, 4, 6].flatMap((days) => burst(days))]],
    ["for more than a tenth of the time", [burst(3, 11 * 60_000)]],
    ["by one call alone", [burst(3, 1, 1)]],
    [
      "with pauses of all lengths",
      [[0, 1, 3, 9, 27, 81, 130].map((hours) => spell(monday + hours * hourMs, monday + hours * hourMs))],
    ],
  ])("but nothing is told of them who come %s", (_, lives) => {
    expect(rareAbsence(lives, week)).toBe(0);
  });

  test("come back once in the time that was recorded, and make as many calls then", () => {
    const jobs = burst(5).map((own) => ({ ...own, first: { status: 200 }, last: { status: 200 } }));
    const profile = {
      ...{ caller: { calls: [] }, shape: { kind: "call" }, pace: { kind: "pause" }, retries: [], refused: 0 },
      ...{ pausesMs: [], jobs, life: jobs, runs: jobs, mix: new Map([["rest 1", jobs.length]]) },
    } as unknown as Profile;
    const { behaviour } = bySessions([profile], recordingOver(7)) as ComingsFit;
    const workMs = 99 * 60_000;
    expect(behaviour).toMatchObject({
      kind: "sessions",
      away: { kind: "uniform", least: 0, most: 2 * (7 * dayMs - workMs) },
    });
  });
});

describe("a caller is in bursts", () => {
  /** Ten bursts in ten days by two workers, of so many calls a second apart. */
  const inTen = (calls: number, days = 1): boolean => {
    const jobs = many(10 * calls, (index) => {
      const startMs = monday + Math.floor(index / calls) * days * dayMs + (index % calls) * 1_000;
      return spell(startMs, startMs + 1_300);
    });
    const profile = { shape: { kind: "call" }, jobs, life: jobs, runs: jobs } as unknown as Profile;
    return isInBursts(profile, recordingOver(10));
  };

  test("who calls for less than a fifth of the time", () => {
    expect(inTen(1_000)).toBe(true);
    expect(inTen(17_278)).toBe(true);
    expect(inTen(17_281)).toBe(false);
  });

  test("with more than a minute in between", () => {
    /** A day of bursts of five calls, each so long after the one before. */
    const apart = (awayMs: number): boolean => {
      const everyMs = 4_300 + awayMs;
      const jobs = many(5 * Math.floor(dayMs / everyMs), (index) => {
        const startMs = monday + Math.floor(index / 5) * everyMs + (index % 5) * 1_000;
        return spell(startMs, startMs + 300);
      });
      const profile = { shape: { kind: "call" }, jobs, life: jobs, runs: jobs } as unknown as Profile;
      return isInBursts(profile, recordingOver(1));
    };
    expect(apart(62_000)).toBe(true);
    expect(apart(58_000)).toBe(false);
  });

  test("but not who is never away", () => {
    expect(inTen(1_000, 1_000 / 86_400)).toBe(false);
    expect(inTen(1)).toBe(false);
  });
});

describe("an absence", () => {
  test("is longer than the middle of the valley between two kinds of pauses", () => {
    // Classes have two to an octave: 1,000 ms is in class 19, and 60,000 ms in class 31. The valley is from 21 to 29:
    // its middle, class 25, ends at 2^13 ms.
    const two = [...many(100, () => 1000), ...many(10, () => 60_000)];
    expect(absenceOf(two)).toBe(8192);
    expect(absenceOf([...many(100, () => 1000), ...many(4, () => 60_000)])).toBe(8192);
    expect(absenceOf([...many(100, () => 1000), ...many(3, () => 60_000)])).toBe(0);
  });

  test("is none where pauses are of one kind, or of none", () => {
    expect(absenceOf([])).toBe(0);
    expect(absenceOf(many(100, () => 1000))).toBe(0);
    expect(absenceOf(many(300, (index) => 1000 * 1.02 ** index))).toBe(0);
    expect(absenceOf([...many(100, () => 0), ...many(100, () => 1)])).toBe(0);
  });
});

describe("a clock of a session's own", () => {
  const of = (gapsMs: readonly number[]): Sessions => ({ sessions: [], pausesMs: [], sizes: [], gapsMs });
  test.each<[string, number[], number, number | null]>([
    ["twenty gaps", many(20, () => 1000), 0, 1000],
    ["nineteen gaps", many(19, () => 1000), 0, null],
    ["of half a second", many(20, () => 500), 0, 500],
    ["of less", many(20, () => 499), 0, null],
    ["of four times the slack", many(20, () => 1000), 250, null],
    ["of more", many(20, () => 1000), 249, 1000],
    ["nine in ten, the others in between", [...many(18, () => 1000), 1500, 1500], 0, 1000],
    ["fewer than that", [...many(17, () => 1000), 1500, 1500, 1500], 0, null],
    ["ticks that were missed", [...many(15, () => 1000), 2000, 3000, 4000, 2000, 2000], 0, 1000],
    ["off by a hundredth", [...many(15, () => 1000), ...many(5, () => 1010)], 0, 1000],
    ["off by more", [...many(15, () => 1000), ...many(5, () => 1011)], 0, null],
    ["off by a hundredth and twice the slack", [...many(15, () => 1000), ...many(5, () => 980)], 5, 1000],
    ["off by more than that", [...many(15, () => 1000), ...many(5, () => 979)], 5, null],
    ["calls just behind others", [...many(15, () => 1000), ...many(5, () => 10)], 0, null],
  ])("%s", (_, gapsMs, slackMs, tickMs) => {
    expect(tickOf(of(gapsMs), slackMs)).toBe(tickMs);
  });
});

describe("paces", () => {
  /** Sessions of these pauses, each with a first spell. */
  const sessionsWith = (
    orders: readonly (readonly number[])[],
    sizeOf = (_ms: number): number => 1,
  ): Sessions => ({
    sessions: orders.map((order) => ({ startMs: 0, endMs: 0, lastMs: 0, jobs: 1, spells: order.length + 1 })),
    pausesMs: orders.flat(),
    sizes: orders.flatMap((order) => [9, ...order.map(sizeOf)]),
    gapsMs: [],
  });
  const constant = (ms: number) => ({ kind: "constant", ms });

  test("follow each other: three short pauses, then two long ones, and the end", () => {
    const forty = sessionsWith(many(40, () => [1000, 1000, 1000, 8000, 8000]));
    expect(pacesOf(forty, 0)).toEqual({
      kind: "paces",
      paces: [
        { think: constant(1000), times: constant(3), atOnce: null, next: [0, 40, 0] },
        { think: constant(8000), times: constant(2), atOnce: null, next: [0, 0, 40] },
      ],
      first: [40, 0, 0],
    });
    // Fewer than 200 pauses tell none.
    expect(
      pacesOf(sessionsWith([...many(39, () => [1000, 1000, 1000, 8000, 8000]), [1000, 1000, 1000, 8000]]), 0),
    ).toBeNull();
  });

  test("have calls at once behind them, of their own number", () => {
    const sizes = sessionsWith(
      many(40, () => [1000, 1000, 1000, 8000, 8000]),
      (ms) => (ms === 1000 ? 1 : 4),
    );
    expect(pacesOf(sizes, 0)?.paces.map(({ atOnce }) => atOnce)).toEqual([null, constant(4)]);
    expect(atOnceOf([1, 1])).toBeNull();
    expect(atOnceOf([2, 2])).toEqual(constant(2));
  });

  test("whose runs end as by the toss of a coin say after each pause whether there is one more", () => {
    // Runs of 1 to 5, half as many of each as of the one before: a coin's, as far as 31 of them show it.
    const lengths = [...many(16, () => 1), ...many(8, () => 2), ...many(4, () => 3), ...many(2, () => 4), 5];
    const orders = lengths.flatMap((length) =>
      many(4, () => [...many(length, () => 1000), 60_000, 60_000, 60_000]),
    );
    // 31 * 4 runs have 57 * 4 short pauses: 26 * 4 of them follow another one.
    const paces = pacesOf(sessionsWith(orders), 0);
    expect(paces?.paces).toEqual([
      { think: constant(1000), times: null, atOnce: null, next: [104, 124, 0] },
      { think: constant(60_000), times: constant(3), atOnce: null, next: [0, 0, 124] },
    ]);
    expect(paces?.first).toEqual([124, 0, 0]);
  });

  test("of neighbours that tell the same of what comes next are one", () => {
    // Twice 1,000 or 1,500 ms, in each order as often; then 8,000 and 60,000 ms, and the end.
    const short = [1000, 1500];
    const orders = many(
      60,
      (index) => [short[index % 2], short[Math.floor(index / 2) % 2], 8000, 60_000] as number[],
    );
    const paces = pacesOf(sessionsWith(orders), 0)?.paces;
    expect(paces?.map(({ next }) => next)).toEqual([
      [0, 60, 0, 0],
      [0, 0, 60, 0],
      [0, 0, 0, 60],
    ]);
    expect(paces?.map(({ times }) => times)).toEqual([constant(2), constant(1), constant(1)]);
    expect(paces?.[0]?.think).toMatchObject({ kind: "quantiles", quantiles: [1000, 1000, 1500, 1500] });
    expect(paces?.slice(1).map(({ think }) => think)).toEqual([constant(8000), constant(60_000)]);
  });

  test("are eight at most: those that tell least of what comes next are one", () => {
    const steps = [2, 8, 32, 128, 512, 2048, 8192, 32_768, 131_072];
    const all = pacesOf(sessionsWith(many(40, () => steps)), 0)?.paces ?? [];
    expect(all).toHaveLength(8);
    // Each comes forty times; any two neighbours tell as much, so that the first two are one.
    expect(all[0]?.next).toEqual([0, 40, 0, 0, 0, 0, 0, 0, 0]);
    expect(all[0]?.times).toEqual(constant(2));
  });

  test("are none where pauses are alike, come in any order, or are each session's own", () => {
    expect(pacesOf(sessionsWith(many(40, () => [1000, 1000, 1000, 1000, 1000])), 0)).toBeNull();
    // Both orders of two, as often: nothing follows from anything.
    const any = many(120, (index) =>
      [
        ...[1000, 1000, 8000, 8000],
        ...[1000, 8000, 1000, 8000],
        ...[8000, 1000, 8000, 1000],
        ...[8000, 8000, 1000, 1000],
      ].slice(4 * (index % 4), 4 * (index % 4) + 4),
    );
    expect(pacesOf(sessionsWith(any), 0)).toBeNull();
    const own = many(80, (index) => many(6, () => (index % 2 === 0 ? 1000 : 30_000)));
    expect(pacesOf(sessionsWith(own), 0)).toBeNull();
    for (const orders of [any, own]) expect(pacesOf(sessionsWith(orders), 0, true)).toBeNull();
  });

  test("show in less order in visits that a time ends: a page is read after four calls to six", () => {
    const page = (calls: number): number[] => [...many(calls, () => 1000), 20_000];
    const orders = many(200, (index) => many(8, (nth) => page(4 + ((index + nth) % 3))).flat());
    // One pause of six is long, and none follows another: that is a thirtieth in other places than by chance.
    expect(pacesOf(sessionsWith(orders), 0)).toBeNull();
    const paces = pacesOf(sessionsWith(orders), 0, true)?.paces;
    expect(paces?.map(({ think }) => think)).toEqual([constant(1000), constant(20_000)]);
    expect(paces?.[0]?.times).toMatchObject({ kind: "quantiles", quantiles: [4, 4, 5, 5, 6, 6] });
    expect(paces?.[1]?.times).toEqual(constant(1));
    // Each session ends with a page.
    expect(paces?.map(({ next }) => next)).toEqual([
      [0, 1600, 0],
      [1400, 0, 200],
    ]);
  });

  test("lose their ends, where anything else ever came", () => {
    const pace = { think: { kind: "constant", ms: 1 } as const, times: null, atOnce: null };
    const paces = [
      { ...pace, next: [0, 1, 2] },
      { ...pace, next: [0, 0, 5] },
    ];
    const endless = withoutEnds({ kind: "paces", paces, first: [1, 2, 4] });
    expect(endless.paces.map(({ next }) => next)).toEqual([
      [0, 1, 0],
      [0, 0, 5],
    ]);
    expect(endless.first).toEqual([1, 2, 4]);
  });
});
