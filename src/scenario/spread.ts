// The spread of a length of time over its draws: constant, uniform, lognormal, or as measured. All draws are whole
// milliseconds, with the same bits on every machine.
import { counted } from "../rules/words.ts";
import { exp, ln } from "./elementary.ts";
import { type Duration, type DurationSpan, longestMs, type Mistakes, type MsSpan } from "./mistakes.ts";
import { normalQuantile } from "./normal.ts";
import { between, next32, type RandomState } from "./random.ts";

/**
 * Lognormal spread, which fits most times over networks and through queues. Half of all draws are at most `median`, 95
 * % at most `p95`, and few are very long.
 */
export interface LognormalInput {
  readonly median: Duration;
  /** Longer than `median`. */
  readonly p95: Duration;
}

/**
 * Measured spread: the values at equal shares of all, ascending, from the shortest to the longest; 2 to 10,001 of them.
 * Five values are those at 0 %, 25 %, 50 %, 75 % and 100 %, with straight lines in between.
 */
export interface QuantilesInput {
  readonly quantiles: readonly Duration[];
  /** Share of all draws up to each of `quantiles`: as many, rising from 0 to 1. Default: equal steps. */
  readonly shares?: readonly number[];
}

/** A constant, uniform from `least` to `most`, lognormal by `median` and `p95`, or empirical by `quantiles`. */
export type SpreadInput = DurationSpan | LognormalInput | QuantilesInput;

