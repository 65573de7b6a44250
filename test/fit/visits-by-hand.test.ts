// Visits of many people under one name, and events that wake callers, from calls that are set.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { callsOf, everyNth, visitParts, visitsIn } from "../../sim/fit/visits.ts";
import { wakesIn } from "../../sim/fit/wakes.ts";
import { ln } from "../../src/scenario/elementary.ts";

const secondMs = 1_000;
const job = (startMs: number): RecordedJob =>
  ({ startMs, endMs: startMs, jobs: 1, attempts: 1 }) as unknown as RecordedJob;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

describe("visits", () => {
  /** Visits of three calls, two seconds apart; between them five seconds and more, as by chance. */
  const visitsFrom = (hour: number, count: number): RecordedJob[] => {
    const meanMs = (3_500 * secondMs) / count - 9 * secondMs;
    let atMs = hour * hourMs;
    return many(count, (index) => {
      const own = [0, 2, 4].map((second) => job(atMs + second * secondMs));
      atMs += 9 * secondMs + Math.round(-ln((index + 0.5) / count) * meanMs);
      return own;
    }).flat();
  };
  const busy = many(3_000, (index) => job(12 * hourMs + index * 1_200));

  test("are told apart by their pauses where all hours are quiet", () => {
    const { sessions, pausesMs, sizes } = visitsIn(visitsFrom(3, 83));
    expect(sessions.map(({ jobs }) => jobs)).toEqual(many(83, () => 3));
    expect(pausesMs).toEqual(many(2 * 83, () => 2_000));
    expect(sizes).toEqual(many(3 * 83, () => 1));
    expect(callsOf({ sessions, pausesMs, sizes, gapsMs: [] })).toBe(3);
  });

  // A cut of 2,263 ms and four seconds a visit: 345 calls of three in an hour meet another visit one time in five.
  test("count in the quietest hours with 500 calls, and in those in which they seldom meet", () => {
    const counts = [5, 7, 9, 15].map((hour, place) => visitsFrom(hour, [83, 84, 114, 116][place] as number));
    const all = [...counts.flat(), ...busy].sort((a, b) => a.startMs - b.startMs);
    const { sessions } = visitsIn(all);
    expect(sessions.map(({ jobs }) => jobs)).toEqual(many(83 + 84 + 114, () => 3));
    expect(new Set(sessions.map(({ startMs }) => Math.floor(startMs / hourMs)))).toEqual(new Set([5, 7, 9]));
  });

  test("of too few calls are one", () => {
    expect(visitsIn(many(20, (index) => job(index * minuteMs))).sessions).toHaveLength(20);
    expect(visitsIn([])).toEqual({ sessions: [], pausesMs: [], sizes: [], gapsMs: [] });
    expect(callsOf(visitsIn([]))).toBe(0);
  });
});

describe("clients who come for visits", () => {
  const recording = { startedAtMs: 0, endedAtMs: 24 * hourMs, resolutionMs: 1 } as unknown as Recording;
  /** Visits of three calls, two seconds apart, so many in each hour, as by chance. */
  const visitsOf = (count: number): RecordedJob[] =>
    many(24, (hour) => {
      let atMs = hour * hourMs;
      return many(count, (index) => {
        const own = [0, 2, 4].map((second) => job(atMs + second * secondMs));
        atMs += 9 * secondMs + Math.round(-ln((index + 0.5) / count) * (3_500_000 / count - 9_000));
        return own;
      }).flat();
    }).flat();
  const parted = (jobs: readonly RecordedJob[]) =>
    visitParts({ jobs, pace: { kind: "visits" }, apart: null } as unknown as Profile, [], recording);
  const busiestOf = (jobs: readonly RecordedJob[]): number => {
    const minutes = jobs.map(({ startMs }) => Math.floor(startMs / minuteMs));
    return Math.max(...minutes.map((minute) => minutes.filter((one) => one === minute).length));
  };

  test("are ten for each visit of the busiest minute, and twenty at least", () => {
    const [few, more] = [visitsOf(12), visitsOf(60)];
    expect(busiestOf(few)).toBeLessThan(7);
    expect(parted(few).clients).toBe(20);
    expect(busiestOf(more)).toBeGreaterThan(9);
    expect(parted(more).clients).toBe(Math.ceil((10 * busiestOf(more)) / 3));
  });

  test("come so seldom that there are as many visits as were recorded", () => {
    const { parts, rhythms } = parted(visitsOf(12));
    // Twenty clients for a day, and 288 visits of four seconds.
    const awayMs = (20 * 24 * hourMs) / 288 - 4 * secondMs;
    expect(parts.map(({ behaviour }) => behaviour)).toMatchObject([
      {
        ...{ kind: "sessions", rhythm: null, length: null },
        ...{ calls: { kind: "constant", ms: 3 }, away: { kind: "uniform", least: 0, most: 2 * awayMs } },
      },
    ]);
    expect(rhythms.map(({ rhythm }) => new Set(rhythm.hours))).toEqual([new Set([1])]);
  });
});

