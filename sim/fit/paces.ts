// Pauses that keep to one another: polls that grow further apart, then uploads in a row. Pauses are put into classes by
// length, as few as tell what comes next; and each class says which comes after it, or that nothing does.
import { ln } from "../../src/scenario/elementary.ts";
import type { Sessions } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { SortedSample } from "./statistics.ts";

export interface FittedPace {
  readonly think: FittedSpread;
  /** Calls at once that follow; `null`: one. */
  readonly atOnce: FittedSpread | null;
  /** Number of times that each pace came next, and that nothing did. */
  readonly next: readonly number[];
}

/** As `PacesInput` has them. */
export interface FittedPaces {
  readonly kind: "paces";
  readonly paces: readonly FittedPace[];
  readonly first: readonly number[];
}

/** Fewer pauses tell of no order. */
const pausesTell = 200;
const classesMost = 8;
/** Classes that tell less than this of what comes next, in nats a pause, are one. */
const tellsLeast = 0.01;
/** Pauses are in order where their pace changes less often than so, beside the same pauses in any order. */
const orderedMost = 0.8;
/** Sessions that end as their paces say spread by up to so many times more or less than those that were seen. */
const spreadMost = 2;

/** Half octaves of a pause. */
function classOf(ms: number): number {
  const whole = Math.min(2 ** 31, Math.max(1, ms));
  const octave = 31 - Math.clz32(whole);
  return 2 * octave + Number(whole >= 2 ** octave * Math.SQRT2);
}

/** The spread of numbers of calls at once; `null` where each is one. */
export const atOnceOf = (sizes: readonly number[]): FittedSpread | null =>
  sizes.every((size) => size === 1) ? null : spreadOf(sizes, 1, 0);

/** Fits paces to the pauses of sessions; `null` where pauses come in no order, or sessions end otherwise. */
export function pacesOf({ sessions, pausesMs, sizes }: Sessions, slackMs: number): FittedPaces | null {
  if (pausesMs.length < pausesTell) return null;
  const classes = pausesMs.map(classOf);
  let begun = 0;
  const orders = sessions.map(({ spells }) => {
    begun += spells - 1;
    return classes.slice(begun - spells + 1, begun);
  });
  const ends = classesIn(orders);
  const count = ends.length;
  if (count < 2) return null;
  const paceOf = (base: number): number => ends.findIndex((end) => base <= end);
  const paced = orders.map((order) => order.map(paceOf));
  const table = tableOf(paced, count);
  if (!areOrdered(paced) || !endsAsSeen(table, paced)) return null;
  const seen = Array.from({ length: count }, () => ({ pausesMs: [] as number[], sizes: [] as number[] }));
  let pause = 0;
  for (const [index, order] of paced.entries())
    for (const pace of order) {
      seen[pace]?.pausesMs.push(pausesMs[pause] as number);
      // Of each session one spell more than pauses: the first.
      seen[pace]?.sizes.push(sizes[pause + index + 1] as number);
      pause += 1;
    }
  return {
    kind: "paces",
    paces: seen.map(({ pausesMs, sizes }, pace) => ({
      think: spreadOf(pausesMs, 0, slackMs),
      atOnce: atOnceOf(sizes),
      next: table[pace + 1] as readonly number[],
    })),
    first: table[0] as readonly number[],
  };
}

/** Tells whether the order of a session's pauses is no chance. Sessions that are each of a pace of their own show no order. */
function areOrdered(orders: readonly (readonly number[])[]): boolean {
  let [changes, usual] = [0, 0];
  for (const order of orders) {
    if (order.length < 2) continue;
    const counts = new Map<number, number>();
    for (const pace of order) counts.set(pace, (counts.get(pace) ?? 0) + 1);
    const alike = [...counts.values()].reduce((sum, count) => sum + count * (count - 1), 0);
    usual += order.length - 1 - alike / order.length;
    changes += order.filter((pace, place) => place > 0 && pace !== order[place - 1]).length;
  }
  return changes < orderedMost * usual;
}

/** Number of times that each class comes after the start (row 0) and after each class; last column: that none does. */
function tableOf(orders: readonly (readonly number[])[], classes: number): number[][] {
  const table = Array.from({ length: classes + 1 }, () => new Array<number>(classes + 1).fill(0));
  for (const order of orders) {
    let row = table[0] as number[];
    for (const place of order) {
      row[place] = (row[place] as number) + 1;
      row = table[place + 1] as number[];
    }
    row[classes] = (row[classes] as number) + 1;
  }
  return table;
}

