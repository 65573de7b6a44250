// Sessions that somebody scheduled: they begin at a full or a half hour, at hours that differ from day to day.
import { describe, expect, test } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { scheduledIn } from "../../sim/fit/scheduled-wakes.ts";
import { chanceOf } from "../worlds/chance.ts";

/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
const recording = { startedAtMs: monday, endedAtMs: monday + 7 * dayMs } as unknown as Recording;
const answered = { status: 200 };

/** A caller with sessions of five calls, half a second apart, and of a call a minute later, from these instants on. */
const callerOf = (user: string, startsMs: readonly number[]): Profile => {
  const jobs = [...startsMs]
    .sort((a, b) => a - b)
    .flatMap((fromMs) => [0, 500, 1_000, 1_500, 2_000, 62_000].map((ms) => fromMs + ms))
    .map(
      (startMs) =>
        ({
          ...{ startMs, endMs: startMs + 100, first: answered, last: answered, jobs: 1, attempts: 1 },
        }) as unknown as RecordedJob,
    );
  return { caller: { user }, jobs } as unknown as Profile;
};

/** Six callers who each have a session on each of these days, at an hour from 8 to 15, so many minutes after it. */
const callers = (
  minutes: readonly number[],
  lateMs: number,
  days: readonly number[] = [0, 1, 2, 3, 4],
  anyMinute = false,
): Profile[] => {
  const chance = chanceOf(3);
  return ["ann", "bea", "cid", "dan", "eva", "fay"].map((user, place) =>
    callerOf(
      user,
      days.map((day) => {
        const minute = anyMinute
          ? Math.floor(60 * chance.next())
          : (minutes[(day + place) % minutes.length] as number);
        const hour = 8 + Math.floor(8 * chance.next());
        return (
          monday + day * dayMs + hour * hourMs + minute * minuteMs + Math.floor(chance.between(0, lateMs))
        );
      }),
    ),
  );
};
const found = (profiles: readonly Profile[], isKnown: (ms: number) => boolean = () => false) =>
  scheduledIn(profiles, isKnown, recording);

describe("scheduled sessions", () => {
  test("begin at the minutes of the hour at which far more do, in the hours and on the days on which they do", () => {
    const at = found(callers([0, 30], 3_000))?.clock?.at;
    expect(at).toMatch(/^0,30 (\d+,)*\d+ \* \* 1-5$/);
    const hours = (at?.split(" ")[1] ?? "").split(",").map(Number);
    expect(hours.every((hour) => hour >= 8 && hour < 16)).toBe(true);
    expect(hours.length).toBeGreaterThan(5);
    expect(found(callers([45], 3_000, [0, 1, 2, 3, 4, 5, 6]))?.clock?.at).toMatch(/^45 .* \* \* \*$/);
  });

  test("are those of each caller, up to the pause that ends them", () => {
    const all = callers([0, 30], 3_000);
    const own = found(all);
    const sessions = [...(own?.woken ?? [])].map(([{ caller }, each]) => [caller.user, each] as const);
    expect(sessions.map(([user]) => user)).toEqual(["ann", "bea", "cid", "dan", "eva", "fay"]);
    for (const { eventMs, jobs } of sessions.flatMap(([, each]) => each)) {
      expect(eventMs % (30 * minuteMs)).toBe(0);
      expect(jobs).toHaveLength(5);
      expect((jobs[0]?.startMs ?? 0) - eventMs).toBeLessThan(3_000);
    }
  });

  test("are none at any minute, at minutes that people do not choose, or later than seconds after the minute", () => {
    expect(found(callers([], 3_000, [0, 1, 2, 3, 4], true))).toBeNull();
    expect(found(callers([7, 37], 3_000))).toBeNull();
    const late = callers([0, 30], 3_000).map(({ caller, jobs }) =>
      callerOf(
        caller.user,
        jobs.filter((_, place) => place % 6 === 0).map(({ startMs }) => startMs + 20_000),
      ),
    );
    expect(found(late)).toBeNull();
  });

  test("are none where one caller comes each hour, or where events are known already", () => {
    const hourly = Array.from({ length: 5 * 24 }, (_, hour) => monday + hour * hourMs);
    expect(found([callerOf("ann", hourly)])).toBeNull();
    expect(found(callers([0, 30], 3_000), () => true)).toBeNull();
  });
});
