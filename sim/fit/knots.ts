// Describes a measured distribution by a few of its quantiles (knots), with straight lines in between. Knots stand where
// the lines would otherwise be furthest from the values: few where values lie evenly, many in a long tail. So a tail
// keeps its mean, which even quantiles would make far too great.
import { type SortedSample, sumOf } from "./statistics.ts";

export interface Knots {
  /** Values at the knots, rising, in the unit of the sample. */
  readonly quantiles: readonly number[];
  /** Share of all values up to each of `quantiles`, rising from 0 to 1. */
  readonly shares: readonly number[];
}

const knotsMost = 60;
/** Distance of all lines together from the values at which knots are enough, as a share of the values' sum. */
const closeEnough = 0.002;
/** Number of values above which more would place no knot better. */
const valuesMost = 50_000;

/** Values from one knot to the next, with the sum of their distances from the line, and the place of the greatest. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly off: number;
  readonly split: number;
}

/** @param sample two values or more */
export function knotsOf({ sorted, mean }: SortedSample): Knots {
  const step = Math.ceil(sorted.length / valuesMost);
  // Means of groups are enough, but the largest value is kept, as it carries the tail.
  const values = step === 1 ? sorted : thinned(sorted, step);
  const last = values.length - 1;
  const total = sumOf(values.map((value) => Math.abs(value)));
  const pieces: Piece[] = [pieceOf(values, 0, last)];
  while (pieces.length < knotsMost - 1) {
    if (sumOf(pieces.map(({ off }) => off)) <= closeEnough * total) break;
    const worst = pieces.reduce((first, piece) => (piece.off > first.off ? piece : first));
    const { from, to, split } = worst;
    pieces.splice(pieces.indexOf(worst), 1, pieceOf(values, from, split), pieceOf(values, split, to));
  }
  pieces.sort((a, b) => a.from - b.from);
  const places = [0, ...pieces.map(({ to }) => to)];
  const quantiles = places.map((place) => values[place] as number);
  const shares = places.map((place) => Math.round((place / last) * 1e6) / 1e6);
  return { quantiles: withMean(quantiles, shares, mean), shares };
}

/** Moves the last value until all lines together have the mean: it stands for its neighbours, too. */
function withMean(quantiles: number[], shares: readonly number[], mean: number): number[] {
  const end = quantiles.length - 1;
  let area = 0;
  for (let place = 1; place <= end; place++)
    area +=
      (((shares[place] as number) - (shares[place - 1] as number)) *
        ((quantiles[place] as number) + (quantiles[place - 1] as number))) /
      2;
  const width = (shares[end] as number) - (shares[end - 1] as number);
  const moved = (quantiles[end] as number) + (2 * (mean - area)) / width;
  // A tail of a few values is not made longer than twice the greatest value seen.
  quantiles[end] = Math.min(2 * (quantiles[end] as number), Math.max(quantiles[end - 1] as number, moved));
  return quantiles;
}

function pieceOf(values: Float64Array, from: number, to: number): Piece {
  const [low, high] = [values[from] as number, values[to] as number];
  const slope = (high - low) / Math.max(1, to - from);
  let [off, split, most] = [0, from, 0];
  for (let place = from + 1; place < to; place++) {
    const apart = Math.abs((values[place] as number) - low - slope * (place - from));
    off += apart;
    if (apart <= most) continue;
    most = apart;
    split = place;
  }
  return { from, to, off, split };
}

/** Returns the means of groups of `step` values, so that the mean stays; the least and the largest stay as they are. */
function thinned(sorted: Float64Array, step: number): Float64Array {
  const groups = Math.ceil(sorted.length / step);
  const kept = Float64Array.from({ length: groups }, (_, group) => {
    const part = sorted.subarray(group * step, (group + 1) * step);
    return sumOf(part) / part.length;
  });
  kept[0] = sorted[0] as number;
  kept[groups - 1] = sorted.at(-1) as number;
  return kept;
}
