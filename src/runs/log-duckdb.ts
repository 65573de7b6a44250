// Parquet, and filters in SQL: DuckDB reads them and returns CSV, which is then read like all CSV. It is an optional
// peer, loaded only here.
import { SpillwayError } from "../rules/errors.ts";

const readers = { parquet: "read_parquet", csv: "read_csv", ndjson: "read_json" } as const;
export type DuckDbFormat = keyof typeof readers;

export const isDuckDbFormat = (format: string): format is DuckDbFormat => Object.hasOwn(readers, format);

/** Returns a path as SQL names one file: DuckDB takes `*`, `?` and `[` for patterns. */
const literal = (path: string): string => `'${path.replace(/[*?[]/g, "[$&]").replaceAll("'", "''")}'`;

/**
 * Yields a file's rows as CSV, with their names in the first line.
 * @param where a condition in SQL, with or without the word in front
 * @throws SpillwayError `DUCKDB_MISSING`; `LOG_INVALID` if DuckDB rejects the file or the condition
 */
export async function* csvOf(
  path: string,
  format: DuckDbFormat,
  where: string | undefined,
): AsyncGenerator<Uint8Array> {
  const { DuckDBInstance } = await load();
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  try {
    const condition = where === undefined ? "" : ` WHERE ${where.replace(/^\s*where\b/i, "")}`;
    await connection.run("SET TimeZone = 'UTC'");
    const result = await connection.stream(
      `SELECT COLUMNS(*)::VARCHAR FROM ${readers[format]}(${literal(path)})${condition}`,
    );
    const encoder = new TextEncoder();
    yield encoder.encode(lineOf(result.columnNames()));
    for (let chunk = await result.fetchChunk(); chunk !== null; chunk = await result.fetchChunk()) {
      if (chunk.rowCount === 0) break;
      yield encoder.encode(chunk.getRows().map(lineOf).join(""));
    }
  } catch (cause) {
    throw new SpillwayError("LOG_INVALID", "DuckDB cannot read this log", {
      problem: { path, got: firstLine(cause), allowed: `what ${readers[format]} takes` },
      ...(where === undefined
        ? {}
        : { hint: `the condition was: where ${where.replace(/^\s*where\b\s*/i, "")}` }),
      cause,
    });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const firstLine = (error: unknown): string => String((error as Error).message).split("\n")[0] ?? "";

function lineOf(fields: readonly unknown[]): string {
  return `${fields.map(fieldOf).join(",")}\n`;
}

/** Returns a field of CSV. Line ends become spaces: a row of CSV is a line here. */
function fieldOf(value: unknown): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/[\r\n]+/g, " ").replaceAll('"', '""')}"` : text;
}

async function load(): Promise<typeof import("@duckdb/node-api")> {
  try {
    return await import("@duckdb/node-api");
  } catch (cause) {
    throw new SpillwayError("DUCKDB_MISSING", "Parquet and --sql need DuckDB", {
      problem: { path: "@duckdb/node-api", got: "no such package", allowed: "the package, beside spillway" },
      hint: "npm install @duckdb/node-api",
      cause,
    });
  }
}
