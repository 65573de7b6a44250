// Logs as verbs open them: files, globs, gzip, folders of runs, Parquet; and what the options make of them.
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { uncolored } from "../../src/cli/colors.ts";
import { describeLogs, understandLogs } from "../../src/cli/log-text.ts";
import type { LogOptions } from "../../src/logs/choices.ts";
import { filesOf, openLogs } from "../../src/runs/log-input.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { lines } from "../logs/reading.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { call, header } from "../trace/samples.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-logs-"));
});
afterEach(() => rm(folder, { recursive: true }));

const put = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, content);
  return path;
};

const csv = (hour: number, user: string): string =>
  lines("time,user,path,status", `2026-01-02T0${hour}:00:00Z,${user},/v2/organizations/acme/x,200`);

/** Callers in the order of their rows. */
async function callersOf(paths: readonly string[], changes: LogOptions = {}): Promise<string[]> {
  const { batches, callers } = await openLogs(paths, changes);
  const found: string[] = [];
  for await (const { count, caller } of batches)
    for (let row = 0; row < count; row++) found.push(callers[caller[row] ?? -1]?.user ?? "");
  return found;
}

describe("paths and traffic", () => {
  test("are changed together, and what was changed is told", async () => {
    const log = await put(
      "calls.csv",
      lines(
        "time,user,path,status",
        "2026-01-02T01:00:00Z,ann,/v2/user,200",
        "2026-01-02T01:00:01Z,bob,/health,200",
        "2026-01-02T01:00:02Z,cid,/v2/user,200",
      ),
    );
    const changes = { path: ["/v2/*"], traffic: "2x" };
    expect(await callersOf([log], changes)).toEqual(["ann", "ann#2", "cid", "cid#2"]);
    const logs = await openLogs([log], changes);
    expect(logs.changes).toEqual(["only /v2/*", "traffic 2x"]);
    expect(describeLogs(await understandLogs(logs)).map(uncolored)).toContain(
      "first rows, as read, only /v2/*, traffic 2x",
    );
  });

  test("paths are asked for of no log that has none", async () => {
    const path = ["/v2/*"];
    const trace = await put("trace.ndjson", lines(encodeHeader(header), encodeCall(call())));
    const plain = await put("plain.csv", lines("time,user,status", "2026-01-02T01:00:00Z,ann,200"));
    const ofTrace = await codedErrorOf(openLogs([trace], { path }));
    expect([ofTrace.code, ofTrace.message]).toEqual([
      "USAGE",
      expect.stringContaining("a trace, which has no paths"),
    ]);
    const ofPlain = await codedErrorOf(openLogs([plain], { path }));
    expect(ofPlain.message).toContain("--path-column names their column");
  });
});

