// Recordings of rows of logs and of lines of traces, and the limits that their answers show.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../sim/fit/days.ts";
import { limitsOf, limitsOfPolicy } from "../../sim/fit/limits.ts";
import { CallKinds, saidBy, saidByQuotas } from "../../sim/fit/recorded-call.ts";
import { Recorder, recordedUntil } from "../../sim/fit/recording.ts";
import { LimitsShown } from "../../sim/fit/rules.ts";
import { GRAPHQL_CALL, type LogBatch, OTHER_CALL, REST_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { ABSENT } from "../../src/scenario/client.ts";
import { longestMs } from "../../src/scenario/mistakes.ts";
import type { QuotaCall, QuotaReading } from "../../src/trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { codedError } from "../support/coded-error.ts";

interface Row {
  readonly at: number;
  readonly took?: number;
  readonly kind?: number;
  readonly cost?: number;
  readonly actual?: number;
  readonly caller?: number;
}

function logOf(...rows: readonly Row[]) {
  const batch: LogBatch = {
    count: rows.length,
    atMs: Float64Array.from(rows, ({ at }) => at),
    durationMs: Float64Array.from(rows, ({ took = Number.NaN }) => took),
    caller: Int32Array.from(rows, ({ caller = 0 }) => caller),
    kind: Uint8Array.from(rows, ({ kind = REST_CALL }) => kind),
    cost: Int32Array.from(rows, ({ cost = 1 }) => cost),
    actual: Int32Array.from(rows, ({ actual = -1 }) => actual),
    status: Int16Array.from(rows, () => 200),
  };
  const recorder = new Recorder();
  recorder.addBatch(batch, [
    { organization: "acme", user: "ann" },
    { organization: "acme", user: "bob" },
  ]);
  return recorder.finish();
}
const header = {
  ...{ format: "spillway-trace", version: 1, startedAt: 1_000, rules: null },
  clock: { kind: "wall", resolutionMs: 7, errorMs: 0 },
} as unknown as TraceHeader;
const line = (sent: number, more: Partial<TraceCall> = {}): TraceCall =>
  ({
    ...{ sent, received: sent + 10, client: "one/0", org: "acme", user: "ann", scope: "rest", kind: "call" },
    ...{ cost: 1, status: 200, ...more },
  }) as TraceCall;
function traceOf(lines: readonly TraceCall[], own: TraceHeader = header) {
  const recorder = new Recorder(own);
  for (const one of lines) recorder.add(one);
  return recorder.finish();
}

describe("a log", () => {
  test("whose clock shows whole seconds has calls of one second spread over it", () => {
    const recording = logOf(
      ...[
        { at: 2_000, took: 10 },
        { at: 1_000, took: 10 },
        { at: 1_000, took: 20 },
        { at: 1_000, took: 30 },
      ],
      { at: 1_000, caller: 1 },
    );
    const times = recording.callers.map(({ calls }) =>
      calls.map(({ atMs, endMs, wantedMs }) => [atMs, endMs, wantedMs]),
    );
    expect(times).toEqual([
      [
        [1_000, 1_010, 1_000],
        [1_333, 1_353, 1_333],
        [1_666, 1_696, 1_666],
        [2_000, 2_010, 2_000],
      ],
      [[1_000, 1_000, 1_000]],
    ]);
    const { startedAtMs, endedAtMs, resolutionMs, knowsDurations, knowsAttempts, calls } = recording;
    expect({ startedAtMs, endedAtMs, resolutionMs, knowsDurations, knowsAttempts, calls }).toEqual({
      ...{ startedAtMs: 1_000, endedAtMs: 2_010, resolutionMs: 1_000 },
      ...{ knowsDurations: true, knowsAttempts: false, calls: 5 },
    });
  });

  test("whose calls all begin with a whole second has calls one after the other, if the second leaves room", () => {
    const starts = (...calls: readonly (readonly [at: number, took: number])[]) =>
      logOf(...calls.map(([at, took]) => ({ at, took })));
    const recording = starts([1_000, 180], [1_000, 310], [1_000, 650], [2_000, 700], [4_000, 150]);
    expect(recording.resolutionMs).toBe(1_000);
    // Evenly: 0, 333 and 666 ms into the second. The last call of it ends at 2,316, the next one 700 ms later.
    expect(recording.callers[0]?.calls.map(({ atMs, endMs }) => [atMs, endMs])).toEqual([
      [1_000, 1_180],
      [1_333, 1_643],
      [1_666, 2_316],
      [2_316, 3_016],
      [4_000, 4_150],
    ]);
    // Six calls of 200 ms do not fit into one second one after the other: each is where it is evenly.
    const many = starts(...Array.from({ length: 6 }, () => [2_000, 200] as const)).callers[0]?.calls;
    expect(many?.map(({ atMs }) => atMs)).toEqual([2_000, 2_200, 2_400, 2_600, 2_800, 2_833]);
    expect(starts([2_000, 180], [2_001, 310]).resolutionMs).toBe(1);
  });

  test("of one call, or with a part of a second, has a clock of milliseconds", () => {
    expect(logOf({ at: 1_000 })).toMatchObject({ resolutionMs: 1, knowsDurations: false });
    const recording = logOf({ at: 1_000 }, { at: 1_000 }, { at: 2_001 });
    expect(recording.resolutionMs).toBe(1);
    expect(recording.callers[0]?.calls.map(({ atMs }) => atMs)).toEqual([1_000, 1_000, 2_001]);
  });

  test("tells kinds of calls by operation and cost; a status costs nothing, others are left out", () => {
    const { callers, uncounted } = logOf(
      ...[
        { at: 1 },
        { at: 2, kind: STATUS_CALL, cost: 5 },
        { at: 3, kind: GRAPHQL_CALL, cost: 7, actual: 0 },
      ],
      ...[
        { at: 4, kind: OTHER_CALL },
        { at: 5, kind: GRAPHQL_CALL, cost: 7 },
      ],
    );
    expect(callers[0]?.calls.map(({ kind }) => kind)).toEqual([
      { operation: "rest", asked: undefined, free: false, cost: 1, actual: 1, key: "rest 1" },
      { operation: "rest", asked: undefined, free: true, cost: 0, actual: 0, key: "status 0" },
      { operation: "graphql", asked: undefined, free: false, cost: 7, actual: 0, key: "graphql 7" },
      { operation: "graphql", asked: undefined, free: false, cost: 7, actual: 7, key: "graphql 7" },
    ]);
    expect(uncounted).toBe(1);
    expect(callers[0]).toMatchObject({ organization: "acme", user: "ann", group: null });
  });
});

describe("a trace", () => {
  test("tells clients' populations, wishes, attempts, and what refusals say", () => {
    const said = { remaining: 1, reset: 2, userRemaining: 3, userReset: 4, retryAfter: 5 };
    const recording = traceOf([
      line(2_000, { client: "a/b/1", attempt: 3, wanted: 1_500, status: 429, ...said }),
      line(3_000, { client: "alone", user: null, kind: "status", cost: 9, remaining: 8 }),
      line(4_000, { client: "alone", user: null, cost: null }),
      line(5_000, { client: "a/b/1", scope: "graphql", cost: 9, actual: 4 }),
      line(6_000, { kind: "other" }),
    ]);
    const [first, second] = recording.callers;
    expect(first).toMatchObject({ group: "a/b", user: "ann" });
    expect(first?.calls[0]).toMatchObject({ atMs: 2_000, endMs: 2_010, wantedMs: 1_500, attempt: 3, said });
    expect(first?.calls[1]?.kind).toMatchObject({ operation: "graphql", cost: 9, actual: 4 });
    expect(second).toMatchObject({ group: "alone", user: "alone" });
    expect(second?.calls[0]).toMatchObject({ attempt: ABSENT, wantedMs: 3_000, said: null });
    expect(second?.calls.map(({ kind }) => [kind.free, kind.cost])).toEqual([
      [true, 0],
      [false, 1],
    ]);
    expect(recording).toMatchObject({
      ...{ knowsAttempts: true, knowsDurations: true, resolutionMs: 7, uncounted: 1, calls: 4 },
      ...{ startedAtMs: 1_000, endedAtMs: 5_010 },
    });
    expect(traceOf([line(2_000)]).knowsAttempts).toBe(false);
  });

  test("may begin as long before its first call as it lasts", () => {
    const startOf = (idleMs: number): number =>
      traceOf([line(1_000 + idleMs), line(1_000 + idleMs + 3 * dayMs)]).startedAtMs;
    expect(startOf(3 * dayMs + 10)).toBe(1_000);
    expect(startOf(3 * dayMs + 11)).toBe(1_000 + 3 * dayMs + 11);
    // A header's start after the first call is none.
    expect(traceOf([line(999), line(4_000)]).startedAtMs).toBe(999);
  });

  test("is shorter than a year", () => {
    const until = (ms: number) => () => traceOf([line(1_000), line(1_000 + ms - 10)]);
    expect(until(longestMs - 1)().calls).toBe(2);
    expect(codedError(until(longestMs)).code).toBe("TRACE_INVALID");
  });

  test("up to an instant has the calls that were answered before it", () => {
    const whole = traceOf([line(2_000), line(3_000), line(2_500, { client: "two/0" })]);
    const { callers, calls, endedAtMs } = recordedUntil(whole, 2_510);
    expect([callers.length, calls, endedAtMs]).toEqual([1, 1, 2_510]);
    expect(recordedUntil(whole, 2_511)).toMatchObject({ calls: 2, endedAtMs: 2_511 });
    expect(recordedUntil(whole, 9_000)).toMatchObject({ calls: 3, endedAtMs: 3_010 });
  });
});

test("a trace of quotas tells owners, and what paths and refusals say; calls that no quota counts are left out", () => {
  const policy = parsePolicy({
    version: 2,
    name: "paths",
    quotas: { calls: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] } },
    operations: { call: { uses: { calls: 1 } } },
    routes: [{ path: "/{project}", operation: "call" }],
    auth: { attributes: ["org", "user"] },
  });
  const recorder = new Recorder({ ...header, version: 2, policy, rules: undefined } as never);
  const add = (sent: number, more: Partial<QuotaCall>): void =>
    recorder.addQuotas({
      ...{ sent, received: sent + 10, client: "one/0", call: 0, operation: "call", cost: 2, readings: [] },
      ...{ caller: { org: "acme", user: "ann", project: "p" }, status: 200, outcome: "admitted", ...more },
    } as QuotaCall);
  add(2_000, {});
  add(3_000, { outcome: "refused", status: 403, retryAfterMs: 4_000, by: "calls" });
  add(4_000, { operation: "status" });
  add(5_000, { operation: "other" });
  add(6_000, { outcome: "exempt" });
  const { callers, calls, uncounted } = recorder.finish();
  expect({ callers: callers.length, calls, uncounted }).toEqual({ callers: 1, calls: 3, uncounted: 2 });
  expect(callers[0]).toMatchObject({ organization: "acme", user: "ann", group: "one" });
  expect(callers[0]?.calls).toMatchObject([
    { status: 200, said: null, kind: { operation: "call", asked: { project: "p" }, free: false, cost: 2 } },
    { status: 429, said: { retryAfter: 4 } },
    { said: null, kind: { operation: "status", free: true, cost: 0 } },
  ]);
});

