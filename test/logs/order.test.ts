// Rows come out in the order of time: what stands a little out of order is put in it, what stands too far is unread.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OrderedRows } from "../../src/logs/ordered-rows.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { lines, read, readAll } from "./reading.ts";

const start = 1_767_323_045_000;
const log = (times: readonly number[], user = "alice"): string =>
  lines("time,user,path", ...times.map((at) => `${start + at},${user},/v2/organizations/acme/x`));

/** Values of a row's columns, in the order of `add`, made of its number. */
const madeOf = (row: number) =>
  [row + 0.5, row, row % 4, 2 * row, row - 1, row % 1000, row % 7, row / 4] as const;

/** Rows put through a small buffer; a row's caller is its number, of which its other columns are made, too. */
function ordered(
  times: readonly number[],
  sorts: boolean,
  capacity: number,
): { at: number; row: number }[] | "late" {
  const rows = new OrderedRows(sorts, capacity, true);
  const out: { at: number; row: number }[] = [];
  const take = (batches: ReturnType<OrderedRows["drain"]>): void => {
    for (const batch of batches)
      for (let at = 0; at < batch.count; at++) {
        const row = batch.caller[at] ?? -1;
        const { durationMs, caller, kind, cost, actual, status, attempt, wantedMs } = batch;
        const columns = [durationMs, caller, kind, cost, actual, status, attempt, wantedMs];
        const made = madeOf(row);
        if (columns.some((column, place) => column?.[at] !== made[place]))
          throw new Error(`row ${row} changed`);
        out.push({ at: batch.atMs[at] ?? -1, row });
      }
  };
  for (const [row, at] of times.entries()) {
    if (at < rows.floor) return "late";
    rows.add(at, ...madeOf(row));
    while (rows.isFull) take(rows.drain());
  }
  take(rows.rest());
  return out;
}

const sorted = (times: readonly number[]) =>
  times.map((at, row) => ({ at, row })).sort((a, b) => a.at - b.at || a.row - b.row);

describe("the buffer", () => {
  test("gives every row once, in the order of time, equals in their own order", () => {
    const disorder = fc.array(fc.tuple(fc.nat(500), fc.nat(300_000)), { maxLength: 300 });
    fc.assert(
      fc.property(disorder, fc.constantFrom(4, 16, 64), (steps, capacity) => {
        let at = 0;
        const times = steps.map(([back, step]) => {
          at += step;
          return at - back;
        });
        const found = ordered(times, false, capacity);
        if (found !== "late") expect(found).toEqual(sorted(times));
        expect(ordered(times, true, 512)).toEqual(sorted(times));
      }),
    );
  });

  test("takes none for too late that is less than two minutes late, as long as there is room", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(119_999), fc.nat(200_000)), { maxLength: 500 }), (steps) => {
        let latest = 0;
        const times = steps.map(([back, step]) => {
          latest += step;
          return latest - back;
        });
        expect(ordered(times, false, 1 << 14)).toEqual(sorted(times));
      }),
    );
  });

  test.each([
    [120_002, 1],
    [120_003, 2],
  ])(
    "lets rows go that are two minutes old, and half of all if fewer are: at %d ms up to %d",
    (lastMs, floor) => {
      const rows = new OrderedRows(false, 4);
      for (const at of [0, 1, 2, lastMs]) rows.add(at, 0, 0, 0, 1, -1, 200);
      expect(rows.isFull).toBe(true);
      expect([...rows.drain()].map(({ count }) => count)).toEqual([floor + 1]);
      expect([rows.floor, rows.isFull]).toEqual([floor, false]);
    },
  );

  test("sorts what spans longer than time and number fit into one double", () => {
    const times = [2 ** 52, 5, 0, 5, 2 ** 51];
    expect(ordered(times, true, 1 << 3)).toEqual(sorted(times));
  });
});