describe("files", () => {
  test("come in the order of their times, packed or not, by a glob or by name, each once", async () => {
    const third = await put("access.log", csv(3, "third"));
    const second = await put("access.log.1", csv(2, "second"));
    await put("access.log.2.gz", gzipSync(csv(1, "first")));
    await put("other/access.log", csv(4, "fourth"));
    await put("empty.log", "");
    expect(await callersOf([join(folder, "access*")])).toEqual(["first", "second", "third"]);
    expect(await callersOf([join(folder, "access.log.?"), third, second])).toEqual(["second", "third"]);
    expect(await callersOf([join(folder, "**/*.log")])).toEqual(["third", "fourth"]);
    expect(await callersOf([join(folder, "*/access.log")])).toEqual(["fourth"]);
  });

  test("may be a run's folder, which stands for its trace", async () => {
    await put("run/trace.ndjson", lines(encodeHeader(header), encodeCall(call())));
    expect(await callersOf([join(folder, "run")])).toEqual(["agent-17"]);
  });

  test("may be JSON whose rows are elements of an array, or take several lines", async () => {
    const rows = ["ann", "bob"].map((user) => ({ time: 1_767_323_045, user, path: "/x" }));
    const texts = [
      JSON.stringify(rows),
      JSON.stringify(rows, null, 2),
      rows.map((row) => JSON.stringify(row, null, 1)).join("\n"),
    ];
    for (const [place, text] of texts.entries())
      for (const content of [text, gzipSync(text)])
        expect(await callersOf([await put(`${place}.json`, content)])).toEqual(["ann", "bob"]);
    const cut = await put("cut.json", (texts[1] ?? "").slice(0, -20));
    const logs = await openLogs([cut]);
    for await (const _ of logs.batches);
    expect([logs.read, logs.unread, logs.examples[0]?.why]).toEqual([
      ...[1, 1, "the log ends within this line; it is no JSON"],
    ]);
  });

  test("are read once where they are given twice, linked, or copied", async () => {
    const path = await put("a.csv", csv(8, "ann"));
    const [link, copy, other] = [join(folder, "link.csv"), join(folder, "copy.csv"), join(folder, "b.csv")];
    await symlink(path, link);
    await copyFile(path, copy);
    await writeFile(other, csv(8, "bob"));
    const logs = await openLogs([path, join(folder, "*.csv")]);
    for await (const _ of logs.batches);
    expect([logs.read, logs.files.map(({ name }) => name)]).toEqual([2, [path, other]]);
    expect(logs.notes).toEqual([
      `${path} is given twice, and read once.`,
      `${copy} is a copy of ${path}, which is read once.`,
      `${link} is ${path}, which is read once.`,
    ]);
  });

  test("of a pattern are no folders, which links may lead to", async () => {
    const path = await put("a.csv", csv(8, "ann"));
    await mkdir(join(folder, "old"));
    await symlink(join(folder, "old"), join(folder, "link"));
    expect(await filesOf([join(folder, "*")])).toEqual([path]);
  });

  test("of a folder of logs are asked for by a pattern", async () => {
    await expect(openLogs([folder])).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      problems: [{ path: folder, got: "a folder" }],
      hint: `'${join(folder, "**")}' takes all files below it`,
    });
  });

  test("that are not there, or are all empty, are coded errors", async () => {
    const missing = join(folder, "missing.log");
    expect((await codedErrorOf(openLogs([missing]))).problems[0]).toMatchObject({
      path: missing,
      got: "no such file",
    });
    expect((await codedErrorOf(openLogs([join(folder, "*.log")]))).code).toBe("FILE_UNREADABLE");
    const empty = await put("empty.log", gzipSync(""));
    expect((await codedErrorOf(openLogs([empty]))).code).toBe("LOG_INVALID");
  });
});

test("standard input is read once, what it was known by included, packed or not", async () => {
  const text = lines(
    "time,user",
    ...Array.from({ length: 20_000 }, (_, row) => `${1767323045 + row},u${row % 7}`),
  );
  for (const bytes of [Buffer.from(text), gzipSync(text)]) {
    const chunks = Array.from({ length: 10 }, (_, index) =>
      bytes.subarray((index * bytes.length) / 10, ((index + 1) * bytes.length) / 10),
    );
    const stdin = vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from(chunks) as never);
    try {
      expect((await callersOf(["-"])).length).toBe(20_000);
    } finally {
      stdin.mockRestore();
    }
  }
});

test("how far reading has come is told in words, and reading can be ended", async () => {
  const path = await put("calls.csv", csv(1, "alice"));
  const said: string[] = [];
  const controller = new AbortController();
  const { batches } = await openLogs(
    [path],
    {},
    {
      onProgress: (words) => said.push(words),
      signal: controller.signal,
    },
  );
  for await (const _ of batches);
  expect(said).toEqual(["reading: 100 %, 0 MB"]);
  const again = await openLogs([path], {}, { signal: controller.signal });
  controller.abort();
  await expect(again.batches[Symbol.asyncIterator]().next()).rejects.toThrow("aborted");
});

