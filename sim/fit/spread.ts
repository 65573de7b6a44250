// The spread of lengths of time: the simplest one that scenarios can express and the measured values do not contradict.
import { exp, ln } from "../../src/scenario/elementary.ts";
import { normalQuantile } from "../../src/scenario/normal.ts";
import { knotsOf } from "./knots.ts";
import { roundestWithin, SortedSample } from "./statistics.ts";

/** Span of whole ms, both ends included. */
export interface FittedSpan {
  readonly least: number;
  readonly most: number;
}

/** Spread in the forms of `SpreadInput`, in whole ms. */
export type FittedSpread =
  | { readonly kind: "constant"; readonly ms: number }
  | { readonly kind: "uniform"; readonly least: number; readonly most: number }
  | { readonly kind: "lognormal"; readonly median: number; readonly p95: number }
  /** Values at rising shares of all, from 0 to 1. */
  | { readonly kind: "quantiles"; readonly quantiles: readonly number[]; readonly shares: readonly number[] };

/** Distance of a sample's shares that one in a hundred exceeds, times the root of its size (Kolmogorov). */
const kolmogorov99 = 1.63;
const z95 = normalQuantile(0.95);

/**
 * Returns the span of uniform draws, rounded, with both ends a little beyond the values. At either end, n draws leave
 * free about the n-th part of the span. They leave 4.6 times that in one case of a hundred (e^-4.6 is 1%).
 */
export const spanOf = (values: readonly number[], slackMs: number): FittedSpan =>
  spanOfSample(new SortedSample(values), slackMs);

function spanOfSample(sample: SortedSample, slackMs: number): FittedSpan {
  // One value in a hundred may be an outlier, so an extreme counts only if it is near the rest.
  const [inner, outer] = [sample.quantile(0.01), sample.quantile(0.99)];
  const near = (0.03 + 5 / (sample.count + 1)) * (outer - inner) + slackMs;
  const low = inner - sample.least <= near ? sample.least : inner;
  const high = sample.most - outer <= near ? sample.most : outer;
  const room = (4.6 * (high - low)) / (sample.count + 1) + slackMs;
  if (high - low <= 2 * slackMs) {
    const least = roundestWithin(Math.max(0, high - slackMs), Math.max(0, low + slackMs));
    return { least, most: least };
  }
  return {
    least: roundestWithin(Math.max(0, low - room), Math.max(0, low)),
    most: roundestWithin(high, high + room),
  };
}

const fewValues = 20;

/**
 * Fits the simplest spread to values.
 * @param leastMs least length of a draw, ms
 * @param slackMs difference without meaning, ms
 */
export function spreadOf(values: readonly number[], leastMs: number, slackMs: number): FittedSpread {
  const sample = new SortedSample(values);
  const spread = simplestOf(sample, leastMs, slackMs);
  // The ends of few values are guesses, but their mean is not.
  if (sample.count >= fewValues) return spread;
  const kept = withMean(spread, sample.mean);
  return kept.kind === "uniform" ? { ...kept, least: Math.max(leastMs, kept.least) } : kept;
}

/** As `kolmogorov99`, for exponential values and their own mean (Lilliefors). */
const lilliefors99 = 1.31;

/**
 * Fits absences. A few that chance may end, at the same rate at any time, are taken for such; others have the simplest
 * spread. The mean is kept in any case: it says how often callers come.
 */
export function absencesOf(values: readonly number[]): FittedSpread {
  const sample = new SortedSample(values);
  const endOf = (share: number): number => -sample.mean * ln(1 - share);
  const off = distance(sample, endOf, 1_000) * Math.sqrt(sample.count);
  return sample.count < fewValues && off <= lilliefors99
    ? measured(new SortedSample(Array.from({ length: 500 }, (_, place) => endOf((place + 0.5) / 500))), 0)
    : withMean(spreadOf(values, 0, 1_000), sample.mean);
}