/** Lognormal spread in whole milliseconds: exp(mu + sigma z) of a normal z, rounded. */
export interface Lognormal {
  readonly shape: "lognormal";
  readonly mu: number;
  readonly sigma: number;
  /** Bounds of all draws, whatever the formula gives. */
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Whole milliseconds at rising shares, ascending. */
export interface Quantiles {
  readonly shape: "quantiles";
  readonly quantilesMs: readonly number[];
  /** `null` for equal steps. */
  readonly shares: readonly number[] | null;
}

/** A spread, checked. An `MsSpan` is uniform over its whole milliseconds. */
export type Spread = MsSpan | Lognormal | Quantiles;

const quantilesMost = 10_001;
const z95 = normalQuantile(0.95);

/** Bounds of draws, ms. */
interface Bounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Checks a spread and adds what is wrong to `mistakes`. All draws lie within `leastMs` and `mostMs`. */
export function parseSpread(
  path: string,
  value: unknown,
  mistakes: Mistakes,
  leastMs = 0,
  mostMs = longestMs,
): Spread {
  const bounds = { leastMs, mostMs };
  if (typeof value === "object" && value !== null) {
    if ("median" in value || "p95" in value) return parseLognormal(path, value, mistakes, bounds);
    if ("quantiles" in value) return parseQuantiles(path, value, mistakes, bounds);
    if (!("least" in value || "most" in value)) {
      mistakes.add(path, value, "a time, {least, most}, {median, p95} or {quantiles: [...]}");
      return { least: leastMs, most: leastMs };
    }
  }
  return mistakes.span(path, value, leastMs, mostMs);
}

function parseLognormal(path: string, value: object, mistakes: Mistakes, bounds: Bounds): Spread {
  const { leastMs, mostMs } = bounds;
  if (!mistakes.members(path, value, ["median", "p95"])) return { least: leastMs, most: leastMs };
  const median = mistakes.duration(`${path}.median`, value["median"], Math.max(1, leastMs), mostMs);
  const p95 = mistakes.duration(`${path}.p95`, value["p95"], 1, mostMs);
  if (p95 <= median && value["p95"] !== undefined)
    mistakes.add(`${path}.p95`, value["p95"], `longer than ${path}.median`);
  const mu = ln(median);
  return { shape: "lognormal", mu, sigma: (ln(p95) - mu) / z95, ...bounds };
}

function parseQuantiles(path: string, value: object, mistakes: Mistakes, bounds: Bounds): Spread {
  const { leastMs, mostMs } = bounds;
  const otherwise = { least: leastMs, most: leastMs };
  if (!mistakes.members(path, value, ["quantiles", "shares"])) return otherwise;
  const list = value["quantiles"];
  if (!Array.isArray(list) || list.length < 2 || list.length > quantilesMost) {
    mistakes.add(
      `${path}.quantiles`,
      Array.isArray(list) ? counted(list.length, "value") : list,
      `a list of 2 to ${quantilesMost} times, ascending`,
    );
    return otherwise;
  }
  const quantilesMs = list.map((each: unknown, index) =>
    mistakes.duration(`${path}.quantiles.${index}`, each, leastMs, mostMs),
  );
  const falls = quantilesMs.findIndex((ms, index) => ms < (quantilesMs[index - 1] ?? 0));
  if (falls >= 0)
    mistakes.add(
      `${path}.quantiles.${falls}`,
      list[falls],
      `no less than the one before: they are in ascending order`,
    );
  return { shape: "quantiles", quantilesMs, shares: sharesOf(path, value["shares"], list.length, mistakes) };
}

function sharesOf(path: string, value: unknown, count: number, mistakes: Mistakes): readonly number[] | null {
  if (value === undefined) return null;
  const isShare = (each: unknown, index: number, all: readonly unknown[]): boolean =>
    typeof each === "number" && (index === 0 ? each === 0 : each > (all[index - 1] as number));
  if (Array.isArray(value) && value.length === count && value.every(isShare) && value.at(-1) === 1)
    return value;
  mistakes.add(`${path}.shares`, value, `${count} rising numbers from 0 to 1, one for each of quantiles`);
  return null;
}

/** Draws a time in whole milliseconds. Nothing is drawn if there is no choice. */
export function drawSpread(random: RandomState, spread: Spread): number {
  if (!("shape" in spread)) {
    const { least, most } = spread;
    return least === most ? least : between(random, least, most);
  }
  // The middle of one of 2^32 parts, so that neither end is ever reached.
  const share = (next32(random) + 0.5) / 4_294_967_296;
  return spread.shape === "lognormal" ? lognormalAt(spread, share) : quantileAt(spread, share);
}

function lognormalAt({ mu, sigma, leastMs, mostMs }: Lognormal, share: number): number {
  const ms = Math.round(exp(mu + sigma * normalQuantile(share)));
  return Math.min(mostMs, Math.max(leastMs, ms));
}

function quantileAt({ quantilesMs, shares }: Quantiles, share: number): number {
  if (shares !== null) return quantileBetween(quantilesMs, shares, share);
  const place = share * (quantilesMs.length - 1);
  const index = Math.floor(place);
  const from = quantilesMs[index] as number;
  const to = quantilesMs[index + 1] as number;
  return Math.round(from + (place - index) * (to - from));
}

function quantileBetween(quantilesMs: readonly number[], shares: readonly number[], share: number): number {
  let [low, high] = [0, shares.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((shares[middle] as number) <= share) low = middle;
    else high = middle;
  }
  const [from, to] = [quantilesMs[low] as number, quantilesMs[high] as number];
  const [fromShare, toShare] = [shares[low] as number, shares[high] as number];
  return Math.round(from + ((share - fromShare) / (toShare - fromShare)) * (to - from));
}

/** Returns a spread in words for people: `2 to 8 ms`. */
export function describeSpread(spread: Spread): string {
  if (!("shape" in spread))
    return spread.least === spread.most ? `${spread.least} ms` : `${spread.least} to ${spread.most} ms`;
  if (spread.shape === "quantiles") {
    const at = (share: number): number => quantileAt(spread, share);
    return `${at(0)} to ${at(1 - 2 ** -33)} ms, ${at(0.5)} ms in the middle`;
  }
  const { mu, sigma } = spread;
  return `${Math.round(exp(mu))} ms in the middle, 95 % within ${Math.round(exp(mu + sigma * z95))} ms`;
}
