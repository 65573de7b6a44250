// Ordered files merged into one: against all of their rows, sorted at once.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MergedRows } from "../../src/logs/merged-rows.ts";
import { Columns } from "../../src/logs/ordered-rows.ts";

/** A row: its time, ms, and what its line says. */
type Row = readonly [ms: number, line: number];

/** Rows as batches. Callers are the lines' own. */
function* batchesOf(rows: readonly Row[], size: number, tellsLines: boolean): Generator<Columns, void> {
  for (let from = 0; from < rows.length; from += size) {
    const batch = new Columns(size, false, tellsLines);
    for (const [ms, line] of rows.slice(from, from + size)) {
      batch.atMs[batch.count] = ms;
      batch.caller[batch.count] = line;
      if (batch.line !== undefined) batch.line[batch.count] = line;
      batch.count += 1;
    }
    yield batch;
  }
}

interface Opened {
  readonly name: string;
  readonly floorMs: number;
  /** Number of rows that were out by then. */
  readonly out: number;
}

/** Merges files. @param early ms by which each file's first row may come later than it is expected */
async function merge(files: readonly (readonly Row[])[], size: number, early = 0, tellsLines = false) {
  const [rows, opened, ended]: [Row[], Opened[], string[]] = [[], [], []];
  const merged = new MergedRows(
    files.map((file, place) => ({
      name: `file ${place}`,
      firstMs: (file[0]?.[0] ?? 0) - early,
      async *open(floorMs) {
        opened.push({ name: `file ${place}`, floorMs, out: rows.length });
        try {
          yield* batchesOf(file, size, tellsLines);
        } finally {
          ended.push(`file ${place}`);
        }
      },
    })),
  );
  for await (const { count, atMs, caller } of merged.read())
    for (let row = 0; row < count; row++) rows.push([atMs[row] as number, caller[row] as number]);
  return { rows, opened, ended, doubles: merged.doubles, notes: merged.notes() };
}

const byTime = ([a, line]: Row, [b, other]: Row): number => a - b || line - other;
const file = fc
  .array(fc.tuple(fc.nat(40), fc.nat(1_000_000)), { maxLength: 20 })
  .map((rows) => rows.toSorted(byTime));

test("rows of all files come in the order of time, each once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { maxLength: 4 }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(10),
      async (files, size, early) => {
        const { rows, opened, ended, doubles, notes } = await merge(files, size, early);
        expect(rows.map(([ms]) => ms)).toEqual(
          files.flatMap((each) => each.map(([ms]) => ms)).toSorted((a, b) => a - b),
        );
        expect(rows.toSorted(byTime)).toEqual(files.flat().toSorted(byTime));
        expect([doubles, notes]).toEqual([0, []]);
        expect(ended.toSorted()).toEqual(files.map((_, place) => `file ${place}`));
        // A file is opened once, when no row of it can be late, and no later than its first row is due.
        expect(opened.map(({ name }) => name).toSorted()).toEqual(ended.toSorted());
        for (const { name, floorMs, out } of opened) {
          const first = files[Number(name.slice(5))]?.[0]?.[0];
          expect(floorMs).toBe(rows[out - 1]?.[0] ?? Number.NEGATIVE_INFINITY);
          if (first !== undefined) expect(floorMs).toBeLessThanOrEqual(first);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test("files that follow each other are open one at a time, and their batches pass as they are", async () => {
  const rowsFrom = (ms: number): Row[] => [0, 1, 2].map((after) => [ms + after, after]);
  const { rows, opened } = await merge([rowsFrom(20), rowsFrom(0), rowsFrom(10)], 2);
  expect(rows.map(([ms]) => ms)).toEqual([0, 1, 2, 10, 11, 12, 20, 21, 22]);
  expect(opened).toEqual([
    { name: "file 1", floorMs: Number.NEGATIVE_INFINITY, out: 0 },
    { name: "file 2", floorMs: 2, out: 3 },
    { name: "file 0", floorMs: 12, out: 6 },
  ]);
});

test("an ended reader ends every open file", async () => {
  const ended: number[] = [];
  // More rows than are compared before the first is out.
  const rows = Array.from({ length: 600 }, (_, place): Row => [place, place]);
  const merged = new MergedRows(
    [0, 1].map((place) => ({
      name: String(place),
      firstMs: 0,
      async *open() {
        try {
          yield* batchesOf(rows, 300, false);
        } finally {
          ended.push(place);
        }
      },
    })),
  );
  for await (const _ of merged.read()) break;
  expect(ended).toEqual([0, 1]);
});

test("rows of two files that overlap come once, however many batches they take", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(2)), { minLength: 300, maxLength: 700 }),
      fc.integer({ min: 20, max: 200 }),
      fc.integer({ min: 7, max: 300 }),
      async (steps, shared, size) => {
        let ms = 0;
        const log = steps.map(([after, line], place): Row => {
          ms += after;
          return [ms, 3 * place + line];
        });
        const [end, begin] = [200, 200 - Math.min(shared, 150)];
        const both = await merge([log.slice(0, end), log.slice(begin)], size, 0, true);
        expect(both.rows).toEqual(log);
        expect(both.doubles).toBe(end - begin);
        expect(both.notes).toEqual([
          `${end - begin} rows stand in both file 0 and file 1: each counts once.`,
        ]);
      },
    ),
    { numRuns: 40 },
  );
});

