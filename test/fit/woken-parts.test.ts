// Parts of behaviours that events wake, from sessions that are set.
import { describe, expect, test } from "vitest";
import { hourMs } from "../../sim/fit/days.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import type { OwnWakes, Profile } from "../../sim/fit/profile.ts";
import type { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { wokenParts } from "../../sim/fit/woken-parts.ts";

const secondMs = 1_000;
const recording = { startedAtMs: 0, endedAtMs: 24 * hourMs, resolutionMs: 1 } as unknown as Recording;
const kind = { operation: "rest", asked: undefined, free: false, cost: 1, actual: 1, key: "rest 1" };
const job = (startMs: number): RecordedJob =>
  new RecordedJob({
    ...{ atMs: startMs, wantedMs: startMs, endMs: startMs + 100, status: 200, kind, said: null },
  } as unknown as RecordedCall);

interface Woke {
  readonly eventMs: number;
  readonly lateMs?: number;
  /** Calls, a second apart. */
  readonly calls?: number;
  /** Calls of another worker, each half a call's time later. */
  readonly others?: number;
}
const callerOf = (
  eventsMs: readonly number[],
  woke: readonly Woke[],
  more: Partial<OwnWakes> = {},
): Profile => {
  const sessions = woke.map(({ eventMs, lateMs = 0, calls = 3, others = 0 }) => ({
    eventMs,
    jobs: Array.from({ length: calls }, (_, call) => call).flatMap((call) =>
      [0, 50].slice(0, call < others ? 2 : 1).map((ms) => job(eventMs + lateMs + call * secondMs + ms)),
    ),
  }));
  const wakes = { group: 0, byUser: false, clock: null, eventsMs, lastsMs: null, sessions, ...more };
  return {
    caller: { organization: "acme", user: "ann", group: null, calls: [] },
    pace: { kind: "pause" },
    apart: { key: "", timetables: [], wakes: [wakes], rest: null },
  } as unknown as Profile;
};
const behaviourOf = (...profiles: readonly Profile[]) => {
  const [part] = wokenParts(profiles, recording);
  if (part?.behaviour.kind !== "woken") throw new RangeError("no part is woken");
  return part.behaviour;
};
const hours = [1, 5, 9, 13].map((hour) => hour * hourMs);
const eventMs = hours[0] as number;

describe("events wake", () => {
  test("a share of those whom they find free", () => {
    const all = hours.map((eventMs) => ({ eventMs }));
    expect(behaviourOf(callerOf(hours, all)).share).toBe(1);
    expect(behaviourOf(callerOf(hours, all), callerOf(hours, all.slice(2))).share).toBe(0.75);
    expect(behaviourOf(callerOf(hours, all), callerOf(hours, all.slice(3))).share).toBe(0.63);
  });

  test("nobody who is busy with an earlier event", () => {
    const events = [eventMs, eventMs + 100 * secondMs, ...hours.slice(1)];
    const shareOf = (calls: number) =>
      behaviourOf(callerOf(events, [{ eventMs, calls }, ...hours.slice(1).map((ms) => ({ eventMs: ms }))]))
        .share;
    // The 101st call is answered 100 ms after the second event.
    expect([100, 101].map(shareOf)).toEqual([0.8, 1]);
  });

  test("callers to sessions of so many calls, with pauses", () => {
    const { of, calls } = behaviourOf(
      callerOf(
        hours,
        hours.map((eventMs) => ({ eventMs, calls: 5 })),
      ),
    );
    expect(of).toMatchObject({ kind: "worker", think: { kind: "constant", ms: 900 } });
    expect(calls).toEqual({ kind: "constant", ms: 5 });
  });

  test("callers to the work of several workers, if most sessions have them and each makes a third of the busiest one's calls", () => {
    const workOf = (...others: readonly number[]) =>
      behaviourOf(
        callerOf(
          hours,
          hours.map((eventMs, place) => ({ eventMs, calls: 6, others: others[place] ?? 0 })),
        ),
      );
    const { of, calls } = workOf(6, 6, 6, 6);
    expect(of).toMatchObject({ kind: "worker", atOnce: { kind: "constant", ms: 2 } });
    expect(calls).toEqual({ kind: "constant", ms: 12 });
    const atOnceOf = (...others: readonly number[]) => {
      const { of } = workOf(...others);
      return of.kind === "worker" ? of.atOnce : null;
    };
    expect(atOnceOf(2, 2, 2, 2)).toMatchObject({ ms: 2 });
    expect(atOnceOf(1, 1, 1, 1)).toBeNull();
    expect(atOnceOf(6, 6, 0, 0)).toBeNull();
    expect(atOnceOf(6, 6, 6, 0)).toMatchObject({ ms: 2 });
    const five = hours.map((ms) => ({
      eventMs: ms,
      jobs: Array.from({ length: 40 }, (_, call) => job(ms + 20 * (call % 5) + 1_000 * Math.floor(call / 5))),
    }));
    expect(wokenParts([callerOf(hours, [], { sessions: five })], recording)[0]?.behaviour).toMatchObject({
      of: { atOnce: { ms: 5 } },
      calls: { ms: 40 },
    });
  });

  test("several clients of one caller to rows of equally many calls, also one after the other", () => {
    const sessions = hours.map((ms) => ({
      eventMs: ms,
      jobs: [0, 50, 20_000, 20_050]
        .flatMap((lateMs) => Array.from({ length: 8 }, (_, call) => job(ms + lateMs + 200 * call)))
        .sort((a, b) => a.startMs - b.startMs),
    }));
    const parts = wokenParts([callerOf(hours, [], { sessions })], recording);
    expect(parts).toHaveLength(4);
    expect(parts[0]?.behaviour).toMatchObject({ calls: { kind: "constant", ms: 8 }, share: 1 });
  });

  test("them by chance, or by a clock", () => {
    const clock = { at: "5 4 * * *", lateMs: 20_000, eventsMs: hours };
    const all = hours.map((eventMs) => ({ eventMs }));
    const chance = behaviourOf(callerOf(hours, all, { group: 3, byUser: true }));
    expect(chance).toMatchObject({ lasts: null, group: 3, byUser: true });
    expect(chance.events).toMatchObject({ kind: "chance" });
    const clocked = behaviourOf(callerOf(hours, all, { clock, lastsMs: hours.map(() => 60_000) }));
    expect(clocked.events).toEqual({ kind: "clock", at: "5 4 * * *", lateMs: 20_000 });
    expect(clocked.lasts).toEqual({ kind: "constant", ms: 60_000 });
  });
});

describe("callers wake", () => {
  const withinOf = (...latesMs: readonly number[]) =>
    behaviourOf(...latesMs.map((lateMs) => callerOf(hours, [{ eventMs, lateMs }]))).within;
  const tenth = Array.from({ length: 10 }, (_, place) => (place + 1) * secondMs);

  test("within a time, the latest of them perhaps without the event", () => {
    expect(withinOf(...tenth)).toEqual({ kind: "uniform", least: 0, most: 10_000 });
    // Of eleven the median is 6 s, and 24 s is four times as much.
    expect(withinOf(...tenth, 24_000)).toEqual({ kind: "uniform", least: 0, most: 25_000 });
    expect(withinOf(...tenth, 24_001)).toEqual({ kind: "uniform", least: 0, most: 10_000 });
  });

  test("some at once, and others long after them", () => {
    const few = [...Array(8).fill(1_000), 4_000, 4_000];
    expect(withinOf(...few)).toEqual({ kind: "uniform", least: 0, most: 4_000 });
    const late = [...Array(8).fill(1_000), 4_100, 4_100];
    expect(withinOf(...late)).toMatchObject({ kind: "lognormal" });
  });
});

test("callers whom nothing woke have no such part", () => {
  expect(wokenParts([{ apart: null } as unknown as Profile], recording)).toEqual([]);
});
