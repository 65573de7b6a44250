// Numbers, limits and doubts of a fit, at their boundaries.
import { describe, expect, test } from "vitest";
import { doubtsOf } from "../../sim/fit/doubts.ts";
import { limitsOf, limitsOfPolicy } from "../../sim/fit/limits.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { withMean } from "../../sim/fit/spread.ts";
import { roughText, spanText, spreadText, timeText } from "../../sim/fit/words.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { ABSENT } from "../../src/scenario/client.ts";

const limits = limitsOf({ rules: parseRules({}) });

test.each([
  [0, "0ms"],
  [999, "999ms"],
  [1_000, "1s"],
  [1_500, "1500ms"],
  [59_000, "59s"],
  [60_000, "1m"],
  [90_000, "90s"],
  [3_540_000, "59m"],
  [3_600_000, "1h"],
  [5_400_000, "90m"],
])("%d ms are written %s", (ms, text) => {
  expect(timeText(ms)).toBe(text);
});

test.each([
  [999.4, "999ms"],
  [1_000, "1s"],
  [5_449, "5.4s"],
  [9_999, "10s"],
  [10_000, "10s"],
  [62_400, "62s"],
  [599_999, "600s"],
  [600_000, "10 min"],
  [35_999_999, "600 min"],
  [36_000_000, "10 h"],
])("%d ms are about %s", (ms, text) => {
  expect(roughText(ms)).toBe(text);
});

test("spans and spreads", () => {
  expect(spanText({ least: 0, most: 0 })).toBe("at once");
  expect(spanText({ least: 0, most: 1_000 })).toBe("0ms to 1s");
  expect(spanText({ least: 2_000, most: 2_000 })).toBe("2s");
  const values = Array.from({ length: 100 }, (_, place) => (place + 1) * 1_000);
  expect(spreadText(values)).toBe("median 50s, nine in ten from 5s to 95s");
});

test("a spread is scaled to a mean", () => {
  expect(withMean({ kind: "uniform", least: 100, most: 300 }, 400)).toEqual({
    kind: "uniform",
    least: 200,
    most: 600,
  });
  expect(withMean({ kind: "uniform", least: 1, most: 2 }, 0)).toEqual({ kind: "uniform", least: 0, most: 1 });
  expect(withMean({ kind: "constant", ms: 5 }, 400)).toEqual({ kind: "constant", ms: 5 });
  const wide = withMean({ kind: "lognormal", median: 1_000, p95: 4_000 }, 2_852);
  // Its mean is exp(mu + sigma^2 / 2) = 1,426 ms, with sigma = ln(4) / 1.645: twice that is asked for.
  expect(wide).toEqual({ kind: "lognormal", median: 1_999, p95: 7_998 });
});

describe("limits", () => {
  test("by rules end on the grid, or nobody knows when", () => {
    const rules = parseRules({
      organization: { rest: { limit: 9, windowSeconds: 60 } },
      user: { rest: { windowSeconds: 10 } },
    });
    const limits = limitsOf({ rules });
    const caller = { organization: "acme", user: "ann" };
    expect(limits.operations).toEqual(["rest", "graphql"]);
    expect(limits.windowOf("acme", "rest")).toMatchObject({ limit: 9, windowSeconds: 60 });
    expect(limits.resetsAt(caller, "rest", 125)).toEqual({ reset: 55, userReset: 5 });
    expect(limits.resetsAt(caller, "rest", 120)).toEqual({ reset: 60, userReset: 10 });
    const opened = limitsOf({ rules: parseRules({ semantics: { anchor: "first-request" } }) });
    expect(opened.resetsAt(caller, "rest", 125)).toEqual({ reset: ABSENT, userReset: ABSENT });
  });

  test("by a policy are those of an operation's first windows", () => {
    const window = (limit: number, more: object) => ({ kind: "fixed-window", limit, ...more });
    const quota = (algorithm: object) => ({ algorithm, key: ["org"], unit: "requests" });
    const limits = limitsOfPolicy(
      parsePolicy({
        version: 2,
        name: "x",
        quotas: {
          bucket: quota({ kind: "token-bucket", capacity: 7, refill: { amount: 1, everyMs: 1_000 } }),
          grid: quota(window(9, { windowSeconds: 90, anchor: "epoch" })),
          opened: quota(window(8, { windowSeconds: 30, anchor: "first-request" })),
          daily: quota(window(5, { anchor: { calendar: "day", zone: "UTC" } })),
        },
        operations: {
          a: { uses: { bucket: 1, grid: 1, opened: 1 } },
          b: { uses: { bucket: 1 } },
          c: { uses: { daily: 1 } },
          d: { uses: { grid: 1, opened: 1 } },
        },
      }),
    );
    const caller = { organization: "acme", user: "ann" };
    expect(limits.operations).toEqual(["a", "b", "c", "d"]);
    expect(limits.operations.map((operation) => limits.windowOf("acme", operation))).toEqual([
      { limit: 9, windowSeconds: 90 },
      { limit: 7, windowSeconds: 60 },
      { limit: 5, windowSeconds: 86_400 },
      { limit: 9, windowSeconds: 90 },
    ]);
    expect(limits.windowOf("acme", "none")).toEqual({ limit: Number.MAX_SAFE_INTEGER, windowSeconds: 60 });
    expect(limits.resetsAt(caller, "a", 100)).toEqual({ reset: ABSENT, userReset: 80 });
    expect(limits.resetsAt(caller, "d", 100)).toEqual({ reset: 80, userReset: ABSENT });
  });
});

