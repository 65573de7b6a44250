// Mistakes in a log are named by file and line, or counted and shown by example; none is passed over.
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { textOfFile } from "../../src/logs/har.ts";
import { readLogs } from "../../src/logs/read-logs.ts";
import { lineLengthMost } from "../../src/trace/blocks.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { call, header, text } from "../trace/samples.ts";
import { digest, fileOf, lines, read, usualSettings } from "./reading.ts";

const csv = (...rows: readonly string[]): string => lines("time,user,path,status", ...rows);
const good = "1767323045,alice,/v2/organizations/acme/x,200";

/** Summary and first problem of the error that reading a log ends with. */
async function mistake(log: string | Uint8Array, options = {}): Promise<readonly unknown[]> {
  const { code, message, problems, hint } = await codedErrorOf(read(log, options));
  const [{ path, got, allowed } = { path: "", got: "", allowed: "" }] = problems;
  return [code, message.split("\n")[0], path, got, allowed, hint];
}

describe("a log that cannot be used", () => {
  test("is empty", async () => {
    expect(await mistake("")).toEqual([
      "LOG_INVALID",
      "this log is empty",
      "log",
      "nothing",
      "at least one row",
      undefined,
    ]);
    expect(await mistake(gzipSync(""))).toContain("this log is empty");
  });

  test("has a header alone", async () => {
    expect(await mistake(csv())).toEqual([
      "LOG_INVALID",
      "there are no rows in this log",
      "log",
      "no rows",
      "at least one",
      undefined,
    ]);
  });

  test("has one column alone", async () => {
    expect(await mistake(lines("time", "1767323045", "1767323046"))).toEqual([
      "LOG_INVALID",
      "this log has one column alone",
      "log",
      '"time"',
      "a time, and who asked for what: at least two columns, between commas, semicolons, tabs or bars",
      undefined,
    ]);
    expect(await mistake(lines("1767323045", "1767323046"), { format: "csv" })).toContain(
      "this log has one column alone",
    );
  });

  test("has no time, or nothing but times", async () => {
    expect(await mistake(lines("who,what", "alice,/x", "bob,/y"))).toEqual([
      "LOG_INVALID",
      "no column of this log is a time",
      "log",
      "the columns who, what",
      "a time in one of them",
      "--time-column names it; a time is ISO 8601 (2026-11-20T08:00:03Z), an access log's (20/Nov/2026:08:00:03 +0000), a spreadsheet's (20/11/2026 08:00:03, 11/20/2026 8:00:03 AM, 46346.33337), or s, ms, µs or ns since 1970",
    ]);
    expect(await mistake(lines('{"time":1767323045}', '{"time":1767323046}'))).toContain(
      "this log tells when, but not who asked for what",
    );
  });

  test("is of no format that is known, one JSON array, or an error log", async () => {
    expect(
      await mistake("these are words and no rows, at all\nsome more of them\nand so on; and on\n"),
    ).toContain("what this log is cannot be told from its first lines");
    expect(await mistake('[\n{"a":1},\n{"a":2}\n]\n')).toEqual(
      expect.arrayContaining(["this log is one JSON array", "jq -c '.[]' log makes lines of it"]),
    );
    for (const line of [
      "[Fri Nov 20 08:00:00.123456 2026] [core:error] [pid 35708] [client 203.0.113.9] File does not exist",
      "2026/11/20 08:00:00 [error] 123#123: *1 limiting requests, excess: 20.1, client: 203.0.113.9",
    ])
      expect(await mistake(lines(line, line))).toEqual(
        expect.arrayContaining([
          "this is an error log, which tells no requests",
          "the access log beside it tells them",
        ]),
      );
    expect(await mistake('{"log":{"entries":[{]}}')).toContain("this HAR is no JSON");
    expect(await mistake('{"log":{"version":"1.2"}}')).toContain("this HAR has no entries");
  });

  test("is gzip that was cut", async () => {
    const whole = gzipSync(
      csv(...Array.from({ length: 3000 }, (_, row) => `${1767323045 + row},u${row},/x,200`)),
    );
    expect(await mistake(whole.subarray(0, whole.length / 2))).toEqual(
      expect.arrayContaining(["LOG_INVALID", "this log's gzip cannot be unpacked"]),
    );
  });

  test("names a column by a flag that it does not have: the one that was meant is suggested", async () => {
    expect(await mistake(csv(good), { flags: { columns: { status: "statsu" } } })).toEqual([
      "USAGE",
      "this log has no such column",
      "--status-column",
      '"statsu"',
      "time, user, path, status",
      'did you mean --status-column "status"?',
    ]);
  });

  test("is one line of 5 GB: it is given up after 16 MiB, with the file and the line, and not held", async () => {
    let given = 0;
    const chunk = new Uint8Array(1 << 16).fill(0x61);
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(csv(good));
      for (; given < 5 * 2 ** 30; given += chunk.length) yield chunk;
    };
    const known = await fileOf("access.csv", async function* () {
      yield new TextEncoder().encode(csv(good));
    });
    const { batches } = readLogs([{ ...known, open: endless }], { ...usualSettings, digest });
    const error = await codedErrorOf(
      (async () => {
        for await (const _ of batches);
      })(),
    );
    expect([error.code, error.problems[0]?.path]).toEqual(["LOG_INVALID", "access.csv:3"]);
    expect(given).toBeLessThan(lineLengthMost + 2 * chunk.length);
  });
});

