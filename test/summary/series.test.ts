// Series that pictures are drawn from: true to the trace, and small whatever its length.
import { describe, expect, it } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { refusalSlots, SeriesCollector, windowsWorthDrawing } from "../../src/summary/series.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { tellerOf } from "../../src/summary/told.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { rulesOwner } from "../support/rules-owner.ts";
import { playWorld, startMs, traceCall, traceHeader } from "./traces.ts";

function seriesOf(header: TraceHeader, calls: readonly TraceCall[]) {
  const summary = summarize(header, calls);
  const collector = new SeriesCollector(summary, tellerOf(header), windowsWorthDrawing(summary));
  for (const call of calls) collector.add(call);
  return { summary, series: collector.finish() };
}

describe("a small world", () => {
  const { header, calls } = playWorld();
  const { summary, series } = seriesOf(header, calls);

  it("counts every call in one slot of time, as the figures do", () => {
    const total = (name: "admitted" | "refusedByUser" | "refusedByOrganization"): number =>
      series.traffic.reduce((sum, slot) => sum + slot[name], 0);
    expect(total("admitted")).toBe(summary.figures.admitted);
    expect(total("refusedByUser")).toBe(summary.figures.refusedByUser);
    expect(total("refusedByOrganization")).toBe(summary.figures.refusedByOrganization);
  });

  it("draws the organization's windows, REST first, and the users whom their own windows refused most", () => {
    expect(series.windows.map(rulesOwner).map(({ org, user, scope }) => [org, user, scope])).toEqual([
      ["acme", null, "rest"],
      ["acme", null, "graphql"],
      ["acme", "noisy-bot", "rest"],
      ["acme", "agent-0", "graphql"],
    ]);
  });

  it("finds the windows of the rules: each five or eight seconds long, on the grid, never above the limit", () => {
    expect(new Set(series.windows.map(rulesOwner).map(({ scope }) => scope))).toEqual(
      new Set(["rest", "graphql"]),
    );
    for (const { scope, windows } of series.windows.map(rulesOwner)) {
      const lengthMs = scope === "rest" ? 5000 : 8000;
      expect(windows).toHaveLength(Math.ceil(24_000 / lengthMs));
      for (const { opensAt, endsAt, highest, limit } of windows) {
        expect([endsAt - opensAt, endsAt % lengthMs]).toEqual([lengthMs, 0]);
        expect(highest).toBeLessThanOrEqual(limit ?? 0);
      }
    }
  });

  it("steps up within a window and falls to 0 at its end, at times that never go back", () => {
    const rest = series.windows[0];
    const times = rest?.counts.map(([atMs]) => atMs) ?? [];
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(rest?.counts.filter(([atMs]) => atMs === 5000).at(-1)).toEqual([5000, 0]);
    const highest = Math.max(...(rest?.windows.map((window) => window.highest ?? 0) ?? []));
    expect(Math.max(...(rest?.counts.map(([, count]) => count) ?? []))).toBe(highest);
  });

  it("draws the same windows whatever the order of the calls in the trace", () => {
    const drawn = (given: readonly TraceCall[]) =>
      seriesOf(header, given).series.windows.map(({ counts, refusals, limits }) => [
        counts,
        refusals,
        limits,
      ]);
    expect(drawn(calls.toReversed())).toEqual(drawn(calls));
  });

  it("gathers each window's own refusals", () => {
    for (const { refusals, windows } of series.windows) {
      const drawn = refusals.reduce((sum, [, count]) => sum + count, 0);
      expect(drawn).toBe(windows.reduce((sum, { refused }) => sum + refused, 0));
    }
    expect(series.windows[2]?.refusals.length).toBeGreaterThan(0);
  });
});

describe("limits", () => {
  it("steps where the limit changes between windows", () => {
    const at = (sent: number, limit: number): TraceCall =>
      traceCall({
        sent,
        scopeName: "rest",
        limit,
        remaining: 1,
        reset: 5 - Math.floor((sent % 5000) / 1000),
      });
    const rules = parseRules({ organization: { rest: { windowSeconds: 5 } } });
    const { series } = seriesOf(traceHeader({ rules }), [at(0, 10), at(5000, 20), at(9000, 20)]);
    expect(series.windows[0]?.limits).toEqual([
      [0, 10],
      [5000, 20],
      [9000, 20],
    ]);
  });
});

describe("size", () => {
  function* dayOfCalls(stepMs: number): Generator<TraceCall> {
    for (let sent = 0; sent < 86_400_000; sent += stepMs)
      yield traceCall({
        sent,
        received: sent + 5,
        status: sent % 5 === 0 ? 429 : 200,
        refusal: { scope: "rest" },
        scopeName: "rest",
        limit: 100,
        remaining: 50,
        reset: 5 - Math.floor((sent % 5000) / 1000),
      });
  }

  it("keeps a few hundred points of a hundred thousand calls in 17,280 windows", () => {
    const rules = parseRules({ organization: { rest: { limit: 100, windowSeconds: 5 } } });
    const { summary, series } = seriesOf(traceHeader({ rules }), [...dayOfCalls(864)]);
    expect(summary.windowsSeen).toBe(17_280);
    expect(summary.windows).toHaveLength(2000);
    const [drawn] = series.windows;
    expect(drawn?.perWindow).toBe(true);
    expect(drawn?.counts.length).toBeLessThanOrEqual(400);
    expect(drawn?.refusals.length).toBeLessThanOrEqual(refusalSlots);
    expect(series.traffic.length).toBeLessThanOrEqual(60);
  });

  it("keeps the most refused of many users, and says how many there were", () => {
    const calls = Array.from({ length: 3000 }, (_, index) =>
      traceCall({ user: `user-${index}`, call: index, status: index === 2500 ? 429 : 200 }),
    );
    const { summary } = seriesOf(traceHeader(), calls);
    expect([summary.usersSeen, summary.users.length, summary.users[0]?.user]).toEqual([
      3000,
      1000,
      "user-2500",
    ]);
  });
});

describe("a trace that has nothing to draw", () => {
  it("has one instant and no windows", () => {
    const { series } = seriesOf(traceHeader(), []);
    expect(series).toMatchObject({ lengthMs: 1, windows: [] });
    expect(summarize(traceHeader(), []).startedAt).toBe(startMs);
  });
});
