// The normal distribution's quantile with the same bits everywhere: M. J. Wichura, Algorithm AS 241 (PPND16), Applied
// Statistics 37 (1988), 477-484. Its rational functions are right to about 16 digits; the coefficients here are their
// nearest doubles. The third of them, for shares below 1.4e-11, is left out.
import { ln } from "./elementary.ts";

/** Coefficients, the constant first. */
type Polynomial = readonly number[];

const middle: readonly [Polynomial, Polynomial] = [
  [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
    67265.7709270087, 33430.57558358813, 2509.0809287301227,
  ],
  [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
];
const tail: readonly [Polynomial, Polynomial] = [
  [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
];
/**
 * Returns the point below which a share of all values lies, in standard deviations from the mean.
 * @param share from 1.4e-11 to 1 - 1.4e-11: nothing here draws a share nearer to 0 or 1 than 2^-33
 */
export function normalQuantile(share: number): number {
  const distance = share - 0.5;
  if (Math.abs(distance) <= 0.425) return distance * ratio(middle, 0.180625 - distance * distance);
  const r = Math.sqrt(-ln(Math.min(share, 1 - share)));
  const size = ratio(tail, r - 1.6);
  return distance < 0 ? -size : size;
}

function ratio([numerator, denominator]: readonly [Polynomial, Polynomial], x: number): number {
  let [above, below] = [0, 0];
  for (let power = numerator.length - 1; power >= 0; power--) {
    above = above * x + (numerator[power] as number);
    below = below * x + (denominator[power] as number);
  }
  return above / below;
}
