// Tests a fitted scenario's predictions. It fits the scenario to a recording's first part, and simulates the whole time
// from many seeds. Then it compares the rest of the recording with the simulations, window by window.

import { count } from "../../src/rules/words.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import { policyCall } from "../../src/scenario/policy-calls.ts";
import { defaultOrganization } from "../../src/scenario/seats.ts";
import { simulateNumbers } from "../simulate.ts";
import { judgeCoverage, percent } from "./backtest-coverage.ts";
import type {
  BacktestResult,
  PredictedFigure,
  PredictedWindow,
  Prediction,
  WindowClass,
} from "./backtest-result.ts";
import { predictedFigures, windowsKept } from "./backtest-result.ts";
import { isPredicted, type Split, splitOf, usualShare } from "./backtest-split.ts";
import { placeIn, WindowCounts, WindowGrid } from "./backtest-windows.ts";
import type { SimulationsDone } from "./check.ts";
import { type FitOptions, fitScenario } from "./fit.ts";
import { limitsOf } from "./limits.ts";
import type { FittedModel } from "./model.ts";
import { type Recording, recordedUntil } from "./recording.ts";
import { fittedScenario } from "./source.ts";
import { SortedSample, sumOf } from "./statistics.ts";

export interface BacktestOptions extends FitOptions {
  /** Share of the time that is fitted to. Default: as `splitOf` chooses. */
  readonly share?: number | undefined;
  /** Number of simulations. Default: 39. */
  readonly seeds?: number | undefined;
}

/**
 * Number of simulations that gives both spans their exact levels. Suppose the recording is one more run of the model.
 * Each of the 40 places among the 39 sorted values is then equally likely. It lies between the 4th values from either
 * end with 32/40 = 80%. It lies between the first and the last with 38/40 = 95%.
 */
export const defaultSeeds = 39;

/** Number of windows below which the predicted part's shares say little. */
const windowsLeast = 10;

/** Says why the last part of a recording has too few windows to be predicted; `null` if it has enough. */
export function tooShort(model: FittedModel, share = usualShare): string | null {
  const { durationMs, populations } = model;
  const limits = limitsOf(model);
  const windowMs = Math.max(
    ...populations.map(
      ({ organization, mix }) =>
        1000 * limits.windowOf(organization, mix[0]?.operation ?? "rest").windowSeconds,
    ),
  );
  if ((1 - share) * durationMs >= windowsLeast * windowMs) return null;
  const windows = `${windowsLeast} windows of ${count(windowMs / 1000)} s`;
  return `the last ${percent(1 - share)} of the time, which it would predict, has fewer than ${windows}`;
}

