// Events that bring more calls of callers who call all day, told from each caller's calls by the minute.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { risesIn } from "../../sim/fit/rises.ts";
import type { FoundWakes } from "../../sim/fit/wakes.ts";

const recorded = (hours: number): Recording =>
  ({ startedAtMs: 20_000, endedAtMs: 20_000 + hours * hourMs }) as unknown as Recording;

/** Minutes from and to, and calls of each of them. */
type Stretch = readonly [from: number, to: number, calls: number];

/** A caller whose calls take a tenth of a second, evenly over each minute of its stretches; the later one counts. */
function caller(...stretches: readonly Stretch[]): Profile {
  const counts = new Map<number, number>();
  for (const [from, to, calls] of stretches)
    for (let minute = from; minute < to; minute++) counts.set(minute, calls);
  const jobs = [...counts]
    .sort(([a], [b]) => a - b)
    .flatMap(([minute, calls]) =>
      Array.from({ length: calls }, (_, call): RecordedJob => {
        const startMs = minute * minuteMs + (call * minuteMs) / calls;
        const answered = { endMs: startMs + 100, status: 200 };
        return {
          startMs,
          endMs: startMs + 100,
          attempts: 1,
          first: answered,
          last: answered,
        } as unknown as RecordedJob;
      }),
    );
  return { jobs } as unknown as Profile;
}
const alike = (count: number, ...stretches: readonly Stretch[]): Profile[] =>
  Array.from({ length: count }, () => caller(...stretches));

/** Instants of events in minutes, their length, and calls that each caller made beyond its usual number. */
const told = (found: readonly FoundWakes[]) =>
  found.map(({ group, clock, eventsMs, lastsMs, woken }) => ({
    group,
    clock,
    events: eventsMs.map((ms) => ms / minuteMs),
    lasts: lastsMs?.map((ms) => ms / minuteMs),
    calls: [...woken.values()].map((sessions) =>
      sessions.map(({ eventMs, jobs }) => [eventMs / minuteMs, jobs.length]),
    ),
  }));

const day: Stretch = [0, 600, 2];
const first: Stretch = [150, 180, 10];
const second: Stretch = [400, 445, 8];

