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

test("windows of an organization and of a user are told of fixed windows by these two alone", () => {
  const fixed = { kind: "fixed-window", limit: 9, windowSeconds: 60, anchor: "epoch" };
  const bucket = { kind: "token-bucket", capacity: 7, refill: { amount: 1, everyMs: 1_000 } };
  const windowsOf = (...quotas: readonly (readonly [algorithm: object, ...key: readonly string[]])[]) => {
    const named = quotas.map(([algorithm, ...key], place) => {
      const quota = { algorithm, key, unit: "requests" };
      return [`quota-${place}`, quota] as const;
    });
    const uses = Object.fromEntries(named.map(([name]) => [name, 1]));
    const policy = {
      version: 2,
      name: "x",
      quotas: Object.fromEntries(named),
      operations: { call: { uses } },
    };
    return limitsOfPolicy(parsePolicy(policy)).windowsOf({ organization: "acme", user: "ann" }, "call");
  };
  const window = { limit: 9, windowSeconds: 60, onGrid: true };
  const first = { ...fixed, anchor: "first-request" };
  const both = ["organization", "user"] as const;
  expect(windowsOf([fixed, "organization"], [first, ...both])).toMatchObject([
    window,
    { ...window, onGrid: false },
  ]);
  expect(windowsOf([bucket, "organization"], [fixed, ...both])).toBeNull();
  expect(windowsOf([fixed, "organization"], [bucket, ...both])).toBeNull();
  expect(windowsOf([fixed, "organization"], [fixed, "user"])).toBeNull();
  expect(windowsOf([fixed, ...both], [fixed, "organization"])).toBeNull();
  expect(windowsOf([fixed, "organization"])).toBeNull();
});

describe("doubts of callers on whom refusals depend", () => {
  const spanMs = 7 * 86_400_000;
  const recording = { startedAtMs: 0, endedAtMs: spanMs, callers: [] } as unknown as Recording;
  /** Sessions of 100 calls, a second apart, and an hour away in between. */
  const heavy = (user: string, refused: number, sessions: number, calls = 100 * sessions) => {
    const jobs = Array.from({ length: calls }, (_, call) => {
      const startMs = Math.floor(call / (calls / sessions)) * 3_600_000 + call * 1_000;
      const answered = { status: 200 };
      return { startMs, endMs: startMs, jobs: 1, first: answered, last: answered };
    });
    const pausesMs = jobs.slice(1).map(({ startMs }, place) => startMs - (jobs[place]?.endMs ?? 0));
    const pace = { kind: "pause" };
    return { caller: { user, calls: [] }, jobs, pausesMs, pace, refused, apart: null } as unknown as Profile;
  };
  const light = (user: string, refused: number) => heavy(user, refused, 1, 2);
  const doubts = (...profiles: readonly Profile[]) => doubtsOf(profiles, recording, 0, limits);
  const few = (user: string, share: number, sessions: number, error: number) =>
    `${user} has ${share}% of the refusals, in ${sessions} sessions alone: how often they come is known to ${error}% at best.`;

  test("of few heavy sessions: the three with most of them", () => {
    const four = [heavy("ann", 20, 9), heavy("bob", 30, 16), heavy("eve", 10, 25), heavy("joe", 40, 36)];
    expect(doubts(...four)).toEqual(
      [few("joe", 40, 36, 17), few("bob", 30, 16, 25), few("ann", 20, 9, 33)].map((text) => ({
        text,
        about: null,
      })),
    );
  });

  test("are none of more than sixty sessions, of lighter ones, or of less than a twentieth", () => {
    const texts = (...profiles: readonly Profile[]) => doubts(...profiles).map(({ text }) => text);
    expect(texts(heavy("ann", 10, 60), light("bob", 10))).toEqual([few("ann", 50, 60, 13)]);
    expect(texts(heavy("ann", 10, 61), light("bob", 10))).toEqual([]);
    expect(texts(heavy("ann", 10, 9, 99 * 9), light("bob", 10))).toEqual([]);
    expect(texts(heavy("ann", 5, 9), light("bob", 95))).toEqual([few("ann", 5, 9, 33)]);
    expect(texts(heavy("ann", 5, 9), light("bob", 96))).toEqual([]);
    expect(texts(heavy("ann", 0, 9), light("bob", 0))).toEqual([]);
  });

  test("tell of one with more than half of thirty, among three callers", () => {
    const [text, about] = [
      "bob has 53% of the refusals: what is refused next depends on this one caller.",
      "caller",
    ];
    expect(doubts(light("ann", 14), light("bob", 16), light("eve", 0))).toEqual([{ text, about }]);
    expect(doubts(light("ann", 15), light("bob", 15), light("eve", 0))).toEqual([]);
    expect(doubts(light("ann", 14), light("bob", 15), light("eve", 0))).toEqual([]);
    expect(doubts(light("ann", 14), light("bob", 16))).toEqual([]);
    const most = { text: few("bob", 67, 5, 45), about };
    expect(doubts(light("ann", 10), heavy("bob", 20, 5), light("eve", 0))).toEqual([most]);
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
    expect(doubts(0, 168, 0.2)).toEqual([told("20%", "7 days", "8%")]);
    expect(doubts(0, 168, 0.13)).toEqual([]);
    expect(doubts(0, 4, 0.05)).toEqual([told("5%", "1 day", "5%")]);
  });
});

test("events of users' own and those of many callers are both doubted", () => {
  const hour = 3_600_000;
  const startedAtMs = Date.UTC(2026, 0, 5);
  const endedAtMs = startedAtMs + 5.5 * 24 * hour;
  const recording = { startedAtMs, endedAtMs, callers: [] } as unknown as Recording;
  const woken = (byUser: boolean, group: number, events: number) =>
    ({
      ...{ caller: { user: "ann" }, jobs: [], pausesMs: [], pace: { kind: "pause" }, refused: 0 },
      apart: {
        timetables: [],
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
