// Who is alike: callers that are set, at both sides of each bound.
import { describe, expect, test } from "vitest";
import { clustersOf } from "../../sim/fit/clusters.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { FittedRetry } from "../../sim/fit/policies.ts";
import type { Apart, CallPace, Profile } from "../../sim/fit/profile.ts";
import type { RunForm } from "../../sim/fit/runs.ts";

const hourMs = 3_600_000;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

interface Caller {
  readonly organization?: string;
  readonly user?: string;
  /** When its jobs began, ms. */
  readonly at?: readonly number[];
  readonly mix?: Readonly<Record<string, number>>;
  readonly shape?: RunForm;
  readonly pace?: CallPace;
  readonly pausesMs?: readonly number[];
  readonly apart?: Partial<Apart>;
  readonly refused?: number;
  readonly retry?: FittedRetry;
  readonly waits?: readonly number[];
}

let users = 0;
function profile({
  organization = "acme",
  user = `user-${users++}`,
  at = many(100, () => 0),
  mix = { rest: at.length },
  shape = { kind: "call" },
  pace = { kind: "pause" },
  pausesMs = many(100, () => 1000),
  apart,
  refused = 0,
  retry,
  waits = [],
}: Caller): Profile {
  return {
    caller: { organization, user },
    jobs: at.map((startMs) => ({ startMs }) as RecordedJob),
    mix: new Map(Object.entries(mix)),
    ...{ shape, pace, pausesMs, refused },
    retries: waits.map((waitMs) => ({ waitMs })),
    guess: retry === undefined ? null : { retry },
    apart: apart === undefined ? null : { key: "", timetables: [], wakes: [], rest: null, ...apart },
  } as unknown as Profile;
}

const clusters = (...callers: readonly Caller[]) => clustersOf(callers.map(profile), 0);
const areAlike = (one: Caller, other: Caller): boolean => clusters(one, other).length === 1;

test("callers that are alike are one population, of all their jobs by kind", () => {
  const [only, ...others] = clusters(
    { at: many(10, () => 0), mix: { rest: 9, graphql: 1 } },
    { at: many(30, () => 0), mix: { rest: 28, status: 2 } },
  );
  expect(others).toEqual([]);
  expect(only).toMatchObject({ mixture: false, jobs: 40 });
  expect([...(only?.mix ?? [])]).toEqual([
    ["rest", 37],
    ["status", 2],
    ["graphql", 1],
  ]);
  expect(only?.profiles.map(({ jobs }) => jobs.length)).toEqual([30, 10]);
});

test("the busiest come first", () => {
  const sizes = clusters(
    { at: many(10, () => 0), mix: { rest: 10 } },
    { at: many(20, () => 0), mix: { graphql: 20 } },
    { at: many(15, () => 0), mix: { rest: 15 } },
  ).map(({ jobs }) => jobs);
  expect(sizes).toEqual([25, 20]);
});