describe("doubts of the days that were recorded", () => {
  const hour = 3_600_000;
  const monday = Date.UTC(2026, 0, 5);
  const doubts = (fromHours: number, hours: number, days = 0): readonly string[] => {
    const startedAtMs = monday + fromHours * hour;
    const recording = {
      startedAtMs,
      endedAtMs: startedAtMs + hours * hour,
      callers: [],
    } as unknown as Recording;
    return doubtsOf([], recording, days, limits).map(({ text }) => text);
  };
  const hoursMissing = "Not all hours of a day were recorded: the others are taken to be as the mean.";
  const oneDay = "One day was recorded: all others, weekends too, are taken to be as it was.";
  const once =
    "No weekday was recorded twice: whether one is busier every week is not told, and the scenario takes all alike.";
  const missing = (day: string) => `No ${day} was recorded: it is taken to be as the other days.`;

  test.each([
    [0, 5.9, []],
    [0, 6, [hoursMissing]],
    [0, 22.9, [hoursMissing]],
    [0, 23, [oneDay]],
    [0, 46, [oneDay]],
    [0, 47.1, [once, missing("weekend")]],
    [0, 120, [missing("weekend")]],
    [0, 120.1, []],
    [120, 48, [missing("weekday")]],
    [119, 48, []],
    [96, 48, [once]],
    [0, 167, []],
  ])("from hour %d of a week, %d hours", (fromHours, hours, expected) => {
    expect(doubts(fromHours, hours)).toEqual(expected);
  });

  test("are of their mean where days differ", () => {
    const told = (share: string, days: string, error: string) =>
      `Days differ by ${share} from each other, for all callers together: ${days} tell their mean to ${error} at best.`;
    expect(doubts(0, 168, 0.2)).toEqual([told("20 %", "7 days", "8 %")]);
    expect(doubts(0, 168, 0.13)).toEqual([]);
    expect(doubts(0, 4, 0.05)).toEqual([told("5 %", "1 day", "5 %")]);
  });
});

test("events of users' own and those of many callers are both doubted", () => {
  const hour = 3_600_000;
  const startedAtMs = Date.UTC(2026, 0, 5);
  const endedAtMs = startedAtMs + 5.5 * 24 * hour;
  const recording = { startedAtMs, endedAtMs, callers: [] } as unknown as Recording;
  const woken = (byUser: boolean, group: number, events: number) =>
    ({
      ...{ caller: { user: "ann" }, jobs: [], pausesMs: [], refused: 0 },
      apart: {
        wakes: [
          {
            ...{ byUser, group, clock: null },
            eventsMs: Array.from({ length: events }, (_, index) => startedAtMs + index * 12 * hour),
          },
        ],
      },
    }) as unknown as Profile;
  const doubts = (profiles: readonly Profile[]) =>
    doubtsOf(profiles, recording, 0, limits).map(({ text }) => text.split(":")[0]);
  const own = "Each of 2 users had events of its own, 8 to 10 times";
  expect(doubts([woken(true, 0, 8), woken(true, 1, 10)])).toEqual([own]);
  expect(doubts([woken(true, 0, 8), woken(false, 2, 9), woken(true, 1, 10)])).toEqual([
    own,
    "Events woke many callers together 9 times",
  ]);
});
