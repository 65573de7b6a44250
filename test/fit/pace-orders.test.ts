// Paces of drawn sessions against a slow form: each pair of pauses counted, and ends by linear equations.
import fc from "fast-check";
import { expect, test } from "vitest";
import { classesIn, classOf, tableOf, toldByBefore } from "../../sim/fit/pace-classes.ts";
import { pacesOf } from "../../sim/fit/paces.ts";
import type { Sessions } from "../../sim/fit/sessions.ts";
import { spreadOf } from "../../sim/fit/spread.ts";
import { isMemoryless, SortedSample } from "../../sim/fit/statistics.ts";
import { seededRandom } from "../../src/faults/random.ts";

const slackMs = 5;
type Orders = readonly (readonly number[])[];
type Matrix = readonly (readonly number[])[];
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Sessions of these pauses, ms; the place of a call in all of them says how many calls it is at once. */
function sessionsOf(orders: Orders, atOnce: (place: number) => number): Sessions {
  const sessions = orders.map(({ length }) => ({
    ...{ startMs: 0, endMs: 1, lastMs: 1, jobs: length + 1, spells: length + 1 },
  }));
  const sizes = Array.from({ length: sum(sessions.map(({ spells }) => spells)) }, (_, place) =>
    atOnce(place),
  );
  return { sessions, pausesMs: orders.flat(), sizes, gapsMs: [] };
}

/** The share of pauses that follow another one than by chance: any two pauses of a session of n are next to each other in one order of n. */
function shareByOrder(orders: Orders, paces: number): number {
  const beyond = Array.from({ length: paces + 1 }, () => new Array<number>(paces).fill(0));
  const add = (from: number, to: number, count: number): void => {
    const row = beyond[from] as number[];
    row[to] = (row[to] as number) + count;
  };
  for (const order of orders)
    for (const [place, to] of order.entries()) {
      add(0, to, 1 / order.length);
      add(place === 0 ? 0 : (order[place - 1] as number) + 1, to, -1);
      for (const [other, from] of order.entries()) if (other !== place) add(from + 1, to, 1 / order.length);
    }
  const pauses = orders.flat().length;
  const chance = Math.sqrt((paces * (paces + 1)) / pauses) / 2;
  return sum(beyond.flat().map(Math.abs)) / 2 / pauses - chance;
}

/** Solves (1 - matrix) x = values by elimination. */
function solved(matrix: Matrix, values: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [
    ...row.map((value, column) => (at === column ? 1 : 0) - value),
    values[at] as number,
  ]);
  for (const [at, pivot] of rows.entries())
    for (const [other, row] of rows.entries()) {
      const factor = (row[at] as number) / (pivot[at] as number);
      if (other !== at)
        for (const [column, value] of pivot.entries()) row[column] = (row[column] as number) - factor * value;
    }
  return rows.map((row, at) => (row.at(-1) as number) / (row[at] as number));
}
const dot = (one: readonly number[], other: readonly number[]): number =>
  sum(other.map((value, place) => (one[place] as number) * value));

/** Standard deviation of the number of pauses of a session, by moments of what is still to come at each pace. */
function deviationBy(table: Matrix, times: Matrix): number {
  const [first = [], ...rest] = table.map((row) => row.map((count) => count / Math.max(1, sum(row))));
  const square = rest.map((row) => row.slice(0, -1));
  const means = times.map((lengths) => sum(lengths) / lengths.length);
  const squares = times.map((lengths, pace) => {
    const variance =
      sum(lengths.map((each) => (each - (means[pace] as number)) ** 2)) / Math.max(1, lengths.length - 1);
    return (means[pace] as number) ** 2 + variance;
  });
  const toCome = solved(square, means);
  const squaresToCome = solved(
    square,
    squares.map((each, pace) => each + 2 * (means[pace] as number) * dot(square[pace] as number[], toCome)),
  );
  return Math.sqrt(Math.max(0, dot(first, squaresToCome) - dot(first, toCome) ** 2));
}

const runsOf = (orders: Orders, pace: number): number[] =>
  orders.flatMap((order) =>
    order
      .map((each) => (each === pace ? "x" : " "))
      .join("")
      .split(" ")
      .flatMap(({ length }) => (length === 0 ? [] : [length])),
  );

