// Logs of well-known services and libraries, in their own words: read as they are, without options.
import { describe, expect, test } from "vitest";
import { spanOf } from "../../src/logs/field-values.ts";
import { type Reading, type ReadingOptions, read } from "./reading.ts";

const json = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const csv = (names: string, ...rows: readonly string[]): string => `${[names, ...rows].join("\n")}\n`;

/** Second, caller, status and duration of each row. */
async function shown(log: string, options: ReadingOptions = {}): Promise<unknown[][]> {
  const { rows, unread, examples }: Reading = await read(log, options);
  expect(unread, JSON.stringify(examples)).toBe(0);
  return rows.map(({ at, caller, status, durationMs }) => [at.slice(17, -1), caller, status, durationMs]);
}

describe("a span with its units", () => {
  test.each([
    ["1.2s", 1200],
    ["350ms", 350],
    ["350 ms", 350],
    ["12µs", 0.012],
    ["12μs", 0.012],
    ["350us", 0.35],
    ["300ns", 0.0003],
    ["1m2s", 62_000],
    ["1h2m3.5s", 3_723_500],
    ["2 min", 120_000],
    ["0.5 sec", 500],
  ])("%s is %d ms", (text, ms) => {
    expect(spanOf(text)).toBe(ms);
  });

  test.each(["", "12", "ms", "-1s", "1.s", "1 day", "1s!", `${"1s".repeat(30)}`])("%j is none", (text) => {
    expect(spanOf(text)).toBe(-1);
  });

  test("is a row's duration, beside numbers in the unit of the column", async () => {
    const log = csv(
      "time,user,took,status",
      ..."5ms 1.5s 7".split(" ").map((took) => `1767323045,ann,${took},200`),
    );
    expect((await shown(log)).map(([, , , ms]) => ms)).toEqual([5, 1500, 7]);
    const inSeconds = await shown(log, { flags: { durationUnit: "s" } });
    expect(inSeconds.map(([, , , ms]) => ms)).toEqual([5, 1500, 7000]);
    const { unread, examples } = await read(log.replace("5ms", "fast"), { unreadMost: 1 });
    expect([unread, examples[0]?.why]).toEqual([1, "its duration is no number"]);
  });
});

describe("Traefik", () => {
  const row = (port: number, more: object) => ({
    ClientAddr: `203.0.113.9:${port}`,
    ClientHost: "203.0.113.9",
    Duration: 12_345_678,
    OriginStatus: 0,
    DownstreamStatus: 429,
    RequestMethod: "GET",
    RequestPath: "/x",
    level: "info",
    time: "2026-11-20T08:00:10Z",
    ...more,
  });

  test("writes nanoseconds, the client's port, its own status beside the origin's, and when a request came", async () => {
    const came = { StartUTC: "2026-11-20T08:00:09.987654321Z" };
    expect(await shown(json([row(1234, came), row(1235, came)]))).toEqual([
      ["09.987", "default/203.0.113.9", 429, 12.345678],
      ["09.987", "default/203.0.113.9", 429, 12.345678],
    ]);
  });

  test("writes the time of the line, when a request was over, with short refusals", async () => {
    const slow = { Duration: 800_000_000 };
    const short = { Duration: 25_000 };
    expect(await shown(json([row(1, slow), row(2, short), row(3, short)]))).toEqual([
      ["09.000", "default/203.0.113.9", 429, 800],
      ["10.000", "default/203.0.113.9", 429, 0.025],
      ["10.000", "default/203.0.113.9", 429, 0.025],
    ]);
  });

  test("writes the common format with a duration in ms behind, and when a request came", async () => {
    const line = (took: string): string =>
      `203.0.113.9 - - [20/Nov/2026:08:00:10 +0000] "GET /x HTTP/1.1" 200 5 "-" "curl" 7 "web@docker" "http://10.0.0.2:80" ${took}`;
    expect(await shown(`${line("812ms")}\n${line("4ms")}\n`)).toEqual([
      ["10.000", "default/203.0.113.9", 200, 812],
      ["10.000", "default/203.0.113.9", 200, 4],
    ]);
  });
});

