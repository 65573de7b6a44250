// Predictions beside measurements: the same scenario, run so many times for real and simulated as many times. Errors
// are of the prediction, as shares of what was measured.
import type { Scope } from "../../src/rules/rules.ts";
import type { RulesWindow, RunFigures } from "./run-figures.ts";

/** One measured run, and what was predicted for it. */
export interface Pair {
  readonly measured: RunFigures;
  readonly predicted: RunFigures;
}

/** A figure over all pairs. */
export interface Compared {
  /** Mean of the runs, or of the windows. */
  readonly measured: number;
  readonly predicted: number;
  /** By how much the means differ: `predicted / measured - 1`; `null` where nothing was measured but predicted. */
  readonly error: number | null;
  /** The mean distance of a pair, whichever way, as a share of what was measured in the mean. */
  readonly typical: number | null;
  /** Two standard errors to either side of what was measured; `null` of a single run. */
  readonly chance: readonly [least: number, most: number] | null;
}

/** The organization's windows of one kind. */
export interface ComparedWindows {
  readonly scope: Scope;
  /** True if something was refused in them, for real. */
  readonly saturated: boolean;
  /** Number of them. */
  readonly windows: number;
  readonly admitted: Compared;
  readonly refused: Compared;
}

export interface Comparison {
  readonly runs: number;
  readonly admitted: Compared;
  readonly refused: Compared;
  /** Of the jobs of all runs together. */
  readonly waitP50Ms: Compared;
  readonly waitP95Ms: Compared;
  /** The greatest vertical distance of the two curves of waits (Kolmogorov and Smirnov), 0 to 1. */
  readonly waitsApart: number;
  readonly windows: readonly ComparedWindows[];
}

/** @param pairs runs that were predicted several times stand there as often, each time the same object */
export function comparisonOf(pairs: readonly Pair[]): Comparison {
  const times = pairs.length / new Set(pairs.map((pair) => pair.measured)).size;
  const measured = sorted(pairs.flatMap((pair) => pair.measured.waitsMs));
  const predicted = sorted(pairs.flatMap((pair) => pair.predicted.waitsMs));
  return {
    runs: pairs.length,
    admitted: compared(
      pairs.map((pair) => [pair.measured.admitted, pair.predicted.admitted]),
      times,
    ),
    refused: compared(
      pairs.map((pair) => [pair.measured.refused, pair.predicted.refused]),
      times,
    ),
    waitP50Ms: comparedQuantile(measured, predicted, 0.5, times),
    waitP95Ms: comparedQuantile(measured, predicted, 0.95, times),
    waitsApart: distanceOf(measured, predicted),
    windows: comparedWindows(pairs.flatMap(windowPairs), times),
  };
}

/**
 * @param pairs of numbers, measured first
 * @param times how often each measured one stands there
 */
function compared(
  pairs: readonly (readonly [measured: number, predicted: number])[],
  times: number,
): Compared {
  const mean = (amounts: readonly number[]): number =>
    amounts.reduce((sum, amount) => sum + amount, 0) / Math.max(1, amounts.length);
  const measured = mean(pairs.map(([ours]) => ours));
  const predicted = mean(pairs.map(([, theirs]) => theirs));
  const apart = mean(pairs.map(([ours, theirs]) => Math.abs(theirs - ours)));
  const squares = pairs.reduce((sum, [ours]) => sum + (ours - measured) * (ours - measured), 0);
  const n = pairs.length / times;
  const twice = 2 * Math.sqrt(squares / times / (n - 1) / n);
  const asShare = (amount: number): number | null =>
    measured !== 0 ? amount / measured : amount === 0 ? 0 : null;
  return {
    measured,
    predicted,
    error: asShare(predicted - measured),
    typical: asShare(apart),
    chance: n < 2 ? null : [measured - twice, measured + twice],
  };
}

/**
 * A quantile of n values lies between those of rank `n share - 2 sqrt(n share (1 - share))` and as much above: two
 * standard deviations of how many values are below it (David and Nagaraja, Order Statistics, 7.1). Where waits jump
 * from one reset to the next, that may be far.
 */
function comparedQuantile(
  measured: Float64Array,
  predicted: Float64Array,
  share: number,
  times: number,
): Compared {
  const n = measured.length / times;
  const twice = 2 * Math.sqrt((share * (1 - share)) / Math.max(1, n));
  return {
    ...compared([[quantile(measured, share), quantile(predicted, share)]], 1),
    chance: n < 2 ? null : [quantile(measured, share - twice), quantile(measured, share + twice)],
  };
}

interface WindowPair {
  readonly measured: RulesWindow;
  /** `null` where no window was predicted there: nothing was sent. */
  readonly predicted: RulesWindow | null;
}

/**
 * The organization's windows of a run, with those that were predicted. Both are known to a second, and are seconds
 * long: the predicted one that ends the nearest, if that is nearer than half of its length.
 */
function windowPairs({ measured, predicted }: Pair): WindowPair[] {
  return measured.windows
    .filter(({ user }) => user === null)
    .map((ours) => {
      const candidates = predicted.windows.filter(
        ({ user, org, scope, endsAt, opensAt }) =>
          user === null &&
          org === ours.org &&
          scope === ours.scope &&
          Math.abs(endsAt - ours.endsAt) < (endsAt - opensAt) / 2,
      );
      const nearest = candidates.sort((a, b) => apart(a, ours) - apart(b, ours))[0];
      return { measured: ours, predicted: nearest ?? null };
    });
}

const apart = (a: RulesWindow, b: RulesWindow): number => Math.abs(a.endsAt - b.endsAt);

function comparedWindows(pairs: readonly WindowPair[], times: number): ComparedWindows[] {
  return (["rest", "graphql"] as const).flatMap((scope) =>
    [false, true].flatMap((saturated) => {
      const ours = pairs.filter(
        ({ measured }) => measured.scope === scope && measured.refused > 0 === saturated,
      );
      if (ours.length === 0) return [];
      return [
        {
          scope,
          saturated,
          windows: ours.length / times,
          admitted: compared(
            ours.map((pair) => [pair.measured.admitted, pair.predicted?.admitted ?? 0]),
            times,
          ),
          refused: compared(
            ours.map((pair) => [pair.measured.refused, pair.predicted?.refused ?? 0]),
            times,
          ),
        },
      ];
    }),
  );
}

const sorted = (amounts: readonly number[]): Float64Array => Float64Array.from(amounts).sort();

/** Nearest rank; 0 of none. */
function quantile(values: Float64Array, share: number): number {
  const rank = Math.ceil(share * values.length - 1e-9);
  return values[Math.min(values.length, Math.max(1, rank)) - 1] ?? 0;
}

/** Returns the largest difference between the shares of values up to any one. */
function distanceOf(a: Float64Array, b: Float64Array): number {
  let [inA, inB, most] = [0, 0, 0];
  while (inA < a.length && inB < b.length) {
    const value = Math.min(a[inA] as number, b[inB] as number);
    while (inA < a.length && a[inA] === value) inA += 1;
    while (inB < b.length && b[inB] === value) inB += 1;
    most = Math.max(most, Math.abs(inA / a.length - inB / b.length));
  }
  return most;
}
