// Pauses whose order matters, such as polls that grow further apart, then uploads in a row. Each pace counts which one
// follows it, and how often the session ends instead.
import { atOnceMost } from "../../src/scenario/behaviours/paces.ts";
import { classesIn, classOf, tableOf, toldByBefore } from "./pace-classes.ts";
import type { Sessions } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { addAt, isMemoryless, SortedSample, sumOf } from "./statistics.ts";

export interface FittedPace {
  readonly think: FittedSpread;
  /** Number of such pauses in a row. `null`: `next` decides after each pause whether one more follows. */
  readonly times: FittedSpread | null;
  /** Number of calls at once after the pause. `null`: as many as the worker makes at first. */
  readonly atOnce: FittedSpread | null;
  /** Number of times that each pace came next; last entry: number of times that the session ended. */
  readonly next: readonly number[];
}

/** Fitted paces in the form of `PacesInput`. */
export interface FittedPaces {
  readonly kind: "paces";
  readonly paces: readonly FittedPace[];
  readonly first: readonly number[];
}

/** Returns the paces without ends; a pace that nothing ever followed keeps its end. */
export function withoutEnds({ paces, first, kind }: FittedPaces): FittedPaces {
  const endless = (next: readonly number[]): readonly number[] =>
    next.slice(0, -1).some((count) => count > 0) ? [...next.slice(0, -1), 0] : next;
  return { kind, first, paces: paces.map((pace) => ({ ...pace, next: endless(pace.next) })) };
}

/** Returns the paces of a worker that makes several calls at first, with one call where they say no number. */
export const withOnes = ({ paces, ...others }: FittedPaces): FittedPaces => ({
  ...others,
  paces: paces.map((pace) => ({ ...pace, atOnce: pace.atOnce ?? { kind: "constant", ms: 1 } })),
});

/** Least number of pauses that can show an order. */
const pausesTell = 200;
/** Least share of pauses, beyond chance, that follow another pace than in a random order. */
const orderLeast = 0.1;
/** The same in visits, whose pauses are of several kinds. */
const visitsLeast = 0.01;
/** Largest ratio, either way, between the deviations of predicted and recorded session lengths. */
const spreadMost = 2;

/** Returns the spread of numbers of calls at once, of which a worker has a greatest one; `null` if each is one. */
export const atOnceOf = (sizes: readonly number[]): FittedSpread | null =>
  sizes.every((size) => size === 1)
    ? null
    : spreadOf(
        sizes.map((size) => Math.min(size, atOnceMost)),
        1,
        0,
      );

/**
 * Fits paces to the pauses of sessions; `null` if pauses have no order, or paces do not explain how sessions end.
 * @param visits whether sessions are visits that a time ends: little order tells then, and nothing has to explain ends
 */
export function pacesOf(
  { sessions, pausesMs, sizes }: Sessions,
  slackMs: number,
  visits = false,
): FittedPaces | null {
  if (pausesMs.length < pausesTell) return null;
  const classes = pausesMs.map(classOf);
  let begun = 0;
  const orders = sessions.map(({ spells }) => {
    begun += spells - 1;
    return classes.slice(begun - spells + 1, begun);
  });
  const ends = classesIn(orders);
  if (ends.length < 2) return null;
  const classed = orders.map((order) => order.map((base) => ends.findIndex((end) => base <= end)));
  const least = visits ? visitsLeast : orderLeast;
  if (orderOf(classed, tableOf(classed, ends.length)) <= least) return null;
  const { paced, count } = toldByBefore(classed, ends.length);
  const seenTable = tableOf(paced, count);
  const runs = runsIn(paced, count);
  const told = runs.map((lengths) => visits || !isMemoryless(new SortedSample(lengths)));
  // If some sessions have far longer runs than others, a table alone fits the recording better.
  const way = [told, told.map(() => false)]
    .map((apart) => tabled(seenTable, runs, apart))
    .find(({ table, times }) => visits || endsAsSeen(table, times, paced));
  if (way === undefined) return null;
  const { apart, table } = way;
  const seen = Array.from({ length: count }, () => ({ pausesMs: [] as number[], sizes: [] as number[] }));
  let pause = 0;
  for (const [index, order] of paced.entries())
    for (const pace of order) {
      seen[pace]?.pausesMs.push(pausesMs[pause] as number);
      // A session has one spell more than pauses, namely its first.
      seen[pace]?.sizes.push(sizes[pause + index + 1] as number);
      pause += 1;
    }
  return {
    kind: "paces",
    paces: seen.map(({ pausesMs, sizes }, pace) => ({
      think: spreadOf(pausesMs, 0, slackMs),
      times: apart[pace] === true ? spreadOf(runs[pace] as readonly number[], 1, 0) : null,
      atOnce: atOnceOf(sizes),
      next: table[pace + 1] as readonly number[],
    })),
    first: table[0] as readonly number[],
  };
}