test("organizations whose names scenarios do not allow are given other ones, each its own", () => {
  const { callers } = traceOf(
    ["acme", "?", "#acme", "acme!", "!", "a b"].map((org, user) => line(2_000, { org, user: `${user}` })),
  );
  expect(callers.map(({ organization }) => organization)).toEqual([
    "acme",
    "organization",
    "acme-2",
    "acme-",
    "organization-2",
    "a-b",
  ]);
});

test("kinds of calls are kept once, with what paths ask for", () => {
  const kinds = new CallKinds();
  const kind = kinds.of("read", { project: "p" }, false, 2, 1);
  expect(kind.key).toBe('read 2 {"project":"p"}');
  expect(kinds.of("read", { project: "p" }, false, 2, 1)).toBe(kind);
  expect(kinds.of("read", { project: "p" }, false, 2, 2)).not.toBe(kind);
});

describe("what a refusal says", () => {
  const nothing = {
    remaining: ABSENT,
    reset: ABSENT,
    userRemaining: ABSENT,
    userReset: ABSENT,
    retryAfter: ABSENT,
  };

  test("under rules is what its headers say as numbers", () => {
    expect(saidBy(line(0, { remaining: 0, reset: 5, userRemaining: "x" }))).toEqual({
      ...{ ...nothing, remaining: 0, reset: 5 },
    });
  });

  const reading = (quota: string, more: Partial<QuotaReading> = {}): QuotaReading =>
    ({ quota, limit: null, remaining: null, used: null, reset: null, ...more }) as QuotaReading;
  const window = { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] } as const;
  const policy = parsePolicy({
    version: 2,
    name: "two",
    quotas: { a: window, b: window },
    operations: { call: { uses: { a: 1, b: 5 } } },
    routes: [{ path: "/**", operation: "call" }],
  });
  const of = (readings: readonly QuotaReading[], more: Partial<QuotaCall> = {}) =>
    saidByQuotas(
      { operation: "call", cost: 2, readings, by: "b", received: 5_000, ...more } as QuotaCall,
      policy,
    );

  test("under a policy is of the quota that refused, and another one", () => {
    const first = reading("a", {
      remaining: 3,
      reset: { afterMs: 2_001, atMs: null } as QuotaReading["reset"],
    });
    const second = reading("b", {
      remaining: 0,
      reset: { afterMs: null, atMs: 8_000 } as QuotaReading["reset"],
    });
    const said = { remaining: 0, reset: 3, userRemaining: 3, userReset: 3, retryAfter: ABSENT };
    const costs = { cost: 5, userCost: 1 };
    expect(of([first, second])).toEqual({ ...said, ...costs });
    expect(of([second, first])).toEqual({ ...said, ...costs });
    const other = { userRemaining: ABSENT, userReset: ABSENT, cost: 5, userCost: 2 };
    expect(of([reading("c"), first, second])).toEqual({ ...said, ...other });
    expect(of([])).toEqual({ ...nothing, cost: 2, userCost: 2 });
  });

  test("is told in whole seconds from the answer on", () => {
    const late = { afterMs: null, atMs: 4_000 } as QuotaReading["reset"];
    expect(of([reading("b", { reset: late })]).reset).toBe(0);
    expect(of([], { retryAfterMs: 1_000 }).retryAfter).toBe(1);
    expect(of([], { retryAfterMs: 1_001 }).retryAfter).toBe(2);
    expect(of([], { retryAt: 7_500 }).retryAfter).toBe(3);
    expect(of([], { retryAfterMs: 0, retryAt: 9_000 }).retryAfter).toBe(0);
  });
});

