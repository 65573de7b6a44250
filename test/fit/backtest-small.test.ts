// A backtest of callers who keep to a clock: every simulation is as the recording, so that all figures are known.
import { expect, test } from "vitest";
import { type BacktestOptions, backtest, backtestSteps, tooShort } from "../../sim/fit/backtest.ts";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { none, poller, rest } from "../../src/scenario/index.ts";
import { traced, world } from "./recordings.ts";

/** Twelve calls a minute under a limit that refuses two of them, one that is nearly full, and one that is not. */
const rules = {
  organization: { rest: { limit: 10, windowSeconds: 60 } },
  organizations: { near: { rest: { limit: 14 } }, far: { rest: { limit: 15 } } },
};
const polls = (organization: string) => ({
  ...{ clients: 1, organization, onRefused: none() },
  behaviour: poller({ every: "5s", call: rest("/v2/user") }),
});
const recording = traced(
  world(
    { first: polls("acme"), second: polls("near"), third: polls("far") },
    { duration: "20m", rules, network: { roundTrip: { least: 100, most: 100 } } },
  ),
);

const options = { share: 0.5, seeds: 3, rules: parseRules(rules) };
const startMs = recording.startedAtMs;
const minuteMs = 60_000;

const known = (value: number, measured = value) => ({
  ...{ measured, middle: value, narrow: [value, value], wide: [value, value] },
});
const inEach = [
  ["acme", "saturated", 10],
  ["near", "near", 12],
  ["far", "far", 12],
] as const;

test("the last window is simulated to its end", () => {
  const each = traced(
    world(
      { polls: { clients: 1, behaviour: poller({ every: "1s", call: rest("/v2/user") }) } },
      { duration: "20m", network: { roundTrip: { least: 100, most: 100 } } },
    ),
  );
  const last = backtest(each, { share: 0.5, seeds: 3 }).windows.at(-1);
  expect(last).toMatchObject({ endsAt: each.startedAtMs + 20 * minuteMs, figures: { offered: known(60) } });
});

test("each whole window of the second half is as it was predicted", () => {
  const { model, windows, coverage, ...result } = backtest(recording, options);
  expect(model).toEqual(fitScenario({ ...recording, ...firstHalf() }, options));
  expect(result).toEqual({
    ...{ share: 0.5, splitAt: startMs + 597_550, predicted: "all", seeds: 3, windowsSeen: 27, findings: [] },
    // Of three sorted values, a fourth one of the same kind lies between the first and the last half of the time.
    levels: { narrow: 0.5, wide: 0.5 },
    totals: { offered: known(324), admitted: known(306), refused: known(18) },
  });
  expect(windows).toEqual(
    Array.from({ length: 9 }, (_, window) => startMs + (10 + window) * minuteMs).flatMap((opensAt) =>
      inEach.map(([organization, name, admitted]) => ({
        ...{ organization, scope: "rest", opensAt, endsAt: opensAt + minuteMs, class: name },
        figures: {
          offered: known(12),
          admitted: known(admitted),
          refused: known(12 - admitted),
          waitP95Ms: known(100),
        },
      })),
    ),
  );
  expect(coverage).toEqual(
    ["offered", "admitted", "refused", "waitP95Ms"].flatMap((figure) =>
      ["all", "saturated", "near", "far"].map((name) => {
        const count = name === "all" ? 27 : 9;
        return { figure, class: name, windows: count, insideNarrow: count, insideWide: count };
      }),
    ),
  );
});

/** Calls answered before the second half. */
function firstHalf(): Partial<Recording> {
  const endedAtMs = startMs + 597_550;
  const callers = recording.callers.map((one) => ({
    ...one,
    calls: one.calls.filter(({ endMs }) => endMs < endedAtMs),
  }));
  return { callers, endedAtMs, calls: callers.reduce((sum, { calls }) => sum + calls.length, 0) };
}

test("calls of the second half that were not predicted are told", () => {
  const [first, ...others] = recording.callers as [Recording["callers"][number], ...Recording["callers"]];
  const again = first.calls.filter(({ atMs }) => atMs >= startMs + 15 * minuteMs);
  const callers = [{ ...first, calls: [...first.calls, ...again] }, ...others];
  const { totals, windows, findings } = backtest({ ...recording, callers }, options);
  // Four whole windows, each with twelve calls more, of which two are refused.
  expect(totals).toEqual({
    ...{ offered: known(324, 372), admitted: known(306, 346), refused: known(18, 26) },
  });
  const offered = windows.flatMap(({ organization, figures }) =>
    organization === "acme" ? [figures.offered.measured] : [],
  );
  expect(offered).toEqual([12, 12, 12, 12, 12, 24, 24, 24, 24]);
  expect(findings).toEqual([
    "calls in all: 372 measured, 324 predicted",
    "admitted in all: 346 measured, 306 predicted",
    "refused in all: 26 measured, 18 predicted",
  ]);
});

test.each([
  [10, 1 - 2 / 11, 1 - 2 / 11],
  [19, 0.8, 0.9],
  [39, 0.8, 0.95],
  [59, 0.8, 1 - 2 / 60],
])("of %i simulations the spans have the levels %d and %d", (seeds, narrow, wide) => {
  const { levels } = backtest(recording, { ...options, share: 0.9, seeds });
  expect(levels.narrow).toBeCloseTo(narrow, 12);
  expect(levels.wide).toBeCloseTo(wide, 12);
});

test("each simulation is told before it begins", () => {
  expect([...backtestSteps(recording, options)]).toEqual([0, 1, 2].map((done) => ({ done, of: 3 })));
});

test.each<[BacktestOptions, string]>([
  [{ share: 0 }, "share must be above 0 and below 1, got 0"],
  [{ share: 1 }, "share must be above 0 and below 1, got 1"],
  [{ seeds: 2 }, "seeds must be a whole number from 3 to 10000, got 2"],
  [{ seeds: 10_001 }, "seeds must be a whole number from 3 to 10000, got 10001"],
  [{ seeds: 3.5 }, "seeds must be a whole number from 3 to 10000, got 3.5"],
])("options %j are refused", (wrong, message) => {
  expect(() => backtest(recording, { ...options, ...wrong })).toThrow(new RangeError(message));
});

test("ten windows behind the first part are enough to predict", () => {
  const model = fitScenario(recording, options);
  expect([0.5, 0.51, undefined, 0.1].map((share) => tooShort(model, share) === null)).toEqual([
    ...[true, false, false, true],
  ]);
  expect(tooShort({ ...model, durationMs: 2_000_000 })).toBeNull();
  expect(tooShort({ ...model, durationMs: 1_999_000 })).toBe(
    "the last 30% of the time, which it would predict, has fewer than 10 windows of 60 s",
  );
});