describe("options", () => {
  test("name columns, the organization, and what GraphQL costs", async () => {
    const path = await put(
      "calls.csv",
      lines("a,b,c,d", "1767323045,alice,/graphql,bob", "1767323046,alice,/x,bob"),
    );
    const changes = {
      userColumn: "d",
      graphqlPath: "/graphql",
      graphqlCost: 7,
      organization: "acme",
    };
    const { batches, callers } = await openLogs([path], changes);
    for await (const { count, cost } of batches) expect([...cost.subarray(0, count)]).toEqual([7, 1]);
    expect(callers).toEqual([{ organization: "acme", user: "bob" }]);
  });

  test("tell the zone of times that name none", async () => {
    const path = await put("calls.csv", lines("time,user", "2026-01-02 03:04:05,alice"));
    for (const [zone, hour] of [
      ["+02:00", "01"],
      ["-0530", "08"],
      ["UTC", "03"],
    ] as const) {
      const { batches } = await openLogs([path], { zone });
      for await (const { atMs } of batches)
        expect(new Date(atMs[0] ?? 0).toISOString().slice(11, 13)).toBe(hour);
    }
  });

  test("are named where times have no zone", async () => {
    const path = await put("calls.csv", lines("time,user", "2026-01-02 03:04:05,alice"));
    expect(describeLogs(await understandLogs(await openLogs([path]))).join("\n")).toContain(
      "unless --zone says otherwise",
    );
  });

  test("allow more rows to be unread", async () => {
    const path = await put("calls.csv", `${csv(1, "alice")}soon,bob,/x,200\n`);
    expect((await codedErrorOf(callersOf([path]))).code).toBe("LOG_UNREAD");
    expect(await callersOf([path], { allowUnread: "50%" })).toEqual(["alice"]);
    expect(await callersOf([path], { allowUnread: "0.5" })).toEqual(["alice"]);
  });

  test("name members of JSON that some row has among the first of any file", async () => {
    const rare = await put("rare.jsonl", lines('{"time":1767323045,"user":"al"}'));
    const other = await put("other.jsonl", lines('{"time":1767323046,"user":"bo","cost_of_it":5}'));
    const { callers, batches } = await openLogs([rare, other], { costColumn: "cost_of_it" });
    for await (const _ of batches);
    expect(callers.map(({ user }) => user)).toEqual(["al", "bo"]);
    for (const role of ["cost", "user", "token", "status"] as const) {
      const error = await codedErrorOf(openLogs([rare, other], { [`${role}Column`]: "wer.ist_es" }));
      expect([error.code, error.problems]).toEqual([
        "USAGE",
        [
          {
            path: `--${role}-column`,
            got: '"wer.ist_es", which none of the first rows has',
            allowed: "time, user, cost_of_it",
          },
        ],
      ]);
    }
  });

  test("cannot name columns where there are none", async () => {
    const trace = await put("calls.trace.ndjson", lines(encodeHeader(header), encodeCall(call())));
    const har = await put("calls.har", '{"log":{"entries":[]}}');
    const named = await codedErrorOf(openLogs([trace], { userColumn: "user" }));
    expect([named.code, named.problems[0]?.path]).toEqual(["USAGE", "--user-column"]);
    const token = await codedErrorOf(openLogs([har], { tokenColumn: "token" }));
    expect([token.code, token.problems[0]?.path]).toEqual(["USAGE", "--token-column"]);
  });

  test.each([
    [{ allowUnread: "some" }, "--allow-unread"],
    [{ allowUnread: "101%" }, "--allow-unread"],
    [{ zone: "MEZ" }, "--zone"],
    [{ graphqlCost: 1.5 }, "--graphql-cost"],
    [{ statusColumn: "stat" }, "--status-column"],
  ])("that cannot be used, %j, are named", async (changes, option) => {
    const path = await put("calls.csv", csv(1, "alice"));
    const error = await codedErrorOf(openLogs([path], changes));
    expect([error.code, error.problems[0]?.path]).toEqual(["USAGE", option]);
  });
});