describe("a log in which time goes backwards", () => {
  test("is put in order where it is short", async () => {
    const { rows } = await read(log([5000, 1000, 3_600_000, 0]));
    expect(rows.map(({ at }) => Date.parse(at) - start)).toEqual([0, 1000, 5000, 3_600_000]);
  });

  const long = [...Array.from({ length: 40_000 }, (_, row) => row * 1000), 7, 8];

  test("has rows that are unread where they are too late, and says so", async () => {
    const { unread, examples } = await read(log(long));
    expect(unread).toBe(2);
    expect(examples.map(({ line, why }) => `${line}: ${why}`)).toEqual([
      "40002: time goes back too far: later rows were done with already",
      "40003: time goes back too far: later rows were done with already",
    ]);
    const error = await codedErrorOf(read(log(long), { unreadMost: 0 }));
    expect(error.hint).toContain("--sort");
  });

  test("is sorted where that is asked for", async () => {
    const { rows, unread } = await read(log(long), { sort: true });
    expect([rows.length, unread]).toEqual([long.length, 0]);
    expect(rows.slice(0, 4).map(({ at }) => Date.parse(at) - start)).toEqual([0, 7, 8, 1000]);
  });
});

describe("several logs", () => {
  const times = fc
    .array(fc.nat(400_000), { minLength: 1, maxLength: 40 })
    .map((each) => each.sort((a, b) => a - b));

  test("are one, in the order of time, however they overlap and in whatever order they are named", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(times, { minLength: 1, maxLength: 5 }), async (logs) => {
        const named = Object.fromEntries(logs.map((each, index) => [`log${index}`, log(each, `u${index}`)]));
        const { rows, read: count } = await readAll(named);
        const expected = logs.flatMap((each, index) => each.map((at) => ({ at, user: `acme/u${index}` })));
        expect(count).toBe(expected.length);
        expect(rows.map(({ at }) => Date.parse(at) - start)).toEqual(
          expected.map(({ at }) => at).sort((a, b) => a - b),
        );
        const key = ({ at, user }: { at: number; user: string }): string => `${at} ${user}`;
        expect(
          rows.map(({ at, caller }) => key({ at: Date.parse(at) - start, user: caller })).sort(),
        ).toEqual(expected.map(key).sort());
      }),
      { numRuns: 50 },
    );
  });

  test("of different formats are one, too; a caller is the same in all of them", async () => {
    const { rows } = await readAll({
      "b.csv": log([1000]),
      "a.log":
        '203.0.113.9 - alice [02/Jan/2026:03:04:05 +0000] "GET /v2/organizations/acme/x HTTP/1.1" 200 5\n',
    });
    expect(rows.map(({ at, caller }) => `${at} ${caller}`)).toEqual([
      "2026-01-02T03:04:05.000Z acme/alice",
      "2026-01-02T03:04:06.000Z acme/alice",
    ]);
  });

  test("a year of days is read day by day: a file is opened when its time has come", async () => {
    const dayMs = 86_400_000;
    const open = new Set<number>();
    let most = 0;
    const { fileOf, digest, usualSettings } = await import("./reading.ts");
    const { readLogs } = await import("../../src/logs/read-logs.ts");
    const files = await Promise.all(
      Array.from({ length: 60 }, async (_, day) => {
        const bytes = new TextEncoder().encode(
          log(Array.from({ length: 24 }, (__, hour) => day * dayMs + hour * 3_600_000)),
        );
        const once = await fileOf(`day${day}`, async function* () {
          yield bytes;
        });
        const counted = async function* (): AsyncGenerator<Uint8Array> {
          open.add(day);
          most = Math.max(most, open.size);
          yield bytes;
          open.delete(day);
        };
        return { ...once, open: counted };
      }),
    );
    const logs = readLogs(files.toReversed(), { ...usualSettings, digest });
    for await (const _ of logs.batches);
    expect(logs.read).toBe(60 * 24);
    expect(most).toBeLessThanOrEqual(2);
  });
});

test("rows come out in batches of at most 8,192, and the last ones of what is left", () => {
  const rows = new OrderedRows();
  for (let row = 0; row < 10_000; row++) rows.add(start + row, ...madeOf(row));
  const counts = [...rows.rest()].map(({ count, atMs }) => [count, atMs.length, atMs[0]]);
  expect(counts).toEqual([
    [8192, 8192, start],
    [1808, 1808, start + 8192],
  ]);
});
