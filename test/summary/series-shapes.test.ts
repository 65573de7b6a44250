// The shape of what pictures are drawn from, number by number: slots, steps, limits, refusals, and who is drawn.
import { describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { judgeReplay, requireReplayFigures } from "../../src/summary/replay-figures.ts";
import { SeriesCollector, windowsWorthDrawing } from "../../src/summary/series.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import type { LevelSummary, Summary, WindowSummary } from "../../src/summary/summary.ts";
import { type CallOutcome, outcomeOf } from "../../src/summary/timeline.ts";
import { type ToldCall, tellerOf } from "../../src/summary/told.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Whose } from "../../src/trace/whose.ts";
import { startMs, traceCall, traceHeader } from "./traces.ts";

const rules = parseRules({ organization: { rest: { limit: 10, windowSeconds: 5 } } });
const header = traceHeader({ rules });
const organization: Whose = { org: "acme", user: null, scope: "rest" };

function seriesOf(calls: readonly TraceCall[], drawn: readonly Whose[] = [organization]) {
  const collector = new SeriesCollector(summarize(header, calls), tellerOf(header), drawn);
  for (const call of calls) collector.add(call);
  return collector.finish();
}

/** An answer that shows the organization's REST window of five seconds. */
const shown = (sent: number, count: number, changes: Partial<TraceCall> = {}): TraceCall =>
  traceCall({
    ...{
      sent,
      scopeName: "rest",
      limit: 10,
      remaining: 10 - count,
      reset: 5 - Math.floor((sent % 5000) / 1000),
    },
    ...changes,
  });
const refused = { status: 429, refusal: { scope: "rest" } } as const;

test.each([
  [1, 100, 1],
  [6_000, 100, 60],
  [6_001, 200, 31],
  [12_001, 500, 25],
  [30_001, 1_000, 31],
  [60_001, 2_000, 31],
  [120_001, 5_000, 25],
  [300_001, 10_000, 31],
  [600_001, 15_000, 41],
  [900_001, 30_000, 31],
  [1_800_001, 60_000, 31],
  [3_600_001, 120_000, 31],
  [7_200_001, 300_000, 25],
  [18_000_001, 600_000, 31],
  [36_000_000, 600_000, 60],
  [36_000_001, 3_600_000, 11],
  [216_000_000, 3_600_000, 60],
  [216_000_001, 7_200_000, 31],
])("%s ms of a run are counted in slots of %s ms: %s of them", (lengthMs, slotMs, slots) => {
  const series = seriesOf([traceCall(), traceCall({ received: lengthMs })]);
  expect([series.lengthMs, series.slotMs, series.traffic.length]).toEqual([lengthMs, slotMs, slots]);
  expect(series.traffic.map(({ atMs }) => atMs).slice(0, 2)).toEqual([0, slotMs].slice(0, slots));
  // The last answer comes at the end of the last slot, and is in it.
  const admitted = series.traffic.map((slot) => slot.admitted);
  expect([admitted[0], admitted.at(-1)]).toEqual(slots === 1 ? [2, 2] : [1, 1]);
});

test("each call is counted once, by its end, in the slot of its answer; a status is none", () => {
  const { traffic } = seriesOf([
    traceCall({ received: 99 }),
    traceCall({ received: 100, status: 0 }),
    traceCall({ received: 250, ...refused }),
    traceCall({ received: 250, status: 429 }),
    traceCall({ received: 250, kind: "status" }),
    traceCall({ received: 400 }),
  ]);
  const none: Record<CallOutcome, number> = {
    ...{ admitted: 0, refusedByUser: 0, refusedByOrganization: 0, refusedByQuota: 0, refusedByUnknown: 0 },
    unanswered: 0,
  };
  expect(traffic).toEqual([
    { atMs: 0, ...none, admitted: 1 },
    { atMs: 100, ...none, unanswered: 1 },
    { atMs: 200, ...none, refusedByOrganization: 1, refusedByUnknown: 1 },
    { atMs: 300, ...none, admitted: 1 },
  ]);
});

test.each<[Partial<ToldCall>, CallOutcome]>([
  [{ end: "admitted", owner: "user" }, "admitted"],
  [{ end: "unanswered" }, "unanswered"],
  [{ end: "refused", owner: "user", refusedBy: null }, "refusedByUser"],
  [{ end: "refused", owner: "organization", refusedBy: null }, "refusedByOrganization"],
  [{ end: "refused", owner: null, refusedBy: "burst" }, "refusedByQuota"],
  [{ end: "refused", owner: null, refusedBy: null }, "refusedByUnknown"],
])("%j is %s", (call, outcome) => {
  expect(outcomeOf(call as ToldCall)).toBe(outcome);
});

describe("an owner's windows", () => {
  test("rise by their highest counts, end at their last one, and fall to 0 where they end within the run", () => {
    // 8,000 ms: twenty for each place in a picture.
    const { windows } = seriesOf([
      shown(1_000, 1),
      shown(1_010, 3),
      shown(1_015, 2),
      shown(4_000, 10, { ...refused, received: 4_019 }),
      shown(6_000, 1),
      shown(8_000, 2),
    ]);
    expect(windows).toMatchObject([
      {
        ...organization,
        perWindow: false,
        counts: [
          ...[
            [0, 0],
            [1_000, 3],
            [4_000, 10],
            [5_000, 10],
            [5_000, 0],
          ],
          // The second window ends behind the run: it does not fall.
          ...[
            [5_000, 0],
            [6_000, 1],
            [8_000, 2],
            [8_000, 2],
          ],
        ],
        limits: [
          [0, 10],
          [8_000, 10],
        ],
        // The middle of the fiftieth of a hundred spans.
        refusals: [[4_040, 1]],
      },
    ]);
    expect(windows[0]?.windows.map(({ admitted, refused: no }) => [admitted, no])).toEqual([
      [3, 1],
      [2, 0],
    ]);
  });

  test("falls at the run's last instant, too; limits are those that were shown, none where none was", () => {
    const { windows } = seriesOf([
      shown(0, 1, { limit: null, remaining: null }),
      shown(4_999, 1, { limit: null, remaining: null, received: 5_000 }),
    ]);
    expect(windows[0]).toMatchObject({
      counts: [
        [0, 0],
        [5_000, 0],
        [5_000, 0],
      ],
      limits: [],
      refusals: [],
    });
  });

  test("who is not asked for is not drawn, and whoever showed nothing has nothing", () => {
    expect(seriesOf([shown(0, 1)], []).windows).toEqual([]);
    const other: Whose = { org: "globex", user: null, scope: "rest" };
    const nothing = { counts: [], limits: [], refusals: [], windows: [], perWindow: false };
    expect(seriesOf([shown(0, 1)], [other]).windows).toEqual([{ ...other, ...nothing }]);
  });

  test.each([
    [100, false, 400],
    [101, true, 101],
    [400, true, 400],
    [401, true, 201],
    [801, true, 267],
  ])("%s windows: one point each, or a few, instead of steps: %s", (count, perWindow, points) => {
    const calls = Array.from({ length: count }, (_, at) => shown(at * 5_000, at % 7));
    const [drawn] = seriesOf(calls).windows;
    expect([drawn?.windows.length, drawn?.perWindow]).toEqual([count, perWindow]);
    if (!perWindow) return;
    const stride = Math.ceil(count / 400);
    const first = (at: number) => [
      Math.max(0, at * stride * 5_000),
      Math.max(...highest(at * stride, stride)),
    ];
    const highest = (from: number, many: number) =>
      Array.from({ length: Math.min(many, count - from) }, (_, at) => (from + at) % 7);
    expect(drawn?.counts).toEqual(Array.from({ length: points }, (_, at) => first(at)));
  });
});

describe("who is worth drawing", () => {
  const window = (whose: Whose, admitted: number, refusedCalls: number): WindowSummary => ({
    ...whose,
    ...{ opensAt: 0, endsAt: 0, limit: null, highest: null, admitted, refused: refusedCalls },
  });
  const drawnOf = (windows: readonly WindowSummary[], levels: readonly LevelSummary[] = []) =>
    windowsWorthDrawing({ windows, levels } as unknown as Summary).map((whose) =>
      "quota" in whose
        ? `${whose.quota} ${Object.values(whose.key)}`
        : `${whose.org} ${whose.user} ${whose.scope}`,
    );
  const of = (org: string, scope: "rest" | "graphql", user: string | null = null): Whose => ({
    org,
    user,
    scope,
  });

  test("three organizations, the most refused first, REST before GraphQL, then two users that refused", () => {
    const windows = [
      window(of("a", "rest"), 5, 0),
      window(of("b", "graphql"), 1, 2),
      window(of("b", "rest"), 0, 1),
      window(of("c", "rest"), 9, 1),
      window(of("c", "rest"), 9, 2),
      window(of("d", "rest"), 4, 0),
      window(of("e", "rest"), 0, 0),
      window(of("a", "rest", "ann"), 9, 0),
      window(of("a", "rest", "bob"), 0, 1),
      window(of("a", "rest", "cyd"), 0, 3),
      window(of("a", "graphql", "dan"), 0, 2),
    ];
    expect(drawnOf(windows)).toEqual([
      "c null rest",
      "b null rest",
      "b null graphql",
      "a null rest",
      "a cyd rest",
      "a dan graphql",
    ]);
  });

  test("of each quota the most refused, and more that refused up to six", () => {
    const quota = (name: string, user: string): Whose => ({ quota: name, key: { user } });
    const level = (name: string, user: string, refusedCalls: number) =>
      window(quota(name, user), 1, refusedCalls) as unknown as LevelSummary;
    const users = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil"];
    const levels = users.map((user, at) => level("burst", user, at));
    expect(
      drawnOf([window(quota("minute", "ann"), 4, 0), window(quota("minute", "bob"), 9, 0)], levels),
    ).toEqual(["burst gil", "minute bob", "burst fay", "burst eve", "burst dan", "burst cyd"]);
    const many = Array.from({ length: 8 }, (_, at) => level(`quota-${at}`, "ann", 0));
    expect(drawnOf([], many)).toHaveLength(8);
    expect(drawnOf([], [level("burst", "ann", 0), level("burst", "bob", 0)])).toEqual(["burst ann"]);
  });
});

describe("figures of a replay", () => {
  const log = { status: 7 };
  const totals = { calls: 10, admitted: 6, refused: 4, refusedByOrganization: 1, refusedByUser: 3 };
  const waits = { p50: 11, p95: 12, p99: 13, max: 14 };
  const reaction = { attempts: 20, refusals: 5, calls: 9, gaveUp: 2, unfinished: 1, waits };
  const owners = { refusedByOrganization: 2, refusedByUser: 3 };
  const value = (name: string, result: object) =>
    judgeReplay(
      { [name]: name === "refusedShare" ? ">= 30%" : ">= 3" },
      result as Parameters<typeof judgeReplay>[1],
    )[0];

  test.each([
    ["calls", 10, 20],
    ["admitted", 6, 15],
    ["refused", 4, 5],
    ["refusedShare", 0.4, 0.25],
    ["refusedByOrganization", 1, 2],
    ["refusedByUser", 3, 3],
    ["jobs", 10, 9],
    ["gaveUp", 4, 3],
    ["statusCalls", 7, 7],
    ["waitP50Ms", null, 11],
    ["waitP95Ms", null, 12],
    ["waitP99Ms", null, 13],
    ["waitMaxMs", null, 14],
  ])("%s: %s of the log as it is, %s of callers that react", (name, asItIs, reacting) => {
    const results = [
      { log, totals, reaction: null },
      { log, totals, reaction: { ...reaction, ...owners } },
    ].map((result) => value(name, result));
    expect(results.map((one) => one?.actual)).toEqual([asItIs, reacting]);
    expect(results.map((one) => one?.held)).toEqual(
      [asItIs, reacting].map((actual) => (actual ?? -1) >= (name === "refusedShare" ? 0.3 : 3)),
    );
  });

  test("a log without calls has no share, and a policy has no owners", () => {
    const nothing = { calls: 0, admitted: 0, refused: 0 };
    expect(value("refusedShare", { log, totals: nothing, reaction: null })?.actual).toBeNull();
    expect(value("refusedByUser", { log, totals: nothing, reaction: null })?.actual).toBeNull();
    expect(() => requireReplayFigures({ refusedByUser: "< 1" })).not.toThrow();
    for (const [expected, limits] of [
      [{ refusedByUser: "< 1" }, "policy"],
      [{ "agents.refused": "< 1" }, "rules"],
      [{ points: "< 1" }, "rules"],
      [{ zzz: "<1" }, "rules"],
      [{ refused: "a few" }, "rules"],
    ] as const)
      expect(() => requireReplayFigures(expected, limits), JSON.stringify(expected)).toThrow(
        expect.objectContaining({ code: "SCENARIO_INVALID", problems: [expect.anything()] }),
      );
    expect(() => requireReplayFigures({ zzz: "<1" }, "policy")).toThrow(
      expect.objectContaining({
        problems: [
          {
            path: 'expect["zzz"]',
            got: "zzz",
            allowed:
              "a figure that a log has: calls, admitted, refused, refusedShare, jobs, gaveUp, statusCalls, waitP50Ms, waitP95Ms, waitP99Ms, waitMaxMs",
          },
        ],
      }),
    );
  });
});

test("a first answer before the run's start is at its start", () => {
  const calls = [traceCall({ sent: -50, received: -20 }), traceCall({ received: 200 })];
  const { traffic, timeline } = seriesOf(calls);
  expect(traffic.map(({ admitted }) => admitted)).toEqual([1, 1]);
  expect(timeline.rows[0]?.marks.map(({ atMs }) => atMs)).toEqual([0, 200]);
  expect(summarize(header, calls)).toMatchObject({ startedAt: startMs, endedAt: startMs + 200 });
});
