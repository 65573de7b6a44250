// DuckDB is an optional peer: where it is missing, the command that gets it is named.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openLogs } from "../../src/cli/log-input.ts";
import { logArgs } from "../../src/cli/log-options.ts";
import { failure, lines } from "../trace/logs/reading.ts";

vi.mock("@duckdb/node-api", () => {
  throw new Error("Cannot find package '@duckdb/node-api'");
});

test("DuckDB is asked for where it is missing, and only where it is needed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-logs-"));
  try {
    const path = join(folder, "calls.csv");
    await writeFile(path, lines("time,user", "1767323045,alice"));
    const { code, exitCode, hint } = await failure(openLogs([path], logArgs({ sql: "true" })));
    expect([code, exitCode, hint]).toEqual(["DUCKDB_MISSING", 3, "npm install @duckdb/node-api"]);
    expect((await openLogs([path], logArgs())).files.length).toBe(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});