test("a share of these clients is woken by events, some time after them", () => {
  const recording = { startedAtMs: 0, endedAtMs: 24 * hourMs, resolutionMs: 1 } as unknown as Recording;
  const usual = many(24 * 12, (place) =>
    [0, 2, 4].map((second) => job(place * 5 * minuteMs + second * secondMs)),
  ).flat();
  const eventsMs = [3, 9, 15].map((hour) => hour * hourMs);
  // Nine calls each, at ten seconds after the event: three visits of twenty clients.
  const sessions = eventsMs.map((eventMs) => ({
    eventMs,
    jobs: many(9, () => job(eventMs + 10 * secondMs)),
  }));
  const shareOf = (given: typeof sessions) => {
    const wakes = [{ group: 4, byUser: true, eventsMs, sessions: given }];
    const profile = {
      jobs: usual,
      pace: { kind: "visits" },
      apart: { wakes, rest: { jobs: usual } },
    } as unknown as Profile;
    const [, woken] = visitParts(profile, [], recording).parts;
    return woken?.behaviour;
  };
  const calls = callsOf(visitsIn(usual));
  expect(shareOf(sessions)).toMatchObject({
    ...{ kind: "woken", group: 4, byUser: true, lasts: null, events: { kind: "chance" } },
    share: Math.round((1_000 * 9) / calls / 20) / 1_000,
  });
  expect(shareOf(sessions.map(({ eventMs }) => ({ eventMs, jobs: [] })))).toMatchObject({ share: 0.001 });
  const all = sessions.map(({ eventMs }) => ({ eventMs, jobs: many(900, () => job(eventMs)) }));
  expect(shareOf(all)).toMatchObject({ share: 1, within: { kind: "constant", ms: 0 } });
});

test("every n-th is as even as may be", () => {
  const of = (n: number) => everyNth([1, 2, 3, 4, 5, 6, 7, 8], n);
  expect([1, 2, 3, 2.5, 0.5, 9].map(of)).toEqual([
    ...[[1, 2, 3, 4, 5, 6, 7, 8], [2, 4, 6, 8], [3, 6], [3, 5, 8], [1, 2, 3, 4, 5, 6, 7, 8], []],
  ]);
});

