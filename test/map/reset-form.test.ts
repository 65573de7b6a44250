// The form of a reset, told by how readings move: one value alone tells nothing but what looks like no other.
import { describe, expect, test } from "vitest";
import { resetForm, type ShownReset } from "../../src/map/reset-form.ts";

const NOW = Date.UTC(2026, 10, 23, 10, 0, 0);
type Row = readonly [afterMs: number | null, text: string | number, remaining?: number, of?: string];

const shown = (...rows: Row[]): ShownReset[] =>
  rows.map(([afterMs, text, remaining, of = "acme"]) => ({
    ...{ text: `${text}`, atMs: afterMs === null ? null : NOW + afterMs, of },
    ...{ limit: remaining === undefined ? null : 100, remaining: remaining ?? null },
  }));
const second = NOW / 1000;
/** Text of an instant, seconds after the first. */
const date = (seconds: number): string => `${new Date(NOW + 1000 * seconds).toISOString().slice(0, 19)}Z`;

describe("the form of", () => {
  test.each<[string, ShownReset[], string]>([
    ["a falling number of seconds", shown([0, 60], [5_000, 55]), "delta-s"],
    ["one that falls within a second of it", shown([0, 60], [5_000, 56]), "delta-s"],
    ["a falling number of seconds with parts", shown([0, "60.5"], [5_000, "55.5"]), "delta-s-float"],
    ["a falling number of ms", shown([0, 60_000], [5_000, 55_000]), "delta-ms"],
    ["an instant in seconds", shown([0, second + 60], [5_000, second + 60]), "epoch-s"],
    ["an instant in ms", shown([0, NOW + 60_000], [5_000, NOW + 60_000]), "epoch-ms"],
    ["a date", shown([0, "Mon, 23 Nov 2026 10:01:00 GMT"]), "http-date"],
    ["another date", shown([0, "2026-11-23T10:01:00Z"]), "rfc3339"],
    ["a span of Go", shown([0, "1m0s"]), "go-duration"],
  ])("%s", (_, rows, form) => {
    expect(resetForm(rows)).toMatchObject({ form });
  });

  test.each<[string, ShownReset[], string[]]>([
    ["one number", shown([0, 60]), ["delta-s", "delta-ms"]],
    ["numbers too close to each other", shown([0, 60], [1_999, 58]), ["delta-s", "delta-ms"]],
    ["numbers that do not fall", shown([0, 60], [5_000, 60]), ["delta-s", "delta-ms"]],
    ["numbers of two callers", shown([0, 60, 1, "a"], [5_000, 55, 1, "b"]), ["delta-s", "delta-ms"]],
    ["numbers at unknown times", shown([null, 60], [null, 55]), ["delta-s", "delta-ms"]],
    ["words", shown([0, "soon"]), []],
  ])("%s is not settled", (_, rows, possible) => {
    const found = resetForm(rows);
    expect("possible" in found && found.possible.filter((form) => possible.includes(form))).toEqual(possible);
  });
});

describe("Retry-After tells the form of the reset beside it", () => {
  const advised = (text: number, retryMs: number | null): ShownReset => ({
    ...{ text: `${text}`, atMs: NOW, of: "acme", limit: 100, remaining: 0, retryMs },
  });

  test("where one form alone is the instant that it tells", () => {
    expect(resetForm([advised(second + 60, 60_000)])).toMatchObject({ form: "epoch-s" });
    expect(resetForm([advised(second + 60, 61_000)])).toMatchObject({ form: "epoch-s" });
    expect(resetForm([advised(60, 60_000), advised(50, null)])).toMatchObject({ form: "delta-s" });
  });

  test("and nothing where it tells another instant, or each form's", () => {
    expect(resetForm([advised(second + 60, 62_000)])).toMatchObject({ possible: ["delta-ms", "epoch-s"] });
    expect(resetForm([advised(60, 60_000), advised(50, 10_000)])).toHaveProperty("possible");
    expect(resetForm([advised(1, 1_000)])).toMatchObject({ possible: ["delta-s", "delta-ms"] });
    expect(resetForm([{ ...advised(second + 60, 60_000), atMs: null }])).toHaveProperty("possible");
  });
});

describe("the meaning of a reset", () => {
  test("is a window's end where it stays while calls are made", () => {
    expect(resetForm(shown([0, 60, 99], [5_000, 55, 98]))).toEqual({
      ...{ form: "delta-s", means: "window-end", everyMs: null, longestMs: 60_000 },
    });
  });

  test("is not known where no call was made in between", () => {
    expect(resetForm(shown([0, 60, 99], [5_000, 55, 99]))).toMatchObject({ form: "delta-s", means: null });
  });

  test("is when all is back where each span is as many times what was taken", () => {
    const rows = shown([0, "2s", 99], [5_000, "4s", 98], [10_000, "6.1s", 97]);
    expect(resetForm(rows)).toMatchObject({ form: "go-duration", means: "full", everyMs: 2_033 });
    const uneven = shown([0, "2s", 99], [5_000, "4.5s", 98]);
    expect(resetForm(uneven)).toMatchObject({ means: null, everyMs: null });
    expect(resetForm(shown([0, "2s", 99], [5_000, "2s", 99]))).toMatchObject({ means: null });
    expect(resetForm(shown([0, "2s", 99], [5_000, "9s", 100]))).toMatchObject({ means: null });
  });

  test("is that of whole seconds, too, each rounded up", () => {
    const rows = shown([0, 2, 99], [5_000, 4, 98], [20_000, 8, 95], [60_000, 16, 90]);
    expect(resetForm(rows)).toMatchObject({ form: "delta-s", means: "full", everyMs: 1_600 });
  });

  test.each<[string, ShownReset[], number | null]>([
    ["instants", shown([0, date(40), 80], [5_000, date(15), 95], [60_000, date(62), 99]), 2_000],
    ["rounded ones", shown([0, date(40), 80], [5_000, date(15), 95], [60_000, date(64), 99]), 2_000],
    ["odd ones", shown([0, date(40), 80], [5_000, date(15), 95], [60_000, date(65), 99]), null],
    ["instants at unknown times", shown([null, date(2), 99], [null, date(10), 95]), null],
    ["spans at unknown times", shown([null, "2s", 99], [null, "10s", 95]), 2_000],
    ["spans that lie apart", shown([0, "20s", 90], [60_000, "28s", 86]), 2_000],
    ["spans that are alike", shown([0, "20s", 90], [60_000, "22s", 89]), null],
    ["those beside a full bucket", shown([0, "0s", 100], [30_000, "20s", 90], [60_000, "22s", 89]), null],
    ["whole seconds, 3 apart", shown([0, "1s", 99], [60_000, "4s", 96]), 1_000],
    ["whole seconds, 2 apart", shown([0, "1s", 99], [60_000, "3s", 97]), null],
    ["spans without a count", shown([0, "2s"], [5_000, "10s"]), null],
  ])("of %s, with the time of a unit if they tell it", (_, rows, everyMs) => {
    expect(resetForm(rows)).toMatchObject({ means: everyMs === null ? null : "full", everyMs });
  });

  test("tells the longest span", () => {
    const dates = ["10:01:00", "10:02:00", "10:01:00"].map((time) => `2026-11-23T${time}Z`) as string[];
    const rows = shown([0, dates[0] ?? ""], [5_000, dates[1] ?? ""], [9_000, dates[2] ?? ""]);
    expect(resetForm(rows)).toMatchObject({ longestMs: 115_000 });
  });
});
