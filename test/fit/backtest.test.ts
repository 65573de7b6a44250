// Predictions of a fitted scenario, held to what came: near the nominal share where the model can say what callers do,
// and plainly short of it where they change.
// @module-tag long
import { describe, expect, test } from "vitest";
import { backtest, defaultSeeds } from "../../sim/fit/backtest.ts";
import type {
  BacktestResult,
  Coverage,
  PredictedFigure,
  WindowClass,
} from "../../sim/fit/backtest-result.ts";
import { fitMarkdown } from "../../sim/fit/report.ts";
import { fittedSource } from "../../sim/fit/source.ts";
import { simulate } from "../../sim/simulate.ts";
import { none, pipelinesQuery, rest, waitReset, worker } from "../../src/scenario/index.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";
import { logged, recorded, traced, world } from "./recordings.ts";

const pipelines = rest("/v2/organizations/:org/pipelines");

/** Windows of ten seconds, so that an hour has many. */
const rules = {
  organization: { rest: { limit: 60, windowSeconds: 10 }, graphql: { limit: 3000, windowSeconds: 10 } },
  user: { rest: { limit: 40, windowSeconds: 10 }, graphql: { limit: 3000, windowSeconds: 10 } },
};
const visitors = (rate: number): PopulationInput => ({
  arrivals: { executor: "poisson-arrival-rate", rate, timeUnit: "10s", preAllocatedVUs: 50 },
  user: 4,
  behaviour: worker({ calls: [{ call: pipelines }], jobs: 1 }),
  onRefused: none(),
});
const workers = (clients: number): PopulationInput => ({
  clients,
  behaviour: worker({
    calls: [{ call: pipelines, weight: 2 }, { call: pipelinesQuery(30) }],
    think: { least: "1s", most: "9s" },
  }),
  onRefused: waitReset({ of: "both", jitter: { least: 0, most: "4s" } }),
});

function of(
  { coverage }: BacktestResult,
  figure: PredictedFigure,
  name: WindowClass | "all" = "all",
): Coverage {
  const found = coverage.find((row) => row.figure === figure && row.class === name);
  if (found === undefined) throw new Error(`no coverage of ${figure}, ${name}`);
  return found;
}

const narrowShare = ({ insideNarrow, windows }: Coverage): number => insideNarrow / windows;
const wideShare = ({ insideWide, windows }: Coverage): number => insideWide / windows;

describe("a model that can say what callers do", () => {
  test.each([1, 2])("predicts windows far from full as often as it says, seed %i", (seed) => {
    const result = backtest(traced(world({ visitors: visitors(20) }, { rules, duration: "40m" }), seed));
    const offered = of(result, "offered", "far");
    // 72 windows: 80% of them, give or take three deviations of 4.7%; ends count, so rather more than less.
    expect(offered.windows).toBeGreaterThan(60);
    expect(narrowShare(offered)).toBeGreaterThan(0.66);
    expect(narrowShare(offered)).toBeLessThan(0.97);
    expect(wideShare(offered)).toBeGreaterThan(0.87);
  });

  test("predicts refusals and waits of saturated windows", () => {
    const recording = traced(
      world({ visitors: visitors(45), workers: workers(20) }, { rules, duration: "20m" }),
    );
    const result = backtest(recording);
    for (const figure of ["offered", "admitted", "refused"] as const) {
      const row = of(result, figure, "saturated");
      expect(row.windows).toBeGreaterThan(10);
      expect(wideShare(row), figure).toBeGreaterThan(0.8);
    }
    for (const figure of ["offered", "refused"] as const) {
      expect(narrowShare(of(result, figure)), figure).toBeGreaterThan(0.66);
      expect(wideShare(of(result, figure)), figure).toBeGreaterThan(0.85);
    }
    expect(wideShare(of(result, "waitP95Ms"))).toBeGreaterThan(0.8);
    const { measured, wide } = result.totals.offered;
    expect(Math.abs((measured ?? 0) - ((wide?.[0] ?? 0) + (wide?.[1] ?? 0)) / 2)).toBeLessThan(
      0.05 * (measured ?? 0),
    );
  });

  test("is not blamed for windows that turn out to refuse by chance", () => {
    const recording = traced(world({ visitors: visitors(48) }, { rules, duration: "30m" }), 5);
    const { windows, findings } = backtest(recording);
    const refusing = windows.filter(({ figures }) => (figures.refused.measured ?? 0) > 0);
    expect(refusing.length).toBeGreaterThan(0);
    for (const { class: own, figures } of windows)
      expect(own === "saturated").toBe((figures.refused.middle ?? 0) > 0);
    expect(findings).toEqual([]);
  });

  test("knows the levels that its seeds give", () => {
    const recording = traced(world({ visitors: visitors(5) }, { rules, duration: "5m" }));
    expect(defaultSeeds).toBe(39);
    expect(backtest(recording).levels).toEqual({
      narrow: expect.closeTo(0.8, 9),
      wide: expect.closeTo(0.95, 9),
    });
    // Between the least and the most of 9 values lies the tenth with 8/10.
    expect(backtest(recording, { seeds: 9 }).levels).toEqual({
      narrow: expect.closeTo(0.8, 9),
      wide: expect.closeTo(0.8, 9),
    });
  });

  test("says nothing of waits for a log, which has none", () => {
    const { coverage } = backtest(logged(world({ visitors: visitors(20) }, { rules, duration: "20m" })), {
      seeds: 9,
    });
    expect(coverage.map(({ figure }) => figure)).not.toContain("waitP95Ms");
    expect(coverage.map(({ figure }) => figure)).toContain("offered");
  });

  test("is the same each time", () => {
    const make = () => traced(world({ workers: workers(5) }, { rules, duration: "5m" }));
    expect(backtest(make(), { seeds: 5 })).toEqual(backtest(make(), { seeds: 5 }));
  });
});

