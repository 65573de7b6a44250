// Lists that a few workers read are told from calls at once, and from calls that overlap by chance.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import { listsOf } from "../../sim/fit/lists.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";

const recording = { startedAtMs: 0, endedAtMs: 24 * hourMs } as unknown as Recording;
const job = (startMs: number, callMs = 100): RecordedJob =>
  ({
    startMs,
    endMs: startMs + callMs,
    jobs: 1,
    first: { endMs: startMs + callMs },
  }) as unknown as RecordedJob;

/** A list: the workers begin within a quarter of a call, and each takes the next call as soon as one was answered. */
const list = (fromMs: number, calls: number, workers: number, callMs = 100): RecordedJob[] =>
  Array.from({ length: calls }, (_, call) => {
    const lateMs = ((call % workers) * callMs) / workers / 4;
    return job(fromMs + lateMs + callMs * Math.floor(call / workers), callMs);
  });
const lists = (count: number, calls: number, workers: number, callMs = 100): RecordedJob[] =>
  Array.from({ length: count }, (_, each) => list(each * hourMs, calls, workers, callMs)).flat();
const single = (count: number): RecordedJob[] =>
  Array.from({ length: count }, (_, call) => job(30.5 * minuteMs + call * minuteMs));

const told = (jobs: readonly RecordedJob[], kind: Profile["pace"]["kind"] = "chance") => {
  const sorted = jobs.toSorted((a, b) => a.startMs - b.startMs);
  const found = listsOf({ jobs: sorted, pace: { kind } } as unknown as Profile, recording, 7);
  if (found === null) return null;
  const { group, byUser, clock, eventsMs, sessions } = found.wakes;
  expect([group, byUser, clock]).toEqual([7, true, null]);
  expect(sessions.map(({ eventMs }) => eventMs)).toEqual(eventsMs);
  expect(sessions.every(({ eventMs, jobs: own }) => own[0]?.startMs === eventMs)).toBe(true);
  return { sizes: sessions.map(({ jobs: own }) => own.length), rest: found.rest.length };
};
const times = (count: number, size: number) => Array.from({ length: count }, () => size);

describe("lists", () => {
  test("are the calls that a few workers begin together, and go on with", () => {
    expect(told(lists(12, 80, 4))).toEqual({ sizes: times(12, 80), rest: 0 });
    expect(told(lists(12, 80, 4), "volleys")).toEqual({ sizes: times(12, 80), rest: 0 });
    expect(told(lists(12, 80, 4), "pause")).toBeNull();
  });

  test("are ten or more", () => {
    expect(told(lists(10, 80, 4))).toEqual({ sizes: times(10, 80), rest: 0 });
    expect(told(lists(9, 80, 4))).toBeNull();
  });

  test("are more than two rounds of several workers", () => {
    expect(told(lists(12, 9, 4))).toEqual({ sizes: times(12, 9), rest: 0 });
    expect(told(lists(12, 8, 4))).toBeNull();
    expect(told(lists(12, 40, 40))).toBeNull();
    expect(told(lists(12, 80, 1))).toBeNull();
  });

  test("are half of the caller's calls; the others are the rest", () => {
    expect(told([...lists(10, 9, 3), ...single(90)])).toEqual({ sizes: times(10, 9), rest: 90 });
    expect(told([...lists(10, 9, 3), ...single(91)])).toBeNull();
  });

  test("are those, too, that are over before they show how many workers there are", () => {
    const short = list(20 * hourMs, 4, 4);
    const fewer = list(21 * hourMs, 3, 3);
    expect(told([...lists(12, 80, 4), ...short, ...fewer])).toEqual({
      sizes: [...times(12, 80), 4],
      rest: 3,
    });
  });

  test("take a fifth of the time or less: else they may go on all day", () => {
    // The last of three workers begins a sixth of a call late, and makes three.
    const mostMs = Math.floor((24 * hourMs) / 5 / 12 / (3 + 1 / 6));
    expect(told(lists(12, 9, 3, mostMs))).toEqual({ sizes: times(12, 9), rest: 0 });
    expect(told(lists(12, 9, 3, mostMs + 1))).toBeNull();
  });

  test("may have retries that make up to twice as many calls overlap", () => {
    const waiting = (extra: number): RecordedJob[] =>
      Array.from({ length: 12 }, (_, each) => [
        ...list(each * hourMs, 80, 4),
        ...Array.from({ length: extra }, () => job(each * hourMs + 150, 1_200)),
      ]).flat();
    expect(told(waiting(4))).toEqual({ sizes: times(12, 84), rest: 0 });
    expect(told(waiting(5))).toBeNull();
  });
});
