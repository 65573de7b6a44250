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

/** Eight callers who begin at seven each day, one second after another, and call every other minute for some time. */
const callers = (lastsMs: number): Profile[] =>
  Array.from({ length: 8 }, (_, place) => {
    const starts = Array.from({ length: 7 }, (_, day) =>
      Array.from(
        { length: Math.ceil(lastsMs / (2 * minuteMs)) },
        (_, call) => monday + day * dayMs + 7 * hourMs + place * 1_000 + 2 * call * minuteMs,
      ),
    ).flat();
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