/** @throws what `fit` throws, and RangeError if an option is out of range */
export function backtest(recording: Recording, options: BacktestOptions = {}): BacktestResult {
  const steps = backtestSteps(recording, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does what `backtest` does, and yields before each simulation. */
export function* backtestSteps(
  recording: Recording,
  { share, seeds = defaultSeeds, ...options }: BacktestOptions = {},
): Generator<SimulationsDone, BacktestResult> {
  if (share !== undefined && !(share > 0 && share < 1))
    throw new RangeError(`share must be above 0 and below 1, got ${share}`);
  if (!Number.isSafeInteger(seeds) || seeds < 3 || seeds > 10_000)
    throw new RangeError(`seeds must be a whole number from 3 to 10000, got ${seeds}`);
  const { startedAtMs, endedAtMs } = recording;
  const split = splitOf(recording, share);
  const { splitAt, predicted } = split;
  const model = fitScenario(recordedUntil(recording, splitAt), options);
  const organizations = new Set(recording.callers.map(({ organization }) => organization));
  // Nothing is known of the time after the last answer, except for the rest of that second.
  const grid = new WindowGrid(organizations, limitsOf(model), splitAt, endedAtMs + 1000);
  const measured = countsOf(recording, grid, split);
  const durationMs = Math.max(1, Math.ceil(endedAtMs + 1000 - model.startAtMs));
  const scenario = adjustScenario(fittedScenario(model), { durationMs, policy: model.policy });
  const runs: WindowCounts[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    yield { done: seed - 1, of: seeds };
    runs.push(simulatedCounts(scenario, seed, grid, split, recording.knowsAttempts));
  }
  const windows = predictedWindows(grid, measured, runs);
  const levels = { narrow: levelOf(seeds, narrowLevel), wide: levelOf(seeds, wideLevel) };
  const totals = totalsOf(windows, grid, measured, runs);
  const { coverage, findings } = judgeCoverage(windows, totals, levels, grid);
  return {
    share: (splitAt - startedAtMs) / Math.max(1, endedAtMs - startedAtMs),
    splitAt,
    predicted,
    seeds,
    levels,
    model,
    windows: windows.slice(0, windowsKept),
    windowsSeen: windows.length,
    coverage,
    totals,
    findings,
  };
}

function countsOf({ callers, knowsAttempts }: Recording, grid: WindowGrid, split: Split): WindowCounts {
  const counts = new WindowCounts(grid);
  for (const { organization, calls } of callers)
    for (const { kind, atMs, endMs, wantedMs, status } of calls) {
      const { operation, free, cost } = kind;
      const row = free ? undefined : grid.rowOf(organization, operation);
      if (row === undefined || !isPredicted(split, atMs)) continue;
      counts.add(placeIn(row, atMs), status, cost, knowsAttempts ? Math.max(0, endMs - wantedMs) : null);
    }
  return counts;
}

function simulatedCounts(
  scenario: ReturnType<typeof adjustScenario>,
  seed: number,
  grid: WindowGrid,
  split: Split,
  waits: boolean,
): WindowCounts {
  const counts = new WindowCounts(grid);
  const operations = new Map<CallTemplate, string>();
  const operationOf = (call: CallTemplate): string => {
    if (scenario.policy === undefined) return call.scope;
    const known =
      operations.get(call) ?? policyCall(scenario.policy, call, { organization: "", user: "" }).operation;
    operations.set(call, known);
    return known;
  };
  const organizations = scenario.populations.map(({ organization }) => organization ?? defaultOrganization);
  simulateNumbers(scenario, { seed }, (answered) => {
    const { call } = answered;
    const row =
      call.kind === "status"
        ? undefined
        : grid.rowOf(organizations[answered.population] ?? "", operationOf(call));
    if (row === undefined || !isPredicted(split, answered.sentMs)) return;
    const place = placeIn(row, answered.sentMs);
    if (place < 0) return;
    counts.add(place, answered.status, call.cost, waits ? answered.receivedMs - answered.wantedMs : null);
  });
  return counts;
}

/** Levels that the two spans of a prediction should have. */
const [narrowLevel, wideLevel] = [0.8, 0.95];

/** Returns the number of values that a span of this level leaves out at either end. */
const leftOut = (seeds: number, level: number): number =>
  Math.max(0, Math.floor(((seeds + 1) * (1 - level)) / 2 + 1e-9) - 1);

/** Returns the level that a span really has with this number of seeds. */
const levelOf = (seeds: number, level: number): number => 1 - (2 * (leftOut(seeds, level) + 1)) / (seeds + 1);

function predictionOf(measured: number | null, values: readonly (number | null)[]): Prediction {
  const known = values.filter((value) => value !== null);
  // If some runs had nothing to measure, the values of the others are no span of all runs.
  if (known.length < values.length || known.length === 0)
    return { measured, middle: null, narrow: null, wide: null };
  const { sorted } = new SortedSample(known);
  const span = (level: number): readonly [number, number] => {
    const out = leftOut(sorted.length, level);
    return [sorted[out] as number, sorted[sorted.length - 1 - out] as number];
  };
  return {
    measured,
    middle: new SortedSample(known).median,
    narrow: span(narrowLevel),
    wide: span(wideLevel),
  };
}

function predictedWindows(
  grid: WindowGrid,
  measured: WindowCounts,
  runs: readonly WindowCounts[],
): PredictedWindow[] {
  const windows: PredictedWindow[] = [];
  for (const { organization, scope, windowMs, fromMs, count, first, limit } of grid.rows)
    for (let index = 0; index < count; index++) {
      const place = first + index;
      const idle = measured.offered[place] === 0 && runs.every(({ offered }) => offered[place] === 0);
      if (idle) continue;
      const opensAt = fromMs + index * windowMs;
      const predict = (name: PredictedFigure): Prediction =>
        predictionOf(
          measured.figure(name, place),
          runs.map((run) => run.figure(name, place)),
        );
      windows.push({
        organization,
        scope,
        opensAt,
        endsAt: opensAt + windowMs,
        class: classOf(runs, place, limit),
        figures: Object.fromEntries(predictedFigures.map((name) => [name, predict(name)])) as Record<
          PredictedFigure,
          Prediction
        >,
      });
    }
  return windows.sort((a, b) => a.opensAt - b.opensAt);
}

/** Returns a window's class by its predictions. Measured values would single out unusual windows, whose spans fail. */
function classOf(runs: readonly WindowCounts[], place: number, limit: number): WindowClass {
  const often = (isSo: (run: WindowCounts) => boolean): boolean => 2 * runs.filter(isSo).length > runs.length;
  if (often(({ refused }) => (refused[place] as number) > 0)) return "saturated";
  return often(({ used }) => (used[place] as number) > 0.8 * limit) ? "near" : "far";
}

/** Predicts the sums over all windows. Windows depend on each other, so a sum tells more than any of them. */
function totalsOf(
  windows: readonly PredictedWindow[],
  grid: WindowGrid,
  measured: WindowCounts,
  runs: readonly WindowCounts[],
): BacktestResult["totals"] {
  const sum = (counts: WindowCounts, name: PredictedFigure): number =>
    sumOf(Array.from({ length: grid.count }, (_, place) => counts.figure(name, place) as number));
  const predict = (name: PredictedFigure): Prediction =>
    windows.length === 0
      ? { measured: null, middle: null, narrow: null, wide: null }
      : predictionOf(
          sum(measured, name),
          runs.map((run) => sum(run, name)),
        );
  return { offered: predict("offered"), admitted: predict("admitted"), refused: predict("refused") };
}
