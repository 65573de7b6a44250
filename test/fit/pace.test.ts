// Behaviour and arrivals of a population, from callers that are set: each kind of pace, with all that is said of it.
import { describe, expect, test } from "vitest";
import type { Cluster } from "../../sim/fit/clusters.ts";
import { dayMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import { mixturePace, paceOf } from "../../sim/fit/pace.ts";
import type { CallPace, Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import type { RunForm } from "../../sim/fit/runs.ts";

const recording = { startedAtMs: 0, endedAtMs: 600_000, resolutionMs: 1 } as Recording;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

interface Caller {
  /** Starts of its runs, ms. */
  readonly at: readonly number[];
  readonly lastsMs?: number;
  readonly shape?: RunForm;
  readonly pace?: CallPace;
  readonly clients?: number;
  readonly refused?: number;
  /** Calls of each run. */
  readonly size?: number;
}

function profile({
  at,
  lastsMs = 50,
  shape = { kind: "call" },
  pace = { kind: "pause" },
  clients = 1,
  refused = 0,
  size = 1,
}: Caller): Profile {
  const call = { status: refused > 0 ? 429 : 200 };
  const jobs = at.map((startMs) => {
    return { startMs, endMs: startMs + lastsMs, jobs: size, attempts: 1, first: call, last: call };
  });
  const pausesMs = jobs.slice(1).map(({ startMs }, index) => startMs - (jobs[index] as RecordedJob).endMs);
  return {
    ...{ caller: { organization: "acme", user: "ann" }, jobs, life: jobs, runs: jobs, shape, pace, pausesMs },
    ...{ retries: [], guess: null, refused, clients, mix: new Map(), apart: null },
  } as unknown as Profile;
}

function cluster(callers: readonly Caller[], mix: Readonly<Record<string, number>> = { rest: 1 }): Cluster {
  const jobs = Object.values(mix).reduce((sum, count) => sum + count, 0);
  return { profiles: callers.map(profile), mixture: false, mix: new Map(Object.entries(mix)), jobs };
}

/** Fits callers; the same calls two weeks later have the same pace. */
function fitted(callers: readonly Caller[], mix?: Readonly<Record<string, number>>) {
  const found = paceOf(cluster(callers, mix), recording);
  const laterMs = 14 * dayMs;
  const later = callers.map((caller) => ({ ...caller, at: caller.at.map((ms) => ms + laterMs) }));
  const { rhythms: _, ...told } = found;
  expect(
    paceOf(cluster(later, mix), {
      ...{ ...recording, startedAtMs: laterMs, endedAtMs: recording.endedAtMs + laterMs },
    } as Recording),
  ).toMatchObject(told);
  return found;
}

const ticks = (everyMs: number, offMs = 0): CallPace => ({ kind: "ticks", everyMs, offMs });
const every = (everyMs: number, fromMs: number, count: number): number[] =>
  many(count, (index) => fromMs + index * everyMs);

describe("calls by the clock", () => {
  const two = [
    { at: every(7_000, 1_200, 20), pace: ticks(7_001, 40) },
    { at: every(7_000, 3_400, 30), pace: ticks(6_999, 1_210), clients: 2 },
  ];

  test("are polls of the round period that all periods allow, from their first starts on", () => {
    expect(fitted(two)).toEqual({
      behaviour: { kind: "poller", everyMs: 7_000 },
      rhythms: [],
      arrivals: { kind: "closed", clients: 3, startWithinMs: 10_400 },
      arrivalsWhy: "the last of them was first seen 10s after the start",
      why: "48 gaps of whole periods of 7s, nine in ten within 1.2s",
      single: true,
    });
  });

  test("are polls if nine in ten are of one kind", () => {
    expect(fitted(two, { rest: 90, status: 10 }).behaviour.kind).toBe("poller");
    expect(fitted(two, { rest: 89, status: 11 }).behaviour.kind).toBe("worker");
  });

  // A period errs by twice the distance from the ticks, and the clock's 6 ms, over all gaps; by 1 ms at least.
  test.each([
    [[ticks(7_030)], 4, 7_030],
    [[ticks(7_030, 42)], 4, 7_000],
    [[ticks(7_030, 41)], 4, 7_050],
    [[ticks(7_001.1)], 40, 7_001],
    [[ticks(7_030, 42), ticks(7_030)], 4, 7_000],
    [[ticks(7_030, 14)], 2, 7_000],
  ])("of periods %j in %i starts come every %i ms", (paces, count, everyMs) => {
    const callers = paces.map((pace) => ({ at: every(7_030, 10, count), pace }));
    expect(fitted(callers).behaviour).toEqual({ kind: "poller", everyMs });
  });

  test("on whole minutes are by cron, if no caller has several clients", () => {
    const callers = [0, 20].map((ms) => ({ at: every(60_000, ms, 9), pace: ticks(60_000) }));
    const once = { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: 1 };
    const timetable = { kind: "timetable", at: "* * * * *", withinMs: 0, calls: null, length: null };
    expect(fitted(callers)).toEqual({
      behaviour: { ...timetable, of: once },
      rhythms: [],
      arrivals: { kind: "closed", clients: 2, startWithinMs: 0 },
      arrivalsWhy: "2 callers began at once with the minute",
      why: "16 gaps of whole periods of 1m, each begun with a minute",
      single: false,
    });
    expect(fitted(callers.map((one) => ({ ...one, clients: 2 }))).behaviour.kind).toBe("poller");
    const late = many(10, (place) => ({ at: every(60_000, 1_000 * place, 9), pace: ticks(60_000) }));
    expect(fitted(late)).toMatchObject({
      behaviour: { at: "* * * * *", withinMs: 9_000 },
      arrivalsWhy: "10 callers began within 9s with the minute",
    });
    const volleys = callers.map((one) => ({ ...one, shape: { kind: "burst", size: 4 } as const }));
    expect(fitted(volleys)).toEqual({
      behaviour: { ...timetable, of: { kind: "burst", size: 4, everyMs: null } },
      rhythms: [],
      arrivals: { kind: "closed", clients: 2, startWithinMs: 0 },
      arrivalsWhy: "2 callers began at once with the minute",
      why: "18 volleys of 4 calls at once, every 1m",
      single: true,
    });
  });
});

describe("runs", () => {
  const burst = (size: number): RunForm => ({ kind: "burst", size });
  const pager = (pages: number, last: number | null): RunForm => ({
    kind: "pager",
    pages,
    last,
    parallel: 2,
  });
  const queue: RunForm = { kind: "queue", jobs: 40, workers: 3 };

  test("by the clock keep their period, and begin within their first round", () => {
    const callers = [100, 2_600].map((ms) => ({
      at: every(7_000, ms, 5),
      shape: burst(4),
      pace: ticks(7_000),
    }));
    expect(fitted(callers)).toEqual({
      behaviour: { kind: "burst", size: 4, everyMs: 7_000 },
      rhythms: [],
      arrivals: { kind: "closed", clients: 2, startWithinMs: 5_000 },
      arrivalsWhy: "the last of them was first seen 2.6s after the start",
      why: "10 volleys of 4 calls at once, every 7s",
      single: true,
    });
  });

  test("without a clock come each by itself", () => {
    const callers = [{ at: [100, 9_000, 300_000], shape: burst(4) }];
    expect(fitted(callers)).toEqual({
      behaviour: { kind: "burst", size: 4, everyMs: null },
      rhythms: [],
      arrivals: { kind: "steady", perHour: 18, even: false },
      arrivalsWhy: "3 runs that kept to no clock",
      why: "3 volleys of 4 calls at once",
      single: true,
    });
  });

  test("of one each are clients from the start, unless twenty came one after the other", () => {
    const once = (count: number) =>
      fitted(many(count, (place) => ({ at: [20_000 * place], shape: queue, pace: { kind: "once" } })));
    const all = { behaviour: { ...queue, everyMs: null }, rhythms: [], single: true };
    const why = "40 jobs that were there at once, 3 on the way at a time";
    expect(once(20)).toEqual({
      ...{ ...all, why, arrivals: { kind: "steady", perHour: 120, even: true } },
      arrivalsWhy: "20 runs that kept to no clock",
    });
    expect(once(19)).toMatchObject({
      ...{ ...all, why, arrivals: { kind: "closed", clients: 19 } },
      arrivalsWhy: "the last of them was first seen 360s after the start",
    });
  });

  test.each<[RunForm, string]>([
    [pager(8, 8), "2 runs of 8 calls, each begun when one before was answered, at most 2 at once"],
    [pager(8, null), "2 runs of 8 calls, each begun when one before was answered, at most 2 at once"],
    [pager(8, 3), "2 runs of 3 to 8 calls, each begun when one before was answered, at most 2 at once"],
    [burst(1), "2 volleys of 1 call at once"],
  ])("of %j are told", (shape, why) => {
    expect(fitted([{ at: [0, 9_000], shape }]).why).toBe(why);
  });

  test.each<[readonly RunForm[], RunForm]>([
    [[burst(10), burst(8), burst(9)], burst(9)],
    [[pager(10, 4), pager(8, 4), pager(9, 5)], pager(9, 5)],
    [[queue, { ...queue, jobs: 44 }, { ...queue, jobs: 42 }], { ...queue, jobs: 42 }],
    // A caller of single calls counts as a run of one.
    [[burst(3), { kind: "call" }, burst(2)], burst(2)],
    [[burst(3), { kind: "call" }, { kind: "call" }], burst(3)],
  ])("of %j have the middle length", (shapes, shape) => {
    expect(fitted(shapes.map((one) => ({ at: [0, 9_000], shape: one }))).behaviour).toEqual({
      ...shape,
      everyMs: null,
    });
  });
});

describe("calls after pauses", () => {
  test("are of clients that are there all the time", () => {
    const callers = [300, 4_000].map((ms) => ({ at: every(10_050, ms, 59) }));
    expect(fitted(callers)).toEqual({
      behaviour: { kind: "worker", think: { kind: "constant", ms: 10_000 }, atOnce: null, jobs: null },
      rhythms: [],
      arrivals: { kind: "closed", clients: 2, startWithinMs: 5_000 },
      arrivalsWhy: "the last of them was first seen 4s after the start",
      why: "116 pauses after an answer: median 10s, nine in ten from 10s to 10s",
      single: false,
    });
  });

  test("of one call each have no pauses", () => {
    expect(fitted([{ at: [0] }])).toMatchObject({
      behaviour: { kind: "worker", jobs: 1 },
      why: "one call each was seen",
    });
    // Nobody knows whether another would have followed: without a pause it would follow at once.
    expect(fitted([{ at: [599_000] }])).toMatchObject({ behaviour: { kind: "worker", jobs: 1 } });
  });

  // The last silence is longer than three of the longest pauses, and than a fiftieth of the recording.
  test.each<[string, Caller[], number | null]>([
    ["a long silence", [{ at: every(1_050, 0, 5) }], 5],
    ["a silence of three pauses", [{ at: [0, 150_025] }], null],
    ["a longer one", [{ at: [0, 150_024] }], 2],
    ["a fiftieth", [{ at: [587_900, 587_950] }], null],
    ["more than a fiftieth", [{ at: [587_899, 587_949] }], 2],
    ["a last refusal", [{ at: every(1_050, 0, 5), refused: 1 }], null],
  ])("end after a number of jobs: %s", (_, callers, jobs) => {
    expect(fitted(callers).behaviour).toMatchObject({ kind: "worker", jobs });
  });

  test("end after a number of jobs if three in four callers ended, and four in five are alike", () => {
    const jobsOf = (ended: number, going: number, others = 0) => {
      const { behaviour } = fitted([
        ...many(ended, () => ({ at: every(1_050, 0, 5) })),
        ...many(others, () => ({ at: every(1_050, 0, 6) })),
        ...many(going, () => ({ at: every(149_950, 0, 5) })),
      ]);
      return behaviour.kind === "worker" ? behaviour.jobs : undefined;
    };
    expect([jobsOf(3, 1), jobsOf(5, 2), jobsOf(4, 0, 1), jobsOf(3, 0, 1)]).toEqual([5, null, 5, null]);
  });

  describe("of twenty callers or more", () => {
    interface Crowd {
      readonly count?: number;
      readonly apartMs?: number;
      readonly jobs?: number;
      /** Callers that call until the end. */
      readonly going?: number;
      /** Callers who stay for more than half of the recording. */
      readonly long?: number;
    }
    const crowd = ({ count = 20, apartMs = 15_000, jobs = 3, going = 0, long = 0 }: Crowd) =>
      fitted(
        many(count, (place) => {
          if (place < going) return { at: [apartMs * place, 599_000] };
          if (place < going + long) return { at: every(30_000, 0, 12) };
          return { at: every(1_050, apartMs * place, jobs) };
        }),
      );

    test("come one after the other, each with its jobs", () => {
      expect(crowd({})).toEqual({
        behaviour: { kind: "worker", think: { kind: "constant", ms: 1_000 }, atOnce: null, jobs: 3 },
        rhythms: [],
        arrivals: { kind: "steady", perHour: 120, even: true },
        arrivalsWhy: "20 callers came one after the other, each with 3 jobs (median)",
        why: "40 pauses after an answer: median 1s, nine in ten from 1s to 1s",
        single: false,
      });
    });

    // Ninety per cent of the starts lie within more than three tenths of the recording; lives are short.
    test.each<[string, Crowd, boolean]>([
      ["nineteen", { count: 19 }, false],
      ["12 of 20 ended", { going: 8 }, true],
      ["11 of 20 ended", { going: 9 }, false],
      ["starts within 180 s", { apartMs: 11_250 }, false],
      ["starts within more", { apartMs: 11_251 }, true],
      ["half of them stay for long", { long: 10 }, true],
      ["most stay for long", { long: 11 }, false],
    ])("come one after the other: %s", (_, one, isOpen) => {
      expect(crowd(one).arrivals.kind).toBe(isOpen ? "steady" : "closed");
    });
  });
});

test("calls by chance are clients of their own", () => {
  const chance: CallPace = { kind: "chance" };
  expect(
    fitted([
      { at: [50_000, 1_000], pace: chance },
      { at: [7_000], pace: chance },
    ]),
  ).toEqual({
    behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: 1 },
    rhythms: [],
    arrivals: { kind: "steady", perHour: 18, even: false },
    why: "calls keep to no clock and follow no pauses of one kind: each is a client of its own",
    arrivalsWhy: "3 calls in 10 min",
    single: false,
  });
});

test("a mixture's callers are all there from the start", () => {
  const callers = [300, 4_000].map((ms) => ({ at: every(10_050, ms, 5) }));
  expect(mixturePace({ ...cluster(callers), mixture: true }, recording)).toMatchObject({
    behaviour: { kind: "worker" },
    arrivals: { kind: "closed", clients: 2, startWithinMs: 0 },
    arrivalsWhy: "2 callers of few calls each, drawn from one mixture",
  });
});
