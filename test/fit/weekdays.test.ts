// The sentence on weekdays that were recorded once, by the numbers of calls of each day.
import { describe, expect, test } from "vitest";
import { dayMs, hourMs } from "../../sim/fit/days.ts";
import type { ClockedSessions, Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { busyDaysOf, busyVisitDays, weekdaysDoubt } from "../../sim/fit/weekdays.ts";

/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;
/** Days on which a caller calls so often in each of these hours; `null`: it was not recorded. */
function recordingOf(
  counts: readonly number[],
  { fromHour = 0, hours = [0, 9, 23], toHour = 24 * counts.length } = {},
): Recording {
  const calls = counts.flatMap((count, day) =>
    hours.flatMap((hour) =>
      Array.from({ length: count }, (_, at) => ({ atMs: monday + day * dayMs + hour * hourMs + at })),
    ),
  );
  const [fromMs, toMs] = [monday + fromHour * hourMs, monday + toHour * hourMs];
  const seen = calls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  // Two callers share the calls.
  const callers = [0, 1].map((place) => ({ calls: seen.filter((_, at) => at % 2 === place) }));
  return { startedAtMs: fromMs + 1_000, endedAtMs: toMs - 1_000, callers } as unknown as Recording;
}
const alone =
  "No weekday was recorded twice: whether one is busier every week is not told, and the scenario takes all alike.";
const days = 7;
const of = (...counts: readonly number[]): string[] => weekdaysDoubt(recordingOf(counts), days);

describe("five weekdays", () => {
  test("that are alike, within a fifth, are no doubt", () => {
    expect(of(10, 10, 10, 10, 10, 1, 1)).toEqual([]);
    expect(of(10, 10, 12, 10, 10, 1, 1)).toEqual([]);
    expect(of(12, 12, 10, 12, 12, 1, 1)).toEqual([]);
    expect(of(10, 10, 13, 10, 10, 10, 10)).toEqual([alone]);
    expect(of(13, 13, 10, 13, 13, 10, 10)).toEqual([alone]);
  });

  test("of which one has half as many again, or two thirds, are named", () => {
    const named = (text: string): string[] => [`${alone} ${text} times the calls of the other weekdays.`];
    expect(of(10, 15, 10, 10, 10, 1, 1)).toEqual(named("Tuesday (1970-01-06) had 1.5"));
    expect(of(10, 10, 10, 10, 30, 1, 1)).toEqual(named("Friday (1970-01-09) had 3.0"));
    expect(of(4, 10, 10, 10, 10, 1, 1)).toEqual(named("Monday (1970-01-05) had 0.4"));
    expect(of(10, 10, 10, 0, 10, 1, 1)).toEqual(named("Thursday (1970-01-08) had 0.0"));
    expect(of(0, 600, 10, 10, 10)).toEqual(named("Monday (1970-01-05) had 0.0"));
    // By the median of the others, the further one.
    expect(of(10, 40, 10, 10, 20, 1, 1)).toEqual(named("Tuesday (1970-01-06) had 4.0"));
  });

  test("on which nobody called have nothing to differ from", () => {
    expect(of(0, 0, 0, 0, 0, 9, 9)).toEqual([]);
    expect(of(0, 0, 5, 0, 0, 9, 9)).toEqual([]);
  });
});

/** So many recordings beside each other. */
const together = (counts: readonly (readonly number[])[]): Recording => ({
  ...recordingOf([1, 1, 1, 1, 1, 1, 1]),
  callers: counts.map((each) => ({
    calls: recordingOf(each).callers.flatMap(({ calls }) => calls),
  })) as never,
});

describe("a day that differs by less than half", () => {
  const usual = [10, 10, 10, 10, 10, 1, 1];
  const monday = [13, ...usual.slice(1)];
  const named = `${alone} Monday (1970-01-05) had 1.3 times the calls of the other weekdays.`;
  const among = (...counts: readonly (readonly number[])[]): string[] =>
    weekdaysDoubt(together(counts), days);

  test("is named if five callers and nine of ten differ alike", () => {
    expect(among(...Array(5).fill(monday))).toEqual([named]);
    expect(among(...Array(4).fill(monday))).toEqual([alone]);
    expect(among(...Array(9).fill(monday), usual)).toEqual([named]);
    expect(among(...Array(8).fill(monday), usual)).toEqual([alone]);
    const quiet = [7, ...usual.slice(1)];
    expect(among(...Array(5).fill(quiet))[0]).toContain(" Monday (1970-01-05) had 0.7 times");
    expect(among(...Array(17).fill(quiet), monday, usual)).toEqual([alone]);
  });
});

describe("daily jobs", () => {
  /** A daily job from a Monday on, with runs of these sizes. */
  const jobOf = (sizes: readonly number[], periodMs = dayMs) =>
    ({
      periodMs,
      sizes,
      startsMs: sizes.map((_, day) => monday + day * dayMs),
    }) as unknown as ClockedSessions;
  const busy = (all: readonly (readonly number[])[]): readonly number[] =>
    busyDaysOf(all.map((sizes) => [jobOf(sizes)]));
  const heavy = [15, 10, 11, 10, 14, 2, 30];

  test("of five callers do more on the same weekdays if nine of ten pairs of days say so", () => {
    expect(busy(Array(5).fill(heavy))).toEqual([1, 5]);
    expect(busy(Array(4).fill(heavy))).toEqual([]);
    const other = [10, 15, 11, 14, 10, 2, 30];
    expect(busy([...Array(9).fill(heavy), other])).toEqual([1, 5]);
    expect(busy([...Array(5).fill(heavy), other])).toEqual([]);
  });

  test("do no more by less than a fifth", () => {
    expect(busy(Array(9).fill([12, 10, 10, 10, 10]))).toEqual([1]);
    expect(busy(Array(9).fill([11.9, 10, 10, 10, 10]))).toEqual([]);
  });

  test("are compared by the mean of a day, on all weekdays, without those of other periods", () => {
    // Monday to Wednesday twice.
    expect(busy(Array(5).fill([10, 10, 10, 10, 10, 1, 1, 10, 10, 10]))).toEqual([]);
    expect(busy(Array(5).fill([15, 10, 10, 10]))).toEqual([]);
    expect(busyDaysOf(Array(5).fill([jobOf(heavy, dayMs / 24)]))).toEqual([]);
  });

  test("that do more on some weekdays are named", () => {
    const timetables = [{ ...jobOf(heavy), busyDays: [1, 5] }];
    const profiles = [
      { apart: null, jobs: [] },
      { apart: { timetables, rest: null } },
    ] as unknown as readonly Profile[];
    expect(weekdaysDoubt(recordingOf([10, 10]), days, profiles)).toEqual([
      alone.replace(".", ", but has daily jobs do more on each Monday and Friday."),
    ]);
  });
});

describe("visits", () => {
  /** A caller with so many jobs on each day from a Monday on; apart from daily jobs if these are given. */
  const callerOf = (counts: readonly number[], apart: unknown = null) => {
    const jobs = counts.flatMap((count, day) =>
      Array.from({ length: count }, (_, at) => ({ startMs: monday + day * dayMs + at })),
    );
    return (apart === null ? { apart, jobs } : { apart: { timetables: [], rest: { jobs } } }) as never;
  };
  const busy = (...counts: readonly (readonly number[])[]) =>
    busyVisitDays(counts.map((each) => callerOf(each)));
  const five = (counts: readonly number[]) => busy(...Array(5).fill(counts));

  test("are more on a weekday if the others are alike, for nearly all of five callers or more", () => {
    expect(five([131, 101, 100, 99, 101, 9, 9])).toEqual([1]);
    expect(busy(...Array(4).fill([131, 101, 100, 99, 101]))).toEqual([]);
    expect(busy(...Array(5).fill([131, 101, 100, 99, 101]), [90, 100, 100, 100, 120])).toEqual([]);
    // All but a quiet one.
    expect(five([100, 101, 100, 99, 70])).toEqual([1, 2, 3, 4]);
  });

  test("are not where the others differ by more than a fifth of the gap", () => {
    expect(five([141, 109, 105, 101, 100])).toEqual([]);
    expect(five([145, 108, 104, 101, 100])).toEqual([1]);
  });

  test("count without daily jobs", () => {
    const callers = Array(5).fill(callerOf([140, 100, 100, 100, 100], true));
    expect(busyVisitDays(callers)).toEqual([1]);
    expect(busyVisitDays(Array(5).fill({ apart: { timetables: [], rest: null } }))).toEqual([]);
  });

  test("that are more on some weekdays are named", () => {
    const callers = Array(5).fill(callerOf([140, 100, 100, 100, 140]));
    expect(weekdaysDoubt(recordingOf([10, 10]), days, callers)).toEqual([
      alone.replace(".", ", but has callers come more often on each Monday and Friday."),
    ]);
  });
});

describe("fewer weekdays", () => {
  test("leave a doubt though they are alike, and one alone", () => {
    expect(of(10, 10, 10, 10)).toEqual([alone]);
    expect(of(10)).toEqual([alone]);
    expect(of(10, 20)[0]).toContain(" Monday (1970-01-05) had 0.5 times");
    expect(weekdaysDoubt(recordingOf([], { toHour: 0 }), days)).toEqual([]);
  });

  test("count from twelve recorded hours on, by the hours that both have", () => {
    const half = { hours: [9, 12, 23] };
    const from = (fromHour: number) => weekdaysDoubt(recordingOf([30, 10, 10], { ...half, fromHour }), days);
    expect(from(12)[0]).toContain(" Monday (1970-01-05) had 3.0 times");
    // Without Monday the rest are alike.
    expect(from(13)).toEqual([alone]);
    const until = (toHour: number) => weekdaysDoubt(recordingOf([10, 10, 30], { ...half, toHour }), days);
    expect(until(2 * 24 + 12)[0]).toContain(" Wednesday (1970-01-07) had 3.0 times");
    expect(until(2 * 24 + 11)).toEqual([alone]);
  });
});

test.each([
  [2 - 1 / 24 - 0.001, null],
  [2 - 1 / 24, "No weekday was recorded twice"],
  [7 + 1 / 24, "No weekday was recorded twice"],
  [7 + 1 / 24 + 0.001, "Some weekdays were recorded only once"],
  [14 - 1 / 24 - 0.001, "Some weekdays were recorded only once"],
  [14 - 1 / 24, null],
])("a span of %d days: %s", (spanDays, words) => {
  const [said = null] = weekdaysDoubt(recordingOf([10, 30]), spanDays);
  expect(said?.split(":")[0] ?? null).toBe(words);
});