/** Returns a table that counts what follows a whole run, for paces whose run lengths are fitted `apart`. */
function tabled(
  table: readonly (readonly number[])[],
  runs: readonly (readonly number[])[],
  apart: readonly boolean[],
) {
  return {
    apart,
    table: table.map((row, from) =>
      row.map((count, to) => (apart[from - 1] === true && to === from - 1 ? 0 : count)),
    ),
    times: runs.map((lengths, pace) => (apart[pace] === true ? lengths : [1])),
  };
}

/**
 * Returns the share of pauses, beyond chance, that follow another pace than in a random order of each session's own
 * pauses; 0 or less if chance explains all. Sessions that each keep to one pace show no order.
 */
function orderOf(orders: readonly (readonly number[])[], seen: readonly (readonly number[])[]): number {
  const paces = seen.length - 1;
  const usual = seen.map((row) => row.map(() => 0));
  for (const order of orders) {
    const counts = new Array<number>(paces).fill(0);
    for (const pace of order) addAt(counts, pace);
    for (const [to, count] of counts.entries())
      for (const [from, before] of [1, ...counts].entries()) {
        const pairs = count * (from === to + 1 ? before - 1 : before);
        const row = usual[from] as number[];
        row[to] = (row[to] as number) + pairs / Math.max(1, order.length);
      }
  }
  let [apart, all] = [0, 0];
  for (const [from, row] of usual.entries())
    for (const [to, count] of row.slice(0, paces).entries()) {
      apart += Math.abs(count - (seen[from]?.[to] as number)) / 2;
      all += count;
    }
  return apart / all - Math.sqrt((paces * (paces + 1)) / all) / 2;
}

/** Returns the lengths of each pace's runs. */
function runsIn(orders: readonly (readonly number[])[], paces: number): number[][] {
  const runs = Array.from({ length: paces }, (): number[] => []);
  for (const order of orders) {
    let length = 0;
    for (const [place, pace] of order.entries()) {
      length += 1;
      if (order[place + 1] === pace) continue;
      runs[pace]?.push(length);
      length = 0;
    }
  }
  return runs;
}

const areEqual = (some: readonly number[], others: readonly number[]): boolean =>
  some.every((value, place) => value === others[place]);

/** Number of rounds in which `endsAsSeen` sums, per pause of a mean session. */
const rounds = 60;

/**
 * Tells whether recorded numbers of pauses spread like those of sessions that end by the table.
 * @param times lengths of each pace's runs, which the table lacks
 */
function endsAsSeen(
  table: readonly (readonly number[])[],
  times: readonly (readonly number[])[],
  orders: readonly (readonly number[])[],
): boolean {
  const sizes = new SortedSample(orders.map(({ length }) => length));
  const [first = [], ...rest] = table.map((row) => {
    const sum = sumOf(row);
    return row.map((count) => count / Math.max(1, sum));
  });
  const own = times.map((lengths) => new SortedSample(lengths));
  const meanOf = (row: readonly number[], values: readonly number[]): number => {
    let sum = 0;
    for (let to = 0; to < values.length; to++) sum += (row[to] as number) * (values[to] as number);
    return sum;
  };
  // For each pace: the mean number of pauses still to come, and the mean of its square.
  let [means, squares] = [own.map(() => 0), own.map(() => 0)];
  for (let round = 0; round < rounds * (sizes.mean + 1); round++) {
    const before = { means, squares };
    const after = rest.map((row) => meanOf(row, before.means));
    means = own.map(({ mean }, pace) => mean + (after[pace] as number));
    squares = own.map(
      ({ mean, deviation }, pace) =>
        mean * mean +
        deviation * deviation +
        2 * mean * (after[pace] as number) +
        meanOf(rest[pace] as readonly number[], before.squares),
    );
    // What a round did not change, the next ones do not change either.
    if (areEqual(means, before.means) && areEqual(squares, before.squares)) break;
  }
  const deviation = Math.sqrt(Math.max(0, meanOf(first, squares) - meanOf(first, means) ** 2));
  return deviation <= spreadMost * sizes.deviation && sizes.deviation <= spreadMost * deviation;
}