describe("callers are apart", () => {
  test("of other organizations, and where one user has several clients", () => {
    expect(areAlike({}, { organization: "globex" })).toBe(false);
    expect(clusters({ user: "ann" }, { user: "ann" }, { user: "bob" })).toHaveLength(2);
    expect(clusters({ user: "ann" }, { user: "ann", organization: "globex" })).toHaveLength(2);
  });

  test("by what was taken out of their calls", () => {
    const rest = profile({});
    expect(areAlike({ apart: { key: "hourly", rest } }, { apart: { key: "hourly", rest } })).toBe(true);
    expect(areAlike({ apart: { key: "hourly", rest } }, { apart: { key: "daily", rest } })).toBe(false);
    expect(areAlike({ apart: { key: "hourly", rest } }, {})).toBe(false);
    // Of one something is left, of the other nothing.
    expect(areAlike({ apart: { key: "hourly", rest } }, { apart: { key: "hourly" } })).toBe(false);
    expect(areAlike({ apart: { key: "hourly" } }, { apart: { key: "hourly" } })).toBe(true);
    const slow = profile({ pausesMs: many(100, () => 9000) });
    expect(areAlike({ apart: { key: "hourly", rest } }, { apart: { key: "hourly", rest: slow } })).toBe(
      false,
    );
  });

  const burst = (size: number): RunForm => ({ kind: "burst", size });
  const queue = (jobs: number, workers = 2): RunForm => ({ kind: "queue", jobs, workers });
  const pager = (pages: number, parallel = 1): RunForm => ({ kind: "pager", pages, last: null, parallel });
  test.each<[RunForm, RunForm, boolean]>([
    [burst(4), burst(4), true],
    [burst(4), burst(5), false],
    [burst(5), burst(6), false],
    [burst(8), burst(10), true],
    [burst(10), burst(8), true],
    [burst(8), burst(11), false],
    [burst(11), burst(8), false],
    [burst(4), { kind: "call" }, false],
    [{ kind: "call" }, burst(4), false],
    [pager(8), pager(10), true],
    [pager(8), pager(11), false],
    [pager(8, 1), pager(8, 2), false],
    [pager(8), burst(8), false],
    [queue(8), queue(10), true],
    [queue(8), queue(11), false],
    [queue(8, 1), queue(8, 2), false],
    [queue(8), pager(8), false],
  ])("by the shape of what they do at once: %j, %j: %j", (one, other, alike) => {
    expect(areAlike({ shape: one }, { shape: other })).toBe(alike);
  });

  /** 225 pauses of a second, but for so many that are of another length; pauses count 10 ms longer. */
  const but = (count: number, ms: number): Caller => ({
    pausesMs: many(225, (place) => (place < count ? ms : 1_000) - 10),
  });
  // Of 225 pauses, four tenths may differ: three, and one by chance.
  test.each([1 / 8, 1 / 4, 1 / 2, 2 / 3, 4 / 5, 5 / 4, 3 / 2, 2, 4, 8])(
    "by the share of their pauses that are shorter than %d times the median",
    (multiple) => {
      const ms = Math.ceil(1_000 * multiple);
      expect(areAlike(but(91, ms - 1), but(91, ms))).toBe(false);
      expect(areAlike(but(90, ms - 1), but(90, ms))).toBe(true);
    },
  );

  const ticks = (everyMs: number, offMs = 0): CallPace => ({ kind: "ticks", everyMs, offMs });
  test.each<[CallPace, CallPace, boolean]>([
    [ticks(1000), ticks(1010), true],
    [ticks(1000), ticks(1011), false],
    [ticks(1000, 20), ticks(1020), true],
    [ticks(1000), ticks(1020, 20), true],
    [ticks(1000, 20), ticks(1021), false],
    [ticks(1000), { kind: "pause" }, false],
    [{ kind: "once" }, { kind: "once" }, true],
    [{ kind: "once" }, { kind: "pause" }, false],
    [{ kind: "chance" }, { kind: "chance" }, false],
    [{ kind: "visits" }, { kind: "visits" }, false],
    [{ kind: "volleys" }, { kind: "volleys" }, true],
    [{ kind: "volleys" }, { kind: "pause" }, false],
  ])("by their pace: %j, %j: %j", (one, other, alike) => {
    expect(areAlike({ pace: one }, { pace: other })).toBe(alike);
  });

  // Of 100 pauses each, medians and 10 ms may differ by e^(0.35 + 0.15): 1.6487 times.
  test.each([
    [1000, 1655, true],
    [1000, 1656, false],
    [1656, 1000, false],
    [0, 6, true],
    [0, 7, false],
  ])("by the medians of their pauses: %d, %d: %j", (one, other, alike) => {
    const of = (ms: number, count = 100) => ({ pausesMs: many(count, () => ms) });
    expect(areAlike(of(one), of(other))).toBe(alike);
    const volleys = { pace: { kind: "volleys" } } as const;
    expect(areAlike({ ...of(one), ...volleys }, { ...of(other), ...volleys })).toBe(alike);
  });

  test("by pauses, more where fewer were seen", () => {
    const of = (ms: number, count: number) => ({ pausesMs: many(count, () => ms) });
    // Of nine pauses they may differ by e^0.85: 2.3396 times.
    expect(areAlike(of(1000, 9), of(2352, 100))).toBe(true);
    expect(areAlike(of(1000, 9), of(2354, 100))).toBe(false);
    expect(areAlike(of(1000, 100), of(2352, 9))).toBe(true);
    // Ticks have no pauses to compare.
    expect(areAlike({ pace: ticks(1000), ...of(1, 9) }, { pace: ticks(1000), ...of(9000, 9) })).toBe(true);
  });

  // Of 100 pauses each, shares below a multiple of the median may differ by 0.3 + 0.15.
  test.each([
    [44, true],
    [46, false],
  ])("by the form of their pauses: all alike, or %d of 100 far shorter: %j", (short, alike) => {
    const even = { pausesMs: many(100, () => 1000) };
    const others = { pausesMs: many(100, (index) => (index < short ? 10 : 1000)) };
    expect(areAlike(even, others)).toBe(alike);
    expect(areAlike(others, even)).toBe(alike);
  });

  // Shares of a hundred jobs may differ by 0.1 + 0.12, of 16 by 0.1 + 0.3.
  test.each<[number, number, number, boolean]>([
    [100, 0, 22, true],
    [100, 0, 23, false],
    [100, 50, 28, true],
    [100, 50, 27, false],
    [16, 0, 6, true],
    [16, 0, 7, false],
  ])("by the shares of their calls: of %d, %d and %d: %j", (count, one, other, alike) => {
    const of = (graphql: number) => ({ at: many(count, () => 0), mix: { rest: count - graphql, graphql } });
    expect(areAlike(of(one), of(other))).toBe(alike);
  });
});

