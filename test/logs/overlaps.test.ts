// Logs that overlap: rows in two files count once, and rows of servers side by side count each.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Reading, read, readAll } from "./reading.ts";

const start = Date.UTC(2026, 10, 20, 8);
const line = (ms: number, user: string, more = "GET /x HTTP/1.1"): string => {
  const at = new Date(start + ms);
  const time = `20/Nov/2026:${at.toISOString().slice(11, 19)} +0000`;
  return `203.0.113.9 - ${user} [${time}] "${more}" 200 5 "-" "curl" rt=0.010\n`;
};
const rowsOf = ({ rows }: Reading): string[] => rows.map(({ at, caller }) => `${at} ${caller}`);

/** A log of one server: some calls a second of some users. */
const calls = fc
  .array(fc.record({ after: fc.nat(2), user: fc.constantFrom("ann", "bob", "cy", "di") }), {
    minLength: 60,
    maxLength: 200,
  })
  .map((each) => {
    let second = 0;
    return each.map(({ after, user }) => {
      second += after;
      return line(1000 * second, user);
    });
  });

describe("files that overlap", () => {
  test("have each row once, in whatever order they are given", async () => {
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 20, max: 40 }), fc.boolean(), async (log, length, sort) => {
        const [from, to] = [10, 10 + length];
        const all = rowsOf(await read(log.join("")));
        const [first, second] = [log.slice(0, to).join(""), log.slice(from).join("")];
        for (const files of [
          { first, second },
          { second, first },
        ]) {
          const reading = await readAll(files, { sort });
          expect(rowsOf(reading)).toEqual(all);
          expect([reading.read, reading.unread]).toEqual([log.length, 0]);
          expect(reading.notes[0]).toMatch(
            new RegExp(`^${length} rows stand in both \\w+ and \\w+: each counts once\\.$`),
          );
        }
      }),
      { numRuns: 30 },
    );
  });

  test("may be snapshots of one log that grew, and be long", async () => {
    const log = Array.from({ length: 30_000 }, (_, place) => line(500 * place, `u${place % 7}`));
    const cuts = [5_000, 20_000, 30_000].map((end) => [`to-${end}`, log.slice(0, end).join("")]);
    const reading = await readAll(Object.fromEntries(cuts) as Record<string, string>);
    expect(rowsOf(reading)).toEqual(rowsOf(await read(log.join(""))));
    expect(reading.read).toBe(30_000);
    expect(reading.notes.toSorted()).toEqual([
      ...["15,000 rows stand in both to-20000 and to-30000: each counts once."],
      ...["5,000 rows stand in both to-5000 and to-20000: each counts once."],
      ...["5,000 rows stand in both to-5000 and to-30000: each counts once."],
    ]);
  });

  test("tell so of rows in milliseconds of one caller, too", async () => {
    const log = [7, 1012, 1500, 2003].map((ms) => `${start + ms},ann,/x\n`);
    const head = "time,user,path\n";
    const files = { a: head + log.slice(0, 3).join(""), b: head + log.slice(1).join("") };
    const { rows, notes, read } = await readAll(files);
    expect([rows.length, read, notes]).toEqual([4, 4, ["2 rows stand in both a and b: each counts once."]]);
  });
});

describe("files of servers side by side", () => {
  test("keep rows that are equal by chance", async () => {
    await fc.assert(
      fc.asyncProperty(calls, calls, async (one, other) => {
        fc.pre(one.filter((row, place) => row !== other[place]).length > 30);
        const { read, notes } = await readAll({ one: one.join(""), other: other.join("") });
        expect([read, notes]).toEqual([one.length + other.length, []]);
      }),
      { numRuns: 30 },
    );
  });

  test("keep equal questions for their health, and what comes behind", async () => {
    const health = Array.from({ length: 300 }, (_, place) =>
      line(10_000 * place, "-", "GET /health HTTP/1.1"),
    );
    const { read, notes } = await readAll({ one: health.join(""), other: health.join("") });
    expect([read, notes]).toEqual([600, []]);
  });

  test("count apart again once most of their rows differ", async () => {
    const night = Array.from({ length: 10_000 }, (_, place) =>
      line(1000 * place, place % 2 === 0 ? "lb1" : "lb2"),
    );
    const day = (user: string): string[] =>
      Array.from({ length: 3000 }, (_, place) =>
        line(10_000_000 + 1000 * place, place % 3 === 0 ? "lb1" : user),
      );
    const { read, notes } = await readAll({
      one: [...night, ...day("ann")].join(""),
      other: [...night, ...day("bob")].join(""),
    });
    // The night counts once; so do equal rows of the day, until the other rows are one in fifty.
    const [doubles = ""] = /[\d,]+/.exec(notes[0] ?? "") ?? [];
    const once = Number(doubles.replace(",", ""));
    expect(once).toBeGreaterThanOrEqual(10_000);
    expect(once).toBeLessThan(10_150);
    expect(read).toBe(26_000 - once);
  });
});
