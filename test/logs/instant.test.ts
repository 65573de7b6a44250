// Times as logs write them, in every form and zone.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InstantReader } from "../../src/logs/instant.ts";
import { dateOrderOf, instantOf, isClock, isDay, isSerial, isTime } from "../../src/logs/time-text.ts";
import { accessLogTime, offsetOf } from "./written.ts";

const encoder = new TextEncoder();

/** As ISO text, or `null` where it is no time. Nothing behind the byte after the text can be read. */
function read(text: string, zoneMinutes = 0, reader = new InstantReader(zoneMinutes)): string | null {
  const written = encoder.encode(text);
  const bytes = new Uint8Array(Math.max(15, written.length + 8)).fill(0x39);
  bytes.set(written, 7);
  const ms = reader.read(new DataView(bytes.buffer), 7, 7 + written.length);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

const instant = "2026-01-02T03:04:05.678Z";
const second = "2026-01-02T03:04:05.000Z";

test("a month ends with its last day", () => {
  for (let month = 1; month <= 12; month++) {
    const last = new Date(Date.UTC(2026, month, 0)).toISOString().slice(0, 10);
    expect(read(last)).toBe(`${last}T00:00:00.000Z`);
    expect(read(`${last.slice(0, 8)}${Number(last.slice(8)) + 1}`)).toBeNull();
  }
});

test.each([
  ["2026-03-29T01:59:59", "2026-03-29T00:59:59.000Z"],
  ["2026-03-29T03:00:00", "2026-03-29T01:00:00.000Z"],
  ["29/03/2026 12:00:00 PM", "2026-03-29T10:00:00.000Z"],
  ["2026-07-01", "2026-06-30T22:00:00.000Z"],
  ["46204.5", "2026-07-01T10:00:00.000Z"],
  // The clocks show this hour twice.
  ["2026-10-25T02:30:00", "2026-10-25T00:30:00.000Z"],
  ["2026-10-25T03:00:00", "2026-10-25T02:00:00.000Z"],
  // A zone of its own, and none to name.
  ["2026-07-01T12:00:00Z", "2026-07-01T12:00:00.000Z"],
  ["1767323045", second],
])("%s in Paris is %s", (text, utc) => {
  expect(read(text, 0, new InstantReader("Europe/Paris"))).toBe(utc);
});

test("a reader that has read one day reads any other", () => {
  const reader = new InstantReader(0);
  const days = ["2024", "2025", "2026"].flatMap((year) =>
    ["01", "02", "03", "12"].flatMap((month) =>
      ["01", "03", "05", "17"].map((day) => `${year}-${month}-${day}`),
    ),
  );
  const wrong = days.flatMap((before) =>
    days.filter((day) => {
      read(before, 0, reader);
      return read(day, 0, reader) !== `${day}T00:00:00.000Z`;
    }),
  );
  expect(days).toHaveLength(48);
  expect(wrong).toEqual([]);
});

describe("a time", () => {
  test.each([
    ["1767323045", second],
    ["1767323045.678", instant],
    ["1767323045.6789", instant],
    ["1767323045678", instant],
    ["1767323045678901", instant],
    ["1767323045678901234", instant],
    ["2026-01-02T03:04:05.678Z", instant],
    ["2026-01-02T03:04:05.678901234Z", instant],
    ["2026-01-02T04:04:05.678+01:00", instant],
    ["2026-01-02T12:04:05.678+0900", instant],
    ["2026-01-01T19:04:05.678-08", instant],
    ["2026-01-02T08:34:05.678+05:30", instant],
    ["2026-01-03T03:03:05.678+23:59", instant],
    ["2026-01-01T04:04:05.678-23", instant],
    ["2026-01-02 03:04:05,678", instant],
    ["2026-01-02 03:04:05.678 UTC", instant],
    ["2026-01-02 04:04:05.678+01", instant],
    ["2026/01/02 03:04:05", second],
    ["2026-01-02T03:04Z", "2026-01-02T03:04:00.000Z"],
    ["2026-01-02", "2026-01-02T00:00:00.000Z"],
    ["02/Jan/2026:03:04:05 +0000", second],
    ["[02/Jan/2026:04:04:05 +0100]", second],
    ["01/Jan/2026:19:04:05 -0800", second],
    ["02-Jan-2026 03:04:05", second],
    ["02 Jan 2026 03:04:05 GMT", second],
    ["02.01.2026 03:04:05", second],
    ["2.1.2026, 3:04:05,678", instant],
    ["02/01/2026 03:04:05", second],
    ["2-1-2026 4:04:05+01:00", second],
    ["2/1/2026, 3:04:05 AM", second],
    ["2/1/2026, 3:04:05\u202fAM", second],
    ["2/1/2026 3:04am", "2026-01-02T03:04:00.000Z"],
    ["5/11/2026 8:00", "2026-11-05T08:00:00.000Z"],
    ["25/11/2026 8:00", "2026-11-25T08:00:00.000Z"],
    ["2026-01-02 3:04:05", second],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z"],
  ])("%s is %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    "",
    "-",
    "yesterday",
    "2026-13-01T00:00:00Z",
    "2026-01-03T03:04:05+24",
    "2026-01-03T03:04:05+05:60",
    "2026-02-29T00:00:00Z",
    "2100-02-29T00:00:00Z",
    "2026-01-02T24:00:00Z",
    "2026-01-02T03:60:00Z",
    "2026-01-02T03:04:61Z",
    "2026-01-02T03:04:05.Z",
    "2026-01-02T03:04:05+1",
    "2026-01-02T03:04:05+01:",
    "2026-01-02T03:04:05+05:60",
    "2026-01-02T03:04:05+24:00",
    "2026-01-02T03:04:05 CET",
    "2026-01/02T03:04:05Z",
    "2026-01-02T",
    "02/Jam/2026:03:04:05 +0000",
    "2026-01-02T03:04:05Zx",
    "12345678901234567890",
    "1767323045.",
    "1767323045.6x",
    "-5",
    "1e9",
    "02/01.2026 03:04:05",
    "2/13/2026 03:04:05",
    "2/1/20260 03:04:05",
    "2/1/2026_03:04:05",
    "22/11/2026",
    "22/11/2026 ",
    "22/11/2026,",
    "22/11/2026, 8",
    "222/1/2026 03:04",
    "2/111/2026 03:04",
    "/1/2026 03:04:05",
    "2/1/2026 0:04 AM",
    "2/1/2026 13:04 PM",
    "2/1/2026 3:04 XM",
    "2/1/2026 3:04  AM",
    "2/1/2026 3:04\u202fM",
    "2/1/2026 3:04 m",
    "02/Jan-2026:03:04:05",
    "02.Jan.2026 03:04:05",
    "02/Jan/2026T03:04:05",
  ])("%j is none", (text) => {
    expect(read(text)).toBeNull();
  });

  test("has its month first where that is said, but not between dots", () => {
    const reader = new InstantReader(0, "month-first");
    expect(read("1/2/2026 03:04:05", 0, reader)).toBe(second);
    expect(read("1-2-2026 03:04:05", 0, reader)).toBe(second);
    expect(read("2.1.2026 03:04:05", 0, reader)).toBe(second);
    expect(read("13/2/2026 03:04:05", 0, reader)).toBeNull();
  });

  test.each([
    ["12:04:05 AM", "00:04:05"],
    ["1:04:05 AM", "01:04:05"],
    ["11:59:59 AM", "11:59:59"],
    ["12:00:00 PM", "12:00:00"],
    ["1:00:00 PM", "13:00:00"],
    ["11:59:59 PM", "23:59:59"],
  ])("at %s is at %s", (clock, expected) => {
    expect(read(`2/1/2026 ${clock}`)).toBe(`2026-01-02T${expected}.000Z`);
    expect(read(`2/1/2026 ${clock}`, 60)).toBe(
      new Date(Date.parse(`2026-01-02T${expected}Z`) - 3_600_000).toISOString(),
    );
  });

  test("without a zone is of the zone that was given for such", () => {
    expect(read("2026-01-02 04:04:05", 60)).toBe(second);
    expect(read("2026-01-02T04:04", 60)).toBe("2026-01-02T03:04:00.000Z");
    expect(read("2026-01-02T03:04:05Z", 60)).toBe(second);
    expect(read("1767323045", 60)).toBe(second);
  });

  test("reads back, in any form and zone", () => {
    const zone = fc.integer({ min: -14 * 60, max: 14 * 60 });
    const ms = fc.integer({ min: Date.UTC(2001, 8, 10), max: Date.UTC(2199, 0) });
    fc.assert(
      fc.property(ms, zone, (at, minutes) => {
        const expected = new Date(at).toISOString();
        const toSecond = new Date(Math.floor(at / 1000) * 1000).toISOString();
        const local = new Date(at + minutes * 60_000).toISOString();
        const offset = offsetOf(minutes);
        expect(read(`${local.slice(0, -1)}${offset}`)).toBe(expected);
        expect(read(`${local.slice(0, 10)} ${local.slice(11, 19)}${offset.replace(":", "")}`)).toBe(toSecond);
        expect(read(accessLogTime(at, minutes))).toBe(toSecond);
        expect(read(local.slice(0, -1), minutes)).toBe(expected);
        expect(read(String(at))).toBe(expected);
        expect(read(`${at}123`)).toBe(expected);
        expect(read(`${Math.floor(at / 1000)}.${String(at % 1000).padStart(3, "0")}`)).toBe(expected);
      }),
    );
  });

  test("is what Date.parse makes of ISO 8601, or none", () => {
    const part = (most: number, width = 2) =>
      fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(width, "0"));
    const date = fc.tuple(part(2200, 4), part(14), part(33)).map((parts) => parts.join("-"));
    const clock = fc.tuple(part(25), part(61), part(61)).map((parts) => parts.join(":"));
    fc.assert(
      fc.property(date, clock, fc.constantFrom("Z", "+01:00", "-09:30"), (day, time, zone) => {
        const text = `${day}T${time}${zone}`;
        const parsed = Date.parse(text);
        const isOdd = Number.isNaN(parsed) || /T24|:60/.test(text) || !isRealDay(day);
        if (!isOdd) expect(read(text)).toBe(new Date(parsed).toISOString());
        else if (!/:60/.test(text)) expect(read(text)).toBeNull();
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a spreadsheet's number of a day", () => {
  // 2026-11-20 is day 46,346: https://support.microsoft.com/office/datevalue-function
  test.each([
    ["46346", "2026-11-20T00:00:00.000Z"],
    ["46346.33337", "2026-11-20T08:00:03.000Z"],
    ["46346,33337", "2026-11-20T08:00:03.000Z"],
    ["46346.5", "2026-11-20T12:00:00.000Z"],
    ["46346.333371528", "2026-11-20T08:00:03.300Z"],
    ["46346.3333680555555556", "2026-11-20T08:00:03.000Z"],
    ["36526", "2000-01-01T00:00:00.000Z"],
    ["73050", "2099-12-31T00:00:00.000Z"],
    ["36525", "1970-01-01T10:08:45.000Z"],
    ["73051", "1970-01-01T20:17:31.000Z"],
  ])("%s is %s", (text, iso) => {
    expect(read(text)).toBe(iso);
  });

  test("has no zone of its own, and is no time by itself if it is whole", () => {
    expect(read("46346.33337", 60)).toBe("2026-11-20T07:00:03.000Z");
    expect(["46346", "46346.33337", "46346,5", "12345.5"].map(isTime)).toEqual([false, true, true, false]);
    expect(["46346", "46346.33337", "46346.", "12345.5", "463461"].map(isSerial)).toEqual([
      ...[true, true, false, false, false],
    ]);
  });

  test("is within the half second of any time to which five decimals round", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_399 }), (second) => {
        const text = (46_346 + second / 86_400).toFixed(5);
        expect(read(text)).toBe(new Date(Date.UTC(2026, 10, 20) + 1000 * second).toISOString());
      }),
    );
  });
});

