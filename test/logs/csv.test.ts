// CSV as spreadsheets write it: the separator in the first line, and fields with the ends of lines in them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lines, read } from "./reading.ts";

const at = (second: number): string => `2026-11-20T08:00:${String(second).padStart(2, "0")}Z`;
const callers = async (log: string, size?: number) => {
  const { rows, unread, examples } = await read(log, {
    unreadMost: 1,
    ...(size === undefined ? {} : { size }),
  });
  return {
    rows: rows.map(
      ({ at, caller, status }) => `${at.slice(17, 19)} ${caller.replace("default/", "")} ${status}`,
    ),
    unread,
    why: examples.map(({ line, why }) => `${line}: ${why}`),
  };
};

describe("a first line that names the separator", () => {
  test.each([";", ",", "\t", "|"])("%j is followed, and is no row", async (separator) => {
    const row = (second: number): string =>
      [at(second), "ann", "a,b;c\td|e", "200"].map((field) => `"${field}"`).join(separator);
    for (const head of [`sep=${separator}`, `"SEP=${separator}"\r`])
      for (const names of [["time", "user", "agent", "status"].join(separator), row(1)]) {
        const { rows, unread } = await callers(lines(head, names, row(2)));
        expect([rows.at(-1), unread]).toEqual([names === row(1) ? "02 everyone 200" : "02 ann 200", 0]);
      }
  });

  test("is followed where the rows would show another", async () => {
    const { rows } = await callers(lines("sep=;", "time;user;status", `${at(1)};ann,b,c;429`));
    expect(rows).toEqual(["01 ann,b,c 429"]);
  });
});

test("bars separate columns, too", async () => {
  expect((await callers(lines("time|user|status", `${at(1)}|ann|200`, `${at(2)}|bob|429`))).rows).toEqual([
    "01 ann 200",
    "02 bob 429",
  ]);
});

describe("a field in quotes", () => {
  test("may have ends of lines in it, in the names, too", async () => {
    const log = lines(
      'time,user,"status\ncode",agent',
      `${at(1)},ann,200,"a\n\nb ""x"", y\n"`,
      `${at(2)},bob,200,"a\r\nb"`,
      `${at(3)},cy,200,"a, 1, 2, 3\n${"x\n".repeat(90)}"`,
      `${at(4)},di,429,c`,
    );
    const expected = { rows: ["01 ann 200", "02 bob 200", "03 cy 200", "04 di 429"], unread: 0, why: [] };
    for (const size of [undefined, 7, 64]) expect(await callers(log, size)).toEqual(expected);
  });

  test("that is never closed makes only its own line unreadable", async () => {
    const log = lines(
      "time,user,status,agent",
      `${at(1)},ann,200,a`,
      `${at(2)},"bob,200,b`,
      `${at(3)},cy,200,c`,
      `${at(4)},di,429,"d"`,
    );
    expect(await callers(log)).toEqual({
      rows: ["01 ann 200", "03 cy 200", "04 di 429"],
      unread: 1,
      why: ["3: a quote is not closed on its line"],
    });
  });

  test("that ends with the log, or is longer than a hundred lines, does so, too", async () => {
    const head = lines("time,user,status,agent", ...new Array<string>(20).fill(`${at(1)},ann,200,a`));
    const cut = await callers(`${head}${at(2)},bob,200,"b\nc`);
    expect([cut.rows.length, cut.unread, cut.why[0]]).toEqual([
      20,
      2,
      "22: the log ends within this line; a quote is not closed on its line",
    ]);
    const long = await callers(
      `${head}${lines(`${at(2)},bob,200,"b`, ...new Array<string>(200).fill("x"), `${at(3)},cy,200,"c"`)}`,
    );
    expect([long.rows.length, long.rows.at(-1), long.unread]).toEqual([21, "03 cy 200", 201]);
  });

  test("with single quotes in it makes only its own line unreadable, and is given up at once", async () => {
    const broken = `${at(2)},bob,200,"b \\"c\\" d"`;
    const log = lines(
      "time,user,status,agent",
      ...new Array<string>(20).fill(`${at(1)},ann,200,a`),
      broken,
      "x",
      broken,
    );
    const { unread, why } = await callers(log);
    expect([unread, why]).toEqual([
      3,
      [
        "22: a quote is not closed on its line",
        "23: it has 1 column, not 4",
        "24: a quote is not closed on its line",
      ],
    ]);
  });

  test("reads back whatever it holds", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", " "), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 40 }), async (texts) => {
        const rows = texts.map(
          (field, second) => `${at(second)},u${second},200,"${field.replaceAll('"', '""')}"`,
        );
        const found = await callers(lines("time,user,status,agent", ...rows));
        expect(found).toEqual({
          rows: texts.map((_, second) => `${at(second).slice(17, 19)} u${second} 200`),
          unread: 0,
          why: [],
        });
      }),
    );
  });
});