describe("events that wake callers", () => {
  const recording = { startedAtMs: 0, endedAtMs: 24 * hourMs } as unknown as Recording;
  /** Each caller calls once an hour, at a time of its own, and ten times, two seconds apart, after its events. */
  const callerOf = (place: number, eventsMs: readonly number[], lastsMs = 18 * secondMs): Profile => {
    const hourly = many(24, (hour) => hour * hourMs + (15 + 4 * place) * minuteMs + 20 * secondMs);
    const woken = eventsMs.flatMap((ms) =>
      many(10, (index) => ms + place * secondMs + (index * lastsMs) / 9),
    );
    const jobs = [...hourly, ...woken].sort((a, b) => a - b).map(job);
    const pausesMs = jobs.slice(1).map(({ startMs }, index) => startMs - (jobs[index] as RecordedJob).endMs);
    return { jobs, pausesMs, shape: { kind: "call" }, pace: { kind: "pause" } } as unknown as Profile;
  };
  const eventsMs = [3, 9, 15].map((hour) => hour * hourMs + 2 * minuteMs);
  const told = (callers: readonly Profile[]) =>
    wakesIn(callers, recording).map(({ group, clock, eventsMs, lastsMs, woken }) => ({
      ...{ group, clock, eventsMs, lastsMs },
      woken: callers.map((caller) =>
        (woken.get(caller) ?? []).map(({ eventMs, jobs }) => [eventMs, jobs.length]),
      ),
    }));

  test("are found by all who begin within seconds, with the calls of each", () => {
    expect(told(many(6, (place) => callerOf(place, eventsMs)))).toEqual([
      {
        ...{ group: 0, clock: null, eventsMs, lastsMs: null },
        woken: many(6, () => eventsMs.map((ms) => [ms, 10])),
      },
    ]);
  });

  test("are none of fewer than five callers, nor of those who keep to a clock, nor one event alone", () => {
    expect(told(many(4, (place) => callerOf(place, eventsMs)))).toEqual([]);
    expect(told(many(5, (place) => callerOf(place, eventsMs)))).toHaveLength(1);
    const ticks = { pace: { kind: "ticks" } } as unknown as Profile;
    expect(told(many(6, (place) => ({ ...callerOf(place, eventsMs), ...(place < 2 ? ticks : {}) })))).toEqual(
      [],
    );
    expect(told(many(6, (place) => callerOf(place, eventsMs.slice(0, 1))))).toEqual([]);
  });

  test("leave out who is woken by less than a third of what is usual", () => {
    const own = (first: readonly number[], last: readonly number[]) =>
      told([...many(5, (place) => callerOf(place, first)), callerOf(5, last)])[0]?.woken[5];
    expect(own(eventsMs, [])).toEqual([]);
    // Callers weigh by their events: 46 / 16 are usual of three, and 81 / 21 of four.
    expect(own(eventsMs, eventsMs.slice(0, 1))).toEqual([[eventsMs[0], 10]]);
    const four = [...eventsMs, 21 * hourMs + 2 * minuteMs];
    expect(own(four, eventsMs.slice(0, 1))).toEqual([]);
    expect(own(four, eventsMs.slice(0, 2))).toHaveLength(2);
  });

  test("last a time if their callers end together, whenever that is", () => {
    const lasts = [60, 100, 150];
    const callers = many(6, (place): Profile => {
      const each = eventsMs.map((ms, event) => callerOf(place, [ms], (lasts[event] as number) * secondMs));
      const jobs = [
        ...new Map(each.flatMap((one) => one.jobs).map((one) => [one.startMs, one])).values(),
      ].sort((a, b) => a.startMs - b.startMs);
      const pausesMs = jobs
        .slice(1)
        .map(({ startMs }, index) => startMs - (jobs[index] as RecordedJob).endMs);
      return { ...(each[0] as Profile), jobs, pausesMs };
    });
    const [found] = told(callers);
    // The median of six callers, who begin and end a second apart.
    expect(found?.lastsMs).toEqual(lasts.map((seconds) => (seconds + 2) * secondMs));
    expect(found?.woken).toEqual(many(6, () => eventsMs.map((ms) => [ms, 10])));
  });

  test("are of two groups if they wake other callers", () => {
    const others = eventsMs.map((ms) => ms + 3 * hourMs);
    const found = told(many(10, (place) => callerOf(place, place < 5 ? eventsMs : others)));
    const none = many(5, () => []);
    expect(found.map(({ group, eventsMs }) => [group, eventsMs])).toEqual([
      [0, eventsMs],
      [1, others.map((ms) => ms + 5 * secondMs)],
    ]);
    expect(found[0]?.woken).toEqual([...many(5, () => eventsMs.map((ms) => [ms, 10])), ...none]);
    expect(found[1]?.woken.slice(0, 5)).toEqual(none);
    expect(found[1]?.woken.slice(5).flat()).toHaveLength(15);
  });
});
