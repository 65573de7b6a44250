// Dry runs of logs: they say what each log was taken for and why, its first rows, and what could not be read.
import { expect, test } from "vitest";
import { uncolored } from "../../src/cli/colors.ts";
import { describeLogs, type UnderstoodLogs, understandLogs } from "../../src/cli/log-text.ts";
import type { LogFile } from "../../src/logs/read-file.ts";
import { type LogBatch, OTHER_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import type { OpenedLogs } from "../../src/runs/log-input.ts";

const noon = Date.UTC(2026, 0, 5, 12, 0, 1, 250);

type Row = UnderstoodLogs["rows"][number];
const row: Row = {
  ...{ atMs: noon, organization: "acme", user: "ann", kind: "rest", cost: 1, actual: null },
  ...{ status: 200, durationMs: null },
};
const lineOf = (change: Partial<Row>): string | undefined =>
  describeLogs({ files: [], changes: [], rows: [{ ...row, ...change }], notes: [], unread: [] })[1];

test.each<[Partial<Row>, string]>([
  [{}, "acme/ann  REST  status 200"],
  [{ status: null, durationMs: 0 }, "acme/ann  REST  no status  0 ms"],
  [{ kind: "graphql", cost: 1, actual: 0 }, "acme/ann  GraphQL, 1 point  0 in the end  status 200"],
  [
    { kind: "graphql", cost: 20, actual: 3, durationMs: 12.5 },
    "acme/ann  GraphQL, 20 points  3 in the end  status 200  12.5 ms",
  ],
  [{ kind: "status" }, "acme/ann  status call, free  status 200"],
  [{ kind: "other", cost: 0 }, "acme/ann  counts nothing  status 200"],
  [{ kind: "search", caller: { token: "t1", ip: "10.0.0.1" } }, "token t1, ip 10.0.0.1  search  status 200"],
  [{ kind: "search", cost: 2, caller: {} }, "acme/ann  search, 2 units  status 200"],
  [{ kind: "status", caller: { token: "t1" } }, "token t1  status call, free  status 200"],
])("a row %j is %s", (change, text) => {
  expect(lineOf(change)).toBe(`  2026-01-05 12:00:01.250 UTC  ${text}`);
});

test("files are told by their columns, notes and what is not used; then come rows, and what was unread", () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`);
  const file = (unused: readonly string[]) => ({
    ...{ name: "a.csv", format: "csv", unused, notes: ["durations are in ms"] },
    columns: [
      { role: "time", column: "at", why: "its name", example: "1" },
      { role: "user", column: "who", why: "named by --user", example: "" },
    ],
  });
  const unread = [{ file: "a.csv", line: 7, why: "no time", text: "x,y" }];
  const said = (unused: readonly string[], changes: readonly string[] = []) =>
    describeLogs({ files: [file(unused)], changes, rows: [], notes: ["b.csv is a.csv"], unread }).map(
      uncolored,
    );
  expect(said([])).toEqual([
    "a.csv: csv",
    "  time         at                   its name             1",
    "  user         who                  named by --user",
    "  durations are in ms",
    "b.csv is a.csv",
    "first rows, as read",
    "unread a.csv:7: no time",
    "  x,y",
  ]);
  expect(said(names(8), ["only /v2/*", "from noon"]).slice(4, 7)).toEqual([
    "  not used: c0, c1, c2, c3, c4, c5, c6, c7",
    "b.csv is a.csv",
    "first rows, as read, only /v2/*, from noon",
  ]);
  expect(said(names(9))[4]).toBe("  not used: c0, c1, c2, c3, c4, c5, c6, c7 and 1 more");
});

/** Logs of one file, whose columns were taken for these roles. */
function opened(
  uses: readonly (readonly [role: string, value: string])[],
  {
    batches = [],
    mapping = {},
    policy,
  }: { batches?: readonly (LogBatch | Error)[]; mapping?: object; policy?: Policy } = {},
): OpenedLogs {
  async function* read(): AsyncGenerator<LogBatch, void> {
    for (const batch of batches) {
      if (batch instanceof Error) throw batch;
      yield batch;
    }
  }
  const file = {
    name: "a.csv",
    sample: {
      format: "csv",
      columns: [
        ...uses.map(([role, value]) => ({ name: role, values: ["", value, "later"] })),
        { name: "left", values: [] },
      ],
    },
    mapping: {
      uses: uses.map(([role], index) => ({ role, column: role, why: "named", index })),
      ...{
        timeIs: "start",
        dates: "day-first" as const,
        durationUnit: "s",
        organization: null,
        userIsToken: false,
        ...mapping,
      },
    },
  } as unknown as LogFile;
  const callers = [
    { organization: "acme", user: "ann" },
    { organization: "acme", user: "bob", attributes: { token: "t" } },
  ];
  return {
    files: [file],
    changes: ["only /x"],
    examples: [],
    notes: [],
    callers,
    batches: read(),
    policy,
  } as unknown as OpenedLogs;
}

const batchOf = (
  count: number,
  change: Partial<Record<keyof LogBatch, ArrayLike<number>>> = {},
): LogBatch => {
  const of = (value: number) => Array.from({ length: count }, () => value);
  return {
    ...{
      count,
      atMs: of(noon),
      durationMs: of(Number.NaN),
      caller: of(0),
      kind: of(0),
      cost: of(1),
      actual: of(-1),
    },
    ...{ status: of(0), ...change },
  } as unknown as LogBatch;
};

test("notes tell what times, durations and organizations were taken for", async () => {
  const notes = async (uses: Parameters<typeof opened>[0], mapping: object = {}) =>
    (await understandLogs(opened(uses, { mapping }))).files[0]?.notes;
  const zone = "times name no zone: UTC is meant, unless --zone says otherwise";
  const ended = "times are when requests were over: they began a duration before";
  expect(await notes([["time", "2026-01-05T12:00:01Z"]])).toEqual([]);
  for (const time of ["2026-01-05T12:00:01", "2026/01/05 12:00:01.5", "2026-01-05", "05/Jan/2026:12:00:01"])
    expect(await notes([["time", time]])).toEqual([zone]);
  expect(await notes([["user", "2026-01-05"]])).toEqual([]);
  expect(await notes([["duration", "3"]], { timeIs: "end" })).toEqual([ended, "durations are in s"]);
  expect(await notes([["duration", "3"]], { organization: "acme" })).toEqual([
    "durations are in s",
    "rows that name no organization are acme's",
  ]);
  expect(await notes([["time", "1"]], { timeIs: "end" })).toEqual([]);
});

test("examples hide tokens, and end where they are long", async () => {
  const columns = async (role: string, value: string, userIsToken = false) => {
    const { files } = await understandLogs(opened([[role, value]], { mapping: { userIsToken } }));
    return files[0]?.columns.map((one) => [one.role, one.example]);
  };
  expect(await columns("path", "x".repeat(48))).toEqual([["path", "x".repeat(48)]]);
  expect(await columns("path", "x".repeat(49))).toEqual([["path", `${"x".repeat(45)}...`]]);
  const [[role, example] = []] = (await columns("user", "ann", true)) ?? [];
  expect(role).toBe("token");
  expect(example).not.toContain("ann");
  expect(await columns("path", "ann", true)).toEqual([["path", "ann"]]);
  expect((await understandLogs(opened([["time", "1"]]))).files[0]?.unused).toEqual(["left"]);
});

test("the first five rows are read, over batches, until too many could not be", async () => {
  const rowsOf = async (...batches: readonly (LogBatch | Error)[]) =>
    (await understandLogs(opened([], { batches }))).rows;
  const late = new Error("read on");
  expect(await rowsOf(batchOf(3), batchOf(3), late)).toHaveLength(5);
  expect(await rowsOf(batchOf(5), late)).toHaveLength(5);
  expect(await rowsOf(batchOf(2), new SpillwayError("LOG_UNREAD", "too many"))).toHaveLength(2);
  await expect(rowsOf(batchOf(2), late)).rejects.toBe(late);
  await expect(rowsOf(new SpillwayError("USAGE", "no"))).rejects.toMatchObject({ code: "USAGE" });
});

test("a row says what it knows", async () => {
  const change = {
    ...{ caller: [0, 1, 0, 0, 0], kind: [0, 1, STATUS_CALL, OTHER_CALL, 7], actual: [-1, 0, 4, -1, -1] },
    ...{ status: [0, 200, 429, 503, 0], durationMs: [Number.NaN, 0, 7, 8, 9], cost: [1, 20, 0, 0, 1] },
  };
  const batches = [batchOf(5, change)];
  const policy = { operations: { read: {}, write: {} } } as unknown as Policy;
  const { rows, changes } = await understandLogs(opened([], { batches }));
  expect(changes).toEqual(["only /x"]);
  expect(rows.map(({ kind, actual, status, durationMs }) => [kind, actual, status, durationMs])).toEqual([
    ["rest", null, null, null],
    ["graphql", 0, 200, 0],
    ["status", 4, 429, 7],
    ["other", null, 503, 8],
    ["other", null, null, 9],
  ]);
  expect(rows[1]).toMatchObject({
    organization: "acme",
    user: "bob",
    caller: { token: "t" },
    cost: 20,
    atMs: noon,
  });
  const named = await understandLogs(opened([], { batches: [batchOf(5, change)], policy }));
  expect(named.rows.map(({ kind }) => kind)).toEqual(["read", "write", "status", "other", "other"]);
});