describe("limits that answers show", () => {
  const shown = (...lines: readonly Partial<TraceCall>[]): LimitsShown => {
    const limits = new LimitsShown();
    for (const more of lines) limits.add(line(0, more));
    return limits;
  };

  test("are the most frequent ones, in windows of a usual length that the longest reset fits", () => {
    const limits = shown({ limit: 7, reset: 11 }, { limit: 9, reset: 3 }, { limit: 9, reset: 15 });
    expect(limits.rules().organization.rest).toMatchObject({ limit: 9, windowSeconds: 15 });
    expect(shown({ limit: 9, reset: 16 }).rules().organization.rest).toMatchObject({ windowSeconds: 20 });
    expect(shown({ limit: 9, reset: 90_000 }).rules().organization.rest).toMatchObject({
      windowSeconds: 90_000,
    });
    const usual = parseRules({}).organization.rest.windowSeconds;
    expect(shown({ limit: 9 }).rules().organization.rest).toMatchObject({ limit: 9, windowSeconds: usual });
    expect(shown({ limit: 9, reset: 0 }).rules().organization.rest).toMatchObject({ windowSeconds: usual });
  });

  test("are those of a user, too, and of GraphQL", () => {
    const graphql = { scope: "graphql", limit: 50, reset: 1, userLimit: 20, userReset: 2 } as const;
    const limits = shown(graphql, { userLimit: 1, userReset: 1 });
    expect(limits.any).toBe(true);
    expect(limits.rules().organization.graphql).toMatchObject({ limit: 50, windowSeconds: 1 });
    expect(limits.rules().user).toMatchObject({
      graphql: { limit: 20, windowSeconds: 2 },
      rest: { limit: 1, windowSeconds: 1 },
    });
    expect(shown({ userLimit: 3 }).any).toBe(true);
    expect(shown({ scope: "graphql", limit: 3 }).any).toBe(true);
  });

  test("are none below 1, or where no answer shows a number", () => {
    for (const limits of [shown(), shown({ limit: 0, reset: 5 }), shown({ limit: "9" })]) {
      expect(limits.any).toBe(false);
      expect(limits.rules()).toEqual(parseRules({}));
    }
  });
});