test("whole numbers of which half would be longer than ten minutes are nanoseconds", async () => {
  const log = (...durations: readonly number[]): string =>
    json(durations.map((duration) => ({ ts: 1_767_323_045, duration, status: 200, path: "/x" })));
  expect((await shown(log(1_500_000, 80_000, 2_500_000))).map(([, , , ms]) => ms)).toEqual([1.5, 0.08, 2.5]);
  expect((await shown(log(1500, 800_000, 250))).map(([, , , ms]) => ms)).toEqual([1500, 800_000, 250]);
});

test.each([
  ["an address", "remote_addr", "203.0.113.9:51234", "203.0.113.9"],
  ["an address in brackets", "remote_addr", "[2001:db8::7]:51234", "2001:db8::7"],
  ["brackets alone", "remote_addr", "[::1]", "::1"],
  ["the first address of proxies", "x_forwarded_for", '"203.0.113.9:51234, 10.0.0.7:80"', "203.0.113.9"],
  ["a client", "client", "203.0.113.9:51234", "203.0.113.9"],
  ["a user that is an address", "user", "[::ffff:203.0.113.9]:51234", "::ffff:203.0.113.9"],
  ["no IPv6 address without brackets", "remote_addr", "2001:db8::7:5123", "2001:db8::7:5123"],
  ["no user's name", "user", "ann:51234", "ann:51234"],
  ["no user's number", "user", "12:30", "12:30"],
  ["no name in brackets", "user", "[bot]:7", "[bot]:7"],
])("a port is taken off %s", async (_, column, written, caller) => {
  const row = (address: string): string => `1767323045,${address},/x`;
  expect(
    await shown(csv(`time,${column},path`, row(written), row(written.replace("9:51234", "9:51235")))),
  ).toEqual([
    ["05.000", `default/${caller}`, 0, null],
    ["05.000", `default/${caller}`, 0, null],
  ]);
});

test("a status may have its words behind it", async () => {
  const log = csv("time,user,status", "1767323045,ann,200 OK", "1767323046,ann,429 Too Many Requests");
  expect((await shown(log)).map(([, , status]) => status)).toEqual([200, 429]);
});

test("a clock's time is no address", async () => {
  const { files } = await read(csv("time,clock,path", "1767323045,08:00:03,/x", "1767323046,08:00:04,/x"));
  expect(files[0]?.mapping.uses.map(({ role }) => role)).not.toContain("address");
});

describe("Cloudflare", () => {
  const row = (start: unknown, more: object = {}) => ({
    CacheCacheStatus: "dynamic",
    ClientIP: "203.0.113.9",
    ClientRequestHost: "a.b",
    ClientRequestMethod: "GET",
    ClientRequestPath: "/x",
    ClientRequestURI: "/x?y=1",
    EdgeEndTimestamp: start,
    EdgeResponseBytes: 200,
    EdgeResponseStatus: 429,
    EdgeStartTimestamp: start,
    OriginResponseStatus: 0,
    ...more,
  });

  test.each([
    ["nanoseconds", 1_795_161_610_123_456_789n],
    ["seconds", 1_795_161_610n],
    ["RFC 3339", "2026-11-20T08:00:10Z"],
  ])("has its own names, and times in %s", async (_, start) => {
    const text = json([row("START")]).replaceAll(
      '"START"',
      typeof start === "string" ? `"${start}"` : `${start}`,
    );
    const { rows, files } = await read(text);
    expect(rows[0]).toMatchObject({ caller: "default/203.0.113.9", kind: "rest", status: 429 });
    expect(rows[0]?.at.slice(0, 19)).toBe("2026-11-20T08:00:10");
    const uses = files[0]?.mapping.uses.map(({ role, column, why }) => `${role} ${column} ${why}`);
    expect(uses?.toSorted()).toEqual([
      "address ClientIP by its name",
      "method ClientRequestMethod by its name",
      "path ClientRequestPath by its name",
      "status EdgeResponseStatus by its name",
      "time EdgeStartTimestamp by its name",
    ]);
  });

  test("tells how long the first byte took, and may tell the end alone", async () => {
    const took = { EdgeTimeToFirstByteMs: 300 };
    const end = "2026-11-20T08:00:10.500Z";
    expect(await shown(json([row(end, took)]))).toEqual([["10.500", "default/203.0.113.9", 429, 300]]);
    const without = { ...took, EdgeStartTimestamp: undefined };
    expect(await shown(json([row(end, without)]))).toEqual([["10.200", "default/203.0.113.9", 429, 300]]);
  });
});