test("an equal line counts as often as one file has it", async () => {
  const log = Array.from(
    { length: 60 },
    (_, place): Row => [1 + 2 * (place >> 1), place % 4 === 0 ? 7 : 100 + (place >> 2)],
  );
  const twice = log.flatMap(([ms, line]): Row[] =>
    line === 7
      ? [
          [ms, 7],
          [ms, 7],
        ]
      : [[ms, line]],
  );
  const { rows, doubles } = await merge([twice, twice.slice(10)], 16, 0, true);
  expect(rows).toEqual(twice);
  expect(doubles).toBe(twice.length - 10);
});

test("files side by side that differ in many lines count each of them from then on", async () => {
  const common = (from: number, to: number): Row[] =>
    Array.from({ length: to - from }, (_, place) => [from + place + 1, 1000 + from + place]);
  const own = (line: number): Row[] => common(300, 400).map(([ms]) => [ms, line]);
  const [one, other] = [
    [...common(0, 300), ...own(1), ...common(400, 450)],
    [...common(0, 300), ...own(2), ...common(400, 450)],
  ];
  const { rows, doubles } = await merge([one, other], 64, 0, true);
  expect(doubles).toBe(300);
  expect(rows).toHaveLength(one.length + other.length - 300);
});

describe("whether two files overlap", () => {
  const run = (count: number, of: (place: number) => Row): Row[] =>
    Array.from({ length: count }, (_, place) => of(place));
  /** Lines of both files, and ones of the later file alone, each at a time of its own. */
  const sides = (own: (place: number) => boolean, count: number): [Row[], Row[]] => {
    const all = run(count, (place) => [2 * place + 1, 1000 + place]);
    return [all.filter((_, place) => !own(place)), all];
  };
  const doublesOf = async (files: readonly (readonly Row[])[], size: number): Promise<number> =>
    (await merge(files, size, 0, true)).doubles;

  test("is told by their first 256 rows", async () => {
    // In 256 rows are more lines of one file alone than a tenth of those of both, in 512 are fewer. The 30 that follow end it.
    const [earlier, later] = sides((place) => place >= 10 && place < 40, 600);
    expect(await doublesOf([earlier, later], 256)).toBe(0);
    expect(await doublesOf([earlier, later], 300)).toBe(0);
    expect(await doublesOf([earlier, later], 512)).toBe(10);
  });

  test("is forgotten after 16 rows of one alone, and one for each fifty of both", async () => {
    const doublesAfter = (own: number) => {
      const isOwn = (place: number): boolean => place >= 300 && place < 300 + own;
      return doublesOf(sides(isOwn, 400), 64);
    };
    // By then 300 rows stand in both.
    expect([await doublesAfter(22), await doublesAfter(23)]).toEqual([378, 300]);
  });
});

test("batches of several files have 4,096 rows at most, with their attempts and the times they were wanted at", async () => {
  const rowsOf = (first: number): Columns => {
    const batch = new Columns(3_000, true);
    batch.count = 3_000;
    for (let row = 0; row < 3_000; row++) {
      batch.atMs[row] = first + 2 * row;
      (batch.attempt as Int32Array)[row] = row % 5;
      (batch.wantedMs as Float64Array)[row] = row;
    }
    return batch;
  };
  const files = [0, 1].map((first) => ({
    name: String(first),
    firstMs: 0,
    async *open() {
      yield rowsOf(first);
    },
  }));
  const [sizes, told]: [number[], number[][]] = [[], []];
  for await (const { count, atMs, attempt, wantedMs } of new MergedRows(files).read()) {
    sizes.push(count);
    for (let row = 0; row < count; row++)
      told.push([atMs[row] as number, attempt?.[row] as number, wantedMs?.[row] as number]);
  }
  expect(sizes).toEqual([1, 4_096, 1_902, 1]);
  expect(told).toEqual(Array.from({ length: 6_000 }, (_, ms) => [ms, (ms >> 1) % 5, ms >> 1]));
});
