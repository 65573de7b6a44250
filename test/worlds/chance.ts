// Random numbers of the worlds: a small generator of their own, and the distributions that their descriptions name.

export interface Chance {
  /** Returns a number from 0 to 1, excluding 1. */
  next(): number;
  between(low: number, high: number): number;
  /** Returns a number whose logarithm is normally distributed. */
  lognormal(median: number, sigma: number): number;
  /** Returns a number of at least `least`, whose tail falls as `x ** -alpha`. */
  pareto(least: number, alpha: number): number;
  exponential(mean: number): number;
  /** Returns a number of events, `mean` on average. */
  poisson(mean: number): number;
}

/** Returns a generator (mulberry32) seeded with these numbers. */
export function chanceOf(...seeds: readonly number[]): Chance {
  let state = 0x9e3779b9;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (const seed of seeds) {
    state = Math.imul(state ^ seed, 0x85ebca6b);
    state = Math.floor(next() * 2 ** 32) | 0;
  }
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const exponential = (mean: number): number => -mean * Math.log(1 - next());
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    lognormal: (median, sigma) => median * Math.exp(sigma * normal()),
    pareto: (least, alpha) => least * (1 - next()) ** (-1 / alpha),
    exponential,
    poisson: (mean) => {
      let events = 0;
      for (let sum = exponential(1); sum < mean; sum += exponential(1)) events += 1;
      return events;
    },
  };
}

/** Returns one of some values, each as likely as the others. */
export const pick = <Value>(chance: Chance, of: readonly Value[]): Value =>
  of[Math.floor(chance.next() * of.length)] as Value;

/** Returns a whole number between two, these included. */
export const whole = (chance: Chance, least: number, most: number): number =>
  Math.floor(chance.between(least, most + 1));
