// The certainty of a few runs: exact intervals for shares, Student's for means. Both need the incomplete beta function,
// built on an exponential and a logarithm with the same bits everywhere.
import { exp, ln } from "../scenario/elementary.ts";
import type { Interval } from "../summary/plan-result.ts";

/** Lanczos' approximation with g = 7, nine terms: P. Godfrey's coefficients (2001), good to 15 digits. */
const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
];

/** Returns ln of the gamma function, for x >= 1/2. */
function lnGamma(x: number): number {
  let sum = 0.9999999999998099;
  for (const [index, coefficient] of lanczos.entries()) sum += coefficient / (x + index);
  const t = x + 6.5;
  return 0.9189385332046727 + (x - 0.5) * ln(t) - t + ln(sum);
}

/**
 * Returns the regularized incomplete beta function I_x(a, b) as a function of x: the chance that a Beta(a, b) variable
 * is at most x. It computes the continued fraction DLMF 8.17.22 by Lentz's method, as in Numerical Recipes (3rd ed.)
 * §6.4. That converges fast below the mean; above it I_x(a, b) = 1 - I_{1-x}(b, a) is used.
 */
export function incompleteBeta(a: number, b: number): (x: number) => number {
  const [whole, ofA, ofB] = [lnGamma(a + b), lnGamma(a), lnGamma(b)];
  const below = (x: number, p: number, q: number, lnScale: number): number =>
    exp(lnScale + p * ln(x) + q * ln(1 - x)) / p / betaFraction(x, p, q);
  return (x) => {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    return x > (a + 1) / (a + b + 2)
      ? 1 - below(1 - x, b, a, whole - ofB - ofA)
      : below(x, a, b, whole - ofA - ofB);
  };
}

const tiny = 1e-300;
const termsMost = 10_000;

function betaFraction(x: number, a: number, b: number): number {
  const bounded = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / bounded(1 - ((a + b) * x) / (a + 1));
  let product = d;
  for (let m = 1; m < termsMost; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / bounded(1 + even * d);
    c = bounded(1 + even / c);
    product *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / bounded(1 + odd * d);
    c = bounded(1 + odd / c);
    product *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return 1 / product;
}

/** Returns the x at which I_x(a, b) is `share`. 60 halvings of [0, 1] leave less than a double can tell. */
function betaQuantile(share: number, a: number, b: number): number {
  const chance = incompleteBeta(a, b);
  let low = 0;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (chance(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Returns the exact interval for a share that was seen `k` times in `n`. It covers the true share in at least
 * `confidence` of all samples, whatever the share is. C. J. Clopper and E. S. Pearson, Biometrika 26 (1934); in beta
 * quantiles as in Brown, Cai and DasGupta, Statistical Science 16 (2001), §4.2.1.
 * @param k from 0 to n
 * @param confidence between 0 and 1
 */
export function clopperPearson(k: number, n: number, confidence: number): Interval {
  const tail = (1 - confidence) / 2;
  return {
    low: k === 0 ? 0 : betaQuantile(tail, k, n - k + 1),
    high: k === n ? 1 : betaQuantile(1 - tail, k + 1, n - k),
  };
}

/**
 * Returns Student's t: the value that a t variable of `freedom` degrees stays below with chance `share`, from 1/2.
 * P(|T| > t) = I_x(f/2, 1/2) with x = f / (f + t^2): Abramowitz and Stegun 26.7.1 and 26.5.27.
 */
export function studentQuantile(share: number, freedom: number): number {
  if (share === 0.5) return 0;
  const x = betaQuantile(2 * (1 - share), freedom / 2, 0.5);
  return Math.sqrt((freedom * (1 - x)) / x);
}

/** Returns a mean and Student's interval for it, which assumes draws of one normal variable. */
export function meanOf(
  values: readonly number[],
  confidence: number,
): { readonly mean: number | null; readonly interval: Interval | null } {
  const n = values.length;
  const [first] = values;
  if (first === undefined) return { mean: null, interval: null };
  // A sum of equal values is rounded, but their mean is exactly that value.
  if (values.every((value) => value === first))
    return { mean: first, interval: n < 2 ? null : { low: first, high: first } };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.map((value) => value - mean).reduce((sum, beside) => sum + beside * beside, 0);
  const half = studentQuantile((1 + confidence) / 2, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, interval: { low: mean - half, high: mean + half } };
}