describe("windows", () => {
  const windows = (windowSeconds: number, more: object = {}) => ({
    algorithm: { kind: "fixed-window", limit: 5, windowSeconds, ...more },
    key: ["organization", "user"],
  });
  const policy = parsePolicy({
    version: 2,
    name: "own",
    quotas: {
      bucket: { algorithm: { kind: "token-bucket", capacity: 40, refill: { amount: 2, everyMs: 1_000 } } },
      grid: windows(60, { anchor: "epoch" }),
      own: windows(30, { anchor: "first-request" }),
      daily: {
        algorithm: {
          kind: "fixed-window",
          limit: 8,
          windowSeconds: 604_800,
          anchor: { calendar: "week", zone: "UTC" },
        },
      },
    },
    operations: {
      both: { uses: { grid: 1, own: 1 } },
      burst: { uses: { bucket: 1 } },
      mixed: { uses: { bucket: 1, grid: 1 } },
      report: { uses: { daily: 1 } },
    },
    routes: ["both", "burst", "mixed", "report"].map((operation) => ({ path: `/${operation}`, operation })),
    overrides: [{ match: { user: "bob" }, quotas: { grid: { limit: 5, windowSeconds: 10 } } }],
  });
  const limits = limitsOfPolicy(policy);
  const ann = { organization: "acme", user: "ann" };

  test("are the first fixed ones that an operation uses", () => {
    const of = (operation: string) => limits.windowOf("acme", operation);
    expect(of("both")).toEqual({ limit: 5, windowSeconds: 60 });
    expect(of("mixed")).toEqual({ limit: 5, windowSeconds: 60 });
    expect(of("report")).toEqual({ limit: 8, windowSeconds: 604_800 });
    expect(of("burst")).toEqual({ limit: 40, windowSeconds: 60 });
    expect(of("other")).toEqual({ limit: Number.MAX_SAFE_INTEGER, windowSeconds: 60 });
    expect(limits.operations).toEqual(["both", "burst", "mixed", "report"]);
  });

  test("end where the grid of Unix time says so", () => {
    expect(limits.resetsAt(ann, "both", 119)).toEqual({ reset: 1, userReset: ABSENT });
    expect(limits.resetsAt(ann, "both", 120)).toEqual({ reset: 60, userReset: ABSENT });
    expect(limits.resetsAt(ann, "mixed", 120.5)).toEqual({ reset: ABSENT, userReset: 60 });
    expect(limits.resetsAt({ ...ann, user: "bob" }, "both", 123)).toEqual({ reset: 7, userReset: ABSENT });
    expect(limits.resetsAt(ann, "other", 1)).toEqual({ reset: ABSENT, userReset: ABSENT });
  });

  test("are a policy's, or those of rules", () => {
    const rules = parseRules({ organization: { rest: { limit: 3, windowSeconds: 20 } } });
    expect(limitsOf({ rules }).windowOf("acme", "rest")).toEqual({ limit: 3, windowSeconds: 20 });
    expect(limitsOf({ rules, policy }).windowOf("acme", "both")).toEqual({ limit: 5, windowSeconds: 60 });
  });
});