describe("a date and a time of day in two fields", () => {
  const joined = (date: string, clock: string, reader = new InstantReader()): number => {
    const text = encoder.encode(`${date};${clock}${" ".repeat(8)}`);
    const { byteLength: length } = encoder.encode(date);
    return reader.readJoined(new DataView(text.buffer), [0, length], [length + 1, text.length - 8]);
  };

  test.each([
    ["2026-11-20", "08:00:03"],
    ["2026-11-20", "08:00:03.250+01:00"],
    ["20.11.2026", "8:00"],
    ["20/11/2026", "8:00:03 PM"],
    ["20/Nov/2026", "08:00:03"],
  ])("%s and %s are read as one text", (date, clock) => {
    expect(isDay(date)).toBe(true);
    expect(isClock(clock)).toBe(true);
    const ms = joined(date, clock);
    expect(ms).toBe(instantOf(`${date} ${clock}`, "day-first"));
    expect(isTime(`${date} ${clock}`)).toBe(true);
    expect(joined(date, clock, new InstantReader(60)) - ms).toBe(clock.includes("+") ? 0 : -3_600_000);
  });

  test("are no time if one of them is none, or too long", () => {
    expect(joined("2026-11-20", "")).toBeNaN();
    expect(joined("", "08:00:03")).toBeNaN();
    expect(joined("2026-11-20", `08:00:03.${"0".repeat(60)}`)).toBeNaN();
    expect(["2026-11-20 08:00", "08:00", "2026"].map(isDay)).toEqual([false, false, false]);
    expect(["2026-11-20", "8", "08:00:03.", "1:2:3:4:5:6:7:8"].map(isClock)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("the order of day and month", () => {
  test.each<[readonly string[], string | null]>([
    [[], "day-first"],
    [["2026-11-05T08:00:00Z", "5.11.2026 08:00"], "day-first"],
    [["5/11/2026 08:00", "12/11/2026 08:00"], null],
    [["5/11/2026 08:00", "13/11/2026 08:00"], "day-first"],
    [["11/5/2026 08:00", "11/13/2026 08:00"], "month-first"],
    [["11-13-2026 08:00", "13-11-2026 08:00"], null],
    [["11/13/2026 08:00", "11/14/2026 08:00", "13/11/2026 08:00"], "month-first"],
    [["13/11/2026 08:00", "-"], "day-first"],
    [["13/13/2026 08:00"], null],
  ])("of %j is %s", (texts, order) => {
    expect(dateOrderOf(texts)).toBe(order);
  });

  test("does not matter to whether a text is a time of a log", () => {
    expect(["13/11/2026 8:00", "11/13/2026 8:00", " 1767323045 "].map(isTime)).toEqual([true, true, true]);
    expect(["13/13/2026 8:00", "13/11/1999 8:00", "13/11/2100 8:00"].map(isTime)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

/** Date.parse takes the 31st of any month, and goes on into the next one. */
function isRealDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
