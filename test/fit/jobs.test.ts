// Calls grouped into jobs, one call at a time: which call tries which refused one again, and what was known then.
import { describe, expect, test } from "vitest";
import { type Jobs, jobsAtResets, jobsGuessed, jobsRecorded, jobsWithin } from "../../sim/fit/jobs.ts";
import type { Limits } from "../../sim/fit/limits.ts";
import { RecordedCall, type RefusalSaid } from "../../sim/fit/recorded-call.ts";
import { ABSENT } from "../../src/scenario/client.ts";

interface Made {
  readonly at: number;
  /** Default: at once. */
  readonly end?: number;
  readonly wanted?: number;
  readonly attempt?: number;
  readonly status?: number;
  readonly said?: RefusalSaid;
  readonly key?: string;
}

const callerOf = (calls: readonly Made[]) => ({
  ...{ organization: "acme", user: "ann", group: null },
  calls: calls.map(
    ({ at, end = at, wanted = at, attempt = ABSENT, status = 200, said = null, key = "rest 1" }) =>
      new RecordedCall({
        ...{ atMs: at, endMs: end, wantedMs: wanted, attempt, status, said },
        kind: { operation: "rest", free: false, cost: key === "rest 1" ? 1 : 7, actual: 1, key },
      }),
  ),
});
const asked: [string, string, number][] = [];
/** Windows of ten seconds, and users' windows of a minute. */
const limits: Limits = {
  operations: ["rest"],
  windowOf: () => ({ limit: 1, windowSeconds: 10 }),
  windowsOf: () => null,
  resetsAt: ({ user }, operation, seconds) => {
    asked.push([user, operation, seconds]);
    return { reset: 10, userReset: 60 };
  },
};
const none: RefusalSaid = {
  ...{ remaining: ABSENT, reset: ABSENT, userRemaining: ABSENT, userReset: ABSENT, retryAfter: ABSENT },
};
/** When each job was wanted, and how often it was tried. */
const told = (jobs: Jobs | null) => jobs?.jobs.map(({ startMs, attempts }) => [startMs, attempts]) ?? null;
const refused = (at: number, more: Partial<Made> = {}): Made => ({ at, status: 429, ...more });

describe("numbered attempts", () => {
  const of = (...calls: Made[]) => told(jobsRecorded(callerOf(calls), limits));
  const first = refused(0, { end: 10, attempt: 0 });
  const again: Made = { at: 10, wanted: 0, attempt: 1 };

  test("are of one job where the wish, the kind and the number say so", () => {
    expect(of(first, again)).toEqual([[0, 2]]);
    expect(of(first, { ...again, at: 9 })).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect(of(first, { ...again, wanted: 1 })).toHaveLength(2);
    expect(of(first, { ...again, key: "rest 7" })).toHaveLength(2);
    expect(of(first, { ...again, attempt: 2 })).toHaveLength(2);
    expect(of(first, { ...again, attempt: 0 })).toHaveLength(2);
    expect(of(first, { ...again, attempt: ABSENT })).toHaveLength(2);
    expect(of(first, { ...again, status: 429 }, { ...again, at: 30, attempt: 2 })).toEqual([[0, 3]]);
  });

  test("follow refusals and failures, once each", () => {
    expect(of({ ...first, status: 0 }, again)).toEqual([[0, 2]]);
    expect(of({ ...first, status: 500 }, again)).toEqual([[0, 2]]);
    expect(of({ ...first, status: 499 }, again)).toHaveLength(2);
    expect(jobsRecorded(callerOf([first, again]), limits).jobs[0]).toMatchObject({
      jobs: 1,
      key: "rest 1",
      endMs: 10,
    });
    expect(of({ ...first, status: 200 }, again)).toHaveLength(2);
    expect(of(first, again, { ...again, at: 20 })).toEqual([
      [0, 2],
      [0, 1],
    ]);
  });

  test("of a volley try the first that was answered", () => {
    const late = { ...first, end: 30 };
    const jobs = (...calls: Made[]) =>
      jobsRecorded(callerOf(calls), limits).jobs.map(({ first: { endMs }, attempts }) => [endMs, attempts]);
    expect(jobs(late, first, { ...again, at: 20 })).toEqual([
      [30, 1],
      [10, 2],
    ]);
    expect(jobs(late, first, { ...again, at: 30 })).toEqual([
      [30, 2],
      [10, 1],
    ]);
    expect(jobs(late, first, { ...again, at: 30 }, { ...again, at: 30 })).toEqual([
      [30, 2],
      [10, 2],
    ]);
  });

  test("stand in the order in which their jobs were wanted", () => {
    expect(of({ at: 5, attempt: 0 }, { at: 9, wanted: 2, attempt: 0 })).toEqual([
      [2, 1],
      [5, 1],
    ]);
  });
});