describe("DuckDB", () => {
  async function parquet(): Promise<string> {
    const path = join(folder, "calls.parquet");
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    await connection.run(
      `COPY (SELECT TIMESTAMPTZ '2026-01-02 03:04:05.678+01' + INTERVAL (i) SECOND AS ts, 'user-' || i % 3 AS user,
         '/v2/organizations/acme/x' AS path, 200 AS status, 'a "quoted", b' AS note
       FROM range(5000) AS t (i)) TO '${path}' (FORMAT parquet)`,
    );
    connection.closeSync();
    instance.closeSync();
    return path;
  }

  test("reads Parquet, all of it or what a condition asks for", async () => {
    const path = await parquet();
    const { batches } = await openLogs([path]);
    const times: number[] = [];
    for await (const { count, atMs } of batches) times.push(...atMs.subarray(0, count));
    expect(times.length).toBe(5000);
    expect(new Date(times[0] ?? 0).toISOString()).toBe("2026-01-02T02:04:05.678Z");
    expect(
      await callersOf([path], { sql: "where \"user\" = 'user-1' and ts < '2026-01-02 02:04:10Z'" }),
    ).toEqual(["user-1", "user-1"]);
  });

  test("filters CSV and JSON lines", async () => {
    const table = await put(
      "calls.csv",
      csv(1, "alice") + csv(2, "bob").slice("time,user,path,status\n".length),
    );
    expect(await callersOf([table], { sql: "user = 'bob'" })).toEqual(["bob"]);
    const json = await put(
      "calls.ndjson",
      lines('{"time":1767323045,"user":"a"}', '{"time":1767323045,"user":"b"}'),
    );
    expect(await callersOf([json], { sql: "WHERE user <> 'a'" })).toEqual(["b"]);
  });

  test("reads the file of that name, though DuckDB takes some names for patterns", async () => {
    for (const name of ["a1.csv", "ab.csv"]) await put(name, csv(1, "another"));
    for (const name of ["a[1].csv", "a?.csv", "a*.csv", "a'.csv"])
      expect(await callersOf([await put(name, csv(1, name))], { sql: "true" })).toEqual([name]);
  });

  test("says what it does not take", async () => {
    const path = await put("calls.csv", csv(1, "alice"));
    const wrong = await codedErrorOf(openLogs([path], { sql: "where nothing = 1" }));
    expect([wrong.code, wrong.hint]).toEqual(["LOG_INVALID", "the condition was: where nothing = 1"]);
    const log = await put(
      "access.log",
      '203.0.113.9 - a [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/1.1" 200 5\n',
    );
    expect((await codedErrorOf(openLogs([log], { sql: "true" }))).code).toBe("USAGE");
  });
});

test("a dry run says what was taken for what, shows the first rows, and no token", async () => {
  const path = await put(
    "calls.csv",
    lines(
      "ts,api_token,path,status,bytes",
      "1767323045000,tok-alice,/v2/organizations/acme/x,200,5",
      "1767323046000,tok-alice,/v2/user,200,5",
      "soon,tok-alice,/v2/user,200,5",
    ),
  );
  const text = describeLogs(await understandLogs(await openLogs([path])));
  expect(uncolored(text.join("\n")).replaceAll(folder, "")).toMatchInlineSnapshot(`
    "/calls.csv: csv
      time         ts                   by its name          1767323045000
      status       status               by its name          200
      path         path                 by its name          /v2/organizations/acme/x
      token        api_token            by its name          token-dde96f
      rows that name no organization are acme's
      not used: bytes
    first rows, as read
      2026-01-02 03:04:05 UTC  acme/token-dde96f  REST  status 200
      2026-01-02 03:04:06 UTC  acme/token-dde96f  REST  status 200
    unread /calls.csv:4: its time cannot be read: soon
      soon,***,/v2/user,200,5"
  `);
  expect(text.join("\n")).not.toContain("tok-alice");
});

test("a column that no file has is told beside the first fifty that there are", async () => {
  const names = Array.from({ length: 60 }, (_, at) => `column${at}`);
  const row = { time: "2026-01-02T01:00:00Z", ...Object.fromEntries(names.map((name) => [name, "x"])) };
  const log = await put("wide.ndjson", lines(JSON.stringify(row)));
  await expect(openLogs([log], { userColumn: "nobody" } as LogOptions)).rejects.toMatchObject({
    problems: [
      {
        ...{ path: "--user-column", got: '"nobody", which none of the first rows has' },
        allowed: ["time", ...names].slice(0, 50).join(", "),
      },
    ],
  });
});
