// Several behaviours of similar callers, from callers that are taken apart already.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { partsOf } from "../../sim/fit/parts.ts";
import type { Apart, ClockedSessions, OwnWakes, Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";

const dayMs = 24 * hourMs;
const recording = { startedAtMs: 0, endedAtMs: 10 * dayMs, resolutionMs: 1 } as unknown as Recording;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

const kindOf = (key: string) => ({ operation: key, free: false, cost: 1, actual: 1, key });
const job = (startMs: number, key = "rest", lastsMs = 50): RecordedJob => {
  const endMs = startMs + lastsMs;
  const answered = { kind: kindOf(key), status: 200, atMs: startMs, wantedMs: startMs, endMs };
  return new RecordedJob(answered as RecordedJob["first"]);
};
function profile(
  jobs: readonly RecordedJob[],
  apart: Partial<Apart> | null,
  change: Partial<Profile> = {},
): Profile {
  const pausesMs = jobs.slice(1).map(({ startMs }, index) => startMs - (jobs[index] as RecordedJob).endMs);
  const mix = new Map<string, number>();
  for (const { key } of jobs) mix.set(key, (mix.get(key) ?? 0) + 1);
  return {
    ...{
      caller: { organization: "acme", user: "ann", calls: [] },
      jobs,
      life: jobs,
      runs: jobs,
      pausesMs,
      mix,
    },
    ...{ shape: { kind: "call" }, pace: { kind: "pause" }, retries: [], guess: null, refused: 0, clients: 1 },
    apart: apart === null ? null : { key: "x", timetables: [], wakes: [], rest: null, ...apart },
    ...change,
  } as unknown as Profile;
}
const call = (key: string, weight = 1) => ({
  operation: key,
  asked: undefined,
  free: false,
  cost: 1,
  actual: 1,
  weight,
});

/** Sessions of two calls a second apart, each day at a minute and some ms. */
function daily(schedule: string, atMs: number, spreadMs = 0, key = "rest"): ClockedSessions {
  const startsMs = many(10, (day) => day * dayMs + atMs);
  return {
    ...{ timetable: { schedule, spreadMs }, periodMs: dayMs, startsMs, sizes: many(10, () => 2) },
    ...{
      jobs: startsMs.flatMap((ms) => [job(ms, key), job(ms + 1_050, key)]),
      pausesMs: many(10, () => 1_000),
    },
  };
}
const nine = daily("0 9 * * *", 9 * hourMs);
const clocked = (...timetables: readonly ClockedSessions[]) =>
  profile(
    timetables.flatMap(({ jobs }) => jobs),
    { timetables },
  );

const events = [1, 3, 6].map((day) => day * dayMs + 7_777_000);
/** @param lates ms from each event until its first call; `null` if it was not woken */
function woken(lates: readonly (number | null)[], change: Partial<OwnWakes> = {}): Profile {
  const sessions = lates.flatMap((late, place) => {
    const eventMs = events[place] as number;
    return late === null ? [] : [{ eventMs, jobs: [0, 1_050, 2_100].map((ms) => job(eventMs + late + ms)) }];
  });
  const own = { group: 3, byUser: false, clock: null, eventsMs: events, lastsMs: null, sessions, ...change };
  return profile(
    sessions.flatMap(({ jobs }) => jobs),
    { wakes: [own] },
  );
}

const told = (...profiles: readonly Profile[]) => {
  const found = partsOf(profiles, recording);
  return found === null
    ? null
    : { parts: found.parts, rhythms: found.rhythms.length, clients: found.clients };
};
const loop = { kind: "worker", think: { kind: "constant", ms: 1_000 }, atOnce: null, jobs: null };
const timetable = (at: string, withinMs: number, key = "rest") => ({
  behaviour: { kind: "timetable", of: loop, at, withinMs, calls: { kind: "constant", ms: 2 }, length: null },
  mix: [call(key)],
});
const alone = (...parts: readonly unknown[]) => ({ parts, rhythms: 0, clients: undefined });

test("nobody has no parts, and a caller of one behaviour has none, either", () => {
  expect(told()).toBeNull();
  expect(
    told(
      profile(
        many(300, (place) => job(place * 30_000)),
        null,
      ),
    ),
  ).toBeNull();
});

describe("calls by a timetable", () => {
  test("come at the same minute for all, within the time of the latest", () => {
    expect(told(clocked(nine), clocked(nine))).toEqual(alone(timetable("0 9 * * *", 0)));
    const late = daily("0 9 * * *", 9 * hourMs + 4_000, 4_000);
    expect(told(clocked(nine), clocked(late))).toEqual(alone(timetable("0 9 * * *", 4_000)));
  });

  test("come from the first caller's minute on, within that of the last and its time", () => {
    const five = daily("5 9 * * *", 9 * hourMs + 5 * minuteMs, 2_000);
    const first = daily("0 9 * * *", 9 * hourMs, 3_000);
    expect(told(clocked(five), clocked(first))).toEqual(alone(timetable("0 9 * * *", 302_000)));
  });

  test("are a part for each timetable", () => {
    const half = daily("30 11 * * *", 11.5 * hourMs, 0, "graphql");
    const later = daily("31 11 * * *", 11.5 * hourMs + minuteMs, 500, "graphql");
    expect(told(clocked(nine, half), clocked(nine, later))).toEqual(
      alone(timetable("0 9 * * *", 0), timetable("30 11 * * *", 60_500, "graphql")),
    );
  });
});

describe("a daily job's runs", () => {
  /** Sizes of ten days from a Thursday on. */
  const linesOf = (sizes: readonly number[], busyDays: readonly number[] = [], { timetable } = nine) =>
    partsOf([clocked({ ...nine, timetable, sizes, busyDays })], recording)?.parts.map(({ behaviour }) =>
      behaviour.kind === "timetable" ? [behaviour.at, behaviour.calls] : [],
    );
  const constant = (ms: number) => ({ kind: "constant", ms });
  const ofDays = (weekday: number, weekend: number): number[] =>
    many(10, (day) => (day % 7 === 2 || day % 7 === 3 ? weekend : weekday));

  test("have lines of their own at weekends where these are half as long, or twice", () => {
    expect(linesOf(ofDays(10, 5))).toEqual([
      ["0 9 * * 1-5", constant(10)],
      ["0 9 * * 0,6", constant(5)],
    ]);
    expect(linesOf(ofDays(10, 20))).toHaveLength(2);
    expect(linesOf(ofDays(10, 6))).toHaveLength(1);
    expect(linesOf(ofDays(10, 19))).toHaveLength(1);
  });

  test("have lines of their own on the days on which all callers do more", () => {
    // Thursdays and Fridays, of which there are two each.
    const sizes = many(10, (day) => [15, 15, 2, 2, 10, 10, 10][day % 7] as number);
    expect(linesOf(sizes, [4, 5])).toEqual([
      ["0 9 * * 4,5", constant(15)],
      ["0 9 * * 1,2,3", constant(10)],
      ["0 9 * * 0,6", constant(2)],
    ]);
    const even = many(10, (day) => (day % 7 < 2 ? 15 : 10));
    expect(linesOf(even, [4, 5])).toEqual([
      ["0 9 * * 4,5", constant(15)],
      ["0 9 * * 0,1,2,3,6", constant(10)],
    ]);
    const working = daily("0 9 * * 1-5", 9 * hourMs);
    expect(linesOf(even, [4, 5], working)?.map(([at]) => at)).toEqual(["0 9 * * 4,5", "0 9 * * 1,2,3"]);
    expect(linesOf(even, [4, 5], daily("0 * * * *", 9 * hourMs))).toHaveLength(1);
  });

  test("have one line where some at weekends are as long as on other days", () => {
    const [one = 0, ...others] = ofDays(10, 5);
    expect(linesOf([one, others[0] as number, 10, ...others.slice(2)])).toHaveLength(1);
  });
});

describe("calls after events", () => {
  const partOf = (...profiles: readonly Profile[]) => {
    const { parts, ...rest } = told(...profiles) ?? { parts: [] };
    expect(rest).toEqual({ rhythms: 0, clients: undefined });
    expect(parts).toHaveLength(1);
    expect(parts[0]?.mix).toEqual([call("rest")]);
    return parts[0]?.behaviour;
  };

  test("by chance come so often a day, to so many callers, within the time of nineteen in twenty", () => {
    expect(partOf(woken([1_000, 2_000, 3_000]), woken([500, 4_000, null]))).toEqual({
      ...{ kind: "woken", of: loop, calls: { kind: "constant", ms: 3 }, lasts: null },
      events: { kind: "chance", perDay: 0.3, rhythm: expect.anything() },
      ...{ within: { kind: "uniform", least: 0, most: 4_000 }, share: 0.83, group: 3, byUser: false },
    });
  });

  test("are of those who are free: whoever is busy with an event is not woken by the next one", () => {
    const one = { eventsMs: events.slice(0, 1) };
    expect(partOf(woken([1_000], one))).toMatchObject({ share: 1 });
    expect(partOf(woken([1_000], one), woken([null], one))).toMatchObject({ share: 0.5 });
    const [first] = events as [number];
    // Its last call ends 3,150 ms after the event.
    const near = (ms: number) => ({ eventsMs: [first, first + ms] });
    expect(partOf(woken([1_000], near(3_149)))).toMatchObject({ share: 1 });
    expect(partOf(woken([1_000], near(3_150)))).toMatchObject({ share: 0.5 });
  });

  test("by the clock may last a time, which ends them, and be each user's own", () => {
    const clock = { at: "0 9 * * *", lateMs: 70, eventsMs: events };
    const change = { clock, byUser: true, group: 0, lastsMs: [60_000, 90_000, 70_000] };
    expect(partOf(woken([1_000, 2_000, 3_000], change))).toEqual({
      ...{ kind: "woken", of: loop, calls: null, lasts: { kind: "uniform", least: 48_889, most: 97_778 } },
      events: { kind: "clock", at: "0 9 * * *", lateMs: 70 },
      ...{ within: { kind: "uniform", least: 0, most: 3_000 }, share: 1, group: 0, byUser: true },
    });
  });

  test("leave out who comes later than four medians, unless one in ten does", () => {
    const usual = [1_000, 2_000, 3_000];
    const few = [woken([1_000, 1_000, 9_000]), woken([1_000, 1_000, 1_000]), ...many(5, () => woken(usual))];
    expect(partOf(...few)).toMatchObject({ within: { kind: "uniform", least: 0, most: 3_000 } });
    const four = many(5, () => woken([1_000, 1_000, 4_000]));
    expect(partOf(...four)).toMatchObject({ within: { kind: "uniform", least: 0, most: 4_000 } });
    const tenth = [woken([1_000, 1_000, 90_000]), woken([1_000, 1_000, 80_000]), woken(usual)];
    expect(partOf(...tenth)).toMatchObject({ within: { kind: "lognormal", median: 3_373, p95: 75_132 } });
  });
});

describe("all other calls", () => {
  const ticks = (everyMs: number, key = "rest") =>
    profile(
      many(50, (place) => job(place * everyMs, key)),
      null,
      { pace: { kind: "ticks", everyMs, offMs: 1 } },
    );
  const withRest = (rest: Profile) => profile([...nine.jobs, ...rest.jobs], { timetables: [nine], rest });
  const restOf = (...rests: readonly Profile[]) => {
    const { parts } = told(...rests.map(withRest)) ?? { parts: [] };
    expect(parts[0]).toEqual(timetable("0 9 * * *", 0));
    expect(parts).toHaveLength(2);
    return parts[1];
  };

  test("are polls where all keep to about one period, with calls of one kind", () => {
    const poller = { behaviour: { kind: "poller", everyMs: 60_000 }, mix: [call("rest")] };
    expect(restOf(ticks(60_000), ticks(60_900))).toEqual(poller);
    expect(restOf(ticks(60_000), ticks(61_200))).toEqual(poller);
    expect(restOf(ticks(60_000), ticks(61_201))?.behaviour.kind).toBe("sessions");
    const other = restOf(ticks(60_000), ticks(60_000, "graphql"));
    expect(other).toMatchObject({ behaviour: { kind: "sessions" }, mix: [call("rest"), call("graphql")] });
  });

  test("are one job where each made one", () => {
    expect(restOf(profile([job(5_000)], null), profile([job(9_000)], null))).toEqual({
      behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: 1 },
      mix: [call("rest")],
    });
  });

  /** Polls that overlap: each takes nearly as long as all of them need to come round. */
  const overlapping = (lanes: number): Profile => {
    const jobs = many(100 * lanes, (place) => {
      const lane = place % lanes;
      return job(1_000 * place + 7 * lane, `kind ${lane}`, 1_000 * lanes - 100 - 50 * lane);
    });
    return profile(jobs, null);
  };

  test.each([2, 12])("of one caller are %i loops where so many overlap", (lanes) => {
    expect(told(overlapping(lanes))).toEqual(
      alone(
        ...many(lanes, (lane) => ({
          behaviour: { kind: "poller", everyMs: 1_000 * lanes },
          mix: [call(`kind ${lane}`)],
        })),
      ),
    );
  });

  test("are no loops of more than twelve, nor of several callers", () => {
    expect(told(overlapping(13))).toBeNull();
    expect(told(overlapping(2), overlapping(2))).toBeNull();
  });
});