describe("callers who call all day", () => {
  test("have events where many of them call far more often for some time", () => {
    const callers = [...alike(6, day, first, second), ...alike(2, day)];
    // Of 300 and 360 calls, 60 and 90 are usual; the edges of an event are known to a minute.
    const each = [
      [149, 224],
      [399, 258],
    ];
    const event = { group: 0, clock: null, events: [149, 399], lasts: [29, 44], calls: Array(6).fill(each) };
    expect(told(risesIn(callers, recorded(10), []))).toEqual([event]);
  });

  test("have no event where less than three of them call more often", () => {
    expect(risesIn(alike(2, day, first, second), recorded(10), [])).toEqual([]);
    const callers = [...alike(2, day, first, second), ...alike(4, day)];
    expect(risesIn(callers, recorded(10), [])).toEqual([]);
  });

  test("have no event where less than a fifth of them call more often", () => {
    expect(told(risesIn([...alike(3, day, first, second), ...alike(13, day)], recorded(10), []))).toEqual([]);
  });

  test("have no event where each calls far more often at times of its own, which others share by chance", () => {
    const bursty = Array.from({ length: 20 }, (_, place) => {
      const bursts = Array.from({ length: 14 }, (_one, at): Stretch => {
        const from = 40 * at + 2 * place;
        return [from, from + 10, 10];
      });
      return caller(day, ...bursts);
    });
    expect(told(risesIn(bursty, recorded(10), []))).toEqual([]);
    // A caller who is seldom awake says nothing of the others.
    expect(
      told(risesIn([...alike(6, day, first, second), caller([0, 60, 2])], recorded(10), [])),
    ).toMatchObject([{ events: [149, 399] }]);
  });

  test("have no event by one rise alone", () => {
    expect(risesIn(alike(6, day, first), recorded(10), [])).toEqual([]);
  });

  test("have no event where only one and a half times as many calls come", () => {
    const busy: Stretch = [0, 600, 20];
    expect(told(risesIn(alike(6, busy, [150, 180, 30], [400, 445, 30]), recorded(10), []))).toEqual([]);
    expect(told(risesIn(alike(6, busy, [150, 180, 32], [400, 445, 32]), recorded(10), []))).toMatchObject([
      {
        events: [149, 399],
        lasts: [29, 44],
        calls: Array(6).fill([
          [149, 336],
          [399, 516],
        ]),
      },
    ]);
  });

  test("have no event next to one that is known", () => {
    const known = [{ eventsMs: [150 * minuteMs], woken: new Map() }] as unknown as readonly FoundWakes[];
    expect(told(risesIn(alike(6, day, first, second), recorded(10), known))).toEqual([]);
  });

  // The first rise shows in the minutes 137 to 155, and 15 minutes next to a known event are not searched.
  test.each([
    ["139", 139, 139, [154, 399]],
    ["140", 140, 140, []],
    ["152", 152, 152, []],
    ["153", 153, 153, [142, 399]],
    ["99 whose calls end in 139", 99, 139, [154, 399]],
    ["99 whose calls end in 140", 99, 140, []],
  ])("are searched far from an event that is known, in minute %s", (_, from, to, expected) => {
    const eventMs = from * minuteMs;
    const jobs = [{ endMs: to * minuteMs }, { endMs: to * minuteMs }] as unknown as RecordedJob[];
    const woken = new Map([[caller(day), [{ eventMs, jobs }]]]);
    const known = [{ eventsMs: [eventMs], woken }] as unknown as readonly FoundWakes[];
    const found = told(risesIn(alike(6, day, first, second), recorded(10), known));
    expect(found.flatMap(({ events }) => events)).toEqual(expected);
    expect(found.map(({ group }) => group)).toEqual(expected.length === 0 ? [] : [1]);
  });

  test("have no event where they call more often at one time of each day", () => {
    const always: Stretch = [0, 4 * 1_440, 2];
    const daily = (days: number, apart = 20, at = 600): Stretch[] =>
      Array.from({ length: days }, (_, day): Stretch => {
        const from = day * 1_440 + at + apart * (day % 2);
        return [from, from + 30, 10];
      });
    expect(risesIn(alike(6, always, ...daily(4)), recorded(96), [])).toEqual([]);
    const [found] = told(risesIn(alike(6, always, ...daily(3)), recorded(96), []));
    expect(found?.events).toEqual([599, 2_059, 3_479]);
    // Half an hour apart is one time, over midnight, too.
    expect(risesIn(alike(6, always, ...daily(4, 30)), recorded(96), [])).toEqual([]);
    const week: Stretch = [0, 7 * 1_440, 2];
    expect(risesIn(alike(6, week, ...daily(6, 30, 1_430)), recorded(168), [])).toEqual([]);
    expect(told(risesIn(alike(6, always, ...daily(4, 31)), recorded(96), []))[0]?.events).toHaveLength(4);
  });

  test("may call more often twice within half an hour: days are counted, not rises", () => {
    const twice = [0, 1_440].flatMap((day): Stretch[] => [
      [day + 600, day + 610, 10],
      [day + 625, day + 635, 10],
    ]);
    const [found] = told(risesIn(alike(6, [0, 2 * 1_440, 2], ...twice), recorded(48), []));
    expect(found?.events).toEqual([599, 624, 2_039, 2_064]);
  });

  test("rise where most calls are more than before: a quiet time before an event tells what is usual", () => {
    // Of 281 and 345 calls in 29 and 44 minutes, one a minute is usual: so many came in the ten minutes before.
    const quiet = [first, second].map(([from]): Stretch => [from - 10, from, 1]);
    const [found] = told(risesIn(alike(6, day, ...quiet, first, second), recorded(10), []));
    expect(found?.calls[0]).toEqual([
      [149, 252],
      [399, 301],
    ]);
  });

  test.each([
    [0, 3, false],
    [0, 4, true],
    [3, 6, false],
    [3, 7, true],
  ])("that rise %i times by themselves have an event where %i do at once: %s", (times, count, expected) => {
    const own = (place: number): Stretch[] =>
      Array.from({ length: times }, (_, at) => {
        const from = 30 + ((place * 97 + at * 131) % 540);
        return [from, from + 10, 10];
      });
    const callers = Array.from({ length: 20 }, (_, place) =>
      caller(day, ...own(place), ...(place < count ? [first, second] : [])),
    );
    expect(risesIn(callers, recorded(10), []).length > 0).toBe(expected);
  });
});