describe("what is known of a retry", () => {
  const of = (...calls: Made[]) => jobsRecorded(callerOf(calls), limits).retries;

  test("is its wait, the wait before, its number, its cost, and what the refusal said", () => {
    const said = { remaining: 3, reset: 4, userRemaining: 5, userReset: 6, retryAfter: 7 };
    const call = { wanted: 1_000, key: "rest 7" };
    const retries = of(
      refused(1_000, { ...call, end: 1_010, attempt: 0, said }),
      refused(1_110, { ...call, end: 1_150, attempt: 1, said }),
      { ...call, at: 1_400, attempt: 2 },
    );
    const common = { cost: 7, userCost: 7, ...said };
    expect(retries).toEqual([
      { waitMs: 100, nowMs: 1_010, attempt: 0, beforeMs: 0, ...common },
      { waitMs: 250, nowMs: 1_150, attempt: 1, beforeMs: 100, ...common },
    ]);
  });

  test("is no earlier job's wait, nor one after a failure", () => {
    const [, second] = of(
      ...[refused(0, { attempt: 0 }), { at: 5, wanted: 0, attempt: 1 }],
      ...[refused(10, { attempt: 0 }), { at: 17, wanted: 10, attempt: 1 }],
    );
    expect(second).toMatchObject({ waitMs: 7, attempt: 0, beforeMs: 0 });
    const [after] = of(
      { at: 0, attempt: 0, status: 503 },
      ...[refused(5, { wanted: 0, attempt: 1 }), { at: 8, wanted: 0, attempt: 2 }],
    );
    expect(after).toMatchObject({ waitMs: 3, attempt: 1, beforeMs: 0 });
  });

  test("is nothing after a failure", () => {
    expect(of({ at: 0, attempt: 0, status: 503 }, { at: 5, wanted: 0, attempt: 1 })).toEqual([]);
  });

  test.each<[string, Partial<RefusalSaid> | null, Partial<RefusalSaid>]>([
    ["the organization's reset alone", { reset: 4, remaining: 0 }, { reset: 4, remaining: 0 }],
    ["the user's reset alone", { userReset: 4, userRemaining: 0 }, { userReset: 4, userRemaining: 0 }],
    ["a reset of 0", { reset: 0 }, { reset: 0 }],
    ["no reset: the grid's", { remaining: 2, userRemaining: 3 }, { reset: 10, userReset: 60 }],
    ["Retry-After alone", { retryAfter: 9 }, { reset: 10, userReset: 60, retryAfter: 9 }],
    ["nothing: the grid's", null, { reset: 10, userReset: 60 }],
  ])("by a refusal that says %s", (_, said, expected) => {
    const first = refused(2_000, { end: 5_000, attempt: 0, ...(said && { said: { ...none, ...said } }) });
    asked.length = 0;
    const [retry] = of(first, { at: 6_000, wanted: 2_000, attempt: 1 });
    expect(retry).toEqual({
      ...{ waitMs: 1_000, nowMs: 5_000, attempt: 0, beforeMs: 0, cost: 1, userCost: 1 },
      ...none,
      ...expected,
    });
    // The grid is that of the middle between the call and its answer.
    expect(asked).toEqual(expected.userReset === 60 ? [["ann", "rest", 3.5]] : []);
  });
});

describe("attempts that nobody numbered", () => {
  const of = (attemptsMost: number, ...calls: Made[]) =>
    told(jobsGuessed(callerOf(calls), limits, attemptsMost));
  const first = refused(0, { end: 10 });
  const apart = [
    [0, 1],
    [50_000, 1],
  ];

  test("are retries of refusals of their kind, if these are taken for tried again", () => {
    const later = { at: 50_000 };
    expect(of(Infinity, first, later)).toEqual([[0, 2]]);
    expect(of(1, first, later)).toEqual(apart);
    expect(of(Infinity, first, { ...later, key: "other" })).toEqual(apart);
    expect(of(Infinity, first, { at: 10 })).toEqual([[0, 2]]);
    expect(of(Infinity, first, { at: 9 })).toHaveLength(2);
  });

  test.each([0, 500, 503])("are retries of a failure with status %d within a second", (status) => {
    for (const attemptsMost of [1, Infinity]) {
      const failed = { at: 0, end: 10, status };
      expect(of(attemptsMost, failed, { at: 1_010 })).toEqual([[0, 2]]);
      expect(of(attemptsMost, failed, { at: 1_011 })).toHaveLength(2);
    }
  });

  test("are none where the log has no statuses", () => {
    expect(of(Infinity, { at: 0, status: 0 }, { at: 5, status: 0 })).toHaveLength(2);
  });

  test("are none once something else was done, but for calls on their way", () => {
    const other = (at: number): Made => ({ at, key: "other" });
    expect(of(Infinity, first, other(11), { at: 50_000 })).toHaveLength(3);
    expect(of(Infinity, first, other(10), { at: 50_000 })).toHaveLength(3);
    expect(of(Infinity, first, other(9), { at: 50_000 })).toEqual([
      [0, 2],
      [9, 1],
    ]);
  });

  test("of a volley are one for each refusal", () => {
    const volley = [first, { ...first, at: 1 }];
    expect(of(Infinity, ...volley, { at: 20 }, { at: 21 }, { at: 22 })).toEqual([
      [0, 2],
      [1, 2],
      [22, 1],
    ]);
    expect(of(Infinity, ...volley, refused(20), { at: 21 }, { at: 22 })).toEqual([
      [0, 3],
      [1, 2],
    ]);
  });
});