describe("hours", () => {
  /** One job in each of these hours of so many days. */
  const at = (hours: readonly number[], days: number): number[] =>
    many(days, (day) => hours.map((hour) => (24 * day + hour) * hourMs)).flat();
  const early = many(8, (hour) => 6 + hour);
  const late = many(8, (hour) => 12 + hour);

  test("tell callers apart where three quarters of them differ", () => {
    // Of eight hours six are others, then seven.
    expect(areAlike({ at: at(early, 3) }, { at: at(late, 3) })).toBe(true);
    const later = late.map((hour) => hour + 1);
    expect(areAlike({ at: at(early, 3) }, { at: at(later, 3) })).toBe(false);
  });

  test("tell nothing of fewer than 20 of them, or three days", () => {
    const night = many(8, (hour) => hour);
    const evening = many(8, (hour) => 16 + hour);
    expect(areAlike({ at: at(night, 3) }, { at: at(evening, 3) })).toBe(false);
    expect(areAlike({ at: at(night, 2) }, { at: at(evening, 3) })).toBe(true);
    const seven = (hours: readonly number[]) => at(hours.slice(1), 3);
    expect(areAlike({ at: seven(night) }, { at: seven(evening) })).toBe(false);
    expect(areAlike({ at: seven(night).slice(2) }, { at: seven(evening) })).toBe(true);
    // Two days of ten hours each are too few days.
    const ten = (from: number) => many(10, (hour) => from + hour);
    expect(areAlike({ at: at(ten(0), 2) }, { at: at(ten(12), 2) })).toBe(true);
    // Jobs of one hour are one hour.
    const often = (hours: readonly number[]) => [...at(hours.slice(0, 6), 3), ...at(hours.slice(0, 6), 3)];
    expect(areAlike({ at: often(night) }, { at: often(evening) })).toBe(true);
  });
});

describe("reactions to refusals", () => {
  const fixed = (ms: number): FittedRetry => ({ kind: "fixed", wait: { least: ms, most: ms } });
  const retryAfter: FittedRetry = { kind: "retryAfter", jitter: { least: 0, most: 0 } };
  const waits = (count: number, ms: number) => many(count, () => ms);

  test.each<[string, Caller, Caller, boolean]>([
    ["never again, and a wait", { refused: 5 }, { refused: 5, retry: fixed(100) }, false],
    ["of four refusals nothing is known", { refused: 4 }, { refused: 5, retry: fixed(100) }, true],
    ["nor of the other's", { refused: 5 }, { refused: 4, retry: fixed(100) }, true],
    [
      "waits of two lengths are of one kind",
      { refused: 9, retry: fixed(1) },
      { refused: 9, retry: fixed(900) },
      true,
    ],
    [
      "two policies of few retries",
      { refused: 50, retry: fixed(100), waits: waits(29, 100) },
      { refused: 50, retry: retryAfter, waits: waits(50, 7) },
      true,
    ],
    [
      "two policies of many",
      { refused: 50, retry: fixed(100), waits: waits(30, 100) },
      { refused: 50, retry: retryAfter, waits: waits(30, 7) },
      false,
    ],
    [
      "two, of which one explains the other's",
      { refused: 50, retry: fixed(100), waits: waits(30, 7) },
      { refused: 50, retry: retryAfter, waits: [...waits(27, 100), ...waits(3, 7)] },
      true,
    ],
    [
      "and one that explains fewer than nine in ten",
      { refused: 50, retry: fixed(100), waits: waits(30, 7) },
      { refused: 50, retry: retryAfter, waits: [...waits(26, 100), ...waits(4, 7)] },
      false,
    ],
    ["nothing that is known of either", { refused: 50 }, { refused: 50 }, true],
  ])("%s", (_, one, other, alike) => {
    expect(areAlike(one, other)).toBe(alike);
    expect(areAlike(other, one)).toBe(alike);
  });
});

describe("of more populations than people read", () => {
  /** Callers that are each of their own kind, of so many jobs. */
  const of = (sizes: readonly number[], organization = "acme"): Caller[] =>
    sizes.map((size, index) => ({
      organization,
      at: many(size, () => 0),
      mix: { [`${organization} ${index}`]: size },
    }));

  test("sixty stay apart", () => {
    const all = clusters(...of(many(60, () => 50)));
    expect(all).toHaveLength(60);
    expect(all.some(({ mixture }) => mixture)).toBe(false);
  });

  test("those of 95 in a hundred calls stay, and the others are one mixture in each organization", () => {
    const all = clusters(...of([...many(60, () => 95), ...many(30, () => 10)]), ...of([5, 5], "globex"));
    // 60 * 95 of 6,010 calls are 94.8%, with one of ten 95.01%.
    expect(all).toHaveLength(61 + 2);
    expect(all.slice(61).map(({ mixture, jobs, profiles }) => [mixture, jobs, profiles.length])).toEqual([
      [true, 290, 29],
      [true, 10, 2],
    ]);
    expect(all.slice(61).map(({ mix }) => [...mix.values()].reduce((sum, count) => sum + count, 0))).toEqual([
      290, 10,
    ]);
    expect(all.slice(0, 61).every(({ mixture }) => !mixture)).toBe(true);
  });
});