test("a HAR of more than 256 MB is given up there, and one up to it is read whole", async () => {
  const most = 2 ** 28;
  const chunk = new Uint8Array(1 << 20).fill(0x20);
  let given = 0;
  const bytes = (size: number) =>
    async function* (): AsyncGenerator<Uint8Array> {
      for (given = 0; given < size; given += chunk.length) yield chunk;
    };
  const open = (size: number) => textOfFile({ name: "big.har", open: bytes(size) });
  expect(await open(most)).toHaveLength(most);
  const error = await codedErrorOf(open(most * 20));
  expect([error.code, error.problems]).toEqual([
    "LOG_INVALID",
    [{ path: "big.har", got: "more than 268435456 bytes", allowed: "at most 268435456 bytes" }],
  ]);
  expect(given).toBe(most);
});

describe("rows that cannot be read", () => {
  const many = (count: number): string[] => Array.from({ length: count }, () => good);

  test("are counted and shown, and the log is read, up to 1 %", async () => {
    const { rows, unread, examples } = await read(csv(...many(60), "x,alice,/y,200", ...many(60)));
    expect([rows.length, unread]).toEqual([120, 1]);
    expect(examples).toEqual([
      { file: "log", line: 62, text: "x,alice,/y,200", why: "its time cannot be read: x" },
    ]);
  });

  test("are no error where a log that was copied while it grew ends within one", async () => {
    const cut = `${csv(...many(5))}17673`;
    const { rows, unread, examples } = await read(cut);
    expect([rows.length, unread, examples[0]?.why]).toEqual([
      5,
      1,
      expect.stringMatching(/^the log ends within this line; /),
    ]);
    // The same line with its end, or beside no row that can be read, is an error.
    expect(await mistake(`${cut}\n`)).toContain("1 of 6 rows could not be read, 16.67 %; at most 1 % may be");
    const alone = await mistake(`${csv()}x,alice,/y,200`, { flags: { columns: { time: "time" } } });
    expect(alone).toContain("1 of 1 row could not be read, 100 %; at most 1 % may be");
  });

  test("are told which forms a time has, where all are for want of one", async () => {
    const bad = Array.from({ length: 1_000 }, () => "20-11-26 08:00:10,alice,/y,200");
    const said = await mistake(csv(...bad), { flags: { columns: { time: "time" } } });
    expect([said[1], said.at(-1)]).toEqual([
      "1,000 of 1,000 rows could not be read, 100 %; at most 1 % may be",
      expect.stringMatching(/^a time is ISO 8601 /),
    ]);
  });

  test("are an error above it, unless more is allowed", async () => {
    const log = csv(...many(60), "x,alice,/y,200", "1767323045,alice,/y,2000");
    expect(await mistake(log)).toEqual([
      "LOG_UNREAD",
      "2 of 62 rows could not be read, 3.23 %; at most 1 % may be",
      "log:62",
      "x,alice,/y,200",
      "a row (its time cannot be read: x)",
      "--dry-run shows what each column was taken for; --allow-unread 5% goes on without such rows",
    ]);
    expect((await read(log, { unreadMost: 0.05 })).unread).toBe(2);
  });

  test.each([
    ["1767323045,alice,/y", "it has 3 columns, not 4"],
    ["1767323045,alice,/y,200,", "it has 5 columns, not 4"],
    ['1767323045,"alice,/y,200', "a quote is not closed on its line"],
    ['"1767323045,alice,/y,200', "a quote is not closed on its line"],
    [",alice,/y,200", "it has no time"],
    ["2026-02-30T00:00:00Z,alice,/y,200", "its time cannot be read: 2026-02-30T00:00:00Z"],
    ["1960-01-05T12:00:00Z,alice,/y,200", "it began before 1970"],
    ["1767323045,alice,/y,OK", "its status is none of HTTP's"],
    ["1767323045,alice,/v1/graphql,200", "a GraphQL call whose cost is not known"],
    ['{"time":1767323045,"user":"alice"}', "a line of the format ndjson, in a log of the format csv"],
    [
      '203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 5',
      "a line of the format access-log, in a log of the format csv",
    ],
  ])("%s", async (row, why) => {
    const { examples } = await read(csv(...many(9), row), { unreadMost: 1 });
    expect(examples.map((example) => example.why)).toEqual([why]);
  });

  test("of JSON", async () => {
    const log = lines(
      ...Array.from({ length: 20 }, () => '{"time":1767323045,"user":"alice","cost":1,"took":5}'),
      '{"time":1767323045,"user":"alice","cost":1',
      "[1]",
      '{"time":1767323045,"user":"alice","cost":1.5}',
      '{"time":1767323045,"user":"alice","took":"soon"}',
      '{"time":1767323045,"user":"alice","took":1e999}',
      '{"user":"alice"}',
      "203.0.113.9 alice",
    );
    const { unread, examples } = await read(log, { unreadMost: 1, format: "ndjson" });
    expect(unread).toBe(7);
    expect(examples.map(({ line, why }) => `${line}: ${why}`)).toEqual([
      "21: it is no JSON",
      "22: it is no JSON object",
      "23: its cost is no whole number up to 2147483647",
      "24: its duration is no number",
      "25: its duration is no number",
    ]);
  });

  test("of two formats mixed in halves are told by what the other half is", async () => {
    const log = lines(
      ...Array.from(
        { length: 12 },
        () => '203.0.113.9 - a [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 5',
      ),
      ...Array.from({ length: 11 }, () => '{"time":1767323045,"user":"alice"}'),
    );
    expect(await mistake(log)).toEqual(
      expect.arrayContaining([
        "LOG_UNREAD",
        "11 of 23 rows could not be read, 47.83 %; at most 1 % may be",
        "log:13",
        "a row (a line of the format ndjson, in a log of the format access-log)",
      ]),
    );
  });

  test("for want of a query's cost name the flag that gives it", async () => {
    const log = csv(good, "1767323045,alice,/v1/graphql,200");
    expect((await mistake(log)).at(-1)).toContain("--graphql-cost N");
    const { rows } = await read(log, { graphqlCost: 503 });
    expect(rows.map(({ kind, cost }) => [kind, cost])).toEqual([
      ["rest", 1],
      ["graphql", 503],
    ]);
  });

  test("of a trace were sent at times that are none", async () => {
    const sentAt = (sent: number): string => encodeCall(call({ sent, received: sent, call: 1 }));
    const trace = (sent: number): string =>
      text(encodeHeader(header), encodeCall(call({ call: 0 })), sentAt(sent));
    const early = await read(text(encodeHeader(header), sentAt(-1)), { unreadMost: 1 });
    expect(early.examples.map(({ line, why }) => `${line}: ${why}`)).toEqual([
      "2: it was sent at no time of our days",
    ]);
    const last = await read(trace(8.64e15), { unreadMost: 1 });
    expect(last.rows.map(({ at }) => at)).toEqual([expect.any(String), "+275760-09-13T00:00:00.000Z"]);
    const { code, problems } = await codedErrorOf(read(trace(1e300), { unreadMost: 1 }));
    expect([code, problems[0]?.path, problems[0]?.got]).toEqual([
      "TRACE_INVALID",
      "log, line 3: sent",
      "1e+300",
    ]);
    expect((await read(trace(1_767_322_800_123.75))).rows.map(({ at }) => at)).toEqual([
      "2026-01-02T03:00:00.123Z",
      "2026-01-02T03:00:00.123Z",
    ]);
  });

  test("of a trace cost more than is read", async () => {
    const trace = (cost: number): string =>
      text(encodeHeader(header), encodeCall(call({ scope: "graphql", cost })));
    const { unread, examples } = await read(trace(3_000_000_000), { unreadMost: 1 });
    expect([unread, examples.map(({ why }) => why)]).toEqual([1, ["its cost is above 2147483647"]]);
    expect((await read(trace(2_147_483_647))).rows.map(({ cost }) => cost)).toEqual([2_147_483_647]);
  });

  test("of a trace name the file and the line", async () => {
    const { code, problems } = await codedErrorOf(
      read('{"format":"spillway-trace","version":1}\n', { unreadMost: 1 }),
    );
    expect([code, problems[0]?.path]).toEqual(["TRACE_INVALID", "log, line 1: source"]);
  });
});

test.each(["\ufb01le", "\ufec0", "\ufbbf"])(
  "a table whose first name begins like a byte order mark keeps it: %s",
  async (name) => {
    const rows = ["x,1767323045,alice,/x"];
    const head = `${name},time,user,path`;
    // The names come again where files were put together.
    const { unread, files } = await read(lines(head, ...rows, head, ...rows));
    expect([unread, files[0]?.sample.columns[0]?.name]).toEqual([0, name]);
  },
);