describe("attempts within a span after a refusal", () => {
  const within = (span: [number, number] | null, ...calls: Made[]) =>
    told(jobsWithin(callerOf(calls), limits, () => span && { least: span[0], most: span[1] }));

  test("are one for each refusal", () => {
    expect(within([0, 20], refused(0), { at: 10 }, { at: 15 })).toEqual([
      [0, 2],
      [15, 1],
    ]);
  });

  test("end with the span, though something else was done then", () => {
    expect(within([0, 20], refused(0), { at: 20, key: "other" }, { at: 20 })).toEqual([
      [0, 2],
      [20, 1],
    ]);
  });

  test("try the first of those whose spans end together", () => {
    const spans = [20, 15].map((most) => ({ least: 6, most }));
    const found = jobsWithin(
      callerOf([refused(0), refused(5), { at: 20 }]),
      limits,
      () => spans.shift() ?? null,
    );
    expect(told(found)).toEqual([
      [0, 2],
      [5, 1],
    ]);
  });

  test("are those of failures, too, up to a second later", () => {
    const failed = { at: 0, end: 10, status: 502 };
    expect(within(null, failed, { at: 10 })).toEqual([[0, 2]]);
    expect(within(null, failed, { at: 1_010 })).toEqual([[0, 2]]);
    expect(within(null, failed, { at: 1_011 })).toHaveLength(2);
    expect(within([2_000, 3_000], failed, { at: 2_010 })).toHaveLength(2);
    expect(within(null, refused(0), { at: 5 })).toHaveLength(2);
  });

  test.each<[string, Partial<RefusalSaid>, number | null]>([
    ["the later one", { reset: 4, userReset: 3 }, 7_000],
    ["the user's", { reset: 3, userReset: 4 }, 7_000],
    ["one that is over", { reset: 0 }, 3_000],
  ])("know when the windows end: %s", (_, said, resetMs) => {
    const seen: (number | null)[] = [];
    const first = refused(2_900, { end: 4_100, said: { ...none, ...said } });
    jobsWithin(callerOf([first]), limits, ({ waitMs, nowMs }, reset) => {
      expect([waitMs, nowMs]).toEqual([0, 4_100]);
      seen.push(reset);
      return null;
    });
    // Half way between call and answer, 3.5 s, and the whole second in which that many seconds are over.
    expect(seen).toEqual([resetMs]);
  });

  test("know of no end where neither headers nor the grid show one", () => {
    const unknown = { ...limits, resetsAt: () => ({ reset: ABSENT, userReset: ABSENT }) };
    const seen: (number | null)[] = [];
    jobsWithin(callerOf([refused(0)]), unknown, (_refusal, reset) => {
      seen.push(reset);
      return null;
    });
    expect(seen).toEqual([null]);
  });
});

describe("calls under a name of many", () => {
  const said = { ...none, reset: 10 };
  /** Minutes with a refusal ten seconds before their ends; in the minute after it, calls at these ms. */
  const minutes = (...each: readonly (readonly number[])[]) =>
    jobsAtResets(
      callerOf(
        each.flatMap((laterMs, minute) => [
          refused(60_000 * minute + 50_000, { said }),
          ...laterMs.map((ms) => ({ at: 60_000 * (minute + 1) + ms })),
        ]),
      ),
      limits,
    );
  const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
  const retried = (...each: readonly (readonly number[])[]): number | null =>
    minutes(...each)?.retries.length ?? null;

  test("are retries where half of ten refusals or more have one in the five seconds after the reset", () => {
    expect(retried(...times(5, [0]), ...times(5, []))).toBe(5);
    expect(retried(...times(4, [0]), ...times(6, []))).toBeNull();
    expect(retried(...times(9, [0]))).toBeNull();
    expect(retried(...times(10, [4_999]))).toBe(10);
    expect(retried(...times(10, [5_000]))).toBeNull();
    expect(retried(...times(10, [-1]))).toBeNull();
  });

  test("are counted beyond the number that comes twenty seconds later", () => {
    expect(retried(...times(6, [0]), ...times(2, [20_000]), [], [])).toBe(6);
    expect(retried(...times(5, [0]), ...times(2, [20_000]), [], [], [])).toBeNull();
    expect(retried(...times(6, [0]), ...times(2, [24_999]), [], [])).toBe(6);
    expect(retried(...times(5, [0]), ...times(2, [25_000]), [], [], [])).toBe(5);
    expect(retried(...times(5, [0]), ...times(2, [19_999]), [], [], [])).toBe(5);
  });
});
