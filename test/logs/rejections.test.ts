// Rows that could not be read: all are counted, and a few of each reason are kept.
import { describe, expect, test } from "vitest";
import { LogTally } from "../../src/logs/rejections.ts";

describe("unread rows", () => {
  test("are shown twice for a reason at most, and five times in all", () => {
    const tally = new LogTally();
    for (const [line, why] of ["a", "a", "a", "b", "c", "b", "d", "e"].entries())
      tally.reject("log", line + 1, why, () => `row ${line + 1}`);
    expect([tally.read, tally.unread]).toEqual([0, 8]);
    expect(tally.examples.map(({ line, why }) => `${line}${why}`)).toEqual(["1a", "2a", "4b", "5c", "6b"]);
    expect(tally.examples[0]).toEqual({ file: "log", line: 1, why: "a", text: "row 1" });
  });

  test("are cut behind 160 characters, and asked for their text only where it is kept", () => {
    const tally = new LogTally();
    let asked = 0;
    for (const length of [160, 161, 200])
      tally.reject("log", length, "long", () => {
        asked += 1;
        return "x".repeat(length);
      });
    expect(tally.examples.map(({ text }) => text)).toEqual(["x".repeat(160), `${"x".repeat(160)}...`]);
    expect(asked).toBe(2);
  });
});