/** The last base class of each class: neighbours are joined, those first that tell the least apart of what comes next. */
function classesIn(orders: readonly (readonly number[])[]): number[] {
  let ends = [...new Set(orders.flat())].sort((a, b) => a - b);
  const places = new Map(ends.map((end, place) => [end, place]));
  let table = tableOf(
    orders.map((order) => order.map((base) => places.get(base) as number)),
    ends.length,
  );
  const all = table.flat().reduce((sum, count) => sum + count, 0);
  while (ends.length > 1) {
    let best = { loss: Number.POSITIVE_INFINITY, place: 0 };
    const sums = sumsOf(table);
    for (let place = 0; place + 1 < ends.length; place++) {
      const loss = lossOf(table, sums, place);
      if (loss < best.loss) best = { loss, place };
    }
    // A class more has twice as many numbers as there are classes: each costs half a logarithm (Schwarz).
    const worth = Math.max(ends.length * ln(all), tellsLeast * all);
    if (ends.length <= classesMost && best.loss > worth) break;
    table = joinedAt(table, best.place);
    ends = ends.filter((_, place) => place !== best.place);
  }
  return ends;
}

/** The table with a class and the next one as one. */
function joinedAt(table: readonly (readonly number[])[], place: number): number[][] {
  const joined = <Value>(
    values: readonly Value[],
    at: number,
    both: (a: Value, b: Value) => Value,
  ): Value[] => [
    ...values.slice(0, at),
    both(values[at] as Value, values[at + 1] as Value),
    ...values.slice(at + 2),
  ];
  const columns = table.map((row) => joined(row, place, (a, b) => a + b));
  return joined(columns, place + 1, (a, b) => a.map((count, column) => count + (b[column] as number)));
}

interface Sums {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
}

const sumsOf = (table: readonly (readonly number[])[]): Sums => ({
  rows: table.map((row) => row.reduce((sum, count) => sum + count, 0)),
  columns: (table[0] ?? []).map((_, column) => table.reduce((sum, row) => sum + (row[column] as number), 0)),
});

/**
 * Returns the information that is lost once a class and the next one are one, in nats of all counts together. Rows tell
 * of columns the sum of n ln n over all cells, less those over sums of rows and of columns.
 */
function lossOf(table: readonly (readonly number[])[], { rows, columns }: Sums, place: number): number {
  const [up, down] = [table[place + 1], table[place + 2]] as [readonly number[], readonly number[]];
  let loss = 0;
  for (const [index, row] of table.entries())
    if (index !== place + 1 && index !== place + 2)
      loss -= joining(row[place] as number, row[place + 1] as number);
  for (const [column, count] of up.entries())
    if (column !== place && column !== place + 1) loss -= joining(count, down[column] as number);
  const four = [up[place], up[place + 1], down[place], down[place + 1]] as number[];
  loss -=
    nLogN(four.reduce((sum, count) => sum + count, 0)) - four.reduce((sum, count) => sum + nLogN(count), 0);
  loss += joining(rows[place + 1] as number, rows[place + 2] as number);
  return loss + joining(columns[place] as number, columns[place + 1] as number);
}

const joining = (a: number, b: number): number =>
  a === 0 || b === 0 ? 0 : nLogN(a + b) - nLogN(a) - nLogN(b);
const nLogN = (count: number): number => (count === 0 ? 0 : count * ln(count));

/** Steps of a session at most, as many times the mean. */
const longest = 60;

/** Tells whether the numbers of pauses spread as those of sessions do that end as the table says. */
function endsAsSeen(table: readonly (readonly number[])[], orders: readonly (readonly number[])[]): boolean {
  const sizes = new SortedSample(orders.map(({ length }) => length));
  const shares = table.map((row) => {
    const sum = row.reduce((all, count) => all + count, 0);
    return row.map((count) => count / Math.max(1, sum));
  });
  const count = table.length - 1;
  const [first = [], ...rest] = shares;
  let [left, mean, squares] = [first, 0, 0];
  for (let step = 0; step < longest * (sizes.mean + 1); step++) {
    const ends = left[count] as number;
    mean += ends * step;
    squares += ends * step * step;
    const now = left;
    left = first.map((_, to) =>
      rest.reduce((sum, row, from) => sum + (now[from] as number) * (row[to] as number), 0),
    );
  }
  const deviation = Math.sqrt(Math.max(0, squares - mean * mean));
  return deviation <= spreadMost * sizes.deviation && sizes.deviation <= spreadMost * deviation;
}