describe("a date and a time of day in two columns", () => {
  const at = "2026-11-20T08:00:03.000Z";
  const times = async (log: string, options: ReadingOptions = {}) =>
    (await read(log, options)).rows.map((row) => row.at);

  test.each([
    ["of CSV", csv("Date,Time,User,Path", "2026-11-20,08:00:03,ann,/x", "2026-11-20,08:00:03,ann,/x")],
    [
      "of CSV, the other way round",
      csv("Uhrzeit;Datum;User", "08:00:03;20.11.2026;ann", "08:00:03;20.11.2026;ann"),
    ],
    ["of American CSV", csv("day,hour,User", '11/20/2026,"8:00:03 AM",ann', '11/20/2026,"8:00:03 AM",ann')],
    [
      "of JSON",
      json(Array.from({ length: 2 }, () => ({ date: "2026-11-20", time: "08:00:03", user: "ann" }))),
    ],
    ["of words", "date=2026-11-20 time=08:00:03 user=ann\n".repeat(2)],
  ])("%s are joined", async (_, log) => {
    expect(await times(log)).toEqual([at, at]);
  });

  test("are joined as options say, and take their zone", async () => {
    const log = csv("Date,A,B,User", "2026-11-20,08:00:03,09:00:00,ann", "2026-11-20,08:00:03,09:00:00,ann");
    expect(await times(log, { flags: { columns: { time: "A" } } })).toEqual([at, at]);
    expect((await times(log, { flags: { columns: { time: "B", date: "Date" } } }))[0]).toContain("T09:00:00");
    expect((await times(log, { zone: 60 }))[0]).toContain("T07:00:03");
  });

  test("stay apart where another column has whole times, by its name", async () => {
    const log = csv(
      "Date,Time,Timestamp,User",
      `2026-11-19,07:00:00,${at},ann`,
      `2026-11-19,07:00:00,${at},ann`,
    );
    expect(await times(log)).toEqual([at, at]);
    expect((await times(log.replace("Timestamp", "last_login")))[0]).toContain("T07:00:00");
  });
});

test("a spreadsheet's numbers of days are times in a column of that name", async () => {
  for (const rows of [
    ["46346.33337;ann;/x", "46346,33338;ann;/x"],
    ["46346;ann;/x", "46347;ann;/x"],
  ]) {
    const { rows: found } = await read(csv("time;user;path", ...rows));
    expect(found.map(({ at }) => at.slice(0, 9))).toEqual(["2026-11-2", "2026-11-2"]);
  }
});

test("quotes around a user of an access log are none of the name", async () => {
  const line = (user: string): string =>
    `203.0.113.9 - ${user} [20/Nov/2026:08:00:10 +0000] "GET /x HTTP/1.1" 200 5\n`;
  const found = await shown(['"ann"', "ann", '"ann lee"', '""', '"-"', "-"].map(line).join(""));
  expect(found.map(([, caller]) => String(caller).replace("default/", ""))).toEqual([
    ...["ann", "ann", "ann lee", "203.0.113.9", "203.0.113.9", "203.0.113.9"],
  ]);
});