function simplestOf(sample: SortedSample, leastMs: number, slackMs: number): FittedSpread {
  const shift = (ms: number): number => Math.max(leastMs, ms);
  if (sample.count === 0) return { kind: "constant", ms: leastMs };
  const [low, high] = [sample.quantile(0.05), sample.quantile(0.95)];
  // One long value among a hundred short ones may be most of the time, so the mean must fit, too.
  if (high - low <= slackMs && sample.mean >= low - slackMs && sample.mean <= high + slackMs) {
    const doubt = Math.min(slackMs / 2, Math.max(1, 0.02 * sample.mean));
    return {
      kind: "constant",
      ms: shift(roundestWithin(sample.mean - doubt, sample.mean + doubt)),
    };
  }
  const allowed = kolmogorov99 / Math.sqrt(sample.count);
  const { least, most } = spanOfSample(sample, 0);
  const uniform = { kind: "uniform", least: shift(least), most: Math.max(shift(least) + 1, most) } as const;
  const width = uniform.most - uniform.least;
  if (
    keepsMean(sample, uniform.least + width / 2, width / Math.sqrt(12), slackMs) &&
    distance(sample, (share) => uniform.least + share * width, slackMs) <= allowed
  )
    return uniform;
  const lognormal = lognormalOf(sample);
  if (
    exp(lognormal.mu + lognormal.sigma * z95) <= tailMost * sample.most &&
    keepsMean(sample, ...lognormalMoments(lognormal), slackMs) &&
    distance(sample, (share) => exp(lognormal.mu + lognormal.sigma * normalQuantile(share)), slackMs) <=
      allowed
  ) {
    const median = Math.max(1, shift(Math.round(exp(lognormal.mu))));
    const p95 = Math.max(median + 1, Math.round(exp(lognormal.mu + lognormal.sigma * z95)));
    return { kind: "lognormal", median, p95 };
  }
  return measured(sample, leastMs);
}

function measured(sample: SortedSample, leastMs: number): FittedSpread {
  const { quantiles, shares } = knotsOf(sample);
  return { kind: "quantiles", quantiles: quantiles.map((ms) => Math.round(Math.max(leastMs, ms))), shares };
}

/** Ratio of a lognormal's 95th percentile to the longest value above which its tail is a guess. */
const tailMost = 3;

/**
 * Tells whether chance explains the difference between the means of values and distribution. A tail of one value in a
 * hundred hardly shows in shares, but may be most of the time.
 */
const keepsMean = (sample: SortedSample, mean: number, deviation: number, slackMs: number): boolean =>
  Math.abs(sample.mean - mean) <= slackMs + 0.01 * mean + (3 * deviation) / Math.sqrt(sample.count);

/** Returns the spread in whole ms, scaled to a mean; constants and measured quantiles stay as they are. */
export function withMean(spread: FittedSpread, mean: number): FittedSpread {
  const own =
    spread.kind === "uniform"
      ? (spread.least + spread.most) / 2
      : spread.kind === "lognormal"
        ? lognormalMoments({ mu: ln(spread.median), sigma: ln(spread.p95 / spread.median) / z95 })[0]
        : mean;
  const scaled = (ms: number): number => Math.round((ms * mean) / Math.max(1, own));
  if (spread.kind === "uniform") {
    const least = scaled(spread.least);
    return { ...spread, least, most: Math.max(least + 1, scaled(spread.most)) };
  }
  if (spread.kind !== "lognormal") return spread;
  const median = Math.max(1, scaled(spread.median));
  return { ...spread, median, p95: Math.max(median + 1, scaled(spread.p95)) };
}

/** Returns the mean and the standard deviation of a lognormal distribution. */
function lognormalMoments({ mu, sigma }: { mu: number; sigma: number }): [number, number] {
  const mean = exp(mu + (sigma * sigma) / 2);
  return [mean, mean * Math.sqrt(exp(sigma * sigma) - 1)];
}

/**
 * Returns the largest difference between the shares of values and of a distribution, whose quantiles `endOf` returns.
 * Points closer than `slackMs` count as equal.
 */
function distance(sample: SortedSample, endOf: (share: number) => number, slackMs: number): number {
  let worst = 0;
  for (let part = 1; part < 50; part++) {
    const share = part / 50;
    const end = endOf(share);
    const below = shareUpTo(sample, end + slackMs / 2);
    const above = shareUpTo(sample, end - slackMs / 2);
    worst = Math.max(worst, share - below, above - share);
  }
  return worst;
}

function shareUpTo({ sorted }: SortedSample, end: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= end) low = middle + 1;
    else high = middle;
  }
  return low / sorted.length;
}

/** Fits a lognormal by mean and deviation of the logarithms: NaN, which fits nothing, if a value has none. */
function lognormalOf(sample: SortedSample): { readonly mu: number; readonly sigma: number } {
  let [sum, squares] = [0, 0];
  for (const value of sample.sorted) {
    const logarithm = ln(value);
    sum += logarithm;
    squares += logarithm * logarithm;
  }
  const mu = sum / sample.count;
  return { mu, sigma: Math.sqrt(Math.max(0, squares - sum * mu) / (sample.count - 1)) };
}