describe("callers who change half-way", () => {
  /** Twice as many as before, from 70% of the time on. */
  const changing = (() => {
    const before = simulate(world({ visitors: visitors(15) }, { rules, duration: "28m" }), { seed: 1 });
    const after = simulate(
      world({ more: visitors(40) }, { rules, duration: "12m", startAt: "2026-01-01T00:28:00Z" }),
      { seed: 2 },
    );
    return recorded(before.header, [...before.calls, ...after.calls]);
  })();
  const result = backtest(changing);

  test("show as intervals that hold nothing", () => {
    expect(narrowShare(of(result, "offered"))).toBeLessThan(0.1);
    expect(wideShare(of(result, "offered"))).toBeLessThan(0.2);
  });

  test("are said plainly", () => {
    expect(result.findings.join("\n")).toMatch(
      /calls per window, .*: \d+% of \d+ inside the 80% interval, \d+% inside the 95% one: the model does not explain these/,
    );
    expect(result.findings.join("\n")).toMatch(/^calls in all: \d+ measured, \d+ to \d+ predicted$/m);
    const source = fittedSource(result.model);
    const text = fitMarkdown({
      format: "spillway-fit",
      version: 1,
      model: result.model,
      source,
      check: null,
      backtest: result,
    });
    expect(text).toContain("the model does not explain these");
    expect(text).toContain("| calls | all windows |");
  });

  test("do not show in what was fitted to all of it, which is no test", () => {
    expect(result.model.calls).toBeLessThan(changing.calls / 1.5);
    expect(result.splitAt).toBeGreaterThan(Date.UTC(2026, 0, 1, 0, 27));
  });
});

describe("too little to judge by", () => {
  test("no whole window in the second part", () => {
    const { findings, windows, totals } = backtest(
      traced(world({ visitors: visitors(20) }, { duration: "1m" })),
    );
    expect(windows).toEqual([]);
    expect(totals.offered).toMatchObject({ measured: null, wide: null });
    expect(findings).toEqual([expect.stringMatching(/holds no whole window \(60 s, 300 s\)/)]);
  });

  test("few windows", () => {
    const { findings } = backtest(traced(world({ visitors: visitors(20) }, { rules, duration: "3m" })));
    expect(findings.at(-1)).toMatch(/^only \d windows could be compared/);
  });

  test.each([0, 1, -0.5, Number.NaN])("a share of %d is the programmer's mistake", (share) => {
    const recording = traced(world({ visitors: visitors(20) }, { duration: "1m" }));
    expect(() => backtest(recording, { share })).toThrow(RangeError);
  });
});