/** The same as `pacesOf`, slowly. */
function slowly(orders: Orders, sizes: readonly number[], visits: boolean): unknown {
  const ends = classesIn(orders.map((order) => order.map(classOf)));
  if (ends.length < 2) return null;
  const classed = orders.map((order) => order.map((ms) => ends.findIndex((end) => classOf(ms) <= end)));
  if (shareByOrder(classed, ends.length) <= (visits ? 0.01 : 0.1)) return null;
  const { paced, count } = toldByBefore(classed, ends.length);
  const paces = Array.from({ length: count }, (_, pace) => pace);
  const runs = paces.map((pace) => runsOf(paced, pace));
  const seen = new SortedSample(orders.map(({ length }) => length)).deviation;
  const ways = [
    runs.map((lengths) => visits || !isMemoryless(new SortedSample(lengths))),
    paces.map(() => false),
  ];
  for (const apart of ways) {
    const table = tableOf(paced, count).map((row, from) =>
      row.map((each, to) => (from === to + 1 && apart[to] === true ? 0 : each)),
    );
    const deviation = deviationBy(
      table,
      runs.map((lengths, pace) => (apart[pace] === true ? lengths : [1])),
    );
    if (!visits && (deviation > 2 * seen || seen > 2 * deviation)) continue;
    const pauses = paced.flatMap((order, index) =>
      order.map((pace, place) => ({ pace, ms: orders[index]?.[place] as number, index })),
    );
    return {
      kind: "paces",
      first: table[0],
      paces: paces.map((pace) => {
        const own = pauses.flatMap((each, place) => (each.pace === pace ? [{ ...each, place }] : []));
        // A session has a first call that no pause comes before.
        const calls = own.map(({ place, index }) => sizes[place + index + 1] as number);
        return {
          think: spreadOf(
            own.map(({ ms }) => ms),
            0,
            slackMs,
          ),
          times: apart[pace] === true ? spreadOf(runs[pace] as number[], 1, 0) : null,
          atOnce: calls.every((count) => count === 1) ? null : spreadOf(calls, 1, 0),
          next: table[pace + 1],
        };
      }),
    };
  }
  return null;
}

/** Sessions of pauses of three lengths, more or less in an order, and of runs that are more or less alike. */
function drawnOrders(seed: number): Orders {
  const random = seededRandom(seed);
  const [order, ends, stays, alike] = [random() ** 2, 0.05 + 0.2 * random(), random(), random() < 0.5];
  const lengths = random() < 0.5 ? [0, 30_000] : [0, 30_000, 400_000];
  const run = 1 + Math.floor(6 * random());
  return Array.from({ length: 15 + Math.floor(30 * random()) }, () => {
    const pauses: number[] = [];
    let place = random() < order ? 0 : Math.floor(lengths.length * random());
    do {
      for (let times = 0; times < (alike ? run : 1); times++) pauses.push(lengths[place] as number);
      if (random() < order) place = random() < stays ? place : (place + 1) % lengths.length;
      else place = Math.floor(lengths.length * random());
    } while (random() > ends);
    return pauses;
  });
}

test("drawn pauses have the paces that a slow form finds", () => {
  const found = { none: 0, runs: 0, table: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), (seed) => {
      const visits = seed % 4 === 0;
      const orders = drawnOrders(seed);
      const sessions = sessionsOf(orders, (place) => (seed % 3 === 0 ? 1 + (place % 4) : 1));
      const paces = pacesOf(sessions, slackMs, visits);
      expect(paces).toEqual(orders.flat().length < 200 ? null : slowly(orders, sessions.sizes, visits));
      if (paces === null) found.none += 1;
      else if (paces.paces.some(({ times }) => times !== null)) found.runs += 1;
      else found.table += 1;
    }),
    { numRuns: 80 },
  );
  expect(Math.min(...Object.values(found))).toBeGreaterThan(0);
});

test("an order is told from chance to a pause", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), (seed) => {
      const visits = seed % 2 === 0;
      const random = seededRandom(seed);
      const orders = Array.from({ length: 40 }, () => {
        const pauses = 1 + Math.min(29, Math.floor(-7 * Math.log(random())));
        return Array.from({ length: pauses }, (_, place) => (2 * place < pauses ? 0 : 30_000));
      });
      const share = (): number =>
        shareByOrder(
          orders.map((order) => order.map((ms) => Math.min(1, ms))),
          2,
        );
      // Two pauses of a session change places until the order is hardly more than chance; then each change is judged.
      const least = visits ? 0.01 : 0.1;
      for (let change = 0, judged = 0; change < 1_000 && judged < 8; change++) {
        const order = orders[Math.floor(random() * orders.length)] as number[];
        const [one, other] = [random(), random()].map((each) => Math.floor(each * order.length)) as [
          number,
          number,
        ];
        [order[one], order[other]] = [order[other] as number, order[one] as number];
        if (change % 5 > 0 || Math.abs(share() - least) > 0.01) continue;
        judged += 1;
        const sessions = sessionsOf(orders, () => 1);
        expect(pacesOf(sessions, slackMs, visits)).toEqual(
          orders.flat().length < 200 ? null : slowly(orders, sessions.sizes, visits),
        );
      }
    }),
    { numRuns: 6 },
  );
});

test("a table alone is taken where a session's runs are all long, or all short", () => {
  const lengths = [100, 1_000, 10_000, 100_000, 1_000_000];
  const orders = Array.from({ length: 30 }, (_, session) =>
    lengths.flatMap((ms) => new Array<number>(4 + (session % 5)).fill(ms)),
  );
  // A run deviates by 1.4, and so five runs apart from one another by 3.2; but sessions deviate by 7.2, as they do by a table.
  expect(
    pacesOf(
      sessionsOf(orders, () => 1),
      slackMs,
    )?.paces,
  ).toEqual(
    lengths.map((ms, pace) => ({
      ...{ think: { kind: "constant", ms }, times: null, atOnce: null },
      next: lengths.concat(0).map((_, next) => (next === pace ? 150 : next === pace + 1 ? 30 : 0)),
    })),
  );
});
