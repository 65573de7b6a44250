// Calls that events woke, from callers whose absences are set.
import { describe, expect, test } from "vitest";
import { hourMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import { type Absences, absencesOf, wokenBy } from "../../sim/fit/woken.ts";

const secondMs = 1_000;
const eventsMs = [1, 3, 5].map((hour) => hour * hourMs);
const [firstMs] = eventsMs as [number];
const callerOf = (...atMs: readonly number[]): Profile =>
  ({ jobs: atMs.map((startMs) => ({ startMs, endMs: startMs + 100 }) as RecordedJob) }) as unknown as Profile;
const absent = (caller: Profile, long: readonly number[] = [], awayMs = 60 * secondMs): Absences =>
  new Map([
    [caller, { awayMs, begins: long.map((atMs) => ({ atMs, isLong: true, isAfterRefusal: false })) }],
  ]);

/** Events of which a caller was woken, by their places, and the number of its calls after each. */
function told(caller: Profile, absences: Absences, events = eventsMs, beginsOnly = false) {
  const woken = wokenBy(events, 10 * secondMs, absences, beginsOnly).get(caller) ?? [];
  return woken.map(({ eventMs, jobs }) => [events.indexOf(eventMs), jobs.length]);
}

describe("an event wakes a caller", () => {
  test("who begins within its span, and five seconds more", () => {
    const at = (lateMs: number) => callerOf(firstMs + lateMs, firstMs + lateMs + 100 + 60_000);
    const of = (lateMs: number, beginsOnly = false) => {
      const caller = at(lateMs);
      return told(caller, absent(caller), eventsMs, beginsOnly);
    };
    expect([0, 14_999, 15_000].map((lateMs) => of(lateMs))).toEqual([[[0, 2]], [[0, 2]], []]);
    expect(of(14_999, true)).toEqual([[0, 2]]);
  });

  test("until it is away", () => {
    const caller = callerOf(firstMs, firstMs + 60_100, firstMs + 60_100 + 60_101);
    expect(told(caller, absent(caller))).toEqual([[0, 2]]);
  });

  test("who was away, or, where calls need not begin, any call alone", () => {
    const busy = callerOf(firstMs - 30_000, firstMs + 5_000, firstMs + 10_000);
    expect(told(busy, absent(busy), eventsMs, true)).toEqual([]);
    expect(told(busy, absent(busy))).toEqual([[0, 1]]);
    const away = callerOf(firstMs - 60_000, firstMs + 101);
    expect(told(away, absent(away), eventsMs, true)).toEqual([[0, 1]]);
    const here = callerOf(firstMs - 60_000, firstMs + 100);
    expect(told(here, absent(here), eventsMs, true)).toEqual([]);
  });

  test("as long as the calls keep the pace of the woken", () => {
    const events = Array.from({ length: 6 }, (_, hour) => (1 + 2 * hour) * hourMs);
    // Ten calls, two seconds apart; each time another one a minute later.
    const woken = (ms: number) => [
      ...Array.from({ length: 10 }, (_, call) => ms + 2_000 * call),
      ms + 78_000,
    ];
    const caller = callerOf(...events.flatMap((ms) => [ms - 30_000, ...woken(ms)]));
    const each = events.map((_, place) => [place, 10]);
    expect(told(caller, absent(caller), events)).toEqual(each);
    // Nobody was away.
    for (const beginsOnly of [false, true])
      expect(told(caller, absent(caller, [], 0), events, beginsOnly)).toEqual(each);
    // One call is no pace.
    const single = callerOf(
      ...events.flatMap((ms, place) => [ms - 30_000, ...(place < 5 ? woken(ms) : [ms])]),
    );
    expect(told(single, absent(single), events)).toEqual(events.slice(0, 5).map((_, place) => [place, 10]));
  });
});

describe("an event wakes a caller late", () => {
  /** A caller with a long session so long after each of these events, and others of other callers before them. */
  const late = (lateMs: number, places: readonly number[], before = 0, beginsOnly = false) => {
    const starts = places.map((place) => (eventsMs[place] as number) + lateMs);
    const caller = callerOf(...starts.flatMap((ms) => [ms, ms + 2_000]));
    const early = Array.from({ length: before }, (_, place) => (eventsMs[place] as number) - 100_000);
    const absences = new Map([...absent(caller, starts), ...absent(callerOf(...early), early)]);
    return told(caller, absences, eventsMs, beginsOnly);
  };

  test("up to five minutes after it, in a long session", () => {
    const both = [
      [0, 2],
      [1, 2],
    ];
    expect([15_000, 299_999].map((ms) => late(ms, [0, 1]))).toEqual([both, both]);
    expect(late(300_000, [0, 1])).toEqual([]);
    expect(late(100_000, [0, 1], 0, true)).toEqual([]);
  });

  test("if half as many more such sessions come as in as long a time before events, and two at least", () => {
    expect(late(100_000, [0])).toEqual([]);
    expect(late(100_000, [0, 1, 2], 2)).toHaveLength(3);
    expect(late(100_000, [0, 1, 2], 3)).toEqual([]);
  });
});

test("absences of callers who are away at night alone are cut by twice the usual length", () => {
  const pausesOf = (awayMs: number) => [...Array(100).fill(1_000), ...Array(20).fill(awayMs)] as number[];
  const caller = (awayMs: number) => ({ ...callerOf(), pausesMs: pausesOf(awayMs) }) as unknown as Profile;
  const callers = [caller(600_000), caller(600_000), caller(600_000), caller(36_000_000)];
  const [usual, , , night] = [...absencesOf(callers).values()].map(({ awayMs }) => awayMs) as [
    number,
    ...number[],
  ];
  expect(usual).toBeGreaterThan(1_000);
  expect(usual).toBeLessThan(600_000);
  expect(night).toBe(2 * usual);
});
