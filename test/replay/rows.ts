// Logs without files: rows as tests write them, in the columns that readers make.
import {
  GRAPHQL_CALL,
  type LogBatch,
  type LogCaller,
  type LogRows,
  OTHER_CALL,
  REST_CALL,
  STATUS_CALL,
} from "../../src/logs/rows.ts";

export interface Row {
  readonly atMs: number;
  readonly user: string;
  readonly org?: string;
  readonly kind?: "rest" | "graphql" | "status" | "other";
  readonly cost?: number;
  readonly actual?: number;
  readonly durationMs?: number;
  readonly status?: number;
}

const kinds = { rest: REST_CALL, graphql: GRAPHQL_CALL, status: STATUS_CALL, other: OTHER_CALL };

/** @param size rows a batch: small, so that every test crosses from one to the next */
export function logOf(rows: readonly Row[], size = 7): LogRows {
  const callers: LogCaller[] = [];
  const numbers = new Map<string, number>();
  const numberOf = ({ org = "acme", user }: Row): number => {
    const name = `${org}/${user}`;
    const known = numbers.get(name) ?? callers.push({ organization: org, user }) - 1;
    numbers.set(name, known);
    return known;
  };
  async function* batches(): AsyncGenerator<LogBatch, void> {
    for (let at = 0; at < rows.length; at += size) {
      const some = rows.slice(at, at + size);
      yield {
        count: some.length,
        atMs: Float64Array.from(some.map(({ atMs }) => atMs)),
        durationMs: Float64Array.from(some.map(({ durationMs = Number.NaN }) => durationMs)),
        caller: Int32Array.from(some.map(numberOf)),
        kind: Uint8Array.from(some.map(({ kind = "rest" }) => kinds[kind])),
        cost: Int32Array.from(some.map(({ cost = 1 }) => cost)),
        actual: Int32Array.from(some.map(({ actual = -1 }) => actual)),
        status: Int16Array.from(some.map(({ status = 0 }) => status)),
      };
    }
  }
  return {
    batches: batches(),
    callers,
    read: rows.length,
    unread: 0,
    examples: [],
    unplaced: 0,
    anonymous: 0,
    notes: [],
  };
}

/** A whole minute, and the edge of a window of five. */
export const noon = Date.UTC(2026, 0, 5, 12);
