// Callers who begin together at one time of the day: what wakes them ends soon, and a day's work does not.
import { expect, test } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { wakesIn } from "../../sim/fit/wakes.ts";

/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
const recording = { startedAtMs: monday, endedAtMs: monday + 7 * dayMs } as unknown as Recording;

/**
 * Callers who begin at seven each day, one second after another, and call every other minute for some time.
 * @param longerMs time by which the last call of each day comes later than that of the day before
 */
const callers = (lastsMs: number, longerMs = 0, many = 8): Profile[] =>
  Array.from({ length: many }, (_, place) => {
    const starts = Array.from({ length: 7 }, (_, day) => {
      const fromMs = monday + day * dayMs + 7 * hourMs + place * 1_000;
      const count = Math.ceil(lastsMs / (2 * minuteMs));
      return Array.from(
        { length: count },
        (_, call) => fromMs + 2 * call * minuteMs + (call === count - 1 ? day * longerMs : 0),
      );
    }).flat();
    const answered = { status: 200 };
    const jobs = starts.map(
      (startMs) =>
        ({ startMs, endMs: startMs + 100, first: answered, last: answered }) as unknown as RecordedJob,
    );
    const pausesMs = starts.slice(1).map((startMs, index) => startMs - (starts[index] as number) - 100);
    return { shape: { kind: "call" }, pace: { kind: "pause" }, jobs, pausesMs } as unknown as Profile;
  });

test("callers who begin at one time of the day were woken if they end within a quarter of a day", () => {
  const found = wakesIn(callers(6 * hourMs), recording);
  expect(found.map(({ group, clock }) => [group, clock?.at])).toEqual([[0, "0 7 * * *"]]);
  expect(wakesIn(callers(6 * hourMs + 4 * minuteMs), recording)).toEqual([]);
});

test("events have lengths if these lie further apart than callers end: else all have equal work", () => {
  // In each event the middle half of the callers end within 4 s.
  const lengths = (longerMs: number) =>
    wakesIn(callers(hourMs, longerMs), recording).map(({ lastsMs }) => lastsMs);
  expect(lengths(1_000)).toEqual([null]);
  // On the first day no silence came before.
  const firstMs = 58 * minuteMs + 3_100;
  expect(lengths(3_000)).toEqual([[1, 2, 3, 4, 5, 6].map((day) => firstMs + 3_000 * day)]);
});

test("an instant at which far fewer callers began than at the others woke nobody", () => {
  /** Callers of whom so many begin at these instants, a second apart, and call five times. */
  const woken = (events: readonly (readonly [atMs: number, callers: number])[]): Profile[] =>
    callers(10 * minuteMs, 0, 24).map((profile, place) => {
      const starts = events.flatMap(([atMs, count]) =>
        place < count ? [0, 1, 2, 3, 4].map((call) => atMs + place * 1_000 + 2 * call * minuteMs) : [],
      );
      const job = profile.jobs[0] as RecordedJob;
      const jobs = [monday, ...starts].map((startMs) => ({ ...job, startMs, endMs: startMs + 100 }));
      const pausesMs = jobs.slice(1).map(({ startMs }, at) => startMs - (jobs[at]?.endMs ?? 0));
      return { ...profile, jobs, pausesMs } as unknown as Profile;
    });
  const real = [1.43, 2.57, 4.46].map((days) => [Math.round(monday + days * dayMs), 24] as const);
  const few = Math.round(monday + 5.2 * dayMs);
  const eventsOf = (profiles: readonly Profile[]) =>
    wakesIn(profiles, recording).map(({ eventsMs }) => eventsMs);
  const atMs = real.map(([ms]) => ms);
  expect(eventsOf(woken(real))).toEqual([atMs]);
  expect(eventsOf(woken([...real, [few, 4]]))).toEqual([atMs]);
  expect(eventsOf(woken([...real, [few, 12]]))).toEqual([[...atMs, few]]);
});

test("a caller whose calls overlap is woken by a clock's events if most of its beginnings come with them", () => {
  const clock = callers(10 * minuteMs);
  /** A caller that begins with so many of the seven days' events, and seven minus that many times at noon. */
  const visitor = (timed: number): Profile => {
    const starts = Array.from({ length: 7 }, (_, day) => {
      const fromMs = monday + day * dayMs + (day < timed ? 7 * hourMs + 5_000 : 12 * hourMs);
      return Array.from({ length: 5 }, (_, call) => fromMs + 2 * call * minuteMs);
    }).flat();
    const job = clock[0]?.jobs[0] as RecordedJob;
    const jobs = starts.map((startMs) => ({ ...job, startMs, endMs: startMs + 100 }));
    return { ...clock[0], jobs, pausesMs: [], pace: { kind: "visits" } } as unknown as Profile;
  };
  const wokenOf = (profile: Profile) =>
    wakesIn([...clock, profile], recording).map(({ clock, woken }) => [
      clock?.at,
      woken.get(profile)?.length ?? 0,
    ]);
  // Nobody knows whether the first call of all came after a silence, so there are six beginnings.
  expect(wokenOf(visitor(7))).toEqual([["0 7 * * *", 6]]);
  expect(wokenOf(visitor(4))).toEqual([["0 7 * * *", 3]]);
  expect(wokenOf(visitor(3))).toEqual([["0 7 * * *", 0]]);
});
