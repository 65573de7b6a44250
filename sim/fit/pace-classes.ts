// Classes of pauses that say what comes next. Pauses form few classes by length. A class is told apart by the class before
// where that says how it goes on: reads at a session's start are not uploads after polls.
import { pacesMost } from "../../src/scenario/behaviours/paces.ts";
import { ln } from "../../src/scenario/elementary.ts";
import { addAt, sumOf } from "./statistics.ts";

const classesMost = 8;
/** Information on the next class, nats per pause, below which two classes are joined. */
const tellsLeast = 0.01;

/** Middle of each octave of pauses. */
const middlesMs = Array.from({ length: 32 }, (_, octave) => 2 ** octave * Math.SQRT2);

/** Returns a pause's class; each class spans half an octave. */
export function classOf(ms: number): number {
  const whole = Math.min(2 ** 31, Math.max(1, ms));
  const octave = 31 - Math.clz32(whole);
  return 2 * octave + Number(whole >= (middlesMs[octave] as number));
}

/** Counts how often each class follows the start (row 0) and each other class; the last column counts ends. */
export function tableOf(orders: readonly (readonly number[])[], classes: number): number[][] {
  const table = Array.from({ length: classes + 1 }, () => new Array<number>(classes + 1).fill(0));
  for (const order of orders) {
    let row = table[0] as number[];
    for (const place of order) {
      addAt(row, place);
      row = table[place + 1] as number[];
    }
    addAt(row, classes);
  }
  return table;
}

/** Returns each class's last base class. Joins neighbours first whose distinction tells the least of what comes next. */
export function classesIn(orders: readonly (readonly number[])[]): number[] {
  let ends = [...new Set(orders.flat())].sort((a, b) => a - b);
  const places = new Map(ends.map((end, place) => [end, place]));
  let table = tableOf(
    orders.map((order) => order.map((base) => places.get(base) as number)),
    ends.length,
  );
  const all = sumOf(table.flat());
  while (ends.length > 1) {
    let best = { loss: Number.POSITIVE_INFINITY, place: 0 };
    const sums = sumsOf(table);
    for (let place = 0; place + 1 < ends.length; place++) {
      const loss = lossOf(table, sums, place);
      if (loss < best.loss) best = { loss, place };
    }
    // One class more adds parameters, two for each class. Each costs half a logarithm (Schwarz).
    const worth = Math.max(ends.length * ln(all), tellsLeast * all);
    if (ends.length <= classesMost && best.loss > worth) break;
    table = joinedAt(table, best.place);
    ends = ends.filter((_, place) => place !== best.place);
  }
  return ends;
}

/**
 * Tells the runs of each class apart by the class before them, or the session's start, where that says what follows.
 * Returns the pauses as paces, numbered by class.
 */
export function toldByBefore(
  orders: readonly (readonly number[])[],
  classes: number,
): { readonly paced: readonly (readonly number[])[]; readonly count: number } {
  const keyed = orders.map((order) => {
    let before = 0;
    return order.map((place, index) => {
      const last = order[index - 1];
      if (last !== undefined && last !== place) before = last + 1;
      return place * (classes + 1) + before;
    });
  });
  const rows = new Map<number, number[]>();
  for (const [index, order] of orders.entries())
    for (const [at, key] of (keyed[index] as readonly number[]).entries()) {
      const row = rows.get(key) ?? new Array<number>(classes + 1).fill(0);
      addAt(row, order[at + 1] ?? classes);
      rows.set(key, row);
    }
  const all = sumOf(orders.map((order) => order.length + 1));
  // A row more adds a parameter for each class. Each costs half a logarithm (Schwarz).
  for (let worth = Math.max((classes * ln(all)) / 2, tellsLeast * all); ; worth *= 2) {
    const groups = Array.from({ length: classes }, (_, place) =>
      groupsIn(
        [...rows].filter(([key]) => Math.floor(key / (classes + 1)) === place),
        worth,
      ),
    ).flat();
    if (groups.length > Math.max(pacesMost, classes)) continue;
    const paceOf = new Map(groups.flatMap((keys, pace) => keys.map((key) => [key, pace] as const)));
    return {
      paced: keyed.map((order) => order.map((key) => paceOf.get(key) as number)),
      count: groups.length,
    };
  }
}

/** Groups rows of counts by key: joins those whose distinction tells the least, as long as it is not worth a row. */
function groupsIn(rows: readonly (readonly [number, readonly number[]])[], worth: number): number[][] {
  let groups = rows.map(([key, row]) => ({ keys: [key], row }));
  for (;;) {
    let best: { readonly loss: number; readonly a: number; readonly b: number } | null = null;
    for (const [b, { row }] of groups.entries())
      for (const [a, other] of groups.slice(0, b).entries()) {
        const loss = rowLoss(other.row, row);
        if (loss < (best?.loss ?? worth)) best = { loss, a, b };
      }
    if (best === null) return groups.map(({ keys }) => keys);
    const [a, b] = [groups[best.a], groups[best.b]] as [(typeof groups)[number], (typeof groups)[number]];
    const row = a.row.map((count, place) => count + (b.row[place] as number));
    const both = { keys: [...a.keys, ...b.keys], row };
    groups = groups.flatMap((group) => (group === a ? [both] : group === b ? [] : [group]));
  }
}

/** Returns the information that joining two rows loses, nats over all counts. */
const rowLoss = (a: readonly number[], b: readonly number[]): number =>
  joining(sumOf(a), sumOf(b)) - sumOf(a.map((count, place) => joining(count, b[place] as number)));

/** Returns the table with a class and the next one joined. */
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
  rows: table.map(sumOf),
  columns: (table[0] ?? []).map((_, column) => sumOf(table.map((row) => row[column] as number))),
});

/**
 * Returns the information that joining a class and the next one loses, nats over all counts. The table's information,
 * but for a constant, is the sum of n ln n over its cells, less the sums over totals of rows and columns.
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
  loss -= nLogN(sumOf(four)) - sumOf(four.map(nLogN));
  loss += joining(rows[place + 1] as number, rows[place + 2] as number);
  return loss + joining(columns[place] as number, columns[place + 1] as number);
}

const joining = (a: number, b: number): number =>
  a === 0 || b === 0 ? 0 : nLogN(a + b) - nLogN(a) - nLogN(b);
const nLogN = (count: number): number => (count === 0 ? 0 : count * ln(count));
