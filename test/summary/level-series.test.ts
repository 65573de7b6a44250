// Series of a policy's quotas for pictures: levels of buckets over time, and which of all counts are drawn.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { refusalSlots, SeriesCollector, windowsWorthDrawing } from "../../src/summary/series.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { tellerOf } from "../../src/summary/told.ts";
import type { QuotaCall, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import { inference } from "../policy/policies.ts";
import { startMs, traceHeader } from "./traces.ts";

const { rules: _, lost: __, version: ___, ...rest } = traceHeader();
const header = { ...rest, version: 2, policy: parsePolicy(inference), lost: 0 } as QuotaTraceHeader;

/** A call that shows a level of a bucket, or the count of a window, so many ms after the start. */
const call = (
  at: number,
  quota: string,
  used: number | null,
  changes: Partial<QuotaCall> = {},
  limit: number | null = null,
): QuotaCall => ({
  sent: startMs + at,
  received: startMs + at,
  client: "agents/0",
  call: at,
  caller: { tenant: "acme", user: "ann", model: "m" },
  operation: "complete",
  cost: 1,
  status: 200,
  outcome: "admitted",
  readings: [
    {
      quota,
      limit,
      remaining: null,
      used,
      reset: quota === "tenant" ? { afterMs: 60_000 - at, atMs: null, gridMs: 1 } : null,
    },
  ],
  attempt: 0,
  ...changes,
});
const refused = (by: string): Partial<QuotaCall> => ({ outcome: "refused", status: 429, by });

function seriesOf(calls: readonly QuotaCall[]) {
  const summary = summarize(header, calls);
  const collector = new SeriesCollector(summary, tellerOf(header), windowsWorthDrawing(summary));
  for (const each of calls) collector.add(each);
  return collector.finish();
}

test("a bucket's level is the highest of each four-hundredth of the run, its limits are steps", () => {
  // 4,000 ms: ten for each place in a picture.
  const { windows, lengthMs, traffic } = seriesOf([
    call(0, "burst", 1),
    call(5, "burst", 3),
    call(9, "burst", 2),
    call(2000, "burst", 4, {}, 6),
    call(2010, "burst", null, {}, 6),
    call(3000, "burst", 2, {}, 8),
    call(3990, "burst", 5, refused("burst"), 8),
    call(4000, "burst", 0, {}, 8),
  ]);
  const [burst] = windows;
  expect([lengthMs, windows.length]).toEqual([4000, 1]);
  expect(burst).toMatchObject({
    quota: "burst",
    counts: [
      [0, 3],
      [2000, 4],
      [3000, 2],
      [3990, 5],
      [4000, 0],
    ],
    limits: [
      [0, 5],
      [2000, 6],
      [3000, 8],
      [4000, 8],
    ],
    refusals: [[Math.round((99.5 / refusalSlots) * 4000), 1]],
    windows: [],
    perWindow: false,
  });
  expect(traffic.reduce((sum, slot) => sum + slot.admitted, 0)).toBe(7);
  expect(traffic.reduce((sum, slot) => sum + slot.refusedByQuota, 0)).toBe(1);
});

test("a bucket that shows no limit but the policy's has that all along", () => {
  expect(seriesOf([call(100, "burst", 1), call(4000, "burst", 2)]).windows[0]?.limits).toEqual([
    [0, 5],
    [4000, 5],
  ]);
});

test("a status call and one that was refused count nothing as let through", () => {
  const { windows } = seriesOf([
    call(0, "tenant", 1),
    call(10, "tenant", 1, { operation: "status" }),
    call(20, "tenant", 1, refused("tenant")),
    call(4000, "tenant", 2),
  ]);
  expect(windows[0]?.windows).toMatchObject([{ admitted: 2, refused: 1, highest: 2 }]);
});

describe("the counts that are drawn", () => {
  const by = (user: string, at: number, changes: Partial<QuotaCall> = {}) =>
    call(at, "burst", 1, { caller: { tenant: "acme", user, model: "m" }, ...changes });
  const drawn = (calls: readonly QuotaCall[]) =>
    windowsWorthDrawing(summarize(header, calls)).map((whose) =>
      "quota" in whose ? [whose.quota, whose.key["user"] ?? ""] : [],
    );

  test("are at least one of each quota, the most refused first, and others that refused", () => {
    const calls = [
      by("calm", 0),
      by("calm", 1),
      by("some", 2, refused("burst")),
      by("most", 3, refused("burst")),
      by("most", 4, refused("burst")),
      call(5, "tenant", 1),
      call(6, "anybody", 1),
    ];
    expect(drawn(calls)).toEqual([
      ["burst", "most"],
      ["tenant", ""],
      ["anybody", ""],
      ["burst", "some"],
    ]);
  });

  test("are six, unless there are more quotas", () => {
    const calls = Array.from({ length: 9 }, (_, at) => by(`user-${at}`, at, refused("burst")));
    expect(drawn(calls)).toHaveLength(6);
  });

  test("are none where nothing was let through or refused", () => {
    expect(drawn([call(0, "burst", 1, { outcome: "unknown" })])).toEqual([]);
  });
});
